"""Reads the event log page by page and keeps the books up with it.

A page is applied to a book in one transaction together with the book's position, so each event counts exactly
once: after a crash, after a lost acknowledgement, and when several processes follow into the same database.
"""

import logging
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Protocol, Self
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    MetaData,
    Table,
    Text,
    delete,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)

from projections.follow.engine import engine_for, patient, writer
from projections.follow.listen import Listener
from projections.follow.page import Page
from referee.store.reach import Postgres, place_of
from referee.value import Value

__all__ = ["Book", "Fault", "Follower", "engine_for", "prepare", "rebuild"]

PAGE = 2000
"""Events in one transaction: enough to catch up quickly, few enough that readers soon see them."""
REBUILD_PAGE = 20_000
"""Events in one transaction of a rebuild, which nobody waits for: so a match is written seldom, not after each of
its deals. Each may be of another match, and SQLite takes no more than 32,766 ids in one statement."""
LATEST_MAX = 50_000
"""Matches whose last event is remembered, so that to wait for it needs no query."""
BACKOFF_FIRST, BACKOFF_MOST = 0.1, 5.0
"""Seconds until a failure is tried again: doubled each time, within these bounds."""
LIVE, FRESH = "book_", "book_fresh_"
"""How the tables of a book begin, and those of one that is being rebuilt."""
CREATING = 0x6B6E61636B61
"""The PostgreSQL advisory lock of those who create tables."""

log = logging.getLogger(__name__)


Read = Callable[[int, int], Page]
"""The events after a position, at most so many, in order."""


class Book(Protocol):
    """Tables, how events change them, and what they answer."""

    name: str
    key: str
    """Names the shape of its tables, which begin with it, and its position. Another shape has another key: so it
    fills from the first event, and a process of an earlier release may follow beside it."""
    metadata: MetaData
    """Its tables, in the order in which readers read them."""

    @property
    def takes(self) -> frozenset[str] | None:
        """The topics of the events that it has a use for; ``None``: all.

        The first event says of what kind an aggregate is: the book has those whose first event it takes. Of these
        it tells the last event that there is, but what it does not take is not decoded for it.
        """

    def under(self, prefix: str) -> Self:
        """The same book in tables whose names begin otherwise; index names must not repeat."""

    def apply(self, connection: Connection, page: Page) -> None:
        """Takes in the events of a page. Those of one match come in order and without a gap."""

    def version(self, connection: Connection, match_id: UUID) -> int:
        """The number of the last event of a match that the book has come to, or 0."""


class Fault(Value):
    """Why something stands still, and since when. ``position`` is the last one that was applied."""

    since: datetime
    position: int
    times: int
    error: str


_metadata = MetaData()
_positions = Table(
    "book_positions",
    _metadata,
    Column("book", Text, primary_key=True),
    Column("position", BigInteger, nullable=False),
)


# Tables and positions


def prepare(engine: Engine, books: Sequence[Book]) -> dict[str, int]:
    """Creates what tables are missing; where each book stands. A book that lacks one begins anew."""
    with writer(engine).begin() as connection:
        _alone(connection)
        _metadata.create_all(connection)
        for book in books:
            there = inspect(connection).get_table_names()
            if not all(name in there for name in book.metadata.tables) or _position(connection, book.key) is None:
                _clear(connection, book, book.key)
        return {book.name: _position(connection, book.key) or 0 for book in books}


def _alone(connection: Connection) -> None:
    """Until this transaction ends nobody else creates or drops: on SQLite that is so by itself."""
    patient(connection)
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(CREATING)))


def _clear(connection: Connection, book: Book, key: str) -> None:
    _alone(connection)
    connection.execute(delete(_positions).where(_positions.c.book == key))
    book.metadata.drop_all(connection)
    book.metadata.create_all(connection)
    connection.execute(insert(_positions).values(book=key, position=0))


def _position(connection: Connection, key: str) -> int | None:
    position: int | None = connection.scalar(select(_positions.c.position).where(_positions.c.book == key))
    return position


def _held(connection: Connection, key: str) -> int:
    """Where a book stands; nobody else can move it until this transaction ends."""
    query = select(_positions.c.position).where(_positions.c.book == key).with_for_update()
    position: int | None = connection.scalar(query)
    if position is None:
        raise LookupError(f"book {key} has no position: another rebuild is done, or its tables were taken away")
    return position


def _apply(connection: Connection, book: Book, key: str, after: int, page: Page) -> int:
    """Applies what the book does not have of a page that begins after ``after``; where it stands then."""
    position = _held(connection, key)
    if position >= after and (news := page.after(position)):
        book.apply(connection, news)
        position = news.position
        _move(connection, key, position)
    return position


def _move(connection: Connection, key: str, position: int) -> None:
    connection.execute(update(_positions).where(_positions.c.book == key).values(position=position))


