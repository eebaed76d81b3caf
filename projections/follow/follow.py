"""A thread that updates the projections from the log, and reports lag and errors.

Matches are *set aside* as in :mod:`projections.follow.projection`.
"""

import asyncio
import logging
import random
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal
from uuid import UUID

from sqlalchemy import Connection, Engine

from projections.follow.engine import engine_for, engine_for_writes
from projections.follow.listen import Listener
from projections.follow.locks import RebuildRunning, hold_follow
from projections.follow.page import Log, Page, row_mark
from projections.follow.projection import (
    REBUILD_PAGE,
    Aside,
    Numbering,
    Projection,
    apply_page,
    is_repaired,
    matches_set_aside,
    prepare,
    rebuild,
    resume,
    retry_carefully,
    start_over,
)
from referee.store.connection import Postgres, SqliteFile, parse_store_url
from referee.value import Value

__all__ = ["Aside", "Fault", "Follower", "Projection", "engine_for", "prepare", "rebuild"]

PAGE = 2000
"""Maximum events in one transaction, unless the follower is far behind."""
LATEST_MAX = 50_000
"""Maximum cached last events of matches."""
BACKOFF_FIRST, BACKOFF_MOST = 0.1, 5.0
"""Seconds before the first retry, doubled for each further one, and their maximum."""
AGAIN_SECONDS = 5.0
"""Seconds between two checks that also retry matches set aside."""
AGAIN_MOST_SECONDS = 0.5
"""Seconds after which a check retries no further match."""
STILL_SECONDS = 10.0
"""Seconds of failures after which a projection stands still."""
PACE = 20_000.0
"""First estimate of the events per second that a turn applies."""

log = logging.getLogger(__name__)


class Fault(Value):
    """The reason why a task of the follower does not advance."""

    since: float
    """First failure, in seconds of the monotonic clock."""
    position: int
    """Position after which it failed."""
    times: int = 1
    """Number of failures in a row."""
    error: str = ""
    how: Literal["failed", "unanswered", "ended"] = "failed"
    """``unanswered``: the thread hangs. ``ended``: the thread has ended."""


