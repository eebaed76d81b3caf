"""A log of real matches for the books to follow: played by random acts, right and wrong ones, and knocks."""

import asyncio
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from sqlalchemy import Column, ColumnElement, Engine, Text, select, type_coerce

from api.runtime.projections import log_of
from projections.cases import Cases
from projections.follow.engine import Json
from projections.follow.follow import Follower, Projection
from projections.follow.page import Page, Read
from projections.matches import Matches
from projections.pots import Pots
from projections.protocols import Protocols
from referee.actors import actor_of
from referee.acts import Knock, Play, Void
from referee.refusals import Refused
from referee.store.command import Command
from referee.store.desk import Desk
from referee.store.match import Match
from referee.store.store import Referee
from referee.visibility import Recorded
from tests.support.random_matches import legal_acts, opened

Said = dict[str, list[tuple[Any, ...]]]
"""The content of each table."""

KINDS: tuple[dict[str, Any], ...] = (
    {"deal_ritual": False},
    {"deal_ritual": False, "knock_window": "next_trick", "false_knock_penalty": 5},
    {"players": 4, "points": (3, 2, 3, 4), "deal_ritual": False},
    {"players": 4, "enforcement": "refuse", "points": (2, 2, 3, 1)},
    {"players": 3, "false_knock_penalty": 5, "first_dealer": None},
)
"""Openings of the log's matches."""


def reader(referee: Referee) -> Read:
    """Return a reader of the log by pages."""
    return log_of(referee).read


def pages(referee: Referee, size: int) -> Iterator[Page]:
    """Yield the log in pages of this size."""
    page = reader(referee)(0, size)
    while page:
        yield page
        page = reader(referee)(page.position, size)


def page_of(history: Sequence[Recorded], first: int = 1) -> Page:
    """Return these events as a page of the log; the first has position ``first``."""
    rows = [
        (position, str(recorded.originator_id), recorded.originator_version, recorded.event.TOPIC, b"")
        for position, recorded in enumerate(history, first)
    ]
    found = {(recorded.originator_id, recorded.originator_version): recorded for recorded in history}
    return Page(rows, lambda match_id, number, *_: found[match_id, number])


def all_books() -> tuple[Projection, ...]:
    """Return the projections of matches. The ledger, which uses few of their events, has tests of its own."""
    return Protocols(), Cases(), Matches(), Pots()


def play_some(referee: Referee, acts: int, seed: int) -> tuple[StoredEvent, ...]:
    """Return the rows of a match of each kind, in order, after ``acts`` attempts to act in all."""
    chance = random.Random(seed)
    desk = Desk(referee, seed=lambda: str(chance.random()))
    try:
        matches = [opened(desk, **kind) for kind in KINDS]
        for _ in range(acts):
            match: Any = desk.get(chance.choice(matches))
            if act := _any_act(match, chance):
                actor = actor_of(act)
                try:
                    desk.submit(Command(id=match.id, actor=actor, request=act)).result(30)
                except Refused:
                    continue
    finally:
        desk.close()
    rows = referee.recorder.select_notifications(None, 100_000)
    return tuple(StoredEvent(row.originator_id, row.originator_version, row.topic, row.state) for row in rows)


def _any_act(match: Match, chance: random.Random) -> Any:
    what = chance.random()
    if what < 0.002:
        return Void(reason="spilt coffee")
    if what < 0.12:
        return _knock(match, chance)
    # Rödskägg now and then: it ends most matches.
    legal = [act for act in legal_acts(match) if getattr(act, "bid", None) != "rodskagg" or chance.random() < 0.02]
    if what < 0.3 and (plays := [act for act in legal if isinstance(act, Play)]):
        seat = plays[0].seat
        return Play(seat=seat, card=chance.choice(match.rules.view(match.play, seat).hand or ()))
    return chance.choice(legal) if legal else None


def _knock(match: Match, chance: random.Random) -> Knock:
    """Return a knock, with or without a reason."""
    done = [(noted.breach.seat, noted.breach.offence) for noted in match.play.table.ledger.breaches]
    accused, offence = chance.choice([*done, (0, None), (1, "revoke")])
    others = [seat for seat in range(len(match.opened.players)) if seat != accused]
    return Knock(seat=chance.choice(others), accused=accused, offence=offence, note="I saw it")


def append(referee: Referee, rows: Sequence[StoredEvent]) -> None:
    """Store rows that a referee has made, a few at a time, in their order."""
    for first in range(0, len(rows), 100):
        referee.recorder.insert_events(list(rows[first : first + 100]))


def content(engine: Engine, books: Iterable[Projection]) -> Said:
    """Return the content of the tables of these projections, whatever the pages were."""
    with engine.connect() as connection:
        return {
            name: sorted((tuple(row) for row in connection.execute(select(*map(_written, table.c)))), key=repr)
            for projection in books
            for name, table in projection.metadata.tables.items()
        }


def _written(column: Column[Any]) -> ColumnElement[Any]:
    """Return a column's stored text: JSON to the byte."""
    return type_coerce(column, Text) if isinstance(column.type, Json) else column


def waited(
    follower: Follower, match_id: UUID, version: int, timeout: float, projection: Projection | None = None
) -> bool:
    """Return whether one or all projections reach this event of a match in time."""
    return asyncio.run(follower.wait_for(match_id, version, timeout, projection))


def head(referee: Referee) -> int:
    return referee.recorder.max_notification_id() or 0


def last_versions(rows: Sequence[StoredEvent]) -> dict[UUID, int]:
    return {UUID(str(row.originator_id)): row.originator_version for row in rows}
