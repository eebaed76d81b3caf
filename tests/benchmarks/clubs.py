"""Clubs: pages of matches for a key, in a store of a hundred thousand matches and a thousand clubs.

``python -m tests.benchmarks.clubs [MATCHES]`` compares them with pages of a store with as many matches without clubs.
A club has played from the first day to the last. Half of its matches are for its members, a quarter are private, and
a quarter public. A key shows all public matches and those of its club. If other processes use the machine, give all
of this one processor: ``taskset -c 0 python -m tests.benchmarks.clubs``.
"""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from http.client import HTTPConnection
from itertools import chain
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
from msgspec.structs import replace

from api.access.keys import make_key_text
from api.personal_data.names import Names
from referee.clubs.facts import SCOPES, ClubFounded, EveningOpened, KeyIssued, MemberJoined
from referee.events import MatchOpened, Visibility
from referee.store.rows import HASH_BEFORE_FIRST, row_hash
from referee.visibility import Event, Recorded
from tests.benchmarks.books import Kept, built, fill
from tests.benchmarks.measure import SHORT, floor, side_by_side, table
from tests.benchmarks.playouts import NOW
from tests.support.databases import empty_database, running_postgres
from tests.support.random_matches import opening
from tests.support.running_service import running
from tests.support.salted_rows import row_of
from tests.support.stored_clubs import hashed

MATCHES, OF_A_CLUB = 100_000, 100
PLAYERS = 4
NOT_PLAYING = PLAYERS + 1
VISIBLE: tuple[Visibility, ...] = ("club", "private", "club", "public")
"""Visibility of a club's matches, in turn."""
LIMIT = 50
LEAST = 0.53
"""Least ratio of the rates: at most 1.9 times as long as without clubs."""


def club_id(number: int) -> UUID:
    """Return the id of a club; ids are in random order."""
    return UUID(bytes=sha256(f"club {number}".encode()).digest()[:16], version=4)


def rows_of(aggregate_id: UUID, events: list[Event]) -> Iterator[Kept]:
    """Yield events of a club or a match as they are stored, a second apart."""
    prev = HASH_BEFORE_FIRST
    for number, event in enumerate(events, 1):
        row = row_of(Recorded(aggregate_id, number, NOW, "operator", "~", "", prev, event))
        prev = row_hash(row)
        yield aggregate_id, number, row.topic, row.state


def clubs(many: int, names: dict[int, str]) -> Iterator[Kept]:
    """Yield this many clubs, each with five members, a key with all scopes, and one to play with for two of them."""
    until = datetime.now(UTC) + timedelta(days=30)
    for number in range(many):
        club = club_id(number)
        keys = [KeyIssued(key="k1", scopes=SCOPES, hash=hashed(key_of(number, "k1")), expires_at=until, app="Board")]
        for member in (1, NOT_PLAYING):
            key = f"k{len(keys) + 1}"
            keys.append(
                KeyIssued(
                    key=key, scopes=("play",), hash=hashed(key_of(number, key)), expires_at=until, member=member
                )
            )
        founded = ClubFounded(
            name="Knackarna",
            currencies=("SEK",),
            timezone="Europe/Stockholm",
            founder=names[1],
            hash=keys[0].hash,
            expires_at=until,
        )
        joined = [MemberJoined(member=member, name=names[member]) for member in names]
        evening = EveningOpened(evening=1, on=NOW.date(), season="2026/27")
        yield from rows_of(club, [founded, *joined, *keys, evening])


def key_of(number: int, key: str) -> str:
    """Return the text of a key."""
    return make_key_text(club_id(number), key, sha256(f"{number} {key}".encode()).digest())


