"""All benchmarks in one run, each figure beside what it is measured against: ``make bench``."""

import sys

from tests.benchmarks import books, http, lists, playouts, proofs, replay, replicas

if __name__ == "__main__":
    reached = [part.main() for part in (playouts, replay, books, proofs, lists, http, replicas)]
    sys.exit(0 if all(reached) else 1)
