"""All benchmarks in one run, each figure with its reference: ``make bench``.

Its stores have a tenth to a fifth of the rows of ``make bench-large``.
"""

import sys
import time
from functools import partial

from tests.benchmarks import (
    attended,
    audits,
    books,
    clubs,
    http,
    limits,
    lists,
    long_match,
    plans,
    playouts,
    proofs,
    replay,
    replicas,
    statements,
)

STORES = {books: 100_000, audits: 100_000, proofs: 50_000, statements: 20_000, lists: 20_000, clubs: 20_000}
"""Modules that measure a store, with its size in ``make bench``. ``make bench-large`` uses the size of the module."""
REST = (playouts, attended, replay, plans, http, limits, long_match, replicas)


def main(*, large: bool) -> bool:
    """Run the benchmarks, and print the seconds of each. Return whether all floors are reached."""
    parts = {module.__name__: module.main for module in REST}
    for module, size in STORES.items():
        parts[module.__name__] = module.main if large else partial(module.main, size)
    reached, begin = [], time.monotonic()
    for name, measure in parts.items():
        started = time.monotonic()
        reached.append(measure())
        print(f"\n  {name}: {time.monotonic() - started:.0f} s")
    print(f"\n{time.monotonic() - begin:.0f} s, floors missed in {reached.count(False)} of {len(reached)} parts")
    return all(reached)


if __name__ == "__main__":
    sys.exit(0 if main(large=sys.argv[1:] == ["large"]) else 1)
