"""The tables and position of each projection, the matches it has set aside, and its rebuild.

A page and the position are stored in one transaction, so each event counts exactly once. A match is *set
aside* if one of its rows cannot be applied: its later rows wait until the repair. Then a :class:`Numbering`
projection is rebuilt.
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

from projections.follow.engine import Json, Utc, engine_for_writes, without_limits
from projections.follow.locks import only_rebuild
from projections.follow.page import Log, Missing, Page, Read, Row
from referee.store.clock import utc_now
from referee.value import Value

REBUILD_PAGE = 20_000
"""Maximum events in a transaction of a rebuild or a follower far behind."""
ERROR_MAX = 500
"""Maximum characters of a stored error."""
LIVE, FRESH = "book_", "book_fresh_"
"""Prefixes of tables in use and of those in a rebuild."""
CREATING = 0x6B6E61636B61
"""Key of PostgreSQL's advisory lock for creating tables."""

T = TypeVar("T")


def own_name(name: str) -> str:
    """Return a unique index name, because two tables have the index during a rebuild."""
    return f"{name}_{uuid4().hex[:12]}"


class Projection(Protocol):
    """Tables, how events change them, and queries."""

    name: str
    key: str
    """Name of the tables and the position. Changed tables get a new key, because earlier releases keep theirs."""
    metadata: MetaData
    """Tables, in the order in which readers lock them."""

    @property
    def takes(self) -> frozenset[str] | None:
        """Topics of the events to use; ``None``: all.

        An aggregate belongs to the projection if its first event has such a topic. Its version counts all topics.
        """

    def with_prefix(self, prefix: str) -> Self:
        """Return this projection with a different table prefix."""

    def apply(self, connection: Connection, page: Page) -> None:
        """Apply a page's new rows. Raises any error if a row is bad or an earlier one missing."""

    def version(self, connection: Connection, aggregate: UUID) -> int:
        """Return the number of an aggregate's last applied event; 0 before the first."""


@runtime_checkable
class Numbering(Projection, Protocol):
    """A projection that numbers results across aggregates in log order.

    No row may be applied late, because later numbers would change.
    """

    def stop(self, connection: Connection, aggregate: UUID, row: Row) -> Sequence[UUID]:
        """Stop numbering for aggregates that may depend on a bad row of ``aggregate``. Return them without
        ``aggregate``."""

    def resume(self, connection: Connection) -> None:
        """Resume numbering for all aggregates."""


class Waits(Exception):
    """The aggregate is set aside because of a different aggregate's event."""


class Aside(Value):
    """A match, or in a numbering projection any aggregate, set aside because of an event."""

    projection: str
    match: UUID
    since: datetime
    event: int
    """Number of the event; 0 if it is damaged."""
    error: str

    @property
    def waits(self) -> bool:
        """True if the event is of a different aggregate."""
        return self.error.startswith(f"{Waits.__name__}:")


class Place(NamedTuple):
    """Position and :func:`row_mark` of the last row applied or set aside."""

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
# Built once, because building a statement takes longer than running it.
_LOCK = select(_places.c.position).where(_places.c.book == bindparam("key")).with_for_update()
_MOVE = (
    update(_places).where(_places.c.book == bindparam("key")).values(position=bindparam("to"), mark=bindparam("by"))
)
_ASIDE_OF = select(_aside).where(_aside.c.book == bindparam("key")).order_by(_aside.c.since, _aside.c.match)


def prepare(engine: Engine, projections: Sequence[Projection]) -> dict[str, Place]:
    """Return each projection's place by name. Empty a projection if its position or a table is missing."""
    with engine_for_writes(engine).begin() as connection:
        exclude_others(connection)
        _metadata.create_all(connection)
        there = set(inspect(connection).get_table_names())
        places = {key: Place(position, mark) for key, position, mark in connection.execute(select(_places))}
        for projection in projections:
            if projection.metadata.tables.keys() - there or projection.key not in places:
                _clear(connection, projection, projection.key)
                places[projection.key] = Place(0)
        return {projection.name: places[projection.key] for projection in projections}


def start_over(engine: Engine, projection: Projection, position: int) -> None:
    """Empty a projection if it is still at ``position``."""
    with engine_for_writes(engine).begin() as connection:
        exclude_others(connection)
        if (place := _read_place(connection, projection.key)) is not None and place.position == position:
            _clear(connection, projection, projection.key)


