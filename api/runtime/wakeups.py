"""Wakes those who wait for a match to go on: from any thread, for whoever is waiting at the time."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID

from referee.store.command import Busy

POLLS_MAX = 5000
"""Answers that may be held back at a time, each of which takes some 16 kB."""


class Hub:
    """One for each process, on the loop that serves."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: dict[UUID, set[asyncio.Event]] = defaultdict(set)
        self.polls = 0
        """Answers that are held back now."""
        self.closed = False

    def wake(self, matches: Iterable[UUID]) -> None:
        """Wakes all who wait for one of these matches. From any thread."""
        awaited = {match_id for match_id in matches if match_id in self._waiting}
        if awaited and not self.closed:
            self._loop.call_soon_threadsafe(self._wake, awaited)

    def _wake(self, matches: Iterable[UUID]) -> None:
        for match_id in matches:
            for changed in self._waiting.get(match_id, ()):
                changed.set()

    @contextmanager
    def waiting(self, *ids: UUID) -> Iterator[asyncio.Event]:
        """Set when one of these has gone on, a match or a club. Enter first, then look, then wait: so nothing is
        missed."""
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
        """The same for an answer that is held back meanwhile. Raises :class:`~referee.store.command.Busy` when too
        many are."""
        if self.polls >= POLLS_MAX:
            raise Busy
        self.polls += 1
        try:
            with self.waiting(*ids) as changed:
                yield changed
        finally:
            self.polls -= 1

    def close(self) -> None:
        """The service ends: wakes everybody, for the last time. On the loop."""
        self.closed = True
        self._wake(list(self._waiting))


async def set_within(changed: asyncio.Event, seconds: float) -> bool:
    """Whether the event is set within so many seconds; it is cleared again."""
    try:
        await asyncio.wait_for(changed.wait(), seconds)
    except TimeoutError:
        return False
    changed.clear()
    return True
