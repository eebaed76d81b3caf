"""What each book has taken in of the log: its tables and its position, what it has set aside, and rebuilding it.

A page is applied to a book in one transaction together with the book's position, so each event counts exactly
once: after a crash, after a lost acknowledgement, and when several processes follow into the same database.

A row that a book cannot take stops one match and not the book. The match is set aside: the book has what comes
before that row, passes over what comes after it, and goes on with all others. A book that numbers what it writes over
many matches sets aside all whose numbers would be others without that row, and is built anew when it is mended.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple, Protocol, Self, TypeVar, runtime_checkable
from uuid import UUID, uuid4

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Engine,
    MetaData,
    Table,
    Text,
    Uuid,
    bindparam,
    delete,
    func,
    insert,
    inspect,
    select,
    text,
    update,
)
from sqlalchemy.exc import DataError, IntegrityError, SQLAlchemyError, StatementError

from projections.follow.engine import Json, Utc, patient, writer
from projections.follow.locks import only_rebuild
from projections.follow.page import Log, Missing, Page, Read, Row
from referee.store.clock import utc_now
from referee.value import Value

REBUILD_PAGE = 20_000
"""Events in one transaction of a rebuild, and of a follower that is far behind: so a match is written seldom, not
after each of its deals. Each may be of another match, and SQLite takes no more than 32,766 ids in one statement."""
ERROR_MAX = 500
"""Characters that are kept of an error."""
LIVE, FRESH = "book_", "book_fresh_"
"""How the tables of a book begin, and those of one that is being rebuilt."""
CREATING = 0x6B6E61636B61
"""The PostgreSQL advisory lock of those who create tables."""

T = TypeVar("T")


def own_name(name: str) -> str:
    """A name for an index: a rebuilt table keeps its own, which the next rebuild must not meet."""
    return f"{name}_{uuid4().hex[:12]}"


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


@runtime_checkable
class Numbering(Book, Protocol):
    """A book that numbers what it writes over many aggregates, in the order of the log and for ever.

    So none of it may be left out and come later: what is behind it would have had other numbers.
    """

    def stop(self, connection: Connection, aggregate: UUID, row: Row) -> Sequence[UUID]:
        """Writes no more for whoever this row, which cannot be taken, may belong to: the aggregates that wait for it
        to be mended, beside its own."""

    def go_on(self, connection: Connection) -> None:
        """Writes for all of them again."""


class Waits(Exception):
    """What is set aside waits for an event of another."""


class Aside(Value):
    """A match that a book has set aside: since when, at which event, and what was wrong with it.

    Of a book that numbers what it writes it is any aggregate, and the event may be of another that it ``waits`` for.
    """

    book: str
    match: UUID
    since: datetime
    event: int
    error: str

    @property
    def waits(self) -> bool:
        """Whether nothing is wrong with itself."""
        return self.error.startswith(f"{Waits.__name__}:")


class Place(NamedTuple):
    """Where a book stands: the position of the last row that it has taken in, and the mark of that row."""

    position: int
    mark: str = ""


_metadata = MetaData()
_places = Table(
    "book_places",
    _metadata,
    Column("book", Text, primary_key=True),
    Column("position", BigInteger, nullable=False),
    Column("mark", Text, nullable=False),
)
_aside = Table(
    "book_aside",
    _metadata,
    Column("book", Text, primary_key=True),
    Column("match", Uuid, primary_key=True),
    Column("since", Utc, nullable=False),
    Column("event", BigInteger, nullable=False),
    Column("error", Json(str), nullable=False),
)
# Written once: to put them together takes longer than to have them done.
_HELD = select(_places.c.position).where(_places.c.book == bindparam("key")).with_for_update()
_MOVE = (
    update(_places).where(_places.c.book == bindparam("key")).values(position=bindparam("to"), mark=bindparam("by"))
)
_ASIDE_OF = select(_aside).where(_aside.c.book == bindparam("key")).order_by(_aside.c.since, _aside.c.match)


# Tables and places


def prepare(engine: Engine, books: Sequence[Book]) -> dict[str, Place]:
    """Creates what tables are missing; where each book stands. A book that lacks one begins anew."""
    with writer(engine).begin() as connection:
        alone(connection)
        _metadata.create_all(connection)
        there = set(inspect(connection).get_table_names())
        places = {key: Place(position, mark) for key, position, mark in connection.execute(select(_places))}
        for book in books:
            if book.metadata.tables.keys() - there or book.key not in places:
                _clear(connection, book, book.key)
                places[book.key] = Place(0)
        return {book.name: places[book.key] for book in books}


def begin_anew(engine: Engine, book: Book, position: int) -> None:
    """Empties a book that stands at a position which the log does not have, unless another process was first."""
    with writer(engine).begin() as connection:
        alone(connection)
        if (place := _place(connection, book.key)) is not None and place.position == position:
            _clear(connection, book, book.key)


def alone(connection: Connection) -> None:
    """Until this transaction ends nobody else creates or drops tables here: on SQLite that is so by itself."""
    patient(connection)
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(CREATING)))


def _clear(connection: Connection, book: Book, key: str) -> None:
    """Makes its tables anew; who calls it is alone."""
    for table in (_places, _aside):
        connection.execute(delete(table).where(table.c.book == key))
    book.metadata.drop_all(connection)
    book.metadata.create_all(connection, checkfirst=False)
    connection.execute(insert(_places).values(book=key, position=0, mark=""))


def _place(connection: Connection, key: str) -> Place | None:
    found = connection.execute(select(_places.c.position, _places.c.mark).where(_places.c.book == key)).one_or_none()
    return found and Place(*found)


def _held(connection: Connection, key: str) -> int:
    """The position of a book; nobody else can move it, nor set a match aside, until this transaction ends."""
    position: int | None = connection.scalar(_HELD, {"key": key})
    if position is None:
        raise LookupError(f"book {key} has no position: its tables were taken away")
    return position


def _move(connection: Connection, key: str, place: Place) -> None:
    connection.execute(_MOVE, {"key": key, "to": place.position, "by": place.mark})


# Taking in


def take(
    connection: Connection, book: Book, key: str, after: int, page: Page, carefully: bool
) -> tuple[int, dict[UUID, Aside]]:
    """Has a book take in what it does not have of a page that begins after ``after``; where it stands then, and what
    it has set aside.

    ``carefully``: what it cannot take is set aside.
    """
    position, aside = _held(connection, key), set_aside(connection, book, key)
    if position >= after and (news := page.after(position)):
        position = news.position
        _move(connection, key, Place(position, news.mark))
        if carefully:
            _pick(connection, book, key, news.without(aside))
            aside = set_aside(connection, book, key)
        else:
            book.apply(connection, news.without(aside))
    return position, aside


def carefully_if_need_be(writes: Engine, work: Callable[[Connection, bool], T]) -> T:
    """What some work gives in a transaction; done once more, and carefully, where something could not be taken.

    For to be careful takes several times as long.
    """
    try:
        with writes.begin() as connection:
            return work(connection, False)
    except Exception as error:
        if _of_the_database(error):
            raise
    with writes.begin() as connection:
        return work(connection, True)


def _of_the_database(error: Exception) -> bool:
    """Whether the database or the machine has failed, and not what they were given."""
    if isinstance(error, SQLAlchemyError):
        given = isinstance(error, IntegrityError | DataError) or type(error) is StatementError
        return not given
    return isinstance(error, OSError | MemoryError)


def _pick(connection: Connection, book: Book, key: str, page: Page) -> set[UUID]:
    """Takes in what the book can of a page, and sets the rest aside: what that was.

    By halves, so that one bad row among thousands is soon found, and in the order of the log: where what one event
    makes goes by what those of others made before, it is the same as without the bad row.
    """
    if not page or (bad := _tried(connection, book, page)) is None:
        return set()
    if len(page) > 1:
        first, last = page.halves()
        gone = _pick(connection, book, key, first)
        return gone | _pick(connection, book, key, last.without(gone))
    [(aggregate, [row])] = page.histories.items()
    event = _event(bad, row)
    _set_aside(connection, key, aggregate, event, bad)
    gone = {aggregate}
    if isinstance(book, Numbering):
        aside = set_aside(connection, book, key)
        for other in book.stop(connection, aggregate, row):
            gone.add(other)
            if other not in aside:
                _set_aside(connection, key, other, event, Waits(f"event {event} of {aggregate}"))
    return gone


def _tried(connection: Connection, book: Book, page: Page) -> Exception | None:
    """Has a book take in a page, or nothing of it and says why."""
    try:
        with connection.begin_nested():
            book.apply(connection, page)
        return None
    except Exception as error:
        if _of_the_database(error):
            raise
        return error


def _event(bad: Exception, row: Row) -> object:
    return bad.number if isinstance(bad, Missing) else row[2]


def _set_aside(connection: Connection, key: str, match_id: UUID, event: object, error: Exception) -> None:
    said = f"{type(error).__name__}: {error}"[:ERROR_MAX].encode(errors="replace").decode()
    found = {"event": event if isinstance(event, int) else 0, "error": said}
    this = (_aside.c.book == key) & (_aside.c.match == match_id)
    if connection.execute(update(_aside).where(this).values(found)).rowcount == 0:
        now = utc_now()
        connection.execute(insert(_aside).values(book=key, match=match_id, since=now, **found))


def set_aside(connection: Connection, book: Book, key: str | None = None) -> dict[UUID, Aside]:
    """The matches that a book has set aside."""
    found = connection.execute(_ASIDE_OF, {"key": key or book.key})
    return {row.match: Aside(**{**row._mapping, "book": book.name}) for row in found}


def take_up(connection: Connection, log: Log, book: Book, match_id: UUID) -> bool:
    """Has a book take in what it lacks of a match that it has set aside; whether it could."""
    patient(connection)
    _held(connection, book.key)
    version, limit = book.version(connection, match_id), 1
    while page := log.history(match_id, version, limit):
        if _pick(connection, book, book.key, page):
            return False
        version, limit = page.rows[-1][2], REBUILD_PAGE  # not before the row that was bad has been taken
    connection.execute(delete(_aside).where(_aside.c.book == book.key, _aside.c.match == match_id))
    return True


def mended(connection: Connection, log: Log, book: Numbering, aside: Aside) -> bool:
    """Whether such a book could now take the row that it has set an aggregate aside for: that is tried, not kept."""
    if aside.waits:
        return False
    patient(connection)
    _held(connection, book.key)
    page = log.history(aside.match, book.version(connection, aside.match), 1)
    if not page:
        return False
    with connection.begin_nested() as trial:
        book.go_on(connection)
        bad = _tried(connection, book, page)
        trial.rollback()
    return bad is None


# Rebuilding


def rebuild(read: Read, engine: Engine, *books: Book, page: int = REBUILD_PAGE) -> int:
    """Build books from the first event, beside those that are read, and replace these. Return their position.

    The log is read once for all of them. Until the switch, which is one transaction, nothing of the old books
    changes; what a rebuild that was broken off has left is thrown away by the next.

    Raises :class:`~projections.follow.locks.RebuildRunning` if another rebuild runs.
    """
    prepare(engine, books)
    with only_rebuild(engine):
        return _rebuilt(read, engine, books, page)


def _rebuilt(read: Read, engine: Engine, books: Sequence[Book], page: int) -> int:
    fresh = [(book.under(FRESH), FRESH + book.key) for book in books]
    writes = writer(engine)

    def apply(position: int, events: Page, connection: Connection, carefully: bool) -> int:
        patient(connection)
        return min([take(connection, book, key, position, events, carefully)[0] for book, key in fresh])

    with writes.begin() as connection:
        alone(connection)
        for book, key in fresh:
            _clear(connection, book, key)
    position, events = 0, read(0, page)
    while events:
        position = carefully_if_need_be(writes, partial(apply, position, events))
        if len(events) < page:
            break
        events = read(position, page)
    with writes.begin() as connection:
        patient(connection)
        # Followers wait at the positions; what they applied meanwhile is made up for before they go on.
        goal = max([_held(connection, book.key) for book in books])
        position = min([_held(connection, key) for _, key in fresh])
        while position < goal and (events := read(position, page)):
            position = apply(position, events, connection, True)
        for book, (new, key) in zip(books, fresh, strict=True):
            place = _place(connection, key)
            assert place is not None, "it is held"
            _switch(connection, book, new)
            _move(connection, book.key, place)
            connection.execute(delete(_places).where(_places.c.book == key))
            connection.execute(delete(_aside).where(_aside.c.book == book.key))
            connection.execute(update(_aside).where(_aside.c.book == key).values(book=book.key))
    return position


def _switch(connection: Connection, book: Book, fresh: Book) -> None:
    # Dropped in the order in which readers read them: in another, one of us could wait for the other for ever.
    for table in book.metadata.tables.values():
        table.drop(connection)
    for old, new in zip(book.metadata.tables, fresh.metadata.tables, strict=True):
        connection.execute(text(f"ALTER TABLE {new} RENAME TO {old}"))
