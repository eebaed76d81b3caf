"""Threads for calls that use the database or take long: a small pool with a bounded queue for each kind.

Each call counts for a holder: a club, or an address that sends no key. A thread that becomes free takes a call of the
holder that has the fewest threads. When the queue is full, a new call may replace the newest call of the holder with
the most. So while others wait, each holder comes down to at most half of the threads and queue places.
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


def answering_for(holder: str) -> None:
    """Count the next calls of the current task for this holder."""
    _HOLDER.set(holder)


class _Call:
    def __init__(self, holder: str, work: Callable[[], Any]) -> None:
        self.holder, self.work = holder, work
        self._loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self._loop.create_future()

    def end(self, result: Any, error: BaseException | None) -> None:
        """Give the caller the result or the error, from any thread."""
        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(self._set, result, error)

    def _set(self, result: Any, error: BaseException | None) -> None:
        if self.future.done():
            return  # the request was cancelled, or the call refused
        if error is None:
            self.future.set_result(result)
        else:
            self.future.set_exception(error)


class Threads:
    def __init__(self, name: str, threads: int, *, waiting: int, gives_way: bool = False) -> None:
        """``waiting``: maximum of waiting calls. ``gives_way``: a call lets other threads run often."""
        self._within = yielding_often if gives_way else nullcontext
        self.places = threads + waiting
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._lock = Lock()
        self._waiting: dict[str, dict[_Call, None]] = {}
        """Waiting calls by holder, the oldest first. The holder that was served last comes last."""
        self._running: Counter[str] = Counter()
        self._held: Counter[str] = Counter()
        """Number of running and waiting calls by holder."""
        self._taken = 0
        """Number of running and waiting calls."""

    async def __call__(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return the result of the call. Raises Busy if too many calls wait or no thread can be started."""
        one = _Call(_HOLDER.get(), partial(call, *args, **kwargs))
        self._enter(one)
        try:
            self._executor.submit(self._run_next)
        except RuntimeError as error:
            if self._leave(one):
                raise Busy from error
        try:
            result: T = await one.future
        except asyncio.CancelledError:
            self._leave(one)
            raise
        return result

    def _enter(self, call: _Call) -> None:
        refused = None
        with self._lock:
            if self._taken >= self.places:
                refused = self._make_room(call.holder)
            self._waiting.setdefault(call.holder, {})[call] = None
            self._held[call.holder] += 1
            self._taken += 1
        if refused is not None:
            refused.end(None, Busy())

    def _make_room(self, holder: str) -> _Call:
        """Remove and return the newest waiting call of the holder that has the most calls.

        Raises Busy if ``holder``, with its new call, would then have the most calls.
        """
        most = max(self._waiting, key=self._held.__getitem__, default=holder)
        if self._held[most] <= self._held[holder] + 1:
            raise Busy
        newest = next(reversed(self._waiting[most]))
        self._remove(newest)
        return newest

    def _leave(self, call: _Call) -> bool:
        """Remove a call if it still waits. Return whether it did."""
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
        self._let_go(call)

    def _run_next(self) -> None:
        """Run the next call, if one still waits, and give the caller its result."""
        with self._lock:
            if (call := self._next()) is None:
                return
        result: Any = None
        error: BaseException | None = None
        if not call.future.cancelled():
            try:
                with self._within():
                    result = call.work()
            except StopIteration as raised:  # no future takes it
                error = RuntimeError("the call raised StopIteration")
                error.__cause__ = raised
            except BaseException as raised:
                error = raised
        with self._lock:
            _count_down(self._running, call.holder)
            self._let_go(call)
        call.end(result, error)

    def _next(self) -> _Call | None:
        """Take the oldest call of the holder that has the fewest threads; among equals, was served longest ago."""
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

    def _let_go(self, call: _Call) -> None:
        _count_down(self._held, call.holder)
        self._taken -= 1


def _count_down(counts: Counter[str], holder: str) -> None:
    counts[holder] -= 1
    if not counts[holder]:
        del counts[holder]


# Each of these threads, the desk, the follower and the writer of attempts needs a connection: the store opens at most
# 13, the projections 15.
in_thread = Threads("reader", 5, waiting=64)
"""Threads for short reads."""
in_long_thread = Threads("long-reader", 2, waiting=32, gives_way=True)
"""Threads for answers that need the processor for long."""
in_stream_thread = Threads("streamer", 2, waiting=10_000)
"""Threads for the next piece of a stream. Each connection may await one."""
in_probe_thread = Threads("prober", 1, waiting=8)
"""Threads for health probes, which no other call delays."""
