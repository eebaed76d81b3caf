"""``knacka restore``: installs a backup in an empty store.

It loads the backup into a temporary SQLite store, carries out the recorded erasures, and verifies it. Then it
moves the files, the events last. Into PostgreSQL it copies all rows in one transaction. So an interrupted restore
leaves no events.
"""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import quote
from uuid import UUID

from sqlalchemy import Connection, create_engine, delete, func, select, text

from api.maintenance.archive import Archive, Damaged
from api.maintenance.backup import write_backup
from api.maintenance.files import flush_to_disk, store_files
from api.maintenance.raw_store import StoreReader
from api.maintenance.tables import (
    SHARED_PARTS,
    Cell,
    Part,
    existing_parts,
    is_empty,
    parts_of_events,
    parts_of_names,
    parts_of_projections,
)
from api.personal_data.erasures import Erasures
from api.personal_data.names import NAMES, PRAGMAS, Names
from api.runtime.projections import all_projections
from api.startup import open_once
from projections.follow.engine import engine_for, engine_for_writes, without_limits
from referee.clubs.facts import ClubFounded
from referee.store.club import Club
from referee.store.connection import SqliteFile, parse_store_url
from referee.store.store import construct

Say = Callable[[str], None]


class NotEmpty(Exception):
    """The store to restore into is not empty. The message names the remedy."""


class Connections(NamedTuple):
    """Connections to the three SQLite files, or one to PostgreSQL in every field."""

    events: Connection
    projections: Connection
    names: Connection


@contextmanager
def staged_store(archive: Archive, folder: Path | None, say: Say) -> Iterator[str]:
    """Load a backup into a temporary store in ``folder`` (None: the system's), and yield the store's URL.

    Carry out the recorded erasures. Raises :class:`~api.maintenance.archive.Damaged`.
    """
    with TemporaryDirectory(prefix="knacka-restore-", dir=folder) as temporary:
        url = f"sqlite:///{quote(str(Path(temporary).absolute() / 'knacka.db'))}"
        open_once(url)
        load(archive, url, say)
        erase_again(url, say)
        yield url


def install(url: str, staged_url: str) -> None:
    """Move a staged store within its file system, or copy it to PostgreSQL.

    Raises :class:`NotEmpty`, ``OSError`` and the databases' errors.
    """
    refuse_unless_empty(url)
    if store_files(url):
        _move_files(staged_url, url)
        return
    copy = store_files(staged_url)[-1].with_name("again.backup")
    with copy.open("x+b") as file:
        write_backup(staged_url, file)
    open_once(url)
    with Archive(copy) as archive:
        load(archive, url, lambda _: None)


def refuse_unless_empty(url: str) -> None:
    """Raise :class:`NotEmpty` if a SQLite file exists, or if PostgreSQL has events or names."""
    if files := store_files(url):
        for one in (file.with_name(file.name + more) for file in files for more in ("", "-wal", "-shm", "-journal")):
            if one.exists():
                raise NotEmpty(f"{one} exists already: move it away, or set KNACKA_DATABASE_URL to a new file")
        return
    with closing(StoreReader(url)) as stored, stored.events.connect() as connection:
        _refuse_stored_rows(connection, stored)


def _refuse_stored_rows(connection: Connection, stored: StoreReader) -> None:
    """Raise :class:`NotEmpty` if a table of the events or names, except the secret, has rows."""
    for part in existing_parts(connection, (*parts_of_events(stored), *parts_of_names())):
        if part.name != "secret" and not is_empty(connection, part):
            raise NotEmpty(
                f"{part.table.name} has rows already: set KNACKA_DATABASE_URL to an empty database or schema"
            )


def _move_files(staged_url: str, url: str) -> None:
    for source, goal in zip(store_files(staged_url), store_files(url), strict=True):
        with closing(sqlite3.connect(source)) as connection:
            # because a reader may have left a write-ahead log
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        flush_to_disk(source)
        source.rename(goal)
    flush_to_disk(goal.absolute().parent)


