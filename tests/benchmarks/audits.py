"""The audit of a club's books, over a million events of its matches, compared with reading and decoding the same
rows.

``python -m tests.benchmarks.audits [EVENTS]``. The matches are for money. They are played once and copied under new
ids, each with its own chain; a hundred are open at a time.
"""

import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from itertools import chain, islice
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from api.money.audit_report import Audit, audit_books
from api.money.audit_texts import sentence
from api.personal_data.names import Names
from api.runtime.projections import Projections
from referee.clubs.facts import SCOPES, ClubFounded, EveningOpened, KeyIssued, MemberJoined
from referee.events import MatchOpened, Stakes
from referee.store.rows import HASH_BEFORE_FIRST, row_hash
from referee.store.store import construct
from referee.visibility import Recorded
from tests.benchmarks.books import AT_ONCE, EVENTS, ROUNDS, UNDER_WAY, Kept, decode, fill
from tests.benchmarks.clubs import club_id, rows_of
from tests.benchmarks.measure import floor, table
from tests.benchmarks.playouts import NOW
from tests.projections.every_game import history_of
from tests.support.agreed_stakes import agreed_by_all
from tests.support.databases import empty_database, running_postgres
from tests.support.salted_rows import row_of

CLUB = club_id(1)
MEMBERS = 8
SEK = Stakes(currency="SEK", unit=100)
KINDS: tuple[dict[str, Any], ...] = (
    {"ruleset": "kalabrias", "players": 4, "target_score": 300, "enforcement": "refuse", "money": "difference"},
    {"ruleset": "rams-english", "players": 4, "first_dealer": None},
    {"ruleset": "rodskagg-alga", "enforcement": "refuse", "points": (4, 4, 4), "money": "points_left"},
    {"ruleset": "rodskagg-kortoxen", "points": (6, 6, 6), "deal_ritual": False},
)


def club(names: tuple[str, ...]) -> Iterator[Kept]:
    """Return a club with its members, a key, and an evening."""
    founded = ClubFounded(
        name="Knackarna",
        currencies=("SEK",),
        timezone="Europe/Stockholm",
        founder=names[0],
        hash="0" * 64,
        expires_at=NOW,
    )
    joined = [MemberJoined(member=number, name=name) for number, name in enumerate(names, 1)]
    key = KeyIssued(key="k1", scopes=SCOPES, hash="0" * 64, expires_at=NOW, member=1)
    return rows_of(CLUB, [founded, *joined, key, EveningOpened(evening=1, on=NOW.date(), season="2026/27")])


def matches(many: int) -> Iterator[Kept]:
    """Yield ``many`` rows of the club's matches, which are played at the same time."""
    chance = random.Random(1)
    played = [agreed_by_all(history_of({**kind, "stakes": SEK}, seed)) for kind in KINDS for seed in range(3)]

    def match() -> Iterator[Kept]:
        match_id, prev = UUID(int=chance.getrandbits(128), version=4), HASH_BEFORE_FIRST
        for one in chance.choice(played):
            event = one.event
            if isinstance(event, MatchOpened):
                seats = tuple(chance.sample(range(1, MEMBERS + 1), len(event.players)))
                event = replace(event, club=CLUB, evening=1, members=seats)
            number, by = one.originator_version, (one.actor, one.act_id, one.digest)
            row = row_of(Recorded(match_id, number, one.at, *by, prev, event, one.request))
            prev = row_hash(row)
            yield match_id, number, row.topic, row.state

    def as_they_came() -> Iterator[Kept]:
        under_way = [match() for _ in range(UNDER_WAY)]
        while True:
            place = chance.randrange(UNDER_WAY)
            some = list(islice(under_way[place], AT_ONCE))
            yield from some
            if len(some) < AT_ONCE:
                under_way[place] = match()

    return islice(as_they_came(), many)


def measured(url: str, events: int) -> tuple[list[tuple[object, ...]], float]:
    """Return seconds for a table, and the ratio of an audit to reading and decoding."""
    with construct(url) as referee:
        books = Projections(referee, url)
        names = Names(url, books.engine)
        names.prepare()
        fill(url, chain(club(names.put(CLUB, None, [f"Member {n}" for n in range(MEMBERS)])), matches(events)))
        books.rebuild(books.matches.name, books.ledger.name, books.tree.name)

        def audit() -> Audit:
            return audit_books(books, names, CLUB, books.head(), None, partial(sentence, language="en"), {})

        first = audit()
        wrong = {one.check for one in first.checks if not one.ok} - {"pot_not_negative"}
        assert not wrong, [one.differences[:3] for one in first.checks if not one.ok]
        works: dict[str, Callable[[], object]] = {"reading and decoding": lambda: decode(url), "audit": audit}
        seconds: dict[str, list[float]] = {name: [] for name in works}
        for _ in range(ROUNDS):
            for name, work in works.items():
                begin = time.perf_counter()
                work()
                seconds[name].append(time.perf_counter() - begin)
        best = {name: min(times) for name, times in seconds.items()}
        tracemalloc.start()
        audit()
        peak = tracemalloc.get_traced_memory()[1] / 2**20
        tracemalloc.stop()
        names.close()
        books.close()
    ratio = best["audit"] / best["reading and decoding"]
    rows = [
        (name, spent, spent / best["reading and decoding"], f"{events / spent:,.0f}") for name, spent in best.items()
    ]
    return [*rows, (f"{first.entry:,} entries, at most {peak:,.0f} MiB", "", "", "")], ratio


def main(events: int = EVENTS) -> bool:
    """Print the figures. Return whether all floors are reached."""
    reached = []
    with tempfile.TemporaryDirectory() as place, running_postgres() as server, empty_database(server) as postgres:
        for name, url in (("SQLite", f"sqlite:///{place}/knacka.db"), ("PostgreSQL", postgres)):
            rows, ratio = measured(url, events)
            table(f"Auditing {events:,} events of a club, {name}", ("", "s", "times", "events/s"), rows)
            reached.append(floor(f"reading and decoding beside an audit, {name}", 1 / ratio, 0.333))
    return all(reached)


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:])) else 1)
