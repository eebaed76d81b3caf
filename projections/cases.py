"""The projection of case files: knocks, statements, rulings and penalties.

Events are stored whole. Queries hide fields that the viewer may not see yet.
"""

from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple, Self
from uuid import UUID

import msgspec
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
    func,
    insert,
    or_,
    select,
    tuple_,
    update,
)
from sqlalchemy import (
    case as sqlcase,
)

from projections.case_rows import begins_case, changes_of, entry_of, new_case_row, opener_of
from projections.cursors import QUERIES_KEPT, Moment, Number, Order, limit_plus_one
from projections.follow.engine import Json, Utc
from projections.follow.page import Page, topics
from projections.follow.projection import LIVE, own_name
from projections.matches import StandingsRow
from projections.visibility import Sight, club_officials_text
from referee.actors import Actor, seat_of
from referee.events import DEAL_ENDS, MATCH_ENDS, KnockDismissed, KnockUpheld, MatchOpened, PenaltyImposed
from referee.officials.events.cases import (
    CaseAppealed,
    CaseOpened,
    CaseRuled,
    CaseStated,
    CaseWithdrawn,
)
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.takeback import ActTakenBack
from referee.tokens import encrypt_or_decrypt
from referee.value import CaseKind, Verdict
from referee.visibility import Event, Recorded, Viewer, as_seen_by

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
ENDS: tuple[type[Event], ...] = (*MATCH_ENDS, ProtocolCorrected)
"""Event types that can end a match or reopen it."""
DECODERS = {kind.TOPIC: msgspec.json.Decoder(kind).decode for kind in FACTS}


class CaseEvent(NamedTuple):
    """An event of a case, and the time when it was stored."""

    event: int
    at: datetime
    fact: Any
    """Event of :data:`FACTS`, as the viewer may see it."""


class Case(NamedTuple):
    """The events of a case in order. The first is the opening, the referee's ruling on a knock, or an agreed
    take-back."""

    case: int
    entries: tuple[CaseEvent, ...]


def fine_of(facts: Iterable[Any]) -> int:
    """Return the fine for a dismissed knock; otherwise 0. ``facts``: the case's events, the ruling first."""
    ruling, *imposed = facts
    if not isinstance(ruling, KnockDismissed):
        return 0
    return sum(fact.points for fact in imposed if isinstance(fact, PenaltyImposed) and fact.seat == ruling.seat)


class Listed(NamedTuple):
    """A case in a list for officials. A case with the ``status`` ``ruled`` is final from ``appeal_until``."""

    match: UUID
    case: int
    event: int
    opened_at: datetime
    ruleset: str
    status: str
    kind: CaseKind
    deal: int | None
    accused: int | None
    offence: str | None
    verdict: Verdict | None
    rule: str | None
    official: Actor | None
    appeal_until: datetime | None
    by: Actor
    note: str


LISTED = (*Listed._fields[: Listed._fields.index("by")], "opening")
"""Columns of a listed case. The last contains ``by`` and ``note``."""


class _Match(NamedTuple):
    """The row of a match without its id."""

    version: int = 0
    public_to: int = 0
    ruleset: str = ""
    officials: tuple[str, ...] = ()
    members: str = ""
    evening: int | None = None
    over: bool = False
    held_back: bool = False


