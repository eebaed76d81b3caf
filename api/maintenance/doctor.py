"""``knacka doctor``: what is wrong with the settings, the store and its books, in words, and what to do about it."""

import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from uuid import UUID

from sqlalchemy import Connection, Engine, inspect, select, text
from sqlalchemy.exc import SQLAlchemyError

from api.maintenance.damaged_rows import damages
from api.maintenance.raw_store import ASIDE, Stored, one_line
from api.runtime.checkpoint_file import CheckpointFile, extends, file_for
from api.runtime.projections import all_projections, match_projections
from api.settings import PREFIX, Settings, SettingsError, from_environment
from projections.follow.engine import DamagedCell
from projections.follow.follow import Book
from projections.follow.locks import is_followed
from projections.log import Log
from referee.log.facts import LogSigned
from referee.store.clock import ClockWrong, utc_now
from referee.store.log import LOG_ID
from referee.store.rows import OlderStore

FREE_BYTES_MIN = 256 * 2**20
"""Less free space than this will not last: a rebuild writes the books a second time."""
LOOK_SECONDS = 2.0
"""How long books that are behind have to move."""
NAMED_MAX = 20
"""Matches of each book that are looked for in the store, and damaged rows that are named."""
VERSION_MIN = 13
"""Of PostgreSQL: the oldest that was still mended when this was written."""

Problems = Iterator[str]


def doctor(environment: Mapping[str, str], say: Callable[[str], None]) -> int:
    """Says what is wrong, a line each. The exit code: 0 if nothing is, else 1."""
    wrong = 0
    for problem in problems(environment):
        wrong += 1
        say(problem)
    if not wrong:
        say("nothing wrong")
    return 1 if wrong else 0


def problems(environment: Mapping[str, str]) -> Problems:
    """What is wrong."""
    yield from _check_names(environment)
    yield from _check_clock()
    try:
        settings = from_environment({name: value for name, value in environment.items() if name in _names()})
        stored = Stored(settings.database_url)
    except SettingsError as error:
        linked = any(environment.get(name, "").startswith("tcp://") for name in _names())
        yield f"{error}{': Kubernetes sets it, set enableServiceLinks to false' if linked else ''}"
        return
    except ValueError as error:  # a store that can have no books
        yield f"{PREFIX}DATABASE_URL: {error}"
        return
    try:
        yield from _check_sqlite(stored) if stored.files else _check_postgres(stored)
        yield from _check_log(settings, stored)
    finally:
        stored.close()


# Settings


def _names() -> tuple[str, ...]:
    return tuple(PREFIX + name.upper() for name in Settings.__struct_fields__)


def _check_names(environment: Mapping[str, str]) -> Problems:
    for name in sorted(environment):
        # Kubernetes makes up some for a Service that has our name.
        if name.startswith(PREFIX) and name not in _names() and not re.match(rf"{PREFIX}(SERVICE|PORT)_", name):
            near = get_close_matches(name, _names(), 1, 0.8)
            yield f"{name}: there is no such setting{f', but {near[0]}' if near else ': see deploy/env.example'}"


# The clock


def _check_clock() -> Problems:
    try:
        utc_now()
    except ClockWrong as wrong:
        yield f"{wrong}: set it (`timedatectl set-ntp true`), since the service records nothing until then"


# SQLite


def _check_sqlite(stored: Stored) -> Problems:
    events, books = stored.files
    if not events.exists():
        yield (
            f"there is no file {events}: `knacka serve` creates it when it first starts; if there was one, "
            f"{PREFIX}DATABASE_URL names another place, or it has to be restored from a backup"
        )
        return
    for file in (events, books):
        if file.exists():
            yield from _check_file(file)
    yield from _check_directory(events.absolute().parent)
    store_intact = True
    for problem in _check_integrity(stored.events, events, "restore it from a backup (deploy/backup.md)"):
        store_intact = False
        yield problem
    if not store_intact:
        return
    yield from _check_tables(stored)
    yield from _check_rows(stored)
    remake = f"stop the service, delete {books} and start it: the books are made anew"
    books_intact = True
    for problem in _check_integrity(stored.books, books, remake) if books.exists() else ():
        books_intact = False
        yield problem
    if books_intact:
        yield from _check_projections(stored)
    yield from _check_erasures(stored)


def _check_file(file: Path) -> Problems:
    """Who may read and write it."""
    if not file.is_file():
        yield f"{file} is no file: {PREFIX}DATABASE_URL has to name one"
        return
    for one in (file, *(file.with_name(file.name + more) for more in ("-wal", "-shm"))):
        try:
            mode = one.stat().st_mode
        except OSError:
            continue
        if mode & 0o007:
            yield f"{one} can be read by everybody on this machine: chmod 600 {one}"
    if not os.access(file, os.R_OK | os.W_OK):
        yield f"{file} cannot be read and written by this user: give it to the user that runs the service"


