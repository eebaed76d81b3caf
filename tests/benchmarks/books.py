"""Projections: each rebuilt from a store of a million events, and all in one pass, compared with reading its rows.

``python -m tests.benchmarks.books [EVENTS]``. The matches of the store are played once and copied under new ids; a
hundred are open at a time, as in a hall with many tables.
"""

import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import psycopg
from eventsourcing.persistence import StoredEvent
from msgspec.structs import replace

from api.runtime.projections import Projections
from referee.events import MatchOpened, MatchWon, Stakes
from referee.store.rows import from_row
from referee.store.store import construct
from referee.visibility import Recorded
from tests.benchmarks.measure import floor, table
from tests.projections.every_game import KINDS, history_of
from tests.support.agreed_stakes import agreed_by_all
from tests.support.databases import empty_database, running_postgres
from tests.support.salted_rows import row_of

EVENTS = 1_000_000
UNDER_WAY, AT_ONCE = 100, 10
"""Simultaneous matches, and events of one match before the next match's turn."""
ROWS = 20_000
"""Rows that the driver is asked for at a time."""
ROUNDS = 2

SELECT = {
    "sqlite": "SELECT rowid, originator_id, originator_version, topic, state FROM stored_events"
    " WHERE rowid > ? ORDER BY rowid LIMIT ?",
    "postgresql": "SELECT notification_id, originator_id, originator_version, topic, state FROM referee_events"
    " WHERE notification_id > %s ORDER BY notification_id LIMIT %s",
}
INSERT = "INSERT INTO stored_events VALUES (?, ?, ?, ?)"
COPY = "COPY referee_events (originator_id, originator_version, topic, state) FROM STDIN (FORMAT binary)"

Kept = tuple[UUID, int, str, bytes]


def rows_of(many: int, club: UUID | None = None) -> Iterator[Kept]:
    """Yield ``many`` rows of simultaneous matches; ``club``: all of them for money of this club."""
    chance = random.Random(1)
    histories = [history_of(kind, seed) for kind in KINDS for seed in range(2)]
    if club is not None:
        histories = [[for_money(one, club) for one in agreed_by_all(history)] for history in histories]
    played = [list(map(row_of, history)) for history in histories]

    def match() -> Iterator[Kept]:
        match_id = UUID(int=chance.getrandbits(128), version=4)
        return ((match_id, row.originator_version, row.topic, row.state) for row in chance.choice(played))

    def as_they_came() -> Iterator[Kept]:
        under_way = [match() for _ in range(UNDER_WAY)]
        while True:
            place = chance.randrange(UNDER_WAY)
            some = list(islice(under_way[place], AT_ONCE))
            yield from some
            if len(some) < AT_ONCE:
                under_way[place] = match()

    return islice(as_they_came(), many)


def for_money(one: Recorded, club: UUID) -> Recorded:
    """Return an event of a match as one for money of a club."""
    match one.event:
        case MatchOpened() as opened:
            members = tuple(range(1, len(opened.players) + 1))
            stakes = Stakes(currency="SEK", unit=100)
            return replace(one, event=replace(opened, club=club, members=members, stakes=stakes))
        case MatchWon(points=points) as won:
            lost = len(points) - 1
            return replace(one, event=replace(won, settlement=(100 * lost, *[-100] * lost)))
    return one


def connect(url: str) -> Any:
    """Return a connection of the driver alone."""
    return sqlite3.connect(urlsplit(url).path[1:]) if url.startswith("sqlite") else psycopg.connect(url)


def fill(url: str, rows: Iterator[Kept]) -> None:
    """Fill a store with these rows."""
    with construct(url):
        pass
    connection = connect(url)
    if isinstance(connection, sqlite3.Connection):
        connection.executemany(INSERT, ((match_id.hex, *rest) for match_id, *rest in rows))
    else:
        with connection.cursor() as cursor, cursor.copy(COPY) as copy:
            copy.set_types(["uuid", "int8", "text", "bytea"])
            for row in rows:
                copy.write_row(row)
        connection.execute("ANALYZE referee_events")
    connection.commit()
    connection.close()


def built(url: str) -> None:
    """Build all projections of a store. A service that answered for pages has none left to build."""
    with construct(url) as referee, closing(Projections(referee, url)) as projections:
        projections.prepare()
        projections.rebuild(*projections.by_name)
        if projections.engine.dialect.name == "postgresql":
            with projections.engine.begin() as connection:
                connection.exec_driver_sql("ANALYZE")  # the database does so automatically before long


def read(url: str) -> Iterator[Sequence[Any]]:
    """Read all rows by pages, with the driver alone."""
    connection = connect(url)
    cursor = connection.cursor(**({} if url.startswith("sqlite") else {"binary": True}))
    position = 0
    while rows := cursor.execute(SELECT[url.partition(":")[0]], (position, ROWS)).fetchall():
        yield rows
        position = rows[-1][0]
    connection.close()


def decode(url: str) -> None:
    """Read and decode all rows."""
    for rows in read(url):
        for _, match_id, number, topic, state in rows:
            from_row(StoredEvent(match_id, number, topic, state))


def measured(url: str, events: int) -> tuple[list[tuple[object, ...]], float, float]:
    """Return seconds for a table, and the ratio to reading and decoding of the slowest projection and of all in one
    pass."""
    with construct(url) as referee:
        books = Projections(referee, url)
        names = list(books.by_name)
        works: dict[str, Callable[[], object]] = {
            "reading with the driver": lambda: sum(map(len, read(url))),
            "reading and decoding": lambda: decode(url),
            **{name: partial(books.rebuild, name) for name in names},
            "all books in one pass": lambda: books.rebuild(*names),
        }
        assert sum(map(len, read(url))) == events
        seconds: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(ROUNDS):
            for name, work in works.items():
                begin = time.perf_counter()
                work()
                seconds[name].append(time.perf_counter() - begin)
        best = {name: min(times) for name, times in seconds.items()}
        books.close()
    beside = best["reading and decoding"]
    return (
        [(name, spent, spent / beside, f"{events / spent:,.0f}") for name, spent in best.items()],
        max(best[name] for name in names) / beside,
        best["all books in one pass"] / beside,
    )


def main(events: int = EVENTS) -> bool:
    """Print the figures. Return whether all floors are reached."""
    reached = []
    with tempfile.TemporaryDirectory() as place, running_postgres() as server, empty_database(server) as postgres:
        for name, url in (("SQLite", f"sqlite:///{place}/knacka.db"), ("PostgreSQL", postgres)):
            fill(url, rows_of(events))
            rows, slowest, together = measured(url, events)
            table(f"Rebuilding books of {events:,} events, {name}", ("", "s", "times", "events/s"), rows)
            reached += [
                floor(f"reading and decoding beside the slowest book, {name}", 1 / slowest, 0.73),
                floor(f"reading and decoding beside all books in one pass, {name}", 1 / together, 0.4),
            ]
    return all(reached)


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:])) else 1)
