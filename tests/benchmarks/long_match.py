"""The effect of a long match on other clients: ``python -m tests.benchmarks.long_match``.

A client fills a tally, and then repeats two requests at once: it corrects the first deal and previews a ruling on it.
With and without that, in turn, eight others play their matches, and health is requested twenty times a second.
"""

import asyncio
import subprocess
import sys
import tempfile
import threading
import time
from statistics import median
from typing import Any

import httpx
import uvloop

from tests.api.matches.test_long_matches import sheet, tallied
from tests.benchmarks.http import served
from tests.benchmarks.load import Client, run
from tests.benchmarks.measure import floor, table
from tests.support.match_client import Table

DEALS = 1500
"""Deals, each of some twelve events."""
CLIENTS = 8
SECONDS = 4.0
ROUNDS = 3
HEALTH_SECONDS = 0.05
LIVE = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEALTH_MS = 50
"""Largest 95th percentile, on a machine with 8 ms without the long match."""
USUAL_MS = 8


def fill(client: httpx.Client, deals: int) -> Table:
    """Return a tally with a case about its first deal."""
    match = tallied(client, deals)
    answer = match.post("/knocks", entry(0, 1, 1), 0)
    assert answer.status_code == 201, answer.text
    return match


def entry(seat: int, second: int, third: int) -> dict[str, Any]:
    """Return a knock for the entry of the first deal, with the seats that took its second and third trick."""
    return {"seat": seat, "offence": "entry", "deal": 1, "result": sheet(1, 0, second, third, 2, 2)}


def work(port: int) -> None:
    """Fill a match, and work on it when asked to, until this process is ended."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        match = fill(client, DEALS)
        print(match.version(), flush=True)
        sys.stdin.readline()
        ruling = {"verdict": "upheld", "standard": "beyond_reasonable_doubt", "rule": "J9"}
        asked = ("/knocks", entry(2, 1, 0), 2), ("/knocks/1/ruling?preview=true", ruling, "official")
        for one in asked:
            threading.Thread(target=_again_and_again, args=(match, *one)).start()
        time.sleep(3600)


def _again_and_again(match: Table, path: str, body: dict[str, Any], who: int | str) -> None:
    while True:
        answer = match.post(path, body, who)
        assert answer.status_code in (200, 409, 503), answer.text


async def health(port: int) -> float:
    """Return the 95th percentile of health's response time in milliseconds."""
    _, client = await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", port)
    took, until = [], time.perf_counter() + SECONDS
    while (sent := time.perf_counter()) < until:
        status, body = await client.send(LIVE)
        assert status == 200, body
        took.append(time.perf_counter() - sent)
        await asyncio.sleep(HEALTH_SECONDS)
    client.transport.close()
    return 1000 * sorted(took)[len(took) * 95 // 100]


async def measured(port: int) -> tuple[float, float]:
    """Return the 95th percentiles, in milliseconds, of others' acts and of health."""
    told: list[float] = []

    async def asking() -> None:
        told.append(await health(port))

    figures = await run(port, CLIENTS, SECONDS + 5, "", asking())
    assert not figures["errors"], figures
    return figures["p95_ms"], told[0]


def main() -> bool:
    """Print the figures. Return whether all floors are reached."""
    alone, beside = list[tuple[float, float]](), list[tuple[float, float]]()
    with tempfile.TemporaryDirectory() as place:
        for turn in range(ROUNDS):
            with served("knacka", f"sqlite:///{place}/{turn}.db") as port:
                pipe = subprocess.PIPE
                command = [sys.executable, "-m", "tests.benchmarks.long_match", str(port)]
                worker = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
                assert worker.stdin is not None
                assert worker.stdout is not None
                try:
                    events = int(worker.stdout.readline())
                    alone.append(asyncio.run(measured(port)))
                    worker.stdin.write("\n")
                    worker.stdin.flush()
                    beside.append(asyncio.run(measured(port)))
                finally:
                    worker.kill()
                    worker.wait()
    rows = {"without": alone, "with": beside}
    table(
        f"Milliseconds (95th percentile) with and without work at a match of {events:,} events",
        ("", "acts", "health"),
        [(name, *(median(one[place] for one in of) for place in (0, 1))) for name, of in rows.items()],
    )
    acts = median(one[0] / other[0] for one, other in zip(alone, beside, strict=True))
    live = median(
        max(HEALTH_MS, HEALTH_MS / USUAL_MS * one[1]) / other[1] for one, other in zip(alone, beside, strict=True)
    )
    return all(
        [
            floor("acts of others without a long match, beside with one", acts, 0.45),
            floor(f"health as slow as it may be ({HEALTH_MS} ms), beside with a long match", live, 1.0),
        ]
    )


if __name__ == "__main__":
    uvloop.install()
    if sys.argv[1:]:
        work(int(sys.argv[1]))
    sys.exit(0 if main() else 1)
