"""Backups: the commands of ``deploy/backup.md``, run literally on a store in use; restores, and erased members in
them."""

import os
import re
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from api.maintenance.archive import Archive
from api.maintenance.backup import sections_at_one_moment
from api.maintenance.raw_store import StoreReader
from api.personal_data.names import Names, names_file
from referee.clubs.commands import Set
from referee.store.command import Command
from referee.store.connection import SqliteFile, parse_store_url
from referee.store.desk import Desk
from referee.store.store import construct
from tests.api.clubs.test_clubs import names_kept
from tests.backups.backup_commands import NAME, WAIT_SECONDS_MAX, Kept, backup, club_in, not_restored, restored
from tests.log.bundle_checks import KEY, followed, sign
from tests.support.club_client import ClubTable
from tests.support.forked_processes import program
from tests.support.match_client import Table
from tests.support.paths import ROOT
from tests.support.running_service import knacka, running
from tests.support.service_in_memory import client_of
from tests.support.unfinished_erasure import put_on_record

TEXT = (ROOT / "deploy" / "backup.md").read_text(encoding="utf-8")
THINKS_SECONDS = 0.02
"""Seconds between acts of clients during a backup: the test does not measure throughput."""


def blocks(heading: str) -> list[str]:
    """Return the commands below a heading."""
    return re.findall(
        r"```sh\n(.*?)```", re.split(r"^## ", TEXT[TEXT.index(f"## {heading}\n") + 3 :], flags=re.M)[0], re.S
    )


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., str]:
    """Return a shell that finds ``knacka``; it returns the output of commands."""
    programs = tmp_path / "bin"
    programs.mkdir()
    inherited = program(programs / "knacka")
    found = {"PATH": f"{programs}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT), "BACKUPS": str(tmp_path / "kept")}

    def run(*commands: str, **more: str) -> str:
        script = ["bash", "-c", "set -eu\n" + "\n".join(commands)]
        done = subprocess.run(
            script, capture_output=True, text=True, env=found | more, timeout=120, check=False, pass_fds=[inherited]
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run


@contextmanager
def used(url: str) -> Iterator[dict[str, int]]:
    """Use a service over the store: two matches are played, and members of a club join, change their names, leave and
    are erased. Yield the last answered version by match and club."""
    answered: dict[str, int] = {}
    stop = threading.Event()

    def play(address: str) -> None:
        with httpx.Client(base_url=address, timeout=WAIT_SECONDS_MAX) as client:
            table = Table(client, dealing="house")
            acts = cycle((("deal", 0), ("void", None)))
            while not stop.wait(THINKS_SECONDS):
                answered[table.id] = table.done(*next(acts))["version"]

    def join(address: str) -> None:
        with httpx.Client(base_url=address, timeout=WAIT_SECONDS_MAX) as client:
            club = ClubTable(client)
            while not stop.wait(THINKS_SECONDS):
                number = club.join(NAME)
                club.done("rename", member=number, name=f"{NAME} {number}")
                if number % 3 == 0:
                    club.done("leave", member=number)
                    answered[club.id] = club.done("erase", member=number)["version"]

    with running(url) as process:
        people = [threading.Thread(target=work, args=(process.address,)) for work in (play, play, join)]
        for one in people:
            one.start()
        try:
            deadline = time.monotonic() + WAIT_SECONDS_MAX
            while len(answered) < 3 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert len(answered) == 3
            yield answered
        finally:
            stop.set()
            for one in people:
                one.join()


def erased(url: str, club: ClubTable, number: int = 2) -> None:
    """Record an erasure without carrying it out."""
    put_on_record(url, UUID(club.id), number)


# The commands of the guide


def test_one_taken_while_the_store_is_used_is_restored_whole(
    store_url: str, other_url: str, shell: Callable[..., str], tmp_path: Path
) -> None:
    """Each act that was answered before the backup began is in it."""
    with used(store_url) as answered:
        before = dict(answered)
        said = shell(*blocks("Make a backup"), KNACKA_DATABASE_URL=store_url)
        assert "2 matches and 1 club: " in said
        assert "the backup is intact" in said
    (file,) = (tmp_path / "kept").iterdir()
    assert re.fullmatch(r"knacka-\d{8}T\d{6}Z\.knacka", file.name)
    assert file.stat().st_mode & 0o777 == 0o600
    said = shell(*blocks("Restore a backup"), BACKUP=str(file), KNACKA_DATABASE_URL=other_url)
    assert said.splitlines()[-1] == "no faults found"
    assert "erase again the members who were erased after 20" in said
    with construct(other_url) as referee:
        for aggregate_id, version in before.items():
            assert referee.load(UUID(aggregate_id)).aggregate.version >= version
    if isinstance(parse_store_url(other_url), SqliteFile):
        files = list((tmp_path / "elsewhere").iterdir())
        assert {file.name for file in files} >= {"knacka.db", "knacka-books.db", "knacka-names.db"}
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_names_and_books_are_of_the_moment_of_the_events(store_url: str, tmp_path: Path) -> None:
    """Any time is tried: a name that was added later, or deleted before, would show in one of these."""
    with used(store_url):
        files = [backup(store_url, tmp_path / f"{number}.knacka") for number in range(3)]
    for file in files:
        restored(file, store_url, "--check")


def test_all_parts_are_of_the_moment_at_which_it_began(store_url: str) -> None:
    """Names are held until they are copied (SQLite), or all is of one snapshot; acts go on."""
    club_in(store_url)
    stored, names = StoreReader(store_url), Names(store_url)
    rows: dict[str, list[Any]] = {}
    with sections_at_one_moment(stored, store_url) as sections:
        if stored.files:
            another = sqlite3.connect(names_file(store_url), timeout=0, isolation_level=None)
            with closing(another), pytest.raises(sqlite3.OperationalError, match="locked"):
                another.execute("BEGIN IMMEDIATE")
        else:
            names.put(UUID(int=1), None, ["Olle"])
        club_id = UUID(next(stored.ids_of_topic("club/founded")))
        with construct(store_url) as referee:
            desk = Desk(referee)
            desk.submit(Command(id=club_id, actor="operator", request=Set(keep_years=7))).result(30)
            desk.close()
        for connection, parts, keys in sections:
            rows |= {part.name: list(part.rows(connection, keys)) for part in parts}
            connection.close()
            names.put(UUID(int=1), None, ["Pelle"])
    assert (len(rows["events"]), len(rows["names"])) == (3, 1)
    stored.close()
    names.close()


def test_a_restored_store_goes_on_as_the_lost_one_would(store_url: str, any_url: str, tmp_path: Path) -> None:
    opening = {"Idempotency-Key": "e7c1f6f0-4b52-4d0b-9a52-0fd1e3a0b9aa"}
    body = {"ruleset": "kalabrias", "players": [{"name": "Anna"}, {"name": "Bo"}]}
    with client_of(store_url) as client:
        club, table = ClubTable(client), Table(client, dealing="house")
        table.done("deal", 0)
        opened = client.post("/v1/matches", json=body, headers=opening)
        assert opened.status_code == 201, opened.text
    restored(backup(store_url, tmp_path), any_url)
    with client_of(any_url) as client:
        again = client.post("/v1/matches", json=body, headers=opening)
        assert (again.status_code, again.json()) == (201, opened.json()), "its secret and its keyed acts are in it"
        club.client = table.client = client
        assert club.names() == ["Anna Åkesson-Ödmårk"]
        assert club.join("Bo") == 2
        version = table.done("void", None)["version"]
        assert table.get(f"/protocol?min_version={version}").status_code == 200
    assert knacka("verify", KNACKA_DATABASE_URL=any_url).returncode == 0


# Stores that are not empty


def test_nothing_is_restored_if_something_is(kept: Kept, away: str) -> None:
    assert "already" in not_restored(kept.file, kept.url)
    restored(kept.file, away)
    assert "already" in not_restored(kept.file, away)
    for url in (kept.url, away):
        assert knacka("verify", KNACKA_DATABASE_URL=url).returncode == 0


def test_a_signed_log_is_restored_and_its_note_stays_where_it_is(
    store_url: str, other_url: str, tmp_path: Path
) -> None:
    """An older store beside the newest note is found out, and not signed."""
    signing = {"log_key": KEY.private_text, "log_file": str(tmp_path / "log.note"), "log_seconds": 3600}
    signs = {f"KNACKA_{name.upper()}": str(value) for name, value in signing.items()}
    with client_of(store_url, **signing) as client:
        Table(client)
        sign(client)
        followed(client)
    file = backup(store_url, tmp_path)
    with Archive(file) as archive:
        (tiles,) = [part for part in archive.manifest.parts if part.name.endswith("log_tiles")]
        assert tiles.rows
    restored(file, other_url)
    assert "does not extend" not in knacka("doctor", KNACKA_DATABASE_URL=other_url, **signs).stdout
    with client_of(store_url, **signing) as client:
        Table(client)
        sign(client)
        followed(client)
    assert "does not extend" in knacka("doctor", KNACKA_DATABASE_URL=other_url, **signs).stdout
    assert "does not extend" not in knacka("doctor", KNACKA_DATABASE_URL=store_url, **signs).stdout
    assert knacka("verify", KNACKA_DATABASE_URL=other_url).returncode == 0


def test_not_even_a_log_of_a_lost_store_may_be_left(sqlite_url: str, tmp_path: Path) -> None:
    """SQLite would take it for one of the restored file."""
    club_in(sqlite_url)
    file = backup(sqlite_url, tmp_path)
    (tmp_path / "lost").mkdir()
    (tmp_path / "lost" / "knacka.db-wal").write_bytes(b"of the lost store")
    assert "knacka.db-wal exists already" in not_restored(file, f"sqlite:///{tmp_path}/lost/knacka.db")
    assert [file.name for file in (tmp_path / "lost").iterdir()] == ["knacka.db-wal"]


def test_a_backup_takes_no_other_files_place(sqlite_url: str, tmp_path: Path) -> None:
    club_in(sqlite_url)
    kept = (tmp_path / "knacka.db").read_bytes()
    ran = knacka("backup", str(tmp_path / "knacka.db"), KNACKA_DATABASE_URL=sqlite_url)
    assert (ran.returncode, " exists already" in ran.stderr, ran.stdout) == (1, True, "")
    assert (tmp_path / "knacka.db").read_bytes() == kept


def test_a_backup_goes_into_no_folder_that_is_not_there(sqlite_url: str, tmp_path: Path) -> None:
    club_in(sqlite_url)
    ran = knacka("backup", str(tmp_path / "copies" / "one.knacka"), KNACKA_DATABASE_URL=sqlite_url)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "there is no folder" in ran.stderr, "it is not the store that cannot be used"


def test_if_there_is_no_store_there_is_no_backup(sqlite_url: str, tmp_path: Path) -> None:
    ran = knacka("backup", str(tmp_path), KNACKA_DATABASE_URL=sqlite_url)
    assert (ran.returncode, "there is no store" in ran.stderr) == (1, True)
    assert list(tmp_path.iterdir()) == []


# Erased members


def test_a_restore_completes_an_erasure_that_the_backup_records(
    played: ClubTable, store_url: str, other_url: str, tmp_path: Path
) -> None:
    """The backup was made between the record of an erasure and its execution."""
    erased(store_url, played)
    file = backup(store_url, tmp_path)
    said = f"member 2 of club {played.id} is erased again: 1 names and texts"
    assert said in restored(file, other_url, "--check")
    assert said in restored(file, other_url)
    assert names_kept(other_url) == ["Anna Åkesson-Ödmårk"]
    assert not [one for one in (tmp_path / "elsewhere").glob("*") if NAME.encode() in one.read_bytes()]


def test_a_restore_asks_to_repeat_erasures_after_the_backup(
    played: ClubTable, store_url: str, other_url: str, tmp_path: Path
) -> None:
    file = backup(store_url, tmp_path)
    knacka("erase", played.id, "2", KNACKA_DATABASE_URL=store_url)
    assert re.search(r"erase again the members who were erased after .* UTC", restored(file, other_url))
    assert NAME in names_kept(other_url)
    assert knacka("erase", played.id, "2", KNACKA_DATABASE_URL=other_url).returncode == 0
    assert names_kept(other_url) == ["Anna Åkesson-Ödmårk"]