def _check_directory(directory: Path) -> Problems:
    if not os.access(directory, os.W_OK | os.X_OK):
        yield f"{directory} cannot be written by this user, and SQLite has to create files in it"
    free = shutil.disk_usage(directory).free
    if free < FREE_BYTES_MIN:
        yield f"{directory} has {free // 2**20} MiB left: make room, or acts will be refused"


def _check_integrity(engine: Engine, file: Path, remedy: str) -> Problems:
    try:
        with engine.connect() as connection:
            said = list(connection.execute(text("PRAGMA integrity_check(3)")).scalars())
    except (SQLAlchemyError, OSError) as error:
        yield f"{file} cannot be read: {one_line(error)}: {remedy}"
        return
    if said != ["ok"]:
        yield f"{file} is damaged: {' '.join(' '.join(said).split())}: {remedy}"


# PostgreSQL

REMEDIES = {
    "password": f"mend the password in {PREFIX}DATABASE_URL",
    "database .* does not exist": "create the database (createdb), or name another one",
    "role .* does not exist": "create the user (createuser), or name another one",
    "pg_hba": "let this host in, in pg_hba.conf",
    "": f"see that it runs and that {PREFIX}DATABASE_URL names its host and port",
}
"""What to do, by what PostgreSQL says when it lets nobody in; while connecting it gives no code."""

SERVER_FACTS = text(
    "SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS number,"
    " pg_encoding_to_char(encoding) AS encoding, pg_is_in_recovery() AS standby,"
    " current_setting('default_transaction_read_only') AS read_only,"
    " trim('\"' FROM current_setting('search_path')) AS named, current_schema() AS schema,"
    " has_schema_privilege(current_schema(), 'CREATE') AS may_create, current_user AS role"
    " FROM pg_database WHERE datname = current_database()"
)
FUNCTION_MISSING = text(
    "SELECT NOT EXISTS (SELECT FROM pg_proc WHERE proname = 'referee_events_store'"
    " AND pronamespace = current_schema()::regnamespace)"
)
NOT_OWNED = text(
    "SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'"
    " AND (relname LIKE 'referee\\_%' OR relname LIKE 'book\\_%') AND NOT pg_has_role(relowner, 'USAGE')"
    " ORDER BY relname"
)


def _check_postgres(stored: Stored) -> Problems:
    try:
        with stored.events.connect() as connection:
            usable = True
            for problem in _check_server(connection):
                usable = False
                yield problem
            if usable and connection.scalar(FUNCTION_MISSING):
                yield "there is no function referee_events_store: `knacka serve` creates it when it starts"
    except SQLAlchemyError as error:
        said = one_line(error)
        remedy = next(remedy for words, remedy in REMEDIES.items() if re.search(words, said))
        yield f"PostgreSQL cannot be asked: {said}: {remedy}"
        return
    if usable:
        yield from _check_tables(stored)
        yield from _check_rows(stored)
        yield from _check_projections(stored)
        yield from _check_erasures(stored)


def _check_server(connection: Connection) -> Problems:
    said = connection.execute(SERVER_FACTS).one()
    if said.number < VERSION_MIN * 10_000:
        yield f"PostgreSQL is of version {said.version}: take {VERSION_MIN} or later"
    if said.encoding != "UTF8":
        yield f"the database is in {said.encoding}: make one in UTF8 (createdb --encoding=UTF8 --template=template0)"
    if said.standby:
        yield "the server is a standby, which takes no acts: name the primary, or promote this one"
    elif said.read_only == "on":
        yield "the database takes no changes: default_transaction_read_only is on"
    if said.schema is None:
        yield f"there is no schema {said.named} that {said.role} may use: create it, and GRANT USAGE, CREATE on it"
        return
    if not said.may_create:
        grant = f"GRANT CREATE ON SCHEMA {said.schema} TO {said.role}"
        yield f"{said.role} may create no tables in schema {said.schema}: {grant}"
    for name in connection.scalars(NOT_OWNED):
        change = f"ALTER TABLE {name} OWNER TO {said.role}"
        yield f"table {name} is not {said.role}'s, who could not mend or rebuild it: {change}"


# Both


def _check_tables(stored: Stored) -> Problems:
    with stored.events.connect() as connection:
        there = inspect(connection).get_table_names()
    for table in (stored.rows_table, stored.snapshots_table):
        if table.name not in there:
            yield f"there is no table {table.name}: nothing was ever stored here, or it is no store of Knacka"


def _check_rows(stored: Stored) -> Problems:
    with stored.events.connect() as connection:
        if not inspect(connection).has_table(stored.rows_table.name):
            return
    try:
        stored.refuse_older()
    except OlderStore as older:
        yield str(older)
        return
    more = 0
    for place, (kind, row) in enumerate(damages(stored)):
        if place >= NAMED_MAX:
            more += 1
            continue
        yield (
            f"event {row.number} of {kind} {row.aggregate_id} {row.what}: restore its row from a backup "
            f"(deploy/backup.md), and then see `knacka verify {row.aggregate_id}`"
        )
    if more:
        yield f"{more} more rows are missing or cannot be read: `knacka verify` names them"


