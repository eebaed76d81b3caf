"""Checks the refused attempts in a match: their numbers, their chain, and the events that they name."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from eventsourcing.persistence import StoredEvent

from api.maintenance.raw_store import Row
from api.maintenance.replay_check import History, number_after
from referee.store.attempts import read_attempt
from referee.store.damaged import DamagedAttempt
from referee.store.rows import FIRST, row_hash


class AttemptCheck:
    """A check that is created before the rows of the match are read."""

    def __init__(self, match_id: UUID, attempts: Sequence[Row]) -> None:
        self._id = match_id
        self._problems: list[str] = []
        self._named: dict[int, list[tuple[int, str]]] = defaultdict(list)
        """Attempts, each with its hash of the event that it names, by the number of the event."""
        self._heads: dict[int, str] = {}
        """Hashes of the named events' rows, by number."""
        number, prev = 0, FIRST
        for row in attempts:
            if not isinstance(row.number, int):
                self._problems.append(f"attempt {row.number}: this is not the number of an attempt")
            elif row.number != number + 1:
                self._problems.append(f"attempt {row.number} follows attempt {number}: those between are missing")
            number, stored = number_after(number, row.number), self._stored_event(row)
            try:
                recorded, event = read_attempt(stored)
            except DamagedAttempt as damaged:
                self._problems.append(f"attempt {number} cannot be read: {damaged.detail}")
            else:
                if recorded.prev != prev:
                    self._problems.append(f"attempt {number}: the chain is broken before it")
                self._named[event.version].append((number, event.head))
            prev = row_hash(stored)

    def add(self, rows: Sequence[Row]) -> None:
        """Hash the rows that an attempt names."""
        if self._named:
            self._heads |= {
                row.number: row_hash(self._stored_event(row)) for row in rows if row.number in self._named
            }

    def compare(self, history: History) -> None:
        """Report the faults of the attempts. Call this after the last :meth:`add`."""
        for what in self._problems:
            history.report(0, what)
        for version, named in sorted(self._named.items()):
            for attempt, head in named:
                if version not in self._heads:
                    history.report(0, f"attempt {attempt} names event {version}, which does not exist")
                elif self._heads[version] != head:
                    history.report(version, f"attempt {attempt} names a hash that is not that of the row")

    def _stored_event(self, row: Row) -> StoredEvent:
        state = row.state if isinstance(row.state, bytes) else str(row.state).encode()
        return StoredEvent(self._id, row.number, row.topic, state)
