"""A page of the log: stored rows, decoded once if a projection needs them."""

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
"""Position in the log (increasing, with gaps), aggregate, number in it, topic and state."""
Decode = Callable[[UUID, int, str, bytes], Recorded]
"""Function that decodes a row without its position."""


def topics(*kinds: type[Event]) -> frozenset[str]:
    return frozenset(kind.TOPIC for kind in kinds)


class News(NamedTuple):
    """New rows of an aggregate on a page, for one projection."""

    aggregate: UUID
    version: int
    """Number of ``last``."""
    last: Row
    """Last row on the page, even if the projection does not use it."""
    events: list[Recorded]
    """Events that the projection uses, if any."""


class Missing(AssertionError):
    """An event is missing, although its aggregate has later events."""

    def __init__(self, aggregate: UUID, number: int) -> None:
        super().__init__(f"event {number} of {aggregate} is missing")
        self.number = number


def row_mark(row: Row) -> str:
    """Return a hash of a row, to notice a replaced log."""
    return sha256(repr(row).encode()).hexdigest()


class Page:
    """Some rows of the log, in order."""

    def __init__(self, rows: Sequence[Row], decode: Decode, decoded: dict[int, Recorded] | None = None) -> None:
        self.rows = rows
        self.decode = decode
        self._decoded = {} if decoded is None else decoded

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def position(self) -> int:
        return self.rows[-1][0]

    @property
    def mark(self) -> str:
        """:func:`row_mark` of the last row."""
        return row_mark(self.rows[-1])

    def after(self, position: int) -> "Page":
        if self.rows and self.rows[0][0] > position:
            return self
        return self._page_of([row for row in self.rows if row[0] > position])

    def without(self, aggregates: Collection[UUID]) -> "Page":
        if not aggregates:
            return self
        gone = {rows[0][1] for aggregate, rows in self.histories.items() if aggregate in aggregates}
        return self._page_of([row for row in self.rows if row[1] not in gone]) if gone else self

    def halves(self) -> "tuple[Page, Page]":
        middle = len(self.rows) // 2
        return self._page_of(self.rows[:middle]), self._page_of(self.rows[middle:])

    def _page_of(self, rows: Sequence[Row]) -> "Page":
        return Page(rows, self.decode, self._decoded)

    @cached_property
    def histories(self) -> dict[UUID, list[Row]]:
        """Rows by aggregate, without those whose aggregate is no UUID."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            found[row[1]].append(row)
        histories = {}
        for aggregate, rows in found.items():
            try:
                histories[UUID(aggregate)] = rows
            except (ValueError, TypeError, AttributeError):  # because no caller can request it
                log.error("position %s: %r is no id, its rows are passed over", rows[0][0], aggregate)
        return histories

    @cached_property
    def gaps(self) -> dict[UUID, int]:
        """Number of the first event missing between rows, by aggregate."""
        found = {}
        for aggregate, rows in self.histories.items():
            for number, row in enumerate(rows, rows[0][2]):
                if row[2] != number:
                    found[aggregate] = number
                    break
        return found

    def recorded(self, aggregate: UUID, row: Row) -> Recorded:
        """Return the event of a row, or raise the error of ``decode``."""
        position, _, number, topic, state = row
        recorded = self._decoded.get(position)
        if recorded is None:
            recorded = self._decoded[position] = self.decode(aggregate, number, topic, state)
        return recorded

    def news(self, versions: Mapping[UUID, int], takes: frozenset[str] | None) -> Iterator[News]:
        """Yield the news of each aggregate with rows after its version.

        ``takes``: topics of the events; ``None``: all. Skips an aggregate without a version if its first event or all
        rows have other topics. Raises :class:`Missing` if an event is missing.
        """
        for aggregate, rows in self.histories.items():
            had, first = versions.get(aggregate, 0), rows[0][2]
            taken = rows if takes is None else [row for row in rows if row[3] in takes]
            if not had and (not taken or (first == 1 and taken[0] is not rows[0])):
                continue
            version = rows[-1][2]
            if first > had + 1:
                raise Missing(aggregate, had + 1)
            if aggregate in self.gaps:
                raise Missing(aggregate, self.gaps[aggregate])
            if version > had:
                events = [self.recorded(aggregate, row) for row in taken if row[2] > had]
                yield News(aggregate, version, rows[-1], events)


Read = Callable[[int, int], Page]
"""Function that returns the rows after a position, at most a limit."""
History = Callable[[UUID, int, int], Page]
"""Function that returns an aggregate's rows after an event number, at most a limit."""


class Log(NamedTuple):
    """Functions that read the log."""

    read: Read
    history: History
    head: Callable[[], int]
    """Function that returns the last position; 0 if the log is empty."""
