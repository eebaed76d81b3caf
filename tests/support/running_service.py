"""The service on a loopback port: in a thread, or in a process that can be killed."""

import json
import os
import resource
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

import httpx

from api.app import create_app
from api.server import Server, config_of
from api.settings import Settings
from tests.demo.ports import free_port
from tests.support.forked_processes import Forked
from tests.support.paths import ROOT

START_SECONDS_MAX = 60


def is_ready(port: int) -> bool:
    """Return whether a service on this local port reports that it is ready."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=START_SECONDS_MAX)) as connection:
        try:
            connection.request("GET", "/health/ready")
            return connection.getresponse().status == 200
        except (OSError, HTTPException):
            return False


def environment_of(**settings: str) -> dict[str, str]:
    """Return this process's environment with only these settings of the service."""
    return {name: value for name, value in os.environ.items() if not name.startswith("KNACKA_")} | settings


def knacka(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run a ``knacka`` command; return the completed process."""
    with TemporaryFile() as out, TemporaryFile() as err:
        process = Forked(
            arguments, cwd=ROOT, env=environment_of(**settings), stdout=out.fileno(), stderr=err.fileno(), umask=0o022
        )
        try:
            process.wait(60)
        finally:
            process.kill()
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(arguments, process.wait(), out.read().decode(), err.read().decode())


@contextmanager
def served(url: str, *, wait_seconds: float = 1, **settings: Any) -> Iterator[str]:
    """Yield the address of a service in a thread."""
    app = create_app(Settings(database_url=url, **settings), wait_seconds=wait_seconds)
    server = Server(config_of(app, "127.0.0.1", 0))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        deadline = time.monotonic() + START_SECONDS_MAX
        while not server.started:
            assert thread.is_alive(), "the service did not start"
            assert time.monotonic() < deadline, "the service did not start in time"
            time.sleep(0.01)
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        yield f"http://{host}:{port}"
    finally:
        server.should_exit = True
        thread.join(START_SECONDS_MAX)
        assert not thread.is_alive(), "the service did not stop"


class Process:
    """``knacka serve`` in a process of its own."""

    def __init__(
        self,
        url: str,
        port: int = 0,
        log: IO[bytes] | None = None,
        knacka: Sequence[str] = (),
        folder: Path = ROOT,
        **more: str,
    ) -> None:
        """``port``: 0 for a free port. ``log``: the file of its output, if not the output of this process.
        ``knacka``: the program, if not the one of this project. ``folder``: its working directory. ``more``: settings
        by name."""
        self.port = port or free_port()
        self.address = f"http://127.0.0.1:{self.port}"
        metrics_port = free_port()
        self.metrics = f"http://127.0.0.1:{metrics_port}/metrics"
        settings = {
            "KNACKA_DATABASE_URL": url,
            "KNACKA_PORT": str(self.port),
            "KNACKA_METRICS_PORT": str(metrics_port),
            "KNACKA_LOG_LEVEL": "warning",
            "PYTHONFAULTHANDLER": "1",  # a crash prints its stack
            **more,
        }
        started: dict[str, Any] = {"cwd": folder, "env": environment_of(**settings), "umask": 0o022}
        self.process: Forked | subprocess.Popen[bytes]
        if knacka:
            self.process = subprocess.Popen([*knacka, "serve"], stdout=log, stderr=log, **started)
        else:
            out, err = (1, 2) if log is None else (log.fileno(), log.fileno())
            self.process = Forked(["serve"], stdout=out, stderr=err, **started)
        try:
            self._wait_until_ready()
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS_MAX
        while not is_ready(self.port):
            assert self.process.poll() is None, f"the service did not start, it ended with {self.process.poll()}"
            assert time.monotonic() < deadline, "the service did not start in time"
            time.sleep(0.02)

    def end(self, how: signal.Signals, seconds: float) -> int:
        """Send the signal; return the exit code if the process ends within this many seconds."""
        self.process.send_signal(how)
        return self.process.wait(seconds)


@contextmanager
def running(url: str, knacka: Sequence[str] = (), **settings: Any) -> Iterator[Process]:
    """Yield a service process, which is killed after the block. ``settings``: texts by name."""
    process = Process(url, knacka=knacka, **settings)
    try:
        yield process
    finally:
        if process.process.poll() is None:
            process.process.kill()
            process.process.wait()


@contextmanager
def limited(process: Process, what: int, most: int) -> Iterator[None]:
    """Limit a resource of the process (``resource.RLIMIT_…``) to ``most`` within this block."""
    pid = process.process.pid
    soft, hard = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (most, hard))
    try:
        yield
    finally:
        if process.process.poll() is None:
            resource.prlimit(pid, what, (soft, hard))


def sse(response: httpx.Response) -> Iterator[dict[str, str]]:
    """Yield the messages of a stream as dicts of their fields, with the ``topic`` in their data. A comment has an
    empty name."""
    event: dict[str, str] = {}
    for line in response.iter_lines():
        if line:
            name, _, value = line.partition(":")
            event[name] = value.removeprefix(" ")
        elif event:
            if "data" in event:
                event["topic"] = json.loads(event["data"])["topic"]
            yield event
            event = {}
