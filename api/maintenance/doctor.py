"""``knacka doctor``: finds faults in the settings, the store and its projections, and names the remedies."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy import Connection, Engine, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from api.maintenance.damaged_rows import damaged_rows
from api.maintenance.raw_store import SET_ASIDE, StoreReader, one_line_message
from api.runtime.checkpoint_file import CheckpointFile, extends_checkpoint, file_for
from api.runtime.projections import all_projections, match_projections
from api.settings import PREFIX, Settings, SettingsError, from_environment
from projections.follow.engine import DamagedCell
from projections.follow.follow import Projection
from projections.follow.locks import is_followed
from projections.log import Log
from referee.log.facts import LogSigned
from referee.store.clock import ClockWrong, utc_now
from referee.store.damaged import NotInstalled
from referee.store.log import LOG_ID
from referee.store.rows import OlderStore

FREE_BYTES_MIN = 256 * 2**20
"""Room for a rebuild, which writes the projections a second time."""
PROGRESS_SECONDS = 2.0
"""Seconds within which a projection that is behind the log must advance."""
NAMED_MAX = 20
"""Maximum matches to look up for each table, and damaged rows to report."""
POSTGRESQL_VERSION_MIN = 13

Problems = Iterator[str]
"""Lines, each with a fault and its remedy."""


def doctor(environment: Mapping[str, str], say: Callable[[str], None]) -> int:
    """Pass each line of :func:`problems` to ``say``. Return the exit code: 0 without faults, else 1."""
    wrong = 0
    for problem in problems(environment):
        wrong += 1
        say(problem)
    if not wrong:
        say("no faults found")
    return 1 if wrong else 0


def problems(environment: Mapping[str, str]) -> Problems:
    """Check the settings in ``environment``, the clock and the store."""
    yield from _check_setting_names(environment)
    yield from _check_clock()
    try:
        settings = from_environment({name: value for name, value in environment.items() if name in _setting_names()})
        stored = StoreReader(settings.database_url)
    except SettingsError as error:
        linked = any(environment.get(name, "").startswith("tcp://") for name in _setting_names())
        yield f"{error}{': Kubernetes sets it, set enableServiceLinks to false' if linked else ''}"
        return
    except ValueError as error:  # the URL names no store, or no file
        yield f"{PREFIX}DATABASE_URL: {error}"
        return
    with closing(stored):
        yield from _check_sqlite(stored) if stored.files else _check_postgres(stored)
        yield from _check_log(settings, stored)


def _setting_names() -> tuple[str, ...]:
    return tuple(PREFIX + name.upper() for name in Settings.__struct_fields__)


def _check_setting_names(environment: Mapping[str, str]) -> Problems:
    for name in sorted(environment):
        # Kubernetes sets KNACKA_SERVICE_… and KNACKA_PORT_… for a Service that is called knacka.
        if (
            name.startswith(PREFIX)
            and name not in _setting_names()
            and not re.match(rf"{PREFIX}(SERVICE|PORT)_", name)
        ):
            near = get_close_matches(name, _setting_names(), 1, 0.8)
            yield f"{name}: unknown setting: {f'use {near[0]}' if near else 'see `knacka serve --help`'}"


def _check_clock() -> Problems:
    try:
        utc_now()
    except ClockWrong as wrong:
        yield f"{wrong}: set the clock (`timedatectl set-ntp true`): until then the service records nothing"


def _check_sqlite(stored: StoreReader) -> Problems:
    events, books = stored.files
    if not events.exists():
        yield (
            f"there is no file {events}: `knacka serve` creates it at its first start; if it existed before, "
            f"correct {PREFIX}DATABASE_URL or restore it from a backup"
        )
        return
    for file in (events, books):
        if file.exists():
            yield from _check_file(file)
    yield from _check_directory(events.absolute().parent)
    if faults := list(_check_integrity(stored.events, events, "restore it from a backup (deploy/backup.md)")):
        yield from faults
        return
    remake = f"stop the service, delete {books} and start it: it builds the projections again"
    yield from _check_content(stored, _check_integrity(stored.projections, books, remake) if books.exists() else ())


def _check_file(file: Path) -> Problems:
    if not file.is_file():
        yield f"{file} is not a file: set {PREFIX}DATABASE_URL to one"
        return
    for one in (file, *(file.with_name(file.name + more) for more in ("-wal", "-shm"))):
        try:
            mode = one.stat().st_mode
        except OSError:
            continue
        if mode & 0o007:
            yield f"{one} can be read by all users of this machine: chmod 600 {one}"
    if not os.access(file, os.R_OK | os.W_OK):
        yield f"{file} cannot be read and written by this user: chown it to the user that runs the service"


def _check_directory(directory: Path) -> Problems:
    if not os.access(directory, os.W_OK | os.X_OK):
        yield f"{directory} cannot be written by this user, but SQLite must create files there: chown or chmod it"
    free = shutil.disk_usage(directory).free
    if free < FREE_BYTES_MIN:
        yield f"{directory} has {free // 2**20} MiB left: free some space, or acts will be refused"


def _check_integrity(engine: Engine, file: Path, remedy: str) -> Problems:
    try:
        with engine.connect() as connection:
            said = list(connection.execute(text("PRAGMA integrity_check(3)")).scalars())
    except (SQLAlchemyError, OSError) as error:
        yield f"{file} cannot be read: {one_line_message(error)}: {remedy}"
        return
    if said != ["ok"]:
        yield f"{file} is damaged: {' '.join(' '.join(said).split())}: {remedy}"


REMEDIES = {
    "password": f"correct the password in {PREFIX}DATABASE_URL",
    "database .* does not exist": "create the database (createdb), or name an existing one",
    "role .* does not exist": "create the user (createuser), or name an existing one",
    "pg_hba": "allow this host in pg_hba.conf",
    "": f"check that it runs and that {PREFIX}DATABASE_URL names its host and port",
}
"""Remedies by a pattern in PostgreSQL's message, because refused connections have no error code."""

