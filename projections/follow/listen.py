"""A listener for PostgreSQL's notifications that a process has stored events.

Followers also poll, so a lost notification only delays them."""

import logging
import selectors
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from projections.follow.locks import FOLLOW
from referee.store.connection import Postgres

if TYPE_CHECKING:
    from referee.store.postgres_connection import Connection

CHANNEL = "referee_events"
BACKOFF_FIRST, BACKOFF_MAX = 0.1, 5.0
"""Seconds before the first reconnection. Each failure doubles them up to the maximum."""
QUIET_SECONDS = 15.0
"""Seconds without a notification after which the connection is tested."""

HOLD_FOLLOW = f"SELECT pg_advisory_lock_shared(hashtextextended(%s || '.book_places.{FOLLOW}', 0))"
log = logging.getLogger(__name__)


class Listener:
    """A thread that calls ``wake`` for each notification and connection."""

    def __init__(self, place: Postgres, wake: Callable[[], None]) -> None:
        """Start the thread. Its lock shows other processes that a follower runs."""
        self._open, self._wake, self._schema = place.opener(), wake, place.schema
        self._closed = threading.Event()
        self._here, self._there = socket.socketpair()
        self._thread = threading.Thread(target=self._run, name="listener", daemon=True)
        self.listening = False
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._there.send(b".")
        self._thread.join()
        self._here.close()
        self._there.close()

    def _run(self) -> None:
        """Listen until :meth:`close`; connect again after failures."""
        seconds = BACKOFF_FIRST
        while not self._closed.is_set():
            try:
                with self._open() as connection:
                    connection.execute(HOLD_FOLLOW, [self._schema])
                    connection.execute(f'LISTEN "{CHANNEL}"')
                    seconds, self.listening = BACKOFF_FIRST, True
                    self._wake()  # because events may have been stored before
                    self._listen(connection)
            except Exception as error:
                log.warning("no longer listening for events (%s); again in %.1f s", error, seconds)
            self.listening = False
            self._closed.wait(seconds)
            seconds = min(BACKOFF_MAX, seconds * 2)

    def _listen(self, connection: "Connection") -> None:
        with selectors.DefaultSelector() as ready:
            ready.register(self._here, selectors.EVENT_READ)
            ready.register(connection.fileno(), selectors.EVENT_READ)
            while not self._closed.is_set():
                if not ready.select(QUIET_SECONDS):
                    connection.execute("SELECT 1")
                for _ in connection.notifies(timeout=0):
                    self._wake()
