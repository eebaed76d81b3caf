"""Threads that decide requests aside: on the whole history of a match, while the desk's thread continues.

One thread decides on short matches. One waits while a process decides on long matches
(:mod:`referee.store.worker`).
"""

import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from queue import SimpleQueue
from typing import Generic, TypeVar
from uuid import UUID

from referee.store.command import Busy

LONG_FROM = 500
"""Events from which a match is long."""
WAITING_MAX = 64
"""Maximum unfinished decisions in each queue."""
WAITING_OF_ONE_MAX = 4
"""Maximum unfinished decisions on one match, because each outdates the next ones."""
SWITCH_SECONDS = 0.0002
"""Seconds of the interpreter's switch interval in :func:`yielding_often`."""

T = TypeVar("T")
_lock = threading.Lock()
_at_work = 0
_usual_seconds = sys.getswitchinterval()


@contextmanager
def yielding_often() -> Iterator[None]:
    """Shorten the interpreter's switch interval in this block, so that other threads run often."""
    global _at_work
    with _lock:
        _at_work += 1
        sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        with _lock:
            _at_work -= 1
            if not _at_work:
                sys.setswitchinterval(_usual_seconds)


class Aside(Generic[T]):
    def __init__(self, decide: Callable[[T], None]) -> None:
        """``decide``: decides a job; it must not raise."""
        self._decide = decide
        self._queues: dict[bool, SimpleQueue[tuple[UUID, T] | None]] = {}
        """Queues by ``is_long``. ``None`` in a queue ends its thread."""
        self._threads: list[threading.Thread] = []
        self._closed = False
        self._waiting: Counter[tuple[bool, UUID | None]] = Counter()
        """Jobs not yet done, by ``is_long`` and match; ``None`` for all matches."""
        self._guard = threading.Lock()

    def put(self, aggregate_id: UUID, events: int, job: T) -> None:
        """Queue a job on an aggregate with this number of ``events``.

        Raises :class:`Busy` if too many jobs are unfinished, or after :meth:`close`.
        """
        is_long = events >= LONG_FROM
        counted = (is_long, None), (is_long, aggregate_id)
        with self._guard:
            if self._closed:
                raise Busy
            if self._waiting[counted[0]] >= WAITING_MAX or self._waiting[counted[1]] >= WAITING_OF_ONE_MAX:
                raise Busy
            self._waiting.update(counted)
            if is_long not in self._queues:
                self._queues[is_long] = SimpleQueue()
                thread = threading.Thread(target=self._run, args=(is_long,), name="aside", daemon=True)
                self._threads.append(thread)
                thread.start()
        self._queues[is_long].put((aggregate_id, job))

    def close(self) -> None:
        """Drop waiting jobs, and wait for the present ones."""
        with self._guard:
            self._closed = True
            for queue in self._queues.values():
                queue.put(None)
        for thread in self._threads:
            thread.join()

    def _run(self, is_long: bool) -> None:
        while (found := self._queues[is_long].get()) is not None and not self._closed:
            aggregate_id, job = found
            with nullcontext() if is_long else yielding_often():
                self._decide(job)
            with self._guard:
                for counted in ((is_long, None), (is_long, aggregate_id)):
                    self._waiting[counted] -= 1
                    if not self._waiting[counted]:
                        del self._waiting[counted]
