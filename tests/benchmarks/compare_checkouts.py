"""Compare the acts per second of this tree with a different checkout of the project.

``python -m tests.benchmarks.compare_checkouts OTHER [--turns N] [--seconds N] [--clients N]`` serves both trees with
``python -m api serve``, each on a store of its own, and plays on them by turns: A, B, B, A. A slow moment of the
machine then meets both. Each service has the clients of its own tree, because the forms of requests may differ.

The ratio of a turn is that of this tree to the other in the same turn; the figure is the median of all turns. The
processor time that a service needs for an act is printed too: other work on the machine changes it less.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

from tests.benchmarks.http import DURABLE
from tests.benchmarks.measure import floor, table
from tests.demo.ports import free_port
from tests.support.databases import empty_database, running_postgres
from tests.support.paths import ROOT
from tests.support.running_service import environment_of

TURNS = 12
SECONDS = 1.5
CLIENTS = 32
LEAST = 0.97
"""The share of the other tree's acts per second that this tree reaches at least."""
START_SECONDS_MAX = 60
PAUSE_SECONDS = 0.3
"""The pause after each turn, in which a service ends what it does after its last answer."""
TICKS = os.sysconf("SC_CLK_TCK")


class Service(NamedTuple):
    """A running service of a checkout."""

    checkout: Path
    port: int
    pid: int

    def processor_seconds(self) -> float:
        """Return the processor time that the service has used."""
        after_name = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / TICKS


class Run(NamedTuple):
    """A turn of one service."""

    acts_per_second: float
    microseconds_per_act: float
    """Processor time of the service."""


@contextmanager
def serving(checkout: Path, url: str) -> Iterator[Service]:
    """Serve a checkout on a database, in a process that is gone afterwards."""
    port = free_port()
    settings = {"KNACKA_DATABASE_URL": url, "KNACKA_PORT": str(port), "KNACKA_LOG_LEVEL": "error"}
    process = subprocess.Popen(
        [sys.executable, "-m", "api", "serve"], cwd=checkout, env=environment_of(PYTHONPATH=str(checkout), **settings)
    )
    try:
        _wait_until_live(process, port)
        yield Service(checkout, port, process.pid)
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_until_live(process: "subprocess.Popen[bytes]", port: int) -> None:
    deadline = time.monotonic() + START_SECONDS_MAX
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=1).close()
            return
        except OSError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError("the service of the checkout did not start") from error
            time.sleep(0.05)


def played(service: Service, clients: int, seconds: float) -> Run:
    """Let this many clients play, in a process of their own."""
    command = [sys.executable, "-m", "tests.benchmarks.load", str(service.port), str(clients), str(seconds)]
    before = service.processor_seconds()
    environment = environment_of(PYTHONPATH=str(service.checkout))
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=service.checkout, env=environment)
    used = service.processor_seconds() - before
    figures: dict[str, float] = json.loads(done.stdout)
    assert not figures["errors"], figures
    time.sleep(PAUSE_SECONDS)
    return Run(figures["acts"], 1e6 * used / (figures["acts"] * seconds))


def compared(ours: Service, theirs: Service, turns: int, clients: int, seconds: float) -> list[tuple[Run, Run]]:
    """Return the runs of both services in each turn."""
    both: list[tuple[Run, Run]] = []
    played(ours, clients, seconds), played(theirs, clients, seconds)
    for turn in range(turns):
        order = (ours, theirs) if turn % 2 == 0 else (theirs, ours)
        runs = [played(service, clients, seconds) for service in order]
        both.append((runs[0], runs[1]) if turn % 2 == 0 else (runs[1], runs[0]))
    return both


def measured(other: Path, urls: tuple[str, str], turns: int, clients: int, seconds: float) -> list[tuple[Run, Run]]:
    """Serve both trees on these databases, and return the runs of each turn."""
    with serving(ROOT, urls[0]) as ours, serving(other, urls[1]) as theirs:
        return compared(ours, theirs, turns, clients, seconds)


def report(store: str, both: list[tuple[Run, Run]]) -> bool:
    """Print the figures of a store. Return whether this tree is fast enough."""
    ratios = sorted(ours.acts_per_second / theirs.acts_per_second for ours, theirs in both)
    costs = [ours.microseconds_per_act / theirs.microseconds_per_act for ours, theirs in both]
    rows: list[tuple[object, ...]] = [
        (
            name,
            median(run[place].acts_per_second for run in both),
            median(run[place].microseconds_per_act for run in both),
        )
        for place, name in enumerate(("this tree", "the other tree"))
    ]
    table(f"{store} (median of {len(both)} turns)", ("", "acts/s", "microseconds of processor per act"), rows)
    quarter = len(ratios) // 4
    print(f"  the middle half of the ratios: {ratios[quarter]:.3f} to {ratios[-1 - quarter]:.3f}")
    print(f"  processor time per act, as a ratio: {median(costs):.3f}")
    return floor(f"acts/s on {store}, beside the other tree", median(ratios), LEAST)


def main() -> int:
    """Return the exit code: 1 if this tree is too slow on a store."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.compare_checkouts", description=__doc__.splitlines()[0]
    )
    parser.add_argument("other", type=Path, metavar="OTHER", help="a different checkout of the project")
    parser.add_argument("--turns", type=int, default=TURNS, help="turns of each service on each store")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="length of a turn of one service")
    parser.add_argument("--clients", type=int, default=CLIENTS, help="clients that play at the same time")
    parser.add_argument("--store", choices=("sqlite", "postgresql"), help="one store; both if none is named")
    asked = parser.parse_args()
    other = asked.other.resolve()
    if not (other / "api" / "__main__.py").is_file():
        parser.error(f"{other} is not a checkout of this project: it has no api/__main__.py")
    how = asked.turns, asked.clients, asked.seconds
    reached = []
    if asked.store != "postgresql":
        with tempfile.TemporaryDirectory() as place:
            urls = f"sqlite:///{place}/ours.db", f"sqlite:///{place}/theirs.db"
            reached.append(report("SQLite", measured(other, urls, *how)))
    if asked.store != "sqlite":
        with running_postgres(DURABLE) as server, empty_database(server) as one, empty_database(server) as two:
            reached.append(report("PostgreSQL", measured(other, (one, two), *how)))
    return 0 if all(reached) else 1


if __name__ == "__main__":
    sys.exit(main())