SERVER_QUERY = text(
    "SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,"
    " pg_encoding_to_char(encoding) AS encoding, pg_is_in_recovery() AS standby,"
    " current_setting('default_transaction_read_only') AS read_only,"
    " trim('\"' FROM current_setting('search_path')) AS named, current_schema() AS schema,"
    " has_schema_privilege(current_schema(), 'CREATE') AS may_create, current_user AS role"
    " FROM pg_database WHERE datname = current_database()"
)
FUNCTION_MISSING_QUERY = text(
    "SELECT NOT EXISTS (SELECT FROM pg_proc WHERE proname = 'referee_events_store'"
    " AND pronamespace = current_schema()::regnamespace)"
)
TABLES_OF_OTHERS_QUERY = text(
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
    " AND (relname LIKE 'referee\\_%' OR relname LIKE 'book\\_%') AND NOT pg_has_role(relowner, 'USAGE')"
    " ORDER BY relname"
)


def _check_postgres(stored: StoreReader) -> Problems:
    try:
        with stored.events.connect() as connection:
            faults = list(_check_server(connection))
            yield from faults
            if not faults and connection.scalar(FUNCTION_MISSING_QUERY):
                yield "there is no function referee_events_store: start `knacka serve`, which creates it"
    except SQLAlchemyError as error:
        said = one_line_message(error)
        remedy = next(remedy for words, remedy in REMEDIES.items() if re.search(words, said))
        yield f"PostgreSQL cannot be queried: {said}: {remedy}"
        return
    if not faults:
        yield from _check_content(stored)


