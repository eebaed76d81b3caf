"""The first that a new process reads, in many threads at once: ``python -m tests.store.simultaneous_first_reads``."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
from eventsourcing.persistence import StoredEvent

from projections.cases import Cases
from projections.follow.engine import Json
from projections.pots import Pots
from projections.protocols import Protocols
from referee.games import RULESETS
from referee.store.rows import from_row

ROWS = Path(__file__).parents[1] / "rows"
THREADS = 8


def reads() -> Iterator[Callable[[], object]]:
    """Return rows of every topic, states and options of every game, and stored values of projections."""
    for path in sorted(ROWS.glob("*.jsonl"), reverse=True):
        topic, state = path.stem.replace(".", "/", 1), path.read_bytes().splitlines()[0]
        yield partial(from_row, StoredEvent(UUID(int=1), 1, topic, state))
    for rules in RULESETS.values():
        yield partial(msgspec.convert, {}, rules.state)
        yield partial(msgspec.convert, {}, rules.options)
    dialect: Any = None  # the type does not use it
    for projection in (Protocols(), Pots(), Cases()):
        for table in projection.metadata.tables.values():
            for column in table.c:
                if isinstance(column.type, Json):
                    yield partial(column.type.process_result_value, "{}", dialect)


def main() -> None:
    """Run each read in all threads at nearly the same time."""
    sys.setswitchinterval(1e-6)
    for read in reads():
        together = threading.Barrier(THREADS)

        def one(together: threading.Barrier = together, read: Callable[[], object] = read) -> None:
            together.wait()
            with suppress(msgspec.ValidationError):  # an empty object lacks this and that
                read()

        threads = [threading.Thread(target=one) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print("read")


if __name__ == "__main__":
    main()
