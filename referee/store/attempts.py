"""What was tried in a match and refused, for its officials (J12): beside the match and never in it.

Each match has a stream of its own, in a table of its own, of rows as in :mod:`referee.store.rows`: numbered, chained,
and each names the version of the match and the hash of its row at that version, so that none can be moved to another
time. What is kept is who tried which act, when, and why it was refused; never what was sent, nor by which token.

Nobody waits for it. What is answered is put into a queue that has an end, and written by a thread of its own, now and
then. What finds no room, or no store, is dropped and counted. Somebody who tries without end leaves twenty rows, and
then one each time that they have become twice as many.
"""

import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from queue import Empty, SimpleQueue
from typing import ClassVar
from uuid import UUID

import msgspec
from eventsourcing.persistence import AggregateRecorder, IntegrityError, PersistenceError, StoredEvent

from referee import wire_types
from referee.actors import Actor
from referee.store.damaged import DamagedAttempt, DamagedRow
from referee.store.rows import FIRST, from_row, row_hash, to_row
from referee.value import RuleId, Version
from referee.visibility import Event, Recorded

log = logging.getLogger(__name__)

EACH = 20
"""So many of an actor for the same reason have a row each."""
WAITING_MAX = 10_000
"""Attempts that may wait to be written."""
REST_SECONDS = 0.25
"""Between two transactions: on SQLite acts wait for each of them."""
AWAY_SECONDS = 2.0
"""After the store has not taken what was tried."""
TRIES = 3
"""How often rows are made anew because another process was first."""
STREAMS_MAX = 1000
"""Matches of which it is remembered how much was tried."""


class AttemptRefused(Event):
    """Somebody tried what was refused. ``count``: how often so far, for this reason; where several processes count,
    at least so often."""

    TOPIC: ClassVar[str] = "attempt/refused"
    act: wire_types.Code
    """What was tried: the name of an act, `knock`, `issue_token`."""
    code: wire_types.Code
    """Why it was refused: the last part of the problem's type, with underscores."""
    version: Version
    """How far the match had come."""
    head: wire_types.Hash
    """The hash of the match's event of this number."""
    count: wire_types.Lag
    """How often this actor has been refused for this reason so far."""
    rule: RuleId | None = None
    """By which rule; left out: none speaks of it."""


class Attempt(msgspec.Struct, frozen=True):
    """What was tried, before it has a number."""

    match: UUID
    actor: Actor
    act: str
    code: str
    rule: str | None
    at: datetime
    version: int
    head: str


def read_attempt(row: StoredEvent) -> tuple[Recorded, AttemptRefused]:
    """Return what a row keeps, and its event. Raises :class:`~referee.store.damaged.DamagedAttempt`."""
    try:
        recorded = from_row(row)
    except DamagedRow as damaged:
        raise DamagedAttempt(damaged.aggregate_id, damaged.number, damaged.fault, damaged.detail) from None
    if not isinstance(recorded.event, AttemptRefused):
        raise DamagedAttempt(recorded.originator_id, row.originator_version, "unfit", f"its topic is {row.topic}")
    return recorded, recorded.event


class _Stream:
    """How far the stream of a match has come."""

    def __init__(self, rows: Iterable[StoredEvent]) -> None:
        self.number, self.prev = 0, FIRST
        self.told: dict[tuple[Actor, str], int] = {}
        """How many the last row of each actor and code told of."""
        self.since: Counter[tuple[Actor, str]] = Counter()
        """And how many there have been since, as far as this process knows."""
        for row in rows:
            self.take(row, *read_attempt(row))

    def take(self, row: StoredEvent, recorded: Recorded, event: AttemptRefused) -> None:
        """Take in one more row."""
        self.number, self.prev = row.originator_version, row_hash(row)
        self.told[recorded.actor, event.code] = event.count

    def row_of(self, attempt: Attempt) -> tuple[StoredEvent, Recorded, AttemptRefused] | None:
        """The row of one more attempt, if it has one."""
        reason = attempt.actor, attempt.code
        self.since[reason] += 1
        told, count = self.told.get(reason, 0), self.told.get(reason, 0) + self.since[reason]
        if told >= EACH and count < 2 * told:
            return None
        self.since[reason] = 0
        event = AttemptRefused(
            act=attempt.act,
            code=attempt.code,
            rule=attempt.rule,
            version=attempt.version,
            head=attempt.head,
            count=count,
        )
        recorded = Recorded(attempt.match, self.number + 1, attempt.at, attempt.actor, "", "", self.prev, event)
        return to_row(recorded), recorded, event


