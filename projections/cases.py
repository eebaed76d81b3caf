"""The case files: every knock of a match, what was said about it, how it was ruled on, and what it cost.

The book keeps all; what a viewer may not know yet is left out when it is asked. So ask as the viewer.
"""

from collections.abc import Iterable
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple, Self
from uuid import UUID

import msgspec
from sqlalchemy import (
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    Uuid,
    bindparam,
    func,
    insert,
    select,
    update,
)

from projections.follow.engine import Utc
from projections.follow.keeping import LIVE, own_name
from projections.follow.page import Page, topics
from referee.events import (
    LAYS_OPEN,
    Event,
    KnockDismissed,
    KnockUpheld,
    MatchOpened,
    PenaltyImposed,
    Recorded,
    Viewer,
    seen,
)
from referee.proceedings.cases import CaseAppealed, CaseOpened, CaseRuled, CaseStated, CaseWithdrawn
from referee.proceedings.takeback import ActTakenBack

FACTS: tuple[type[Event], ...] = (
    CaseOpened,
    CaseStated,
    CaseWithdrawn,
    CaseRuled,
    CaseAppealed,
    KnockUpheld,
    KnockDismissed,
    PenaltyImposed,
    ActTakenBack,
)
"""What a case is made of."""
READ = {kind.TOPIC: msgspec.json.Decoder(kind).decode for kind in FACTS}


def begins(event: Event) -> bool:
    """Whether a case begins with this event; an act may also be taken back by a ruling, in a case that is open."""
    if isinstance(event, ActTakenBack):
        return event.seat is not None
    return isinstance(event, CaseOpened | KnockUpheld | KnockDismissed)


class Entry(NamedTuple):
    """An event of a case, and when it was stored."""

    event: int
    at: datetime
    fact: Any
    """One of :data:`FACTS`, as the viewer may see it."""


class Case(NamedTuple):
    """All that has happened in a case, in order: it begins with what opened it, with the referee's ruling, or with an
    act that was taken back as the table agreed."""

    case: int
    entries: tuple[Entry, ...]

    @property
    def event(self) -> int:
        """The number of its first event."""
        return self.entries[0].event

    @property
    def ruling(self) -> KnockUpheld | KnockDismissed | None:
        """What the referee ruled at once."""
        first = self.entries[0].fact
        return first if isinstance(first, KnockUpheld | KnockDismissed) else None

    @property
    def fine(self) -> int:
        """How far the knocker goes up who was wrong, where that is the custom."""
        return fine_of(entry.fact for entry in self.entries[:2])


def fine_of(facts: Iterable[Any]) -> int:
    """What a dismissed knock cost the knocker, from the events that it made."""
    ruling, *imposed = facts
    if not isinstance(ruling, KnockDismissed):
        return 0
    return sum(fact.points for fact in imposed if isinstance(fact, PenaltyImposed) and fact.seat == ruling.seat)


