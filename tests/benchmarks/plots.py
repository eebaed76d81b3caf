"""The plots of the guide "How fast is it": ``make bench-plots``.

Acts a second over the number of clients, and the time of an act over the length of its match, each on SQLite and on
durable PostgreSQL. The figures are also printed.
"""

import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path
from statistics import median

import matplotlib
import uvloop
from matplotlib import pyplot

from referee.value import EVENTS_MAX
from tests.benchmarks.http import DURABLE, loaded, must_store_as_named, served
from tests.benchmarks.load import OPENING, Client, game, made, post
from tests.benchmarks.measure import table
from tests.support.databases import empty_database, running_postgres

GUIDES = Path(__file__).parents[2] / "openapi" / "guides"
CLIENTS = (1, 2, 4, 8, 16, 32, 64, 128, 256)
ROUNDS = 3
STORES = ("SQLite", "PostgreSQL")
STEPS_PER_DECADE = 5
"""Points of a plot between a length and ten times that length."""

Urls = Callable[[str], AbstractContextManager[str]]
"""Returns the address of an empty store of a kind."""
Rates = dict[str, dict[int, float]]
"""The figures of each store, by the number of clients or of events."""


def acts_by_clients(urls: Urls) -> Rates:
    """Return the acts a second with each number of clients: medians of runs in turn."""
    runs: dict[tuple[str, int], list[float]] = {}
    for turn in range(ROUNDS):
        for clients in CLIENTS if turn % 2 == 0 else CLIENTS[::-1]:
            for store in STORES:
                with urls(store) as url:
                    figures = loaded("knacka", url, clients)
                    assert not figures["errors"], figures
                    must_store_as_named("knacka", url)
                runs.setdefault((store, clients), []).append(figures["acts"])
    return {store: {clients: median(runs[store, clients]) for clients in CLIENTS} for store in STORES}


async def _play(port: int) -> list[tuple[int, float]]:
    """Play one match until it has nearly all events that a match can have. Return its length after each act, and the
    milliseconds that the act took."""
    _, client = await asyncio.get_running_loop().create_connection(Client, "127.0.0.1", port)
    opened = await made(client, "/v1/matches", OPENING)
    tokens = [seat["token"] for seat in opened["seats"]]
    path, took, length = f"/v1/matches/{opened['id']}/acts", [], 1
    for seat, body, events in islice(game(), 1, None):
        if length + len(events) >= EVENTS_MAX:
            break
        sent = time.perf_counter()
        status, answer = await client.send(post(path, body, tokens[seat]))
        milliseconds = 1000 * (time.perf_counter() - sent)
        assert status == 201, answer
        length += len(events)
        took.append((length, milliseconds))
    assert json.loads(answer)["version"] == length, "the number of events is right"
    client.transport.close()
    return took


def time_by_length(urls: Urls) -> Rates:
    """Return the median time of an act in milliseconds, by the length of its match."""
    figures: Rates = {}
    for store in STORES:
        with urls(store) as url, served("knacka", url) as port:
            command = [sys.executable, "-m", "tests.benchmarks.plots", str(port)]
            done = subprocess.run(command, check=True, capture_output=True, text=True)
        steps: dict[int, list[float]] = {}
        for length, milliseconds in json.loads(done.stdout):
            steps.setdefault(_step(length), []).append(milliseconds)
        figures[store] = {length: median(found) for length, found in steps.items() if length >= 10}
    return figures


def _step(length: int) -> int:
    """Return the point of the plot to which a length belongs."""
    step = 0
    while round(10 ** ((step + 1) / STEPS_PER_DECADE)) <= length:
        step += 1
    return round(10 ** (step / STEPS_PER_DECADE))


def _print(title: str, figures: Rates) -> None:
    table(
        title,
        ("", *STORES),
        [(str(point), *(figures[store][point] for store in STORES)) for point in figures[STORES[0]]],
    )


def _plot(name: str, figures: Rates, horizontal: str, vertical: str, *, base: int) -> None:
    """Write a plot as SVG, the same bytes for the same figures. ``base``: of the logarithmic horizontal axis."""
    matplotlib.rcParams["svg.hashsalt"] = name
    drawn, axes = pyplot.subplots(figsize=(7, 4))
    for (store, points), marker in zip(figures.items(), "os", strict=True):
        axes.plot(list(points), list(points.values()), marker=marker, label=store)
    axes.set_xscale("log", base=base)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.set(xlabel=horizontal, ylabel=vertical)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend()
    drawn.tight_layout()
    drawn.savefig(GUIDES / name, metadata={"Date": None, "Creator": None})


def main() -> None:
    """Measure, print the figures, and write the plots."""
    with running_postgres(DURABLE | {"max_connections": "400"}) as server, tempfile.TemporaryDirectory() as place:
        stores = iter(range(1_000))

        def urls(store: str) -> AbstractContextManager[str]:
            """Return a context with the address of an empty store."""
            if store == "PostgreSQL":
                return empty_database(server)
            return nullcontext(f"sqlite:///{place}/{next(stores)}.db")

        acts = acts_by_clients(urls)
        times = time_by_length(urls)
    _print("Acts/s over HTTP, by number of clients", acts)
    _print("Milliseconds of an act (median), by events of its match", times)
    _plot("speed-clients.svg", acts, "clients that play at once", "acts per second", base=2)
    _plot("speed-length.svg", times, "events of the match", "milliseconds of an act (median)", base=10)


if __name__ == "__main__":
    if sys.argv[1:]:
        uvloop.install()
        print(json.dumps(asyncio.run(_play(int(sys.argv[1])))))
    else:
        main()