class Attempts:
    """Takes what was tried from any thread. ``counts``: what became of it: ``stored``, ``counted`` (in the next row
    of its reason) or ``dropped``."""

    def __init__(self, recorder: AggregateRecorder, counts: Counter[str] | None = None) -> None:
        self._recorder = recorder
        self.counts: Counter[str] = Counter() if counts is None else counts
        self._waiting: SimpleQueue[Attempt | Callable[[], object] | None] = SimpleQueue()
        self._streams: OrderedDict[UUID, _Stream] = OrderedDict()
        self._hurry = threading.Event()
        self._writer = threading.Thread(target=self._write, name="attempts", daemon=True)
        self._writer.start()

    # From any thread

    def put(self, attempt: Attempt) -> None:
        """Something was tried. Never waits."""
        if self._waiting.qsize() >= WAITING_MAX:
            self.counts["dropped"] += 1
        else:
            self._waiting.put(attempt)

    @property
    def waiting(self) -> int:
        """How many wait to be written."""
        return self._waiting.qsize()

    def settle(self, done: Callable[[], object]) -> None:
        """Calls this, on another thread, when what was tried here before is written or dropped."""
        self._waiting.put(done)
        self._hurry.set()

    def rows(self, match_id: UUID, *, after: int, limit: int) -> Sequence[StoredEvent]:
        """Rows of a match in order. Touches the database."""
        return self._recorder.select_events(match_id, gt=after or None, limit=limit)

    def close(self, seconds: float = 5.0) -> None:
        """Writes what waits, unless that takes too long."""
        self._waiting.put(None)
        self._hurry.set()
        self._writer.join(seconds)

    # The writer's thread

    def _write(self) -> None:
        while True:
            batch, settled, last = self._next_batch()
            away = not self._kept(batch)
            for done in settled:
                done()
            if last:
                return
            if batch:
                self._hurry.wait(AWAY_SECONDS if away else REST_SECONDS)
                self._hurry.clear()

    def _next_batch(self) -> tuple[list[Attempt], list[Callable[[], object]], bool]:
        """Whatever waits, who waits for it, and whether it ends there."""
        batch: list[Attempt] = []
        settled: list[Callable[[], object]] = []
        one = self._waiting.get()
        while one is not None:
            if isinstance(one, Attempt):
                batch.append(one)
            else:
                settled.append(one)
            try:
                one = self._waiting.get_nowait()
            except Empty:
                return batch, settled, False
        return batch, settled, True

    def _kept(self, batch: list[Attempt]) -> bool:
        """Whether the store is there for these."""
        by_match: dict[UUID, list[Attempt]] = {}
        for attempt in batch:
            by_match.setdefault(attempt.match, []).append(attempt)
        left = len(batch)
        for match_id, tried in by_match.items():
            try:
                self._keep(match_id, tried)
            except DamagedAttempt as damaged:  # its chain cannot go on; those of other matches can
                log.error("%d attempts are not kept: %s", len(tried), damaged)
                self.counts["dropped"] += len(tried)
            except Exception as error:  # whatever it is, those that come later are kept again
                level = logging.WARNING if isinstance(error, PersistenceError) else logging.ERROR
                log.log(level, "%d attempts are not kept", left, exc_info=level == logging.ERROR)
                self.counts["dropped"] += left
                self._streams.clear()  # what has reached the store is read from there
                return False
            left -= len(tried)
        return True

    def _keep(self, match_id: UUID, tried: list[Attempt]) -> None:
        """Writes what was tried in a match, in one transaction."""
        for _ in range(TRIES):
            stream = self._stream(match_id)
            before = stream.since.copy()
            rows: list[StoredEvent] = []
            for attempt in tried:
                if (made := stream.row_of(attempt)) is not None:
                    stream.take(*made)
                    rows.append(made[0])
            try:
                if rows:
                    self._recorder.insert_events(rows)
            except IntegrityError:  # another process was first
                del self._streams[match_id]
                self._stream(match_id).since = before
                continue
            self.counts["stored"] += len(rows)
            self.counts["counted"] += len(tried) - len(rows)
            return
        self.counts["dropped"] += len(tried)

    def _stream(self, match_id: UUID) -> _Stream:
        stream = self._streams.get(match_id)
        if stream is None:
            stream = self._streams[match_id] = _Stream(self._recorder.select_events(match_id))
            if len(self._streams) > STREAMS_MAX:
                self._streams.popitem(last=False)
        self._streams.move_to_end(match_id)
        return stream
