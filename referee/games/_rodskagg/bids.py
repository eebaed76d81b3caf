"""Rising bids, and the contract that the highest bid makes (A17-A28, B28-B40)."""

from functools import lru_cache
from typing import Literal

from referee.acts import Act, Bid
from referee.games._rodskagg.cites import CitedRules
from referee.refusals import AgainstTheRules
from referee.value import BidValue, SeatAndBid, Value

Calls = tuple[tuple[int, BidValue], ...]
"""Pairs of seat and bid or pass, in the order spoken."""
BIDS: tuple[BidValue, ...] = ("1", "2", "3", "4", "5", "6", "rodskagg")
"""Bids from low to high (A17, B28)."""
_BIDS_ABOVE = {bid: BIDS[place + 1 :] for place, bid in enumerate(BIDS)}
RODSKAGG: Literal["rodskagg"] = "rodskagg"
PASS: Literal["pass"] = "pass"


class Contract(Value):
    event: int
    """Number of the event that ended the auction."""
    declarer: int
    bid: BidValue
    calls: Calls


def higher_bids(last: BidValue | None) -> tuple[BidValue, ...]:
    """Return the bids above ``last``; ``None``: all bids (A20-A21, B33-B34)."""
    return BIDS if last is None else _BIDS_ABOVE[last]


@lru_cache(maxsize=1024)
def bids_within(points: int | None) -> tuple[BidValue, ...]:
    """Return ``rodskagg`` and the numbers up to ``points``; ``None``: all bids (A-O20, B32, B-O19)."""
    return BIDS if points is None else tuple(bid for bid in BIDS if bid == RODSKAGG or int(bid) <= points)


@lru_cache(maxsize=4096)
def allowed_bids(last: BidValue | None, points: int | None) -> tuple[BidValue, ...]:
    """Return pass and the bids above ``last`` that :func:`bids_within` allows (A19, B30)."""
    higher = higher_bids(last)
    if points is None:
        return (PASS, *higher)
    cap = bids_within(points)
    return (PASS, *(bid for bid in higher if bid in cap))


def check_bid(bid: BidValue, last: BidValue | None, points: int | None, cites: CitedRules) -> BidValue:
    """Return ``bid``. Raises AgainstTheRules if it does not exist, is too low, or a number above ``points``."""
    if bid == PASS:
        return PASS
    if bid not in _BIDS_ABOVE:
        raise AgainstTheRules("no_such_bid", cites.bids, allowed=allowed_bids(last, points))
    if bid not in higher_bids(last):
        raise AgainstTheRules("bid_too_low", cites.bid_must_rise, allowed=allowed_bids(last, points))
    if bid not in bids_within(points):
        raise AgainstTheRules("bid_above_points", cites.bid_cap, allowed=allowed_bids(last, points))
    return bid


def has_called(calls: Calls, seat: int) -> bool:
    return any(seat == other for other, _ in calls)


def calls_as_shown(calls: Calls) -> list[SeatAndBid]:
    return [{"seat": seat, "bid": bid} for seat, bid in calls]


def bidder_of(calls: Calls, contract: BidValue) -> int:
    return next(seat for seat, bid in calls if bid == contract)


@lru_cache(maxsize=4096)
def bid_acts(seat: int, bids: tuple[BidValue, ...]) -> tuple[Act, ...]:
    return tuple([Bid(seat=seat, bid=bid) for bid in bids])