class _Changes:
    """Rows of cases that a page adds or changes."""

    def __init__(self, tokens: Callable[[UUID, MatchOpened], tuple[str, ...]]) -> None:
        self._tokens = tokens
        self.entries: list[dict[str, Any]] = []
        self.cases: dict[tuple[UUID, int], dict[str, Any]] = {}
        """Columns of new and changed cases, by match and number."""
        self.official_cases: list[dict[str, Any]] = []
        """Rows of new cases for each official and club. ``of``: the case's columns."""

    def add_event(self, match: _Match, recorded: Recorded) -> _Match:
        """Add an event's rows. Return the match's row after the event."""
        event = recorded.event
        if isinstance(event, MatchOpened):
            match = _match_after_opening(match, event, self._tokens(recorded.originator_id, event))
        if isinstance(event, FACTS) and (number := getattr(event, "case", None)) is not None:
            self._add_to_case(match, recorded, number)
        if isinstance(event, ENDS):
            match = match._replace(over=not isinstance(event, ProtocolCorrected) or event.won is not None)
        if type(event) in DEAL_ENDS:
            match = match._replace(public_to=recorded.originator_version)
        return match

    def _add_to_case(self, match: _Match, recorded: Recorded, number: int) -> None:
        event = recorded.event
        self.entries.append(entry_of(recorded, number))
        case = self.cases.setdefault((recorded.originator_id, number), {})
        case |= new_case_row(recorded, match.ruleset) if begins_case(event) else {}
        case |= changes_of(event)
        if begins_case(event):
            knocker = _member_at(match.members, seat_of(opener_of(event)))
            whose = {"members": match.members, "evening": match.evening, "knocker": knocker}
            self.official_cases += [{"token": token, "of": case, **whose} for token in set(match.officials)]


def _match_after_opening(match: _Match, event: MatchOpened, officials: tuple[str, ...]) -> _Match:
    if event.club is not None:
        officials = (*officials, club_officials_text(event.club))
    return match._replace(
        ruleset=event.ruleset,
        officials=officials,
        members=_members_text(event.members),
        evening=event.evening,
        held_back=not set(event.members).isdisjoint(event.given_by),
    )


