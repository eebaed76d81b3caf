"""Where the books are kept: beside the events, on SQLite or PostgreSQL, by one set of statements.

On SQLite the books have a file of their own, so that writers of events never wait for them. On PostgreSQL they
are tables of the same database, all named ``book_…``. What else lies beside the events is reached in the same way.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import sqlalchemy
from sqlalchemy import Date, DateTime, Dialect, Engine, Text, TypeDecorator, create_engine, event

from referee.store.connection import SILENCE_SECONDS, Connection, Opener, Postgres, SqliteFile, place_of

LOCK_SECONDS = 10
"""How long one waits on SQLite for another process that writes."""
POOL_SECONDS = 2
"""How long one waits where all connections are taken."""
IDLE_SECONDS = 10
"""When PostgreSQL gives up a transaction of somebody who says nothing more: others wait for what he holds."""


BOOKS = "books"
BOOKS_PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL")


def file_beside(url: str, what: str) -> Path:
    """A SQLite file beside that of the events: ``knacka-books.db`` for ``knacka.db``."""
    place = place_of(url)
    if not isinstance(place, SqliteFile) or place.path == ":memory:":
        raise ValueError(f"{what} need a file: sqlite:///knacka.db")
    events = Path(place.path)
    return events.with_name(f"{events.stem}-{what}{events.suffix}")


def books_file(url: str) -> Path:
    """The SQLite file of the books."""
    return file_beside(url, BOOKS)


def engine_for(
    url: str, silence: float = SILENCE_SECONDS, *, what: str = BOOKS, pragmas: Sequence[str] = BOOKS_PRAGMAS
) -> Engine:
    """The engine over what lies beside the events of the store at ``url``. Raises ``ValueError`` for a URL that names
    no store.

    ``silence``: how long PostgreSQL may say nothing when it was asked something, before its connection is given up.
    ``pragmas``: how SQLite keeps the file. What is stored is told by no error.
    """
    place = place_of(url)
    return _postgres(place, silence) if isinstance(place, Postgres) else _sqlite(file_beside(url, what), pragmas)


def writer(engine: Engine) -> Engine:
    """The same engine for those who change what is kept."""
    return engine.execution_options(changes_books=True)


def _sqlite(file: Path, pragmas: Sequence[str]) -> Engine:
    engine = create_engine(f"sqlite:///{file}", connect_args={"timeout": LOCK_SECONDS}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin below, not when the driver thinks fit
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def begun(connection: Any) -> None:
        # Who will write says so at once: a reader that turns writer later would be refused, not made to wait.
        changes = connection.get_execution_options().get("changes_books", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if changes else "BEGIN")

    return engine


def patient(connection: sqlalchemy.Connection) -> None:
    """Until its transaction ends the database may take its time: to create tables, or for a large page."""
    if connection.dialect.name == "postgresql":
        driver: Any = connection.connection.driver_connection
        driver.silence = None
        connection.exec_driver_sql(
            "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"
        )


def _postgres(place: Postgres, silence: float) -> Engine:
    # The parameters, and with them the password, stay out of the engine's URL and so out of logs.
    opener, path = Opener(place.parameters), '"' + place.schema.replace('"', '""') + '"'

    def begin(connection: Connection) -> None:
        connection.execute("SELECT set_config('search_path', %s, false)", [path])
        connection.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'")

    def opened() -> Connection:
        connection = opener(silence, begin)
        connection.autocommit = False
        return connection

    engine = create_engine(
        "postgresql+psycopg://", creator=opened, pool_pre_ping=True, pool_timeout=POOL_SECONDS, hide_parameters=True
    )

    @event.listens_for(engine, "checkin")
    def returned(connection: Connection | None, _: Any) -> None:
        if connection is not None:
            connection.silence = silence

    return engine


# Columns. A book may never choke on what the event store has taken, or it stands still for ever: what players
# and clients wrote is kept as JSON, which escapes what a database cannot hold.


class DamagedCell(ValueError):
    """A cell that holds nothing of its column's type. Its table can be built again from the events."""


T = TypeVar("T")


class Checked(TypeDecorator[T]):
    """A type whose cells may hold anything. Raises :class:`DamagedCell` for one that cannot be read."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], T | None]:
        """Return what reads a cell."""
        read = super().result_processor(dialect, coltype)

        def checked(value: Any) -> T | None:
            try:
                return value if read is None else read(value)
            except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
                raise DamagedCell(str(error)) from None

        return checked


class Utc(Checked[datetime]):
    """A time, UTC on either database."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """In UTC, since SQLite keeps no zone."""
        return value and value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """With its zone."""
        return value and (value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC))


class Day(Checked[date]):
    """A date."""

    impl = Date
    cache_ok = True


class Json(Checked[Any]):
    """A value of type ``kind`` as JSON text."""

    impl = Text
    cache_ok = True

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.kind = kind
        self._read = msgspec.json.Decoder(kind).decode  # made here: two threads that first read a kind do not agree

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """As JSON; NUL, which PostgreSQL cannot hold, is escaped by it."""
        return None if value is None else msgspec.json.encode(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """As it was."""
        return None if value is None else self._read(value)
