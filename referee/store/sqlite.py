"""The eventsourcing library's SQLite store, with a table of keyed acts."""

import secrets
import sqlite3
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

from eventsourcing.persistence import ConnectionUnavailableError, OperationalError, StoredEvent
from eventsourcing.sqlite import (
    SQLiteApplicationRecorder,
    SQLiteConnection,
    SQLiteCursor,
    SQLiteDatastore,
    SQLiteFactory,
)
from eventsourcing.utils import Environment, EnvType

from referee.store.acts import SECRET_BYTES, KeyedAct, Placed, keyed_acts
from referee.store.rows import Row

ACTS = "stored_acts"
SECRET = "stored_secret"


_uuid_of = lru_cache(4096)(UUID)  # because parsing an id takes longer than reading the row


class Recorder(SQLiteApplicationRecorder):
    """A recorder with the methods of :class:`~referee.store.acts.Store`."""

    def convert_originator_id(self, originator_id: str) -> UUID:
        return _uuid_of(originator_id)

    def construct_create_table_statements(self) -> list[str]:
        return [
            *super().construct_create_table_statements(),
            f"CREATE TABLE IF NOT EXISTS {ACTS} (originator_id TEXT, key BLOB, first INTEGER, last INTEGER,"
            " PRIMARY KEY (originator_id, key)) WITHOUT ROWID",
            f"CREATE TABLE IF NOT EXISTS {SECRET} (one INTEGER PRIMARY KEY CHECK (one = 1), secret BLOB NOT NULL)",
        ]

    def _create_table(self, c: SQLiteCursor) -> None:
        """Create missing tables. Fill a new table of acts from the events."""
        # so that SQLite does not refuse to write: it would after a read, if a different transaction writes
        if not self._has_tables_and_secret(c):
            c.execute("COMMIT")
            c.execute("BEGIN IMMEDIATE")
        known = self._has_table(c, ACTS)
        super()._create_table(c)
        if not self._has_tables_and_secret(c):
            c.execute(f"INSERT INTO {SECRET} VALUES (1, ?)", [secrets.token_bytes(SECRET_BYTES)])
        if not known:
            rows = c.sqlite_cursor.connection.cursor()
            rows.row_factory = None
            rows.execute(
                f"SELECT originator_id, originator_version, state FROM {self.events_table_name} ORDER BY rowid"
            )
            self._insert_acts(c, keyed_acts(rows), "OR IGNORE")

    def _has_tables_and_secret(self, c: SQLiteCursor) -> bool:
        if not (self._has_table(c, ACTS) and self._has_table(c, SECRET)):
            return False
        c.execute(f"SELECT count(*) FROM {SECRET}")
        (made,) = c.fetchone()
        return bool(made)

    @staticmethod
    def _has_table(c: SQLiteCursor, table: str) -> bool:
        c.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", [table])
        (there,) = c.fetchone()
        return bool(there)

    def _insert_events(
        self, c: SQLiteCursor, stored_events: Sequence[StoredEvent], acts: Sequence[KeyedAct] = (), **_: Any
    ) -> Sequence[int] | None:
        if acts:
            self._insert_acts(c, acts)
        return super()._insert_events(c, stored_events)

    def _insert_acts(self, c: SQLiteCursor, acts: Iterable[KeyedAct], conflict: str = "") -> None:
        """Insert acts. ``conflict``: SQL for acts that exist; empty: raise an error."""
        c.executemany(
            f"INSERT {conflict} INTO {ACTS} VALUES (?, ?, ?, ?)",
            ((act.aggregate_id.hex, act.key, act.first, act.last) for act in acts),
        )

    def store(
        self, rows: Sequence[StoredEvent], acts: Sequence[KeyedAct], versions: Mapping[UUID, int]
    ) -> Sequence[StoredEvent]:
        self.insert_events(rows, acts=acts)
        return self.select_newer(versions)

    def wait_for_writes(self) -> None:
        """Do nothing, because SQLite stores no failed transaction later."""

    def select_acts(self, keys: Iterable[tuple[UUID, bytes]]) -> list[KeyedAct]:
        found = []
        with self.datastore.transaction(commit=False) as c:
            for aggregate_id, key in keys:
                c.execute(
                    f"SELECT first, last FROM {ACTS} WHERE originator_id = ? AND key = ?", (aggregate_id.hex, key)
                )
                found += [KeyedAct(aggregate_id, key, *numbers) for numbers in c.fetchall()]
        return found

    def select_secret(self) -> bytes:
        with self.datastore.transaction(commit=False) as c:
            c.execute(f"SELECT secret FROM {SECRET}")
            (secret,) = c.fetchone()
        assert isinstance(secret, bytes)
        return secret

    def select_ends(self) -> list[Any]:
        found: list[Any] = []
        with self.datastore.transaction(commit=False) as c:
            for order in ("ASC", "DESC"):
                c.execute(f"SELECT CAST(state AS BLOB) FROM {self.events_table_name} ORDER BY rowid {order} LIMIT 1")
                found += [state for (state,) in c.fetchall()]
        return found

    def select_events(self, originator_id: UUID | str, **bounds: Any) -> Sequence[StoredEvent]:
        own = originator_id if isinstance(originator_id, UUID) else UUID(originator_id)
        return [StoredEvent(own, *row) for row in self._select_tuples(own, **bounds)]

    def select_rows(self, aggregate_id: UUID, *, gt: int | None = None, lte: int | None = None) -> list[Row]:
        return [Row(aggregate_id, *row) for row in self._select_tuples(aggregate_id, gt=gt, lte=lte)]

    def _select_tuples(self, aggregate_id: UUID, **bounds: Any) -> list[tuple[int, str, bytes]]:
        """Return number, topic and state of rows. In a topic, bytes that are not UTF-8 are replaced."""
        try:
            return self._select("topic", aggregate_id, **bounds)
        except OperationalError as error:
            if "Could not decode" not in str(error):
                raise
        rows = self._select("CAST(topic AS BLOB)", aggregate_id, **bounds)
        return [(number, topic.decode(errors="replace"), state) for number, topic, state in rows]

    def _select(
        self,
        topic: str,
        aggregate_id: UUID,
        *,
        gt: int | None = None,
        lte: int | None = None,
        desc: bool = False,
        limit: int | None = None,
    ) -> list[Any]:
        statement = f"SELECT originator_version, {topic}, state FROM {self.events_table_name} WHERE originator_id = ?"
        parameters: list[Any] = [aggregate_id.hex]
        if gt is not None:
            statement += " AND originator_version > ?"
            parameters.append(gt)
        if lte is not None:
            statement += " AND originator_version <= ?"
            parameters.append(lte)
        statement += f" ORDER BY originator_version {'DESC' if desc else 'ASC'} LIMIT ?"
        parameters.append(-1 if limit is None else limit)
        with self.datastore.transaction(commit=False) as c:
            cursor = c.sqlite_cursor
            cursor.row_factory = None
            return cursor.execute(statement, parameters).fetchall()

    def select_newer(self, versions: Mapping[UUID, int]) -> list[StoredEvent]:
        return [
            row for aggregate_id, version in versions.items() for row in self.select_events(aggregate_id, gt=version)
        ]

    def select_page(self, after: int, limit: int) -> list[Placed]:
        return self._placed("rowid > ? ORDER BY rowid LIMIT ?", after, limit)

    def select_history(self, aggregate_id: UUID, after: int, limit: int) -> list[Placed]:
        condition = "originator_id = ? AND originator_version > ? ORDER BY originator_version LIMIT ?"
        return self._placed(condition, aggregate_id.hex, after, limit)

    def _placed(self, condition: str, *parameters: object) -> list[Placed]:
        columns = "rowid, originator_id, originator_version, topic, state"
        query = f"SELECT {columns} FROM {self.events_table_name} WHERE {condition}"
        with self.datastore.transaction(commit=False) as c:
            cursor = c.sqlite_cursor
            cursor.row_factory = None
            try:
                return cursor.execute(query, parameters).fetchall()
            except sqlite3.OperationalError:  # so that a text that is not UTF-8 blocks no rows
                connection = cursor.connection
                connection.text_factory = partial(str, encoding="utf-8", errors="replace")
                try:
                    return cursor.execute(query, parameters).fetchall()
                finally:
                    connection.text_factory = str


class Datastore(SQLiteDatastore):
    """The library's datastore with its own lock, released even if a writer gets no connection."""

    def __init__(self, db_name: str, *, lock_timeout: int | None) -> None:
        super().__init__(db_name, lock_timeout=lock_timeout)
        self._turn = threading.Lock()

    @contextmanager
    def get_connection(self, *, commit: bool) -> Iterator[SQLiteConnection]:
        """Lend a connection; with ``commit``, to one writer at a time.

        Raises ``ConnectionUnavailableError`` after ``pool_timeout`` seconds.
        """
        if self.pool.is_sqlite_memory_mode or not commit:
            with super().get_connection(commit=commit) as connection:
                yield connection
            return
        if not self._turn.acquire(timeout=self.pool.pool_timeout):
            raise ConnectionUnavailableError("timed out waiting for another writer")
        try:
            with super().get_connection(commit=False) as connection:
                yield connection
        finally:
            self._turn.release()


class Factory(SQLiteFactory):
    application_recorder_class = Recorder

    def __init__(self, env: Environment | EnvType | None) -> None:
        super().__init__(env)
        made = self.datastore.pool
        self.datastore = Datastore(made.db_name, lock_timeout=made.lock_timeout)
