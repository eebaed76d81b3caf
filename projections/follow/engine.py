"""SQLAlchemy engines for data beside the events.

On SQLite this data has its own files, so that writers of events never wait. On PostgreSQL the projections are tables
``book_…``.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import sqlalchemy
from sqlalchemy import Date, DateTime, Dialect, Engine, Text, TypeDecorator, create_engine, event

from referee.store.connection import SILENCE_SECONDS, Postgres, SqliteFile, parse_store_url

if TYPE_CHECKING:
    from referee.store.postgres_connection import Connection

LOCK_SECONDS = 10
"""Seconds to wait on SQLite for a different writer."""
POOL_SECONDS = 2
"""Seconds to wait for a connection to PostgreSQL when all are in use."""
IDLE_SECONDS = 10
"""Seconds after which PostgreSQL ends an idle transaction."""

BOOKS = "books"
BOOKS_PRAGMAS = ("journal_mode=WAL", "synchronous=NORMAL")


def file_beside(url: str, what: str) -> Path:
    """Return a SQLite file beside the events: ``knacka-books.db`` for ``knacka.db``.

    Raises: ValueError if the URL is invalid or the store has no file.
    """
    place = parse_store_url(url)
    if not isinstance(place, SqliteFile) or place.path == ":memory:":
        raise ValueError(f"{what} need a file: sqlite:///knacka.db")
    events = Path(place.path)
    return events.with_name(f"{events.stem}-{what}{events.suffix}")


def books_file(url: str) -> Path:
    """Return the projections' SQLite file. Raises: as :func:`file_beside`."""
    return file_beside(url, BOOKS)


def engine_for(
    url: str, silence: float = SILENCE_SECONDS, *, what: str = BOOKS, pragmas: Sequence[str] = BOOKS_PRAGMAS
) -> Engine:
    """Return the engine for data beside the events of the store at ``url``. Its errors show no parameters.

    ``silence``: seconds that PostgreSQL may be silent. ``what``, ``pragmas``: for SQLite. Raises: ValueError as
    :func:`file_beside`.
    """
    place = parse_store_url(url)
    return (
        _postgres_engine(place, silence)
        if isinstance(place, Postgres)
        else _sqlite_engine(file_beside(url, what), pragmas)
    )


def engine_for_writes(engine: Engine) -> Engine:
    return engine.execution_options(writes=True)


def _sqlite_engine(file: Path, pragmas: Sequence[str]) -> Engine:
    engine = create_engine(f"sqlite:///{file}", connect_args={"timeout": LOCK_SECONDS}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # so that ``begun``, not the driver, begins transactions
        for pragma in pragmas:
            connection.execute(f"PRAGMA {pragma}").close()

    @event.listens_for(engine, "begin")
    def begun(connection: Any) -> None:
        # SQLite fails instead of waiting if a transaction reads first and then writes.
        writes = connection.get_execution_options().get("writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def without_limits(connection: sqlalchemy.Connection) -> None:
    """Remove PostgreSQL's time limits until the transaction ends, and that of silence until checkin."""
    if connection.dialect.name == "postgresql":
        driver: Any = connection.connection.driver_connection
        driver.silence = None
        connection.exec_driver_sql(
            "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"
        )


def _postgres_engine(place: Postgres, silence: float) -> Engine:
    # The engine's URL has no password, so that no log shows it.
    opener, path = place.opener(), '"' + place.schema.replace('"', '""') + '"'

    def begin(connection: "Connection") -> None:
        connection.execute("SELECT set_config('search_path', %s, false)", [path])
        connection.execute(f"SET idle_in_transaction_session_timeout = '{IDLE_SECONDS}s'")

    def opened() -> "Connection":
        connection = opener(silence, begin)
        connection.autocommit = False
        return connection

    engine = create_engine(
        "postgresql+psycopg://", creator=opened, pool_pre_ping=True, pool_timeout=POOL_SECONDS, hide_parameters=True
    )

    @event.listens_for(engine, "checkin")
    def returned(connection: "Connection | None", _: Any) -> None:
        if connection is not None:
            connection.silence = silence

    return engine


# Column types. Clients' texts are stored as JSON, which escapes characters that a database cannot store.


class DamagedCell(ValueError):
    """A cell whose content does not fit its column's type."""


T = TypeVar("T")


class Checked(TypeDecorator[T]):
    """A column type that raises :class:`DamagedCell` for an unreadable cell."""

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], T | None]:
        read = super().result_processor(dialect, coltype)

        def checked(value: Any) -> T | None:
            try:
                return value if read is None else read(value)
            except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
                raise DamagedCell(str(error)) from None

        return checked


class Utc(Checked[datetime]):
    """A time in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Convert to UTC, because SQLite stores no time zone."""
        return value and value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        return value and (value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC))


class Day(Checked[date]):
    impl = Date
    cache_ok = True


class Json(Checked[Any]):
    """A value of type ``kind`` as JSON text."""

    impl = Text
    cache_ok = True

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.kind = kind
        self._read = msgspec.json.Decoder(kind).decode  # here, because two threads must not construct it at once

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        return None if value is None else msgspec.json.encode(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else self._read(value)