def rebuild(read: Read, engine: Engine, *books: Book, page: int = REBUILD_PAGE) -> int:
    """Builds books anew from the first event, beside those that are read, and puts them in their place.

    The log is read once for all of them. Returns their position. Until the switch, which is one transaction,
    nothing of the old books changes; what a rebuild that was broken off has left is thrown away by the next.
    """
    prepare(engine, books)
    fresh = [(book.under(FRESH), FRESH + book.key) for book in books]
    writes = writer(engine)

    def apply(connection: Connection, position: int, events: Page) -> int:
        return min([_apply(connection, book, key, position, events) for book, key in fresh])

    with writes.begin() as connection:
        for book, key in fresh:
            _clear(connection, book, key)
    position, events = 0, read(0, page)
    while events:
        with writes.begin() as connection:
            patient(connection)
            position = apply(connection, position, events)
        if len(events) < page:
            break
        events = read(position, page)
    with writes.begin() as connection:
        patient(connection)
        # Followers wait at the positions; what they applied meanwhile is made up for before they go on.
        # The new tables are held too: another rebuild could have cleared them since.
        goal = max([_held(connection, book.key) for book in books])
        position = min([_held(connection, key) for _, key in fresh])
        while position < goal and (events := read(position, page)):
            position = apply(connection, position, events)
        for book, (new, key) in zip(books, fresh, strict=True):
            _switch(connection, book, new)
            _move(connection, book.key, _held(connection, key))
            connection.execute(delete(_positions).where(_positions.c.book == key))
    return position


def _switch(connection: Connection, book: Book, fresh: Book) -> None:
    # Dropped in the order in which readers read them: in another, one of us could wait for the other for ever.
    for table in book.metadata.tables.values():
        table.drop(connection)
    for old, new in zip(book.metadata.tables, fresh.metadata.tables, strict=True):
        connection.execute(text(f"ALTER TABLE {new} RENAME TO {old}"))


