"""The projection of matches, for lists."""

from collections.abc import Collection, Iterator
from datetime import datetime
from functools import lru_cache
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
    Select,
    Subquery,
    Table,
    Text,
    Uuid,
    bindparam,
    case,
    func,
    insert,
    or_,
    select,
    union_all,
    update,
)

from projections.cursors import QUERIES_KEPT, Moment, Order, limit_plus_one
from projections.follow.engine import Json, Utc
from projections.follow.page import Page, topics
from projections.follow.projection import LIVE, own_name
from projections.visibility import UNAUTHENTICATED, Sight, member_text
from referee.events import (
    Dealing,
    DealScored,
    Dealt,
    Enforcement,
    MatchAbandoned,
    MatchClosed,
    MatchOpened,
    MatchWon,
    Visibility,
)
from referee.officials.events.corrections import ProtocolCorrected
from referee.value import Seat, Time, Value, Version
from referee.visibility import Recorded

Status = Annotated[
    Literal["open", "over", "abandoned"],
    Meta(
        title="MatchStatus",
        description="Whether a match goes on, is over (played to its end, or closed), or is over without having been "
        "finished.",
    ),
]


class Listed(Value):
    """A match in a list. ``deal``: the current or last deal. ``winner``: of partners, the first."""

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
    currency: str | None = None
    """Currency of the stakes."""


def after_event(entry: Listed | None, recorded: Recorded) -> Listed:
    """Return a listed match after an event. ``entry``: before it; ``None`` before the opening."""
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
            currency=None if event.stakes is None else event.stakes.currency,
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
"""Event types that can end a match or reopen it."""


class StandingsRow(NamedTuple):
    """A row of a club's standings, without its results."""

    ruleset: str
    currency: str | None
    """Currency, if the points are its minor units; ``None``: points of the game."""
    member: int


class Standing(NamedTuple):
    """A member's finished matches, wins and half points."""

    played: int
    won: int
    halves: int


Part = Literal["public", "its public", "club", "private", "own"]
"""Part of the visible matches: all public matches, or one club's (``its public``). In the caller's club: the matches
for members (``club``), all private matches, or the caller's own private matches."""
IDS_MAX = 10_000
"""Maximum ids in one statement, because SQLite allows 32,766."""


