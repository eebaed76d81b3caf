"""Records refused attempts, for officials to read, after the refusals have been sent (J12)."""

import asyncio

from api.access.attempts import Tried
from api.access.caller import Caller
from api.http.notes import AnsweredProblem
from api.runtime.metrics import Metrics
from api.runtime.wakeups import wait_until_set
from referee.store.attempts import HELD_BACK, OFFICIALS_VIEW, Attempt, Attempts
from referee.store.clock import ClockWrong, utc_now
from referee.store.desk import Desk
from referee.store.match import Match

RECORDED_STATUSES = frozenset((403, 409, 412, 422))
STORE_WAIT_SECONDS = 2.0


class RefusedAttempts:
    """Drops attempts if the queue is full, the match not cached, or the clock wrong. Call it on the event loop."""

    def __init__(self, attempts: Attempts, desk: Desk, metrics: Metrics) -> None:
        self._attempts, self._desk, self._metrics = attempts, desk, metrics
        self.rows = attempts.rows

    def record(self, tried: Tried, problem: AnsweredProblem) -> None:
        """Record the attempt if its answer has one of :data:`RECORDED_STATUSES`."""
        if problem.status not in RECORDED_STATUSES:
            return
        self._store_later(tried, problem.code, problem.rule)

    def record_refused_officials_view(self, match: Match, caller: Caller) -> None:
        """Record that a caller with a key or token did not get the officials' view (:attr:`Caller.held_back`)."""
        actor = caller.actor if caller.key is None else caller.key.actor
        if actor is not None:
            self._store_later(Tried(match.id, actor, OFFICIALS_VIEW), HELD_BACK, None)

    def _store_later(self, tried: Tried, code: str, rule: str | None) -> None:
        place = self._desk.cached_head(tried.match)
        if place is None:
            self._metrics.attempts["dropped"] += 1
            return
        try:
            at = utc_now()
        except ClockWrong:
            self._metrics.attempts["dropped"] += 1
            return
        asyncio.get_running_loop().call_soon(self._attempts.put, Attempt(*tried, code, rule, at, *place))

    async def wait_until_stored(self) -> None:
        """Wait, at most :data:`STORE_WAIT_SECONDS`, until recorded attempts are stored or dropped."""
        loop, stored = asyncio.get_running_loop(), asyncio.Event()
        self._attempts.call_when_written(lambda: loop.call_soon_threadsafe(stored.set))
        await wait_until_set(stored, STORE_WAIT_SECONDS)
