"""Backups: what ``deploy/backup.md`` says, run as it stands on a store that is being used; and what may go wrong."""

import os
import re
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from uuid import UUID

import httpx
import msgspec
import psycopg
import pytest

from api.names import Names, names_file
from api.ops.archive import Archive, Damaged, Writer
from api.ops.backup import at_one_moment
from api.ops.stored import Stored
from referee.clubs.asked import Erase, Set
from referee.store.desk import Command, Desk
from referee.store.reach import SqliteFile, place_of
from referee.store.store import construct
from tests.api.club import ClubTable
from tests.api.conftest import client_of
from tests.api.serving import ROOT, environment_of, knacka, running
from tests.api.table import Table
from tests.api.test_clubs import names_kept
from tests.forked import Forked, program
from tests.log.proving import KEY, followed, sign
from tests.stores import Postgres, empty_database

TEXT = (ROOT / "deploy" / "backup.md").read_text(encoding="utf-8")
WAIT_SECONDS_MAX = 30
THINKS_SECONDS = 0.02
"""Whoever uses a store that is backed up, before an act: what is measured is not how much it bears."""
NAME = "Bosse Brännström-Ödmårk"


def blocks(heading: str) -> list[str]:
    """The commands below a heading."""
    return re.findall(
        r"```sh\n(.*?)```", re.split(r"^## ", TEXT[TEXT.index(f"## {heading}\n") + 3 :], flags=re.M)[0], re.S
    )


