"""Finds matches and clubs in memory or in the store, at the version that a request needs.

Methods raise ``UnknownAggregate`` if the match or club does not exist, unless they return a value for it.
"""

import asyncio
import logging
from contextlib import suppress
from uuid import UUID

from api.http.problems import Problem
from api.http.threads import in_thread
from api.runtime.metrics import Metrics
from api.runtime.wakeups import Hub, wait_until_set
from referee.phases import Over
from referee.store.aggregate import Aggregate
from referee.store.clock import utc_now
from referee.store.club import Club
from referee.store.command import Busy
from referee.store.damaged import DamagedRow
from referee.store.desk import Desk
from referee.store.match import Match
from referee.store.store import Referee, UnknownAggregate

log = logging.getLogger(__name__)


class AggregateReader:
    def __init__(self, referee: Referee, desk: Desk, hub: Hub, metrics: Metrics, wait_seconds: float) -> None:
        """``wait_seconds``: maximum wait for ``min_version``, which another process may store."""
        self._referee, self._desk, self._hub, self._metrics = referee, desk, hub, metrics
        self._wait_seconds = wait_seconds
        self._loading: dict[UUID, asyncio.Future[Aggregate]] = {}

    async def match(self, match_id: UUID, min_version: int = 0) -> Match:
        """Return the match at ``min_version`` or later. Raises Problem (409) after the maximum wait."""
        match = match_of(self._desk.cached(match_id) or await self._load_once(match_id))
        return match if match.version >= min_version else match_of(await self._wait_for_version(match, min_version))

    async def club(self, club_id: UUID, min_version: int = 0) -> Club:
        """Return the club at ``min_version`` or later. Raises Problem (409) after the maximum wait."""
        club = club_of(self._desk.cached(club_id) or await self._load_once(club_id))
        return club if club.version >= min_version else club_of(await self._wait_for_version(club, min_version))

    async def match_perhaps_stale(self, match_id: UUID) -> Match:
        """Return the match, perhaps in an old state. Use only its opening."""
        return match_of(self._desk.cached(match_id, allow_stale=True) or await self._load_once(match_id))

    async def match_at_opening(self, match_id: UUID) -> Match:
        """Return the match after its first event. Raises ``DamagedRow`` if this event is unreadable."""
        return match_of(await in_thread(self._referee.replay, match_id, 1))

    async def newest_match(self, match: Match) -> Match:
        return match_of(await self._read_again(match))

    async def newest_club(self, club: Club) -> Club:
        return club_of(await self._read_again(club))

    async def readable_club(self, club_id: UUID) -> Club | None:
        """Return the club; None if it is missing or unreadable, because its matches continue without names."""
        try:
            club = self._desk.cached(club_id) or await self._load_once(club_id)
        except UnknownAggregate:
            return None
        except DamagedRow as damaged:
            self._metrics.note_damaged(damaged)
            log.error("the names of the members of a club are not shown: %s", damaged)
            return None
        return club if isinstance(club, Club) else None

    async def match_with_case(self, match_id: UUID, case: int) -> Match:
        """Return the match. Raises Problem (404) if even the newest events have no such case."""
        match = await self.match(match_id)
        if case > match.play.table.ledger.cases:
            match = await self.newest_match(match)
        last = match.play.table.ledger.cases
        if not 1 <= case <= last:
            raise Problem("no_such_case", last=last)
        return match

    async def has_ruled(self, match_id: UUID, case: int, club: UUID | None) -> bool:
        """Return whether a case has a ruling. In matches without officials, each has.

        False if the case is missing, or its match is missing, damaged, or hidden from ``club``.
        """
        try:
            match = await self.match(match_id)
        except (UnknownAggregate, DamagedRow):
            return False
        opened = match.opened
        if opened.visibility != "public" and (opened.visibility, opened.club) != ("club", club):
            return False
        if not 1 <= case <= match.play.table.ledger.cases:
            return False
        return match.docket is None or match.docket.case(case).verdict is not None

    async def _load_once(self, aggregate_id: UUID) -> Aggregate:
        """Return an aggregate, read once for all requests that wait for it."""
        if aggregate_id in self._loading:
            with suppress(Busy):  # because a different caller's limit may have refused this load
                await asyncio.shield(self._loading[aggregate_id])
            if found := self._desk.cached(aggregate_id):
                return found
        loading = asyncio.ensure_future(in_thread(self._desk.get, aggregate_id))
        self._loading[aggregate_id] = loading
        try:
            return await asyncio.shield(loading)
        finally:
            if self._loading.get(aggregate_id) is loading:
                del self._loading[aggregate_id]

    async def _wait_for_version(self, aggregate: Aggregate, min_version: int) -> Aggregate:
        """Return the aggregate. Raises Problem (409) after the maximum wait or at shutdown."""
        aggregate_id = aggregate.id
        deadline = asyncio.get_running_loop().time() + self._wait_seconds
        with self._hub.waiting(aggregate_id) as changed:
            # Read the store once, because another process may have added the events.
            now = await in_thread(self._desk.get, aggregate_id, min_version=min_version)
            while now.version < min_version:
                left = deadline - asyncio.get_running_loop().time()
                if left <= 0 or self._hub.closed or not await wait_until_set(changed, left):
                    raise Problem("version_not_reached", version=now.version, min_version=min_version)
                found = self._desk.cached(aggregate_id)
                now = await in_thread(self._desk.get, aggregate_id) if found is None else found
            return now

    async def _read_again(self, aggregate: Aggregate) -> Aggregate:
        return await in_thread(self._desk.get, aggregate.id, min_version=aggregate.version + 1)


def is_over(match: Match) -> bool:
    """Return whether the match is over and its result no longer provisional."""
    return isinstance(match.play, Over) and not match.is_provisional(utc_now())


def match_of(aggregate: Aggregate) -> Match:
    """Raises ``UnknownAggregate`` if the aggregate is a club or the log."""
    if not isinstance(aggregate, Match):
        raise UnknownAggregate(str(aggregate.id))
    return aggregate


def club_of(aggregate: Aggregate) -> Club:
    """Raises ``UnknownAggregate`` if the aggregate is a match or the log."""
    if not isinstance(aggregate, Club):
        raise UnknownAggregate(str(aggregate.id))
    return aggregate
