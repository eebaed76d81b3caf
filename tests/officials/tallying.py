"""Matches of the three Rödskägg games of which only the tally is kept, and what is entered in them."""

from typing import Any

import msgspec
import pytest

from referee.acts import Bid, Deal, Result, Trick
from referee.events import DealScored
from referee.refusals import Refused
from referee.requests import Request, request_of
from tests.games.rodskagg import opened
from tests.given import P4
from tests.officials.sheets import CX1, X1
from tests.tallied import Tally

ALGA, CATS, KORTOXEN = "rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen"
SISTERS = (ALGA, CATS, KORTOXEN)
SHEETS = {ALGA: X1, CATS: CX1, KORTOXEN: X1}
PASSED = [[0, "pass"], [1, "pass"], [2, "pass"], [3, "pass"]]
ONE = [[0, 1], [1, "pass"], [2, "pass"], [3, "pass"]]
ALL_FOLD = {"bids": ONE, "tricks": [0, 0, 0, 0], "answers": [[1, "fold"], [2, "fold"], [3, "fold"]]}


def tally(
    ruleset: str = KORTOXEN, *, points: tuple[int, ...] = (12, 12, 12, 12), dealer: int = P4, **options: Any
) -> Tally:
    """A tally that has just been opened."""
    return Tally(opened(ruleset, points=points, **options), dealer)


def result(**told: Any) -> Result:
    """A result as it is sent."""
    return sent({"act": "result", **told})


def sent(body: dict[str, Any]) -> Request:
    """What comes of a body."""
    return request_of(msgspec.json.encode(body))


def points_after(match: Tally, **told: Any) -> tuple[int, ...]:
    """The points after a deal that is entered."""
    (line,) = [event for event in match.do(result(**told)) if isinstance(event, DealScored)]
    return line.points


def refused(match: Tally, request: Request) -> Refused:
    """How a request is refused; nothing has happened."""
    before = match.state
    with pytest.raises(Refused) as caught:
        match.decide(request)
    assert match.state == before
    return caught.value


def at_the_question() -> Tally:
    """After four tricks: P3 is declarer with three of them, P1 has one."""
    match = tally()
    bids = [Bid(seat=0, bid=2), Bid(seat=1, bid="pass"), Bid(seat=2, bid=3), Bid(seat=3, bid="pass")]
    match.do(Deal(seat=P4), *bids, *(Trick(seat=seat) for seat in (2, 0, 2, 2)))
    return match
