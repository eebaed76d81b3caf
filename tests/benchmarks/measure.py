"""Measuring side by side: figures of one run, and their ratios."""

import time
from collections.abc import Callable, Mapping, Sequence
from statistics import median

ROUNDS = 5
SHORT = 0.001, 150
"""Seconds and rounds for pages: a few of each in turn, so that a slow moment of the machine affects all."""


def rate(work: Callable[[], int], seconds: float = 1.0, clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the units a second that ``work`` does; it returns the units of each run."""
    done, begin = 0, clock()
    while (spent := clock() - begin) < seconds:
        done += work()
    return done / spent


def side_by_side(
    works: Mapping[str, Callable[[], int]],
    seconds: float = 0.4,
    rounds: int = ROUNDS,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Return the median rate of each work, measured in turn so that a slow moment of the machine affects all.

    ``clock`` is ``time.process_time`` for works that only compute: other processes then change little.
    """
    rates: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    for _ in range(rounds):
        for name, work in works.items():
            rates[name].append(rate(work, seconds, clock))
    return {name: median(values) for name, values in rates.items()}


def table(title: str, header: tuple[str, ...], rows: Sequence[tuple[object, ...]]) -> None:
    """Print figures in columns."""
    print(f"\n{title}")
    cells = [header, *[tuple(_cell(value) for value in row) for row in rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    for row in cells:
        first, rest = row[0].ljust(widths[0]), row[1:]
        print("  " + "  ".join([first, *[cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True)]]))


def _cell(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3f}"
    return "" if value is None else str(value)


def floor(name: str, value: float, least: float) -> bool:
    """Print whether a figure reaches its floor."""
    reached = value >= least
    print(f"  {'reached' if reached else 'MISSED '}  {name}: {value:,.3f} (floor {least:,})")
    return reached
