"""Wakes those who wait for a match to go on: from any thread, for whoever is waiting at the time."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from uuid import UUID


class Hub:
    """One for each process, on the loop that serves."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._bells: dict[UUID, set[asyncio.Event]] = defaultdict(set)
        self.closed = False

    def ring(self, matches: Iterable[UUID]) -> None:
        """Wakes all who wait for one of these matches. From any thread."""
        awaited = [match_id for match_id in set(matches) if match_id in self._bells]
        if awaited and not self.closed:
            self._loop.call_soon_threadsafe(self._ring, awaited)

    def _ring(self, matches: Iterable[UUID]) -> None:
        for match_id in matches:
            for bell in self._bells.get(match_id, ()):
                bell.set()

    @contextmanager
    def listening(self, match_id: UUID) -> Iterator[asyncio.Event]:
        """A bell for this match. Listen first, then look, then wait: so nothing is missed."""
        bell = asyncio.Event()
        self._bells[match_id].add(bell)
        try:
            yield bell
        finally:
            self._bells[match_id].discard(bell)
            if not self._bells[match_id]:
                del self._bells[match_id]

    def close(self) -> None:
        """The service ends: wakes everybody, for the last time. On the loop."""
        self.closed = True
        self._ring(list(self._bells))


async def rung(bell: asyncio.Event, seconds: float) -> bool:
    """Whether the bell rang within so many seconds; it is silent again afterwards."""
    try:
        await asyncio.wait_for(bell.wait(), seconds)
    except TimeoutError:
        return False
    bell.clear()
    return True
