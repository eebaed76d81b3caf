"""How to reach the store that a URL names, and not to wait for ever where nothing comes back.

A network can swallow what one sends without a word, and then the driver, which sets no limit, waits until the
machine is restarted. So a connection here is closed when the server has been silent for too long.
"""

import time
from collections.abc import Callable, Generator
from typing import Any, NamedTuple, TypeVar
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict
from psycopg.errors import _WaitTimeout
from psycopg.waiting import Ready

CONNECT_SECONDS = 2
"""For each host of the URL; the driver takes no less."""
SILENCE_SECONDS = 3.0
"""How long a server that was asked something may say nothing."""
LEFT_SECONDS = 30
"""When the server breaks off what it does for a client who may have gone long ago."""
REST_SECONDS = 0.5
"""After a connection that could not be opened nobody tries again for so long, or all would wait one by one."""
TCP = {
    "tcp_user_timeout": int(SILENCE_SECONDS * 1000),
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
}
"""The kernel misses a peer that is gone without a word, also where nothing is awaited of it."""

T = TypeVar("T")


class SqliteFile(NamedTuple):
    """A store in a file."""

    path: str


class Postgres(NamedTuple):
    """A store in a database: how libpq is told of it, and the schema of the tables."""

    parameters: dict[str, Any]
    schema: str


def place_of(url: str) -> SqliteFile | Postgres:
    """Where the store is that a URL names: ``sqlite:///path``, or what libpq takes that begins with ``postgresql:``.

    So there may be several hosts, and parameters such as ``sslmode``; ``schema`` is our own. Raises ``ValueError``
    for anything else.
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
        hidden = "percent" in str(error)  # that message repeats what may be the password
        raise ValueError("% is written %25" if hidden else str(error).strip()) from None
    defaults = {"dbname": "knacka", "host": "127.0.0.1", "user": "postgres", "connect_timeout": CONNECT_SECONDS}
    schema = unquote(ours[-1].removeprefix("schema=")) if ours else "public"
    return Postgres({**TCP, **defaults, **given}, schema)


class Away(psycopg.OperationalError):
    """No connection could be had, so that nothing was asked of the store."""


def unsent(error: Exception) -> bool:
    """Whether an error of the library means that nothing has reached the store."""
    return isinstance(error.__cause__, Away)


class Connection(psycopg.Connection[Any]):
    """One that is closed when the server has said nothing for ``silence`` seconds; ``None``: it waits for ever."""

    silence: float | None = SILENCE_SECONDS

    def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, timeout: float | None = None) -> T:
        """What all waiting of a connection comes down to."""
        if self.silence is None or timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.silence / 3)
        except _WaitTimeout:
            # Only now do we listen, for it costs as much as the statement: a long answer is no silence.
            return super().wait(self._heard(gen, self.silence * 2 / 3), interval)

    def _heard(self, gen: Generator[Any, Any, T], seconds: float) -> Generator[Any, Any, T]:
        deadline = time.monotonic() + seconds
        try:
            awaited = gen.send(Ready.NONE)  # it has begun, and may be sending still
            while True:
                ready = yield awaited  # nothing is ready after each interval
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
    """Opens connections to one store."""

    def __init__(self, parameters: dict[str, Any], **more: Any) -> None:
        self._parameters = {**parameters, **more}
        self._again, self._why = 0.0, ""

    def __call__(
        self, silence: float | None = SILENCE_SECONDS, begin: Callable[[Connection], None] | None = None
    ) -> Connection:
        """A connection that commits by itself, after ``begin``. Raises :class:`Away`."""
        if time.monotonic() < self._again:
            raise Away(self._why)
        try:
            connection = Connection.connect(**self._parameters, autocommit=True)
            try:
                if silence is not None:
                    connection.execute(f"SET statement_timeout = '{LEFT_SECONDS}s'")
                if begin is not None:
                    begin(connection)
            except BaseException:
                connection.close()
                raise
        except psycopg.OperationalError as error:
            self._again, self._why = time.monotonic() + REST_SECONDS, str(error)
            raise Away(self._why) from error
        connection.silence = silence
        return connection
