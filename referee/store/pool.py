"""A pool of PostgreSQL connections, opened by the threads that need them.

The library would repeat a call that loses its connection without limit.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, Self

from eventsourcing.persistence import InterfaceError, OperationalError
from psycopg import pq

from referee.store.acts import means_unsent
from referee.store.postgres_connection import Away, Connection

RETRY_SECONDS = 2.0
"""Seconds that a call is repeated, enough for a restart of the server."""
RETRY_PAUSE_SECONDS = 0.1
WAIT_SECONDS = 2.0
"""Seconds to wait for a connection when all are in use."""


def with_retries(call: Callable[..., Any]) -> Any:
    """Return a function that repeats ``call`` for :data:`RETRY_SECONDS` if connections fail.

    The function then raises the last error of a call that may have sent something, otherwise the first error.
    """

    @wraps(call)
    def call_with_retries(*args: Any, **kwargs: Any) -> Any:
        deadline, to_raise = time.monotonic() + RETRY_SECONDS, None
        while True:
            try:
                return call(*args, **kwargs)
            except (InterfaceError, OperationalError) as error:
                if to_raise is None or not means_unsent(error):
                    to_raise = error
                if time.monotonic() > deadline:
                    raise to_raise from to_raise.__cause__
            time.sleep(RETRY_PAUSE_SECONDS)

    return call_with_retries


class Pool:
    """A replacement for the library's pool, with at most ``size`` connections. ``silence``: as in ``Connection``."""

    def __init__(self, opener: Callable[[float | None], Connection], size: int, silence: float | None) -> None:
        self._opener, self._silence = opener, silence
        self._free, self._lock = threading.BoundedSemaphore(size), threading.Lock()
        self._idle: list[Connection] = []
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def open(self, *_: Any) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Close idle connections now, and others when they are returned."""
        self._closed = True
        self._close_idle()

    @contextmanager
    def without_limit(self) -> Iterator[None]:
        """Lend, in this block, connections that may be silent without limit. Only one thread may use the pool
        meanwhile."""
        silence, self._silence = self._silence, None
        try:
            yield
        finally:
            self._silence = silence

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """Lend a connection. Raises :class:`Away` if none is free in :data:`WAIT_SECONDS` or none can be opened."""
        if not self._free.acquire(timeout=WAIT_SECONDS):
            raise Away("all connections to the store are taken")
        try:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is not None and (connection.silence is None) != (self._silence is None):
                self._close_idle()  # because all idle connections have the earlier limit
                connection.close()
                connection = None
            if connection is None:
                connection = self._opener(self._silence)
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def _give_back(self, connection: Connection) -> None:
        if connection.closed:
            self._close_idle()  # because the idle connections have probably failed too
        elif self._closed or connection.info.transaction_status != pq.TransactionStatus.IDLE:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)

    def _close_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()
