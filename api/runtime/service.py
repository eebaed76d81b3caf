"""The running parts of the process, for the handlers."""

from collections.abc import Sequence

from api.access.access import Access
from api.access.clubs import ClubAccess
from api.access.limits import Limits
from api.access.quotas import Quotas
from api.access.tickets import Tickets
from api.http.threads import in_thread
from api.personal_data.erasures import Erasures
from api.personal_data.names import Names
from api.runtime.aggregate_reader import AggregateReader
from api.runtime.commands import Commands
from api.runtime.health import Health
from api.runtime.member_names import MemberNames
from api.runtime.metrics import Metrics
from api.runtime.projections import Projections
from api.runtime.refused_attempts import RefusedAttempts
from api.runtime.signer import Signer
from api.runtime.wakeups import Hub
from projections.follow.page import Page
from referee.store.attempts import Attempts
from referee.store.desk import Desk
from referee.store.store import Referee
from referee.visibility import Recorded


class Service:
    def __init__(
        self,
        referee: Referee,
        desk: Desk,
        hub: Hub,
        projections: Projections,
        names: Names,
        attempts: Attempts,
        metrics: Metrics,
        limits: Limits,
        quotas: Quotas,
        signer: Signer | None,
        wait_seconds: float,
        operator: str,
        anybody_founds: bool,
    ) -> None:
        """``operator``: the SHA-256 of the operator's key in hex; empty without one."""
        self.referee, self.desk, self.hub, self.projections, self.metrics = referee, desk, hub, projections, metrics
        self.names, self.limits, self.quotas = names, limits, quotas
        self.signer = signer
        """Signer of the log; None: the settings have no key for it."""
        self.erasures, self.tickets = Erasures(names), Tickets(projections.engine)
        self.health = Health(referee, desk, hub, projections, attempts, metrics, signer)
        self.refused_attempts = RefusedAttempts(attempts, desk, metrics)
        self.reader = AggregateReader(referee, desk, hub, metrics, wait_seconds)
        self.member_names = MemberNames(names, self.erasures, self.reader)
        self.commands = Commands(desk, self.reader, names)
        held_back = self.refused_attempts.record_refused_officials_view
        self.access = Access(self.reader, self.member_names, limits, self.tickets, in_thread, held_back)
        self.club_access = ClubAccess(self.reader, limits, operator, anybody_founds=anybody_founds)

    def on_commit(self, recorded: Sequence[Recorded]) -> None:
        """Count a transaction, and wake requests and projections that wait for it. The desk's thread calls this."""
        self.metrics.count_transaction(len(recorded))
        self.hub.wake(one.originator_id for one in recorded)
        self.projections.follower.wake()

    def on_page(self, page: Page) -> None:
        """Mark older cached states as outdated, and wake waiting requests. The follower's thread calls this."""
        for aggregate_id, (*_, last) in page.histories.items():
            self.desk.mark_stored(aggregate_id, last[2])
        self.hub.wake(page.histories)
