"""The base of the projections of protocols and pots.

Stored lines never change. Corrections are applied when a sheet is read.
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
from referee.value import replaced
from referee.visibility import Recorded

_RAW = msgspec.json.Decoder(msgspec.Raw)


class RawJson(Checked[msgspec.Raw]):
    """A column of JSON that is not decoded."""

    impl = Text
    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else _RAW.decode(value)


class Sheet(Protocol):
    """A struct with a version and lines. Each line has the number of the ``event`` that added it.

    Sheets with corrections also have ``corrected``."""

    @property
    def version(self) -> int: ...
    @property
    def lines(self) -> tuple[Any, ...]: ...


S = TypeVar("S", bound=Sheet)


class Sheets(Generic[S]):
    """A projection with a row for each sheet without its lines, and for each line."""

    name: str
    key: str
    takes: frozenset[str] | None = None
    kind: type[S]
    line: Any
    after_event: Callable[[S | None, Recorded], S]
    """Static method that returns the sheet after an event, with the event's line, if any, at the end."""
    with_corrections: Callable[[S, Corrections], S] | None = None
    """Static method that returns the corrected sheet; ``None``: these sheets have no corrections."""

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

    def with_prefix(self, prefix: str) -> Self:
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Page) -> None:
        this = self.sheets.c
        query = select(this.match, this.version).where(this.match.in_(page.histories))
        versions: dict[UUID, int] = {row.match: row.version for row in connection.execute(query)}
        news = list(page.news(versions, self.takes))
        sheets = self._stored_sheets(
            connection, [one.aggregate for one in news if one.events and one.aggregate in versions]
        )
        new, known, unchanged, lines, corrections = [], [], [], [], []
        for match_id, version, _, events in news:
            if not events:
                unchanged.append({"id": match_id, "version": version})
                continue
            sheet = sheets.get(match_id)
            for recorded in events:
                sheet = self.after_event(sheet, recorded)
                if isinstance(event := recorded.event, ProtocolCorrected):
                    kept = replace(event, scripts=(), strike=())  # because no reader needs these fields
                    number = recorded.originator_version
                    corrections.append({"match": match_id, "event": number, "correction": kept})
            assert sheet is not None
            lines += [{"match": match_id, "event": line.event, "line": line} for line in sheet.lines]
            row = {"version": version, "sheet": replaced(sheet, lines=())}
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
        for rows in (known, unchanged):
            if rows:
                connection.execute(update(self.sheets).where(this.match == bindparam("id")), rows)

    def _stored_sheets(self, connection: Connection, matches: list[UUID]) -> dict[UUID, S]:
        if not matches:
            return {}
        query = select(self.sheets.c.match, self.sheets.c.sheet).where(self.sheets.c.match.in_(matches))
        return {row.match: row.sheet for row in connection.execute(query)}

    def version(self, connection: Connection, match_id: UUID) -> int:
        return connection.scalar(select(self.sheets.c.version).where(self.sheets.c.match == match_id)) or 0

    def answer(self, connection: Connection, match_id: UUID, **instead: Any) -> S | None:
        """Return the corrected sheet; ``None`` if the match is unknown. ``instead``: fields to replace."""
        return self._with_lines(connection, match_id, self.lines.c.line, instead)

    def answer_json(self, connection: Connection, match_id: UUID, **instead: Any) -> tuple[bytes, int] | None:
        """Return :meth:`answer` as JSON, and its version; ``None`` if the match is unknown."""
        sheet = self._with_lines(connection, match_id, type_coerce(self.lines.c.line, RawJson), instead)
        return None if sheet is None else (msgspec.json.encode(sheet), sheet.version)

    def with_events(self, connection: Connection, match_id: UUID, recorded: Sequence[Recorded]) -> S | None:
        """Return the corrected sheet after further events; ``None`` if the match is unknown."""
        this = self.sheets.c
        found = connection.execute(select(this.version, this.sheet).where(this.match == match_id)).one_or_none()
        if found is None:
            return None
        corrections = [*self.corrections_of(connection, match_id, found.version)]
        lines = connection.scalars(self._lines(match_id, found.version, self.lines.c.line))
        sheet: S = replace(found.sheet, version=found.version, lines=tuple(lines))
        for one in recorded:
            sheet = self.after_event(sheet, one)
            if isinstance(one.event, ProtocolCorrected):
                corrections.append((one.originator_version, one.event))
        correct = self.with_corrections
        return sheet if correct is None or not corrections else correct(sheet, corrections)

    def _with_lines(
        self, connection: Connection, match_id: UUID, line: ColumnElement[Any], instead: Mapping[str, Any]
    ) -> S | None:
        """Return :meth:`answer`. ``line``: column of uncorrected lines."""
        this = self.sheets.c
        found = connection.execute(select(this.version, this.sheet).where(this.match == match_id)).one_or_none()
        if found is None:
            return None
        correct = self.with_corrections if self.with_corrections is not None and found.sheet.corrected else None
        lines = connection.scalars(
            self._lines(match_id, found.version, line if correct is None else self.lines.c.line)
        )
        whole: S = replace(found.sheet, version=found.version, lines=tuple(lines), **instead)
        return whole if correct is None else correct(whole, self.corrections_of(connection, match_id, found.version))

    def _lines(self, match_id: UUID, version: int, line: ColumnElement[Any]) -> Select[Any]:
        this = self.lines.c
        return select(line).where(this.match == match_id, this.event <= version).order_by(this.event)

    def corrections_of(self, connection: Connection, match_id: UUID, version: int) -> Corrections:
        """Return, in order, event number and correction up to a version, without ``scripts`` and ``strike``."""
        this = self.corrections.c
        query = select(this.event, this.correction).where(this.match == match_id, this.event <= version)
        return [(row.event, row.correction) for row in connection.execute(query.order_by(this.event))]
