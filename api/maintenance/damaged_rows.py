"""Finds the rows of a store that cannot be read or are missing."""

from collections.abc import Iterator
from typing import Any, NamedTuple
from uuid import UUID

from eventsourcing.persistence import StoredEvent

from api.maintenance.raw_store import StoreReader
from api.maintenance.replay_check import KIND_BY_TOPIC, UNKNOWN, number_after
from referee.store.damaged import DamagedRow
from referee.store.rows import from_row


class Damage(NamedTuple):
    kind: str
    """``match``, ``club`` or ``log``; ``id``: unknown."""
    row: DamagedRow


def damaged_rows(stored: StoreReader) -> Iterator[Damage]:
    """Yield each row that cannot be decoded, and the first missing row of each gap.

    Skip rows whose aggregate id is not a UUID.
    """
    known: dict[UUID, tuple[str, int]] = {}
    for rows in stored.pages_of_log():
        for _, stored_id, number, topic, state in rows:
            try:
                aggregate_id = UUID(str(stored_id))
            except ValueError:
                continue
            kind, last = known.get(aggregate_id) or (KIND_BY_TOPIC.get(topic, UNKNOWN), 0)
            known[aggregate_id] = kind, number_after(last, number)
            for damaged in _damages_at_row(aggregate_id, last, number, topic, state):
                yield Damage(kind, damaged)


def _damages_at_row(aggregate_id: UUID, last: int, number: Any, topic: Any, state: Any) -> Iterator[DamagedRow]:
    if number != last + 1:
        yield DamagedRow(aggregate_id, last + 1, "missing")
    try:
        from_row(StoredEvent(aggregate_id, number, topic, state))
    except DamagedRow as damaged:
        yield damaged
