"""Reads a store and its projections without changing or creating anything, for operators' commands."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import UUID

from sqlalchemy import (
    ColumnClause,
    ColumnElement,
    Connection,
    Engine,
    LargeBinary,
    QueuePool,
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

from api.personal_data.erasures import Redactions, lists_in
from api.personal_data.names import DUE, ERASED, names_file
from api.personal_data.names import TABLE as NAMES_TABLE
from projections.follow.engine import Json, Utc, books_file, engine_for
from projections.follow.projection import Projection
from referee.store.connection import SqliteFile, parse_store_url
from referee.store.rows import refuse_older

ID = Text().with_variant(Uuid(as_uuid=False), "postgresql")
"""The type of an aggregate's id: a UUID on PostgreSQL, any text (32 hex digits) on SQLite."""
IDS, ROWS = 500, 2000
"""Ids and rows that one query reads."""
LOCK_SECONDS = 10
SILENCE_SECONDS = 30.0
"""Seconds PostgreSQL may take to answer: more than for requests, for these queries read much."""

POSITIONS = table("book_places", column("book", Text()), column("position"), column("mark", Text()))
"""The positions of the projections in the log."""
ASIDE = table(
    "book_aside",
    column("book", Text()),
    column("match", ID),
    column("since", Utc()),
    column("event"),
    column("error", Json(str)),
)
"""The matches that projections have set aside."""


class Row(NamedTuple):
    """A stored row of an aggregate, and its position in the log."""

    position: int
    number: Any
    topic: Any
    state: Any