def exclude_others(connection: Connection) -> None:
    """Let no other process create or drop tables until the transaction ends. SQLite does this itself."""
    without_limits(connection)
    if connection.dialect.name == "postgresql":
        connection.execute(select(func.pg_advisory_xact_lock(CREATING)))


def _clear(connection: Connection, projection: Projection, key: str) -> None:
    """Create empty tables, at position 0. Call only after :func:`exclude_others`."""
    for table in (_places, _aside):
        connection.execute(delete(table).where(table.c.book == key))
    projection.metadata.drop_all(connection)
    projection.metadata.create_all(connection, checkfirst=False)
    connection.execute(insert(_places).values(book=key, position=0, mark=""))


def _read_place(connection: Connection, key: str) -> Place | None:
    found = connection.execute(select(_places.c.position, _places.c.mark).where(_places.c.book == key)).one_or_none()
    return found and Place(*found)


def _lock_position(connection: Connection, key: str) -> int:
    """Return a projection's position, locked for this transaction. Raises ``LookupError`` if it has none."""
    position: int | None = connection.scalar(_LOCK, {"key": key})
    if position is None:
        raise LookupError(f"projection {key} has no position: its tables were deleted")
    return position


def _write_place(connection: Connection, key: str, place: Place) -> None:
    connection.execute(_MOVE, {"key": key, "to": place.position, "by": place.mark})


def apply_page(
    connection: Connection, projection: Projection, key: str, after: int, page: Page, carefully: bool
) -> tuple[int, dict[UUID, Aside]]:
    """Apply a page's rows after the stored position. Return the new position and all matches set aside.

    Applies nothing if that position is before ``after``, the page's start. ``carefully``: set aside matches with
    bad rows, instead of raising.
    """
    position, aside = _lock_position(connection, key), matches_set_aside(connection, projection, key)
    if position >= after and (news := page.after(position)):
        position = news.position
        _write_place(connection, key, Place(position, news.mark))
        if carefully:
            _apply_what_fits(connection, projection, key, news.without(aside))
            aside = matches_set_aside(connection, projection, key)
        else:
            projection.apply(connection, news.without(aside))
    return position, aside


def retry_carefully(writes: Engine, work: Callable[[Connection, bool], T]) -> T:
    """Return ``work(connection, False)`` in a transaction; if a row fails, ``work(connection, True)`` in a new one.
    Raises failures of the database."""
    try:
        with writes.begin() as connection:
            return work(connection, False)
    except Exception as error:
        if _is_database_failure(error):
            raise
    with writes.begin() as connection:
        return work(connection, True)


def _is_database_failure(error: Exception) -> bool:
    """Return whether the database or machine failed, not a row."""
    if isinstance(error, SQLAlchemyError):
        bad_value = isinstance(error, IntegrityError | DataError) or type(error) is StatementError
        return not bad_value
    return isinstance(error, OSError | MemoryError)


def _apply_what_fits(connection: Connection, projection: Projection, key: str, page: Page) -> set[UUID]:
    """Apply the valid rows, by halving the page until a bad row is alone. Set aside and return aggregates
    with bad rows, and those that wait for them."""
    if not page or (bad := _apply_or_error(connection, projection, page)) is None:
        return set()
    if len(page) > 1:
        first, last = page.halves()
        gone = _apply_what_fits(connection, projection, key, first)
        return gone | _apply_what_fits(connection, projection, key, last.without(gone))
    [(aggregate, [row])] = page.histories.items()
    event = bad.number if isinstance(bad, Missing) else row[2]
    _note_aside(connection, key, aggregate, event, bad)
    gone = {aggregate}
    if isinstance(projection, Numbering):
        aside = matches_set_aside(connection, projection, key)
        for other in projection.stop(connection, aggregate, row):
            gone.add(other)
            if other not in aside:
                _note_aside(connection, key, other, event, Waits(f"event {event} of {aggregate}"))
    return gone


def _apply_or_error(connection: Connection, projection: Projection, page: Page) -> Exception | None:
    """Apply a page in a savepoint. Return a row's error, but raise failures of the database."""
    try:
        with connection.begin_nested():
            projection.apply(connection, page)
        return None
    except Exception as error:
        if _is_database_failure(error):
            raise
        return error


