"""``knacka verify`` compares the ledger with the rows."""

from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import Engine, text

from projections.follow.engine import engine_for, engine_for_writes
from projections.follow.projection import LIVE
from projections.ledger import Ledger
from tests.support.club_client import ClubTable
from tests.support.edited_stores import said

WHOLE = "projections agree"
TABLES = LIVE + Ledger.key


@pytest.fixture
def books(own_client: Any, store_url: str) -> Iterator[Engine]:
    """Yield the books of a club with three entries, two of them closed."""
    club = ClubTable(own_client)
    club.join("Berit")
    club.done("deposit", member=2, amount=500, via="cash")
    club.done("fee", member=2, amount=100)
    club.done("close_books", label="2026")
    club.done("fee", member=1, amount=100)
    assert club.get("/accounts").json()["entry"] == 3
    engine = engine_for(store_url)
    yield engine
    engine.dispose()


def test_a_ledger_as_it_was_kept(books: Engine, store_url: str) -> None:
    code, lines = said(store_url)
    assert (code, lines[-1].endswith(WHOLE)) == (0, True), lines


def test_a_ledger_that_someone_has_been_at(books: Engine, store_url: str) -> None:
    """The report names each edited table and the remedy."""
    changes = {
        "balances": f"UPDATE {TABLES}_balances SET balance = 7 WHERE account = 'cash'",
        "closings": f"UPDATE {TABLES}_closings SET holds = (1 = 0)",
        "clubs": f"DELETE FROM {TABLES}_clubs",
        "entries": f"UPDATE {TABLES}_entries SET cause = 'another' WHERE number = 1",
        "postings": f"UPDATE {TABLES}_postings SET balance = balance + 1 WHERE number = 2",
    }
    with engine_for_writes(books).begin() as connection:
        for change in changes.values():
            connection.execute(text(change))
    code, lines = said(store_url)
    told = sorted(line for line in lines if "projection ledger" in line)
    assert code == 1
    assert [line.partition(" of ")[0] for line in told] == [
        f"projection ledger: {TABLES}_{table}" for table in changes
    ]
    assert all(line.endswith(" differs from the rows: `knacka rebuild ledger`") for line in told)


def test_an_entry_that_is_not_there(books: Engine, store_url: str) -> None:
    with engine_for_writes(books).begin() as connection:
        for table in ("entries", "postings"):
            connection.execute(text(f"DELETE FROM {TABLES}_{table} WHERE number = 3"))
    code, lines = said(store_url)
    assert (code, sum("projection ledger" in line for line in lines)) == (1, 2), lines
