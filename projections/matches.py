"""The index of matches, for lists of them."""

from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from msgspec import Meta
from msgspec.structs import asdict, replace
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
    insert,
    select,
    tuple_,
    update,
)

from projections.cursors import cursor_of, read_cursor
from projections.follow.engine import Json, Utc
from projections.follow.keeping import LIVE, own_name
from projections.follow.page import Page, topics
from referee.events import (
    Dealing,
    DealScored,
    Dealt,
    Enforcement,
    MatchAbandoned,
    MatchClosed,
    MatchOpened,
    MatchWon,
    Recorded,
)
from referee.proceedings.corrections import ProtocolCorrected
from referee.value import Seat, Time, Value, Version

Status = Annotated[
    Literal["open", "over", "abandoned"],
    Meta(
        title="MatchStatus",
        description="Whether a match goes on, is over (played to its end, or closed), or is over without having been "
        "finished.",
    ),
]


class Listed(Value):
    """A match in the list. ``deal`` is the one under way, or the last one when the match is over.

    ``winner`` is of partners the first, and ``None`` in a match that is over if nobody won it.
    """

    match: UUID
    ruleset: str
    status: Status
    players: tuple[str, ...]
    dealing: Dealing
    enforcement: Enforcement
    opened_at: Time
    changed_at: Time
    deal: int
    version: Version
    winner: Seat | None


def listed(entry: Listed | None, recorded: Recorded) -> Listed:
    """The entry of a match after one more event."""
    number, at, event = recorded.originator_version, recorded.at, recorded.event
    if isinstance(event, MatchOpened):
        return Listed(
            match=recorded.originator_id,
            ruleset=event.ruleset,
            status="open",
            players=event.players,
            dealing=event.dealing,
            enforcement=event.enforcement,
            opened_at=at,
            changed_at=at,
            deal=1,
            version=number,
            winner=None,
        )
    assert entry is not None, "a match begins with its opening"
    status: Status
    match event:
        case Dealt(deal=deal):
            return replace(entry, changed_at=at, version=number, deal=deal)
        case DealScored(deal=deal):
            return replace(entry, changed_at=at, version=number, deal=deal + 1)
        case ProtocolCorrected(won=None, next_deal=deal):
            return replace(entry, changed_at=at, version=number, status="open", winner=None, deal=deal)
        case ProtocolCorrected(won=won, next_deal=deal) if won is not None:
            status = "abandoned" if won.by == "abandoned" else "over"
            last = max(1, deal - 1)
            return replace(entry, changed_at=at, version=number, status=status, winner=won.seat, deal=last)
        case MatchWon() | MatchClosed() | MatchAbandoned():
            winner = event.seat if isinstance(event, MatchWon) else None
            status = "abandoned" if isinstance(event, MatchAbandoned) else "over"
            last = max(1, entry.deal - 1)
            return replace(entry, changed_at=at, version=number, status=status, winner=winner, deal=last)
    return replace(entry, changed_at=at, version=number)


class Matches:
    """The book of all matches."""

    name = key = "matches"
    takes = topics(MatchOpened, Dealt, DealScored, MatchWon, MatchClosed, MatchAbandoned, ProtocolCorrected)

    def __init__(self, prefix: str = LIVE) -> None:
        self.metadata = MetaData()
        self.entries = Table(
            f"{prefix}matches",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("ruleset", Text, nullable=False),
            Column("status", Text, nullable=False),
            Column("players", Json(tuple[str, ...]), nullable=False),
            Column("dealing", Text, nullable=False),
            Column("enforcement", Text, nullable=False),
            Column("opened_at", Utc, nullable=False),
            Column("changed_at", Utc, nullable=False),
            Column("deal", Integer, nullable=False),
            Column("version", Integer, nullable=False),
            Column("winner", Integer),
        )
        Index(own_name("ix_matches"), self.entries.c.opened_at, self.entries.c.match)
        self.players = Table(
            f"{prefix}match_players",
            self.metadata,
            Column("name", Text, primary_key=True),
            Column("match", Uuid, primary_key=True),
        )

    def under(self, prefix: str) -> Self:
        """The same book in other tables."""
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Page) -> None:
        """Takes in the events of a page; what it has already, it passes over."""
        query = select(self.entries).where(self.entries.c.match.in_(page.histories))
        known = {row.match: Listed(**row._mapping) for row in connection.execute(query)}
        versions = {match_id: entry.version for match_id, entry in known.items()}
        entries: dict[UUID, Listed] = {}
        for match_id, version, last, events in page.news(versions, self.takes):
            entry = known.get(match_id)
            for recorded in events:
                entry = listed(entry, recorded)
            assert entry is not None
            entries[match_id] = replace(entry, changed_at=page.recorded(match_id, last).at, version=version)
        if new := [entry for match_id, entry in entries.items() if match_id not in known]:
            connection.execute(insert(self.entries), [asdict(entry) for entry in new])
            players = [{"name": _key(name), "match": entry.match} for entry in new for name in set(entry.players)]
            connection.execute(insert(self.players), players)
        if old := [{"id": match_id, **_changed(entry)} for match_id, entry in entries.items() if match_id in known]:
            connection.execute(update(self.entries).where(self.entries.c.match == bindparam("id")), old)

    def version(self, connection: Connection, match_id: UUID) -> int:
        """The last event of a match that the list knows of."""
        return connection.scalar(select(self.entries.c.version).where(self.entries.c.match == match_id)) or 0

    def page(
        self,
        connection: Connection,
        *,
        ruleset: str | None = None,
        status: Status | None = None,
        player: str | None = None,
        opened_from: datetime | None = None,
        opened_to: datetime | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> tuple[tuple[Listed, ...], str | None]:
        """Matches in the order in which they were opened, and the cursor of the next page if there is one.

        ``player`` is a whole name; ``opened_from`` is within the span, ``opened_to`` behind it. ``after`` is the
        cursor that the page before gave: raises ``ValueError`` if it is not.
        """
        assert limit > 0, "a page has room for a match"
        entries = self.entries.c
        query = select(self.entries).order_by(entries.opened_at, entries.match).limit(limit + 1)
        if ruleset is not None:
            query = query.where(entries.ruleset == ruleset)
        if status is not None:
            query = query.where(entries.status == status)
        if player is not None:
            theirs = select(self.players.c.match).where(self.players.c.name == _key(player))
            query = query.where(entries.match.in_(theirs))
        if opened_from is not None:
            query = query.where(entries.opened_at >= opened_from)
        if opened_to is not None:
            query = query.where(entries.opened_at < opened_to)
        if after is not None:
            opened_at, match_id = read_cursor(after, tuple[datetime, UUID])
            place = tuple_(bindparam("at", opened_at, Utc), bindparam("id", match_id, Uuid))
            query = query.where(tuple_(entries.opened_at, entries.match) > place)
        found = [Listed(**row._mapping) for row in connection.execute(query)]
        more = len(found) > limit
        last = found[:limit][-1] if more else None
        return tuple(found[:limit]), cursor_of(last.opened_at, last.match) if last else None


def _changed(entry: Listed) -> dict[str, Any]:
    """What later events may change."""
    return {name: getattr(entry, name) for name in ("status", "changed_at", "deal", "version", "winner")}


def _key(name: str) -> str:
    """What a player is found by: of a fixed length, since a database cannot index a name of any."""
    return sha256(name.encode()).hexdigest()
