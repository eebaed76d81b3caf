"""A page of the log: rows as the event store keeps them, of which only what a book asks for is decoded, and once."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple
from uuid import UUID

from referee.events import Event, Recorded

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


class Page:
    """So many rows of the log, in order."""

    def __init__(self, rows: Sequence[Row], decode: Decode) -> None:
        self.rows = rows
        self.decode = decode
        self._decoded: dict[int, Recorded] = {}

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def position(self) -> int:
        """Of its last row."""
        return self.rows[-1][0]

    def after(self, position: int) -> "Page":
        """The rows behind a position."""
        if self.rows and self.rows[0][0] > position:
            return self
        return Page([row for row in self.rows if row[0] > position], self.decode)

    @cached_property
    def histories(self) -> dict[UUID, list[Row]]:
        """The rows of each aggregate."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            found[row[1]].append(row)
        return {UUID(aggregate): rows for aggregate, rows in found.items()}

    def recorded(self, aggregate: UUID, row: Row) -> Recorded:
        """The event of a row of this page, and of this aggregate."""
        position, _, number, topic, state = row
        recorded = self._decoded.get(position)
        if recorded is None:
            recorded = self._decoded[position] = self.decode(aggregate, number, topic, state)
        return recorded

    def news(self, versions: Mapping[UUID, int], takes: frozenset[str] | None) -> Iterator[News]:
        """What is new to a book that has these versions, of each aggregate that it has or takes the first event of.

        Raises ``AssertionError`` where an event is missing, so that no book passes over one.
        """
        for aggregate, rows in self.histories.items():
            had, first = versions.get(aggregate, 0), rows[0][2]
            taken = rows if takes is None else [row for row in rows if row[3] in takes]
            if not had and (not taken or (first == 1 and taken[0] is not rows[0])):
                continue  # of another kind than the book's
            version = rows[-1][2]
            assert first <= had + 1, f"event {had + 1} of {aggregate} is missing"
            assert version - first == len(rows) - 1, f"of events {first} to {version} of {aggregate} one is missing"
            if version > had:
                events = [self.recorded(aggregate, row) for row in taken if row[2] > had]
                yield News(aggregate, version, rows[-1], events)