def matches(many: int, in_clubs: bool) -> Iterator[Kept]:
    """Yield matches one after the other, without clubs or of all clubs in turn."""
    opened = opening(players=PLAYERS, dealing="table", deal_ritual=False)
    members = tuple(range(1, PLAYERS + 1))
    players = tuple(f"M{member}" for member in members)
    clubs = many // OF_A_CLUB
    for number in range(many):
        match_id = UUID(bytes=sha256(str(number).encode()).digest()[:16], version=4)
        event: MatchOpened = opened
        if in_clubs:
            visibility = VISIBLE[number // clubs % len(VISIBLE)]
            event = replace(
                opened,
                club=club_id(number % clubs),
                evening=1,
                table=1,
                members=members,
                players=players,
                visibility=visibility,
            )
        row = row_of(
            Recorded(match_id, 1, NOW + timedelta(seconds=number), "official", "~", "", HASH_BEFORE_FIRST, event)
        )
        yield match_id, 1, row.topic, row.state


def stored(url: str, many: int, *, in_clubs: bool) -> None:
    """Make a store with the matches, and their projections."""
    with closing(Names(url)) as names:
        names.prepare()
        refs = names.put(club_id(0), None, [f"Member {one}" for one in range(1, NOT_PLAYING + 1)], kind="name")
    of_clubs = clubs(many // OF_A_CLUB, dict(enumerate(refs, 1))) if in_clubs else iter(())
    fill(url, chain(of_clubs, matches(many, in_clubs)))
    built(url)


def lists(many: int) -> dict[str, tuple[str, str]]:
    """Return the key and the query of each list, in a store of this many matches."""
    middle = (NOW + timedelta(seconds=many // 2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "without a key": ("", ""),
        "a key with all scopes": ("k1", ""),
        "a key to play with": ("k2", ""),
        "of a member who plays in none": ("k3", ""),
        "later on": ("k1", f"&opened_from={middle}"),
        "of the key's club": ("k1", f"&club={club_id(0)}"),
        "of the key's club, where its member plays": ("k2", f"&club={club_id(0)}&member=1"),
    }


def page(connection: HTTPConnection, key: str, asked: str) -> dict[str, Any]:
    """Return a page of matches for a key, or without one if it is empty."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    connection.request("GET", f"/v1/matches?limit={LIMIT}{asked}", headers=headers)
    answer = connection.getresponse()
    said = answer.read()
    assert answer.status == 200, said
    told: dict[str, Any] = msgspec.json.decode(said)
    return told


def measured(with_clubs: str, without: str, many: int) -> Iterator[tuple[str, float, float]]:
    """Yield each list's name, its pages a second, and those of the list without clubs. Both are requested in turn, so
    that both services are equally busy."""
    with ExitStack() as services:
        here, there = (
            services.enter_context(
                closing(HTTPConnection(urlsplit(services.enter_context(running(url)).address).netloc))
            )
            for url in (with_clubs, without)
        )

        def pages(connection: HTTPConnection, key: str, asked: str) -> int:
            page(connection, key, asked)
            return 1

        for name, (key, asked) in lists(many).items():
            shown = key and key_of(0, key)
            found = page(here, shown, asked)["items"]
            assert len(found) == LIMIT, (name, len(found))
            assert key in ("", "k3") or any(one["club"] == str(club_id(0)) for one in found), name
            works = {"with": partial(pages, here, shown, asked), "without": partial(pages, there, "", "")}
            rates = side_by_side(works, *SHORT)
            yield name, rates["with"], rates["without"]


def main(many: int = MATCHES) -> bool:
    """Print the figures. Return whether all floors are reached."""
    reached = []
    with ExitStack() as open_parts:
        place = open_parts.enter_context(tempfile.TemporaryDirectory())
        server = open_parts.enter_context(running_postgres())
        one, other = (open_parts.enter_context(empty_database(server)) for _ in range(2))
        sqlite = f"sqlite:///{place}/clubs.db", f"sqlite:///{place}/nobodys.db"
        for name, (with_clubs, without) in (("SQLite", sqlite), ("PostgreSQL", (one, other))):
            stored(with_clubs, many, in_clubs=True)
            stored(without, many, in_clubs=False)
            rows = [(*rates, rates[2] / rates[1]) for rates in measured(with_clubs, without, many)]
            title = f"Pages of {LIMIT} of {many:,} matches of {many // OF_A_CLUB:,} clubs, {name}"
            table(title, ("", "pages/s", "without clubs", "times as long"), rows)
            longest = max(times for *_, times in rows)
            reached.append(floor(f"a page for a key, beside one without clubs, {name}", 1 / longest, LEAST))
    return all(reached)


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:])) else 1)