class Cases:
    """The projection; :class:`~projections.follow.projection.Projection` explains its methods."""

    name = "cases"
    key = "cases_4"
    takes = topics(MatchOpened, *FACTS, *DEAL_ENDS, *ENDS)

    def __init__(self, prefix: str = LIVE, secret: Callable[[], bytes] | None = None) -> None:
        """``secret``: returns the store's secret. :meth:`apply` needs it for matches with officials' tokens."""
        self._secret = secret
        self.metadata = MetaData()
        self.matches = Table(
            f"{prefix}{self.key}_matches",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("version", Integer, nullable=False),
            Column("public_to", Integer, nullable=False),  # last event of the last finished deal
            Column("ruleset", Text, nullable=False),
            Column("officials", Json(tuple[str, ...]), nullable=False),  # SHA-256 of their tokens, and the club
            Column("members", Text, nullable=False),
            Column("evening", Integer),
            Column("over", Boolean, nullable=False),
            Column("held_back", Boolean, nullable=False),  # true if a player may know an official's token
        )
        self.cases = Table(
            f"{prefix}{self.key}_cases",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("case", Integer, primary_key=True),
            Column("event", Integer, nullable=False),
        )
        self.official_cases = self._official_cases_table(prefix)
        cases = self.official_cases.c
        self._order = Order(tuple[Moment, UUID, Number], cases.opened_at, cases.match, cases.case)
        self._query = lru_cache(QUERIES_KEPT)(self._query_of)
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

    def _official_cases_table(self, prefix: str) -> Table:
        table = Table(
            f"{prefix}{self.key}_held",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("case", Integer, primary_key=True),
            Column("token", Text, primary_key=True),  # SHA-256 of an official's token, or the club
            Column("members", Text, nullable=False),
            Column("evening", Integer),
            Column("knocker", Integer),  # opener; null: no member
            Column("event", Integer, nullable=False),
            Column("opened_at", Utc, nullable=False),
            Column("ruleset", Text, nullable=False),
            Column("status", Text, nullable=False),  # `ruled` even after `appeal_until`
            Column("kind", Text, nullable=False),
            Column("deal", Integer),
            Column("accused", Integer),
            Column("offence", Text),
            Column("verdict", Text),
            Column("rule", Text),
            Column("official", Text),  # last to rule; null: the referee or none
            Column("appeal_until", Utc),
            Column("opening", Json(tuple[Actor, str]), nullable=False),  # the opener and their text
        )
        cases = table.c
        place = (cases.opened_at, cases.match, cases.case)
        Index(own_name("ix_held"), cases.token, *place)
        Index(own_name("ix_held_status"), cases.token, cases.status, *place)
        Index(own_name("ix_held_rule"), cases.token, cases.rule, *place)
        Index(own_name("ix_held_until"), cases.token, cases.appeal_until)
        return table

    def with_prefix(self, prefix: str) -> Self:
        return type(self)(prefix, self._secret)

    def apply(self, connection: Connection, page: Page) -> None:
        this = self.matches.c
        query = select(self.matches).where(this.match.in_(page.histories))
        known = {row.match: _Match(*row[1:]) for row in connection.execute(query)}
        versions = {match_id: match.version for match_id, match in known.items()}
        changes, new, old = _Changes(self._tokens), [], []
        for match_id, version, _, events in page.news(versions, self.takes):
            match = known.get(match_id, _Match())
            for recorded in events:
                match = changes.add_event(match, recorded)
            row = match._replace(version=version)._asdict()
            if match_id in known:
                old.append({"id": match_id, **row})
            else:
                new.append({"match": match_id, **row})
        self._store_changes(connection, changes)
        if new:
            connection.execute(insert(self.matches), new)
        if old:
            connection.execute(update(self.matches).where(this.match == bindparam("id")), old)

    def _tokens(self, match_id: UUID, opened: MatchOpened) -> tuple[str, ...]:
        """Decrypt and return the SHA-256 of each official's token."""
        if not opened.dockets:
            return ()
        assert self._secret is not None, "a projection that applies events has the secret of their store"
        return encrypt_or_decrypt(self._secret(), match_id, opened.dockets)

    def _store_changes(self, connection: Connection, changes: "_Changes") -> None:
        if changes.entries:
            connection.execute(insert(self.entries), changes.entries)
        begun = [case for case in changes.cases.values() if "event" in case]
        if begun:
            places = [{name: case[name] for name in ("match", "case", "event")} for case in begun]
            connection.execute(insert(self.cases), places)
            if changes.official_cases:
                rows = [one.pop("of") | one for one in changes.official_cases]
                connection.execute(insert(self.official_cases), rows)
        for (match_id, number), case in changes.cases.items():
            if case and "event" not in case:
                place = (self.official_cases.c.match == match_id) & (self.official_cases.c.case == number)
                connection.execute(update(self.official_cases).where(place).values(case))

    def version(self, connection: Connection, match_id: UUID) -> int:
        return connection.scalar(select(self.matches.c.version).where(self.matches.c.match == match_id)) or 0

    def last(self, connection: Connection, match_id: UUID) -> int:
        """Return the number of a match's last case; 0: none."""
        return connection.scalar(select(func.max(self.cases.c.case)).where(self.cases.c.match == match_id)) or 0

    def answer(
        self, connection: Connection, match_id: UUID, viewer: Viewer, after: int = 0, limit: int | None = None
    ) -> tuple[Case, ...]:
        """Return at most ``limit`` (``None``: all) cases after number ``after``, as the viewer may see them."""
        case = self.entries.c.case
        last = () if limit is None else (case <= after + limit,)
        return self._cases_where(connection, match_id, viewer, case > after, *last)

    def page(
        self,
        connection: Connection,
        sight: Sight,
        at: datetime,
        *,
        status: str | None = None,
        ruleset: str | None = None,
        rule: str | None = None,
        after: str | None = None,
        limit: int = 50,
    ) -> tuple[tuple[Listed, ...], str | None]:
        """Return a page of the cases that the caller officiates, in order of opening, and the next page's cursor.

        ``at`` decides whether a ruling is final. Raises ValueError if ``after`` is not a cursor of this list.
        """
        assert limit > 0, "a page has room for a case"
        filters = {"ruleset": ruleset, "rule": rule}
        given = {name: value for name, value in filters.items() if value is not None} | self._order.values(after)
        given |= {"at": at, **_official_of(sight)}
        found = list(map(_listed_case, connection.execute(self._query(status, frozenset(given), limit), given)))
        return self._order.page(found, limit)

    def _query_of(self, status: str | None, given: frozenset[str], limit: int) -> Select[Any]:
        """Return the query of :meth:`page`. ``given``: names of its parameters."""
        cases = self.official_cases.c
        filters = {
            "ruleset": cases.ruleset == bindparam("ruleset"),
            "rule": cases.rule == bindparam("rule"),
            "after_match": self._order.beyond,
        }
        query = self._cases_of_official(given).where(
            *(condition for name, condition in filters.items() if name in given)
        )
        query = query.order_by(*self._order.columns).limit(limit_plus_one(limit))
        at = bindparam("at", type_=Utc)
        if status == "final":
            query = query.where(cases.status.not_in(("pending", "appealed", "withdrawn")))
            query = query.where(or_(cases.appeal_until.is_(None), cases.appeal_until <= at))
        elif status is not None:
            query = query.where(cases.status == status)
        if status == "ruled":
            # Rulings that are not final yet are few, so they are selected first.
            lately = select(cases.match, cases.case).where(
                cases.token == bindparam("official"), cases.appeal_until > at
            )
            few = lately.cte("lately").prefix_with("MATERIALIZED")
            query = query.join(few, (few.c.match == cases.match) & (few.c.case == cases.case))
        return query

    def earlier(
        self,
        connection: Connection,
        sight: Sight,
        rules: Iterable[str],
        viewer: Viewer,
        *,
        match: UUID | None = None,
        except_case: tuple[UUID, int] | None = None,
        limit: int = 20,
    ) -> tuple[tuple[Listed, CaseRuled], ...]:
        """Return the ``limit`` latest cases that officials decided by these rules, the latest opening first.

        Each has its last ruling as the viewer may see it. Without ``match``, they are of all matches that the caller
        officiates.
        """
        cases = self.official_cases.c
        whose = _official_of(sight)
        # A token does not hide the given match's cases, because parties may read its rulings.
        given = whose if match is None else whose.keys() - {"by_token"}
        query = self._cases_of_official(given).where(cases.rule.in_(rules), cases.status.in_(("ruled", "final")))
        query = query.where(cases.official.is_not(None))
        if match is not None:
            query = query.where(cases.match == match)
        if except_case is not None:
            query = query.where((cases.match != except_case[0]) | (cases.case != except_case[1]))
        query = query.order_by(*(column.desc() for column in self._order.columns)).limit(limit)
        found = list(map(_listed_case, connection.execute(query, whose)))
        this, known = self.entries, self.matches.c
        places = tuple_(this.c.match, this.c.case).in_([(one.match, one.case) for one in found])
        stated = select(this.c.match, this.c.case, this.c.event, this.c.fact, known.public_to).select_from(
            this.join(self.matches, this.c.match == known.match)
        )
        stated = stated.where(this.c.topic == CaseRuled.TOPIC, places).order_by(this.c.event)
        rulings: dict[tuple[UUID, int], Any] = {}
        for row in connection.execute(stated):
            fact = DECODERS[CaseRuled.TOPIC](row.fact)
            rulings[row.match, row.case] = as_seen_by(fact, viewer, row.event <= row.public_to)
        return tuple((one, rulings[one.match, one.case]) for one in found)

    def _cases_of_official(self, given: Collection[str]) -> Select[Any]:
        """Return the query for an official's cases. ``given``: names of its parameters (:func:`_official_of`).

        The query excludes matches in which the official plays, and unfinished matches in which a member plays who may
        know the credential.
        """
        cases, matches = self.official_cases.c, self.matches.c
        query = select(*(cases[name] for name in LISTED)).where(cases.token == bindparam("official"))
        if "sits" in given:
            query = query.where(cases.members.not_like(bindparam("sits")))
        behind = [cases.members.like(bindparam(name)) for name in sorted(given) if name.startswith("behind_")]
        hidden = matches.held_back if "by_token" in given else or_(*behind) if behind else None
        if hidden is None:
            return query
        under_way = select(matches.match).where(matches.match == cases.match, matches.over.is_(False), hidden)
        return query.where(~under_way.exists())

    def knocks(
        self,
        connection: Connection,
        club: UUID,
        evenings: Collection[int],
        matches: Subquery,
        ruleset: str | None = None,
    ) -> dict[StandingsRow, tuple[int, int]]:
        """Return, by row of the standings, the numbers of upheld and dismissed knocks on these evenings of a club.

        Members' cases of offences count as knocks, unless withdrawn. ``matches``: query by
        :meth:`~projections.matches.Matches.with_currency`.
        """
        cases = self.official_cases.c
        upheld = func.sum(sqlcase((cases.verdict == "upheld", 1), else_=0))
        dismissed = func.sum(sqlcase((cases.verdict == "dismissed", 1), else_=0))
        key = cases.ruleset, matches.c.currency, cases.knocker
        query = select(*key, upheld, dismissed).join(matches, matches.c.match == cases.match)
        query = query.where(
            cases.token == club_officials_text(club),
            cases.evening.in_(evenings),
            cases.kind == "offence",
            cases.status != "withdrawn",
            cases.knocker.is_not(None),
        )
        if ruleset is not None:
            query = query.where(cases.ruleset == ruleset)
        rows = connection.execute(query.group_by(*key))
        return {StandingsRow(*row[:3]): (row[3], row[4]) for row in rows}

    def about(
        self,
        connection: Connection,
        match_id: UUID,
        viewer: Viewer,
        deal: int,
        *,
        after: int,
        to: int,
        others: Collection[int] = (),
    ) -> tuple[Case, ...]:
        """Return cases about ``deal``, cases begun after event ``after`` up to event ``to``, and cases numbered
        ``others``."""
        this, entries = self.cases.c, self.entries.c
        within = select(this.case).where(this.match == match_id, this.event > after, this.event <= to)
        opened = select(entries.case, entries.fact).where(
            entries.match == match_id, entries.topic == CaseOpened.TOPIC
        )
        deals = {row.case: msgspec.json.decode(row.fact, type=CaseOpened).deal for row in connection.execute(opened)}
        numbers = {number for number, whose in deals.items() if whose == deal}
        numbers |= {*connection.scalars(within), *others}
        return self._cases_where(connection, match_id, viewer, entries.case.in_(numbers)) if numbers else ()

    def _cases_where(
        self, connection: Connection, match_id: UUID, viewer: Viewer, *which: ColumnElement[bool]
    ) -> tuple[Case, ...]:
        public_to = connection.scalar(select(self.matches.c.public_to).where(self.matches.c.match == match_id)) or 0
        this = self.entries.c
        query = select(self.entries).where(this.match == match_id, *which).order_by(this.case, this.event)
        return tuple(
            Case(number, tuple(_case_event_for(row, viewer, public_to) for row in rows))
            for number, rows in groupby(connection.execute(query), lambda row: row.case)
        )


def _members_text(members: tuple[int, ...]) -> str:
    """Return members as a text for ``LIKE``."""
    return f",{','.join(map(str, members))}," if members else ""


def _member_at(members: str, seat: int | None) -> int | None:
    return int(members.strip(",").split(",")[seat]) if members and seat is not None else None


def _official_of(sight: Sight) -> dict[str, Any]:
    """Return the parameters of :meth:`Cases._cases_of_official` for a caller."""
    whose: dict[str, Any] = {"official": sight.official}
    if sight.club is None:
        return whose | {"by_token": True}
    if sight.sits is not None:
        whose["sits"] = f"%{_members_text((sight.sits,))}%"
    return whose | {f"behind_{member}": f"%{_members_text((member,))}%" for member in sight.behind}


def _listed_case(row: Any) -> Listed:
    *columns, opening = row
    return Listed(*columns, *opening)


def _case_event_for(row: Any, viewer: Viewer, public_to: int) -> CaseEvent:
    return CaseEvent(row.event, row.at, as_seen_by(DECODERS[row.topic](row.fact), viewer, row.event <= public_to))
