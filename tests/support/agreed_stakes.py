"""Agreement to the stakes of a match, as a fact of it."""

from collections.abc import Sequence

from msgspec.structs import replace

from referee.events import MatchOpened
from referee.officials.events.seating import StakesAgreed
from referee.officials.events.takeback import ActTakenBack
from referee.visibility import Recorded

AGREED = StakesAgreed(seats=(0, 1, 2), how="secretary")
"""All three seats have agreed."""


def agreed_by_all(history: Sequence[Recorded]) -> list[Recorded]:
    """Return the history of a match in which all seats agree to the stakes just after the opening. Later numbers are
    one more."""
    opened = history[0].event
    assert isinstance(opened, MatchOpened), "a history begins with its opening"
    agreed = StakesAgreed(seats=tuple(range(len(opened.players))), how="secretary")
    said = replace(history[0], originator_version=2, act_id="agreed", request=None, event=agreed)
    return [history[0], said, *map(_later, history[1:])]


def _later(recorded: Recorded) -> Recorded:
    event = recorded.event
    if isinstance(event, ActTakenBack):
        event = replace(event, first=event.first + 1, last=event.last + 1)
    return replace(recorded, originator_version=recorded.originator_version + 1, event=event)
