"""Connections to PostgreSQL. They are closed if the server is silent."""

import time
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, TypeVar

import psycopg
from eventsourcing.persistence import PersistenceError
from psycopg.errors import _WaitTimeout
from psycopg.sql import SQL, Identifier
from psycopg.waiting import Ready

from referee.store.acts import NothingSent
from referee.store.connection import SILENCE_SECONDS

STATEMENT_SECONDS = 30
"""Seconds after which the server aborts a statement, because the client may be gone."""
REST_SECONDS = 0.5
"""Seconds after a failed connection in which further ones fail at once."""

T = TypeVar("T")


class Away(psycopg.OperationalError, NothingSent):
    """No connection was available, so nothing was sent to the store."""


class Connection(psycopg.Connection[Any]):
    """A connection that is closed after ``silence`` seconds without data from the server; ``None``: never."""

    silence: float | None = SILENCE_SECONDS

    def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Return the result of a generator of the driver, which calls this method for each wait."""
        if self.silence is None or timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.silence / 3)
        except _WaitTimeout:
            # Most statements end before this point, and watching for silence costs as much as such a statement.
            return super().wait(self._until_silent(gen, self.silence * 2 / 3), interval)

    def _until_silent(self, gen: Generator[Any, Any, T], seconds: float) -> Generator[Any, Any, T]:
        """Wrap ``gen``: close the connection and raise ``OperationalError`` after ``seconds`` without data."""
        deadline = time.monotonic() + seconds
        try:
            awaited = gen.send(Ready.NONE)  # the first wait has already started the generator
            while True:
                ready = yield awaited  # ready is false after an interval without data
                if ready:
                    deadline = time.monotonic() + seconds
                elif time.monotonic() > deadline:
                    self.pgconn.finish()
                    raise psycopg.OperationalError(f"the server said nothing for {self.silence:g} seconds")
                awaited = gen.send(ready)
        except StopIteration as done:
            result: T = done.value
            return result

    def copy_rows(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add rows to a table. Raises the library's ``PersistenceError``."""
        into = SQL("COPY {} ({}) FROM STDIN").format(Identifier(table), SQL(", ").join(map(Identifier, columns)))
        try:
            with self.cursor() as cursor, cursor.copy(into) as copy:
                for row in rows:
                    copy.write_row(row)
        except psycopg.Error as error:
            raise PersistenceError(str(error)) from error


class Opener:
    """Opens connections. After a failure, it fails at once for :data:`REST_SECONDS`."""

    def __init__(self, parameters: dict[str, Any], **more: Any) -> None:
        self._parameters = {**parameters, **more}
        self._retry_at, self._last_error = 0.0, ""

    def __call__(
        self, silence: float | None = SILENCE_SECONDS, begin: Callable[[Connection], None] | None = None
    ) -> Connection:
        """Return a new connection in autocommit mode, after a call of ``begin`` with it.

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
