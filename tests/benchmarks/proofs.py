"""Ledger and log: rebuilds compared with reading the same rows, acts with and without them, and a proof of an event.

``python -m tests.benchmarks.proofs [EVENTS]``.
"""

import gc
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from statistics import median
from uuid import UUID

from litestar import Litestar
from litestar.testing import TestClient

from api.app import create_app
from api.runtime.projections import Projections, all_projections, log_of, match_projections
from api.runtime.signer import Signer
from api.settings import Settings
from projections.follow.engine import engine_for
from projections.follow.follow import Follower, Projection
from projections.follow.page import Log
from projections.follow.projection import REBUILD_PAGE
from referee.log.notes import SigningKey
from referee.store.desk import Desk
from referee.store.store import construct
from tests.benchmarks.books import decode, fill, read, rows_of
from tests.benchmarks.clubs import rows_of as of_aggregate
from tests.benchmarks.measure import floor, side_by_side, table
from tests.benchmarks.statements import founding
from tests.support.databases import empty_database, running_postgres
from tests.support.match_client import Table
from tests.support.random_matches import opened, play_out

EVENTS, ROUNDS = 300_000, 3
MATCHES, TURNS = 6, 25
"""Matches that are played in a turn."""
READING_LEAST = 1.35
"""A rebuild takes at most three quarters of the time."""
CLUB = UUID(int=12, version=4)
KEY = SigningKey("bench.example/log", bytes(32))


def rebuilt(url: str, events: int, where: str) -> list[bool]:
    """Rebuild both projections, and read the same rows from the store. The table also shows a follower's reading,
    which makes no object of a row, and the bare driver's."""
    with construct(url) as referee:
        books, log = Projections(referee, url), log_of(referee)

        def by_pages() -> None:
            page = log.read(0, REBUILD_PAGE)
            while page:
                page = log.read(page.position, REBUILD_PAGE)

        def from_the_store() -> None:
            begin = 1
            while found := referee.recorder.select_notifications(begin, REBUILD_PAGE):
                begin = found[-1].id + 1

        works: dict[str, Callable[[], object]] = {
            "reading from the store": from_the_store,
            "reading by pages": by_pages,
            "reading with the driver": lambda: sum(map(len, read(url))),
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
            entries = books.ledger.last_number(connection, CLUB)
        books.close()
    best = {name: min(times) for name, times in seconds.items()}
    beside = best["reading from the store"]
    rows = [(name, spent, spent / beside, f"{events / spent:,.0f}") for name, spent in best.items()]
    table(
        f"Books of {events:,} events that make {entries:,} entries, {where}",
        ("", "s", "times", "events/s"),
        rows,
    )
    return [
        floor(f"reading beside rebuilding {name}, {where}", beside / best[name], READING_LEAST)
        for name in ("the ledger", "the log")
    ]


def acts(urls: Sequence[str], where: str) -> list[bool]:
    """Return the acts a second, decided and stored one after the other, with and without both projections being
    followed, each in a separate store. The stores take turns, and the next turn waits for the projections."""
    with ExitStack() as stack:
        tables = {
            name: stack.enter_context(followed(url, books))
            for url, (name, books) in zip(
                urls, (("without", match_projections()), ("with both", all_projections())), strict=True
            )
        }
        rates: dict[str, list[float]] = {name: [] for name in tables}
        for turn in range(TURNS + 1):
            for name, (desk, follower, log) in tables.items():
                begin, done = time.perf_counter(), 0
                for seed in range(MATCHES):
                    done += sum(len(one.events) for one in play_out(desk, opened(desk, deal_ritual=False), 150, seed))
                if turn:
                    rates[name].append(done / (time.perf_counter() - begin))
                while follower.lag(log.head()):
                    time.sleep(0.01)
    found = {name: median(some) for name, some in rates.items()}
    table(f"Events a second while books follow, {where}", ("", "events/s"), [*found.items()])
    ratio = median(both / without for without, both in zip(*rates.values(), strict=True))
    return [floor(f"acts with ledger and log beside without, {where}", ratio, 0.95)]


@contextmanager
def followed(url: str, books: Sequence[Projection]) -> Iterator[tuple[Desk, Follower, Log]]:
    """Yield a desk over a store, which these projections follow."""
    engine = engine_for(url)
    with construct(url) as referee:
        log = log_of(referee)
        follower = Follower(log, engine, books, listen=url)
        follower.start()
        desk = Desk(referee, committed=lambda _: follower.wake())
        yield desk, follower, log
        desk.close()
        follower.close()
        engine.dispose()


def proofs(url: str, place: Path, where: str) -> list[bool]:
    """Measure the proof of an event beside the protocol of its match, over HTTP in memory."""
    settings = Settings(database_url=url, log_key=KEY.private_text, log_file=str(place / f"{where}.note"))
    app = create_app(settings)
    with TestClient[Litestar](app) as client:
        match = Table(client, dealing="house")
        for seed in range(3):
            match.finish_deal(seed=seed)
        signer: Signer = app.state.service.signer
        until = time.monotonic() + 600
        while app.state.service.projections.lag():
            assert time.monotonic() < until
            time.sleep(0.1)
        assert signer.sign(at_once=True) or signer.trouble is None
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
    return [floor(f"a proof beside the protocol, {where}", rates["a proof"] / rates["the protocol"], 0.53)]


def main(events: int = EVENTS) -> bool:
    """Print the figures. Return whether all floors are reached."""
    reached: list[bool] = []
    with tempfile.TemporaryDirectory() as name, running_postgres() as server, empty_database(server) as postgres:
        for where, url in (("SQLite", f"sqlite:///{name}/knacka.db"), ("PostgreSQL", postgres)):
            founded = of_aggregate(CLUB, [founding(CLUB)])
            fill(url, islice(chain(founded, rows_of(events, CLUB)), events))
            reached += rebuilt(url, events, where)
            reached += proofs(url, Path(name), where)
        reached += acts([f"sqlite:///{name}/{one}.db" for one in ("without", "with")], "SQLite")
        with empty_database(server) as one, empty_database(server) as other:
            reached += acts((one, other), "PostgreSQL")
    return all(reached)


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:])) else 1)
