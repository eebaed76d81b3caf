"""The two stores for a harness that can read and harm their file or server."""

import os
import resource
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from uuid import UUID

import psycopg
from eventsourcing.persistence import StoredEvent

from tests.support.databases import Server, postgres_server
from tests.support.running_service import Process, limited

HELD_SECONDS = 2.0
"""Seconds of a fault by default."""
LONG_SECONDS = 12.0
OFTEN_SECONDS = 0.2
"""Seconds between two blows of a repeated fault."""


@dataclass(frozen=True)
class Fault:
    """A fault of a store. ``happens`` returns when it is over. ``until_start``: its effect lasts until the service's
    next start."""

    name: str
    happens: Callable[[Process], None]
    until_start: bool = False


class Store(Protocol):
    """The methods of either store that the harness uses."""

    name: str
    url: str
    """The URL for the service."""

    def rows(self) -> list[StoredEvent]:
        """Yield all rows, by match and number."""

    def faults(self) -> list[Fault]:
        """Return the faults that this store can have."""


def no_more_files(process: Process) -> None:
    """Let the service open no further files for a while."""
    open_now = len(os.listdir(f"/proc/{process.process.pid}/fd"))
    with limited(process, resource.RLIMIT_NOFILE, open_now):
        time.sleep(HELD_SECONDS)


