"""The facts of an act that is taken back (J11), and what is left of a history without it."""

from collections.abc import Iterable
from typing import ClassVar

from referee import wire_types
from referee.value import EventNumber, Seat
from referee.visibility import Event, Recorded


class TakeBackAsked(Event):
    """A seat asked that the last act be taken back, which was its own; or agreed to that."""

    TOPIC: ClassVar[str] = "act/take-back-asked"
    seat: Seat
    first: EventNumber
    """The first event of that act."""
    last: EventNumber
    """The last of them."""


class ActTakenBack(Event):
    """The last act was taken back: the match stands as it did before event ``first``."""

    TOPIC: ClassVar[str] = "act/taken-back"
    case: wire_types.CaseNumber
    first: EventNumber
    """The first event that does not count any more."""
    last: EventNumber
    """The last of them."""
    seat: Seat | None = None
    """Who asked for it, where the table agreed or nobody need; left out: it was ruled in its case."""

    def undoes(self, number: int) -> bool:
        """Whether the event of this number does not count any more."""
        return self.first <= number <= self.last

    @property
    def undone(self) -> tuple[int, ...]:
        """The numbers of these events."""
        return tuple(range(self.first, self.last + 1))


def without_taken_back(history: Iterable[Recorded]) -> list[Recorded]:
    """The history without what was taken back, and without what was said about that."""
    left: list[Recorded] = []
    for recorded in history:
        event = recorded.event
        if isinstance(event, ActTakenBack):
            left = [one for one in left if not event.undoes(one.originator_version)]
        elif not isinstance(event, TakeBackAsked):
            left.append(recorded)
    return left
