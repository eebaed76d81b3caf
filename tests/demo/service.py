"""Starts and stops a service for the demo, or finds a running one."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.demo.client import Client, Unexpected
from tests.demo.ports import free_port

STORE = "knacka.db"
START_SECONDS = 30
STOP_SECONDS = 25
LOOK_SECONDS = 0.05


class Running(NamedTuple):
    """A service that answers."""

    url: str
    store: Path | None
    """The database of the service; None if the demo did not start it."""


@contextmanager
def running() -> Iterator[Running]:
    """Yield the service of ``KNACKA_URL``, or start one with a temporary database."""
    if url := os.environ.get("KNACKA_URL"):
        yield Running(url, None)
        return
    with TemporaryDirectory(prefix="knacka-demo-") as folder, _started(folder) as url:
        yield Running(url, Path(folder, STORE))


@contextmanager
def _started(folder: str) -> Iterator[str]:
    port = free_port()
    settings = {
        "KNACKA_DATABASE_URL": f"sqlite:///{folder}/{STORE}",
        "KNACKA_HOST": "127.0.0.1",
        "KNACKA_PORT": str(port),
        "KNACKA_LOG_LEVEL": "warning",
        "KNACKA_LOG_KEY": _signing_key(),
        "KNACKA_LOG_SECONDS": "1",
    }
    others = {name: value for name, value in os.environ.items() if not name.startswith("KNACKA_")}
    process = subprocess.Popen(
        [sys.executable, "-m", "api", "serve"],
        env=others | settings,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # Ctrl-C is for the demo, which then stops the service
    )
    try:
        url = f"http://127.0.0.1:{port}"
        _wait_until_ready(process, url)
        yield url
    finally:
        _stop(process)


def _signing_key() -> str:
    """Return a new key that signs the log."""
    command = [sys.executable, "-m", "api", "log", "key", "demo.example/log"]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout.strip()


def _wait_until_ready(process: "subprocess.Popen[bytes]", url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise Unexpected(f"the service ended with exit code {process.returncode}")
        try:
            with closing(Client(url)) as client:
                client.get("/health/ready")
                return
        except (OSError, HTTPException, Unexpected):
            time.sleep(LOOK_SECONDS)
    raise Unexpected(f"the service was not ready within {START_SECONDS} seconds")


def _stop(process: "subprocess.Popen[bytes]") -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except BaseException:
        process.kill()
        process.wait()
        raise