class Sqlite:
    """A store in a file, with the projections' file beside it."""

    name = "SQLite"

    def __init__(self, folder: Path) -> None:
        self.file, self.books = folder / "knacka.db", folder / "knacka-books.db"
        self.url = f"sqlite:///{self.file}"

    def rows(self) -> list[StoredEvent]:
        query = "SELECT originator_id, originator_version, topic, state FROM stored_events ORDER BY 1, 2"
        with closing(sqlite3.connect(f"file:{self.file}?mode=ro", uri=True, timeout=30)) as connection:
            return [StoredEvent(UUID(match), *rest) for match, *rest in connection.execute(query)]

    def faults(self) -> list[Fault]:
        return [
            Fault("file locked by another process", lambda _: self._locked(self.file, HELD_SECONDS)),
            Fault("disk full", self._full),
            Fault("books locked by another process", lambda _: self._locked(self.books, HELD_SECONDS)),
            Fault("nothing can be written", self._unwritable),
            Fault("VACUUM and checkpoints by another process", lambda _: self._tended()),
            Fault("no file can be opened", no_more_files),
            Fault("locked for longer than is waited", lambda _: self._locked(self.file, LONG_SECONDS)),
            Fault("books deleted under it", self._without_books, until_start=True),
        ]

    def _locked(self, file: Path, seconds: float) -> None:
        with closing(sqlite3.connect(file, timeout=30, isolation_level=None)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            time.sleep(seconds)
            connection.execute("ROLLBACK")

    def _full(self, process: Process) -> None:
        """Limit the size of files, so that some rows can still be written, and some cannot."""
        with limited(process, resource.RLIMIT_FSIZE, self.file.with_name("knacka.db-wal").stat().st_size // 2):
            time.sleep(HELD_SECONDS)

    def _unwritable(self, process: Process) -> None:
        with limited(process, resource.RLIMIT_FSIZE, 0):
            time.sleep(HELD_SECONDS)

    def _tended(self) -> None:
        with closing(sqlite3.connect(self.file, timeout=30, isolation_level=None)) as connection:
            for _ in range(4):
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").close()
                connection.execute("VACUUM")
                time.sleep(OFTEN_SECONDS)

    def _without_books(self, process: Process) -> None:
        """Delete the projections' files. Until its next start the service writes into the deleted ones."""
        for path in self.books.parent.glob(f"{self.books.name}*"):
            path.unlink()
        time.sleep(HELD_SECONDS)


ROLE, DATABASE = "knacka_service", "knacka_faults"
SURVIVING = {"fsync": "off", "full_page_writes": "off", "shared_buffers": "32MB"}
"""Settings under which a commit outlives the server, which is killed here, though not the machine."""


class PostgreSQL:
    """A server of its own, and the service as a user without special rights, whom limits hold for."""

    name = "PostgreSQL"

    def __init__(self, server: Server) -> None:
        self._server = server
        postgres = server.postgres
        with psycopg.connect(postgres.url, autocommit=True) as admin:
            admin.execute(f"CREATE ROLE {ROLE} LOGIN")
            admin.execute(f"CREATE DATABASE {DATABASE} OWNER {ROLE}")
        self._admin_url = postgres.url_of(DATABASE)
        self.url = self._admin_url.replace(postgres.user, ROLE, 1)
        self.socket = f"{postgres.host}/.s.PGSQL.{postgres.port}"

    @contextmanager
    def _admin(self) -> Iterator[psycopg.Connection[Any]]:
        with psycopg.connect(self._admin_url, autocommit=True) as connection:
            yield connection

    def rows(self) -> list[StoredEvent]:
        query = "SELECT originator_id, originator_version, topic, state FROM referee_events ORDER BY 1, 2"
        with self._admin() as admin:
            return [StoredEvent(*row) for row in admin.execute(query)]

    def faults(self) -> list[Fault]:
        return [
            Fault("all sessions ended", lambda _: self._to_all("pg_terminate_backend")),
            Fault("server shut down and started", lambda _: self._restarted()),
            Fault("statements cancelled", lambda _: self._to_all("pg_cancel_backend")),
            Fault("table of events locked", lambda _: self._locked("LOCK TABLE referee_events IN EXCLUSIVE MODE")),
            Fault("read only", lambda _: self._read_only()),
            Fault("a session killed, all recovered", lambda _: self._killed()),
            Fault("limit of connections reached", lambda _: self._limited()),
            Fault("disk full", lambda _: self._full()),
            Fault("order of commits held up", lambda _: self._locked(ORDER_OF_COMMITS)),
            Fault("books locked", lambda _: self._locked("LOCK TABLE book_places IN ACCESS EXCLUSIVE MODE")),
            Fault("no file can be opened", no_more_files),
            Fault("table locked against readers", lambda _: self._locked(LOCK)),
            Fault("locked for longer than is waited", lambda _: self._locked(LOCK, LONG_SECONDS)),
        ]

    def _to_all(self, blow: str) -> None:
        with self._admin() as admin:
            until = time.monotonic() + HELD_SECONDS
            while time.monotonic() < until:
                admin.execute(f"SELECT {blow}(pid) FROM pg_stat_activity WHERE usename = '{ROLE}'")
                time.sleep(OFTEN_SECONDS)

    def _restarted(self) -> None:
        self._server.stop(signal.SIGQUIT)
        time.sleep(HELD_SECONDS / 2)
        self._server.start()

    def _killed(self) -> None:
        """Kill a session as a crash would, after which the server ends all others."""
        with self._admin() as admin:
            for (pid,) in admin.execute(f"SELECT pid FROM pg_stat_activity WHERE usename = '{ROLE}' LIMIT 1"):
                os.kill(pid, signal.SIGKILL)
        until = time.monotonic() + 30
        while True:
            try:
                with self._admin():
                    return
            except psycopg.OperationalError:
                assert time.monotonic() < until, "PostgreSQL did not recover"
                time.sleep(0.05)

    def _locked(self, lock: str, seconds: float = HELD_SECONDS) -> None:
        with self._admin() as admin, admin.transaction():
            admin.execute(lock)
            time.sleep(seconds)

    def _read_only(self) -> None:
        with self._admin() as admin:
            admin.execute(f"ALTER DATABASE {DATABASE} SET default_transaction_read_only = on")
            admin.execute(END_SESSIONS)
            time.sleep(HELD_SECONDS)
            admin.execute("SET default_transaction_read_only = off")
            admin.execute(f"ALTER DATABASE {DATABASE} RESET default_transaction_read_only")
            admin.execute(END_SESSIONS)

    def _limited(self) -> None:
        with self._admin() as admin:
            admin.execute(f"ALTER ROLE {ROLE} CONNECTION LIMIT 0")
            admin.execute(END_SESSIONS)
            time.sleep(HELD_SECONDS)
            admin.execute(f"ALTER ROLE {ROLE} CONNECTION LIMIT -1")

    def _full(self) -> None:
        with self._admin() as admin:
            admin.execute(DISK_FULL)
            time.sleep(HELD_SECONDS)
            admin.execute("DROP FUNCTION disk_full CASCADE")


END_SESSIONS = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{ROLE}'"
LOCK = "LOCK TABLE referee_events"
ORDER_OF_COMMITS = "SELECT pg_advisory_xact_lock(hashtextextended('public.referee_events', 0))"
DISK_FULL = """
    CREATE FUNCTION disk_full() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER disk_full BEFORE INSERT ON referee_events EXECUTE FUNCTION disk_full()
"""


@contextmanager
def sqlite() -> Iterator[Sqlite]:
    """Yield a store in a directory of its own."""
    with TemporaryDirectory(prefix="knacka-faults-") as folder:
        yield Sqlite(Path(folder))


@contextmanager
def postgresql() -> Iterator[PostgreSQL]:
    """Yield a store on a server of its own."""
    with postgres_server(SURVIVING) as server:
        yield PostgreSQL(server)


STORES = {store.name: context for store, context in ((Sqlite, sqlite), (PostgreSQL, postgresql))}