def _check_server(connection: Connection) -> Problems:
    said = connection.execute(SERVER_QUERY).one()
    if said.number < POSTGRESQL_VERSION_MIN * 10_000:
        yield f"PostgreSQL has version {said.version}: use {POSTGRESQL_VERSION_MIN} or later"
    if said.encoding != "UTF8":
        yield f"the database is in {said.encoding}: use one in UTF8 (createdb --encoding=UTF8 --template=template0)"
    if said.standby:
        yield f"the server is a read-only standby: set {PREFIX}DATABASE_URL to the primary, or promote this one"
    elif said.read_only == "on":
        yield "the database is read-only: set default_transaction_read_only to off"
    if said.schema is None:
        yield f"there is no schema {said.named} that {said.role} may use: create it, and GRANT USAGE, CREATE on it"
        return
    if not said.may_create:
        grant = f"GRANT CREATE ON SCHEMA {said.schema} TO {said.role}"
        yield f"{said.role} may not create tables in schema {said.schema}: {grant}"
    for name in connection.scalars(TABLES_OF_OTHERS_QUERY):
        change = f"ALTER TABLE {name} OWNER TO {said.role}"
        yield f"table {name} is not owned by {said.role}, who cannot repair or rebuild it: {change}"


def _check_content(stored: StoreReader, faults_of_projections: Iterable[str] = ()) -> Problems:
    """Check the projections only without ``faults_of_projections``."""
    yield from _check_tables(stored)
    yield from _check_rows(stored)
    faults = list(faults_of_projections)
    yield from faults or _check_projections(stored)
    yield from _check_erasures(stored)


def _check_tables(stored: StoreReader) -> Problems:
    with stored.events.connect() as connection:
        there = inspect(connection).get_table_names()
    for table in (stored.rows_table, stored.snapshots_table):
        if table.name not in there:
            yield f"there is no table {table.name}: start `knacka serve` once, or name a store of Knacka"


def _check_rows(stored: StoreReader) -> Problems:
    with stored.events.connect() as connection:
        if not inspect(connection).has_table(stored.rows_table.name):
            return
    try:
        stored.check_release()
        stored.check_games()
    except (NotInstalled, OlderStore) as unreadable:
        yield str(unreadable)
        return
    damaged = damaged_rows(stored)
    for kind, row in islice(damaged, NAMED_MAX):
        yield (
            f"event {row.number} of {kind} {row.aggregate_id} {row.what}: restore its row from a backup "
            f"(deploy/backup.md), then run `knacka verify {row.aggregate_id}`"
        )
    if more := sum(1 for _ in damaged):
        yield f"{more} more rows are missing or cannot be read: run `knacka verify`, which names them"


def _check_projections(stored: StoreReader) -> Problems:
    try:
        head, positions, tables = stored.last_position(), stored.positions(), stored.projection_tables()
        aside: list[Any] = []
        if SET_ASIDE.name in tables:
            with stored.projections.connect() as connection:
                aside += connection.execute(select(SET_ASIDE))
    except SQLAlchemyError as error:
        yield f"the projections cannot be read: {one_line_message(error)}: `knacka rebuild` builds them again"
        return
    except DamagedCell as damaged:
        yield f"the projections' set-aside matches cannot be read: {damaged}: `knacka rebuild` builds all again"
        return
    existing = []
    for projection in match_projections():
        if projection.key in positions and tables.issuperset(projection.metadata.tables):
            existing.append(projection)
        else:
            yield f"there is no projection {projection.name}: `knacka rebuild` or the next `knacka serve` builds it"
    yield from _check_set_aside(aside)
    for projection in existing:
        yield from _check_origin(stored, projection, positions[projection.key], head)
    yield from _check_progress(stored, positions, head)


def _projection_names_by_key() -> dict[str, str]:
    return {projection.key: projection.name for projection in all_projections()}


def _check_set_aside(rows: Sequence[Any]) -> Problems:
    names = _projection_names_by_key()
    for row in rows:
        if row.book in names:
            match, why = UUID(row.match), " ".join(row.error.split())
            yield (
                f"projection {names[row.book]} has set match {match} aside at event {row.event}: {why}: "
                f"run `knacka verify {match}`, and repair the row"
            )


