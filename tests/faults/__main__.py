"""Faults of the real service as a process: ``make faults``.

``python -m tests.faults [--share N] [--seed N] [--store SQLite|PostgreSQL]``. Eight clients play all games over HTTP
and repeat unanswered acts under the same key. Meanwhile the service is killed, its store fails, acknowledgements are
lost and streams are cut. It is stopped when it has applied all stored events, and its projections are compared with
rebuilt ones. Prints counts. Ends with 1 if an act was lost, applied twice or left out, if a projection differs, or if
an answer was wrong.
"""

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Sequence

from tests.faults.fault_kinds import Report, black_hole, cut_streams, faults, kills, lost_answers, step_by_step
from tests.faults.play import NEVER, Enough
from tests.faults.service_under_load import playing
from tests.faults.stops import stops
from tests.faults.stores import STORES, PostgreSQL

KILLS, FAULTS, STREAMS = 30, 15, 500
"""Kills, faults and cut streams on each store."""
LOST_ANSWERS = 20
STOPS, STOPS_EACH = 250, 25
"""Stops on each store, and how many of them share one: each compares all stored events."""
COUNTED = (
    "acts",
    "money",
    "entries",
    "checkpoints",
    "replayed",
    "reads",
    "503",
    "cut",
    "given up",
    "streams cut",
    "behind",
)


async def run(name: str, share: float, seed: str, report: Report) -> None:
    """Run all faults on one store."""

    def of(times: int) -> int:
        return max(1, round(times * share))

    with STORES[name]() as store:
        await asyncio.to_thread(step_by_step, store, report, max(1, round(1 / share)))
    with STORES[name]() as store:
        async with playing(store, f"{seed} kills") as field:
            await kills(field, of(KILLS), report)
            await cut_streams(field, of(STREAMS), report)
        async with playing(store, f"{seed} faults") as field:
            await faults(field, of(FAULTS), report)
        if isinstance(store, PostgreSQL):
            async with playing(store, f"{seed} proxy", proxied=True) as field:
                await lost_answers(field, of(LOST_ANSWERS), report)
                await black_hole(field, report, kept=True)
                await black_hole(field, report)
    for done in range(0, of(STOPS), STOPS_EACH):
        with STORES[name]() as store:
            async with playing(store, f"{seed} stops {done}", proxied=isinstance(store, PostgreSQL)) as field:
                await stops(field, min(STOPS_EACH, of(STOPS) - done), report)


def show(report: Report) -> None:
    """Print the table of counts."""
    heads = ("", "", "times", *COUNTED, *NEVER, "s to return")
    table: list[tuple[str, ...]] = [heads]
    for line in report.lines:
        numbers = [line.counts[name] for name in (*COUNTED, *NEVER)]
        table.append((line.store, line.what, *map(str, (line.times, *numbers)), f"{line.seconds:.1f}"))
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    for row in table:
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths, strict=False)]
        print("  ".join([*left, *(cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True))]))
    for how in report.wrong:
        print(how)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Faults against the real service.")
    parser.add_argument("--share", type=float, default=1.0, help="of how often everything is done: 0.1 for a tenth")
    parser.add_argument("--seed", default=str(time.time_ns() % 1_000_000), help="of what is played, and when it ends")
    parser.add_argument("--store", choices=list(STORES), help="both if none is named")
    asked = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no process is left then either
    print(f"seed {asked.seed}", flush=True)
    report = Report(lambda what: print(f"  {what}", flush=True))
    try:
        for name in [asked.store] if asked.store else STORES:
            asyncio.run(run(name, asked.share, asked.seed, report))
    except Enough as enough:
        report.wrong.append(str(enough))
    finally:
        show(report)
    return 1 if report.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