class Follower:
    """Updates projections from the log on a thread. Any thread may call its methods."""

    def __init__(
        self,
        log: Log,
        engine: Engine,
        projections: Sequence[Projection],
        *,
        page: int | None = None,
        poll_seconds: float = 1.0,
        rest_seconds: float = 0.25,
        again_seconds: float = AGAIN_SECONDS,
        seen: Callable[[Page], None] | None = None,
        listen: str | None = None,
        in_thread: Callable[..., Awaitable[Any]] = asyncio.to_thread,
    ) -> None:
        """``seen``: called on the follower's thread with each page stored after the start, and with the page's halves
        if that fails. ``listen``: URL of the store; PostgreSQL's notifications wake the follower, a SQLite file is
        locked as followed. ``rest_seconds``: pause if no reader waits. ``in_thread``: runs readers' queries."""
        self.projections = tuple(projections)
        self._log, self._engine, self._writer = log, engine, engine_for_writes(engine)
        self._page, self._far_page = (PAGE, REBUILD_PAGE) if page is None else (page, page)
        self._poll_seconds, self._rest_seconds, self._retry_seconds = poll_seconds, rest_seconds, again_seconds
        self._seen, self._in_thread = seen, in_thread
        self._place = parse_store_url(listen) if listen else None
        self._listener: Listener | None = None
        self._held: IO[bytes] | None = None
        """Lock of :func:`hold_follow`."""
        self._thread = threading.Thread(target=self._run, name="follower", daemon=True)
        self._awake, self._closed, self._hurry = threading.Event(), threading.Event(), threading.Event()
        self._at = {projection.name: 0 for projection in self.projections}
        self._aside: dict[str, dict[UUID, Aside]] = {projection.name: {} for projection in self.projections}
        self._seen_to = 0
        self._far, self._pace = False, PACE
        self._moved_at = time.monotonic()
        self.faults: dict[str, Fault] = {}
        """Present failures, by projection or ``read``, ``seen`` or ``aside``."""
        self._retry_at: dict[str, float] = {}
        """Time of the next attempt, by the keys of ``faults``."""
        self._lock = threading.Lock()
        self._waiting: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._latest: OrderedDict[UUID, tuple[int, int]] = OrderedDict()
        """Number and position of the last event read, by match."""

    def start(self) -> None:
        """Create missing tables. Follow the log from each projection's position, from 0 if not in the log."""
        for projection, place in zip(self.projections, prepare(self._engine, self.projections).values(), strict=True):
            self._at[projection.name] = place.position
            rows = self._log.read(place.position - 1, 1).rows if place.position else ()
            if place.position and [(row[0], row_mark(row)) for row in rows] != [place]:
                self._start_over(projection)
        self._read_set_aside()
        self._seen_to, self._moved_at = self._log.head(), time.monotonic()
        self._thread.start()
        if isinstance(self._place, Postgres):
            self._listener = Listener(self._place, self.wake)
        elif isinstance(self._place, SqliteFile):
            self._held = hold_follow(Path(str(self._engine.url.database)))

    def wake(self) -> None:
        """Look for new events at once."""
        self._awake.set()

    def close(self) -> None:
        """Apply a last page unless behind or failing, end the thread, and release waiting readers."""
        self._closed.set()
        self._awake.set()
        self._hurry.set()
        if self._listener is not None:
            self._listener.close()
        if self._thread.ident is not None:
            self._thread.join()
        if self._held is not None:
            self._held.close()
        self._notify_waiting()

    async def wait_for(
        self, match_id: UUID, version: int, timeout: float, projection: Projection | None = None
    ) -> bool:
        """Wait until ``projection``, by default each one, has applied event ``version`` of a match. Return whether it
        has.

        Does not wait if the match is set aside, or if :meth:`wait_to` would not.
        """
        projections = self.projections if projection is None else (projection,)
        looked: list[int] = []

        async def has() -> bool:
            latest = self._latest.get(match_id)
            if latest is not None:
                read, position = latest
                return read >= version and all(self._at[one.name] >= position for one in projections)
            if (at := [self._at[one.name] for one in projections]) == looked:
                return False  # because no projection has moved since the last query
            looked[:] = at
            return bool(await self._in_thread(self._have_applied, match_id, version, projections))

        return await self._wait_until(has, timeout, projections, match_id)

    async def wait_to(self, position: int, timeout: float, projection: Projection) -> bool:
        """Wait until a projection has reached a position. Return whether it has. Does not wait if it stands still or
        needs more than ``timeout`` seconds (at least 1)."""

        async def has() -> bool:
            return self._at[projection.name] >= position

        return await self._wait_until(has, timeout, (projection,))

    async def _wait_until(
        self,
        condition: Callable[[], Awaitable[bool]],
        timeout: float,
        projections: Sequence[Projection],
        match_id: UUID | None = None,
    ) -> bool:
        def aside() -> bool:
            return any(match_id in self._aside[projection.name] for projection in projections)

        if not aside() and await condition():
            return True
        deadline = time.monotonic() + timeout
        with self._without_pauses() as turned:
            while not aside():
                turned.clear()
                if await condition():
                    return True
                left = deadline - time.monotonic()
                if left <= 0 or self._closed.is_set() or not self._can_catch_up(projections, timeout):
                    return False
                with suppress(TimeoutError):
                    await asyncio.wait_for(turned.wait(), left)
        return False

    def _have_applied(self, match_id: UUID, version: int, projections: Sequence[Projection]) -> bool:
        with self._engine.connect() as connection:
            return all(projection.version(connection, match_id) >= version for projection in projections)

    def _can_catch_up(self, projections: Sequence[Projection], seconds: float) -> bool:
        still = self.standing_still()
        return not any(
            projection.name in still or self.seconds_behind(projection) > max(seconds, 1)
            for projection in projections
        )

    @contextmanager
    def _without_pauses(self) -> Iterator[asyncio.Event]:
        """Let the follower skip pauses in this block. Yields an event set after each turn."""
        one = asyncio.get_running_loop(), asyncio.Event()
        with self._lock:
            self._waiting.add(one)
            self._hurry.set()
        try:
            yield one[1]
        finally:
            with self._lock:
                self._waiting.discard(one)
                if not self._waiting and not self._closed.is_set():
                    self._hurry.clear()

    def _notify_waiting(self) -> None:
        with self._lock:
            waiting = list(self._waiting)
        for loop, turned in waiting:
            with suppress(RuntimeError):  # the waiting reader's event loop has ended
                loop.call_soon_threadsafe(turned.set)

    def positions(self) -> dict[str, int]:
        """Return each projection's last known position, by name."""
        return dict(self._at)

    def lag(self, head_position: int, projection: Projection | None = None) -> int:
        """Return by how many positions a projection, by default the slowest, is behind the log."""
        at = min(self._at.values(), default=head_position) if projection is None else self._at[projection.name]
        return max(0, head_position - at)

    def seconds_behind(self, projection: Projection) -> float:
        """Return the estimated seconds until a projection reaches the last event read."""
        return max(0, self._seen_to - self._at[projection.name]) / self._pace

    def standing_still(self) -> dict[str, Fault]:
        """Return, by name, faults longer than :data:`STILL_SECONDS`; all if the thread hangs or has ended."""
        now, still = time.monotonic(), {}
        hanging = now - self._moved_at
        for projection in self.projections:
            fault = self.faults.get(projection.name) or self.faults.get("read")
            if not self.alive or hanging > STILL_SECONDS + self._poll_seconds:
                how: Literal["unanswered", "ended"] = "unanswered" if self.alive else "ended"
                still[projection.name] = Fault(since=self._moved_at, position=self._at[projection.name], how=how)
            elif fault and now - fault.since > STILL_SECONDS:
                still[projection.name] = fault
        return still

    def matches_set_aside(self) -> tuple[Aside, ...]:
        return tuple(aside for found in self._aside.values() for aside in found.values())

    def aside(self, projection: Projection, match_id: UUID) -> Aside | None:
        return self._aside[projection.name].get(match_id)

    @property
    def alive(self) -> bool:
        return self._thread.is_alive()

    def rebuild(self, *projections: Projection) -> int:
        """Call :func:`~projections.follow.projection.rebuild` on the caller's thread."""
        position = rebuild(self._log.read, self._engine, *projections)
        self._read_set_aside()
        return position

    def _run(self) -> None:
        while not self._closed.is_set():
            self._awake.clear()
            more = False
            if self._due("read"):
                try:
                    more = self._turn()
                    self._clear_fault("read")
                except Exception:
                    self._record_fault("read", self._seen_to)
            if self._due("aside") and "read" not in self.faults:
                try:
                    self._check_positions_and_retry()
                    self._clear_fault("aside")
                    self._retry_at["aside"] = time.monotonic() + self._retry_seconds
                except Exception:
                    self._record_fault("aside", self._seen_to)
            self._moved_at = time.monotonic()
            self._notify_waiting()
            if not more:
                self._hurry.wait(self._rest_seconds)
                self._awake.wait(self._seconds_to_next_task())
        if not (self._far or self.faults):  # apply the events stored last
            try:
                self._turn()
            except Exception:
                self._record_fault("read", self._seen_to)

    def _turn(self) -> bool:
        """Read and apply one page for each projection that is due. Return whether more pages may follow."""
        size, begun = self._far_page if self._far else self._page, time.monotonic()
        pages: list[tuple[int, Page]] = []

        def page_after(position: int) -> Page:
            for after, page in pages:
                if after <= position and (after == position or (page and position <= page.position)):
                    return page.after(position)
            page = self._log.read(position, size)
            pages.append((position, page))
            return page

        if page := page_after(self._seen_to):
            self._note_read(page)
        by_position = sorted(self.projections, key=lambda projection: self._at[projection.name])
        for projection in by_position:  # projections that are a little ahead use the same page
            if not self._due(projection.name):
                continue
            after = self._at[projection.name]
            page = page_after(after)
            try:
                if page:
                    self._apply(projection, after, page)
                self._clear_fault(projection.name)
            except Exception:
                self._record_fault(projection.name, after)
            self._moved_at = time.monotonic()
        if full := any(len(page) == size for _, page in pages):
            self._pace = (self._pace + size / (time.monotonic() - begun)) / 2
        self._far = full
        return full

    def _apply(self, projection: Projection, after: int, page: Page) -> None:
        def work(connection: Connection, carefully: bool) -> tuple[int, dict[UUID, Aside]]:
            return apply_page(connection, projection, projection.key, after, page, carefully)

        position, aside = retry_carefully(self._writer, work)
        self._at[projection.name] = position  # only when the page is committed
        self._note_aside(projection, aside)

    def _note_read(self, page: Page) -> None:
        """Note each match's last event, and pass the page to ``seen``."""
        for match_id, rows in page.histories.items():
            position, _, version, *_ = rows[-1]
            if isinstance(version, int):
                self._latest[match_id] = version, position
                self._latest.move_to_end(match_id)
        while len(self._latest) > LATEST_MAX:
            self._latest.popitem(last=False)
        after, self._seen_to = self._seen_to, page.position
        if self._seen is not None and self._call_seen(self._seen, page, after):
            self._clear_fault("seen")

    def _call_seen(self, seen: Callable[[Page], None], page: Page, after: int) -> bool:
        """Return whether ``seen`` accepted the page. If not, pass its halves, except of one match."""
        try:
            seen(page)
            return True
        except Exception:
            self._record_fault("seen", after)
        if len(page.histories) > 1:
            for half in page.halves():
                self._call_seen(seen, half, after)
        return False

    def _start_over(self, projection: Projection) -> None:
        """Start a projection again from 0, because the restored log lacks its position."""
        position = self._at[projection.name]
        log.error(
            "projection %s starts again: the log has no such event at its position %d", projection.name, position
        )
        start_over(self._engine, projection, position)
        self._at[projection.name] = 0

    def _check_positions_and_retry(self) -> None:
        """Start over projections that are beyond the log's end, and retry the matches set aside."""
        head = self._log.head()
        for projection in self.projections:
            if self._at[projection.name] > head:
                self._start_over(projection)
        if self._seen_to > head:
            self._seen_to = head
            self._latest.clear()
        self._read_set_aside()
        asides = [
            (projection, match_id) for projection in self.projections for match_id in self._aside[projection.name]
        ]
        random.shuffle(asides)
        until = time.monotonic() + AGAIN_MOST_SECONDS
        for projection, match_id in asides:
            if time.monotonic() > until:
                break
            self._resume_or_rebuild(projection, match_id)
        if asides:
            self._read_set_aside()

    def _resume_or_rebuild(self, projection: Projection, match_id: UUID) -> None:
        if not isinstance(projection, Numbering):
            with self._writer.begin() as connection:
                resume(connection, self._log, projection, match_id)
        elif aside := self.aside(projection, match_id):  # read again, because a rebuild may have ended it
            with self._writer.begin() as connection:
                repaired = is_repaired(connection, self._log, projection, aside)
            if repaired:
                log.info("%s: event %s of %s is repaired, rebuilding", projection.name, aside.event, match_id)
                with suppress(RebuildRunning):  # because that rebuild or the next check repairs it
                    rebuild(self._read_for_rebuild, self._engine, projection)
                self._read_set_aside()

    def _read_for_rebuild(self, after: int, limit: int) -> Page:
        """Read a page, and note progress. Raises: InterruptedError if the follower closes."""
        if self._closed.is_set():
            raise InterruptedError("the follower ends")
        self._moved_at = time.monotonic()
        return self._log.read(after, limit)

    def _read_set_aside(self) -> None:
        with self._engine.connect() as connection:
            for projection in self.projections:
                self._note_aside(projection, matches_set_aside(connection, projection))

    def _note_aside(self, projection: Projection, now: dict[UUID, Aside]) -> None:
        before, self._aside[projection.name] = self._aside[projection.name], now
        for match_id, aside in now.items():
            if match_id not in before or before[match_id].event != aside.event:
                log.error(
                    "%s: match %s is set aside at event %d: %s", projection.name, match_id, aside.event, aside.error
                )
        for match_id in before.keys() - now.keys():
            log.info("%s: match %s continues", projection.name, match_id)

    def _due(self, what: str) -> bool:
        return time.monotonic() >= self._retry_at.get(what, 0)

    def _seconds_to_next_task(self) -> float:
        """Return the seconds to the next poll or retry. While the log cannot be read, only reading is retried."""
        now = time.monotonic()
        retries = [self._retry_at["read"]] if "read" in self.faults else self._retry_at.values()
        return max(0.0, min([self._poll_seconds, *(at - now for at in retries)]))

    def _clear_fault(self, what: str) -> None:
        if self.faults.pop(what, None):
            self._retry_at.pop(what, None)
            log.info("%s: works again", what)

    def _record_fault(self, what: str, position: int) -> None:
        """Record and log the present error, and set the retry."""
        error, now = sys.exception(), time.monotonic()
        before = self.faults.get(what)
        times = before.times + 1 if before else 1
        name = f"{type(error).__name__}: {error}"
        log.error("%s: failed after position %d (%d): %s", what, position, times, name, exc_info=times == 1)
        since = before.since if before else now
        self.faults[what] = Fault(since=since, position=position, times=times, error=name)
        if what != "seen":  # because ``seen`` gets no failed page again
            seconds = min(BACKOFF_MOST, BACKOFF_FIRST * 2 ** min(times - 1, 10))
            self._retry_at[what] = now + seconds