def _check_origin(stored: StoreReader, projection: Projection, position: int, head: int) -> Problems:
    """Yield a line if the projection was not made from this log."""
    if position > head:
        yield (
            f"projection {projection.name} is at position {position}, but the log ends at {head}: the log is an "
            f"older backup, or the projections belong to a different store: `knacka rebuild {projection.name}`"
        )
    elif unknown := _unknown_match(stored, projection):
        yield (
            f"projection {projection.name} has match {UUID(unknown)}, but the store does not: the projections belong "
            f"to a different store: `knacka rebuild {projection.name}`"
        )


def _check_progress(stored: StoreReader, positions: Mapping[str, int], head: int) -> Problems:
    """Yield a line for each projection that is behind the log but does not advance while a service runs."""
    if all(position >= head for position in positions.values()) or not is_followed(
        stored.projections, _projections_file(stored)
    ):
        return
    time.sleep(PROGRESS_SECONDS)
    now = stored.positions()
    for key, name in _projection_names_by_key().items():
        if positions.get(key, head) < head and now.get(key) == positions[key]:
            yield (
                f"projection {name} has stopped at position {positions[key]}, but the log ends at {head}: see "
                f"/health/ready and the log of the running service"
            )


def _check_erasures(stored: StoreReader) -> Problems:
    """Yield a line if the names cannot be read, or their files may contain erased data while no service runs."""
    try:
        left = stored.is_rewriting_due() and not is_followed(stored.projections, _projections_file(stored))
    except (SQLAlchemyError, OSError) as error:
        yield f"the names cannot be read: {one_line_message(error)}: restore them from a backup (deploy/backup.md)"
        return
    if left:
        yield "the files of the names may still hold erased data: start `knacka serve`, which rewrites them"


def _projections_file(stored: StoreReader) -> Path | None:
    return stored.files[1] if stored.files else None


def _check_log(settings: Settings, stored: StoreReader) -> Problems:
    """Check the file of the last checkpoint, and that the log extends it. Check nothing without a log key."""
    if not settings.log_key:
        return
    file = file_for(settings.database_url, settings.log_file)
    if file is None:
        yield (
            f"the last signed checkpoint is not stored in a file, so a store restored to an older state would be "
            f"signed again: set {PREFIX}LOG_FILE"
        )
        return
    try:
        kept = CheckpointFile(file).read()
    except (ValueError, OSError) as error:
        yield f"{file} cannot be read as a checkpoint, so nothing is signed: {error}: restore it from a backup"
        return
    projection = Log()
    try:
        if kept is None and stored.has_event_after(LOG_ID.hex, 0, LogSigned.TOPIC):
            yield (
                f"{file} is missing, though the log was signed: the store may be an older one. Compare it with a "
                f"checkpoint that a client has (GET /v1/log/consistency). The service writes the file again"
            )
        if kept is None or projection.key not in stored.positions():  # checkpoint or projection is missing
            return
        with stored.projections.connect() as connection:
            size = projection.size(connection)
            if extends_checkpoint(connection, projection, size, kept):
                return
        if size < kept.size and (size := stored.count_rows()) >= kept.size:
            return  # only the projection is behind
    except (SQLAlchemyError, FileNotFoundError):
        return  # other checks report it
    yield (
        f"the log has {size} rows and does not extend the checkpoint of {kept.size} rows in {file}: the store is an "
        f"older backup or a different one, and nothing is signed. Restore the newer store. If its rows are lost, "
        f"warn the holders of checkpoints, set a new {PREFIX}LOG_ORIGIN and key, and delete the file"
    )


def _unknown_match(stored: StoreReader, projection: Projection) -> str | None:
    """Return the id of a match that the projection has but the store lacks, or None.

    Look up at most :data:`NAMED_MAX` matches of each table.
    """
    for ids in stored.ids_per_table(projection):
        some = list(islice(ids, NAMED_MAX))
        with stored.events.connect() as connection:
            this = stored.rows_table.c.originator_id
            found = connection.scalars(select(this).where(this.in_(some)).distinct())
            known = {str(one).replace("-", "") for one in found}
        if unknown := [one for one in some if one not in known]:
            return unknown[0]
    return None