def _check_projections(stored: Stored) -> Problems:
    try:
        head, before = stored.head(), stored.positions()
        with stored.books.connect() as connection:
            there = set(inspect(connection).get_table_names())
            aside = list(connection.execute(select(ASIDE))) if ASIDE.name in there else []
    except FileNotFoundError:
        before, there, aside = {}, set(), []
    except SQLAlchemyError as error:
        yield f"the books cannot be read: {one_line(error)}"
        return
    except DamagedCell as damaged:
        yield f"what the books have set aside cannot be read: {damaged}: `knacka rebuild` builds all of them again"
        return
    books = {book.key: book for book in match_projections()}
    kept = {key: book for key, book in books.items() if key in before and there.issuperset(book.metadata.tables)}
    for key, book in books.items():
        if key not in kept:
            yield f"there is no book {book.name} yet: `knacka rebuild` builds it, or the next start of `knacka serve`"
    names = {book.key: book.name for book in all_projections()}
    for row in aside:
        if row.book in names:
            match, why = UUID(row.match), " ".join(row.error.split())
            yield (
                f"book {names[row.book]} has set match {match} aside at event {row.event}: {why}: "
                f"see `knacka verify {match}`, and mend the row"
            )
    for key, book in kept.items():
        if before[key] > head:
            yield (
                f"book {book.name} has come to position {before[key]}, and the log ends at {head}: the log is of an "
                f"older backup, or the books are another store's: `knacka rebuild {book.name}`"
            )
        elif unknown := _unknown_match(stored, book):
            yield (
                f"book {book.name} tells of match {UUID(unknown)}, and the store has nothing of it: the books are "
                f"another store's: `knacka rebuild {book.name}`"
            )
    if any(position < head for position in before.values()) and is_followed(stored.books, _books_file(stored)):
        time.sleep(LOOK_SECONDS)
        now = stored.positions()
        for key, name in names.items():
            if before.get(key, head) < head and now.get(key) == before[key]:
                yield (
                    f"book {name} stands still at position {before[key]}, and the log ends at {head}: see "
                    f"/health/ready and the log of the service that runs"
                )


def _check_erasures(stored: Stored) -> Problems:
    """Whether an erasure was not finished. While a service runs it finishes them."""
    try:
        left = stored.is_rewriting_due() and not is_followed(stored.books, _books_file(stored))
    except (SQLAlchemyError, OSError) as error:
        yield f"the names cannot be read: {one_line(error)}: restore them from a backup (deploy/backup.md)"
        return
    if left:
        yield "what was erased may still lie in the files of the names: `knacka serve` rewrites them when it starts"


def _books_file(stored: Stored) -> Path | None:
    return stored.files[1] if stored.files else None


def _check_log(settings: Settings, stored: Stored) -> Problems:
    """Whether the log still extends what was signed of it."""
    if not settings.log_key:
        return
    file = file_for(settings.database_url, settings.log_file)
    if file is None:
        yield (
            f"the last signed checkpoint is kept nowhere, so a store that is put back to an older state would be "
            f"signed once more: set {PREFIX}LOG_FILE"
        )
        return
    try:
        kept = CheckpointFile(file).read()
    except (ValueError, OSError) as error:
        yield f"{file} cannot be read as a checkpoint, and nothing is signed: {error}"
        return
    book = Log()
    try:
        if kept is None and stored.has_event_since(LOG_ID.hex, 0, LogSigned.TOPIC):
            yield (
                f"{file} is missing, though the log was signed: compare the store with a checkpoint that somebody "
                f"keeps (GET /v1/log/consistency), for it may be an older one. The service writes the file again"
            )
        if kept is None or book.key not in stored.positions():  # not signed yet, or there are no books yet
            return
        with stored.books.connect() as connection:
            size = book.size(connection)
            if extends(connection, book, size, kept):
                return
        if size < kept.size and (size := stored.count()) >= kept.size:
            return  # the book of the log has not come so far yet
    except (SQLAlchemyError, FileNotFoundError):
        return  # told above
    yield (
        f"the log has {size} rows and does not extend the checkpoint of {kept.size} rows in {file}: the store is an "
        f"older backup or another one, and nothing is signed. Put the newer one back; or, if rows are lost for good, "
        f"tell those who keep checkpoints, take a new {PREFIX}LOG_ORIGIN and key, and delete the file"
    )


def _unknown_match(stored: Stored, book: Book) -> str | None:
    """A match that a book tells of, and of which there is no event."""
    for ids in stored.ids_in(book):
        some = [aggregate_id for aggregate_id, _ in zip(ids, range(NAMED_MAX), strict=False)]
        with stored.events.connect() as connection:
            this = stored.rows_table.c.originator_id
            found = connection.scalars(select(this).where(this.in_(some)).distinct())
            known = {str(one).replace("-", "") for one in found}
        if unknown := [one for one in some if one not in known]:
            return unknown[0]
    return None
