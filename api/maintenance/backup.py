"""``knacka backup``: copies events, projections and names of one moment, while services run.

On PostgreSQL two transactions read one snapshot.

On SQLite the names are locked until they are copied. The projections are read next, the events last. So the copy has
all names of its events, and its projections are not ahead of the events.
"""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import IO, NamedTuple

from sqlalchemy import Connection, func, select, text

from api import VERSION
from api.maintenance.archive import FORMAT, Manifest, Writer
from api.maintenance.raw_store import StoreReader
from api.maintenance.tables import NEEDED, Part, complete_projections, existing_parts, parts_of_events, parts_of_names
from api.personal_data.names import NAMES, PRAGMAS, names_file
from projections.follow.engine import engine_for, engine_for_writes, without_limits
from referee.clubs.facts import ClubFounded
from referee.store.clock import utc_now
from referee.store.match import Match


class NoStore(Exception):
    """The store does not exist, or lacks a table. The message names the remedy."""


class Section(NamedTuple):
    """Parts to copy over one connection, with the keys of their projections."""

    connection: Connection
    parts: tuple[Part, ...]
    keys: tuple[str, ...] = ()


def write_backup(url: str, file: IO[bytes]) -> Manifest:
    """Write a backup into ``file``, which is open for reading and writing. Return its manifest.

    Raises :class:`NoStore`, ``ValueError`` for an unknown URL, and the databases' errors.
    """
    with closing(StoreReader(url)) as stored, sections_at_one_moment(stored, url) as sections:
        taken_at, events = utc_now(), sections[-1].connection
        if missing := NEEDED - {part.name for part in sections[-1].parts}:
            raise NoStore(f"the store has no {', '.join(sorted(missing))}: start `knacka serve` once to create them")
        this = stored.rows_table.c
        head = events.scalar(select(func.max(this[0]))) or 0
        count = select(this.topic, func.count()).where(this.originator_version == 1).group_by(this.topic)
        begun: dict[str, int] = dict(iter(events.execute(count)))
        with Writer(file) as archive:
            for connection, parts, keys in sections:
                for part in parts:
                    archive.write_part(part.name, part.columns, part.rows(connection, keys))
                connection.close()
            manifest = Manifest(
                format=FORMAT,
                knacka=VERSION,
                taken_at=taken_at,
                store="sqlite" if stored.files else "postgresql",
                head=head,
                matches=begun.get(Match.OPENING.TOPIC, 0),
                clubs=begun.get(ClubFounded.TOPIC, 0),
                keys=tuple(key for section in sections for key in section.keys),
                parts=tuple(archive.parts),
            )
            archive.end(manifest)
    return manifest


@contextmanager
def sections_at_one_moment(stored: StoreReader, url: str) -> Iterator[list[Section]]:
    """Yield the sections of the store at one moment, the events last. Raises :class:`NoStore`."""
    with ExitStack() as stack:
        yield _sqlite_sections(stored, url, stack) if stored.files else _postgres_sections(stored, stack)


def _sqlite_sections(stored: StoreReader, url: str, stack: ExitStack) -> list[Section]:
    if not stored.files[0].exists():
        raise NoStore(f"there is no store {stored.files[0]}: set KNACKA_DATABASE_URL to an existing one")
    sections = []
    if names_file(url).exists():
        engine = engine_for(url, what=NAMES, pragmas=PRAGMAS)
        stack.callback(engine.dispose)
        names = stack.enter_context(engine_for_writes(engine).connect())
        # Reading the tables locks the names.
        sections.append(Section(names, existing_parts(names, parts_of_names())))
    if stored.files[1].exists():
        projections = stack.enter_context(stored.projections.connect())
        # Reading the tables begins the transaction.
        sections.append(Section(projections, *complete_projections(projections)))
    events = stack.enter_context(stored.events.connect())
    sections.append(Section(events, existing_parts(events, parts_of_events(stored))))
    return sections


def _postgres_sections(stored: StoreReader, stack: ExitStack) -> list[Section]:
    events = stack.enter_context(stored.events.connect())
    moment = events.scalar(text("SELECT pg_export_snapshot()"))
    without_limits(events)
    others = stack.enter_context(stored.events.connect())
    others.exec_driver_sql(f"SET TRANSACTION SNAPSHOT '{moment}'")
    without_limits(others)
    projections, keys = complete_projections(others)
    return [
        Section(others, (*existing_parts(others, parts_of_names()), *projections), keys),
        Section(events, existing_parts(events, parts_of_events(stored))),
    ]
