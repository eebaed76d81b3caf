"""What the limits cost: ``python -m tests.benchmarks.limits``.

A check by itself; acts a second with limits that hold for the clients too and are never reached, beside none, with
tokens of seats and with keys of members of a club; and acts a second while somebody else guesses ten thousand tokens,
beside nobody guessing. He has an address and a process of his own and four connections, and sends a thousand a
second.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from itertools import cycle, islice
from statistics import median
from uuid import uuid4

import uvloop

from api.access.limits import Pace
from tests.benchmarks.http import loaded, served
from tests.benchmarks.load import OPENING, Client, post, run
from tests.benchmarks.measure import floor, side_by_side, table

CLIENTS = 32
ROUNDS = 5
GUESSES = 10_000
GUESSING_SECONDS = 10.0
GUESSERS = 4
"""Connections."""
ELSEWHERE = "127.0.0.2"
"""Another address of this machine."""
BATCH = 10_000


def check_seconds() -> float:
    """One check, of a thousand who ask in turn."""
    pace, whose = Pace(1_000_000, 60), [*islice(cycle(f"192.0.{n // 256}.{n % 256}" for n in range(1000)), BATCH)]

    def checks() -> int:
        for who in whose:
            pace.take(who)
        return BATCH

    def nothing() -> int:
        for _ in whose:
            pass
        return BATCH

    rates = side_by_side({"checks": checks, "nothing": nothing})
    return 1 / rates["checks"] - 1 / rates["nothing"]


async def opened(port: int) -> str:
    """The path of a match to guess tokens of."""
    _, client = await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", port)
    status, body = await client.send(post("/v1/matches", json.dumps(OPENING).encode()))
    assert status == 201, body
    client.transport.close()
    return f"/v1/matches/{json.loads(body)['id']}/acts"


async def guess(port: int, path: str, number: int) -> Counter[int]:
    """So many guesses over one connection, at an even pace; how many were answered with each status."""
    loop, answers = asyncio.get_running_loop(), Counter[int]()
    _, client = await loop.create_connection(Client, "127.0.0.1", port, local_addr=(ELSEWHERE, 0))
    started = loop.time()
    for turn in range(number):
        await asyncio.sleep(max(0.0, started + turn * GUESSING_SECONDS / number - loop.time()))
        status, _ = await client.send(post(path, b'{"act": "score", "seat": 0}', uuid4().hex))
        answers[status] += 1
    client.transport.close()
    return answers


async def guess_all(port: int) -> tuple[Counter[int], float]:
    """All guesses, and how long they took."""
    path, began = await opened(port), time.perf_counter()
    told = await asyncio.gather(*(guess(port, path, GUESSES // GUESSERS) for _ in range(GUESSERS)))
    return sum(told, Counter[int]()), time.perf_counter() - began


def beside(port: int, guessing: bool) -> tuple[float, list[object]]:
    """Acts a second, while somebody guesses or not, and what he was answered."""
    command = [sys.executable, "-m", "tests.benchmarks.limits", str(port)]
    guesser = subprocess.Popen(command, stdout=subprocess.PIPE, text=True) if guessing else None
    figures = asyncio.run(run(port, CLIENTS, GUESSING_SECONDS, ""))
    assert not figures["errors"], "who plays is refused nothing"
    said = [] if guesser is None else json.loads(guesser.communicate()[0])
    return figures["acts"], said


def main() -> bool:
    """Prints the figures; whether all floors are reached."""
    print(f"\nA check of a limit: {check_seconds() * 1e6:.2f} microseconds")
    of_acts = {"off": "knacka", "on": "limited", "on, with keys": "club"}
    rates: dict[str, list[float]] = {name: [] for name in (*of_acts, "alone", "beside one who guesses")}
    guessed: list[tuple[object, ...]] = []
    with tempfile.TemporaryDirectory() as place:
        for turn in range(ROUNDS):
            for name, variant in of_acts.items():
                figures = loaded(variant, f"sqlite:///{place}/{turn}-{variant}.db", CLIENTS)
                assert not figures["errors"], figures
                rates[name].append(figures["acts"])
            for name in ("alone", "beside one who guesses"):
                with served("guarded", f"sqlite:///{place}/{turn}-{name[:6]}.db") as port:
                    rate, said = beside(port, guessing=name != "alone")
                rates[name].append(rate)
                if said:
                    guessed.append((f"run {turn + 1}", *said))
    middle = {name: median(of) for name, of in rates.items()}

    def ratio(name: str, to: str) -> float:
        """Each run is held against the one just before it: the machine may have been slow for both."""
        return median(one / other for one, other in zip(rates[name], rates[to], strict=True))

    table(f"Acts/s of {CLIENTS} clients on SQLite (median of {ROUNDS})", ("limits", "acts/s"), [*middle.items()])
    table(f"{GUESSES:,} guesses from one address", ("", "401", "429", "seconds"), guessed)
    return all(
        [
            floor("limits on, beside off", ratio("on", "off"), 0.95),
            floor("limits on and a key, beside off and a token", ratio("on, with keys", "off"), 0.95),
            floor("beside one who guesses, beside alone", ratio("beside one who guesses", "alone"), 0.9),
        ]
    )


if __name__ == "__main__":
    uvloop.install()
    if sys.argv[1:]:
        answers, spent = asyncio.run(guess_all(int(sys.argv[1])))
        print(json.dumps([answers[401], answers[429], spent]))
        sys.exit()
    sys.exit(0 if main() else 1)
