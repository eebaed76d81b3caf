"""Acts that are offered often: created once, then shared."""

from referee.acts import Act, Play
from referee.cards import CARD, Cards

_PLAYS = tuple({bit: Play(seat=seat, card=card) for bit, card in CARD.items()} for seat in range(8))


def play_acts(seat: int, cards: Cards) -> tuple[Act, ...]:
    """Return the acts that play each of these cards, in the order of the pack."""
    mine = _PLAYS[seat]
    acts = []
    while cards:
        bit = cards & -cards
        acts.append(mine[bit])
        cards ^= bit
    return tuple(acts)
