"""What protocol and pot have in common: a sheet for each match, and the lines that are written into it and stay."""

from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar
from uuid import UUID

from msgspec.structs import replace
from sqlalchemy import Column, Connection, Integer, MetaData, Table, Uuid, bindparam, insert, select, update

from projections.follow.engine import Json
from projections.follow.follow import LIVE, Placed
from referee.events import Recorded


class Sheet(Protocol):
    """A struct of this shape; each of its lines has the number of the ``event`` that wrote it."""

    @property
    def version(self) -> int:
        """The last event that it took in."""

    @property
    def lines(self) -> tuple[Any, ...]:
        """In the order in which they were written."""


S = TypeVar("S", bound=Sheet)


class Sheets(Generic[S]):
    """A book with a row for each match, which stays small, and a row for each line."""

    name: str
    key: str
    kind: type[S]
    line: Any
    """The type of a line."""
    entered: Callable[[S | None, Recorded], S]
    """The sheet after one more event, with the line that it may have written; a static method."""

    def __init__(self, prefix: str = LIVE) -> None:
        self.metadata = MetaData()
        self.sheets = Table(
            f"{prefix}{self.key}_sheets",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("version", Integer, nullable=False),
            Column("sheet", Json(self.kind), nullable=False),
        )
        self.lines = Table(
            f"{prefix}{self.key}_lines",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("event", Integer, primary_key=True),
            Column("line", Json(self.line), nullable=False),
        )

    def under(self, prefix: str) -> Self:
        """The same book in other tables."""
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Sequence[Placed]) -> None:
        """Takes in the events of a page; what it has already, it passes over."""
        matches = {placed.recorded.originator_id for placed in page}
        query = select(self.sheets.c.match, self.sheets.c.sheet).where(self.sheets.c.match.in_(matches))
        known: dict[UUID, S] = {row.match: row.sheet for row in connection.execute(query)}
        sheets = dict(known)
        for recorded in (placed.recorded for placed in page):
            sheet = sheets.get(recorded.originator_id)
            if sheet is None or recorded.originator_version > sheet.version:
                sheets[recorded.originator_id] = self.entered(sheet, recorded)
        lines = [
            {"match": match_id, "event": line.event, "line": line}
            for match_id, sheet in sheets.items()
            for line in sheet.lines
        ]
        if lines:
            connection.execute(insert(self.lines), lines)
        new = [_row("match", match_id, sheet) for match_id, sheet in sheets.items() if match_id not in known]
        if new:
            connection.execute(insert(self.sheets), new)
        if old := [_row("id", match_id, sheets[match_id]) for match_id in known]:
            connection.execute(update(self.sheets).where(self.sheets.c.match == bindparam("id")), old)

    def version(self, connection: Connection, match_id: UUID) -> int:
        """The last event of a match that its sheet has taken in, or 0."""
        return connection.scalar(select(self.sheets.c.version).where(self.sheets.c.match == match_id)) or 0

    def answer(self, connection: Connection, match_id: UUID) -> S | None:
        """The sheet of a match with all its lines; ``None`` where no match is known."""
        sheet: S | None = connection.scalar(select(self.sheets.c.sheet).where(self.sheets.c.match == match_id))
        if sheet is None:
            return None
        query = (
            select(self.lines.c.line)
            .where(self.lines.c.match == match_id, self.lines.c.event <= sheet.version)  # not what came after it
            .order_by(self.lines.c.event)
        )
        whole: S = replace(sheet, lines=tuple(connection.scalars(query)))  # type: ignore[type-var]  # it is a struct
        return whole


def _row(key: str, match_id: UUID, sheet: Any) -> dict[str, Any]:
    return {key: match_id, "version": sheet.version, "sheet": replace(sheet, lines=())}
