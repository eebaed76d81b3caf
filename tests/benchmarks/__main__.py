"""All benchmarks in one run, each figure beside what it is measured against: ``make bench``."""

import sys

from tests.benchmarks import books, clubs, http, limits, lists, playouts, replay, replicas

if __name__ == "__main__":
    reached = [part.main() for part in (playouts, replay, books, lists, clubs, http, limits, replicas)]
    sys.exit(0 if all(reached) else 1)
