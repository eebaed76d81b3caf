"""Tallies of the three Rödskägg games, and the results that are entered in them."""

from typing import Any

import msgspec
import pytest

from referee.acts import Bid, Deal, Result, Trick
from referee.events import DealScored
from referee.games import request_of
from referee.refusals import Refused
from referee.requests import Request
from tests.games.rodskagg import opened
from tests.officials.wrong_and_right_sheets import CX1, X1
from tests.support.match_driver import P4, seats_and
from tests.support.random_tallies import Tally

ALGA, CATS, KORTOXEN = "rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen"
SISTERS = (ALGA, CATS, KORTOXEN)
SHEETS = {ALGA: X1, CATS: CX1, KORTOXEN: X1}
PASSED = seats_and("bid", [0, "pass"], [1, "pass"], [2, "pass"], [3, "pass"])
ONE = seats_and("bid", [0, "1"], [1, "pass"], [2, "pass"], [3, "pass"])
ALL_FOLD = {
    "bids": ONE,
    "tricks": [0, 0, 0, 0],
    "answers": seats_and("answer", [1, "fold"], [2, "fold"], [3, "fold"]),
}


def tally(
    ruleset: str = KORTOXEN, *, points: tuple[int, ...] = (12, 12, 12, 12), dealer: int = P4, **options: Any
) -> Tally:
    """Return a new tally."""
    return Tally(opened(ruleset, points=points, **options), dealer)


def result(**fields: Any) -> Result:
    """Return a result."""
    request = sent({"act": "result", **fields})
    assert isinstance(request, Result)
    return request


def sent(body: dict[str, Any]) -> Request:
    """Return the request for a body."""
    return request_of(msgspec.json.encode(body))


def points_after(match: Tally, **fields: Any) -> tuple[int, ...]:
    """Enter a deal; return the points after it."""
    (line,) = [event for event in match.do(result(**fields)) if isinstance(event, DealScored)]
    return line.points


def refused(match: Tally, request: Request) -> Refused:
    """Return the refusal of a request."""
    before = match.state
    with pytest.raises(Refused) as caught:
        match.decide(request)
    assert match.state == before
    return caught.value


def at_the_question() -> Tally:
    """Return a tally after four tricks: P3 is the declarer and has three, P1 has one."""
    match = tally()
    bids = [Bid(seat=0, bid="2"), Bid(seat=1, bid="pass"), Bid(seat=2, bid="3"), Bid(seat=3, bid="pass")]
    match.do(Deal(seat=P4), *bids, *(Trick(seat=seat) for seat in (2, 0, 2, 2)))
    return match
