"""The money of all clubs: whether the ledger is what the rows make, in the order of the log."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby, zip_longest
from operator import itemgetter
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, Table, select

from api.maintenance.projection_check import raw_column
from api.maintenance.raw_store import POSITIONS, ROWS, Stored
from api.runtime.projections import decoded
from projections.follow.engine import DamagedCell, engine_for
from projections.follow.page import Page
from projections.follow.projection import rebuild
from projections.ledger import Ledger


def check_ledger(stored: Stored) -> Iterator[str]:
    """What is wrong with it, where there is one: of each table the first club or match of which it is otherwise."""
    book = Ledger()
    with suppress(FileNotFoundError):  # there need not be any books
        if book.key in stored.positions():
            with stored.books.connect() as kept:
                position = kept.scalar(select(POSITIONS.c.position).where(POSITIONS.c.book == book.key)) or 0
                yield from _differences(stored, book, kept, position)


def _differences(stored: Stored, book: Ledger, kept: Connection, position: int) -> Iterator[str]:
    pages = stored.log()

    def read(_: int, __: int) -> Page:
        return Page([row for row in next(pages, ()) if row[0] <= position], decoded)

    with TemporaryDirectory() as folder:
        engine = engine_for(f"sqlite:///{folder}/knacka.db")
        rebuild(read, engine, book, page=ROWS)
        with engine.connect() as made:
            for name, table in book.metadata.tables.items():
                try:
                    for actual, expected in zip_longest(_by_owner(kept, table), _by_owner(made, table)):
                        if actual != expected:
                            whose = min(owner for owner, _ in filter(None, (actual, expected)))
                            yield f"book ledger: {name} is not what the rows make of {whose}: `knacka rebuild ledger`"
                            break
                except DamagedCell as damaged:
                    yield f"book ledger: {name} cannot be read: {damaged}: `knacka rebuild ledger`"
        engine.dispose()


def _by_owner(connection: Connection, table: Table) -> Iterator[tuple[Any, set[Any]]]:
    """The rows of a table by whose they are, but for matches that are not for money, of which nothing is entered.
    Texts are not in the same order in all databases."""
    owner = next(iter(table.primary_key.columns))
    query = select(owner, *map(raw_column, table.c)).order_by(owner)
    if "money" in table.c:
        query = query.where(table.c.money.is_not(None))
    rows = connection.execute(query)
    for whose, theirs in groupby(rows, itemgetter(0)):
        yield whose, {tuple(row) for row in theirs}
