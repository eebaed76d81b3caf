"""Statements of clubs' accounts: of a hundred thousand postings compared with a hundred.

``python -m tests.benchmarks.statements [POSTINGS]``. In one store two clubs have played matches for money, all with
member 1. The last and the first page of that account, and the balances, are read as JSON.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from itertools import chain
from uuid import UUID

from litestar import Litestar
from litestar.testing import TestClient
from msgspec.structs import replace

from api.access.keys import make_key_text
from api.app import create_app
from api.settings import Settings
from projections.cursors import cursor_of
from referee.clubs.facts import SCOPES, ClubFounded, EveningOpened, KeyIssued, MemberJoined
from referee.events import MatchWon, Stakes
from referee.store.clock import utc_now
from referee.visibility import Event
from tests.benchmarks.books import Kept, built, fill
from tests.benchmarks.clubs import rows_of
from tests.benchmarks.measure import floor, side_by_side, table
from tests.benchmarks.playouts import NOW
from tests.support.agreed_stakes import AGREED
from tests.support.databases import empty_database, running_postgres
from tests.support.random_matches import opening
from tests.support.stored_clubs import YEAR, hashed, ref

POSTINGS, FEW = 100_000, 100
LIMIT = 50
LEAST = 0.82
"""Least ratio of the rates: at most 1.2 times as long."""
WON = MatchWon(seat=0, by="duel", rule="B74", points=(0, 1, 2), settlement=(300, -100, -200))


def key_of(club: UUID) -> str:
    """Return the founder's key."""
    return make_key_text(club, "k1", club.bytes * 2)


def founding(club: UUID) -> ClubFounded:
    """Return a club whose founder's key is good for a year."""
    return ClubFounded(
        name="Knackarna",
        currencies=("SEK",),
        timezone="Europe/Stockholm",
        founder=ref(1),
        hash=hashed(key_of(club)),
        expires_at=utc_now() + YEAR,
    )


def club_of(matches: int) -> tuple[UUID, Iterator[Kept]]:
    """Return a club with ``matches`` matches, and its rows."""
    club = UUID(bytes=sha256(f"{matches}".encode()).digest()[:16], version=4)
    joined = [MemberJoined(member=member, name=ref(member)) for member in (1, 2, 3)]
    founded = founding(club)
    key = KeyIssued(key="k1", scopes=SCOPES, hash=founded.hash, expires_at=founded.expires_at, member=1)
    evening = EveningOpened(evening=1, on=NOW.date(), season="2026/27")
    opened = opening(players=3, stakes=Stakes(currency="SEK", unit=100))
    match: list[Event] = [replace(opened, club=club, evening=1, members=(1, 2, 3)), AGREED, WON]

    def rows() -> Iterator[Kept]:
        yield from rows_of(club, [founded, *joined, key, evening])
        for number in range(matches):
            match_id = UUID(bytes=sha256(f"{matches} {number}".encode()).digest()[:16], version=4)
            yield from rows_of(match_id, match)

    return club, rows()


def measured(url: str, clubs: dict[int, UUID]) -> dict[tuple[str, int], float]:
    """Return answers a second, by list and number of postings."""
    with TestClient[Litestar](create_app(Settings(database_url=url))) as client:

        def read(club: UUID, path: str) -> int:
            answer = client.get(
                f"/v1/clubs/{club}/accounts{path}", headers={"Authorization": f"Bearer {key_of(club)}"}
            )
            assert answer.status_code == 200, answer.text
            return 1

        works: dict[tuple[str, int], Callable[[], int]] = {}
        for postings, club in clubs.items():
            first = f"/member:1/statement?limit={LIMIT}"
            pages = {
                "the first page": first,
                "the last page": f"{first}&cursor={cursor_of(postings - LIMIT)}",
                "all balances": "",
            }
            for name, path in pages.items():
                works[name, postings] = partial(read, club, path)
        numbered = {str(number): works[which] for number, which in enumerate(works)}
        rates = side_by_side(numbered)
    return dict(zip(works, rates.values(), strict=True))


def main(postings: int = POSTINGS) -> bool:
    """Print the figures. Return whether all floors are reached."""
    reached = []
    with tempfile.TemporaryDirectory() as place, running_postgres() as server, empty_database(server) as postgres:
        for where, url in (("SQLite", f"sqlite:///{place}/knacka.db"), ("PostgreSQL", postgres)):
            made = {many: club_of(many) for many in (FEW, postings)}
            fill(url, chain.from_iterable(rows for _, rows in made.values()))
            built(url)
            rates = measured(url, {many: club for many, (club, _) in made.items()})
            names = dict.fromkeys(name for name, _ in rates)
            few = {name: rates[name, FEW] for name in names}
            many = {name: rates[name, postings] for name in names}
            header = ("", f"{FEW:,} postings", f"{postings:,} postings")
            table(f"Reads of an account a second, {where}", header, [(name, few[name], many[name]) for name in names])
            reached += [
                floor(f"{name} of {postings:,} postings beside {FEW:,}, {where}", many[name] / few[name], LEAST)
                for name in names
            ]
    return all(reached)


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:])) else 1)
