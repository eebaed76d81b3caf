"""Bids in the sisters with an auction that must rise (A17-A26, B28-B38)."""

from typing import Literal

import msgspec

BidValue = int | Literal["pass", "rodskagg"]
Calls = tuple[tuple[int, BidValue], ...]
"""Seat and call, as they were spoken."""
BIDS: tuple[BidValue, ...] = (1, 2, 3, 4, 5, 6, "rodskagg")
"""Low to high (A17, B28)."""
RODSKAGG: Literal["rodskagg"] = "rodskagg"
PASS: Literal["pass"] = "pass"


def last_bid(calls: Calls) -> tuple[int, BidValue] | None:
    """Seat and bid of the bid to beat; in the end the contract (A26, B38)."""
    return next((call for call in reversed(calls) if call[1] != PASS), None)


def higher_bids(calls: Calls) -> tuple[BidValue, ...]:
    """The first bid is free, each later one must be higher than the one before (A20-A21, B33-B34)."""
    last = last_bid(calls)
    return BIDS if last is None else BIDS[BIDS.index(last[1]) + 1 :]


def within(points: int | None) -> tuple[BidValue, ...]:
    """The bids that so many points allow where bids are capped (A-O20, B32); rödskägg is never capped."""
    return BIDS if points is None else tuple(bid for bid in BIDS if isinstance(bid, str) or bid <= points)


def allowed_bids(calls: Calls, points: int | None) -> tuple[BidValue, ...]:
    """Pass, and every higher bid (A19, B30); ``points`` where they cap it."""
    cap = within(points)
    return (PASS, *(bid for bid in higher_bids(calls) if bid in cap))


def fault_of(bid: int | str, calls: Calls, points: int | None) -> str | None:
    """Why a bid may not be made, or ``None``."""
    if bid == PASS:
        return None
    if bid not in BIDS:
        return "no_such_bid"
    if bid not in higher_bids(calls):
        return "bid_too_low"
    return None if bid in within(points) else "bid_above_points"


class Contract(msgspec.Struct, frozen=True, kw_only=True):
    """What is played, by whom (A26, B38, C21)."""

    event: int
    declarer: int
    bid: BidValue
    calls: tuple[tuple[int, BidValue], ...]
