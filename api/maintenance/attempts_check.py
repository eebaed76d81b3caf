"""Checks the refused attempts in a match: their numbers, their chain, and the events that they name."""

from collections import defaultdict
from collections.abc import Sequence
from uuid import UUID

from eventsourcing.persistence import StoredEvent

from api.maintenance.raw_store import Row
from api.maintenance.replay_check import History, number_after
from referee.store.attempts import read_attempt
from referee.store.damaged import DamagedAttempt
from referee.store.rows import HASH_BEFORE_FIRST, row_hash


class AttemptCheck:
    """A check of one match. Create it before reading the match's rows."""

    def __init__(self, match_id: UUID, attempts: Sequence[Row]) -> None:
        self._id = match_id
        self._problems: list[str] = []
        self._attempts_by_event: dict[int, list[tuple[int, str]]] = defaultdict(list)
        """Attempts, by number of the event that they name, each with the hash named."""
        self._hashes: dict[int, str] = {}
        """Hashes of the named events' rows, by event number."""
        number, prev = 0, HASH_BEFORE_FIRST
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
                self._attempts_by_event[event.version].append((number, event.head))
            prev = row_hash(stored)

    def add(self, rows: Sequence[Row]) -> None:
        """Hash the rows that an attempt names."""
        if self._attempts_by_event:
            self._hashes |= {
                row.number: row_hash(self._stored_event(row)) for row in rows if row.number in self._attempts_by_event
            }

    def compare(self, history: History) -> None:
        """Report all faults to ``history``. Call this after the last :meth:`add`."""
        for what in self._problems:
            history.report(0, what)
        for version, named in sorted(self._attempts_by_event.items()):
            for attempt, head in named:
                if version not in self._hashes:
                    history.report(0, f"attempt {attempt} names event {version}, which does not exist")
                elif self._hashes[version] != head:
                    history.report(version, f"attempt {attempt} names a hash that is not that of the row")

    def _stored_event(self, row: Row) -> StoredEvent:
        state = row.state if isinstance(row.state, bytes) else str(row.state).encode()
        return StoredEvent(self._id, row.number, row.topic, state)
