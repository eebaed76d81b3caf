"""The books that are kept of this store, and the follower that keeps them."""

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from eventsourcing.postgres import PostgresApplicationRecorder
from eventsourcing.sqlite import SQLiteApplicationRecorder
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Identifier
from sqlalchemy import Connection

from api.http.problems import Problem
from api.threads import in_thread
from projections.cases import Cases
from projections.follow.engine import engine_for
from projections.follow.follow import Book, Follower, Read, prepare
from projections.follow.page import Page
from projections.matches import Matches
from projections.pots import Pots
from projections.protocols import Protocols
from referee.events import Recorded
from referee.store.rows import from_row
from referee.store.store import Referee

T = TypeVar("T")

WAIT_SECONDS = 5.0
"""How long a reader waits for a book to come to what has been answered; it takes milliseconds unless it is broken."""
LOOK_SECONDS = 0.01
"""Between two looks whether the books have come to the end of the log."""


def _decode(aggregate: UUID, number: int, topic: str, state: bytes) -> Recorded:
    return from_row(StoredEvent(aggregate, number, topic, state))


def reader(referee: Referee) -> Read:
    """How a follower reads the log of all matches.

    With the driver: the library makes an object of each row, which takes longer than to decode it.
    """
    recorder = referee.recorder
    if isinstance(recorder, PostgresApplicationRecorder):
        return _postgres(recorder)
    assert isinstance(recorder, SQLiteApplicationRecorder)
    query = (
        f"SELECT rowid, originator_id, originator_version, topic, state FROM {recorder.events_table_name}"
        " WHERE rowid > ? ORDER BY rowid LIMIT ?"
    )

    def read(after: int, limit: int) -> Page:
        with recorder.datastore.transaction(commit=False) as cursor:
            cursor.sqlite_cursor.row_factory = None
            cursor.execute(query, (after, limit))
            return Page(cursor.fetchall(), _decode)

    return read


def _postgres(recorder: PostgresApplicationRecorder) -> Read:
    query = SQL(
        "SELECT notification_id, originator_id::text, originator_version, topic, state FROM {}"
        " WHERE notification_id > %s ORDER BY notification_id LIMIT %s"
    ).format(Identifier(recorder.datastore.schema, recorder.events_table_name))

    def read(after: int, limit: int) -> Page:
        with (
            recorder.datastore.get_connection() as connection,
            connection.cursor(row_factory=tuple_row, binary=True) as cursor,
        ):
            return Page(cursor.execute(query, (after, limit), prepare=True).fetchall(), _decode)

    return read


def all_books() -> tuple[Protocols, Cases, Matches, Pots]:
    """The books that are kept."""
    return Protocols(), Cases(), Matches(), Pots()


class Books:
    """What does not have to be awaited may touch the database: call it in a thread."""

    def __init__(self, referee: Referee, url: str, seen: Callable[[Page], None] | None = None) -> None:
        self._referee = referee
        self._engine = engine_for(url)
        self.protocols, self.cases, self.matches, self.pots = books = all_books()
        self.by_name = {book.name: book for book in books}
        self.follower = Follower(reader(referee), self._engine, books, seen=seen, listen=url)

    def prepare(self) -> None:
        """Creates what tables are missing."""
        prepare(self._engine, self.follower.books)

    def start(self) -> None:
        """Creates what tables are missing, and follows."""
        self.follower.start()

    def rebuild(self, *names: str) -> int:
        """Builds books anew beside those that are read, in one pass; the position they came to."""
        return self.follower.rebuild(*[self.by_name[name] for name in names])

    def wake(self) -> None:
        """Something was stored. From any thread."""
        self.follower.wake()

    def close(self) -> None:
        """Ends the follower."""
        self.follower.close()
        self._engine.dispose()

    def head(self) -> int:
        """The position of the last event of the log."""
        return self._referee.recorder.max_notification_id() or 0

    def lag(self) -> int:
        """How far the book that is last stands behind the log."""
        return self.follower.lag(self.head())

    async def ask_of(self, book: Book, match_id: UUID, version: int, question: Callable[[Connection, UUID], T]) -> T:
        """What a book answers about a match when it has come to this version; 503 if it does not in time."""
        if not await in_thread(self.follower.wait_for, match_id, version, WAIT_SECONDS, book):
            raise Problem("books_behind", headers={"Retry-After": "1"})
        return await in_thread(self._asked, lambda connection: question(connection, match_id))

    async def ask_of_all(self, book: Book, question: Callable[[Connection], T]) -> T:
        """What a book answers when it has come to where the log ends now, or has not in good time."""
        head, deadline = await in_thread(self.head), time.monotonic() + WAIT_SECONDS
        while self.follower.lag(head, book) and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_SECONDS)
        return await in_thread(self._asked, question)

    def _asked(self, question: Callable[[Connection], T]) -> T:
        with self._engine.connect() as connection:
            return question(connection)
