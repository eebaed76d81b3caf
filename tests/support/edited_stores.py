"""Stores that were changed with a text editor: real rows, changed by SQL on either database."""

import random
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import count
from typing import Any, NamedTuple
from uuid import UUID

import psycopg
from eventsourcing.persistence import StoredEvent

from api.maintenance.projection_check import StoredProjections
from api.maintenance.raw_store import StoreReader
from api.maintenance.replay_check import Difference
from api.maintenance.verify import verify, verify_aggregate
from api.runtime.projections import Projections
from projections.follow.engine import books_file
from referee.store.acts import keyed_acts
from referee.store.connection import SqliteFile, parse_store_url
from referee.store.desk import Desk
from referee.store.store import Referee, construct, settings_for
from tests.support.random_matches import legal_acts, opened, send

GAMES: tuple[dict[str, Any], ...] = (
    {"ruleset": "rodskagg-kortoxen", "deal_ritual": False, "first_dealer": None},
    {"ruleset": "kalabrias", "first_dealer": None, "enforcement": "refuse"},
    {"ruleset": "rams-english", "players": 4, "first_dealer": None},
    {"ruleset": "rodskagg-alga", "points": (4, 4, 4)},
    {"ruleset": "rodskagg-catsatcards", "fem_opp": True, "points": (9, 9, 9), "first_dealer": None},
)


class Matches(NamedTuple):
    """The matches in a store that were really played."""

    rows: tuple[StoredEvent, ...]
    snapshots: tuple[StoredEvent, ...]
    ids: tuple[UUID, ...]

    def first(self, many: int) -> "Matches":
        """Return the first matches, at most this many."""
        ids = self.ids[:many]
        rows, snapshots = ([row for row in some if row.originator_id in ids] for some in (self.rows, self.snapshots))
        return Matches(tuple(rows), tuple(snapshots), ids)


def played(url: str, acts: int = 62) -> Matches:
    """Return a match of each game in an empty store, the first one of Kortoxen, with the same cards each time."""
    numbers, chance = count(), random.Random(1)
    with construct(url) as referee:
        desk = Desk(referee, seed=lambda: f"seed {next(numbers)}")
        ids = tuple(opened(desk, **kind) for kind in GAMES)
        for match_id in ids:
            for turn in range(acts):
                # Rödskägg would end most matches.
                legal = [act for act in legal_acts(desk.get(match_id)) if getattr(act, "bid", None) != "rodskagg"]
                if legal:
                    key = {"key": f"{turn}"} if turn % 3 == 0 else {}
                    send(desk, match_id, chance.choice(legal), **key)
        desk.close()
        return Matches(_rows(referee), _snapshots(referee, ids), ids)


def _rows(referee: Referee) -> tuple[StoredEvent, ...]:
    rows = referee.recorder.select_notifications(None, 100_000)
    return tuple(StoredEvent(row.originator_id, row.originator_version, row.topic, row.state) for row in rows)


def _snapshots(referee: Referee, ids: Sequence[UUID]) -> tuple[StoredEvent, ...]:
    assert referee.snapshots is not None
    return tuple(row for match_id in ids for row in referee.snapshots.recorder.select_events(match_id))


def fill(url: str, matches: Matches, *, books: bool = True) -> None:
    """Store these matches and update the projections."""
    with construct(url) as referee:
        assert referee.snapshots is not None
        rows = ((row.originator_id, row.originator_version, row.state) for row in matches.rows)
        referee.insert(list(matches.rows), list(keyed_acts(rows)))
        referee.snapshots.recorder.insert_events(list(matches.snapshots))
        if books:
            kept = Projections(referee, url)
            kept.rebuild(*kept.by_name)
            kept.close()


class Editor:
    """A connection that changes stored rows. ``{events}``, ``{snapshots}``, ``{acts}`` and ``{attempts}`` stand for
    tables, ``?`` for a value."""

    def __init__(self, url: str) -> None:
        self.url, self.sqlite = url, isinstance(parse_store_url(url), SqliteFile)

    def run(self, statement: str, *values: Any, books: bool = False) -> list[Any]:
        prefix = "stored" if self.sqlite else "referee"
        tables = {name: f"{prefix}_{name}" for name in ("events", "snapshots", "acts", "attempts")}
        statement = statement.format_map(tables)
        if self.sqlite:
            file = books_file(self.url) if books else settings_for(self.url)["SQLITE_DBNAME"]
            ids = [value.hex if isinstance(value, UUID) else value for value in values]
            with closing(sqlite3.connect(file)) as connection, connection:
                return connection.execute(statement, ids).fetchall()
        with psycopg.connect(self.url) as postgres:
            done = postgres.execute(statement.replace("?", "%s").encode(), values)
            return done.fetchall() if done.description else []

    def edit(self, match_id: UUID, number: int, change: Callable[[bytes], bytes], table: str = "{events}") -> None:
        """Change the bytes of a row. The row must exist and be different afterwards."""
        where = "WHERE originator_id = ? AND originator_version = ?"
        ((state,),) = self.run(f"SELECT state FROM {table} {where}", match_id, number)
        changed = change(bytes(state))
        assert changed != bytes(state)
        self.run(f"UPDATE {table} SET state = ? {where}", changed, match_id, number)

    def renumber(self, match_id: UUID, old: int, new: int) -> None:
        self.run(
            "UPDATE {events} SET originator_version = ? WHERE originator_id = ? AND originator_version = ?",
            new,
            match_id,
            old,
        )

    def delete(self, match_id: UUID, first: int, last: int, table: str = "{events}") -> None:
        where = "originator_id = ? AND originator_version BETWEEN ? AND ?"
        self.run(f"DELETE FROM {table} WHERE {where}", match_id, first, last)


def differences(url: str, match_id: UUID) -> tuple[Difference, ...]:
    """Return the differences that the check finds in a match."""
    stored = StoreReader(url)
    projections = StoredProjections(stored)
    try:
        return verify_aggregate(stored, projections, match_id.hex).differences
    finally:
        projections.close()
        stored.close()


def said(url: str, match: str | None = None) -> tuple[int, list[str]]:
    """Return the exit code and the lines of ``knacka verify``, without those that a slow machine gets meanwhile."""
    lines: list[str] = []
    code = verify(url, match, lines.append, lines.append)
    return code, [line for line in lines if " a second: " not in line]
