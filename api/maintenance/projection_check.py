"""Compares the stored rows of projections about one aggregate with rows calculated from its events."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    RowMapping,
    Select,
    StaticPool,
    Table,
    Text,
    Uuid,
    bindparam,
    create_engine,
    select,
    type_coerce,
)

from api.maintenance.raw_store import POSITIONS, SET_ASIDE, Row, StoreReader
from api.maintenance.replay_check import History, difference_lines
from api.runtime.projections import match_projections
from projections.follow.engine import Json
from projections.follow.follow import Projection
from projections.follow.page import Page
from referee.visibility import Recorded

RowsByTable = Mapping[str, Sequence[RowMapping]]
"""Rows by table name. JSON is text."""


class _RowQueries:
    def __init__(self, projection: Projection) -> None:
        self.projection = projection
        self._queries = {name: _query_for_rows(table) for name, table in projection.metadata.tables.items()}

    def rows(self, connection: Connection, aggregate_id: UUID) -> RowsByTable:
        parameters = {"aggregate": aggregate_id}
        return {name: connection.execute(query, parameters).mappings().all() for name, query in self._queries.items()}


def _query_for_rows(table: Table) -> Select[Any]:
    query = select(*map(with_json_as_text, table.c)).where(table.c.match == bindparam("aggregate", type_=Uuid()))
    return query.order_by(*table.primary_key.columns)


def with_json_as_text(column: Column[Any]) -> ColumnElement[Any]:
    return type_coerce(column, Text).label(column.name) if isinstance(column.type, Json) else column


class _StoredState(NamedTuple):
    """A projection and its stored rows about an aggregate."""

    queries: _RowQueries
    set_aside: tuple[int, str] | None
    """Number of the event that the projection could not apply, and the error, if any."""
    position: int
    """Position up to which the projection has read the log."""
    version: int
    """Number of the last event that the projection has applied; 0: none."""
    rows: RowsByTable


class StoredProjections:
    """The stored projections, and projections in memory that calculate one aggregate's rows at a time."""

    def __init__(self, stored: StoreReader) -> None:
        self._stored = stored
        self._memory = create_engine("sqlite://", poolclass=StaticPool).connect()
        self._queries: list[_RowQueries] = []
        tables, positions = stored.projection_tables(), stored.positions()
        self._sets_aside = SET_ASIDE.name in tables
        for projection in match_projections(lambda: stored.secret or b""):
            if projection.key in positions and tables.issuperset(projection.metadata.tables):
                self._queries.append(_RowQueries(projection))
                projection.metadata.create_all(self._memory)
        self._memory.commit()

    @property
    def existing(self) -> list[Projection]:
        """Projections that have a position and all their tables."""
        return [queries.projection for queries in self._queries]

    def close(self) -> None:
        self._memory.close()

    def check_for(self, aggregate_id: UUID) -> "ProjectionCheck":
        """Read the projections' rows about an aggregate. Call this before reading the aggregate's rows.

        This ends the check of an earlier call.
        """
        self._memory.rollback()
        if not self._queries:
            return ProjectionCheck([], aggregate_id, self._memory)
        with self._stored.projections.connect() as connection:
            positions = {row.book: row.position for row in connection.execute(select(POSITIONS))}
            set_aside = self._set_aside_events(connection, aggregate_id)
            states = [
                _StoredState(
                    queries,
                    set_aside.get(queries.projection.key),
                    positions.get(queries.projection.key, 0),
                    queries.projection.version(connection, aggregate_id),
                    queries.rows(connection, aggregate_id),
                )
                for queries in self._queries
            ]
        return ProjectionCheck(states, aggregate_id, self._memory)

    def _set_aside_events(self, connection: Connection, aggregate_id: UUID) -> dict[str, tuple[int, str]]:
        """Return, by projection key, the event at which the aggregate was set aside, and the error."""
        if not self._sets_aside:
            return {}
        query = select(SET_ASIDE).where(SET_ASIDE.c.match == aggregate_id.hex)
        return {row.book: (row.event, " ".join(row.error.split())) for row in connection.execute(query)}


