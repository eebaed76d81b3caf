"""Threads for calls that use the database or take long: a small pool with a bounded queue for each kind.

Each call counts for a holder: a club, or the address of a caller without one. A free thread runs a call of the holder
with the fewest running calls. If the queue is full, a new call may replace the newest waiting call of the holder with
the most calls. So holders with waiting calls have about equal shares of the threads and the queue.
"""

import asyncio
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext, suppress
from contextvars import ContextVar
from functools import partial
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from referee.store.aside import yielding_often
from referee.store.command import Busy

P = ParamSpec("P")
T = TypeVar("T")

_HOLDER: ContextVar[str] = ContextVar("holder", default="")


def count_calls_for(holder: str) -> None:
    """Count the next calls of the current task for this holder."""
    _HOLDER.set(holder)


class _Call:
    def __init__(self, holder: str, work: Callable[[], Any]) -> None:
        self.holder, self.work = holder, work
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()

    def end(self, result: Any, error: BaseException | None) -> None:
        """Set the future's result or error, from any thread."""
        with suppress(RuntimeError):  # The loop may be closed.
            self._loop.call_soon_threadsafe(self._set_future, result, error)

    def _set_future(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return  # The request was cancelled.
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class Threads:
    def __init__(self, name: str, threads: int, *, waiting: int, gives_way: bool = False) -> None:
        """``waiting``: maximum number of waiting calls. ``gives_way``: let other threads interrupt calls often."""
        self._within = yielding_often if gives_way else nullcontext
        self.places = threads + waiting
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = Lock()
        self._waiting: dict[str, dict[_Call, None]] = {}
        """Waiting calls by holder, the oldest first. The holder whose call ran last comes last."""
        self._running: Counter[str] = Counter()
        self._calls_by_holder: Counter[str] = Counter()
        """Number of running and waiting calls by holder."""
        self._call_count = 0

    async def __call__(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of the call. Raises its error, or Busy if too many calls wait or no thread can start."""
        one = _Call(_HOLDER.get(), partial(call, *args, **kwargs))
        self._queue(one)
        try:
            self._executor.submit(self._run_next)
        except RuntimeError as error:
            if self._remove_if_waiting(one):
                raise Busy from error
        try:
            result: T = await one.future
        except asyncio.CancelledError:
            self._remove_if_waiting(one)
            raise
        return result

    def _queue(self, call: _Call) -> None:
        refused = None
        with self._lock:
            if self._call_count >= self.places:
                refused = self._make_room(call.holder)
            self._waiting.setdefault(call.holder, {})[call] = None
            self._calls_by_holder[call.holder] += 1
            self._call_count += 1
        if refused is not None:
            refused.end(None, Busy())

    def _make_room(self, holder: str) -> _Call:
        """Remove and return the newest waiting call of the holder that has the most calls.

        Raises Busy if no call waits, or the new call gives ``holder`` at least as many calls.
        """
        most = max(self._waiting, key=self._calls_by_holder.__getitem__, default=holder)
        if self._calls_by_holder[most] <= self._calls_by_holder[holder] + 1:
            raise Busy
        newest = next(reversed(self._waiting[most]))
        self._remove(newest)
        return newest

    def _remove_if_waiting(self, call: _Call) -> bool:
        with self._lock:
            waited = call in self._waiting.get(call.holder, ())
            if waited:
                self._remove(call)
            return waited

    def _remove(self, call: _Call) -> None:
        calls = self._waiting[call.holder]
        del calls[call]
        if not calls:
            del self._waiting[call.holder]
        self._stop_counting(call)

    def _run_next(self) -> None:
        """Run the next waiting call, if any, and set its result or error."""
        with self._lock:
            if (call := self._take_next()) is None:
                return
        result: Any = None
        error: BaseException | None = None
        if not call.future.cancelled():
            try:
                with self._within():
                    result = call.work()
            except StopIteration as raised:  # A future refuses it.
                error = RuntimeError("the call raised StopIteration")
                error.__cause__ = raised
            except BaseException as raised:
                error = raised
        with self._lock:
            _count_down(self._running, call.holder)
            self._stop_counting(call)
        call.end(result, error)

    def _take_next(self) -> _Call | None:
        """Remove and return the next waiting call, or ``None``.

        It is the oldest of the holder with the fewest running calls. Holders with equally many take turns.
        """
        holder = None
        for one in self._waiting:
            if holder is None or self._running[one] < self._running[holder]:
                holder = one
            if self._running[holder] == 0:
                break
        if holder is None:
            return None
        calls = self._waiting.pop(holder)
        call = next(iter(calls))
        del calls[call]
        if calls:
            self._waiting[holder] = calls
        self._running[holder] += 1
        return call

    def _stop_counting(self, call: _Call) -> None:
        _count_down(self._calls_by_holder, call.holder)
        self._call_count -= 1


def _count_down(counts: Counter[str], holder: str) -> None:
    counts[holder] -= 1
    if not counts[holder]:
        del counts[holder]


# Each thread, the desk, the follower and the writer of attempts need a database connection. The store opens at most
# 13, the projections at most 15.
in_thread = Threads("reader", 5, waiting=64)
"""Threads for short reads."""
in_long_thread = Threads("long-reader", 2, waiting=32, gives_way=True)
"""Threads for answers that take much processor time."""
in_stream_thread = Threads("streamer", 2, waiting=10_000)
"""Threads for the next piece of a stream. Every connection may wait for a piece."""
in_probe_thread = Threads("prober", 1, waiting=8)
"""Threads for health probes, so that no other call delays them."""
