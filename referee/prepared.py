"""Acts that are offered again and again, made once."""

from collections.abc import Mapping

from referee.acts import Act, Play
from referee.cards import CARD, Cards

_PLAYS = tuple({bit: Play(seat=seat, card=card) for bit, card in CARD.items()} for seat in range(8))


def plays(seat: int, cards: Cards) -> tuple[Act, ...]:
    """A seat's plays of these cards, in the order of the pack."""
    return these(_PLAYS[seat], cards)


def these(prepared: Mapping[Cards, Act], cards: Cards) -> tuple[Act, ...]:
    """The acts that were made ready for these cards, in the order of the pack."""
    acts = []
    while cards:
        bit = cards & -cards
        acts.append(prepared[bit])
        cards ^= bit
    return tuple(acts)