class Matches:
    """The projection; :class:`~projections.follow.projection.Projection` explains its methods."""

    name, key = "matches", "matches_3"
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
            Column("currency", Text),
        )
        entries = self.entries.c
        Index(own_name("ix_matches"), entries.visibility, entries.opened_at, entries.match)
        Index(own_name("ix_matches_club"), entries.club, entries.visibility, entries.opened_at, entries.match)
        self.players = Table(
            f"{prefix}{self.key}_players",
            self.metadata,
            Column("name", Text, primary_key=True),
            Column("match", Uuid, primary_key=True),
            # NULL outside a club, except ``ruleset``. The last two are NULL unless ``status`` is ``over``.
            Column("club", Uuid),
            Column("evening", Integer),
            Column("member", Integer),
            Column("ruleset", Text),
            Column("won", Boolean),
            Column("halves", Integer),
        )
        players = self.players.c
        Index(own_name("ix_match_players_club"), players.club, players.evening)
        self._order = Order(tuple[Moment, UUID], entries.opened_at, entries.match)
        self._query = lru_cache(QUERIES_KEPT)(self._query_of)

    def with_prefix(self, prefix: str) -> Self:
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Page) -> None:
        query = select(self.entries).where(self.entries.c.match.in_(page.histories))
        known = {row.match: Listed(**row._mapping) for row in connection.execute(query)}
        versions = {match_id: entry.version for match_id, entry in known.items()}
        entries: dict[UUID, Listed] = {}
        results: list[dict[str, Any]] = []
        for match_id, version, last, events in page.news(versions, self.takes):
            entry = known.get(match_id)
            for recorded in events:
                entry = after_event(entry, recorded)
            assert entry is not None
            if entry.club is not None and (ends := [one.event for one in events if isinstance(one.event, ENDS)]):
                results += _result_columns(entry, ends[-1])
            entries[match_id] = replace(entry, changed_at=page.recorded(match_id, last).at, version=version)
        if new := [entry for match_id, entry in entries.items() if match_id not in known]:
            connection.execute(insert(self.entries), [asdict(entry) for entry in new])
            connection.execute(insert(self.players), [player for entry in new for player in _player_rows(entry)])
        if old := [
            {"id": match_id, **_changed_columns(entry)} for match_id, entry in entries.items() if match_id in known
        ]:
            connection.execute(update(self.entries).where(self.entries.c.match == bindparam("id")), old)
        if results:
            players = self.players.c
            this = (players.match == bindparam("id")) & (players.name == bindparam("whose"))
            connection.execute(update(self.players).where(this), results)

    def version(self, connection: Connection, match_id: UUID) -> int:
        return connection.scalar(select(self.entries.c.version).where(self.entries.c.match == match_id)) or 0

    def page(
        self,
        connection: Connection,
        sight: Sight = UNAUTHENTICATED,
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
        """Return a page of the visible matches in order of opening, and the next page's cursor.

        ``player``: a whole name; finds no club's match. ``member``: ignored without ``club``. ``opened_to`` is
        exclusive. Raises: ValueError if ``after`` is not a cursor of this list.
        """
        assert limit > 0, "a page has room for a match"
        values = {
            "ruleset": ruleset,
            "status": status,
            "player": None if player is None else _player_key(player),
            "club": club or sight.club,
            "evening": evening,
            "member": _member_key(club, member),
            "holder": _member_key(sight.club, sight.member),
            "opened_from": opened_from,
            "opened_to": opened_to,
        }
        given = {name: value for name, value in values.items() if value is not None} | self._order.values(after)
        query = self._query(_visible_parts(sight, club), frozenset(given), limit)
        found = [Listed(**row._mapping) for row in connection.execute(query, given)]
        return self._order.page(found, limit)

    def _query_of(self, parts: tuple[Part, ...], given: frozenset[str], limit: int) -> Select[Any]:
        """Return the query for a page of these parts, filtered by the ``given`` parameters.

        The query finds a page of each part by an index, and reads whole rows only for the result.
        """
        entries = self.entries.c
        filters = {
            "ruleset": entries.ruleset == bindparam("ruleset"),
            "status": entries.status == bindparam("status"),
            "player": self._is_played_by("player"),
            "evening": entries.evening == bindparam("evening"),
            "member": self._is_played_by("member"),
            "opened_from": entries.opened_at >= bindparam("opened_from"),
            "opened_to": entries.opened_at < bindparam("opened_to"),
            "after_match": self._order.beyond,
        }
        wanted = [condition for name, condition in filters.items() if name in given]
        order, most = self._order.columns, limit_plus_one(limit)
        pages = [select(*order).where(self._is_in_part(part), *wanted).order_by(*order).limit(most) for part in parts]
        if len(pages) == 1:
            return pages[0].with_only_columns(*entries)
        all_parts = union_all(*(page.subquery().select() for page in pages)).subquery()
        page = select(all_parts).order_by(*all_parts.c).limit(most).subquery()
        return select(self.entries).join(page, entries.match == page.c.match).order_by(*page.c)

    def _is_in_part(self, part: Part) -> ColumnElement[bool]:
        entries = self.entries.c
        public, club, private = (entries.visibility == who for who in ("public", "club", "private"))
        own: ColumnElement[bool] = entries.club == bindparam("club")
        seen: dict[Part, ColumnElement[bool]] = {
            "public": public,
            "its public": own & public,
            "club": own & club,
            "private": own & private,
            "own": own & private & self._is_played_by("holder"),
        }
        return seen[part]

    def _is_played_by(self, who: str) -> ColumnElement[bool]:
        """Return the condition that the player whose key is the parameter ``who`` plays."""
        players = self.players.c
        return self.entries.c.match.in_(select(players.match).where(players.name == bindparam(who)))

    def visible(self, connection: Connection, sight: Sight, matches: Collection[UUID]) -> set[UUID]:
        """Return those of ``matches`` that are visible in lists."""
        entries = self.entries.c
        given = {"club": sight.club, "holder": _member_key(sight.club, sight.member)}
        parts = or_(*(self._is_in_part(part) for part in _visible_parts(sight, None)))
        wanted, found = list(set(matches)), set[UUID]()
        for first in range(0, len(wanted), IDS_MAX):
            query = select(entries.match).where(parts, entries.match.in_(wanted[first : first + IDS_MAX]))
            found.update(connection.scalars(query, {name: one for name, one in given.items() if one is not None}))
        return found

    def rulesets(self, connection: Connection) -> tuple[str, ...]:
        return tuple(connection.scalars(select(self.entries.c.ruleset).distinct()))

    def of_club(self, club: UUID, sight: Sight) -> Select[UUID]:
        """Return the query for the ids of a club's matches that are visible in lists."""
        given = {"club": club, "holder": _member_key(sight.club, sight.member)}
        is_visible = or_(*(self._is_in_part(part) for part in _visible_parts(sight, club)))
        query = select(self.entries.c.match).where(is_visible)
        return query.params({name: value for name, value in given.items() if value is not None})

    def with_currency(self, club: UUID, sight: Sight, in_money: Collection[str]) -> Subquery:
        """Return the query of :meth:`of_club` with each match's ``currency`` (:class:`StandingsRow`).

        ``in_money``: rulesets whose points are money in a match with stakes.
        """
        entries = self.entries.c
        currency = case((entries.ruleset.in_(in_money), entries.currency)).label("currency")
        return self.of_club(club, sight).add_columns(currency).subquery()

    def standings(
        self,
        connection: Connection,
        club: UUID,
        evenings: Collection[int],
        matches: Subquery,
        ruleset: str | None = None,
    ) -> dict[StandingsRow, Standing]:
        """Return the results in finished ``matches`` (:meth:`with_currency`) of these evenings."""
        players = self.players.c
        key = players.ruleset, matches.c.currency, players.member
        query = select(*key, func.count(), func.sum(case((players.won, 1), else_=0)), func.sum(players.halves))
        query = query.join(matches, matches.c.match == players.match)
        query = query.where(players.club == club, players.evening.in_(evenings), players.won.is_not(None))
        if ruleset is not None:
            query = query.where(players.ruleset == ruleset)
        rows = connection.execute(query.group_by(*key))
        return {StandingsRow(*row[:3]): Standing(*row[3:]) for row in rows}

    def count_open(self, connection: Connection, club: UUID, member: int | None = None) -> int:
        """Return the number of a club's open matches; with ``member``, of those in which the member plays."""
        entries, players = self.entries.c, self.players.c
        query = select(func.count()).select_from(self.entries).where(entries.club == club, entries.status == "open")
        if member is not None:
            own = select(players.match).where(players.club == club, players.member == member)
            query = query.where(entries.match.in_(own))
        return connection.scalar(query) or 0


def _visible_parts(sight: Sight, club: UUID | None) -> tuple[Part, ...]:
    """Return the visible parts, of one club if ``club`` is given."""
    public: Part = "public" if club is None else "its public"
    if sight.club is None or club not in (None, sight.club):
        return (public,)
    if sight.whole_club:
        return (public, "club", "private")
    return (public, "club") if sight.member is None else (public, "club", "own")


def _player_rows(entry: Listed) -> Iterator[dict[str, Any]]:
    """Yield a row for each player's name or, in a club's match, for each member."""
    of_all = {"match": entry.match, "club": entry.club, "evening": entry.evening, "ruleset": entry.ruleset}
    of_all |= {"won": None, "halves": None}
    if entry.club is None:
        yield from ({"name": _player_key(name), "member": None, **of_all} for name in set(entry.players))
    else:
        for member in entry.members:
            yield {"name": _player_key(member_text(entry.club, member)), "member": member, **of_all}


def _result_columns(entry: Listed, end: Any) -> list[dict[str, Any]]:
    """Return each member's result columns after an event of :data:`ENDS`: ``None`` unless over."""
    won = end.won if isinstance(end, ProtocolCorrected) else end
    over = entry.status == "over" and won is not None
    winners = (getattr(won, "seats", ()) or (getattr(won, "seat", None),)) if over else ()
    parts = 1 if getattr(end, "halves", False) else 2
    assert entry.club is not None, "the caller checks this"
    return [
        {
            "id": entry.match,
            "whose": _player_key(member_text(entry.club, member)),
            "won": seat in winners if over else None,
            "halves": end.points[seat] * parts if over else None,
        }
        for seat, member in enumerate(entry.members)
    ]


def _changed_columns(entry: Listed) -> dict[str, Any]:
    return {name: getattr(entry, name) for name in ("status", "changed_at", "deal", "version", "winner")}


def _player_key(name: str) -> str:
    """Return a hash instead of the name, because names can be too long for an index."""
    return sha256(name.encode()).hexdigest()


def _member_key(club: UUID | None, member: int | None) -> str | None:
    return None if club is None or member is None else _player_key(member_text(club, member))
