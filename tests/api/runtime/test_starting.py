"""A start without a store reports the obstacle in one line, and waits if it may be temporary."""

import os
import resource
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

import httpx
import pytest
from eventsourcing.persistence import OperationalError

from api import cli, startup
from api.server import UNANSWERED
from tests.demo.ports import free_port
from tests.support.failing_proxy import Proxy, target_of
from tests.support.forked_processes import Forked
from tests.support.paths import ROOT
from tests.support.running_service import START_SECONDS_MAX, is_ready, running

CONNECT = sqlite3.connect


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that returns the error of ``knacka serve``, which ends before it serves."""

    def start(url: str, wait_seconds: float = 60) -> str:
        monkeypatch.setenv("KNACKA_DATABASE_URL", url)
        monkeypatch.setenv("KNACKA_START_WAIT_SECONDS", str(wait_seconds))
        began = time.monotonic()
        assert cli.main(["serve"]) == cli.NOT_STARTED
        assert time.monotonic() - began < 30, "it did not wait"
        said = capsys.readouterr().err
        assert said.endswith("\n")
        assert len(said.splitlines()) == 1
        return said

    return start


class TestInOneLine:
    @pytest.mark.parametrize(
        ("file", "says"),
        [
            ("/nowhere/knacka.db", "the store (/nowhere/knacka.db) cannot be used: unable to open database file"),
            ("{}", "cannot be used: unable to open database file"),
            ("{}/text.db", "text.db) cannot be used: file is not a database"),
        ],
    )
    def test_a_file_that_cannot_be(self, started: Callable[..., str], tmp_path: Path, file: str, says: str) -> None:
        (tmp_path / "text.db").write_text("This is a letter to somebody, and no database.\n" * 10)
        assert says in started(f"sqlite:///{file.format(tmp_path)}")

    def test_a_file_that_may_only_be_read(
        self, started: Callable[..., str], sqlite_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        startup.open_once(sqlite_url)

        def read_only(file: Any = None, **more: Any) -> sqlite3.Connection:
            return CONNECT(f"file:{file}?mode=ro", uri=True) if file else CONNECT(**more)

        monkeypatch.setattr("api.startup.sqlite3.connect", read_only)  # the tests may run as root
        assert "attempt to write a readonly database" in started(sqlite_url)

    def test_a_full_disk(self, tmp_path: Path) -> None:
        def no_more_bytes() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

        environment = {"KNACKA_DATABASE_URL": f"sqlite:///{tmp_path}/knacka.db", "PATH": "/usr/bin:/bin"}
        command = [sys.executable, "-B", "-m", "api", "serve"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=30, preexec_fn=no_more_bytes
        )
        assert done.returncode == cli.NOT_STARTED
        assert len(done.stderr.splitlines()) == 1, done.stderr
        assert "knacka.db) cannot be used: " in done.stderr

    def test_a_database_that_is_not_there(self, started: Callable[..., str], empty_postgres_url: str) -> None:
        assert 'database "nothing" does not exist' in started(_database(empty_postgres_url, "nothing"))

    def test_a_user_whom_no_one_knows(self, started: Callable[..., str], empty_postgres_url: str) -> None:
        assert 'role "unheard_of" does not exist' in started(empty_postgres_url.replace("//knacka:", "//unheard_of:"))

    def test_a_schema_that_is_not_there(self, started: Callable[..., str], empty_postgres_url: str) -> None:
        assert 'schema "club" does not exist' in started(f"{empty_postgres_url}&schema=club")

    def test_a_server_that_is_not_there_is_waited_for(
        self, started: Callable[..., str], caplog: pytest.LogCaptureFixture
    ) -> None:
        said = started(f"postgresql://knacka:secret@127.0.0.1:{free_port()}/knacka", wait_seconds=1)
        assert "Connection refused" in said
        assert "secret" not in said + caplog.text
        (body,) = caplog.messages
        assert body.startswith(
            "waited 0 of 1 s for the store: the store (PostgreSQL) cannot be used: connection failed"
        )

    @pytest.mark.parametrize(
        ("says", "lasts"),
        [
            ('FATAL:  password authentication failed for user "knacka"', True),
            ("fe_sendauth: no password supplied", True),
            ('FATAL:  no pg_hba.conf entry for host "10.0.0.1"', True),
            ("Connection refused\n\tIs the server running?", False),
            ("connection timeout expired", False),
            ("FATAL:  the database system is starting up", False),
            ("FATAL:  sorry, too many clients already", False),
            ("failed to resolve host 'db': [Errno -2] Name or service not known", False),
        ],
    )
    def test_the_start_waits_only_for_errors_that_pass(
        self, monkeypatch: pytest.MonkeyPatch, says: str, lasts: bool
    ) -> None:
        tries = 0

        def open_once(_: str) -> None:
            nonlocal tries
            tries += 1
            if tries == 1:
                raise OperationalError(says)

        monkeypatch.setattr(startup, "open_once", open_once)
        monkeypatch.setattr(startup, "TRY_SECONDS", 0)
        if lasts:
            with pytest.raises(OperationalError):
                startup.await_store("postgresql://h/db", 60)
        else:
            startup.await_store("postgresql://h/db", 60)
            assert tries == 2

    @pytest.mark.parametrize("command", [["rebuild"], ["verify", "00000000-0000-0000-0000-000000000000"]])
    def test_other_commands(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
    ) -> None:
        monkeypatch.setenv("KNACKA_DATABASE_URL", "sqlite:////nowhere/knacka.db")
        assert cli.main(command) == cli.NOT_STARTED
        said = capsys.readouterr().err
        assert said.startswith("the store (/nowhere/knacka.db) cannot be used: ")
        assert said.count("\n") == 1


def _database(url: str, name: str) -> str:
    before, _, after = url.partition("@/")
    return f"{before}@/{name}?{after.partition('?')[2]}"


class TestSignals:
    @pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
    def test_it_can_be_stopped_while_it_waits(self, how: signal.Signals, code: int) -> None:
        with _serving(f"postgresql://127.0.0.1:{free_port()}/knacka") as (process, said):
            assert "waited 0 of" in said.readline()
            process.send_signal(how)
            assert "Traceback" not in said.read()
            assert process.wait(10) == code

    def test_it_starts_when_the_store_is_there_and_ends_without_a_word(self, empty_postgres_url: str) -> None:
        with Proxy(target_of(empty_postgres_url)) as proxy:
            port = free_port()
            proxy.refuse()
            with _serving(proxy.url(empty_postgres_url), port) as (process, said):
                assert "waited 0 of" in said.readline()
                proxy.forward()
                until = time.monotonic() + START_SECONDS_MAX
                while not is_ready(port):
                    assert time.monotonic() < until
                    time.sleep(0.05)
                process.send_signal(signal.SIGINT)
                assert "Traceback" not in said.read()
                assert process.wait(10) == 130


@contextmanager
def _serving(url: str, port: int = 0) -> Iterator[tuple[Forked, TextIO]]:
    """Yield the service process and its stderr."""
    environment = {"KNACKA_DATABASE_URL": url, "KNACKA_PORT": str(port), "KNACKA_LOG_LEVEL": "warning"}
    read, write = os.pipe()
    process = Forked(["serve"], cwd=ROOT, env=environment, stdout=1, stderr=write, umask=0o022)
    os.close(write)
    try:
        with open(read) as said:
            yield process, said
    finally:
        process.kill()


LOSES = """
import gc, os, signal, sys
from sqlite3 import OperationalError
from api import cli, startup

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

