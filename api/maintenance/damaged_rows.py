"""Finds the rows of a store that cannot be read or are missing, by reading all rows."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

from eventsourcing.persistence import StoredEvent

from api.maintenance.raw_store import Stored
from api.maintenance.replay_check import KIND_OF, UNKNOWN
from referee.store.damaged import DamagedRow
from referee.store.rows import from_row


class Damage(NamedTuple):
    """A damaged row, and the kind of its aggregate: one of :data:`~api.maintenance.replay_check.KIND_OF`."""

    kind: str
    row: DamagedRow


class _Last(NamedTuple):
    """The kind of an aggregate, by its first row, and the number of its last row so far."""

    kind: str
    number: int


def damages(stored: Stored) -> Iterator[Damage]:
    """Yield each row that cannot be decoded, and each that is missing before a later one.

    Does not check whether the rules accept the rows; ``knacka verify`` does.
    """
    known: dict[UUID, _Last] = {}
    for rows in stored.log():
        for _, stored_id, number, topic, state in rows:
            try:
                aggregate_id = UUID(str(stored_id))
            except ValueError:  # these rows cannot belong to a match or club
                continue
            last = known.get(aggregate_id) or _Last(KIND_OF.get(topic, UNKNOWN), 0)
            known[aggregate_id] = _Last(last.kind, number)
            for damaged in _damaged(aggregate_id, last.number, number, topic, state):
                yield Damage(last.kind, damaged)


def _damaged(aggregate_id: UUID, last: int, number: Any, topic: Any, state: Any) -> Iterator[DamagedRow]:
    if number != last + 1:
        yield DamagedRow(aggregate_id, last + 1, "missing")
    try:
        from_row(StoredEvent(aggregate_id, number, topic, state))
    except DamagedRow as damaged:
        yield damaged