def _note_aside(connection: Connection, key: str, match_id: UUID, event: object, error: Exception) -> None:
    said = f"{type(error).__name__}: {error}"[:ERROR_MAX].encode(errors="replace").decode()
    found = {"event": event if isinstance(event, int) else 0, "error": said}
    this = (_aside.c.book == key) & (_aside.c.match == match_id)
    if connection.execute(update(_aside).where(this).values(found)).rowcount == 0:
        now = utc_now()
        connection.execute(insert(_aside).values(book=key, match=match_id, since=now, **found))


def matches_set_aside(connection: Connection, projection: Projection, key: str | None = None) -> dict[UUID, Aside]:
    """Return, by id, the matches set aside. ``key``: the key during a rebuild."""
    found = connection.execute(_ASIDE_OF, {"key": key or projection.key})
    return {
        row.match: Aside(
            projection=projection.name, match=row.match, since=row.since, event=row.event, error=row.error
        )
        for row in found
    }


def resume(connection: Connection, log: Log, projection: Projection, match_id: UUID) -> bool:
    """Apply the remaining rows of a match set aside. Return ``False`` if a bad row keeps it set aside."""
    without_limits(connection)
    _lock_position(connection, projection.key)
    version, limit = projection.version(connection, match_id), 1
    while page := log.history(match_id, version, limit):
        if _apply_what_fits(connection, projection, projection.key, page):
            return False
        version, limit = page.rows[-1][2], REBUILD_PAGE  # large only now, because the bad row is applied
    connection.execute(delete(_aside).where(_aside.c.book == projection.key, _aside.c.match == match_id))
    return True


def is_repaired(connection: Connection, log: Log, projection: Numbering, aside: Aside) -> bool:
    """Return whether ``aside`` has the bad row, and the projection can now apply it. Changes nothing."""
    if aside.waits:
        return False
    without_limits(connection)
    _lock_position(connection, projection.key)
    page = log.history(aside.match, projection.version(connection, aside.match), 1)
    if not page:
        return False
    with connection.begin_nested() as trial:
        projection.resume(connection)
        bad = _apply_or_error(connection, projection, page)
        trial.rollback()
    return bad is None


def rebuild(read: Read, engine: Engine, *projections: Projection, page: int = REBUILD_PAGE) -> int:
    """Fill separate tables from the first event, then replace those in use in one transaction.

    Return the lowest position. Raises :class:`~projections.follow.locks.RebuildRunning` if one is running.
    """
    prepare(engine, projections)
    with only_rebuild(engine):
        return _build_and_replace(read, engine, projections, page)


def _build_and_replace(read: Read, engine: Engine, projections: Sequence[Projection], page: int) -> int:
    fresh = [(projection.with_prefix(FRESH), FRESH + projection.key) for projection in projections]
    writes = engine_for_writes(engine)

    def apply(position: int, events: Page, connection: Connection, carefully: bool) -> int:
        without_limits(connection)
        return min(
            [apply_page(connection, projection, key, position, events, carefully)[0] for projection, key in fresh]
        )

    with writes.begin() as connection:
        exclude_others(connection)
        for projection, key in fresh:
            _clear(connection, projection, key)
    position, events = 0, read(0, page)
    while events:
        position = retry_carefully(writes, partial(apply, position, events))
        if len(events) < page:
            break
        events = read(position, page)
    with writes.begin() as connection:
        without_limits(connection)
        # Followers wait for these locks, so that the loop can apply what they have applied.
        goal = max([_lock_position(connection, projection.key) for projection in projections])
        position = min([_lock_position(connection, key) for _, key in fresh])
        while position < goal and (events := read(position, page)):
            position = apply(position, events, connection, True)
        for projection, (new, key) in zip(projections, fresh, strict=True):
            place = _read_place(connection, key)
            assert place is not None, "the row is locked"
            _replace_tables(connection, projection, new)
            _write_place(connection, projection.key, place)
            connection.execute(delete(_places).where(_places.c.book == key))
            connection.execute(delete(_aside).where(_aside.c.book == projection.key))
            connection.execute(update(_aside).where(_aside.c.book == key).values(book=projection.key))
    return position


def _replace_tables(connection: Connection, projection: Projection, fresh: Projection) -> None:
    for table in projection.metadata.tables.values():
        table.drop(connection)
    for old, new in zip(projection.metadata.tables, fresh.metadata.tables, strict=True):
        connection.execute(text(f"ALTER TABLE {new} RENAME TO {old}"))
