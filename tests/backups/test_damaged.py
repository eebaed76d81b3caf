"""Damaged and aborted backups: none is accepted as complete, and none is restored in part."""

import os
import re
import shutil
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import psycopg
import pytest

from api.maintenance.archive import Archive, Damaged, Writer
from referee.store.connection import SqliteFile, parse_store_url
from tests.backups.backup_commands import WAIT_SECONDS_MAX, Kept, backup, club_in, not_restored, restored
from tests.support.forked_processes import Forked
from tests.support.paths import ROOT
from tests.support.running_service import environment_of, knacka

# Damaged backups


def test_no_byte_can_be_another_unseen(kept: Kept, tmp_path: Path) -> None:
    file = tmp_path / "damaged.knacka"
    whole, chance = kept.file.read_bytes(), Random(1)
    places = {0, 10, len(whole) - 65, len(whole) - 64, len(whole) - 1, *chance.sample(range(len(whole)), 60)}
    for place in places:
        byte = whole[place] ^ (1 << chance.randrange(8))
        file.write_bytes(whole[:place] + bytes([byte]) + whole[place + 1 :])
        with pytest.raises(Damaged):
            Archive(file)
    assert "was changed after it was written" in not_restored(file, kept.url, "--check")
    for short in (whole[:-1], whole[: len(whole) // 2], b"", whole + b"\n"):
        file.write_bytes(short)
        assert "not a backup of Knacka" in not_restored(file, kept.url, "--check")


def rewritten(file: Path, folder: Path, part: str, change: Any) -> Path:
    """Return the backup with changed rows in one part, and with a valid seal."""
    forged = folder / "forged.knacka"
    with Archive(file) as archive, forged.open("x+b") as out:
        writer = Writer(out)
        for held in archive.manifest.parts:
            rows = list(archive.rows(held))
            writer.write_part(held.name, held.columns, change(rows) if held.name == part else rows)
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
        ("events", lambda rows: rows[:-1], "projection \\w+ is at position 7, but the log ends at 6"),
        (
            "names",
            lambda rows: [[*row[:-1], '"Olle"'] for row in rows],
            "it was changed or moved after it was stored",
        ),
        ("names", lambda rows: rows[1:], "a name is missing"),
        ("book_protocols", lambda rows: [], "projection protocols does not have it"),
    ],
)
def test_a_changed_part_with_new_hashes_is_found(
    kept: Kept, tmp_path: Path, part: str, change: Any, said: str
) -> None:
    with Archive(kept.file) as archive:
        names = [held.name for held in archive.manifest.parts]
    part = next(name for name in names if name.startswith(part))
    told = not_restored(rewritten(kept.file, tmp_path, part, change), kept.url, "--check")
    assert re.search(said, told), told
    assert "the backup is damaged" in told


def test_a_cell_that_its_column_cannot_hold_is_named(kept: Kept, tmp_path: Path) -> None:
    def change(rows: list[list[Any]]) -> list[list[Any]]:
        return [
            ["yesterday" if isinstance(cell, str) and cell.endswith("Z") else cell for cell in row] for row in rows
        ]

    forged = rewritten(kept.file, tmp_path, "book_matches_3", change)
    assert "its part book_matches_3 cannot be read: " in not_restored(forged, kept.url, "--check")


def test_a_changed_backup_is_not_restored(kept: Kept, away: str, tmp_path: Path) -> None:
    forged = rewritten(kept.file, tmp_path, "events", _edited(b"Knackarna", b"Knackarne"))
    assert "nothing is restored" in not_restored(forged, away)
    restored(kept.file, away)


def test_a_backup_of_another_format_is_left_to_its_release(kept: Kept, tmp_path: Path) -> None:
    forged = tmp_path / "forged.knacka"
    with Archive(kept.file) as archive, forged.open("x+b") as out:
        Writer(out).end(msgspec.structs.replace(archive.manifest, format=2, knacka="9.9"))
    assert "by Knacka 9.9" in not_restored(forged, kept.url, "--check")


# Aborted backups

GROWN_ROWS, BEGUN_BYTES = 60_000, 100_000


def grown(url: str) -> None:
    """Return a store whose backup takes a while."""
    many = GROWN_ROWS
    if isinstance(place := parse_store_url(url), SqliteFile):
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
    assert "not a backup of Knacka" in not_restored(left, store_url, "--check")
    left.unlink()
    with Archive(backup(store_url, folder / "whole.knacka")) as archive:
        assert archive.manifest.head >= GROWN_ROWS


@pytest.mark.parametrize("line", [1, 2])
def test_a_restore_that_is_killed_has_restored_all_or_nothing(line: int, kept: Kept, away: str) -> None:
    """A restore is killed while it fills a new store, or after its check. A second one succeeds when the rest is
    deleted."""
    place = parse_store_url(away)
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
        return  # everything was restored
    if isinstance(place, SqliteFile):
        folder = Path(place.path).parent
        assert not Path(place.path).exists()
        assert all(one.name.startswith("knacka-") for one in folder.iterdir())
        shutil.rmtree(folder)
        folder.mkdir()
    restored(kept.file, away)
    assert knacka("verify", KNACKA_DATABASE_URL=away).returncode == 0
