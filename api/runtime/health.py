"""Reports the health of the process."""

import time
from contextlib import suppress
from uuid import UUID

from api.http.problems import STORE_FAILURES, Reason
from api.runtime.metrics import Gauges, Metrics
from api.runtime.projections import Projections
from api.runtime.signer import Signer
from api.runtime.wakeups import Hub
from referee.store.attempts import Attempts
from referee.store.clock import ClockWrong, utc_now
from referee.store.damaged import DamagedRow
from referee.store.desk import Desk
from referee.store.store import Referee, UnknownAggregate

STUCK_SECONDS = 5.0
"""Seconds after which a transaction of the desk counts as stuck."""
FAILED_SECONDS = 30.0
"""Seconds for which a failed write counts as a trouble, unless a later write succeeds."""
NAMED_SET_ASIDE_MAX = 100
"""Maximum number of matches in the gauge ``book_set_aside_at``. The log names all."""


class Health:
    def __init__(
        self,
        referee: Referee,
        desk: Desk,
        hub: Hub,
        projections: Projections,
        attempts: Attempts,
        metrics: Metrics,
        signer: Signer | None,
    ) -> None:
        self._referee, self._desk, self._hub, self._projections = referee, desk, hub, projections
        self._attempts, self._metrics, self._signer = attempts, metrics, signer

    @property
    def troubles(self) -> list[Reason]:
        """Reasons why the process is not ready: its clock, desk, projections or signer."""
        found: list[Reason] = []
        try:
            utc_now()
        except ClockWrong as wrong:
            found.append({"code": "clock_wrong", "clock": wrong.shown})
        if self._hub.closed or not self._desk.alive:
            found.append({"code": "desk_idle"})
        elif self._desk.busy_seconds > STUCK_SECONDS:
            found.append({"code": "desk_waits", "seconds": round(self._desk.busy_seconds)})
        if (failed := self._desk.failed) is not None and failed[0] < FAILED_SECONDS:
            found.append({"code": "store_refuses", "seconds": round(failed[0]), "error": failed[1]})
        for name, fault in sorted(self._projections.stalled_projections().items()):
            seconds = round(time.monotonic() - fault.since)
            reason: Reason = {"code": f"book_{fault.how}", "book": name, "position": fault.position}
            # Only the kind of the error is shown, because its text may name cards.
            kind: Reason = {"kind": fault.error.partition(":")[0]} if fault.error else {}
            found.append(reason | {"seconds": seconds} | kind)
        if self._signer is not None and self._signer.trouble is not None:
            found.append(self._signer.trouble)
        return found

    def lag(self) -> int:
        """Return how many events the slowest projection lacks. Touches the database."""
        return self._projections.lag()

    def gauges(self) -> Gauges:
        """Return the gauges, without the lag if the database cannot be read. Touches the database."""
        aside, lag = self._projections.matches_set_aside(), {}
        with suppress(*STORE_FAILURES):
            lag = {"follower_lag_events": ("Stored events that the slowest projection has not applied.", self.lag())}
        damaged = {f'{{id="{aggregate_id}",event="{number}"}}': 1 for aggregate_id, number in self._still_damaged()}
        named = {f'{{book="{one.projection}",match="{one.match}"}}': one.event for one in aside[:NAMED_SET_ASIDE_MAX]}
        return {
            "desk_waiting": ("Requests that wait for the desk.", self._desk.waiting),
            "attempts_waiting": ("Refused attempts that wait to be written.", self._attempts.waiting),
            "cached_matches": ("Matches and clubs in memory.", self._desk.cached_count),
            **lag,
            "damaged_rows": ("Rows that cannot be read.", damaged),
            "books_set_aside": ("Matches that projections have set aside.", len(aside)),
            "book_set_aside_at": ("The event at which a projection has set a match aside.", named),
            "books_standing_still": (
                "Projections that make no progress.",
                len(self._projections.stalled_projections()),
            ),
        }

    def _still_damaged(self) -> list[tuple[UUID, int]]:
        """Remove repaired rows from the metrics. Return the aggregate and event number of the others."""
        known = self._metrics.damaged
        for aggregate_id, number in list(known):
            with suppress(DamagedRow, UnknownAggregate, *STORE_FAILURES):
                self._referee.history(aggregate_id, after=number - 1, to=number)
                self._referee.load(aggregate_id)
                known.remove((aggregate_id, number))
        return list(known)
