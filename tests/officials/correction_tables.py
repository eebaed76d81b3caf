"""Attended tables, and the corrections that are requested in them."""

from typing import Any

import pytest

from referee.events import Adjudication, PenaltyImposed, PlayEnded
from referee.officials.events.corrections import ProtocolCorrected, Script, Why, lines_as_corrected
from referee.officials.rescoring import script
from referee.refusals import Refused
from referee.requests import Correct
from referee.ruleset import Moment
from referee.visibility import Event
from tests.games.rodskagg import Table, table
from tests.support import match_driver

OFFICIALS = Adjudication(officials=("Maja",))


def attended(ruleset: str = "rodskagg-kortoxen", **match: Any) -> Table:
    """Return an attended table."""
    return table(ruleset, **{"adjudication": OFFICIALS, "enforcement": "penalise", **match})


def quiet(**match: Any) -> Table:
    """Return an attended table of Kortoxen without cutting and picking up."""
    return attended(deal_ritual=False, **match)


def ask(t: match_driver.Table, *scripts: Script, strike: tuple[int, ...] = (), **more: Any) -> tuple[Event, ...]:
    """Make a correction; return its events."""
    request = Correct(why=Why(rule="B42", reason="seen by all"), scripts=scripts, strike=strike, **more)
    match, before = t.match, t.version
    moment = Moment(before, t.at, "seed", "official", tuple(t.history))
    events, state = match.procedure.take(match.state, request, moment)
    for event in events:
        t.record(event, "official", request if event is events[0] else None)
    assert t.match.state == state, "what take gives is what folding gives"
    t.state = state.play
    return events


def corrected(t: match_driver.Table, *scripts: Script, **more: Any) -> ProtocolCorrected:
    """Make a correction that has no consequences; return its event."""
    (event,) = ask(t, *scripts, **more)
    assert isinstance(event, ProtocolCorrected)
    return event


def refused(t: match_driver.Table, *scripts: Script, **more: Any) -> Refused:
    """Return the refusal of a correction."""
    before = len(t.history)
    with pytest.raises(Refused) as caught:
        ask(t, *scripts, **more)
    assert len(t.history) == before
    return caught.value


def won(event: ProtocolCorrected) -> tuple[str, str, int | None] | None:
    """Return how, by which rule and by which seat the match is won after a correction."""
    return None if event.won is None else (event.won.by, event.won.rule, event.won.seat)


def five(seat: int, deal: int, points: int = 5) -> Script:
    """Return a script for a late penalty or, with negative points, for one that is lifted."""
    return script(deal, [PenaltyImposed(seat=seat, points=points, rule="B42")])


def script_of_deal(t: match_driver.Table, deal: int = 1) -> Script:
    """Return a script for a whole deal, with the play of a different table."""
    events = t.events
    first = next(place for place, one in enumerate(events) if one.TOPIC in ("deal/dealt", "pot/staked"))
    last = next(place for place, one in enumerate(events) if isinstance(one, PlayEnded))
    return script(deal, events[first : last + 1], whole=True)


def lines(t: match_driver.Table) -> list[tuple[int, ...]]:
    """Return the points after each line that counts, struck or not."""
    return [line.points for line in lines_as_corrected(t.history).values()]


def script_of_second_deal(t: Table) -> Script:
    """Return a script for the second deal, with the play of this table."""
    events = t.events
    places = [place for place, one in enumerate(events) if one.TOPIC == "deal/dealt"]
    ends = [place for place, one in enumerate(events) if isinstance(one, PlayEnded)]
    return script(2, events[places[1] : ends[1] + 1], whole=True)
