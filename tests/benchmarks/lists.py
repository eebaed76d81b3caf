"""Lists: a page of an official's cases and a page of matches, over HTTP, in a store of a hundred thousand cases.

``python -m tests.benchmarks.lists [CASES]``. One official has the cases of all matches. One case in ten waits for a
ruling; the other rulings are final, some only since the time for appeals has passed. If other processes use the
machine, give all of this one processor: ``taskset -c 0 python -m tests.benchmarks.lists``.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from hashlib import sha256
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

import msgspec
from msgspec.structs import replace

from referee.requests import Appeal, Withdrawal
from referee.store.store import construct
from referee.tokens import encrypt_or_decrypt
from tests.benchmarks.books import Kept, built, fill
from tests.benchmarks.measure import SHORT, floor, side_by_side, table
from tests.officials.hearing import Hearing
from tests.support.databases import empty_database, running_postgres
from tests.support.running_service import running
from tests.support.salted_rows import row_of

CASES = 100_000
IN_A_MATCH = 10
OFFENCES = ("revoke", "exposed_card", "led_out_of_turn")
RARE = 200
"""Cases for each one that is decided by a different rule."""
TOKEN = "of the official of all of them"
DOCKET = "d" * 64
"""Stands for what each match has of the token."""
LIMIT = 50
LEAST = 0.78


def played(rule: str) -> list[Kept]:
    """Return the rows of a match with ten cases: one waits, one is withdrawn, two are appealed, one of them is ruled
    on."""
    hearing = Hearing().deal()
    first = hearing.history[0]
    hearing.history[0] = replace(
        first,
        event=replace(first.event, dockets=(DOCKET,)),
    )
    for number in range(1, IN_A_MATCH):
        offence = OFFENCES[number // 4]  # a second knock about a decided error opens no case
        hearing.knock(number % 4, (number + 1) % 4, offence, "It was in the second trick, and all have seen it")
        hearing.says((number + 1) % 4, False, number, text="I had no card of that suit any more")
        if number == 1:
            hearing.ask(Withdrawal(case=1, seat=1))
            continue
        hearing.rule("dismissed", number, rule=rule if number == 2 else "B42", reason="Nobody else has seen it")
        if number in (3, 4):
            hearing.ask(Appeal(case=number, seat=number % 4, text="They have"))
    hearing.rule("upheld", 4, by="official:2", rule="B42")
    hearing.knock(0, 1, "revoke", "Again")
    rows = [row_of(one) for one in hearing.history]
    return [(UUID(str(row.originator_id)), row.originator_version, row.topic, row.state) for row in rows]


def rows_of(cases: int, secret: bytes) -> Iterator[Kept]:
    """Yield the rows of ``cases`` cases: those of one match under different ids, in any order."""
    usual, rare = played("B42"), played("B11")
    for number in range(cases // IN_A_MATCH):
        match_id = UUID(bytes=sha256(str(number).encode()).digest()[:16], version=4)
        (docket,) = encrypt_or_decrypt(secret, match_id, (sha256(TOKEN.encode()).hexdigest(),))
        for _, version, topic, state in rare if number % (RARE // IN_A_MATCH) == 0 else usual:
            yield match_id, version, topic, state.replace(DOCKET.encode(), docket.encode())


def ask(connection: HTTPConnection, path: str) -> dict[str, Any]:
    """Request a page."""
    connection.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
    answer = connection.getresponse()
    said = answer.read()
    assert answer.status == 200, said
    told: dict[str, Any] = msgspec.json.decode(said)
    return told


def measured(url: str) -> dict[str, float]:
    """Return pages a second of each list."""
    with running(url) as process:
        connection = HTTPConnection(urlsplit(process.address).netloc)
        paths = {
            "matches": f"/v1/matches?limit={LIMIT}",
            "cases": f"/v1/cases?limit={LIMIT}",
            "cases that wait": f"/v1/cases?limit={LIMIT}&status=pending",
            "cases that may be appealed": f"/v1/cases?limit={LIMIT}&status=ruled",
            "cases that are final": f"/v1/cases?limit={LIMIT}&status=final",
            "cases by a rule": f"/v1/cases?limit={LIMIT}&rule=B11",
        }
        cursor = None
        for _ in range(50):
            page = ask(connection, f"/v1/cases?limit=200{f'&cursor={cursor}' if cursor else ''}")
            cursor = page["next"]
        paths["cases, later on"] = f"/v1/cases?limit={LIMIT}&cursor={cursor}"

        def page_of(path: str) -> int:
            ask(connection, path)
            return 1

        for name, path in paths.items():
            told = ask(connection, path)
            many = len(told["items"])
            assert many == (0 if "appealed" in name else LIMIT), (name, many)
        works: dict[str, Callable[[], int]] = {name: partial(page_of, path) for name, path in paths.items()}
        rates = side_by_side(works, *SHORT)
        connection.close()
    return rates


def main(cases: int = CASES) -> bool:
    """Print the figures. Return whether all floors are reached."""
    reached = []
    with tempfile.TemporaryDirectory() as place, running_postgres() as server, empty_database(server) as postgres:
        for name, url in (("SQLite", f"sqlite:///{place}/knacka.db"), ("PostgreSQL", postgres)):
            with construct(url) as referee:
                secret = referee.secret
            fill(url, rows_of(cases, secret))
            built(url)
            rates = measured(url)
            beside = rates["matches"]
            rows: list[tuple[object, ...]] = [(what, rate, rate / beside) for what, rate in rates.items()]
            table(f"Pages of {LIMIT} in a store of {cases:,} cases, {name}", ("", "pages/s", "beside matches"), rows)
            slowest = min(rate for what, rate in rates.items() if what != "matches")
            reached.append(floor(f"the slowest list of cases beside matches, {name}", slowest / beside, LEAST))
    return all(reached)


if __name__ == "__main__":
    sys.exit(0 if main(*map(int, sys.argv[1:])) else 1)
