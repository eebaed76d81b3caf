"""Attended matches in which a line of the protocol is changed."""

from typing import Any

import msgspec

from referee.acts import Result
from referee.events import Adjudication
from referee.officials.events.corrections import ProtocolCorrected, lines_as_corrected
from referee.requests import Appeal, OpenCase
from referee.store.aggregate import fold
from tests.officials.hearing import TWO, Hearing
from tests.officials.random_corrections import bare
from tests.officials.wrong_and_right_sheets import SHEETS, X1, Body
from tests.support.match_driver import seats_and

BERIT, CESAR, DAG, ANNA = range(4)
OUT_BY_FIVE: Body = {
    "bids": [*X1["bids"][1:], {"seat": 0, "bid": "pass"}],
    "tricks": [DAG] * 5,
    "answers": seats_and("answer", [3, "fold"], [0, "fold"], [1, "play"]),
    "exits": [{"seat": DAG, "after": 5}],
}
"""A second deal that DAG, with five points, breaks off (B77-B78)."""
CORRECTED = ["case/ruled", "protocol/corrected"]


def result(body: Body) -> Result:
    """Return a result from its body."""
    return msgspec.convert(body, Result)


def tally(ruleset: str, *, terms: Adjudication = TWO, **opened: Any) -> Hearing:
    """Return a tally whose last seat deals."""
    players = SHEETS[ruleset].players
    return Hearing(ruleset, terms, players=players, dealing="tally", first_dealer=players - 1, **opened)


def entered(ruleset: str, body: Body, **opened: Any) -> Hearing:
    """Return a tally with its first deal entered."""
    hearing = tally(ruleset, **opened)
    hearing.ask(result(body), "official")
    return hearing


def wrong(hearing: Hearing, body: Body, by: int = 0, deal: int = 1) -> None:
    """Open a case about a wrong line, with the right result."""
    hearing.ask(OpenCase(kind="entry", seat=by, deal=deal, result=result(body)))


def all_agree(hearing: Hearing, case: int = 1, by: int = 0) -> None:
    for seat in range(hearing.match.play.table.seats):
        if seat != by:
            hearing.says(seat, True, case=case)


def appeal(hearing: Hearing, case: int = 1) -> None:
    """Appeal by the first seat that the ruling went against."""
    seats = range(hearing.match.play.table.seats)
    seat = next(seat for seat in seats if hearing.cases[case - 1].went_against(seat))
    hearing.ask(Appeal(case=case, seat=seat))


def topics(hearing: Hearing) -> list[str]:
    """Return the topics of the last request's events."""
    return [event.TOPIC for event in hearing.said]


def lines(hearing: Hearing) -> list[Any]:
    """Return the lines that count, struck or not, without the numbers of events."""
    return [bare(line) for line in lines_as_corrected(hearing.history).values()]


def correction(hearing: Hearing) -> ProtocolCorrected:
    """Return the last correction."""
    return next(one.event for one in reversed(hearing.history) if isinstance(one.event, ProtocolCorrected))


def points(hearing: Hearing) -> tuple[int, ...]:
    """Return the present points."""
    points_now: tuple[int, ...] = hearing.match.play.table.points
    return points_now


def folds(hearing: Hearing) -> None:
    """Check that the match is the fold of its events, continued from any event."""
    for cut in range(1, len(hearing.history)):
        head: Any = fold(None, hearing.history[:cut])
        stored = msgspec.json.decode(msgspec.json.encode(head.state), type=head.procedure.state)
        assert stored == head.state
        assert fold(msgspec.structs.replace(head, state=stored), hearing.history[cut:]) == hearing.match
