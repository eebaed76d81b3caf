"""Compares the stored ledger of all clubs with a ledger calculated from the rows."""

from collections.abc import Iterator
from itertools import groupby, zip_longest
from operator import itemgetter
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, Table, select

from api.maintenance.projection_check import with_json_as_text
from api.maintenance.raw_store import POSITIONS, ROWS_PER_QUERY, StoreReader
from api.runtime.projections import decode_row
from projections.follow.engine import DamagedCell, engine_for
from projections.follow.page import Page
from projections.follow.projection import rebuild
from projections.ledger import Ledger


def check_ledger(stored: StoreReader) -> Iterator[str]:
    """Yield a line for each table that cannot be read, or differs: with the first wrong club or match.

    Check nothing if no ledger is stored.
    """
    ledger = Ledger()
    if ledger.key in stored.positions():
        with stored.projections.connect() as kept:
            position = kept.scalar(select(POSITIONS.c.position).where(POSITIONS.c.book == ledger.key)) or 0
            yield from _table_differences(stored, ledger, kept, position)


def _table_differences(stored: StoreReader, ledger: Ledger, kept: Connection, position: int) -> Iterator[str]:
    pages = stored.pages_of_log()

    def read(_: int, __: int) -> Page:
        return Page([row for row in next(pages, ()) if row[0] <= position], decode_row)

    with TemporaryDirectory() as folder:
        engine = engine_for(f"sqlite:///{folder}/knacka.db")
        rebuild(read, engine, ledger, page=ROWS_PER_QUERY)
        with engine.connect() as made:
            for name, table in ledger.metadata.tables.items():
                try:
                    for actual, expected in zip_longest(_rows_by_owner(kept, table), _rows_by_owner(made, table)):
                        if actual != expected:
                            owner = min(one for one, _ in filter(None, (actual, expected)))
                            place = f"projection ledger: {name} of {owner}"
                            yield f"{place} differs from the rows: `knacka rebuild ledger`"
                            break
                except DamagedCell as damaged:
                    yield f"projection ledger: {name} cannot be read: {damaged}: `knacka rebuild ledger`"
        engine.dispose()


def _rows_by_owner(connection: Connection, table: Table) -> Iterator[tuple[Any, set[Any]]]:
    """Yield, in order, each club or match with the set of its rows. Skip matches without stakes."""
    owner = next(iter(table.primary_key.columns))
    query = select(owner, *map(with_json_as_text, table.c)).order_by(owner)
    if "money" in table.c:
        query = query.where(table.c.money.is_not(None))
    rows = connection.execute(query)
    for whose, theirs in groupby(rows, itemgetter(0)):
        yield whose, {tuple(row) for row in theirs}
