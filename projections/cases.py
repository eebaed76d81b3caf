"""The case files: every knock of a match with its ruling, and what it cost.

The book keeps all; what a viewer may not know yet is left out when it is asked. So ask as the viewer.
"""

from typing import Any, NamedTuple, Self
from uuid import UUID

from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Table,
    Uuid,
    bindparam,
    func,
    insert,
    select,
    update,
)

from projections.follow.engine import Json
from projections.follow.keeping import LIVE
from projections.follow.page import Page, topics
from referee.events import LAYS_OPEN, KnockDismissed, KnockUpheld, MatchOpened, PenaltyImposed, Viewer, seen

Ruling = KnockUpheld | KnockDismissed


class Case(NamedTuple):
    """A ruling on a knock, event ``event`` of the match, as the viewer may see it.

    ``fine``: how far the knocker goes up who was wrong, where that is the custom.
    """

    event: int
    ruling: Ruling
    fine: int


class Cases:
    """The book of all case files."""

    name = key = "cases"
    takes = topics(MatchOpened, KnockUpheld, KnockDismissed, PenaltyImposed, *LAYS_OPEN)

    def __init__(self, prefix: str = LIVE) -> None:
        self.metadata = MetaData()
        self.matches = Table(
            f"{prefix}{self.key}_matches",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("version", Integer, nullable=False),
            Column("public_to", Integer, nullable=False),  # the last event of the last deal that is over
        )
        self.rulings = Table(
            f"{prefix}{self.key}_rulings",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("case", Integer, primary_key=True),
            Column("event", Integer, nullable=False),
            Column("upheld", Json(KnockUpheld)),
            Column("dismissed", Json(KnockDismissed)),
            Column("imposed", Integer, nullable=False),
        )

    def under(self, prefix: str) -> Self:
        """The same book in other tables."""
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Page) -> None:
        """Takes in the events of a page; what it has already, it passes over."""
        this = self.matches.c
        query = select(self.matches).where(this.match.in_(page.histories))
        known = {row.match: row for row in connection.execute(query)}
        versions = {match_id: row.version for match_id, row in known.items()}
        new, old = [], []
        rulings: dict[tuple[UUID, int], dict[str, Any]] = {}
        imposed: list[dict[str, Any]] = []
        for match_id, version, _, events in page.news(versions, self.takes):
            public_to = known[match_id].public_to if match_id in known else 0
            for number, event in ((recorded.originator_version, recorded.event) for recorded in events):
                match event:
                    case KnockUpheld() | KnockDismissed():
                        rulings[match_id, event.case] = _row(match_id, number, event)
                    case PenaltyImposed(case=case, points=points) if case is not None:
                        if (match_id, case) in rulings:
                            rulings[match_id, case]["imposed"] = points
                        else:
                            imposed.append({"id": match_id, "number": case, "imposed": points})
                if type(event) in LAYS_OPEN:
                    public_to = number
            row = {"version": version, "public_to": public_to}
            if match_id in known:
                old.append({"id": match_id, **row})
            else:
                new.append({"match": match_id, **row})
        if rulings:
            connection.execute(insert(self.rulings), list(rulings.values()))
        if imposed:
            ruling = (self.rulings.c.match == bindparam("id")) & (self.rulings.c.case == bindparam("number"))
            connection.execute(update(self.rulings).where(ruling).values(imposed=bindparam("imposed")), imposed)
        if new:
            connection.execute(insert(self.matches), new)
        if old:
            connection.execute(update(self.matches).where(this.match == bindparam("id")), old)

    def version(self, connection: Connection, match_id: UUID) -> int:
        """The last event of a match that the book has come to, or 0."""
        return connection.scalar(select(self.matches.c.version).where(self.matches.c.match == match_id)) or 0

    def last(self, connection: Connection, match_id: UUID) -> int:
        """The number of the last case of a match, or 0."""
        return connection.scalar(select(func.max(self.rulings.c.case)).where(self.rulings.c.match == match_id)) or 0

    def answer(
        self, connection: Connection, match_id: UUID, viewer: Viewer, after: int = 0, limit: int | None = None
    ) -> tuple[Case, ...]:
        """The case files of a match in order, as the viewer may see them; so many of those after a number."""
        public_to = connection.scalar(select(self.matches.c.public_to).where(self.matches.c.match == match_id)) or 0
        this = self.rulings.c
        query = select(self.rulings).where(this.match == match_id, this.case > after).order_by(this.case).limit(limit)
        cases = []
        for row in connection.execute(query):
            ruling = seen(row.upheld or row.dismissed, viewer, row.event <= public_to)
            cases.append(Case(row.event, ruling, row.imposed if isinstance(ruling, KnockDismissed) else 0))
        return tuple(cases)


def _row(match_id: UUID, number: int, ruling: Ruling) -> dict[str, Any]:
    return {
        "match": match_id,
        "case": ruling.case,
        "event": number,
        "upheld": ruling if isinstance(ruling, KnockUpheld) else None,
        "dismissed": ruling if isinstance(ruling, KnockDismissed) else None,
        "imposed": 0,
    }
