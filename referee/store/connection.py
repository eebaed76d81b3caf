"""Store URLs, and connections to PostgreSQL that are closed if the server is silent."""

import time
from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import _WaitTimeout
from psycopg.waiting import Ready

CONNECT_SECONDS = 2
"""Seconds to connect to each host of the URL, the driver's minimum."""
SILENCE_SECONDS = 3.0
"""Seconds that the server may be silent during a statement."""
STATEMENT_SECONDS = 30
"""Seconds after which the server aborts a statement, because its client may be gone."""
REST_SECONDS = 0.5
"""Seconds for which attempts to connect fail at once after one has failed."""
TCP_SETTINGS = {
    "tcp_user_timeout": int(SILENCE_SECONDS * 1000),
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
"""Settings by which the operating system notices that the server is gone."""

T = TypeVar("T")


class SqliteFile(NamedTuple):
    path: str


class Postgres(NamedTuple):
    """A database: the parameters for libpq, and the schema of the tables."""

    parameters: dict[str, Any]
    schema: str


def parse_store_url(url: str) -> SqliteFile | Postgres:
    """Return the store of a URL: ``sqlite:///path``, or a ``postgresql:`` URL of libpq, optionally with ``schema``.

    Raises ``ValueError`` for any other URL.
    """
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        path = unquote(parts.path).removeprefix("/")
        if not path:
            raise ValueError("a SQLite URL names a file: sqlite:///knacka.db")
        return SqliteFile(path)
    if parts.scheme not in ("postgresql", "postgres"):
        raise ValueError(f"unknown store {parts.scheme!r}: give sqlite:///file or postgresql://…")
    rest, _, query = url.partition("?")
    ours = [part for part in query.split("&") if part.startswith("schema=")]
    theirs = [part for part in query.split("&") if part and part not in ours]
    try:
        given = conninfo_to_dict(f"{rest}?{'&'.join(theirs)}")
    except psycopg.ProgrammingError as error:
        hidden = "percent" in str(error)  # a message about percent signs may repeat the password
        raise ValueError("% is written %25" if hidden else str(error).strip()) from None
    defaults = {"dbname": "knacka", "host": "127.0.0.1", "user": "postgres", "connect_timeout": CONNECT_SECONDS}
    schema = unquote(ours[-1].removeprefix("schema=")) if ours else "public"
    return Postgres({**TCP_SETTINGS, **defaults, **given}, schema)


class Away(psycopg.OperationalError):
    """No connection was available, so nothing was sent to the store."""


def unsent(error: Exception) -> bool:
    """Return whether the library's error means that nothing reached the store."""
    return isinstance(error.__cause__, Away)


class Connection(psycopg.Connection[Any]):
    """A connection that is closed after ``silence`` seconds without an answer; ``None``: never."""

    silence: float | None = SILENCE_SECONDS

    def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Return the result of a driver's generator. The driver calls this for each wait."""
        if self.silence is None or timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.silence / 3)
        except _WaitTimeout:
            # Watch for silence only now, because that costs as much as the statement. Data of a long answer counts.
            return super().wait(self._until_silent(gen, self.silence * 2 / 3), interval)

    def _until_silent(self, gen: Generator[Any, Any, T], seconds: float) -> Generator[Any, Any, T]:
        deadline = time.monotonic() + seconds
        try:
            awaited = gen.send(Ready.NONE)  # already started, perhaps still sending
            while True:
                ready = yield awaited  # false after each interval without data
                if ready:
                    deadline = time.monotonic() + seconds
                elif time.monotonic() > deadline:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server said nothing for {self.silence:g} seconds")
                awaited = gen.send(ready)
        except StopIteration as done:
            result: T = done.value
            return result


class Opener:
    def __init__(self, parameters: dict[str, Any], **more: Any) -> None:
        self._parameters = {**parameters, **more}
        self._retry_at, self._last_error = 0.0, ""

    def __call__(
        self, silence: float | None = SILENCE_SECONDS, begin: Callable[[Connection], None] | None = None
    ) -> Connection:
        """Return a new connection in autocommit mode, passed to ``begin`` first.

        Raises :class:`Away` if the server cannot be reached.
        """
        if time.monotonic() < self._retry_at:
            raise Away(self._last_error)
        try:
            connection = Connection.connect(**self._parameters, autocommit=True)
            try:
                if silence is not None:
                    connection.execute(f"SET statement_timeout = '{STATEMENT_SECONDS}s'")
                if begin is not None:
                    begin(connection)
            except BaseException:
                connection.close()
                raise
        except psycopg.OperationalError as error:
            self._retry_at, self._last_error = time.monotonic() + REST_SECONDS, str(error)
            raise Away(self._last_error) from error
        connection.silence = silence
        return connection
