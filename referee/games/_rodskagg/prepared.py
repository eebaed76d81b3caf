"""Acts that are offered again and again, made once."""

from collections.abc import Iterable

from referee.acts import Act, Bid, Play
from referee.cards import CARD, Cards
from referee.games._rodskagg.bids import BIDS, PASS, BidValue

_BIDS = tuple({bid: Bid(seat=seat, bid=bid) for bid in (PASS, 0, *BIDS)} for seat in range(8))
_PLAYS = tuple({bit: Play(seat=seat, card=card) for bit, card in CARD.items()} for seat in range(8))


def bids(seat: int, values: Iterable[BidValue]) -> tuple[Act, ...]:
    """A seat's calls of these bids."""
    mine = _BIDS[seat]
    return tuple([mine[bid] for bid in values])


def plays(seat: int, cards: Cards) -> tuple[Act, ...]:
    """A seat's plays of these cards, in the order of the pack."""
    mine = _PLAYS[seat]
    acts = []
    while cards:
        bit = cards & -cards
        acts.append(mine[bit])
        cards ^= bit
    return tuple(acts)
