"""Connections to PostgreSQL at hand, opened by those who need one.

What a lost one has broken is tried again only for a moment: the library's pool tries by itself, after a while only
each minute or two, and each of its calls tries ten times however long that takes.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Self

from eventsourcing.persistence import InterfaceError, OperationalError
from psycopg import pq

from referee.store.connection import Away, Connection, unsent

AGAIN_SECONDS = 2.0
"""How long a call is tried again: so that a server may be restarted, and nobody waits long for one that is away."""
AGAIN_AFTER = 0.1
TAKEN_SECONDS = 2.0
"""How long one waits where all connections are taken."""


def again(call: Callable[..., Any]) -> Any:
    """The call, tried again for a moment where a connection was lost. It tells of the last try that was sent."""

    @wraps(call)
    def tried(*args: Any, **kwargs: Any) -> Any:
        deadline, broken = time.monotonic() + AGAIN_SECONDS, None
        while True:
            try:
                return call(*args, **kwargs)
            except (InterfaceError, OperationalError) as error:
                if broken is None or not unsent(error):
                    broken = error
                if time.monotonic() > deadline:
                    raise broken from broken.__cause__
            time.sleep(AGAIN_AFTER)

    return tried


class Pool:
    """Connections at hand, in the place of the library's pool."""

    def __init__(self, opened: Callable[[float | None], Connection], size: int, silence: float | None) -> None:
        self._opened, self._silence = opened, silence
        self._free, self._lock = threading.BoundedSemaphore(size), threading.Lock()
        self._idle: list[Connection] = []
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def open(self, *_: Any) -> None:
        """Is done when the first one is needed."""

    def close(self) -> None:
        """Closes all, those in use when they are given back."""
        self._closed = True
        self._clear()

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Connections that wait for ever, for those who alone use this meanwhile. They are kept idle until the first
        is needed that does not wait so long; then they are closed."""
        silence, self._silence = self._silence, None
        try:
            yield
        finally:
            self._silence = silence

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """One for the caller alone."""
        if not self._free.acquire(timeout=TAKEN_SECONDS):
            raise Away("all connections to the store are taken")
        try:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is not None and (connection.silence is None) != (self._silence is None):
                self._clear()  # it was opened for those of the other kind, and with it all others
                connection.close()
                connection = None
            if connection is None:
                connection = self._opened(self._silence)
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def _give_back(self, connection: Connection) -> None:
        if connection.closed:
            self._clear()  # what has befallen one has befallen all
        elif self._closed or connection.info.transaction_status != pq.TransactionStatus.IDLE:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)

    def _clear(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
