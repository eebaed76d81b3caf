"""A page of the log: rows as the event store keeps them, of which only what a book asks for is decoded, and once."""

import logging
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import NamedTuple
from uuid import UUID

from referee.visibility import Event, Recorded

log = logging.getLogger(__name__)

Row = tuple[int, str, int, str, bytes]
"""The position in the log, an order with gaps and not a count; whose event it is; its number there; its topic; and
what is stored of it."""
Decode = Callable[[UUID, int, str, bytes], Recorded]
"""The recorded event of a row."""


def topics(*kinds: type[Event]) -> frozenset[str]:
    """What these events are known by before they are decoded."""
    return frozenset(kind.TOPIC for kind in kinds)


class News(NamedTuple):
    """What a page has of an aggregate that a book did not have yet."""

    aggregate: UUID
    version: int
    """The number of the last event, taken or not."""
    last: Row
    """Which may be one that the book does not take."""
    events: list[Recorded]
    """Those that it takes."""


class Missing(AssertionError):
    """An event is not there, and later ones of its aggregate are."""

    def __init__(self, aggregate: UUID, number: int) -> None:
        super().__init__(f"event {number} of {aggregate} is missing")
        self.number = number


def mark_of(row: Row) -> str:
    """What tells a row from one of another history in its place."""
    return sha256(repr(row).encode()).hexdigest()


class Page:
    """So many rows of the log, in order."""

    def __init__(self, rows: Sequence[Row], decode: Decode, decoded: dict[int, Recorded] | None = None) -> None:
        self.rows = rows
        self.decode = decode
        self._decoded = {} if decoded is None else decoded

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def position(self) -> int:
        """Of its last row."""
        return self.rows[-1][0]

    @property
    def mark(self) -> str:
        """Of its last row."""
        return mark_of(self.rows[-1])

    def after(self, position: int) -> "Page":
        """The rows behind a position."""
        if self.rows and self.rows[0][0] > position:
            return self
        return self._with([row for row in self.rows if row[0] > position])

    def without(self, aggregates: Collection[UUID]) -> "Page":
        """The rows of all others."""
        if not aggregates:
            return self
        gone = {rows[0][1] for aggregate, rows in self.histories.items() if aggregate in aggregates}
        return self._with([row for row in self.rows if row[1] not in gone]) if gone else self

    def halves(self) -> "tuple[Page, Page]":
        """Its first rows, and its last."""
        middle = len(self.rows) // 2
        return self._with(self.rows[:middle]), self._with(self.rows[middle:])

    def _with(self, rows: Sequence[Row]) -> "Page":
        return Page(rows, self.decode, self._decoded)

    @cached_property
    def histories(self) -> dict[UUID, list[Row]]:
        """The rows of each aggregate."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            found[row[1]].append(row)
        histories = {}
        for aggregate, rows in found.items():
            try:
                histories[UUID(aggregate)] = rows
            except (ValueError, TypeError, AttributeError):  # nobody can ask for it, and it keeps nobody waiting
                log.error("position %s: %r is no id, its rows are passed over", rows[0][0], aggregate)
        return histories

    @cached_property
    def gaps(self) -> dict[UUID, int]:
        """The first event that is missing between the rows of an aggregate, where one is."""
        found = {}
        for aggregate, rows in self.histories.items():
            for number, row in enumerate(rows, rows[0][2]):
                if row[2] != number:
                    found[aggregate] = number
                    break
        return found

    def recorded(self, aggregate: UUID, row: Row) -> Recorded:
        """The event of a row of this page, and of this aggregate."""
        position, _, number, topic, state = row
        recorded = self._decoded.get(position)
        if recorded is None:
            recorded = self._decoded[position] = self.decode(aggregate, number, topic, state)
        return recorded

    def news(self, versions: Mapping[UUID, int], takes: frozenset[str] | None) -> Iterator[News]:
        """What is new to a book that has these versions, of each aggregate that it has or takes the first event of.

        Raises :class:`Missing` where an event is missing, so that no book passes over one.
        """
        for aggregate, rows in self.histories.items():
            had, first = versions.get(aggregate, 0), rows[0][2]
            taken = rows if takes is None else [row for row in rows if row[3] in takes]
            if not had and (not taken or (first == 1 and taken[0] is not rows[0])):
                continue  # of another kind than the book's
            version = rows[-1][2]
            if first > had + 1:
                raise Missing(aggregate, had + 1)
            if aggregate in self.gaps:
                raise Missing(aggregate, self.gaps[aggregate])
            if version > had:
                events = [self.recorded(aggregate, row) for row in taken if row[2] > had]
                yield News(aggregate, version, rows[-1], events)


Read = Callable[[int, int], Page]
"""The events after a position, at most so many, in order."""
History = Callable[[UUID, int, int], Page]
"""The events of one aggregate after a number, at most so many, in order."""


class Log(NamedTuple):
    """How the events of all aggregates are read."""

    read: Read
    history: History
    head: Callable[[], int]
    """The position of the last event, or 0."""
