"""Events of a take-back (J11), and the history without acts taken back."""

from collections.abc import Iterable
from typing import ClassVar

from referee import wire_types
from referee.value import EventNumber, Seat
from referee.visibility import Event, Recorded


class TakeBackAsked(Event):
    """A seat asked to take back the last act, which made events ``first`` to ``last``, or agreed to take it back."""

    TOPIC: ClassVar[str] = "act/take-back-asked"
    seat: Seat
    first: EventNumber
    """First event of the act."""
    last: EventNumber
    """Last event of the act."""


class ActTakenBack(Event):
    """The last act was taken back. Events ``first`` to ``last`` no longer count."""

    TOPIC: ClassVar[str] = "act/taken-back"
    case: wire_types.CaseNumber
    first: EventNumber
    """First event that no longer counts."""
    last: EventNumber
    """Last event that no longer counts."""
    seat: Seat | None = None
    """Seat that took back its act; left out: a ruling in the case took it back."""

    def undoes(self, number: int) -> bool:
        return self.first <= number <= self.last

    @property
    def undone(self) -> tuple[int, ...]:
        return tuple(range(self.first, self.last + 1))


def without_taken_back(history: Iterable[Recorded]) -> list[Recorded]:
    """Return the history without take-backs, requests for take-backs and undone events."""
    kept: list[Recorded] = []
    for recorded in history:
        event = recorded.event
        if type(event) not in _OF_TAKE_BACKS:
            kept.append(recorded)
        elif isinstance(event, ActTakenBack):
            kept = [one for one in kept if not event.undoes(one.originator_version)]
    return kept


_OF_TAKE_BACKS = frozenset((ActTakenBack, TakeBackAsked))