def load(archive: Archive, url: str, say: Say) -> None:
    """Fill the empty tables of a store from a backup. Report the projections to build again.

    Raises :class:`~api.maintenance.archive.Damaged`, or on PostgreSQL :class:`NotEmpty`. Nothing is stored then.
    """
    keys = _usable_projections(archive, say)
    projections = [one for one in parts_of_projections() if one.name in SHARED_PARTS or one.key in keys]
    with closing(StoreReader(url)) as stored, _write_connections(url) as connections:
        events = connections.events
        if events.dialect.name == "postgresql":
            events.execute(text(f"LOCK TABLE {stored.rows_table.name} IN ACCESS EXCLUSIVE MODE"))
            _refuse_stored_rows(events, stored)
        parts_of_each = parts_of_events(stored), projections, parts_of_names()
        for connection, parts in zip(connections, parts_of_each, strict=True):
            for part in parts:
                _fill_table(archive, connection, part, keys)
        if events.dialect.name == "postgresql":
            _set_next_position(events, stored)


def _usable_projections(archive: Archive, say: Say) -> frozenset[str]:
    """Return the keys of projections in the backup whose tables have this release's columns. Report the others."""
    keys = set()
    for projection in all_projections():
        parts = parts_of_projections([projection])[len(SHARED_PARTS) :]
        if projection.key in archive.manifest.keys and all(_has_same_columns(archive, one) for one in parts):
            keys.add(projection.key)
        else:
            say(f"projection {projection.name} is not in the backup in this release's form: it will be built again")
    return frozenset(keys)


def _has_same_columns(archive: Archive, part: Part) -> bool:
    info = archive.manifest.part(part.name)
    return info is not None and info.columns == part.columns


def _fill_table(archive: Archive, connection: Connection, part: Part, keys: frozenset[str]) -> None:
    """Fill a table if the backup has it. If projections share it, take only rows of those in ``keys``.

    Raises ``Damaged`` if rows cannot be read, or if the columns are of a different release.
    """
    info = archive.manifest.part(part.name)
    if info is None:
        return
    if not _has_same_columns(archive, part):
        raise Damaged(
            f"its part {part.name} is of a different release: restore it with Knacka {archive.manifest.knacka}"
        )
    rows = _converted_rows(part, archive.rows(info))
    if part.name in SHARED_PARTS:
        connection.execute(delete(part.table).where(part.table.c.book.in_(keys)))
        rows = (row for row in rows if row[0] in keys)
    elif part.name == "secret":
        connection.execute(delete(part.table))
    part.fill(connection, rows)


def _converted_rows(part: Part, rows: Iterator[list[Any]]) -> Iterator[list[Cell]]:
    try:
        yield from part.with_column_types(rows)
    except (TypeError, ValueError) as error:
        raise Damaged(f"its part {part.name} cannot be read: {error}") from None


def _set_next_position(connection: Connection, stored: StoreReader) -> None:
    """Let PostgreSQL give the next row the position after the last row."""
    name, position = stored.rows_table.name, stored.rows_table.c[0]
    if last := connection.scalar(select(func.max(position))):
        connection.execute(select(func.setval(func.pg_get_serial_sequence(name, position.name), last)))


@contextmanager
def _write_connections(url: str) -> Iterator[Connections]:
    """Yield connections that commit at the end, or roll back after an error."""
    with ExitStack() as stack:
        target = parse_store_url(url)
        if isinstance(target, SqliteFile):
            events = create_engine(f"sqlite:///{target.path}", hide_parameters=True)
            engines = [events, engine_for(url), engine_for(url, what=NAMES, pragmas=PRAGMAS)]
        else:
            engines = [engine_for(url)]
        for engine in engines:
            stack.callback(engine.dispose)
        connections = [stack.enter_context(engine_for_writes(engine).begin()) for engine in engines]
        for connection in connections:
            without_limits(connection)
        yield Connections(*connections) if len(connections) > 1 else Connections(*connections * 3)


def erase_again(url: str, say: Say) -> None:
    """Carry out the recorded but unfinished erasures, and report their members. Skip unreadable clubs."""
    with closing(Names(url)) as names, closing(StoreReader(url)) as stored, construct(url) as referee:
        erasures = Erasures(names)
        for club_id in stored.ids_of_topic(ClubFounded.TOPIC):
            try:
                club = referee.load(UUID(club_id)).aggregate
            except Exception:  # A damaged row can cause any error, which the verification reports.
                continue
            assert isinstance(club, Club), "it begins as one"
            for member, texts in sorted(erasures.carry_out(club).items()):
                say(f"member {member} of club {club.id} is erased again: {texts} names and texts")
        names.rewrite_due()