class Follower:
    """Keeps books up with the log, on a thread of its own that nothing but :meth:`close` ends."""

    def __init__(
        self,
        read: Read,
        engine: Engine,
        books: Sequence[Book],
        *,
        page: int = PAGE,
        poll_seconds: float = 1.0,
        rest_seconds: float = 0.25,
        seen: Callable[[Page], None] | None = None,
        listen: str | None = None,
    ) -> None:
        """``seen`` gets each page that is read, once and on the follower's thread, whether or not books take it.

        ``listen``: the URL of the store, whose notifications wake the follower if it is on PostgreSQL. Without
        any waking an event is found within ``poll_seconds``. Unless somebody waits for it, it rests for
        ``rest_seconds`` between two turns: so many events then share a page, and the writers get the processor.
        """
        self.books = tuple(books)
        self._read, self._engine, self._writer = read, engine, writer(engine)
        self._page, self._poll_seconds, self._rest_seconds, self._seen = page, poll_seconds, rest_seconds, seen
        self._place = place_of(listen) if listen else None
        self._listener: Listener | None = None
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)
        self._awake, self._closed, self._hurry = threading.Event(), threading.Event(), threading.Event()
        self._waiting = 0
        self._at = {book.name: 0 for book in self.books}
        self._seen_to = 0
        self._faults: dict[str, Fault] = {}
        self._again: dict[str, float] = {}
        """When what failed is tried again."""
        self._progress = threading.Condition()
        self._turns = 0
        self._latest: OrderedDict[UUID, tuple[int, int]] = OrderedDict()
        """The last event that was read of a match, and its position."""

    # From outside

    def start(self) -> None:
        """Creates the tables and follows from where each book stands."""
        self._at = prepare(self._engine, self.books)
        for book in self.books:
            position = self._at[book.name]
            if position and [row[0] for row in self._read(position - 1, 1).rows] != [position]:
                # The log was restored from a backup that is older than the book.
                log.error("book %s stands at %d, where the log has no event: it begins anew", book.name, position)
                with self._writer.begin() as connection:
                    _clear(connection, book, book.key)
                self._at[book.name] = 0
        self._seen_to = max(self._at.values(), default=0)
        self._thread.start()
        if isinstance(self._place, Postgres):
            self._listener = Listener(self._place.parameters, self.wake)

    def wake(self) -> None:
        """Something was committed. From any thread."""
        self._awake.set()

    def close(self) -> None:
        """Ends after the transaction under way; whoever waits is let go."""
        self._closed.set()
        self._awake.set()
        self._hurry.set()
        if self._listener is not None:
            self._listener.close()
        if self._thread.ident is not None:
            self._thread.join()
        with self._progress:
            self._progress.notify_all()

    def has_applied(self, match_id: UUID, version: int, book: Book | None = None) -> bool:
        """Whether a book, or every book, has taken in this event of a match. Asks the database only about matches
        that have been quiet since the start."""
        books = self.books if book is None else (book,)
        with self._progress:
            latest = self._latest.get(match_id)
        if latest is not None:
            read, position = latest
            return read >= version and all(self._at[one.name] >= position for one in books)
        with self._engine.connect() as connection:
            return all(one.version(connection, match_id) >= version for one in books)

    def wait_for(self, match_id: UUID, version: int, timeout: float, book: Book | None = None) -> bool:
        """Waits until a book, or every book, has taken in this event of a match; whether it came to that in
        time."""
        deadline = time.monotonic() + timeout
        self._hurried(+1)
        try:
            while True:
                with self._progress:
                    turn = self._turns
                if self.has_applied(match_id, version, book):
                    return True
                with self._progress:
                    while self._turns == turn:
                        left = deadline - time.monotonic()
                        if left <= 0 or self._closed.is_set():
                            return False
                        self._progress.wait(left)
        finally:
            self._hurried(-1)

    def _hurried(self, by: int) -> None:
        with self._progress:
            self._waiting += by
            if self._waiting:
                self._hurry.set()
            elif not self._closed.is_set():
                self._hurry.clear()

    def positions(self) -> dict[str, int]:
        """Where each book stands, as far as this process knows."""
        return dict(self._at)

    def lag(self, head_position: int, book: Book | None = None) -> int:
        """How far a book, or the one that is last, stands behind the head of the log."""
        at = min(self._at.values(), default=head_position) if book is None else self._at[book.name]
        return max(0, head_position - at)

    def faults(self) -> dict[str, Fault]:
        """What failed last time and has not worked since: books by name, ``read``, ``seen``; empty when all is
        well."""
        return dict(self._faults)

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def rebuild(self, *books: Book) -> int:
        """Rebuilds books, on the caller's thread, while the old ones are read and kept up. Their position."""
        return rebuild(self._read, self._engine, *books)

    # The thread

    def _run(self) -> None:
        while not self._closed.is_set():
            self._awake.clear()
            more = False
            if self._due("read"):
                try:
                    more = self._turn()
                    self._worked("read")
                except Exception:
                    self._failed("read", self._seen_to)
            with self._progress:
                self._turns += 1
                self._progress.notify_all()
            if not more:
                self._hurry.wait(self._rest_seconds)
                self._awake.wait(self._pause())

    def _turn(self) -> bool:
        """One page for each that has not reached the end of the log; whether there may be more."""
        pages: dict[int, Page] = {}

        def page_after(position: int) -> Page:
            if position not in pages:
                pages[position] = self._read(position, self._page)
            return pages[position]

        page = page_after(self._seen_to)
        more = len(page) == self._page
        if page:
            self._note(page)
        for book in self.books:
            if not self._due(book.name):
                continue
            after = self._at[book.name]
            page = page_after(after)
            try:
                if page:
                    with self._writer.begin() as connection:
                        position = _apply(connection, book, book.key, after, page)
                    self._at[book.name] = position  # now that it is committed, and not before
                    more |= len(page) == self._page
                self._worked(book.name)
            except Exception:
                self._failed(book.name, after)
        return more

    def _note(self, page: Page) -> None:
        with self._progress:
            for match_id, rows in page.histories.items():
                position, _, version, *_ = rows[-1]
                self._latest[match_id] = version, position
                self._latest.move_to_end(match_id)
            while len(self._latest) > LATEST_MAX:
                self._latest.popitem(last=False)
        after, self._seen_to = self._seen_to, page.position
        if self._seen is not None:
            try:
                self._seen(page)
                self._worked("seen")
            except Exception:
                self._failed("seen", after)

    def _due(self, what: str) -> bool:
        return time.monotonic() >= self._again.get(what, 0)

    def _pause(self) -> float:
        now = time.monotonic()
        return max(0.0, min([self._poll_seconds, *(again - now for again in self._again.values())]))

    def _worked(self, what: str) -> None:
        if self._faults.pop(what, None):
            self._again.pop(what, None)
            log.info("%s: works again", what)

    def _failed(self, what: str, position: int) -> None:
        """Within ``except``: tells of the error, whole the first time, and when to try again."""
        error, now = sys.exception(), datetime.now(UTC)
        before = self._faults.get(what)
        times = before.times + 1 if before else 1
        name = f"{type(error).__name__}: {error}"
        log.error("%s: failed after position %d (%d): %s", what, position, times, name, exc_info=times == 1)
        since = before.since if before else now
        self._faults[what] = Fault(since=since, position=position, times=times, error=name)
        if what != "seen":  # that page is not shown again
            seconds = min(BACKOFF_MOST, BACKOFF_FIRST * 2 ** min(times - 1, 10))
            self._again[what] = time.monotonic() + seconds
