"""Agreement to the stakes of a match, as a fact of it."""

from collections.abc import Sequence

from msgspec.structs import replace

from referee.proceedings.seating import StakesAgreed
from referee.proceedings.takeback import ActTakenBack
from referee.sight import Recorded

AGREED = StakesAgreed(seats=(0, 1, 2), how="secretary")
"""All three seats have agreed."""


def agreed_after(history: Sequence[Recorded], first: int, seats: int) -> list[Recorded]:
    """Return the history of a match in which all seats agree after the event of this number. Later numbers are one
    more."""
    said = replace(
        history[first - 1],
        originator_version=first + 1,
        act_id="agreed",
        request=None,
        event=StakesAgreed(seats=tuple(range(seats)), how="secretary"),
    )
    return [*history[:first], said, *map(_later, history[first:])]


def _later(recorded: Recorded) -> Recorded:
    event = recorded.event
    if isinstance(event, ActTakenBack):
        event = replace(event, first=event.first + 1, last=event.last + 1)
    return replace(recorded, originator_version=recorded.originator_version + 1, event=event)
