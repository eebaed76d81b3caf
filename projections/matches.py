"""The index of matches, for lists of them."""

from collections.abc import Collection, Iterator
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Literal, NamedTuple, Self
from uuid import UUID

from msgspec import Meta
from msgspec.structs import asdict, replace
from sqlalchemy import (
    Boolean,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    Uuid,
    bindparam,
    case,
    func,
    insert,
    select,
    tuple_,
    union_all,
    update,
)

from projections.cursors import cursor_of, read_cursor
from projections.follow.engine import Json, Utc
from projections.follow.keeping import LIVE, own_name
from projections.follow.page import Page, topics
from projections.sight import NOBODY, Sight, member_of
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
    Visibility,
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
    club: UUID | None = None
    evening: int | None = None
    table: int | None = None
    members: tuple[int, ...] = ()
    visibility: Visibility = "public"


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
            club=event.club,
            evening=event.evening,
            table=event.table,
            members=event.members,
            visibility=event.visibility,
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


ENDS = (MatchWon, MatchClosed, MatchAbandoned, ProtocolCorrected)
"""What a match may be over with, or go on again."""


class Standing(NamedTuple):
    """What a member's matches came to that are over: how many, how many of them won, and the points in halves."""

    played: int
    won: int
    halves: int


class Matches:
    """The book of all matches."""

    name, key = "matches", "matches_2"
    takes = topics(MatchOpened, Dealt, DealScored, MatchWon, MatchClosed, MatchAbandoned, ProtocolCorrected)

    def __init__(self, prefix: str = LIVE) -> None:
        self.metadata = MetaData()
        self.entries = Table(
            f"{prefix}{self.key}",
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
            Column("club", Uuid),
            Column("evening", Integer),
            Column("table", Integer),
            Column("members", Json(tuple[int, ...]), nullable=False),
            Column("visibility", Text, nullable=False),
        )
        entries = self.entries.c
        Index(own_name("ix_matches"), entries.visibility, entries.opened_at, entries.match)
        Index(own_name("ix_matches_club"), entries.club, entries.visibility, entries.opened_at, entries.match)
        self.players = Table(
            f"{prefix}{self.key}_players",
            self.metadata,
            Column("name", Text, primary_key=True),
            Column("match", Uuid, primary_key=True),
            # Of members of a club, what it came to in a match that is over: points in halves.
            Column("club", Uuid),
            Column("evening", Integer),
            Column("member", Integer),
            Column("ruleset", Text),
            Column("won", Boolean),
            Column("halves", Integer),
        )
        players = self.players.c
        Index(own_name("ix_match_players_club"), players.club, players.evening)

    def under(self, prefix: str) -> Self:
        """The same book in other tables."""
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Page) -> None:
        """Takes in the events of a page; what it has already, it passes over."""
        query = select(self.entries).where(self.entries.c.match.in_(page.histories))
        known = {row.match: Listed(**row._mapping) for row in connection.execute(query)}
        versions = {match_id: entry.version for match_id, entry in known.items()}
        entries: dict[UUID, Listed] = {}
        results: list[dict[str, Any]] = []
        for match_id, version, last, events in page.news(versions, self.takes):
            entry = known.get(match_id)
            for recorded in events:
                entry = listed(entry, recorded)
            assert entry is not None
            if entry.club is not None and (ends := [one.event for one in events if isinstance(one.event, ENDS)]):
                results += _results(entry, ends[-1])
            entries[match_id] = replace(entry, changed_at=page.recorded(match_id, last).at, version=version)
        if new := [entry for match_id, entry in entries.items() if match_id not in known]:
            connection.execute(insert(self.entries), [asdict(entry) for entry in new])
            connection.execute(insert(self.players), [player for entry in new for player in _players(entry)])
        if old := [{"id": match_id, **_changed(entry)} for match_id, entry in entries.items() if match_id in known]:
            connection.execute(update(self.entries).where(self.entries.c.match == bindparam("id")), old)
        if results:
            players = self.players.c
            this = (players.match == bindparam("id")) & (players.name == bindparam("whose"))
            connection.execute(update(self.players).where(this), results)

    def version(self, connection: Connection, match_id: UUID) -> int:
        """The last event of a match that the list knows of."""
        return connection.scalar(select(self.entries.c.version).where(self.entries.c.match == match_id)) or 0

    def page(
        self,
        connection: Connection,
        sight: Sight = NOBODY,
        *,
        ruleset: str | None = None,
        status: Status | None = None,
        player: str | None = None,
        club: UUID | None = None,
        evening: int | None = None,
        member: int | None = None,
        opened_from: datetime | None = None,
        opened_to: datetime | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> tuple[tuple[Listed, ...], str | None]:
        """Matches that somebody may see in the order in which they were opened, and the cursor of the next page if
        there is one.

        ``player`` is a whole name, ``member`` a member of the ``club``; ``opened_from`` is within the span,
        ``opened_to`` behind it. ``after`` is the cursor that the page before gave: raises ``ValueError`` if it is
        not.
        """
        assert limit > 0, "a page has room for a match"
        entries = self.entries.c
        wanted: list[ColumnElement[bool]] = []
        if ruleset is not None:
            wanted.append(entries.ruleset == ruleset)
        if status is not None:
            wanted.append(entries.status == status)
        if evening is not None:
            wanted.append(entries.evening == evening)
        if player is not None:
            wanted.append(self._plays(player))
        if club is not None and member is not None:
            wanted.append(self._plays(member_of(club, member)))
        if opened_from is not None:
            wanted.append(entries.opened_at >= opened_from)
        if opened_to is not None:
            wanted.append(entries.opened_at < opened_to)
        if after is not None:
            opened_at, match_id = read_cursor(after, tuple[datetime, UUID])
            place = tuple_(bindparam("at", opened_at, Utc), bindparam("id", match_id, Uuid))
            wanted.append(tuple_(entries.opened_at, entries.match) > place)
        # Each part is found by an index in its order, and of each no more than a page is read: where it stands, for
        # to put a question of all its columns takes longer than to answer it.
        order = entries.opened_at, entries.match
        parts = [
            select(*order).where(part, *wanted).order_by(*order).limit(limit + 1) for part in self._parts(sight, club)
        ]
        if len(parts) > 1:
            both = union_all(*(part.subquery().select() for part in parts)).subquery()
            page = select(both).order_by(*both.c).limit(limit + 1).subquery()
            query = select(self.entries).join(page, entries.match == page.c.match).order_by(*page.c)
        else:
            query = parts[0].with_only_columns(*entries)
        found = [Listed(**row._mapping) for row in connection.execute(query)]
        more = len(found) > limit
        last = found[:limit][-1] if more else None
        return tuple(found[:limit]), cursor_of(last.opened_at, last.match) if last else None

    def _parts(self, sight: Sight, club: UUID | None) -> Iterator[ColumnElement[bool]]:
        """What somebody may see: the public matches, and of his club those for its members and some of the private
        ones. ``club``: where only its matches are asked for."""
        entries = self.entries.c
        public = entries.visibility == "public"
        yield public if club is None else (entries.club == club) & public
        if sight.club is None or club not in (None, sight.club):
            return
        own = entries.club == sight.club
        yield own & (entries.visibility == "club")
        if sight.whole_club:
            yield own & (entries.visibility == "private")
        elif sight.member is not None:
            yield own & (entries.visibility == "private") & self._plays(member_of(sight.club, sight.member))

    def _plays(self, name: str) -> ColumnElement[bool]:
        """Of a match: somebody plays in it."""
        return self.entries.c.match.in_(select(self.players.c.match).where(self.players.c.name == _key(name)))

    def standings(
        self, connection: Connection, club: UUID, evenings: Collection[int], ruleset: str | None = None
    ) -> dict[int, Standing]:
        """By member, what the matches of these evenings of a club came to that are over."""
        players = self.players.c
        query = select(
            players.member,
            func.count().label("played"),
            func.sum(case((players.won, 1), else_=0)).label("won"),
            func.sum(players.halves).label("halves"),
        ).where(players.club == club, players.evening.in_(evenings), players.won.is_not(None))
        if ruleset is not None:
            query = query.where(players.ruleset == ruleset)
        rows = connection.execute(query.group_by(players.member))
        return {row.member: Standing(row.played, row.won, row.halves) for row in rows}

    def still_open(self, connection: Connection, club: UUID) -> int:
        """How many matches of a club are not over."""
        entries = self.entries.c
        query = select(func.count()).select_from(self.entries).where(entries.club == club, entries.status == "open")
        return connection.scalar(query) or 0


def _players(entry: Listed) -> Iterator[dict[str, Any]]:
    """What the players of a match are found by: names, or members of their club."""
    of_all = {"match": entry.match, "club": entry.club, "evening": entry.evening, "ruleset": entry.ruleset}
    of_all |= {"won": None, "halves": None}
    if entry.club is None:
        yield from ({"name": _key(name), "member": None, **of_all} for name in set(entry.players))
    else:
        for member in entry.members:
            yield {"name": _key(member_of(entry.club, member)), "member": member, **of_all}


def _results(entry: Listed, end: Any) -> list[dict[str, Any]]:
    """What a match has come to for each member, by one of :data:`ENDS`: nothing where it goes on, or was not
    finished."""
    won = end.won if isinstance(end, ProtocolCorrected) else end
    over = entry.status == "over" and won is not None
    winners = (getattr(won, "seats", ()) or (getattr(won, "seat", None),)) if over else ()
    parts = 1 if getattr(end, "halves", False) else 2
    assert entry.club is not None, "its members play"
    return [
        {
            "id": entry.match,
            "whose": _key(member_of(entry.club, member)),
            "won": seat in winners if over else None,
            "halves": end.points[seat] * parts if over else None,
        }
        for seat, member in enumerate(entry.members)
    ]


def _changed(entry: Listed) -> dict[str, Any]:
    """What later events may change."""
    return {name: getattr(entry, name) for name in ("status", "changed_at", "deal", "version", "winner")}


def _key(name: str) -> str:
    """What a player is found by: of a fixed length, since a database cannot index a name of any."""
    return sha256(name.encode()).hexdigest()
