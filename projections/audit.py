"""The audit: the trail of every event and who caused it, and a case file for each knock.

The book keeps all; what a viewer may not know yet is left out when it is asked. So ask as the viewer.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, Self
from uuid import UUID

import msgspec
from msgspec.structs import replace
from sqlalchemy import (
    Column,
    Connection,
    Integer,
    MetaData,
    Row,
    Table,
    Uuid,
    bindparam,
    insert,
    select,
    update,
)

from projections.follow.engine import Json, Utc
from projections.follow.follow import LIVE, Placed
from referee.actors import Actor
from referee.events import (
    LAYS_OPEN,
    DealScored,
    Dealt,
    DealVoided,
    Event,
    KnockDismissed,
    KnockUpheld,
    MatchClosed,
    MatchWon,
    PenaltyImposed,
    PlayerEliminated,
    Recorded,
    Viewer,
    seen,
)
from referee.value import Value


class Step(Value):
    """An event in the trail: ``number`` in its match, ``position`` among all matches.

    ``act`` is the id of the act that made it, ``rules`` what the event cites. ``prev`` is the hash of the row
    before, in which there may be what is still hidden: only officials get it before the deal is over.
    """

    number: int
    position: int
    at: datetime
    actor: Actor
    act: str
    topic: str
    deal: int
    rules: tuple[str, ...]
    prev: str | None


class Case(Value):
    """A knock and what came of it; event ``event`` of the match is the ruling.

    ``named`` is the offence that the knocker named, ``offence`` the one that was found. Upheld, ``payer`` goes up
    ``penalty``; dismissed, ``reason`` says why, and the knocker goes up ``fine`` where that is the custom.
    ``public``: the deal is over and nothing is left out.
    """

    case: int
    deal: int
    event: int
    at: datetime
    seat: int
    accused: int
    named: str | None
    verdict: Literal["upheld", "dismissed"]
    offence: str | None
    reason: str | None
    rule: str
    penalty: int
    payer: int | None
    rests_on: tuple[int, ...]
    note: str
    fine: int
    within_deal: bool
    public: bool


class _Place(msgspec.Struct, frozen=True):
    """Where a match stands: its last event and that event's deal, the deal under way, and up to which event
    all cards lie open."""

    version: int = 0
    last: int = 1
    deal: int = 1
    public_to: int = 0

    def after(self, recorded: Recorded) -> "_Place":
        number, event = recorded.originator_version, recorded.event
        assert number == self.version + 1, f"event {self.version + 1} of match {recorded.originator_id} is missing"
        public_to = number if type(event) in LAYS_OPEN else self.public_to
        match event:
            case DealScored(deal=deal):
                return _Place(number, deal, deal + 1, public_to)
            case Dealt(deal=deal):
                return _Place(number, deal, deal, public_to)
            case PlayerEliminated() | MatchWon() | MatchClosed():  # of the deal that was scored, if one was just now
                return replace(self, version=number, public_to=public_to)
        return _Place(number, self.deal, self.deal, public_to)


def cited(event: Event) -> tuple[str, ...]:
    """The rules that an event names for all to know, each once; not those of breaches that nobody knocked for."""
    rules = [event.rule] if hasattr(event, "rule") else []
    if isinstance(event, DealScored | DealVoided):
        rules += [entry.rule for entry in event.entries]
    if isinstance(event, DealScored):
        rules += [entry.rule for entry in event.pot_entries]
    return tuple(dict.fromkeys(rules))


class Audit:
    """The book of the trail and the cases."""

    name, key = "audit", "audit_2"

    def __init__(self, prefix: str = LIVE) -> None:
        self.metadata = MetaData()
        self.places = Table(
            f"{prefix}{self.key}",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("version", Integer, nullable=False),
            Column("last", Integer, nullable=False),
            Column("deal", Integer, nullable=False),
            Column("public_to", Integer, nullable=False),
        )
        self.steps = Table(  # a row holds all that a page tells of a match: rows are the work of following
            f"{prefix}{self.key}_steps",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("first", Integer, primary_key=True),
            Column("last", Integer, nullable=False),
            Column("steps", Json(tuple[Step, ...]), nullable=False),
        )
        self.knocks = Table(
            f"{prefix}{self.key}_cases",
            self.metadata,
            Column("match", Uuid, primary_key=True),
            Column("case", Integer, primary_key=True),
            Column("event", Integer, nullable=False),
            Column("deal", Integer, nullable=False),
            Column("at", Utc, nullable=False),
            Column("upheld", Json(KnockUpheld)),
            Column("dismissed", Json(KnockDismissed)),
            Column("imposed", Integer, nullable=False),
        )

    def under(self, prefix: str) -> Self:
        """The same book in other tables."""
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Sequence[Placed]) -> None:
        """Takes in the events of a page; what it has already, it passes over."""
        known = self._places(connection, {placed.recorded.originator_id for placed in page})
        places = dict(known)
        steps: dict[UUID, list[Step]] = defaultdict(list)
        cases: dict[tuple[UUID, int], dict[str, Any]] = {}
        imposed: list[dict[str, Any]] = []
        for placed in page:
            recorded, event = placed.recorded, placed.recorded.event
            match_id = recorded.originator_id
            place = places.get(match_id, _Place())
            if recorded.originator_version <= place.version:
                continue
            places[match_id] = place = place.after(recorded)
            steps[match_id].append(_step(placed, place.last))
            match event:
                case KnockUpheld() | KnockDismissed():
                    cases[match_id, event.case] = _case(recorded, event, place.last)
                case PenaltyImposed(case=case, points=points) if case is not None:
                    if (match_id, case) in cases:
                        cases[match_id, case]["imposed"] = points
                    else:
                        imposed.append({"id": match_id, "number": case, "imposed": points})
        if steps:
            connection.execute(insert(self.steps), [_kept(match_id, told) for match_id, told in steps.items()])
        if cases:
            connection.execute(insert(self.knocks), list(cases.values()))
        if imposed:
            this = (self.knocks.c.match == bindparam("id")) & (self.knocks.c.case == bindparam("number"))
            connection.execute(update(self.knocks).where(this).values(imposed=bindparam("imposed")), imposed)
        self._keep(connection, known, places)

    def _places(self, connection: Connection, matches: set[UUID]) -> dict[UUID, _Place]:
        query = select(self.places).where(self.places.c.match.in_(matches))
        return {
            row.match: _Place(row.version, row.last, row.deal, row.public_to) for row in connection.execute(query)
        }

    def _keep(self, connection: Connection, known: dict[UUID, _Place], places: dict[UUID, _Place]) -> None:
        rows = {match_id: msgspec.structs.asdict(place) for match_id, place in places.items()}
        if new := [{"match": match_id, **row} for match_id, row in rows.items() if match_id not in known]:
            connection.execute(insert(self.places), new)
        if old := [{"id": match_id, **row} for match_id, row in rows.items() if match_id in known]:
            connection.execute(update(self.places).where(self.places.c.match == bindparam("id")), old)

    def version(self, connection: Connection, match_id: UUID) -> int:
        """The last event of a match that is in its trail."""
        return connection.scalar(select(self.places.c.version).where(self.places.c.match == match_id)) or 0

    def trail(
        self, connection: Connection, match_id: UUID, after: int = 0, limit: int = 500, *, viewer: Viewer
    ) -> tuple[Step, ...]:
        """The trail of a match behind event ``after``, as the viewer may see it."""
        place = self._places(connection, {match_id}).get(match_id, _Place())
        query = (
            select(self.steps.c.steps)
            .where(self.steps.c.match == match_id, self.steps.c.last > after, self.steps.c.first <= after + limit)
            .order_by(self.steps.c.first)
        )
        return tuple(
            step if viewer == "official" or step.number <= place.public_to else replace(step, prev=None)
            for steps in connection.scalars(query)
            for step in steps
            if after < step.number <= after + limit
        )

    def cases(self, connection: Connection, match_id: UUID, *, viewer: Viewer) -> tuple[Case, ...]:
        """The case files of a match in order, as the viewer may see them."""
        place = self._places(connection, {match_id}).get(match_id, _Place())
        query = select(self.knocks).where(self.knocks.c.match == match_id).order_by(self.knocks.c.case)
        return tuple(_shown(row, viewer, row.event <= place.public_to) for row in connection.execute(query))

    def case(self, connection: Connection, match_id: UUID, number: int, *, viewer: Viewer) -> Case | None:
        """One case file, as the viewer may see it; ``None`` where there is none."""
        place = self._places(connection, {match_id}).get(match_id, _Place())
        query = select(self.knocks).where(self.knocks.c.match == match_id, self.knocks.c.case == number)
        row = connection.execute(query).one_or_none()
        return _shown(row, viewer, row.event <= place.public_to) if row else None


def _step(placed: Placed, deal: int) -> Step:
    recorded = placed.recorded
    return Step(
        number=recorded.originator_version,
        position=placed.position,
        at=recorded.at,
        actor=recorded.actor,
        act=recorded.act_id,
        topic=recorded.event.TOPIC,
        deal=deal,
        rules=cited(recorded.event),
        prev=recorded.prev,
    )


def _kept(match_id: UUID, steps: list[Step]) -> dict[str, Any]:
    return {"match": match_id, "first": steps[0].number, "last": steps[-1].number, "steps": steps}


def _case(recorded: Recorded, ruling: KnockUpheld | KnockDismissed, deal: int) -> dict[str, Any]:
    return {
        "match": recorded.originator_id,
        "case": ruling.case,
        "event": recorded.originator_version,
        "deal": deal,
        "at": recorded.at,
        "upheld": ruling if isinstance(ruling, KnockUpheld) else None,
        "dismissed": ruling if isinstance(ruling, KnockDismissed) else None,
        "imposed": 0,
    }


def _shown(row: Row[Any], viewer: Viewer, public: bool) -> Case:
    """A case as its ruling may be seen."""
    whole: KnockUpheld | KnockDismissed = row.upheld or row.dismissed
    ruling = seen(whole, viewer, public)
    upheld = isinstance(ruling, KnockUpheld)
    told = viewer == "official" or public
    return Case(
        case=ruling.case,
        deal=row.deal,
        event=row.event,
        at=row.at,
        seat=ruling.seat,
        accused=ruling.accused,
        named=ruling.named,
        verdict="upheld" if upheld else "dismissed",
        offence=ruling.offence,
        reason=None if isinstance(ruling, KnockUpheld) else ruling.reason,
        rule=ruling.rule,
        penalty=ruling.penalty if isinstance(ruling, KnockUpheld) else 0,
        payer=ruling.payer if isinstance(ruling, KnockUpheld) else None,
        rests_on=ruling.rests_on,
        note=ruling.note,
        fine=0 if upheld else row.imposed,
        within_deal=told and isinstance(ruling, KnockDismissed) and ruling.within_deal,
        public=public,
    )
