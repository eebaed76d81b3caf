"""Threads for what may touch the database or takes long to make, so that the event loop never waits for it.

There are few of them, and few may wait for one: when all are taken a call is refused at once, for whoever asks can
come back, but nobody can take back what a queue without end has promised. Each kind of call has its own, so that
long answers do not keep short ones waiting, nor both of them the streams that are under way and the probes.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from threading import BoundedSemaphore
from typing import ParamSpec, TypeVar

from referee.store.aside import giving_way
from referee.store.command import Busy

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """So many threads, and so many calls that may wait for one of them."""

    def __init__(self, name: str, threads: int, *, waiting: int, gives_way: bool = False) -> None:
        """``gives_way``: while a call runs, other threads soon get the interpreter when they need it."""
        self._within = giving_way if gives_way else nullcontext
        self._executor = ThreadPoolExecutor(threads, thread_name_prefix=name)
        self._places = BoundedSemaphore(threads + waiting)

    async def __call__(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what the call returns.

        Raises :class:`~referee.store.command.Busy` if too many calls wait or no thread can be started.
        """
        if not self._places.acquire(blocking=False):
            raise Busy
        try:
            future = self._executor.submit(self._run, partial(call, *args, **kwargs))
        except RuntimeError as error:
            self._places.release()
            raise Busy from error
        future.add_done_callback(lambda _: self._places.release())
        return await asyncio.wrap_future(future)

    def _run(self, call: Callable[[], T]) -> T:
        with self._within():
            return call()


# All of them together, the desk, the follower and who writes attempts find a connection each: the store opens 13 at
# most, the books 15.
in_thread = Threads("reader", 5, waiting=64)
"""For what is read in a moment."""
in_long_thread = Threads("long-reader", 2, waiting=32, gives_way=True)
"""For answers that take the processor for long: more at a time would be no sooner done."""
in_stream_thread = Threads("streamer", 2, waiting=10_000)
"""For the next piece of what is being sent, of which each connection awaits one: it is not broken off."""
in_probe_thread = Threads("prober", 1, waiting=8)
"""For probes, which no reader holds up."""
