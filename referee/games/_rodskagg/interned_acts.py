"""Bids as acts, made once because they are offered often."""

from collections.abc import Iterable

from referee.acts import Act, Bid
from referee.games._rodskagg.bids import BIDS, PASS, BidValue

_BIDS = tuple({bid: Bid(seat=seat, bid=bid) for bid in (PASS, 0, *BIDS)} for seat in range(8))


def bids(seat: int, values: Iterable[BidValue]) -> tuple[Act, ...]:
    mine = _BIDS[seat]
    return tuple([mine[bid] for bid in values])
