"""A backup of a store with a row in every table, restored into the other kind of store and back."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import insert, inspect, select

from api.maintenance.archive import Archive
from api.maintenance.raw_store import SET_ASIDE, StoreReader
from api.maintenance.restore import load
from api.maintenance.tables import parts_of_events, parts_of_names, parts_of_projections
from api.personal_data.names import NAMES
from api.runtime.projections import all_projections
from api.startup import open_once
from projections.follow.engine import engine_for, engine_for_writes
from referee.store.connection import parse_store_url
from tests.api.cases.test_cases import RULING, TWO
from tests.backups.backup_commands import backup, nothing_in, other_than, restored
from tests.log.bundle_checks import KEY, sign
from tests.projections.filled_log import content
from tests.support import audited_club
from tests.support.databases import Postgres
from tests.support.match_client import Table
from tests.support.service_in_memory import client_of

TRANSIENT = {"book_tickets", "names_due"}
"""Tables that no backup has. A ticket is good for 30 seconds. An erasure is due in the file of names that there was,
and a restore writes a new one."""
NOTE = 'A "quote", a \\ and an ö'


@pytest.fixture
def full_url(store_url: str, tmp_path: Path) -> str:
    """Return a store with a club's books, cases, a pot, a refused act, a ticket and a signed log."""
    signing = {"log_key": KEY.private_text, "log_file": str(tmp_path / "log.note"), "log_seconds": 3600}
    with client_of(store_url, **signing) as client:
        audited_club.filled(client)
        _cases(client)
        Table(client, ruleset="rams-english", dealing="house", options={}).finish_deal()
        sign(client)
    return store_url


def _cases(client: Any) -> None:
    """Play a match with a case that has a ruling, a case that waits, a refused act and a ticket."""
    table = Table(client, adjudication=TWO)
    table.done("deal", 0, counts=[6, 6, 6])
    table.bid("2", "pass", "pass")
    table.play("HA", "C3", first=1)
    for accused in (2, 1):
        knock = {"seat": 0, "accused": accused, "offence": "revoke", "note": NOTE}
        assert table.post("/knocks", knock, 0, **{"Idempotency-Key": f"knock-{accused}"}).status_code == 201
    assert table.post("/knocks/1/ruling", RULING, "official").status_code == 201
    assert table.send("bid", 2, bid="1").status_code == 409
    assert table.post("/tickets", None, 0).status_code == 201


@pytest.fixture
def away(full_url: str, postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """Yield a store of the other kind, with nothing in it."""
    with nothing_in(other_than(full_url), postgres, tmp_path) as url:
        yield url


@pytest.fixture
def home(away: str, postgres: Postgres, tmp_path: Path) -> Iterator[str]:
    """Yield the URL of a second, empty store of the first kind."""
    (tmp_path / "home").mkdir()
    with nothing_in(other_than(away), postgres, tmp_path / "home") as url:
        yield url


def rows_in(file: Path) -> dict[str, list[Any]]:
    """Return the rows of each table in a backup. Their order within a match is the database's."""
    with Archive(file) as archive:
        return {held.name: sorted(archive.rows(held), key=repr) for held in archive.manifest.parts}


def tables_of(url: str) -> set[str]:
    """Return the names of all tables of a store."""
    stored, names = StoreReader(url), engine_for(url, what=NAMES)
    try:
        engines = (stored.events, stored.projections, names)
        return {name for engine in engines for name in inspect(engine).get_table_names()}
    finally:
        stored.close()
        names.dispose()


def written(url: str) -> dict[str, Any]:
    """Return the content of a store's projections, read as the service reads them."""
    engine = engine_for(url)
    try:
        return content(engine, all_projections())
    finally:
        engine.dispose()


def test_every_table_is_in_a_backup(full_url: str) -> None:
    stored = StoreReader(full_url)
    parts = (*parts_of_events(stored), *parts_of_projections(), *parts_of_names())
    stored.close()
    kept = {part.table.name for part in parts}
    assert tables_of(full_url) == kept | TRANSIENT


def test_a_store_with_rows_in_every_table_goes_to_the_other_kind_and_back(
    full_url: str, away: str, home: str, tmp_path: Path
) -> None:
    first = backup(full_url, tmp_path / "first.knacka")
    rows = rows_in(first)
    assert [name for name, some in rows.items() if not some] == ["aside"], "only what is damaged is set aside"
    told = restored(first, away)
    assert "built again" not in told
    second = backup(away, tmp_path / "second.knacka")
    assert rows_in(second) == rows
    restored(second, home)
    assert rows_in(backup(home, tmp_path / "third.knacka")) == rows
    projections = written(full_url)
    assert written(away) == projections
    assert written(home) == projections


def test_aggregates_set_aside_survive_a_restore_into_the_other_database_and_back(
    full_url: str, away: str, home: str, tmp_path: Path
) -> None:
    """A restore refuses a damaged store, so these are loaded without the proof."""
    since = datetime(2026, 11, 22, 19, 0, 0, 123, UTC)
    row = {"book": "protocols_4", "match": UUID(int=7).hex, "since": since, "event": 3, "error": f"\0 {NOTE}"}
    engine = engine_for(full_url)
    with engine_for_writes(engine).begin() as connection:
        connection.execute(insert(SET_ASIDE).values(row))
    engine.dispose()
    source = full_url
    for url in (away, home):
        with Archive(backup(source, tmp_path / f"{parse_store_url(url).__class__.__name__}.knacka")) as archive:
            open_once(url)
            load(archive, url, lambda said: None)
        engine = engine_for(url)
        with engine.connect() as connection:
            (found,) = connection.execute(select(SET_ASIDE)).mappings()
        engine.dispose()
        assert {**found, "match": UUID(str(found["match"])).hex} == row
        source = url
