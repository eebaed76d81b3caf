"""The cost of the limits: ``python -m tests.benchmarks.limits``.

It measures a check alone. It compares acts a second with limits that are never reached and without limits, for tokens
of seats and keys of members. And it compares acts a second with and without a client that guesses tokens, on one
service, in turns, until all guesses are answered. That client has its own address and process and eight
connections, and sends the next guess when the last is answered.
"""

import asyncio
import json
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
ROUNDS = 3
GUESSES = 400
TURNS = 4
"""Turns for the guesses: short ones, so that a slow moment of the machine affects both sides."""
ALONE_SECONDS = 2.0
PATIENCE_SECONDS = 600.0
GUESSERS = 8
"""Connections."""
ELSEWHERE = "127.0.0.2"
"""A second address of this machine."""
BATCH = 10_000


def check_seconds() -> float:
    """Return the seconds of one check, with a thousand callers in turn."""
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
    """Open a match and return its path, for guesses of its tokens."""
    _, client = await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", port)
    status, body = await client.send(post("/v1/matches", json.dumps(OPENING).encode()))
    assert status == 201, body
    client.transport.close()
    return f"/v1/matches/{json.loads(body)['id']}/acts"


async def guess(port: int, path: str, number: int) -> Counter[int]:
    """Send ``number`` guesses over one connection, each when the last is answered. Return the answers by status."""
    answers = Counter[int]()
    create = asyncio.get_running_loop().create_connection
    _, client = await create(Client, "127.0.0.1", port, local_addr=(ELSEWHERE, 0))
    for _ in range(number):
        status, _ = await client.send(post(path, b'{"act": "score", "seat": 0}', uuid4().hex))
        answers[status] += 1
    client.transport.close()
    return answers


async def guess_all(port: int) -> tuple[Counter[int], float]:
    """Send all guesses of a turn, when asked to. Return the answers by status, and the seconds."""
    path = await opened(port)
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.readline)
    began = time.perf_counter()
    told = await asyncio.gather(*(guess(port, path, GUESSES // TURNS // GUESSERS) for _ in range(GUESSERS)))
    return sum(told, Counter[int]()), time.perf_counter() - began


async def alone(port: int) -> float:
    """Return the acts a second without guesses."""
    return _acts(await run(port, CLIENTS, ALONE_SECONDS, ""))


async def beside(port: int) -> tuple[float, list[object]]:
    """Return the acts a second from the first guess of a turn to the answer to its last, and the answers to the
    guesses."""
    command = [sys.executable, "-m", "tests.benchmarks.limits", str(port)]
    pipe = asyncio.subprocess.PIPE
    guesser = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
    assert guesser.stdout is not None
    await guesser.stdout.readline()
    said: list[object] = []

    async def guessing() -> None:
        told, _ = await guesser.communicate(b"\n")
        said.extend(json.loads(told))

    figures = await run(port, CLIENTS, PATIENCE_SECONDS, "", guessing())
    return _acts(figures), said


def _acts(figures: dict[str, float]) -> float:
    assert not figures["errors"], "players are not refused"
    return figures["acts"]


def main() -> bool:
    """Print the figures. Return whether all floors are reached."""
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
        with served("guarded", f"sqlite:///{place}/guarded.db") as port:
            for turn in range(TURNS):
                for name in ("alone", "beside one who guesses")[:: 1 if turn % 2 else -1]:
                    if name == "alone":
                        rates[name].append(asyncio.run(alone(port)))
                    else:
                        rate, said = asyncio.run(beside(port))
                        rates[name].append(rate)
                        guessed.append((f"turn {turn + 1}", *said))
    middle = {name: median(of) for name, of in rates.items()}

    def ratio(name: str, to: str) -> float:
        """Return the ratio of each run to the one just before it, since the machine may have been slow for both."""
        return median(one / other for one, other in zip(rates[name], rates[to], strict=True))

    table(
        f"Acts/s of {CLIENTS} clients on SQLite (median of {ROUNDS}, with and without guesses of {TURNS})",
        ("limits", "acts/s"),
        [*middle.items()],
    )
    table(f"{GUESSES:,} guesses from one address", ("", "401", "429", "seconds"), guessed)
    return all(
        [
            floor("limits on, beside off", ratio("on", "off"), 0.8),
            floor("limits on and a key, beside off and a token", ratio("on, with keys", "off"), 0.76),
            floor("beside one who guesses, beside alone", ratio("beside one who guesses", "alone"), 0.82),
        ]
    )


if __name__ == "__main__":
    uvloop.install()
    if sys.argv[1:]:
        answers, spent = asyncio.run(guess_all(int(sys.argv[1])))
        print(json.dumps([answers[401], answers[429], spent]))
        sys.exit()
    sys.exit(0 if main() else 1)