class ProjectionCheck:
    def __init__(self, states: list[_StoredState], aggregate_id: UUID, memory: Connection) -> None:
        self._states, self._id, self._memory = states, aggregate_id, memory
        self._due = dict.fromkeys((one.queries.projection.name for one in states), 0)
        """Number, by projection name, of the last event up to the projection's position."""
        self._failed: dict[str, str] = {}

    def add(self, rows: Sequence[Row], recorded: Mapping[int, Recorded], readable: int) -> None:
        """Apply rows up to event ``readable`` to the projections in memory.

        Stop at the stored version or, if it is 0, the stored position. ``recorded``: the decoded events by number.
        """
        rows = [row for row in rows if isinstance(row.number, int) and row.number <= readable]
        log = [(row.position, self._id.hex, row.number, row.topic, row.state) for row in rows]
        for queries, _, position, version, _ in self._states:
            projection = queries.projection
            passed = [row for row in log if row[0] <= position]
            if passed:
                self._due[projection.name] = passed[-1][2]
            news = [row for row in log if row[2] <= version] if version else passed
            if news and projection.name not in self._failed:
                try:
                    projection.apply(self._memory, Page(news, lambda _, number, *__: recorded[number]))
                except Exception as error:  # a damaged row can cause any error
                    self._failed[projection.name] = f"{type(error).__name__}: {error}"

    def compare(self, history: History) -> None:
        """Report errors, wrong versions and different rows to ``history``. Call it after the last :meth:`add`."""
        broken = history.readable < history.events
        for state in self._states:
            projection, version = state.queries.projection, state.version
            name, due = projection.name, self._due[projection.name]
            if name in self._failed:
                history.report(0, f"projection {name} cannot apply it: {self._failed[name]}")
                continue
            calculated = projection.version(self._memory, self._id)
            if version > history.readable:
                if not broken:
                    history.report(version, f"projection {name} has it, but the event does not exist")
                continue
            if state.set_aside is not None:
                event, error = state.set_aside
                history.report(event, f"projection {name} has set the match aside here: {error}")
            elif calculated and not version:
                history.report(0, f"projection {name} does not have it, though its position is past event {due}")
            elif version and version < due:
                history.report(
                    due, f"projection {name} has only event {version}, though its position is past this one"
                )
            elif version > due:
                history.report(version, f"projection {name} has it, though its position is before it")
            if version or not calculated:
                for what in _row_differences(projection, state.rows, state.queries.rows(self._memory, self._id)):
                    history.report(0, f"projection {name}: {what}")


def _row_differences(projection: Projection, stored_rows: RowsByTable, calculated_rows: RowsByTable) -> Iterator[str]:
    for name, table in projection.metadata.tables.items():
        calculated, stored = _rows_by_key(table, calculated_rows[name]), _rows_by_key(table, stored_rows[name])
        for key in dict.fromkeys((*calculated, *stored)):
            place = f"{name}{key}" if key else name
            if key not in stored:
                yield f"{place} is missing"
            elif key not in calculated:
                yield f"{place} does not follow from the events"
            elif stored[key] != calculated[key]:
                for column in table.c:
                    actual, expected = stored[key][column.name], calculated[key][column.name]
                    if actual != expected:
                        yield from (f"{place}: {what}" for what in _cell_differences(column, actual, expected))


def _rows_by_key(table: Table, rows: Sequence[RowMapping]) -> dict[str, RowMapping]:
    """Return the rows, by primary key as text without the aggregate's id."""
    keys = [column.name for column in table.primary_key.columns if column.name != "match"]
    return {", ".join(f" {key} {row[key]}" for key in keys): row for row in rows}


def _cell_differences(column: Any, actual: Any, expected: Any) -> Iterator[str]:
    if isinstance(column.type, Json) and actual is not None and expected is not None:
        try:
            yield from difference_lines(msgspec.json.decode(actual), msgspec.json.decode(expected), column.name)
        except (msgspec.MsgspecError, ValueError) as error:
            yield f"{column.name} cannot be read: {error}"
    else:
        yield f"{column.name} is {actual}, not {expected}"
