"""All benchmarks in one run, each figure with its reference: ``make bench``."""

import sys

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

if __name__ == "__main__":
    parts = (
        playouts,
        attended,
        replay,
        plans,
        books,
        audits,
        proofs,
        statements,
        lists,
        clubs,
        http,
        limits,
        long_match,
        replicas,
    )
    reached = [part.main() for part in parts]
    sys.exit(0 if all(reached) else 1)
