"""The projections of this store, and the follower that updates them."""

from collections.abc import Callable, Sequence
from math import ceil
from typing import TypeVar
from uuid import UUID

from eventsourcing.persistence import StoredEvent
from sqlalchemy import Connection

from api.http.problems import RETRY_AFTER_MOST_SECONDS, Problem
from api.http.threads import Threads, in_long_thread, in_thread
from projections.cases import Cases
from projections.follow.engine import engine_for
from projections.follow.follow import AGAIN_SECONDS, Aside, Fault, Follower, Projection
from projections.follow.page import Log, Page
from projections.follow.projection import prepare
from projections.ledger import Ledger
from projections.log import Log as LogBook
from projections.matches import Matches
from projections.pots import Pots
from projections.protocols import Protocols
from referee.store.rows import from_row
from referee.store.store import Referee
from referee.visibility import Recorded

T = TypeVar("T")

WAIT_SECONDS = 5.0
"""Maximum seconds that a read waits for a projection."""


def decode_row(aggregate: UUID, number: int, topic: str, state: bytes) -> Recorded:
    """Return the event of a row. Raises DamagedRow if it cannot be read."""
    return from_row(StoredEvent(aggregate, number, topic, state))


def log_of(referee: Referee) -> Log:
    """Return the functions with which a follower reads all rows."""

    def read(after: int, limit: int) -> Page:
        return Page(referee.placed(after, limit), decode_row)

    def history(aggregate: UUID, after: int, limit: int) -> Page:
        return Page(referee.placed_of_aggregate(aggregate, after, limit), decode_row)

    return Log(read, history, lambda: referee.recorder.max_notification_id() or 0)


def match_projections(secret: Callable[[], bytes] | None = None) -> tuple[Protocols, Cases, Matches, Pots]:
    """Return the projections of matches. ``secret``: returns the store's secret, which cases need."""
    return Protocols(), Cases(secret=secret), Matches(), Pots()


def all_projections(secret: Callable[[], bytes] | None = None) -> tuple[Projection, ...]:
    return (*match_projections(secret), Ledger(), LogBook())


class Projections:
    """Call methods that are not ``async`` in a thread, because most block."""

    def __init__(self, referee: Referee, url: str, on_page: Callable[[Page], None] | None = None) -> None:
        """``on_page``: called with each page of new events."""
        self._referee = referee
        self.engine = engine_for(url)
        self.protocols, self.cases, self.matches, self.pots = of_matches = match_projections(lambda: referee.secret)
        self.ledger, self.tree = Ledger(), LogBook()
        projections: tuple[Projection, ...] = (*of_matches, self.ledger, self.tree)
        self.by_name = {projection.name: projection for projection in projections}
        self._log = log_of(referee)
        self.follower = Follower(self._log, self.engine, projections, seen=on_page, listen=url, in_thread=in_thread)

    def prepare(self) -> None:
        prepare(self.engine, self.follower.projections)

    def start(self) -> None:
        self.follower.start()

    def rebuild(self, *names: str) -> int:
        """Build projections in new tables, then replace the old ones. Return the position of the new tables.

        Raises ``RebuildRunning`` if another rebuild runs, and ``KeyError`` for an unknown name.
        """
        return self.follower.rebuild(*[self.by_name[name] for name in names])

    def close(self) -> None:
        self.follower.close()
        self.engine.dispose()

    def head(self) -> int:
        """Return the position of the last stored row."""
        return self._log.head()

    def log_after(self, position: int, limit: int) -> Page:
        return self._log.read(position, limit)

    def rows(self, aggregate_id: UUID, *, after: int = 0, limit: int) -> Page:
        return self._log.history(aggregate_id, after, limit)

    def attempts(self, match_id: UUID) -> Sequence[StoredEvent]:
        return self._referee.attempts_recorder.select_events(match_id)

    def lag(self) -> int:
        """Return how many events the slowest projection lacks."""
        return self.follower.lag(self.head())

    def matches_set_aside(self) -> tuple[Aside, ...]:
        """Return the matches that a projection does not update, because it cannot apply a row."""
        return self.follower.matches_set_aside()

    def stalled_projections(self) -> dict[str, Fault]:
        """Return, by name, the faults of projections that make no progress."""
        return self.follower.standing_still()

    async def ask_of(
        self,
        projection: Projection,
        match_id: UUID,
        version: int,
        question: Callable[[Connection, UUID], T],
        threads: Threads = in_thread,
    ) -> T:
        """Wait until a projection has this version of a match or club, then return the answer to ``question``.

        ``threads``: ``in_long_thread`` for a question that decodes a whole match.
        Raises Problem (503 books_behind if that version is late, book_set_aside if a row cannot be applied).
        """
        if not await self.follower.wait_for(match_id, version, WAIT_SECONDS, projection):
            if aside := self.follower.aside(projection, match_id):
                raise Problem(
                    "book_set_aside", headers=_retry_after(AGAIN_SECONDS), book=projection.name, event=aside.event
                )
            raise Problem("books_behind", headers=_retry_after(self.follower.seconds_behind(projection)))
        return await threads(self._answer, lambda connection: question(connection, match_id))

    async def ask_of_all(
        self, projection: Projection, question: Callable[[Connection], T], *, fresh: bool = False
    ) -> tuple[T, int]:
        """Return the answer, and how many events the projection lacks.

        ``fresh``: first :meth:`catch_up`; later events do not count.
        """
        head = await in_thread(self.head) if fresh else None
        if head is not None:
            await self.follower.wait_to(head, WAIT_SECONDS, projection)
        return await in_thread(self._answer_with_lag, projection, question, head)

    async def ask_long(self, question: Callable[[Connection], T]) -> T:
        """Return the answer from a thread for long work."""
        return await in_long_thread(self._answer, question)

    async def catch_up(self, projection: Projection) -> None:
        """Wait, at most :data:`WAIT_SECONDS`, until a projection has the events stored by now."""
        await self.follower.wait_to(await in_thread(self.head), WAIT_SECONDS, projection)

    async def must_catch_up(self, *projections: Projection) -> None:
        """Wait until projections have the events stored by now. Raises Problem (503) if one is late."""
        head = await in_thread(self.head)
        for projection in projections:
            if not await self.follower.wait_to(head, WAIT_SECONDS, projection):
                raise Problem("books_behind", headers=_retry_after(self.follower.seconds_behind(projection)))

    def _answer_with_lag(
        self, projection: Projection, question: Callable[[Connection], T], head: int | None
    ) -> tuple[T, int]:
        behind = self.follower.lag(self.head() if head is None else head, projection)
        return self._answer(question), behind

    def _answer(self, question: Callable[[Connection], T]) -> T:
        with self.engine.connect() as connection:
            return question(connection)


def _retry_after(seconds: float) -> dict[str, str]:
    return {"Retry-After": str(min(max(1, ceil(seconds)), RETRY_AFTER_MOST_SECONDS))}
