"""Connections to PostgreSQL."""

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
"""Seconds after which the server aborts a statement, except on connections without ``silence``."""
REST_SECONDS = 0.5
"""Seconds in which an :class:`Opener` fails at once after a failure."""

T = TypeVar("T")


class Away(psycopg.OperationalError, NothingSent):
    """No connection was available, so nothing was sent to the store."""


class Connection(psycopg.Connection[Any]):
    """A connection that is closed if an awaited server is silent for ``silence`` seconds; ``None``: never.

    It may be closed after two thirds of them.
    """

    silence: float | None = SILENCE_SECONDS

    def wait(self, gen: Generator[Any, Any, T], interval: float = 0.1, timeout: float | None = None) -> T:
        """Return the result of the driver's generator."""
        if self.silence is None or timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, self.silence / 3)
        except _WaitTimeout:
            # only now, because watching for silence costs as much as a short statement
            return super().wait(self._until_silent(gen, self.silence * 2 / 3), interval)

    def _until_silent(self, gen: Generator[Any, Any, T], seconds: float) -> Generator[Any, Any, T]:
        """Run ``gen``. After ``seconds`` without data, close the connection and raise ``OperationalError``."""
        deadline = time.monotonic() + seconds
        try:
            awaited = gen.send(Ready.NONE)  # because the first wait has started it
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
        """Add rows to a table. Raises the library's ``PersistenceError`` if the driver fails."""
        into = SQL("COPY {} ({}) FROM STDIN").format(Identifier(table), SQL(", ").join(map(Identifier, columns)))
        try:
            with self.cursor() as cursor, cursor.copy(into) as copy:
                for row in rows:
                    copy.write_row(row)
        except psycopg.Error as error:
            raise PersistenceError(str(error)) from error


class Opener:
    """Opens connections. ``parameters``, ``more``: arguments of the driver's ``connect``."""

    def __init__(self, parameters: dict[str, Any], **more: Any) -> None:
        self._parameters = {**parameters, **more}
        self._retry_at, self._last_error = 0.0, ""

    def __call__(
        self, silence: float | None = SILENCE_SECONDS, begin: Callable[[Connection], None] | None = None
    ) -> Connection:
        """Return a new connection in autocommit mode, prepared by ``begin``.

        Raises :class:`Away` if the server cannot be reached, or could not :data:`REST_SECONDS` ago.
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
