"""Stores with content, and their backup and restore by the commands."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from referee.store.connection import SqliteFile, parse_store_url
from tests.log.bundle_checks import followed
from tests.support.club_client import ClubTable
from tests.support.databases import Postgres, empty_database
from tests.support.match_client import Table
from tests.support.running_service import knacka
from tests.support.service_in_memory import client_of

NAME = "Bosse Brännström-Ödmårk"
WAIT_SECONDS_MAX = 30


@contextmanager
def nothing_in(kind: str, postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """Yield the URL of an empty store to restore into."""
    if kind == "postgresql":
        with empty_database(postgres) as url:
            yield url
    else:
        (tmp_path / "elsewhere").mkdir()
        yield f"sqlite:///{tmp_path}/elsewhere/knacka.db"


def other_than(url: str) -> str:
    """Return the other kind of store."""
    return "postgresql" if isinstance(parse_store_url(url), SqliteFile) else "sqlite"


def backup(url: str, to: Path) -> Path:
    """Return the file of a backup."""
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
    """Play a match, and found a club with a member who has left."""
    with client_of(url) as client:
        club = ClubTable(client)
        club.done("leave", member=club.join(NAME))
        table = Table(client, dealing="house")
        table.done("deal", 0)
        table.get("/protocol?min_version=2")
        followed(client)
    return club


class Kept(NamedTuple):
    """A store, and its backup."""

    url: str
    file: Path


def club_in(url: str) -> None:
    given = ("--name", "Knackarna", "--founder", NAME, "--currency", "SEK", "--timezone", "Europe/Stockholm")
    assert knacka("club", "found", *given, KNACKA_DATABASE_URL=url).returncode == 0
