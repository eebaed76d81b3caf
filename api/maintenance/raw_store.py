"""Reads a store and its projections without changing or creating anything."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import UUID

from sqlalchemy import (
    ColumnClause,
    ColumnElement,
    Connection,
    Engine,
    Executable,
    LargeBinary,
    QueuePool,
    Select,
    TableClause,
    Text,
    Uuid,
    cast,
    column,
    create_engine,
    event,
    func,
    inspect,
    select,
    table,
    type_coerce,
)
from sqlalchemy.exc import SQLAlchemyError

from api.personal_data.erasures import Redactions, changes_by_digest
from api.personal_data.names import DUE, ERASED, names_file
from api.personal_data.names import TABLE as NAMES_TABLE
from projections.follow.engine import Json, Utc, books_file, engine_for
from projections.follow.projection import Projection
from projections.matches import Matches
from referee.store.connection import SqliteFile, parse_store_url
from referee.store.match import check_installed
from referee.store.rows import refuse_older

ID = Text().with_variant(Uuid(as_uuid=False), "postgresql")
"""Column type of aggregate ids."""
IDS_PER_QUERY, ROWS_PER_QUERY = 500, 2000
SQLITE_LOCK_SECONDS = 10
POSTGRESQL_ANSWER_SECONDS = 30.0

POSITIONS = table("book_places", column("book", Text()), column("position"), column("mark", Text()))
SET_ASIDE = table(
    "book_aside",
    column("book", Text()),
    column("match", ID),
    column("since", Utc()),
    column("event"),
    column("error", Json(str)),
)
"""Table of matches that projections no longer follow after an error."""


class Row(NamedTuple):
    """A stored row, not decoded. A damaged row may have cells of any type."""

    position: int
    """Position in the log; 0 for a refused attempt."""
    number: Any
    topic: Any
    state: Any


class StoreReader:
    """Reads one store. Methods raise ``SQLAlchemyError``, and ``FileNotFoundError`` if the events' SQLite file is
    missing."""

    def __init__(self, url: str) -> None:
        """Raises ``ValueError`` if the URL does not name a store."""
        self.files: tuple[Path, ...] = ()
        """Files of the events and of the projections; empty on PostgreSQL."""
        place = parse_store_url(url)
        if isinstance(place, SqliteFile):
            self.files = Path(place.path), books_file(url)
            self.events, self.projections = map(sqlite_engine, self.files)
            self._names = sqlite_engine(names_file(url))
            prefix, position = "stored", "rowid"
        else:
            engine = engine_for(url, POSTGRESQL_ANSWER_SECONDS)
            self.events = self.projections = self._names = engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            prefix, position = "referee", "notification_id"
        self.rows_table = _table_of_rows(f"{prefix}_events", column(position))
        self.snapshots_table = _table_of_rows(f"{prefix}_snapshots")
        self.acts_table = table(f"{prefix}_acts", column("originator_id", ID), *map(column, ("key", "first", "last")))
        self.attempts_table = _table_of_rows(f"{prefix}_attempts")
        self.secret_table = table(f"{prefix}_secret", column("secret", LargeBinary()))
        self._position = self.rows_table.c[position]

    def close(self) -> None:
        self.events.dispose()
        self.projections.dispose()
        self._names.dispose()

    def _fetch_all(self, query: Executable) -> list[Any]:
        with self.events.connect() as connection:
            return list(connection.execute(query))

    @staticmethod
    def _pages(engine: Engine, query: Select[Any], key: ColumnElement[Any], limit: int) -> Iterator[Sequence[Any]]:
        """Yield a query's rows in pages of ``limit``. ``key``: a unique selected column, which orders the rows."""
        page = query = query.order_by(key).limit(limit)
        while True:
            with engine.connect() as connection:
                found = connection.execute(page).all()
            if found:
                yield found
            if len(found) < limit:
                return
            page = query.where(key > found[-1]._mapping[key])

    def _has_table(self, wanted: TableClause) -> bool:
        with self.events.connect() as connection:
            return inspect(connection).has_table(wanted.name)

    @cached_property
    def secret(self) -> bytes | None:
        """Secret of the store; None if missing or damaged."""
        found = self._fetch_all(select(self.secret_table.c.secret)) if self._has_table(self.secret_table) else []
        return found[0].secret if found and isinstance(found[0].secret, bytes) else None

    def last_position(self) -> int:
        """Return the log's last position; 0 without events."""
        return self._fetch_all(select(func.max(self._position)))[0][0] or 0

    def check_release(self) -> None:
        """Raise :class:`~referee.store.rows.OlderStore` if the first and last row have an earlier form."""
        query = select(cast(self.rows_table.c.state, LargeBinary)).limit(1)
        with self.events.connect() as connection:
            first = connection.scalars(query.order_by(self._position)).all()
            refuse_older([*first, *connection.scalars(query.order_by(self._position.desc()))])

    def check_games(self) -> None:
        """Raise :class:`~referee.store.damaged.NotInstalled` if a match has a game that is not installed.

        Check nothing if the projection of matches cannot be read.
        """
        with suppress(SQLAlchemyError, OSError), self.projections.connect() as connection:
            check_installed(Matches().rulesets(connection))

    def count_rows(self) -> int:
        return int(self._fetch_all(select(func.count()).select_from(self.rows_table))[0][0])

    def pages_of_log(self) -> Iterator[list[Any]]:
        """Yield pages of the log's rows in order: position, aggregate id, number, topic, state."""
        this = self.rows_table.c
        query = select(self._position, this.originator_id, this.originator_version, this.topic, this.state)
        for page in self._pages(self.events, query, self._position, ROWS_PER_QUERY):
            yield [tuple(row) for row in page]

    def aggregate_ids(self) -> Iterator[str]:
        return self._distinct_ids(self.events, self.rows_table.c.originator_id)

    def ids_of_topic(self, topic: str) -> Iterator[str]:
        """Yield the ids of the aggregates whose first event has this topic, in order."""
        this = self.rows_table.c
        return self._distinct_ids(self.events, this.originator_id, this.originator_version == 1, this.topic == topic)

    def ids_of_snapshots(self) -> Iterator[str]:
        return self._distinct_ids(self.events, self.snapshots_table.c.originator_id)

    def ids_of_attempts(self) -> Iterator[str]:
        return (
            self._distinct_ids(self.events, self.attempts_table.c.originator_id) if self._has_attempts else iter(())
        )

    def ids_per_table(self, projection: Projection) -> list[Iterator[str]]:
        """Return, for each table of a projection, an iterator over its aggregate ids in order."""
        tables = [table(name, column("match", ID)) for name in projection.metadata.tables]
        return [self._distinct_ids(self.projections, one.c.match) for one in tables]

    def _distinct_ids(self, engine: Engine, ids: ColumnClause[Any], *filters: ColumnElement[bool]) -> Iterator[str]:
        """Yield ids in order, without hyphens."""
        query = select(ids).where(ids.is_not(None), *filters).distinct()
        for (one,) in chain.from_iterable(self._pages(engine, query, ids, IDS_PER_QUERY)):
            yield str(one).replace("-", "") if engine.dialect.name == "postgresql" else one

    def pages_of_rows(self, aggregate_id: str) -> Iterator[list[Row]]:
        """Yield the aggregate's rows in pages, in order of number."""
        this = self.rows_table.c
        query = select(self._position, this.originator_version, this.topic, this.state)
        query = query.where(this.originator_id == aggregate_id)
        for page in self._pages(self.events, query, this.originator_version, ROWS_PER_QUERY):
            yield [Row(*row) for row in page]

    def snapshots(self, aggregate_id: str) -> list[tuple[int, bytes]]:
        """Return each snapshot's last event number and bytes, in order."""
        this = self.snapshots_table.c
        query = select(this.originator_version, this.state).where(this.originator_id == aggregate_id)
        return [
            (number, _as_bytes(state)) for number, state in self._fetch_all(query.order_by(this.originator_version))
        ]

    @cached_property
    def _has_attempts(self) -> bool:
        return self._has_table(self.attempts_table)

    def attempts(self, aggregate_id: str) -> list[Row]:
        if not self._has_attempts:
            return []
        this = self.attempts_table.c
        query = select(this.originator_version, this.topic, this.state).where(this.originator_id == aggregate_id)
        return [Row(0, *row) for row in self._fetch_all(query.order_by(this.originator_version))]

    @cached_property
    def _has_acts(self) -> bool:
        return self._has_table(self.acts_table)

    def acts(self, aggregate_id: str) -> dict[bytes, tuple[int, int]] | None:
        """Return, by hash of actor and Idempotency-Key, an act's first and last event number.

        Return None before the service has created the table of acts.
        """
        if not self._has_acts:
            return None
        this = self.acts_table.c
        query = select(this.key, this.first, this.last).where(this.originator_id == aggregate_id)
        return {_as_bytes(key): (first, last) for key, first, last in self._fetch_all(query)}

    def rows_of_topic(self, aggregate_id: str, topic: str) -> list[bytes]:
        """Return the encoded rows with this topic, in order."""
        this = self.rows_table.c
        query = select(this.state).where(this.originator_id == aggregate_id, this.topic == topic)
        return [_as_bytes(row.state) for row in self._fetch_all(query.order_by(this.originator_version))]

    def has_event_after(self, aggregate_id: str, number: int, topic: str) -> bool:
        this = self.rows_table.c
        query = select(this.topic).where(this.originator_id == aggregate_id, this.originator_version > number)
        return bool(self._fetch_all(query.where(this.topic == topic).limit(1)))

    def texts(self) -> Iterator[Sequence[Any]]:
        """Yield each stored text: ref, salt, text as JSON, replacement's ref, club, match, member and kind."""
        this = NAMES_TABLE.c
        club, match = type_coerce(this.club, Text), type_coerce(this.match, Text)
        query = select(this.ref, this.salt, type_coerce(this.text, Text), this.redacted, club, match)
        query = query.add_columns(this.member, this.kind).order_by(this.ref)
        with self._names_connection() as connection:
            if connection is not None:
                yield from connection.execute(query, execution_options={"yield_per": ROWS_PER_QUERY})

    def refs(self, club: UUID, wanted: Sequence[str]) -> set[str]:
        """Return the ``wanted`` refs for which this club has a text."""
        found: set[str] = set()
        with self._names_connection() as connection:
            for first in range(0, len(wanted) if connection is not None else 0, IDS_PER_QUERY):
                assert connection is not None, "the range is empty without a connection"
                query = select(NAMES_TABLE.c.ref).where(NAMES_TABLE.c.club == club)
                found.update(
                    connection.scalars(query.where(NAMES_TABLE.c.ref.in_(wanted[first : first + IDS_PER_QUERY])))
                )
        return found

    def replacements(self, club: UUID) -> dict[str, str | None]:
        """Return, by ref of each text of a club, the ref of its replacement (None: not replaced)."""
        this = NAMES_TABLE.c
        with self._names_connection() as connection:
            if connection is None:
                return {}
            query = select(this.ref, this.redacted).where(this.club == club)
            return {row.ref: row.redacted for row in connection.execute(query)}

    def changes_by_erasure(self, club: UUID) -> dict[str, Redactions]:
        """Return, by digest, changes of a club's planned and finished erasures. Omit those with a wrong digest."""
        with self._names_connection() as connection:
            if connection is None or not inspect(connection).has_table(ERASED.name):
                return {}
            return changes_by_digest(connection, club)

    def is_rewriting_due(self) -> bool:
        """Return whether the files of the names may contain erased data until a service rewrites them."""
        with self._names_connection() as connection:
            if connection is None or not inspect(connection).has_table(DUE.name):
                return False
            return connection.execute(select(DUE.c.erasure).limit(1)).first() is not None

    @contextmanager
    def _names_connection(self) -> Iterator[Connection | None]:
        """Yield a connection to the names; None if their file or table does not exist."""
        try:
            connection = self._names.connect()
        except FileNotFoundError:
            yield None
            return
        with connection:
            yield connection if inspect(connection).has_table(NAMES_TABLE.name) else None

    def positions(self) -> dict[str, int]:
        """Return, by ``Projection.key``, positions in the log; empty before the service first starts."""
        if POSITIONS.name not in self.projection_tables():
            return {}
        with self.projections.connect() as connection:
            return {row.book: row.position for row in connection.execute(select(POSITIONS))}

    def projection_tables(self) -> set[str]:
        """Return the tables in the projections' database; empty without its file."""
        try:
            with self.projections.connect() as connection:
                return set(inspect(connection).get_table_names())
        except FileNotFoundError:
            return set()


def _table_of_rows(name: str, *others: ColumnClause[Any]) -> TableClause:
    return table(
        name, *others, column("originator_id", ID), column("originator_version"), column("topic"), column("state")
    )


def sqlite_engine(file: Path) -> Engine:
    """Return a read-only engine. Connecting raises ``FileNotFoundError`` without the file."""

    def connect() -> sqlite3.Connection:
        if not file.exists():
            raise FileNotFoundError(f"there is no file {file}")
        address = f"file:{quote(str(file.absolute()))}?mode=ro"
        connection = sqlite3.connect(
            address, uri=True, timeout=SQLITE_LOCK_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # damaged rows may not be UTF-8
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def _as_bytes(state: Any) -> bytes:
    return state.encode() if isinstance(state, str) else bytes(state)


def one_line_message(error: Exception) -> str:
    said = str(getattr(error, "orig", None) or error)
    return " ".join(said.split()) or type(error).__name__
