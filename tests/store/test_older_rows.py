"""A store whose rows are in the form of an earlier commit, is refused before any work on it."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from uuid import UUID

import pytest

from api import cli
from api.maintenance.doctor import problems
from referee.store.desk import Desk
from referee.store.rows import OlderStore
from referee.store.store import construct
from tests.support.databases import Postgres, empty_database, keep_rows, put_rows_back
from tests.support.edited_stores import Editor
from tests.support.random_matches import opened, play_out
from tests.support.service_in_memory import client_of

WHAT = "the rows were stored by an earlier commit of Knacka in a different form, and this release cannot read them."
TO_DO = "Begin with an empty store (KNACKA_DATABASE_URL), or run the commit that stored them"


def without_version(row: bytes) -> bytes:
    """Return a row as the first commits would have stored it."""
    return re.sub(rb'"v":2,', b"", row)


def in_the_first_form(row: bytes) -> bytes:
    """Return a row with the version of an earlier form."""
    return re.sub(rb'"v":2,', b'"v":1,', row)


def stored(url: str) -> UUID:
    """Store a match and return its id."""
    with client_of(url):  # which makes all tables
        pass
    with construct(url) as referee:
        desk = Desk(referee)
        match_id = opened(desk, deal_ritual=False)
        list(play_out(desk, match_id, 5))
        desk.close()
    return match_id


@pytest.fixture(scope="module")
def sqlite_original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, UUID]:
    """Return the folder of a SQLite store with a match."""
    folder = tmp_path_factory.mktemp("original")
    return folder, stored(f"sqlite:///{folder}/knacka.db")


@pytest.fixture(scope="module")
def postgres_original(postgres: Postgres) -> Iterator[tuple[str, UUID]]:
    """Yield the URL of a PostgreSQL store with a match, and with a second copy of all its rows."""
    with empty_database(postgres) as url:
        match_id = stored(url)
        keep_rows(url)
        yield url, match_id


class Filled(NamedTuple):
    """A store with a match."""

    url: str
    match_id: UUID


@pytest.fixture
def sqlite_filled(sqlite_original: tuple[Path, UUID], tmp_path: Path) -> Filled:
    folder, match_id = sqlite_original
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    return Filled(f"sqlite:///{tmp_path}/knacka.db", match_id)


@pytest.fixture
def postgres_filled(postgres_original: tuple[str, UUID]) -> Iterator[Filled]:
    yield Filled(*postgres_original)
    put_rows_back(postgres_original[0])


@pytest.fixture(params=["sqlite", "postgres"])
def filled(request: pytest.FixtureRequest) -> Filled:
    """Return a store with a match, on each of the two databases."""
    store: Filled = request.getfixturevalue(f"{request.param}_filled")
    return store


@pytest.fixture(params=[without_version, in_the_first_form])
def older_url(filled: Filled, request: pytest.FixtureRequest) -> str:
    """Return a store with rows as an earlier commit stored them."""
    url, match_id = filled
    with construct(url) as referee:
        rows = referee.rows(match_id)
    for row in rows:
        Editor(url).edit(match_id, row.originator_version, request.param)
    return url


def said(capsys: pytest.CaptureFixture[str], url: str, monkeypatch: pytest.MonkeyPatch, *command: str) -> str:
    """Return the only line that a command says, which cannot use the store."""
    monkeypatch.setenv("KNACKA_DATABASE_URL", url)
    assert cli.main(command) == cli.NOT_STARTED
    told = capsys.readouterr()
    assert told.out == ""
    return told.err.removesuffix("\n")


@pytest.mark.parametrize("command", [("serve",), ("rebuild",), ("verify",), ("club", "list")], ids=" ".join)
def test_no_command_begins_on_an_older_store(
    older_url: str, command: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said(capsys, older_url, monkeypatch, *command) == f"{WHAT} {TO_DO}"


def test_the_store_itself_refuses(older_url: str) -> None:
    with pytest.raises(OlderStore, match=re.escape(WHAT)):
        construct(older_url)


def test_the_doctor_says_so_once(older_url: str) -> None:
    found = [problem for problem in problems({"KNACKA_DATABASE_URL": older_url}) if "earlier commit" in problem]
    assert found == [f"{WHAT} {TO_DO}"]


def test_an_older_backup_is_not_restored(
    older_url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNACKA_DATABASE_URL", older_url)
    assert cli.main(["backup", str(tmp_path / "older.knacka")]) == 0
    capsys.readouterr()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setenv("KNACKA_DATABASE_URL", f"sqlite:///{elsewhere}/knacka.db")
    assert cli.main(["restore", str(tmp_path / "older.knacka")]) == 1
    assert capsys.readouterr().err.endswith(f"nothing is restored: {WHAT} {TO_DO}\n")
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("place", [0, -1], ids=["first", "last"])
def test_one_row_without_a_version_is_a_damaged_row_and_stops_no_service(filled: Filled, place: int) -> None:
    url, match_id = filled
    with construct(url) as referee:
        number = referee.rows(match_id)[place].originator_version
    Editor(url).edit(match_id, number, without_version)
    with construct(url) as referee:
        assert referee.exists(match_id)
    (found,) = [problem for problem in problems({"KNACKA_DATABASE_URL": url}) if "`v`" in problem]
    assert found.startswith(f"event {number} of match {match_id} cannot be read: Object missing required field `v`")


@pytest.mark.parametrize("state", [b"", b"{}", b"[]", b"\xff", b'{"prev":"","event":'])
def test_rows_that_are_none_are_not_taken_for_older_ones(filled: Filled, state: bytes) -> None:
    Editor(filled.url).run("UPDATE {events} SET state = ?", state)
    with construct(filled.url) as referee:
        assert referee.exists(filled.match_id)


def test_an_empty_store_is_not_older(store_url: str) -> None:
    for _ in range(2):
        with construct(store_url) as referee:
            assert not referee.exists(UUID(int=1))
