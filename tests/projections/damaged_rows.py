"""Damaged rows of the log, and their repair."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from eventsourcing.persistence import StoredEvent

from referee.store.store import Referee

BROKEN = {
    "undecodable": "UPDATE {table} SET state = {junk} WHERE {this}",
    "gone": "DELETE FROM {table} WHERE {this}",
    "renumbered": "UPDATE {table} SET originator_version = 1000000 WHERE {this}",
}
"""Kinds of damage to a row."""


def names(referee: Referee) -> dict[str, str]:
    """Return the names of the log and its columns in this store."""
    if "postgres" in type(referee.recorder).__module__:
        return {"table": "referee_events", "place": "notification_id", "junk": r"'\x3f'", "mark": "%s"}
    return {"table": "stored_events", "place": "rowid", "junk": "X'3F'", "mark": "?"}


def change(referee: Referee, statement: str, *values: Any) -> None:
    """Change the log directly in the store. ``{table}``, ``{place}`` and ``{mark}`` are replaced by their names."""
    recorder: Any = referee.recorder
    with recorder.datastore.transaction(commit=True) as cursor:
        cursor.execute(statement.format(**names(referee)), values)


@contextmanager
def broken(referee: Referee, how: str, row: StoredEvent, position: int) -> Iterator[None]:
    """Damage a row, and repair it afterwards."""
    this = f"{{place}} = {position}"
    change(referee, BROKEN[how].replace("{this}", this))
    yield
    change(referee, f"DELETE FROM {{table}} WHERE {this}")
    columns = "{place}, originator_id, originator_version, topic, state"
    statement = f"INSERT INTO {{table}} ({columns}) VALUES ({', '.join(['{mark}'] * 5)})"
    match_id = row.originator_id.hex if isinstance(row.originator_id, UUID) else row.originator_id
    change(referee, statement, position, match_id, row.originator_version, row.topic, row.state)