@pytest.fixture
def shell(tmp_path: Path) -> Callable[..., str]:
    """A shell that finds ``knacka``: what it says to commands."""
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
def nothing_in(kind: str, postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """Where something may be restored: nothing is there."""
    if kind == "postgresql":
        with empty_database(postgres) as url:
            yield url
    else:
        (tmp_path / "elsewhere").mkdir()
        yield f"sqlite:///{tmp_path}/elsewhere/knacka.db"


def other_than(url: str) -> str:
    """The other kind of store."""
    return "postgresql" if isinstance(place_of(url), SqliteFile) else "sqlite"


@pytest.fixture
def other_url(store_url: str, postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """A store of the other kind."""
    with nothing_in(other_than(store_url), postgres, tmp_path) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def either_url(request: pytest.FixtureRequest, postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """A store of either kind."""
    with nothing_in(request.param, postgres, tmp_path) as url:
        yield url


@contextmanager
def used(url: str) -> Iterator[dict[str, int]]:
    """A service over the store in which two matches are played on, and people join a club, are called otherwise,
    leave and are erased; by match and club the version that was answered last."""
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


def backup(url: str, to: Path) -> Path:
    """The file of a backup."""
    ran = knacka("backup", str(to), KNACKA_DATABASE_URL=url)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return Path(ran.stdout.strip())


def restored(file: Path, url: str, *options: str) -> str:
    ran = knacka("restore", *options, str(file), KNACKA_DATABASE_URL=url)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def not_restored(file: Path, url: str, *options: str) -> str:
    ran = knacka("restore", *options, str(file), KNACKA_DATABASE_URL=url)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert "Traceback" not in ran.stderr
    return ran.stdout + ran.stderr


def play(url: str) -> ClubTable:
    """A club with a member who has left, and a match."""
    with client_of(url) as client:
        club = ClubTable(client)
        club.done("leave", member=club.join(NAME))
        table = Table(client, dealing="house")
        table.done("deal", 0)
        table.get("/protocol?min_version=2")
        followed(client)
    return club


@pytest.fixture
def played(store_url: str) -> ClubTable:
    """Of a store that is changed by a test."""
    return play(store_url)


class Kept(NamedTuple):
    """A store, and its backup."""

    url: str
    file: Path


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def kept(
    request: pytest.FixtureRequest, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Kept]:
    """What no test changes."""
    folder = tmp_path_factory.mktemp("kept")
    with nothing_in(request.param, postgres, folder) as url:
        play(url)
        yield Kept(url, backup(url, folder))


@pytest.fixture
def away(kept: Kept, postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """A store of the other kind."""
    with nothing_in(other_than(kept.url), postgres, tmp_path) as url:
        yield url


def erased(url: str, club: ClubTable, number: int = 2) -> None:
    """On record, and not in fact."""
    with construct(url) as referee:
        desk = Desk(referee)
        desk.submit(Command(id=UUID(club.id), actor="operator", request=Erase(member=number))).result(30)
        desk.close()


# What the guide says


def test_one_taken_while_the_store_is_used_is_restored_whole(
    store_url: str, other_url: str, shell: Callable[..., str], tmp_path: Path
) -> None:
    """What was answered before it was taken is in it."""
    with used(store_url) as answered:
        before = dict(answered)
        said = shell(*blocks("Taking one"), KNACKA_DATABASE_URL=store_url)
        assert "2 matches and 1 club: " in said
        assert "it is whole" in said
    (file,) = (tmp_path / "kept").iterdir()
    assert re.fullmatch(r"knacka-\d{8}T\d{6}Z\.knacka", file.name)
    assert file.stat().st_mode & 0o777 == 0o600
    said = shell(*blocks("Restoring one"), BACKUP=str(file), KNACKA_DATABASE_URL=other_url)
    assert said.splitlines()[-1] == "nothing wrong"
    assert "whoever was erased after 20" in said
    with construct(other_url) as referee:
        for aggregate_id, version in before.items():
            assert referee.load(UUID(aggregate_id)).aggregate.version >= version
    if isinstance(place_of(other_url), SqliteFile):
        files = list((tmp_path / "elsewhere").iterdir())
        assert {file.name for file in files} >= {"knacka.db", "knacka-books.db", "knacka-names.db"}
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_names_and_books_are_of_the_moment_of_the_events(store_url: str, tmp_path: Path) -> None:
    """Whenever it is taken: a name that came later, or was deleted before, would show in one of these."""
    with used(store_url):
        files = [backup(store_url, tmp_path / f"{number}.knacka") for number in range(3)]
    for file in files:
        restored(file, store_url, "--check")


def test_all_parts_are_of_the_moment_at_which_it_began(store_url: str) -> None:
    """Names are held until they are copied (SQLite), or all is of one snapshot; acts go on."""
    club_in(store_url)
    stored, names = Stored(store_url), Names(store_url)
    rows: dict[str, list[Any]] = {}
    with at_one_moment(stored, store_url) as sections:
        if stored.files:
            another = sqlite3.connect(names_file(store_url), timeout=0, isolation_level=None)
            with closing(another), pytest.raises(sqlite3.OperationalError, match="locked"):
                another.execute("BEGIN IMMEDIATE")
        else:
            names.put(UUID(int=1), None, ["Olle"])
        club_id = UUID(next(stored.ids_of("club/founded")))
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


def test_a_restored_store_goes_on_as_the_lost_one_would(store_url: str, either_url: str, tmp_path: Path) -> None:
    opening = {"Idempotency-Key": "e7c1f6f0-4b52-4d0b-9a52-0fd1e3a0b9aa"}
    body = {"ruleset": "kalabrias", "players": [{"name": "Anna"}, {"name": "Bo"}]}
    with client_of(store_url) as client:
        club, table = ClubTable(client), Table(client, dealing="house")
        table.done("deal", 0)
        opened = client.post("/v1/matches", json=body, headers=opening)
        assert opened.status_code == 201, opened.text
    restored(backup(store_url, tmp_path), either_url)
    with client_of(either_url) as client:
        again = client.post("/v1/matches", json=body, headers=opening)
        assert (again.status_code, again.json()) == (201, opened.json()), "its secret and its keyed acts are in it"
        club.client = table.client = client
        assert club.names() == ["Anna Åkesson-Ödmårk"]
        assert club.join("Bo") == 2
        version = table.done("void", None)["version"]
        assert table.get(f"/protocol?min_version={version}").status_code == 200
    assert knacka("verify", KNACKA_DATABASE_URL=either_url).returncode == 0


# Where something is


def test_nothing_is_restored_where_something_is(kept: Kept, away: str) -> None:
    assert "already" in not_restored(kept.file, kept.url)
    restored(kept.file, away)
    assert "already" in not_restored(kept.file, away)
    for url in (kept.url, away):
        assert knacka("verify", KNACKA_DATABASE_URL=url).returncode == 0


def test_a_signed_log_is_restored_and_its_note_stays_where_it_is(
    store_url: str, other_url: str, tmp_path: Path
) -> None:
    """An older store beside the newest note is found out, and not signed."""
    signing = {"log_key": KEY.written, "log_file": str(tmp_path / "log.note"), "log_seconds": 3600}
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
    assert "knacka.db-wal already" in not_restored(file, f"sqlite:///{tmp_path}/lost/knacka.db")
    assert [file.name for file in (tmp_path / "lost").iterdir()] == ["knacka.db-wal"]


def club_in(url: str) -> None:
    given = ("--name", "Knackarna", "--founder", NAME, "--currency", "SEK", "--timezone", "Europe/Stockholm")
    assert knacka("club", "found", *given, KNACKA_DATABASE_URL=url).returncode == 0


def test_a_backup_takes_no_other_files_place(sqlite_url: str, tmp_path: Path) -> None:
    club_in(sqlite_url)
    kept = (tmp_path / "knacka.db").read_bytes()
    ran = knacka("backup", str(tmp_path / "knacka.db"), KNACKA_DATABASE_URL=sqlite_url)
    assert (ran.returncode, "there is " in ran.stderr, ran.stdout) == (1, True, "")
    assert (tmp_path / "knacka.db").read_bytes() == kept


def test_a_backup_goes_into_no_folder_that_is_not_there(sqlite_url: str, tmp_path: Path) -> None:
    club_in(sqlite_url)
    ran = knacka("backup", str(tmp_path / "copies" / "one.knacka"), KNACKA_DATABASE_URL=sqlite_url)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "there is no folder" in ran.stderr, "it is not the store that cannot be used"


def test_where_there_is_no_store_there_is_no_backup(sqlite_url: str, tmp_path: Path) -> None:
    ran = knacka("backup", str(tmp_path), KNACKA_DATABASE_URL=sqlite_url)
    assert (ran.returncode, "there is no store" in ran.stderr) == (1, True)
    assert list(tmp_path.iterdir()) == []


# Who is erased


def test_who_is_erased_by_its_own_record_is_erased_again(
    played: ClubTable, store_url: str, other_url: str, tmp_path: Path
) -> None:
    """Taken between the record and the deed."""
    erased(store_url, played)
    file = backup(store_url, tmp_path)
    said = f"member 2 of club {played.id} is erased again: 1 texts"
    assert said in restored(file, other_url, "--check")
    assert said in restored(file, other_url)
    assert names_kept(other_url) == ["Anna Åkesson-Ödmårk"]
    assert not [one for one in (tmp_path / "elsewhere").glob("*") if NAME.encode() in one.read_bytes()]


def test_who_was_erased_later_has_to_be_erased_again(
    played: ClubTable, store_url: str, other_url: str, tmp_path: Path
) -> None:
    file = backup(store_url, tmp_path)
    knacka("erase", played.id, "2", KNACKA_DATABASE_URL=store_url)
    assert re.search(r"whoever was erased after .* UTC has to be erased again", restored(file, other_url))
    assert NAME in names_kept(other_url)
    assert knacka("erase", played.id, "2", KNACKA_DATABASE_URL=other_url).returncode == 0
    assert names_kept(other_url) == ["Anna Åkesson-Ödmårk"]


# What is damaged


def test_no_byte_can_be_another_unseen(kept: Kept, tmp_path: Path) -> None:
    file = tmp_path / "damaged.knacka"
    whole, chance = kept.file.read_bytes(), Random(1)
    places = {0, 10, len(whole) - 65, len(whole) - 64, len(whole) - 1, *chance.sample(range(len(whole)), 60)}
    for place in places:
        byte = whole[place] ^ (1 << chance.randrange(8))
        file.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        with pytest.raises(Damaged):
            Archive(file)
    assert "not as it was written" in not_restored(file, kept.url, "--check")
    for short in (whole[:-1], whole[: len(whole) // 2], b"", whole + b"\n"):
        file.write_bytes(short)
        assert "no backup of Knacka" in not_restored(file, kept.url, "--check")


def rewritten(file: Path, folder: Path, part: str, change: Any) -> Path:
    """The same backup, sealed anew by somebody who has changed the rows of a part."""
    forged = folder / "forged.knacka"
    with Archive(file) as archive, forged.open("x+b") as out:
        writer = Writer(out)
        for held in archive.manifest.parts:
            rows = list(archive.rows(held))
            writer.part(held.name, held.columns, change(rows) if held.name == part else rows)
        writer.end(msgspec.structs.replace(archive.manifest, parts=tuple(writer.parts)))
    return forged


def _edited(old: bytes, new: bytes) -> Any:
    def change(rows: list[list[Any]]) -> list[list[Any]]:
        edited = [[cell.replace(old, new) if isinstance(cell, bytes) else cell for cell in row] for row in rows]
        assert edited != rows
        return edited

    return change


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        ("events", _edited(b"Knackarna", b"Knackarne"), "the chain is broken"),
        ("events", lambda rows: rows[:-1], "book \\w+ has come to position 7, and the log ends at 6"),
        ("names", lambda rows: [[*row[:-1], '"Olle"'] for row in rows], "it is not the one that was put"),
        ("names", lambda rows: rows[1:], "a name is missing"),
        ("book_protocols", lambda rows: [], "book protocols does not have it"),
    ],
)
def test_what_somebody_has_changed_and_sealed_anew_is_found(
    kept: Kept, tmp_path: Path, part: str, change: Any, said: str
) -> None:
    with Archive(kept.file) as archive:
        names = [held.name for held in archive.manifest.parts]
    part = next(name for name in names if name.startswith(part))
    told = not_restored(rewritten(kept.file, tmp_path, part, change), kept.url, "--check")
    assert re.search(said, told), told
    assert "it is not whole" in told


def test_what_is_not_whole_is_not_restored(kept: Kept, away: str, tmp_path: Path) -> None:
    forged = rewritten(kept.file, tmp_path, "events", _edited(b"Knackarna", b"Knackarne"))
    assert "nothing is restored" in not_restored(forged, away)
    restored(kept.file, away)


def test_a_backup_of_another_format_is_left_to_its_release(kept: Kept, tmp_path: Path) -> None:
    forged = tmp_path / "forged.knacka"
    with Archive(kept.file) as archive, forged.open("x+b") as out:
        Writer(out).end(msgspec.structs.replace(archive.manifest, format=2, knacka="9.9"))
    assert "by Knacka 9.9" in not_restored(forged, kept.url, "--check")


# What is broken off

GROWN_ROWS, BEGUN_BYTES = 60_000, 100_000


def grown(url: str) -> None:
    """A store whose backup takes a while."""
    many = GROWN_ROWS
    if isinstance(place := place_of(url), SqliteFile):
        with closing(sqlite3.connect(place.path)) as store, store:
            store.execute(
                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)"
                " INSERT INTO stored_events SELECT lower(hex(randomblob(16))), 1, 'x/y', randomblob(300) FROM n",
                [many],
            )
    else:
        with psycopg.connect(url) as store:
            store.execute(
                "INSERT INTO referee_events SELECT gen_random_uuid(), 1, 'x/y',"
                " decode(repeat(md5(i::text), 10), 'hex') FROM generate_series(1, %s) AS i",
                [many],
            )


def test_killed_in_the_middle_it_leaves_no_half_file_under_its_name(store_url: str, tmp_path: Path) -> None:
    club_in(store_url)
    grown(store_url)
    folder = tmp_path / "kept"
    folder.mkdir()
    command, environment = ["backup", str(folder / "whole.knacka")], environment_of(KNACKA_DATABASE_URL=store_url)
    process = Forked(command, cwd=ROOT, env=environment, stdout=1, stderr=2, umask=0o022)
    try:
        deadline = time.monotonic() + WAIT_SECONDS_MAX
        while sum(file.stat().st_size for file in folder.iterdir()) < BEGUN_BYTES:
            assert process.poll() is None, "it was done before it could be killed"
            assert time.monotonic() < deadline
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    (left,) = folder.iterdir()
    assert (left.suffix, left.stat().st_mode & 0o777) == (".part", 0o600)
    assert "no backup of Knacka" in not_restored(left, store_url, "--check")
    left.unlink()
    with Archive(backup(store_url, folder / "whole.knacka")) as archive:
        assert archive.manifest.head >= GROWN_ROWS


@pytest.mark.parametrize("line", [1, 2])
def test_a_restore_that_is_killed_has_restored_all_or_nothing(line: int, kept: Kept, away: str) -> None:
    """While it makes a store of its own, or has proved it: another goes through when what is left is deleted."""
    place = place_of(away)
    environment = environment_of(KNACKA_DATABASE_URL=away)
    said, out = os.pipe()
    process = Forked(["restore", str(kept.file)], cwd=ROOT, env=environment, stdout=out, stderr=2, umask=0o022)
    os.close(out)
    with open(said) as lines:
        for _ in range(line):
            assert lines.readline()
        process.kill()
        process.wait(WAIT_SECONDS_MAX)
    if knacka("verify", KNACKA_DATABASE_URL=away).stdout.startswith("1 match and 1 club: "):
        return  # all of it was there already
    if isinstance(place, SqliteFile):
        folder = Path(place.path).parent
        assert not Path(place.path).exists()
        assert all(one.name.startswith("knacka-") for one in folder.iterdir())
        shutil.rmtree(folder)
        folder.mkdir()
    restored(kept.file, away)
    assert knacka("verify", KNACKA_DATABASE_URL=away).returncode == 0
