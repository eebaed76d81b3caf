"""The running parts, and the few things that all handlers do with them."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from uuid import UUID

from api.access.tickets import Tickets
from api.access.tokens import actor_of, hash_of, held_by, seen_as, viewer_of
from api.access.tried import Tried
from api.bookkeeping import Books
from api.http.headers import Req
from api.http.problems import STORE_FAILURES, Problem, Reason, Told
from api.hub import Hub, set_within
from api.log.signer import Signer
from api.ops.metrics import Gauges, Metrics
from api.threads import in_thread
from projections.follow.page import Page
from referee.actors import Actor
from referee.events import Recorded, Viewer
from referee.phases import Over
from referee.store.aggregate import Aggregate
from referee.store.attempts import Attempt, Attempts
from referee.store.desk import Busy, Command, Desk, InDoubt, Outcome, utc_now
from referee.store.match import Match
from referee.store.store import Referee, UnknownAggregate

ACT_SECONDS = 4.5
"""How long a request waits for the desk. It takes milliseconds if the store is well."""
STUCK_SECONDS = 5.0
"""When a writer that is still at it does not count as one that decides."""
FAILED_SECONDS = 30.0
"""So long after a failure we say that the store takes nothing: only who tries again finds out that it does."""
KEPT = frozenset((403, 409, 412, 422))
"""The statuses of what was tried and refused; others tell of the service, or of what nobody could read."""
SETTLE_SECONDS = 2.0
"""How long who reads attempts waits for those of just now."""
ASIDE_NAMED_MOST = 100
"""Matches set aside that the metrics name; the log names all."""


class Service:
    """What the handlers work with, from start to stop of the process."""

    def __init__(
        self,
        referee: Referee,
        desk: Desk,
        hub: Hub,
        books: Books,
        attempts: Attempts,
        metrics: Metrics,
        wait_seconds: float,
    ) -> None:
        self.referee, self.desk, self.hub, self.books, self.metrics = referee, desk, hub, books, metrics
        self.attempts = attempts
        self.signer: Signer | None = None
        """Signs the log, where there is a key for it."""
        self.tickets, self.wait_seconds = Tickets(books.engine), wait_seconds
        self._loading: dict[UUID, asyncio.Future[Aggregate]] = {}

    async def do(self, command: Command) -> Outcome:
        """Has the desk decide and store a request. Raises :class:`InDoubt` where the store is slow to answer."""
        loop = asyncio.get_running_loop()
        future, answered = self.desk.submit(command), loop.create_future()

        def go_on() -> None:
            if not answered.done():
                answered.set_result(None)

        future.add_done_callback(lambda _: loop.call_soon_threadsafe(go_on))
        late = loop.call_later(ACT_SECONDS, go_on)
        await answered
        late.cancel()
        if not future.done():  # before its turn it can be taken back
            raise Busy if future.cancel() else InDoubt
        return future.result()

    async def match(self, match_id: UUID, min_version: int = 0) -> Match:
        """The match, at this version or later; waits for it briefly. Raises ``UnknownAggregate``."""
        match = match_of(self.desk.cached(match_id) or await self._loaded(match_id))
        return match if match.version >= min_version else await self._later(match_id, min_version)

    async def opened(self, match_id: UUID) -> Match:
        """The match for what its opening tells; otherwise perhaps as it was. Raises ``UnknownAggregate``."""
        return match_of(self.desk.cached(match_id, as_it_was=True) or await self._loaded(match_id))

    async def _loaded(self, match_id: UUID) -> Aggregate:
        """What is not at hand, read once for all who ask for it meanwhile."""
        if match_id in self._loading:
            await asyncio.shield(self._loading[match_id])
            if found := self.desk.cached(match_id):
                return found  # else it has been overtaken, and may have been read before
        loading = self._loading[match_id] = asyncio.ensure_future(in_thread(self.desk.get, match_id))
        try:
            return await asyncio.shield(loading)
        finally:
            if self._loading.get(match_id) is loading:
                del self._loading[match_id]

    async def _later(self, match_id: UUID, min_version: int) -> Match:
        deadline = asyncio.get_running_loop().time() + self.wait_seconds
        with self.hub.waiting(match_id) as changed:
            # Once from the store, for another process may have been there; after that we are told of it.
            match = match_of(await in_thread(self.desk.get, match_id, min_version=min_version))
            while match.version < min_version:
                left = deadline - asyncio.get_running_loop().time()
                if left <= 0 or self.hub.closed or not await set_within(changed, left):
                    raise Problem("version_not_reached", version=match.version, min_version=min_version)
                found = self.desk.cached(match_id)
                match = match_of(await in_thread(self.desk.get, match_id) if found is None else found)
            return match

    async def seen(self, request: Req, match_id: UUID, min_version: int = 0) -> tuple[Match, Viewer]:
        """The match, and who is asking. 404, 401."""
        held, match = held_by(request), await self.match(match_id)
        viewer: Viewer = "spectator"
        if held is not None:
            match, actor = await self._known(match, held)
            viewer = seen_as(actor)
        if match.version < min_version:
            match = await self.match(match_id, min_version)
            viewer = viewer_of(match, held)
        return match, viewer

    async def holder(self, match_id: UUID, token: str) -> tuple[Match, Actor, str]:
        """The match, who wants to act, and what the desk shall know the token by: here the match may be as it was.
        404, 401."""
        held = hash_of(token)
        match, actor = await self._known(await self.opened(match_id), held)
        return match, actor, held

    async def case_in(self, match_id: UUID, case: int) -> Match:
        """The match, which has a case of this number. 404."""
        match = await self.match(match_id)
        if case > match.state.table.ledger.cases:
            match = await self._newest(match)
        last = match.state.table.ledger.cases
        if not 1 <= case <= last:
            raise Problem("no_such_case", last=last)
        return match

    async def has_ruled(self, match_id: UUID, case: int) -> bool:
        """Whether there is such a match with such a case, and it has been ruled on."""
        try:
            match = await self.match(match_id)
        except UnknownAggregate:
            return False
        if not 1 <= case <= match.state.table.ledger.cases:
            return False
        return match.docket is None or match.docket.case(case).verdict is not None

    async def _known(self, match: Match, held: str) -> tuple[Match, Actor]:
        """The match and whose token it is; 401. One that is unknown may just have been made by another process: then
        the match is as it is stored."""
        actor = match.holder(held)
        if actor is None:
            match = await self._newest(match)
            actor = actor_of(match, held)
        return match, actor

    async def _newest(self, match: Match) -> Match:
        """The match as it is stored, which another process may have come to."""
        return match_of(await in_thread(self.desk.get, match.id, min_version=match.version + 1))

    async def later(self, request: Req, match: Match, seconds: float, known: Callable[[Match], bool]) -> Match:
        """The match, when it is more than what the caller has ``known`` all along, or as it stands after so many
        seconds. Does not wait for what cannot come, nor for a caller who has gone. Raises
        :class:`~referee.store.desk.Busy` when too many wait."""
        if not (seconds and known(match)):
            return match
        deadline = asyncio.get_running_loop().time() + seconds
        with self.hub.polling(match.id) as changed:
            gone = asyncio.create_task(_gone(request, changed))
            try:
                while known(match := await self.match(match.id)) and not (is_over(match) or gone.done()):
                    left = deadline - asyncio.get_running_loop().time()
                    if left <= 0 or self.hub.closed or not await set_within(changed, left):
                        break
            finally:
                gone.cancel()
        viewer_of(match, held_by(request))  # whose token has been replaced meanwhile learns nothing more
        return match

    def refused(self, tried: Tried, told: Told) -> None:
        """Something that the holder of a token tried is being refused: it is kept for the officials (J12), when the
        answer is out. On the loop."""
        if told.status not in KEPT:
            return
        place = self.desk.place(tried.match)
        if place is None:  # the match is not at hand any more, and nobody loads it for this
            self.metrics.attempts["dropped"] += 1
            return
        attempt = Attempt(*tried, told.code, told.rule, datetime.now(UTC), *place)
        asyncio.get_running_loop().call_soon(self.attempts.put, attempt)

    async def attempts_settled(self) -> None:
        """Waits briefly until what was tried here before is written."""
        loop, settled = asyncio.get_running_loop(), asyncio.Event()
        self.attempts.settle(lambda: loop.call_soon_threadsafe(settled.set))
        await set_within(settled, SETTLE_SECONDS)

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
    def troubles(self) -> list[Reason]:
        """Why requests had better go elsewhere, as far as this process knows; nothing when all is well."""
        found: list[Reason] = []
        if self.hub.closed or not self.desk.alive:
            found.append({"code": "desk_idle"})
        elif self.desk.at_it > STUCK_SECONDS:
            found.append({"code": "desk_waits", "seconds": round(self.desk.at_it)})
        if (failed := self.desk.failed) is not None and failed[0] < FAILED_SECONDS:
            found.append({"code": "store_refuses", "seconds": round(failed[0]), "error": failed[1]})
        for name, fault in sorted(self.books.standing_still().items()):
            seconds = round((datetime.now(UTC) - fault.since).total_seconds())
            reason: Reason = {"code": f"book_{fault.how}", "book": name, "position": fault.position}
            # What follows the kind of an error may tell of cards.
            kind: Reason = {"kind": fault.error.partition(":")[0]} if fault.error else {}
            found.append(reason | {"seconds": seconds} | kind)
        if self.signer is not None and self.signer.trouble is not None:
            found.append(self.signer.trouble)
        return found

    def lag(self) -> int:
        """Events stored that the books have not taken in yet. Touches the database."""
        return self.books.lag()

    def gauges(self) -> Gauges:
        """What is measured at this moment. Touches the database."""
        aside, lag = self.books.set_aside(), {}
        with suppress(*STORE_FAILURES):  # of a store that is away the rest tells more
            lag = {"follower_lag_events": ("Events stored that the books have not taken in.", self.lag())}
        named = {f'{{book="{one.book}",match="{one.match}"}}': one.event for one in aside[:ASIDE_NAMED_MOST]}
        return {
            "desk_waiting": ("Requests that wait for the desk.", self.desk.waiting),
            "attempts_waiting": ("Refused attempts that wait to be written.", self.attempts.waiting),
            "cached_matches": ("Matches in memory.", self.desk.at_hand),
            **lag,
            "books_set_aside": ("Matches that books have set aside.", len(aside)),
            "book_set_aside_at": ("The event at which a book has set a match aside.", named),
            "books_standing_still": ("Books that cannot go on.", len(self.books.standing_still())),
        }


async def _gone(request: Req, told: asyncio.Event) -> None:
    """Ends, and says so, when the caller waits for no answer any more."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    told.set()


def is_over(match: Match) -> bool:
    """Nothing more can happen in it, unless officials open a case again."""
    return isinstance(match.state, Over) and not match.provisional(utc_now())


def match_of(aggregate: Aggregate) -> Match:
    """The aggregate as a match. Raises ``UnknownAggregate`` where it is something else."""
    if not isinstance(aggregate, Match):
        raise UnknownAggregate(str(aggregate.id))
    return aggregate


def service_of(request: Req) -> Service:
    """The running parts of the app that got this request."""
    service: Service = request.app.state.service
    return service
