"""The running parts, and the few things that all handlers do with them."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from uuid import UUID

from msgspec.structs import replace

from api.access.access import Access
from api.access.attempts import Tried
from api.access.caller import Caller
from api.access.clubs import ClubAccess
from api.access.limits import Limits
from api.access.quotas import Quotas
from api.access.tickets import Tickets
from api.http.headers import NAMED, Req, letters
from api.http.problems import STORE_FAILURES, Problem, Reason, Told
from api.http.threads import answering_for, in_thread
from api.personal_data.erasures import Erasures, Redactions
from api.personal_data.names import Kind, Names
from api.personal_data.texts import Texts, may_read, replaced, tell, written
from api.runtime.metrics import Gauges, Metrics
from api.runtime.projections import Books
from api.runtime.signer import Signer
from api.runtime.wakeups import Hub, set_within
from projections.follow.page import Page
from referee.phases import Over
from referee.refusals import Refused
from referee.store.acts import key_of
from referee.store.aggregate import Aggregate
from referee.store.attempts import Attempt, Attempts
from referee.store.clock import ClockWrong, utc_now
from referee.store.club import Club
from referee.store.command import (
    Busy,
    Command,
    Full,
    InDoubt,
    KeyReused,
    NotHeld,
    OpenedByAnother,
    Outcome,
    Overtaken,
    Stale,
)
from referee.store.damaged import DamagedRow
from referee.store.desk import Desk
from referee.store.match import Match
from referee.store.store import Referee, UnknownAggregate
from referee.visibility import Recorded

log = logging.getLogger(__name__)

ACT_SECONDS = 4.5
"""How long a request waits for the desk. It takes milliseconds if the store is well."""
ASIDE_SECONDS = 25.0
"""How long a request waits that is decided on all that has happened in a match. Proxies give up after 30 or 60."""
STUCK_SECONDS = 5.0
"""When a writer that is still at it does not count as one that decides."""
FAILED_SECONDS = 30.0
"""So long after a failure we say that the store takes nothing: only who tries again finds out that it does."""
KEPT = frozenset((403, 409, 412, 422))
"""The statuses of what was tried and refused; others tell of the service, or of what nobody could read."""
REFUSED = (Refused, Stale, KeyReused, OpenedByAnother, Overtaken, Full, NotHeld, UnknownAggregate, Busy, ClockWrong)
"""What tells for certain that nothing was done."""
SETTLE_SECONDS = 2.0
"""How long who reads attempts waits for those of just now."""
CLUBS_NAMED_MOST = 1000
"""Clubs whose names are at hand."""
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
        names: Names,
        attempts: Attempts,
        metrics: Metrics,
        limits: Limits,
        quotas: Quotas,
        wait_seconds: float,
        operator: str = "",
        anybody_founds: bool = True,
    ) -> None:
        """``operator``: the SHA-256 of the operator's key in hex, empty where there is none."""
        self.referee, self.desk, self.hub, self.books, self.metrics = referee, desk, hub, books, metrics
        self.names, self.attempts, self.limits, self.quotas = names, attempts, limits, quotas
        self.erasures = Erasures(names)
        self.signer: Signer | None = None
        """Signs the log, where there is a key for it."""
        self.tickets, self.wait_seconds = Tickets(books.engine), wait_seconds
        self.access = Access(self, self.tickets, in_thread)
        self.club_access = ClubAccess(self, operator, anybody_founds=anybody_founds)
        self._loading: dict[UUID, asyncio.Future[Aggregate]] = {}
        self._names: dict[UUID, tuple[int, dict[str, str]]] = {}
        """By club, at which version of it, names by their refs."""
        self._redactions: dict[UUID, tuple[tuple[str, ...], Redactions]] = {}
        """By club, for which erasures, what they have made of texts."""

    async def do(self, command: Command) -> Outcome:
        """Has the desk decide and store a request; what somebody wrote in it in a match of a club is kept among the
        names, and the desk knows only refs of it. Raises :class:`InDoubt` where the store is slow to answer."""
        texts = written(command.request)
        match = await self.opened(command.id) if texts else None
        if match is None or match.opened.club is None:
            return await self._done(command)
        key, writer = command.key, await self._writer(match, command)
        act = None if key is None else f"{command.id} {key_of(command.actor, key).hex()}"
        async with self.kept(match.opened.club, texts, member=writer, act=act, match=command.id) as refs:
            request = replaced(command.request, dict(zip(texts, refs, strict=True)).__getitem__)
            return await self._done(replace(command, request=request))

    @asynccontextmanager
    async def kept(
        self,
        club: UUID,
        texts: Sequence[str],
        *,
        member: int | None = None,
        act: str | None = None,
        match: UUID | None = None,
        kind: Kind = "text",
    ) -> AsyncIterator[tuple[str, ...]]:
        """Keeps names or texts for as long as what is done with them may stand on record, and gives their refs. They
        are those of :meth:`~api.personal_data.names.Names.put`."""
        refs = await in_thread(self.names.put, club, member, texts, act=act, match=match, kind=kind)
        try:
            yield refs
        except REFUSED:
            with suppress(Busy, *STORE_FAILURES):  # then they stay, and nothing names them
                await in_thread(self.names.drop, refs)
            raise

    async def _done(self, command: Command) -> Outcome:
        loop = asyncio.get_running_loop()
        future, answered = self.desk.submit(command), loop.create_future()

        def go_on() -> None:
            if not answered.done():
                answered.set_result(None)

        def go_on_unless_aside() -> None:
            if not future.aside:
                go_on()

        future.add_done_callback(lambda _: loop.call_soon_threadsafe(go_on))
        late = loop.call_later(ACT_SECONDS, go_on_unless_aside), loop.call_later(ASIDE_SECONDS, go_on)
        await answered
        for one in late:
            one.cancel()
        if not future.done():  # before its turn it can be taken back
            raise Busy if future.cancel() else InDoubt
        return future.result()

    async def _writer(self, match: Match, command: Command) -> int | None:
        """The member who writes what is asked: who sits there, or whose key it is; ``None``: nobody's."""
        actor, opened = command.actor, match.opened
        seat = actor if isinstance(actor, int) else getattr(command.request, "seat", None)
        if isinstance(seat, int):
            return opened.members[seat] if 0 <= seat < len(opened.members) else None
        club = None if opened.club is None else await self._club(opened.club)
        key = None if club is None or not str(actor).startswith("key:") else club.standing.key(str(actor)[4:])
        return None if key is None else key.member

    async def _club(self, club_id: UUID) -> Club | None:
        """Return the club; ``None`` if there is none of this id, or it cannot be read: then its matches can be played
        all the same, without the names of its members."""
        try:
            club = self.desk.cached(club_id) or await self._loaded(club_id)
        except UnknownAggregate:
            return None
        except DamagedRow as damaged:
            self.metrics.found_damaged(damaged)
            log.error("the names of the members of a club are not shown: %s", damaged)
            return None
        return club if isinstance(club, Club) else None

    def tell(self, request: Req, match: Match) -> None:
        """Whoever asks may read what was written in a match: say so before anything is answered."""
        if match.opened.club is not None:
            tell(request, Texts(self.names, (match.id,), self.redactions))

    def tell_of(self, request: Req, matches: Collection[UUID]) -> None:
        """The same of several, clubs' or nobody's."""
        tell(request, Texts(self.names, matches, self.redactions))

    async def redactions(self, club_id: UUID) -> Redactions:
        """Return what the erasures on record have made of the texts of a club."""
        club = await self._club(club_id)
        if club is None or not (erasures := club.standing.erasures):
            return {}
        known = self._redactions.get(club_id)
        if known is None or known[0] != erasures:
            if len(self._redactions) >= CLUBS_NAMED_MOST:
                self._redactions.clear()
            known = self._redactions[club_id] = erasures, await in_thread(self.erasures.redactions, club)
        return known[1]

    async def named(self, request: Req, match: Match) -> Match:
        """The match with the names of those who play, as far as whoever asks may read them; of who is erased nobody
        may."""
        opened = match.opened
        club = None if opened.club is None or not may_read(request) else await self._club(opened.club)
        if club is None:
            return match
        request.scope["state"][NAMED] = f"-names-{letters(club.version)}"
        names = await self.called(club.id, opened.members)
        players = tuple(
            names.get(member, shown) for member, shown in zip(opened.members, opened.players, strict=True)
        )
        return replace(match, opened=replace(opened, players=players))

    async def called(self, club_id: UUID, members: Iterable[int]) -> dict[int, str]:
        """By number what members of a club go by; without those who are erased."""
        club = await self._club(club_id)
        if club is None:
            return {}
        known = {number: club.standing.member(number) for number in members}
        refs = {number: one.name for number, one in known.items() if one is not None and not one.erased}
        names = await self._called(club, set(refs.values()))
        return {number: names[ref] for number, ref in refs.items() if ref in names}

    async def _called(self, club: Club, refs: set[str]) -> dict[str, str]:
        """The names that stand for these refs, at hand until the club has moved on: somebody may be erased then."""
        version, known = self._names.get(club.id, (0, {}))
        if version != club.version or not refs <= known.keys():
            before = known if version == club.version else {}
            known = before | await in_thread(self.names.read, club.id, refs)
            if len(self._names) >= CLUBS_NAMED_MOST:
                self._names.clear()
            self._names[club.id] = club.version, known
        return known

    async def match(self, match_id: UUID, min_version: int = 0) -> Match:
        """The match, at this version or later; waits for it briefly. Raises ``UnknownAggregate``."""
        match = match_of(self.desk.cached(match_id) or await self._loaded(match_id))
        return match if match.version >= min_version else match_of(await self._later(match, min_version))

    async def club(self, club_id: UUID, min_version: int = 0) -> Club:
        """The club, likewise. Raises ``UnknownAggregate``."""
        club = club_of(self.desk.cached(club_id) or await self._loaded(club_id))
        return club if club.version >= min_version else club_of(await self._later(club, min_version))

    async def opened(self, match_id: UUID) -> Match:
        """The match for what its opening tells; otherwise perhaps as it was. Raises ``UnknownAggregate``."""
        return match_of(self.desk.cached(match_id, allow_stale=True) or await self._loaded(match_id))

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

    async def _later(self, aggregate: Aggregate, min_version: int) -> Aggregate:
        aggregate_id = aggregate.id
        deadline = asyncio.get_running_loop().time() + self.wait_seconds
        with self.hub.waiting(aggregate_id) as changed:
            # Once from the store, for another process may have been there; after that we are told of it.
            now = await in_thread(self.desk.get, aggregate_id, min_version=min_version)
            while now.version < min_version:
                left = deadline - asyncio.get_running_loop().time()
                if left <= 0 or self.hub.closed or not await set_within(changed, left):
                    raise Problem("version_not_reached", version=now.version, min_version=min_version)
                found = self.desk.cached(aggregate_id)
                now = await in_thread(self.desk.get, aggregate_id) if found is None else found
            return now

    async def case_in(self, match_id: UUID, case: int) -> Match:
        """The match, which has a case of this number. 404."""
        match = await self.match(match_id)
        if case > match.state.table.ledger.cases:
            match = await self.newest(match)
        last = match.state.table.ledger.cases
        if not 1 <= case <= last:
            raise Problem("no_such_case", last=last)
        return match

    async def has_ruled(self, match_id: UUID, case: int, club: UUID | None) -> bool:
        """Whether there is such a match with such a case, and it has been ruled on, as far as a club's match may
        tell."""
        try:
            match = await self.match(match_id)
        except (UnknownAggregate, DamagedRow):
            return False
        of = match.opened
        if of.visibility != "public" and (of.visibility, of.club) != ("club", club):
            return False
        if not 1 <= case <= match.state.table.ledger.cases:
            return False
        return match.docket is None or match.docket.case(case).verdict is not None

    async def begun(self, match_id: UUID) -> Match:
        """Return the match as it was opened. Raises ``UnknownAggregate`` and
        :class:`~referee.store.damaged.DamagedRow`."""
        return match_of(await in_thread(self.referee.replay, match_id, 1))

    async def newest(self, match: Match) -> Match:
        """The match as it is stored, which another process may have come to."""
        return match_of(await self._stored(match))

    def good(self, held: str, club: UUID | None = None, *, is_key: bool = False) -> None:
        """Note that the caller has shown a good token or key: it has limits of its own, or a key those of its club,
        and calls in threads count as the club's from now on. ``held``: its SHA-256. ``club``: whose key it is, or
        whose match's token."""
        self.limits.good(held, club if is_key else None)
        if club is not None:
            answering_for(f"club {club}")

    async def newest_club(self, club: Club) -> Club:
        """The club likewise."""
        return club_of(await self._stored(club))

    async def _stored(self, aggregate: Aggregate) -> Aggregate:
        return await in_thread(self.desk.get, aggregate.id, min_version=aggregate.version + 1)

    async def later(
        self, request: Req, match: Match, caller: Caller, seconds: float, known: Callable[[Match], bool]
    ) -> Match:
        """The match, when it is more than what the caller has ``known`` all along, or as it stands after so many
        seconds. Does not wait for what cannot come, nor for a caller who has gone. Raises
        :class:`~referee.store.command.Busy` when too many wait."""
        if not (seconds and known(match)):
            return match
        deadline = asyncio.get_running_loop().time() + seconds
        with self.hub.polling(match.id, *caller.rests_on) as changed:
            gone = asyncio.create_task(_gone(request, changed))
            try:
                while known(match := await self.match(match.id)) and not (is_over(match) or gone.done()):
                    left = deadline - asyncio.get_running_loop().time()
                    if left <= 0 or self.hub.closed:
                        break
                    await set_within(changed, min(left, caller.seconds_left(utc_now())))
                    caller = await self.access.must_still(match, caller)
            finally:
                gone.cancel()
        await self.access.must_still(match, caller)  # whose token or key has ended meanwhile learns nothing more
        return await self.named(request, match)

    def refused(self, tried: Tried, told: Told) -> None:
        """Something that the holder of a token tried is being refused: it is kept for the officials (J12), when the
        answer is out. On the loop."""
        if told.status not in KEPT:
            return
        place = self.desk.cached_head(tried.match)
        if place is None:  # the match is not at hand any more, and nobody loads it for this
            self.metrics.attempts["dropped"] += 1
            return
        try:
            at = utc_now()
        except ClockWrong:  # no time can be recorded for it
            self.metrics.attempts["dropped"] += 1
            return
        attempt = Attempt(*tried, told.code, told.rule, at, *place)
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
            self.desk.mark_stored(aggregate_id, last[2])
        self.hub.wake(page.histories)

    @property
    def troubles(self) -> list[Reason]:
        """Why requests had better go elsewhere, as far as this process knows; nothing when all is well."""
        found: list[Reason] = []
        try:
            utc_now()
        except ClockWrong as wrong:
            found.append({"code": "clock_wrong", "clock": wrong.shown})
        if self.hub.closed or not self.desk.alive:
            found.append({"code": "desk_idle"})
        elif self.desk.busy_seconds > STUCK_SECONDS:
            found.append({"code": "desk_waits", "seconds": round(self.desk.busy_seconds)})
        if (failed := self.desk.failed) is not None and failed[0] < FAILED_SECONDS:
            found.append({"code": "store_refuses", "seconds": round(failed[0]), "error": failed[1]})
        for name, fault in sorted(self.books.standing_still().items()):
            seconds = round(time.monotonic() - fault.since)
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

    def _still_damaged(self) -> list[tuple[UUID, int]]:
        """Return the ids and numbers of damaged rows that have not been repaired. Touches the database."""
        known = self.metrics.damaged
        for whose, number in list(known):
            with suppress(DamagedRow, UnknownAggregate, *STORE_FAILURES):
                self.referee.history(whose, after=number - 1, to=number)
                self.referee.load(whose)
                known.remove((whose, number))
        return list(known)

    def gauges(self) -> Gauges:
        """What is measured at this moment. Touches the database."""
        aside, lag = self.books.set_aside(), {}
        with suppress(*STORE_FAILURES):  # of a store that is away the rest tells more
            lag = {"follower_lag_events": ("Events stored that the books have not taken in.", self.lag())}
        damaged = {f'{{id="{whose}",event="{number}"}}': 1 for whose, number in self._still_damaged()}
        named = {f'{{book="{one.projection}",match="{one.match}"}}': one.event for one in aside[:ASIDE_NAMED_MOST]}
        return {
            "desk_waiting": ("Requests that wait for the desk.", self.desk.waiting),
            "attempts_waiting": ("Refused attempts that wait to be written.", self.attempts.waiting),
            "cached_matches": ("Matches in memory.", self.desk.cached_count),
            **lag,
            "damaged_rows": ("Rows that could not be read, and still cannot.", damaged),
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


def club_of(aggregate: Aggregate) -> Club:
    """The aggregate as a club. Raises ``UnknownAggregate`` where it is something else."""
    if not isinstance(aggregate, Club):
        raise UnknownAggregate(str(aggregate.id))
    return aggregate


def service_of(request: Req) -> Service:
    """The running parts of the app that got this request."""
    service: Service = request.scope["litestar_app"].state["service"]
    return service
