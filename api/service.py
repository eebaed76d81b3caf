"""The running parts, and the few things that all handlers do with them."""

import asyncio
from collections.abc import Iterable
from uuid import UUID

from api.access.tokens import token_of, viewer_of
from api.bookkeeping import Books
from api.http.headers import Req
from api.http.problems import Problem
from api.hub import Hub, set_within
from api.ops.metrics import Metrics
from api.threads import in_thread
from projections.follow.page import Page
from referee.events import Recorded, Viewer
from referee.store.aggregate import Aggregate
from referee.store.desk import Command, Desk, Outcome
from referee.store.match import Match
from referee.store.store import Referee, UnknownAggregate


class Service:
    """What the handlers work with, from start to stop of the process."""

    def __init__(
        self, referee: Referee, desk: Desk, hub: Hub, books: Books, metrics: Metrics, wait_seconds: float
    ) -> None:
        self.referee, self.desk, self.hub, self.books, self.metrics = referee, desk, hub, books, metrics
        self.wait_seconds = wait_seconds

    async def do(self, command: Command) -> Outcome:
        """Has the desk decide and store a request."""
        return await asyncio.wrap_future(self.desk.submit(command))

    async def match(self, match_id: UUID, min_version: int = 0) -> Match:
        """The match, at this version or later; waits for it briefly. Raises ``UnknownAggregate``."""
        found = self.desk.cached(match_id)
        match = match_of(await in_thread(self.desk.get, match_id) if found is None else found)
        return match if match.version >= min_version else await self._later(match_id, min_version)

    async def _later(self, match_id: UUID, min_version: int) -> Match:
        deadline = asyncio.get_running_loop().time() + self.wait_seconds
        with self.hub.waiting(match_id) as changed:
            while True:
                match = match_of(await in_thread(self.desk.get, match_id, min_version=min_version))
                if match.version >= min_version:
                    return match
                left = deadline - asyncio.get_running_loop().time()
                if left <= 0 or self.hub.closed or not await set_within(changed, left):
                    raise Problem("version_not_reached", version=match.version, min_version=min_version)

    async def seen(self, request: Req, match_id: UUID, min_version: int = 0) -> tuple[Match, Viewer]:
        """The match, and who is asking. 404, 401."""
        token = token_of(request)
        match = await self.match(match_id)
        viewer = viewer_of(match, token)
        if match.version < min_version:
            match = await self.match(match_id, min_version)
        return match, viewer

    def committed(self, recorded: Iterable[Recorded]) -> None:
        """What the desk calls on its own thread after a commit."""
        recorded = tuple(recorded)
        self.metrics.stored(len(recorded))
        self.hub.wake(one.originator_id for one in recorded)
        self.books.wake()

    def followed(self, page: Page) -> None:
        """What the follower calls on its own thread for each page that it read, of this process or another."""
        for aggregate_id, (*_, last) in page.histories.items():
            self.desk.overtaken(aggregate_id, last[2])
        self.hub.wake(page.histories)

    @property
    def deciding(self) -> bool:
        """The desk takes requests and its writer is at work."""
        return not self.hub.closed and self.desk.alive

    def lag(self) -> int:
        """Events stored that the books have not taken in yet. Touches the database."""
        return self.books.lag()

    def gauges(self) -> dict[str, tuple[str, float]]:
        """What is measured at this moment, by name: what it is, and how much. Touches the database."""
        return {
            "desk_waiting": ("Requests that wait for the desk.", self.desk.waiting),
            "cached_matches": ("Matches in memory.", self.desk.at_hand),
            "follower_lag_events": ("Events stored that the books have not taken in.", self.lag()),
        }


def match_of(aggregate: Aggregate) -> Match:
    """The aggregate as a match. Raises ``UnknownAggregate`` where it is something else."""
    if not isinstance(aggregate, Match):
        raise UnknownAggregate(str(aggregate.id))
    return aggregate


def service_of(request: Req) -> Service:
    """The running parts of the app that got this request."""
    service: Service = request.app.state.service
    return service
