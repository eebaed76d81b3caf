"""All benchmarks in one run, each figure beside what it is measured against: ``make bench``."""

import sys

from tests.benchmarks import books, http, limits, lists, plans, playouts, proofs, replay, replicas

if __name__ == "__main__":
    reached = [part.main() for part in (playouts, replay, plans, books, proofs, lists, http, limits, replicas)]
    sys.exit(0 if all(reached) else 1)
