"""What protocol and pot have in common: a sheet for each match, and the lines that are written into it and stay.

A correction is kept beside them, and what counts by it is put together when it is asked for.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, Protocol, Self, TypeVar
from uuid import UUID

import msgspec
from msgspec.structs import replace
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Integer,
    MetaData,
    Select,
    Table,
    Text,
    Uuid,
    bindparam,
    insert,
    select,
    type_coerce,
    update,
)

from projections.follow.engine import Checked, Json
from projections.follow.page import Page
from projections.follow.projection import LIVE
from referee.officials.events.corrections import Corrections, ProtocolCorrected
from referee.value import changed
from referee.visibility import Recorded

_RAW = msgspec.json.Decoder(msgspec.Raw)


class Kept(Checked[msgspec.Raw]):
    """JSON as it stands in the table."""

    impl = Text
    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        """Return the JSON. It is not read, but it is JSON."""
        return None if value is None else _RAW.decode(value)


class Sheet(Protocol):
    """A struct of this shape; each of its lines has the number of the ``event`` that wrote it."""

    @property
    def version(self) -> int:
        """The last event that changed it; to a reader, the last that the book has come to."""

    @property
    def lines(self) -> tuple[Any, ...]:
        """In the order in which they were written."""


S = TypeVar("S", bound=Sheet)


class Sheets(Generic[S]):
    """A book with a row for each match, which stays small, and a row for each line."""

    name: str
    key: str
    takes: frozenset[str] | None = None
    kind: type[S]
    line: Any
    """The type of a line."""
    entered: Callable[[S | None, Recorded], S]
    """The sheet after one more event, with the line that it may have written; a static method."""
    amended: Callable[[S, Corrections], S] | None = None
    """The sheet whose lines stand as they were written, with them as they count; a static method. It tells which
    events ``corrected`` it. ``None``: none does."""

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
        self.corrections = Table(
            f"{prefix}{self.key}_corrections",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("event", Integer, primary_key=True),
            Column("correction", Json(ProtocolCorrected), nullable=False),
        )

    def under(self, prefix: str) -> Self:
        """The same book in other tables."""
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Page) -> None:
        """Takes in the events of a page; what it has already, it passes over."""
        this = self.sheets.c
        query = select(this.match, this.version).where(this.match.in_(page.histories))
        versions: dict[UUID, int] = {row.match: row.version for row in connection.execute(query)}
        news = list(page.news(versions, self.takes))
        sheets = self._kept(connection, [one.aggregate for one in news if one.events and one.aggregate in versions])
        new, known, passed, lines, corrections = [], [], [], [], []
        for match_id, version, _, events in news:
            if not events:
                passed.append({"id": match_id, "version": version})
                continue
            sheet = sheets.get(match_id)
            for recorded in events:
                sheet = self.entered(sheet, recorded)
                if isinstance(event := recorded.event, ProtocolCorrected):
                    kept = replace(event, scripts=(), strike=())  # nobody is told of them here
                    number = recorded.originator_version
                    corrections.append({"match": match_id, "event": number, "correction": kept})
            assert sheet is not None
            lines += [{"match": match_id, "event": line.event, "line": line} for line in sheet.lines]
            row = {"version": version, "sheet": changed(sheet, lines=())}
            if match_id in versions:
                known.append({"id": match_id, **row})
            else:
                new.append({"match": match_id, **row})
        if lines:
            connection.execute(insert(self.lines), lines)
        if corrections:
            connection.execute(insert(self.corrections), corrections)
        if new:
            connection.execute(insert(self.sheets), new)
        for rows in (known, passed):
            if rows:
                connection.execute(update(self.sheets).where(this.match == bindparam("id")), rows)

    def _kept(self, connection: Connection, matches: list[UUID]) -> dict[UUID, S]:
        if not matches:
            return {}
        query = select(self.sheets.c.match, self.sheets.c.sheet).where(self.sheets.c.match.in_(matches))
        return {row.match: row.sheet for row in connection.execute(query)}

    def version(self, connection: Connection, match_id: UUID) -> int:
        """The last event of a match that the book has come to, or 0."""
        return connection.scalar(select(self.sheets.c.version).where(self.sheets.c.match == match_id)) or 0

    def answer(self, connection: Connection, match_id: UUID, **instead: Any) -> S | None:
        """The sheet of a match with all its lines; ``None`` where no match is known. ``instead``: fields in the place
        of its own."""
        return self._whole(connection, match_id, self.lines.c.line, instead)

    def written(self, connection: Connection, match_id: UUID, **instead: Any) -> tuple[bytes, int] | None:
        """The same as JSON, and its version; the lines as they are kept, which are many and need not be read."""
        sheet = self._whole(connection, match_id, type_coerce(self.lines.c.line, Kept), instead)
        return None if sheet is None else (msgspec.json.encode(sheet), sheet.version)

    def foreseen(self, connection: Connection, match_id: UUID, recorded: Sequence[Recorded]) -> S | None:
        """The sheet of a match as it would be after these events, too, which have not happened."""
        this = self.sheets.c
        found = connection.execute(select(this.version, this.sheet).where(this.match == match_id)).one_or_none()
        if found is None:
            return None
        corrections = [*self.corrections_of(connection, match_id, found.version)]
        lines = connection.scalars(self._lines(match_id, found.version, self.lines.c.line))
        sheet: S = replace(found.sheet, version=found.version, lines=tuple(lines))
        for one in recorded:
            sheet = self.entered(sheet, one)
            if isinstance(one.event, ProtocolCorrected):
                corrections.append((one.originator_version, one.event))
        return sheet if self.amended is None or not corrections else self.amended(sheet, corrections)

    def _whole(
        self, connection: Connection, match_id: UUID, line: ColumnElement[Any], instead: Mapping[str, Any]
    ) -> S | None:
        this = self.sheets.c
        found = connection.execute(select(this.version, this.sheet).where(this.match == match_id)).one_or_none()
        if found is None:
            return None
        amended = self.amended if self.amended is not None and found.sheet.corrected else None
        lines = connection.scalars(
            self._lines(match_id, found.version, line if amended is None else self.lines.c.line)
        )
        whole: S = replace(found.sheet, version=found.version, lines=tuple(lines), **instead)
        return whole if amended is None else amended(whole, self.corrections_of(connection, match_id, found.version))

    def _lines(self, match_id: UUID, version: int, line: ColumnElement[Any]) -> Select[Any]:
        """Those that stood at a version, and nothing that came after it."""
        this = self.lines.c
        return select(line).where(this.match == match_id, this.event <= version).order_by(this.event)

    def corrections_of(self, connection: Connection, match_id: UUID, version: int) -> Corrections:
        """Return the corrections of a match up to a version, without their scripts."""
        this = self.corrections.c
        query = select(this.event, this.correction).where(this.match == match_id, this.event <= version)
        return [(row.event, row.correction) for row in connection.execute(query.order_by(this.event))]
