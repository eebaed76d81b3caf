"""Bids that must rise, and the contract that comes of them (A17-A28, B28-B40)."""

from typing import Literal

from referee.games._rodskagg.cites import Cites
from referee.refusals import AgainstTheRules
from referee.value import BidNumber, Value

BidValue = BidNumber | Literal["pass", "rodskagg"]
Calls = tuple[tuple[int, BidValue], ...]
"""Seat and call, as they were spoken."""
BIDS: tuple[BidValue, ...] = (1, 2, 3, 4, 5, 6, "rodskagg")
"""Low to high (A17, B28)."""
_HIGHER = {bid: BIDS[place + 1 :] for place, bid in enumerate(BIDS)}
RODSKAGG: Literal["rodskagg"] = "rodskagg"
PASS: Literal["pass"] = "pass"


class Contract(Value):
    """What is played, by whom (A26, B38-B40, C21)."""

    event: int
    declarer: int
    bid: BidValue
    calls: Calls


def higher_bids(last: BidValue | None) -> tuple[BidValue, ...]:
    """The first bid is free, each later one must be higher than the one before (A20-A21, B33-B34)."""
    return BIDS if last is None else _HIGHER[last]


def bids_within(points: int | None) -> tuple[BidValue, ...]:
    """The bids that so many points allow, where points cap them (A-O20, B32); rödskägg is never capped."""
    return BIDS if points is None else tuple(bid for bid in BIDS if isinstance(bid, str) or bid <= points)


def allowed_bids(last: BidValue | None, points: int | None) -> tuple[BidValue, ...]:
    """Pass, and every higher bid (A19, B30)."""
    higher = higher_bids(last)
    if points is None:
        return (PASS, *higher)
    cap = bids_within(points)
    return (PASS, *(bid for bid in higher if bid in cap))


def check_bid(bid: int | str, last: BidValue | None, points: int | None, cites: Cites) -> BidValue:
    """The bid, if it may be made; refuses what is no bid, too low, or above the cap."""
    if bid == PASS:
        return PASS
    if bid not in _HIGHER:
        raise AgainstTheRules("no_such_bid", cites.bids, allowed=allowed_bids(last, points))
    value: BidValue = bid
    if value not in higher_bids(last):
        raise AgainstTheRules("bid_too_low", cites.higher, allowed=allowed_bids(last, points))
    if value not in bids_within(points):
        raise AgainstTheRules("bid_above_points", cites.capped, allowed=allowed_bids(last, points))
    return value


def spoken(calls: Calls, seat: int) -> bool:
    """The seat has had its turn to speak (A22, B35, C17)."""
    return any(seat == other for other, _ in calls)


def bidder_of(calls: Calls, contract: BidValue) -> int:
    """Who made the bid that became the contract (A26, B38)."""
    return next(seat for seat, bid in calls if bid == contract)