def open_once(_):
    Finalized()
    raise OperationalError("database is locked")

startup.open_once = open_once
sys.exit(cli.main(["serve"]))
"""


def test_an_interrupt_that_meets_a_finalizer_is_not_lost(tmp_path: Path) -> None:
    """Python prints and drops an exception from a ``__del__``. A ``KeyboardInterrupt`` there would not end the
    service."""
    done = subprocess.run(
        [sys.executable, "-B", "-c", LOSES],
        cwd=ROOT,
        env={**os.environ, "KNACKA_DATABASE_URL": f"sqlite:///{tmp_path}/k.db", "KNACKA_START_WAIT_SECONDS": "5"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, "")


HANGS = """
import asyncio, logging, sys, time
from litestar import Litestar, get
import api.server as served

@get("/task")
async def task() -> None:
    print("here", flush=True)
    await asyncio.sleep(60)

@get("/loop")
async def loop() -> None:
    print("here", flush=True)
    for _ in range(600):  # a signal just before a single long sleep is handled after the sleep
        time.sleep(0.1)

served.GRACE_SECONDS, served.END_SECONDS = 0.5, 2
logging.basicConfig(stream=sys.stderr)
server = served.Server(served.config_of(Litestar([task, loop], logging_config=None), "127.0.0.1", int(sys.argv[1])))
server.config.timeout_graceful_shutdown = 1
server.run()
"""


ASKS = """
import sys, time, urllib.error, urllib.request
for _ in range(200):
    try:
        urllib.request.urlopen(sys.argv[1])
        break
    except urllib.error.HTTPError:
        break
    except urllib.error.URLError as error:
        if not isinstance(error.reason, ConnectionRefusedError):
            break
        time.sleep(0.05)
"""


@pytest.mark.parametrize("path", ["task", "loop"])
def test_whatever_hangs_it_ends_and_says_how_many_are_left_without_an_answer(path: str) -> None:
    port = free_port()
    serve = [sys.executable, "-B", "-c", HANGS, str(port)]
    ask = [sys.executable, "-c", ASKS, f"http://127.0.0.1:{port}/{path}"]
    with (
        subprocess.Popen(serve, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process,
        subprocess.Popen(ask, stderr=subprocess.DEVNULL),
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGTERM)
        said = process.stderr.read()
        assert process.wait(10) == UNANSWERED
        assert "1 requests unanswered" in said


def test_the_log_begins_with_the_address_of_the_reference(sqlite_url: str, tmp_path: Path) -> None:
    with (
        (tmp_path / "log").open("wb") as log,
        running(sqlite_url, log=log, KNACKA_LOG_LEVEL="info") as process,
    ):
        first = (tmp_path / "log").read_text().splitlines()[0]
        assert first.endswith(f" reference of the API: {process.address}/docs")
        assert httpx.get(first.rpartition(" ")[2]).status_code == 200
