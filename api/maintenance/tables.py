"""Reads and fills the tables of a store, with equal rows on SQLite and PostgreSQL."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import islice
from typing import Any, NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnClause,
    Connection,
    Integer,
    LargeBinary,
    SmallInteger,
    TableClause,
    Text,
    Uuid,
    column,
    insert,
    inspect,
    select,
    table,
)
from sqlalchemy.types import NullType, TypeEngine

from api.maintenance.raw_store import ID, POSITIONS, SET_ASIDE, StoreReader
from api.personal_data import names
from api.runtime.projections import all_projections
from projections.follow.engine import Day, Json, Utc
from projections.follow.projection import Projection
from projections.follow.sheets import RawJson

ROWS_AT_ONCE = 2000
Cell = str | int | float | bytes | date | datetime | None
"""A value of a row: ids as 32 hex digits, JSON as text."""
FROM_JSON: Mapping[type[TypeEngine[Any]], Callable[[Any], Cell] | None] = {
    Boolean: None,
    BigInteger: None,
    Day: date.fromisoformat,
    Integer: None,
    LargeBinary: None,
    NullType: None,
    SmallInteger: None,
    Text: None,
    Utc: datetime.fromisoformat,
}
"""Conversions of a backup's cells by column type. ``None``: not needed."""


class Part(NamedTuple):
    """A table. ``columns``: names in a backup. ``key``: of the projection; None: none or several."""

    name: str
    table: TableClause
    columns: tuple[str, ...]
    key: str | None = None

    def rows(self, connection: Connection, keys: Sequence[str] = ()) -> Iterator[list[Cell]]:
        """Yield the rows by their first column, in a shared part only those of projections with ``keys``."""
        these = tuple(self.table.c)
        query = select(*these).order_by(these[0])
        if self.name in SHARED_PARTS:
            query = query.where(self.table.c.book.in_(keys))
        ids = [place for place, one in enumerate(these) if one.type is ID]
        for row in connection.execute(query, execution_options={"yield_per": ROWS_AT_ONCE}):
            cells = list(row)
            for place in ids:
                cells[place] = cells[place] and cells[place].replace("-", "")
            yield cells

    def fill(self, connection: Connection, rows: Iterable[Sequence[Cell]]) -> None:
        columns = [one.name for one in self.table.c]
        if connection.dialect.name == "postgresql":
            driver: Any = connection.connection.driver_connection
            driver.copy_rows(self.table.name, columns, rows)
            return
        rows = iter(rows)
        while page := list(islice(rows, ROWS_AT_ONCE)):
            connection.execute(insert(self.table), [dict(zip(columns, row, strict=True)) for row in page])

    def with_column_types(self, rows: Iterable[Sequence[Any]]) -> Iterator[list[Cell]]:
        """Yield a backup's rows with the table's types.

        Raises ``ValueError`` or ``TypeError`` for a wrong date, time or number of cells.
        """
        conversions = [FROM_JSON[type(one.type)] for one in self.table.c]
        for cells in rows:
            yield [
                cell if cell is None or convert is None else convert(cell)
                for convert, cell in zip(conversions, cells, strict=True)
            ]


SHARED_PARTS = frozenset({"places", "aside"})
"""Parts with rows of several projections."""


def parts_of_events(stored: StoreReader) -> tuple[Part, ...]:
    return (
        _part_of_table("events", stored.rows_table, "position"),
        _part_of_table("snapshots", stored.snapshots_table),
        _part_of_table("acts", stored.acts_table),
        _part_of_table("secret", stored.secret_table),
        _part_of_table("attempts", stored.attempts_table),
    )


NEEDED = frozenset({"events", "snapshots", "acts", "secret"})
"""Parts that every store has after its first start."""


def parts_of_projections(selected: Sequence[Projection] | None = None) -> tuple[Part, ...]:
    """Return the shared parts, then the parts of the ``selected`` projections (None: all)."""
    projections = all_projections() if selected is None else selected
    return (
        _part_of_table("places", POSITIONS),
        _part_of_table("aside", raw_table(SET_ASIDE)),
        *(
            _part_of_table(name, raw_table(one), key=projection.key)
            for projection in projections
            for name, one in projection.metadata.tables.items()
        ),
    )


def parts_of_names() -> tuple[Part, ...]:
    return tuple(_part_of_table(str(one.name), raw_table(one)) for one in (names.TABLE, names.ERASED))


def _part_of_table(name: str, table: TableClause, first: str | None = None, key: str | None = None) -> Part:
    """``first``: the first column's name in a backup. Raises ``TypeError`` for an unknown type of column."""
    columns = [str(one.name) for one in table.c]
    if unknown := {type(one.type) for one in table.c} - FROM_JSON.keys():
        raise TypeError(f"{table.name} has columns of {unknown}, which FROM_JSON does not name")
    return Part(str(name), table, (first or columns[0], *columns[1:]), key)


def raw_table(typed: TableClause) -> TableClause:
    """Return the table with JSON and ids as text."""
    return table(typed.name, *(_raw_column(one) for one in typed.columns))


def _raw_column(one: ColumnClause[Any]) -> ColumnClause[Any]:
    if isinstance(one.type, Uuid):
        return column(one.name, ID)
    return column(one.name, Text() if isinstance(one.type, Json | RawJson) else one.type)


def existing_parts(connection: Connection, parts: Iterable[Part]) -> tuple[Part, ...]:
    found = set(inspect(connection).get_table_names())
    return tuple(part for part in parts if part.table.name in found)


def complete_projections(connection: Connection) -> tuple[tuple[Part, ...], tuple[str, ...]]:
    """Return the parts and the keys of the projections that have a position and all their tables.

    Both are empty if a shared table is missing.
    """
    found = set(inspect(connection).get_table_names())
    if not {POSITIONS.name, SET_ASIDE.name} <= found:
        return (), ()
    known = set(connection.scalars(select(POSITIONS.c.book)))
    selected = [
        projection
        for projection in all_projections()
        if projection.key in known and found.issuperset(projection.metadata.tables)
    ]
    return parts_of_projections(selected), tuple(projection.key for projection in selected)


def is_empty(connection: Connection, part: Part) -> bool:
    return connection.execute(select(part.table.c[0]).limit(1)).first() is None
