"""Ledger and log: rebuilt beside reading the same rows, acts with them and without, and a proof beside a protocol.

``python -m tests.benchmarks.proofs [EVENTS]``.
"""

import gc
import sys
import tempfile
import time
from itertools import chain, islice
from pathlib import Path
from statistics import median
from uuid import UUID

from litestar import Litestar
from litestar.testing import TestClient

from api.app import create_app
from api.bookkeeping import Books, all_books, every_book, log_of
from api.log.signer import Signer
from api.settings import Settings
from projections.follow.engine import engine_for
from projections.follow.follow import Follower
from projections.follow.keeping import REBUILD_PAGE
from referee.log.notes import SigningKey
from referee.store.desk import Desk
from referee.store.store import construct
from tests.api.table import Table
from tests.benchmarks.books import decode, fill, read, rows_of
from tests.benchmarks.clubs import rows_of as of_aggregate
from tests.benchmarks.measure import floor, side_by_side, table
from tests.benchmarks.statements import founding
from tests.played import opened, play_out
from tests.stores import empty_database, running_postgres

EVENTS, ROUNDS = 300_000, 3
MATCHES = 12
READING_LEAST = 0.5
"""A rebuild takes at most twice as long."""
CLUB = UUID(int=12, version=4)
KEY = SigningKey("bench.example/log", bytes(32))


def rebuilt(url: str, events: int, where: str) -> list[bool]:
    """Both books, beside reading the same rows as a follower reads them."""
    with construct(url) as referee:
        books, log = Books(referee, url), log_of(referee)

        def by_pages() -> None:
            page = log.read(0, REBUILD_PAGE)
            while page:
                page = log.read(page.position, REBUILD_PAGE)

        works = {
            "reading with the driver": lambda: sum(map(len, read(url))),
            "reading by pages": by_pages,
            "reading and decoding": lambda: decode(url),
            "the ledger": lambda: books.rebuild("ledger"),
            "the log": lambda: books.rebuild("log"),
        }
        seconds: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(ROUNDS):
            for name, work in works.items():
                gc.collect()
                begin = time.perf_counter()
                work()
                seconds[name].append(time.perf_counter() - begin)
        with books.engine.connect() as connection:
            entries = books.ledger.last(connection, CLUB)
        books.close()
    best = {name: min(times) for name, times in seconds.items()}
    beside = best["reading by pages"]
    rows = [(name, spent, spent / beside, f"{events / spent:,.0f}") for name, spent in best.items()]
    table(f"Books of {events:,} events that make {entries:,} entries, {where}", ("", "s", "times", "events/s"), rows)
    return [
        floor(f"reading beside rebuilding {name}, {where}", beside / best[name], READING_LEAST)
        for name in ("the ledger", "the log")
    ]


def acts(url: str, where: str) -> list[bool]:
    """Acts a second, decided and stored one after the other, while books are followed: with both and without."""
    engine = engine_for(url)
    with construct(url) as referee:
        rates: dict[bool, list[float]] = {True: [], False: []}
        for number in range(2 * ROUNDS + 2):
            with_both = number % 2 == 0
            books = every_book() if with_both else all_books()
            follower = Follower(log_of(referee), engine, books, listen=url)
            follower.start()
            desk = Desk(referee, committed=lambda _, follower=follower: follower.wake())
            begin, done = time.perf_counter(), 0
            for seed in range(MATCHES):
                done += sum(len(one.events) for one in play_out(desk, opened(desk, deal_ritual=False), 150, seed))
            spent = time.perf_counter() - begin
            if number > 1:
                rates[with_both].append(done / spent)
            desk.close()
            follower.close()
    engine.dispose()
    found = {name: median(rates[with_both]) for name, with_both in (("without", False), ("with both", True))}
    table(f"Events a second while books follow, {where}", ("", "events/s"), [*found.items()])
    return [floor(f"acts with ledger and log beside without, {where}", found["with both"] / found["without"], 0.95)]


def proofs(url: str, place: Path, where: str) -> list[bool]:
    """Over HTTP, in memory: the proof of an event beside the protocol of the match."""
    settings = Settings(database_url=url, log_key=KEY.written, log_file=str(place / f"{where}.note"))
    app = create_app(settings)
    with TestClient[Litestar](app) as client:
        match = Table(client, dealing="house")
        for seed in range(3):
            match.finish_deal(seed=seed)
        signer: Signer = app.state.service.signer
        until = time.monotonic() + 600
        while app.state.service.books.lag():
            assert time.monotonic() < until
            time.sleep(0.1)
        assert signer.sign_now() or signer.trouble is None
        version = match.version()

        def proof() -> int:
            for event in range(1, 11):
                assert match.get(f"/events/{version - event - 5}/proof", "official").status_code == 200
            return 10

        def protocol() -> int:
            for _ in range(10):
                assert match.get("/protocol").status_code == 200
            return 10

        rates = side_by_side({"the protocol": protocol, "a proof": proof})
    table(f"Reads a second, {where}", ("", "reads/s"), [*rates.items()])
    return [floor(f"a proof beside the protocol, {where}", rates["a proof"] / rates["the protocol"], 0.2)]


def main(events: int = EVENTS) -> bool:
    """Prints the figures; whether all floors are reached."""
    reached: list[bool] = []
    with tempfile.TemporaryDirectory() as name, running_postgres() as server, empty_database(server) as postgres:
        for where, url in (("SQLite", f"sqlite:///{name}/knacka.db"), ("PostgreSQL", postgres)):
            founded = of_aggregate(CLUB, [founding(CLUB)])
            fill(url, islice(chain(founded, rows_of(events, CLUB)), events))
            reached += rebuilt(url, events, where)
            reached += proofs(url, Path(name), where)
        with empty_database(server) as other:
            reached += acts(f"sqlite:///{name}/acts.db", "SQLite") + acts(other, "PostgreSQL")
    return all(reached)


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:])) else 1)