class Cases:
    """The book of all case files."""

    name = "cases"
    key = "cases_2"
    takes = topics(MatchOpened, *FACTS, *LAYS_OPEN)

    def __init__(self, prefix: str = LIVE) -> None:
        self.metadata = MetaData()
        self.matches = Table(
            f"{prefix}{self.key}_matches",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("version", Integer, nullable=False),
            Column("public_to", Integer, nullable=False),  # the last event of the last deal that is over
            Column("ruleset", Text, nullable=False),
        )
        self.cases = Table(
            f"{prefix}{self.key}_cases",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("case", Integer, primary_key=True),
            Column("event", Integer, nullable=False),
            Column("opened_at", Utc, nullable=False),
            Column("ruleset", Text, nullable=False),
            Column("status", Text, nullable=False),  # without regard to the time
            Column("rule", Text),
            Column("appeal_until", Utc),
        )
        Index(own_name("ix_cases"), self.cases.c.opened_at, self.cases.c.match, self.cases.c.case)
        self.entries = Table(
            f"{prefix}{self.key}_entries",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("event", Integer, primary_key=True),
            Column("case", Integer, nullable=False),
            Column("at", Utc, nullable=False),
            Column("topic", Text, nullable=False),
            Column("fact", Text, nullable=False),
        )
        Index(own_name("ix_case_entries"), self.entries.c.match, self.entries.c.case)

    def under(self, prefix: str) -> Self:
        """The same book in other tables."""
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Page) -> None:
        """Takes in the events of a page; what it has already, it passes over."""
        this = self.matches.c
        query = select(self.matches).where(this.match.in_(page.histories))
        known = {row.match: row for row in connection.execute(query)}
        versions = {match_id: row.version for match_id, row in known.items()}
        new, old, entries = [], [], []
        cases: dict[tuple[UUID, int], dict[str, Any]] = {}
        for match_id, version, _, events in page.news(versions, self.takes):
            had = known.get(match_id)
            public_to, ruleset = (0, "") if had is None else (had.public_to, had.ruleset)
            for recorded in events:
                event = recorded.event
                if isinstance(event, MatchOpened):
                    ruleset = event.ruleset
                if isinstance(event, FACTS) and (number := getattr(event, "case", None)) is not None:
                    entries.append(_entry(recorded, number))
                    case = cases.setdefault((match_id, number), {})
                    case |= _case(recorded, ruleset) if begins(event) else {}
                    case |= _changes(event)
                if type(event) in LAYS_OPEN:
                    public_to = recorded.originator_version
            row = {"version": version, "public_to": public_to, "ruleset": ruleset}
            if match_id in known:
                old.append({"id": match_id, **row})
            else:
                new.append({"match": match_id, **row})
        if entries:
            connection.execute(insert(self.entries), entries)
        begun = [case for case in cases.values() if "event" in case]
        if begun:
            connection.execute(insert(self.cases), begun)
        for (match_id, number), case in cases.items():
            if case and "event" not in case:
                place = (self.cases.c.match == match_id) & (self.cases.c.case == number)
                connection.execute(update(self.cases).where(place).values(case))
        if new:
            connection.execute(insert(self.matches), new)
        if old:
            connection.execute(update(self.matches).where(this.match == bindparam("id")), old)

    def version(self, connection: Connection, match_id: UUID) -> int:
        """The last event of a match that the book has come to, or 0."""
        return connection.scalar(select(self.matches.c.version).where(self.matches.c.match == match_id)) or 0

    def last(self, connection: Connection, match_id: UUID) -> int:
        """The number of the last case of a match, or 0."""
        return connection.scalar(select(func.max(self.cases.c.case)).where(self.cases.c.match == match_id)) or 0

    def answer(
        self, connection: Connection, match_id: UUID, viewer: Viewer, after: int = 0, limit: int | None = None
    ) -> tuple[Case, ...]:
        """The case files of a match in order, as the viewer may see them; so many of those after a number."""
        last = None if limit is None else after + limit
        return self._of(connection, match_id, viewer, after, last)

    def between(
        self, connection: Connection, match_id: UUID, viewer: Viewer, after: int, to: int
    ) -> tuple[Case, ...]:
        """Those that were opened after one event and up to another."""
        this = self.cases.c
        query = select(func.min(this.case), func.max(this.case)).where(
            this.match == match_id, this.event > after, this.event <= to
        )
        first, last = connection.execute(query).one()
        return () if first is None else self._of(connection, match_id, viewer, first - 1, last)

    def _of(
        self, connection: Connection, match_id: UUID, viewer: Viewer, after: int, last: int | None
    ) -> tuple[Case, ...]:
        public_to = connection.scalar(select(self.matches.c.public_to).where(self.matches.c.match == match_id)) or 0
        this = self.entries.c
        query = select(self.entries).where(this.match == match_id, this.case > after).order_by(this.case, this.event)
        if last is not None:
            query = query.where(this.case <= last)
        return tuple(
            Case(number, tuple(_seen(row, viewer, public_to) for row in rows))
            for number, rows in groupby(connection.execute(query), lambda row: row.case)
        )


def _seen(row: Any, viewer: Viewer, public_to: int) -> Entry:
    return Entry(row.event, row.at, seen(READ[row.topic](row.fact), viewer, row.event <= public_to))


def _entry(recorded: Recorded, number: int) -> dict[str, Any]:
    return {
        "match": recorded.originator_id,
        "event": recorded.originator_version,
        "case": number,
        "at": recorded.at,
        "topic": recorded.event.TOPIC,
        "fact": msgspec.json.encode(recorded.event).decode(),
    }


def _case(recorded: Recorded, ruleset: str) -> dict[str, Any]:
    """The row of a case that begins with this event."""
    event: Any = recorded.event
    return {
        "match": recorded.originator_id,
        "case": event.case,
        "event": recorded.originator_version,
        "opened_at": recorded.at,
        "ruleset": ruleset,
        "rule": None,
        "appeal_until": None,
    }


def _changes(event: Any) -> dict[str, Any]:
    """What an event changes of how a case stands."""
    match event:
        case CaseOpened():
            return {"status": "pending"}
        case CaseRuled() | KnockUpheld() | KnockDismissed():
            until = event.appeal_until
            return {"status": "ruled" if until else "final", "rule": event.rule, "appeal_until": until}
        case CaseAppealed():
            return {"status": "appealed"}
        case CaseWithdrawn():
            return {"status": "withdrawn"}
        case ActTakenBack(seat=seat) if seat is not None:
            return {"status": "final", "rule": "J11"}
    return {}
