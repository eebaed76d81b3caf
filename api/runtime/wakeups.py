"""Wakes the requests that wait for new events of a match or club."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID

from referee.store.command import Busy

POLLS_MAX = 5000
"""Maximum number of waiting long polls, which take 16 kB each."""


class Hub:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[UUID, set[asyncio.Event]] = defaultdict(set)
        self.polls = 0
        self.closed = False

    def wake(self, ids: Iterable[UUID]) -> None:
        """May be called on any thread."""
        awaited = {one for one in ids if one in self._waiting}
        if awaited and not self.closed:
            self._loop.call_soon_threadsafe(self._wake, awaited)

    def _wake(self, ids: Iterable[UUID]) -> None:
        for one in ids:
            for changed in self._waiting.get(one, ()):
                changed.set()

    @contextmanager
    def waiting(self, *ids: UUID) -> Iterator[asyncio.Event]:
        """Yield an event that is set when one of these matches or clubs changes. Enter this before reading them."""
        changed = asyncio.Event()
        for one in ids:
            self._waiting[one].add(changed)
        try:
            yield changed
        finally:
            for one in ids:
                self._waiting[one].discard(changed)
                if not self._waiting[one]:
                    del self._waiting[one]

    @contextmanager
    def polling(self, *ids: UUID) -> Iterator[asyncio.Event]:
        """Yield the event of :meth:`waiting` for a long poll. Raises Busy if :data:`POLLS_MAX` polls wait already."""
        if self.polls >= POLLS_MAX:
            raise Busy
        self.polls += 1
        try:
            with self.waiting(*ids) as changed:
                yield changed
        finally:
            self.polls -= 1

    def close(self) -> None:
        """Wake all requests, so that they end. Call it on the loop."""
        self.closed = True
        self._wake(list(self._waiting))


async def wait_until_set(changed: asyncio.Event, seconds: float) -> bool:
    """Wait at most ``seconds`` for the event, and clear it. Return whether it was set."""
    try:
        await asyncio.wait_for(changed.wait(), seconds)
    except TimeoutError:
        return False
    changed.clear()
    return True