class Stored:
    """A store opened for reading. Raises the databases' errors, and ``FileNotFoundError`` for a missing file."""

    def __init__(self, url: str) -> None:
        """Raises ``ValueError`` for a URL that names no store."""
        self.files: tuple[Path, ...] = ()
        """The files of the events and of the projections; empty on PostgreSQL."""
        place = parse_store_url(url)
        if isinstance(place, SqliteFile):
            self.files = Path(place.path), books_file(url)
            self.events, self.projections = map(sqlite_engine, self.files)
            self._names = sqlite_engine(names_file(url))
            prefix, position = "stored", "rowid"
        else:
            engine = engine_for(url, SILENCE_SECONDS)
            self.events = self.projections = self._names = engine.execution_options(
                isolation_level="REPEATABLE READ", postgresql_readonly=True
            )
            prefix, position = "referee", "notification_id"
        self.rows_table = _rows(f"{prefix}_events", column(position))
        self.snapshots_table = _rows(f"{prefix}_snapshots")
        self.acts_table = table(f"{prefix}_acts", column("originator_id", ID), *map(column, ("key", "first", "last")))
        self.attempts_table = _rows(f"{prefix}_attempts")
        self.secret_table = table(f"{prefix}_secret", column("secret", LargeBinary()))
        self._position = self.rows_table.c[position]

    def close(self) -> None:
        """Close all connections."""
        self.events.dispose()
        self.projections.dispose()
        self._names.dispose()

    @cached_property
    def secret(self) -> bytes | None:
        """The secret of the store; None"""
        with self.events.connect() as connection:
            if not inspect(connection).has_table(self.secret_table.name):
                return None
            found = connection.scalar(select(self.secret_table.c.secret))
            return found if isinstance(found, bytes) else None

    # The log

    def head(self) -> int:
        """Return the position of the last event of the log, or 0."""
        with self.events.connect() as connection:
            return connection.scalar(select(func.max(self._position))) or 0

    def refuse_older(self) -> None:
        """Raise :class:`~referee.store.rows.OlderStore` if an earlier commit stored the rows."""
        query = select(cast(self.rows_table.c.state, LargeBinary)).limit(1)
        with self.events.connect() as connection:
            first = connection.scalars(query.order_by(self._position)).all()
            refuse_older([*first, *connection.scalars(query.order_by(self._position.desc()))])

    def count(self) -> int:
        """Return the number of rows in the log."""
        with self.events.connect() as connection:
            return connection.scalar(select(func.count()).select_from(self.rows_table)) or 0

    def log(self) -> Iterator[list[Any]]:
        """Yield all rows in the order of the log, page by page: position, aggregate, number, topic, state."""
        this, last = self.rows_table.c, 0
        query = select(self._position, this.originator_id, this.originator_version, this.topic, this.state)
        query = query.order_by(self._position).limit(ROWS)
        while True:
            with self.events.connect() as connection:
                found = [tuple(row) for row in connection.execute(query.where(self._position > last))]
            if found:
                yield found
                last = found[-1][0]
            if len(found) < ROWS:
                return

    def ids(self) -> Iterator[str]:
        """Yield the ids of all aggregates that have rows, in order."""
        return self._ids(self.events, self.rows_table.c.originator_id)

    def ids_of(self, topic: str) -> Iterator[str]:
        """Yield the ids of the aggregates whose first event has this topic, in order."""
        this = self.rows_table.c
        return self._ids(self.events, this.originator_id, this.originator_version == 1, this.topic == topic)

    def ids_of_snapshots(self) -> Iterator[str]:
        """Yield the ids of the aggregates that have snapshots, in order."""
        return self._ids(self.events, self.snapshots_table.c.originator_id)

    def ids_of_attempts(self) -> Iterator[str]:
        """Yield the ids of the matches that have refused attempts, in order."""
        if not self._has_attempts:
            return iter(())
        return self._ids(self.events, self.attempts_table.c.originator_id)

    def ids_in(self, projection: Projection) -> list[Iterator[str]]:
        """Return for each table of a projection an iterator over its aggregates' ids, in order."""
        tables = [table(name, column("match", ID)) for name in projection.metadata.tables]
        return [self._ids(self.projections, one.c.match) for one in tables]

    def _ids(self, engine: Engine, ids: ColumnClause[Any], *which: ColumnElement[bool]) -> Iterator[str]:
        query = select(ids).where(ids.is_not(None), *which).distinct().order_by(ids).limit(IDS)
        page = query
        while True:
            with engine.connect() as connection:
                found = list(connection.scalars(page))
            yield from (str(one).replace("-", "") if engine.dialect.name == "postgresql" else one for one in found)
            if len(found) < IDS:
                return
            page = query.where(ids > found[-1])

    def rows(self, aggregate_id: str) -> Iterator[list[Row]]:
        """Yield the rows of an aggregate in order, page by page."""
        this = self.rows_table.c
        query = (
            select(self._position, this.originator_version, this.topic, this.state)
            .where(this.originator_id == aggregate_id)
            .order_by(this.originator_version)
            .limit(ROWS)
        )
        page = query
        while True:
            with self.events.connect() as connection:
                found = [Row(*row) for row in connection.execute(page).all()]
            if found:
                yield found
            if len(found) < ROWS:
                return
            page = query.where(this.originator_version > found[-1].number)

    def snapshots(self, aggregate_id: str) -> list[tuple[int, bytes]]:
        """Return the snapshots of an aggregate, each with the number of the event after which it was taken."""
        this = self.snapshots_table.c
        query = select(this.originator_version, this.state).where(this.originator_id == aggregate_id)
        with self.events.connect() as connection:
            return [(row[0], _bytes(row[1])) for row in connection.execute(query.order_by(this.originator_version))]

    @cached_property
    def _has_attempts(self) -> bool:
        """True if the table of attempts exists. The next start of the service creates it."""
        with self.events.connect() as connection:
            return inspect(connection).has_table(self.attempts_table.name)

    def attempts(self, aggregate_id: str) -> list[Row]:
        """Return the refused attempts in a match, in order. Their position is 0, for they are not in the log."""
        if not self._has_attempts:
            return []
        this = self.attempts_table.c
        query = select(this.originator_version, this.topic, this.state).where(this.originator_id == aggregate_id)
        with self.events.connect() as connection:
            return [Row(0, *row) for row in connection.execute(query.order_by(this.originator_version))]

    @cached_property
    def has_acts(self) -> bool:
        """True if the table of keyed acts exists. The next start of the service creates it from the events."""
        with self.events.connect() as connection:
            return inspect(connection).has_table(self.acts_table.name)

    def acts(self, aggregate_id: str) -> dict[bytes, tuple[int, int]] | None:
        """Return by hash of their keys the keyed acts of an aggregate: the first and the last event of each.

        None if the table does not exist.
        """
        if not self.has_acts:
            return None
        this = self.acts_table.c
        query = select(this.key, this.first, this.last).where(this.originator_id == aggregate_id)
        with self.events.connect() as connection:
            return {_bytes(row.key): (row.first, row.last) for row in connection.execute(query)}

    def states(self, aggregate_id: str, topic: str) -> list[bytes]:
        """Return the rows of an aggregate that have this topic, in order."""
        this = self.rows_table.c
        query = select(this.state).where(this.originator_id == aggregate_id, this.topic == topic)
        with self.events.connect() as connection:
            return [_bytes(state) for state in connection.scalars(query.order_by(this.originator_version))]

    def has_event_since(self, aggregate_id: str, number: int, topic: str) -> bool:
        """Return whether an aggregate has an event of this topic after event ``number``."""
        this = self.rows_table.c
        query = select(this.topic).where(this.originator_id == aggregate_id, this.originator_version > number)
        with self.events.connect() as connection:
            return connection.scalar(query.where(this.topic == topic).limit(1)) is not None

    # Names

    def texts(self) -> Iterator[Sequence[Any]]:
        """Yield each ref with its salt, its text as JSON, the ref of the text that replaced it, and its club, match,
        member and kind, all as they are stored."""
        this = NAMES_TABLE.c
        club, match = type_coerce(this.club, Text), type_coerce(this.match, Text)
        query = select(this.ref, this.salt, type_coerce(this.text, Text), this.redacted, club, match)
        query = query.add_columns(this.member, this.kind).order_by(this.ref)
        with self._names_connection() as connection:
            if connection is not None:
                yield from connection.execute(query, execution_options={"yield_per": ROWS})

    def refs(self, club: UUID, wanted: Sequence[str]) -> set[str]:
        """Return those of the refs that have a text in a club."""
        found: set[str] = set()
        with self._names_connection() as connection:
            for first in range(0, len(wanted) if connection is not None else 0, IDS):
                assert connection is not None, "the range is empty without a connection"
                query = select(NAMES_TABLE.c.ref).where(NAMES_TABLE.c.club == club)
                found.update(connection.scalars(query.where(NAMES_TABLE.c.ref.in_(wanted[first : first + IDS]))))
        return found

    def redacted(self, club: UUID) -> dict[str, str | None]:
        """Return by ref the existing names, numbers and texts of a club, each with the ref of the text that replaced
        it."""
        this = NAMES_TABLE.c
        with self._names_connection() as connection:
            if connection is None:
                return {}
            query = select(this.ref, this.redacted).where(this.club == club)
            return {row.ref: row.redacted for row in connection.execute(query)}

    def erased(self, club: UUID) -> dict[str, Redactions]:
        """Return by digest the changes of each erasure of a club, planned or done. A list that does not match its
        digest is left out."""
        with self._names_connection() as connection:
            if connection is None or not inspect(connection).has_table(ERASED.name):
                return {}
            return lists_in(connection, club)

    def is_rewriting_due(self) -> bool:
        """Return whether an erasure may have left copies in the files of the names."""
        with self._names_connection() as connection:
            if connection is None or not inspect(connection).has_table(DUE.name):
                return False
            return connection.execute(select(DUE.c.erasure).limit(1)).first() is not None

    @contextmanager
    def _names_connection(self) -> Iterator[Connection | None]:
        """Yield a connection to the names; None if their table does not exist."""
        try:
            connection = self._names.connect()
        except FileNotFoundError:
            yield None
            return
        with connection:
            yield connection if inspect(connection).has_table(NAMES_TABLE.name) else None

    # The books

    def positions(self) -> dict[str, int]:
        """Return the positions of the projections by their keys; empty before the first start."""
        with self.projections.connect() as connection:
            if POSITIONS.name not in inspect(connection).get_table_names():
                return {}
            return {row.book: row.position for row in connection.execute(select(POSITIONS))}


def _rows(name: str, *more: ColumnClause[Any]) -> TableClause:
    return table(
        name, *more, column("originator_id", ID), column("originator_version"), column("topic"), column("state")
    )


def sqlite_engine(file: Path) -> Engine:
    """Return an engine that only reads. Its connections raise ``FileNotFoundError`` if the file does not exist."""

    def connect() -> sqlite3.Connection:
        if not file.exists():
            raise FileNotFoundError(f"there is no file {file}")
        address = f"file:{quote(str(file.absolute()))}?mode=ro"
        connection = sqlite3.connect(
            address, uri=True, timeout=LOCK_SECONDS, isolation_level=None, check_same_thread=False
        )
        connection.text_factory = partial(str, encoding="utf-8", errors="replace")  # a row may hold anything
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool)

    @event.listens_for(engine, "begin")
    def begun(connection: Connection) -> None:
        connection.exec_driver_sql("BEGIN")

    return engine


def _bytes(state: Any) -> bytes:
    return state.encode() if isinstance(state, str) else bytes(state)


def one_line(error: Exception) -> str:
    """Return the message of a database or the system as one line, without SQLAlchemy's additions."""
    said = str(getattr(error, "orig", None) or error)
    return " ".join(said.split()) or type(error).__name__
