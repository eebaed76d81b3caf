"""Where the books are kept: beside the events, on SQLite or PostgreSQL, by one set of statements.

On SQLite the books have a file of their own, so that writers of events never wait for them. On PostgreSQL they
are tables of the same database, all named ``book_…``.
"""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import msgspec
from sqlalchemy import DateTime, Dialect, Engine, Text, TypeDecorator, create_engine, event

LOCK_SECONDS = 10
"""How long one waits on SQLite for another process that writes."""
CONNECT_SECONDS = 5


def postgres_parameters(url: str) -> dict[str, Any] | None:
    """How to connect to the PostgreSQL that a store's URL names, and ``None`` for SQLite.

    Read as the event store reads it: ``?host=`` may name a socket directory. Raises ``ValueError`` for a URL of
    anything else.
    """
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return None
    if parts.scheme not in ("postgresql", "postgres"):
        raise ValueError(f"unknown store {parts.scheme!r}: give sqlite:///file or postgresql://…")
    query = _query(url)
    return {
        "dbname": unquote(parts.path.removeprefix("/")) or "knacka",
        "host": query.get("host") or parts.hostname or "127.0.0.1",
        "port": int(parts.port or query.get("port") or 5432),
        "user": unquote(parts.username or "postgres"),
        "password": unquote(parts.password or ""),
        "connect_timeout": CONNECT_SECONDS,
    }


def _query(url: str) -> dict[str, str]:
    return {name: values[-1] for name, values in parse_qs(urlsplit(url).query).items()}


def books_file(url: str) -> Path:
    """The SQLite file of the books, beside that of the events: ``knacka-books.db`` for ``knacka.db``."""
    path = unquote(urlsplit(url).path).removeprefix("/")
    if not path or path == ":memory:":
        raise ValueError("books need a file: sqlite:///knacka.db")
    events = Path(path)
    return events.with_name(f"{events.stem}-books{events.suffix}")


def engine_for(url: str) -> Engine:
    """The engine over the books of the store at ``url``. Raises ``ValueError`` for a URL that names none."""
    parameters = postgres_parameters(url)
    return _sqlite(books_file(url)) if parameters is None else _postgres(parameters, _query(url).get("schema"))


def writer(engine: Engine) -> Engine:
    """The same engine for those who change the books."""
    return engine.execution_options(changes_books=True)


def _sqlite(file: Path) -> Engine:
    engine = create_engine(f"sqlite:///{file}", connect_args={"timeout": LOCK_SECONDS})

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin below, not when the driver thinks fit
        connection.execute("PRAGMA journal_mode=WAL").close()
        connection.execute("PRAGMA synchronous=NORMAL").close()

    @event.listens_for(engine, "begin")
    def begun(connection: Any) -> None:
        # Who will write says so at once: a reader that turns writer later would be refused, not made to wait.
        changes = connection.get_execution_options().get("changes_books", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if changes else "BEGIN")

    return engine


def _postgres(parameters: dict[str, Any], schema: str | None) -> Engine:
    # The parameters, and with them the password, stay out of the engine's URL and so out of logs.
    engine = create_engine("postgresql+psycopg://", connect_args=parameters, pool_pre_ping=True)
    path = '"' + (schema or "public").replace('"', '""') + '"'

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.autocommit = True
        connection.execute("SELECT set_config('search_path', %s, false)", [path])
        connection.autocommit = False

    return engine


# Columns. A book may never choke on what the event store has taken, or it stands still for ever: what players
# and clients wrote is kept as JSON, which escapes what a database cannot hold.


class Utc(TypeDecorator[datetime]):
    """A time, UTC on either database."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """In UTC, since SQLite keeps no zone."""
        return value and value.astimezone(UTC)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """With its zone."""
        return value and (value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC))


class Json(TypeDecorator[Any]):
    """A value of type ``kind`` as JSON text."""

    impl = Text
    cache_ok = True

    def __init__(self, kind: Any) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """As JSON; NUL, which PostgreSQL cannot hold, is escaped by it."""
        return None if value is None else msgspec.json.encode(value).decode()

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """As it was."""
        return None if value is None else msgspec.json.decode(value, type=self.kind)
