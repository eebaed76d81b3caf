"""Rows of events that no desk has stored."""

from hashlib import sha256

from eventsourcing.persistence import StoredEvent
from msgspec.structs import replace

from referee.store.rows import to_row
from referee.visibility import SALT_BYTES, Recorded


def salted(recorded: Recorded) -> Recorded:
    """Return an event with a reproducible salt, made from the aggregate's id and the number."""
    drawn = sha256(f"{recorded.originator_id} {recorded.originator_version}".encode()).digest()
    return replace(recorded, salt=drawn[:SALT_BYTES])


def row_of(recorded: Recorded) -> StoredEvent:
    """Return the row of an event, with a salt as :func:`salted` gives."""
    return to_row(salted(recorded))
