"""Refused attempts to act in a match, stored for its officials (J12).

Each match has its own chain of rows. A row contains the match's version and last hash, which prove after which event
it was made, but neither request nor token.
"""

import logging
import secrets
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
from referee.store.rows import HASH_BEFORE_FIRST, from_row, row_hash, to_row
from referee.value import RuleId, Version
from referee.visibility import SALT_BYTES, Event, Recorded

log = logging.getLogger(__name__)

ROWS_EACH = 20
"""First attempts of an actor with one code that get a row each. A later one gets a row if it doubles the last row's
count."""
WAITING_MAX = 10_000
REST_SECONDS = 0.25
"""Seconds between two batches, because each transaction delays acts on SQLite."""
AWAY_SECONDS = 2.0
"""Seconds between a failed batch and the next."""
TRIES = 20
"""Maximum transactions for one match's attempts, if other processes store rows first."""
STREAMS_MAX = 1000
"""Maximum cached matches."""


OFFICIALS_VIEW = "officials_view"
"""``act`` of an attempt to see the officials' view of a match."""
HELD_BACK = "plays_in_match"
"""``code`` of that attempt: a member who holds or gave the credential plays."""


class AttemptRefused(Event):
    """A request was refused."""

    TOPIC: ClassVar[str] = "attempt/refused"
    act: wire_types.Code
    """Name of the request, for example `bid` or `knock`; or `officials_view`."""
    code: wire_types.Code
    """Reason: the last part of the problem's type, with underscores."""
    version: Version
    """Version of the match at the time."""
    head: wire_types.Hash
    """Hash of event `version` of the match."""
    count: wire_types.Lag
    """Number of refusals of this actor for this reason so far, as this process counts."""
    rule: RuleId | None = None
    """Rule that refused the act, if any."""


class Attempt(msgspec.Struct, frozen=True):
    """A refused request before it has a row. ``version``, ``head``: the match's version and last hash."""

    match: UUID
    actor: Actor
    act: str
    code: str
    rule: str | None
    at: datetime
    version: int
    head: str


def read_attempt(row: StoredEvent) -> tuple[Recorded, AttemptRefused]:
    """Return a row's recorded event, and the event itself. Raises :class:`DamagedAttempt` if the row is unusable."""
    try:
        recorded = from_row(row)
    except DamagedRow as damaged:
        raise DamagedAttempt(damaged.aggregate_id, damaged.number, damaged.fault, damaged.detail) from None
    if not isinstance(recorded.event, AttemptRefused):
        raise DamagedAttempt(recorded.originator_id, row.originator_version, "unfit", f"its topic is {row.topic}")
    return recorded, recorded.event


class _Stream:
    """Number and hash of a match's last row of attempts, and the match's counts."""

    def __init__(self, rows: Iterable[StoredEvent]) -> None:
        self.number, self.prev = 0, HASH_BEFORE_FIRST
        self.stored_counts: dict[tuple[Actor, str], int] = {}
        """Count in the last row with an actor and code."""
        self.since: Counter[tuple[Actor, str]] = Counter()
        """Attempts since that row."""
        for row in rows:
            self.add_row(row, *read_attempt(row))

    def add_row(self, row: StoredEvent, recorded: Recorded, event: AttemptRefused) -> None:
        self.number, self.prev = row.originator_version, row_hash(row)
        self.stored_counts[recorded.actor, event.code] = event.count

    def count_and_make_row(self, attempt: Attempt) -> tuple[StoredEvent, Recorded, AttemptRefused] | None:
        """Count an attempt. Return the arguments of :meth:`add_row`; ``None`` if it gets no row."""
        reason = attempt.actor, attempt.code
        self.since[reason] += 1
        stored_count = self.stored_counts.get(reason, 0)
        count = stored_count + self.since[reason]
        if stored_count >= ROWS_EACH and count < 2 * stored_count:
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
        recorded = Recorded(
            attempt.match,
            self.number + 1,
            attempt.at,
            attempt.actor,
            "",
            "",
            self.prev,
            event,
            salt=secrets.token_bytes(SALT_BYTES),
        )
        return to_row(recorded), recorded, event


class Attempts:
    """Stores attempts from any thread. ``counts``: attempts by result, which is ``stored``, ``counted`` (in a later
    row) or ``dropped``."""

    def __init__(self, recorder: AggregateRecorder, counts: Counter[str] | None = None) -> None:
        self._recorder = recorder
        self.counts: Counter[str] = Counter() if counts is None else counts
        self._waiting: SimpleQueue[Attempt | Callable[[], object] | None] = SimpleQueue()
        self._streams: OrderedDict[UUID, _Stream] = OrderedDict()
        self._hurry = threading.Event()
        self._writer = threading.Thread(target=self._write, name="attempts", daemon=True)
        self._writer.start()

    def put(self, attempt: Attempt) -> None:
        """Queue an attempt, or drop it if the queue is full. Never waits."""
        if self._waiting.qsize() >= WAITING_MAX:
            self.counts["dropped"] += 1
        else:
            self._waiting.put(attempt)

    @property
    def waiting(self) -> int:
        return self._waiting.qsize()

    def call_when_written(self, done: Callable[[], object]) -> None:
        """Call ``done`` on the writer's thread when earlier attempts are written or dropped. Ends its pause."""
        self._waiting.put(done)
        self._hurry.set()

    def rows(self, match_id: UUID, *, after: int, limit: int) -> Sequence[StoredEvent]:
        """Return at most ``limit`` rows after number ``after``, in order."""
        return self._recorder.select_events(match_id, gt=after or None, limit=limit)

    def close(self, seconds: float = 5.0) -> None:
        """Write the queue, and stop the writer. Wait at most ``seconds``."""
        self._waiting.put(None)
        self._hurry.set()
        self._writer.join(seconds)

    def _write(self) -> None:
        while True:
            batch, callbacks, last = self._next_batch()
            is_away = not self._write_batch(batch)
            for done in callbacks:
                done()
            if last:
                return
            if batch:
                self._hurry.wait(AWAY_SECONDS if is_away else REST_SECONDS)
                self._hurry.clear()

    def _next_batch(self) -> tuple[list[Attempt], list[Callable[[], object]], bool]:
        """Wait for attempts or callbacks. Return both, and true if they are the last."""
        batch: list[Attempt] = []
        callbacks: list[Callable[[], object]] = []
        one = self._waiting.get()
        while one is not None:
            if isinstance(one, Attempt):
                batch.append(one)
            else:
                callbacks.append(one)
            try:
                one = self._waiting.get_nowait()
            except Empty:
                return batch, callbacks, False
        return batch, callbacks, True

    def _write_batch(self, batch: list[Attempt]) -> bool:
        """Write the attempts, except on a match with a damaged row. After a different error, drop the rest and return
        false."""
        by_match: dict[UUID, list[Attempt]] = {}
        for attempt in batch:
            by_match.setdefault(attempt.match, []).append(attempt)
        left = len(batch)
        for match_id, tried in by_match.items():
            try:
                self._write_attempts(match_id, tried)
            except DamagedAttempt as damaged:  # because other attempts can be written
                log.error("%d attempts are not stored: %s", len(tried), damaged)
                self.counts["dropped"] += len(tried)
            except Exception as error:  # because the thread must write later batches
                level = logging.WARNING if isinstance(error, PersistenceError) else logging.ERROR
                log.log(level, "%d attempts are not stored", left, exc_info=level == logging.ERROR)
                self.counts["dropped"] += left
                self._streams.clear()  # because these rows may be stored or not
                return False
            left -= len(tried)
        return True

    def _write_attempts(self, match_id: UUID, tried: list[Attempt]) -> None:
        """Write one match's attempts, or drop them after :data:`TRIES`. Raises :class:`DamagedAttempt`."""
        for _ in range(TRIES):
            stream = self._stream_of(match_id)
            before = stream.since.copy()
            rows: list[StoredEvent] = []
            for attempt in tried:
                if (made := stream.count_and_make_row(attempt)) is not None:
                    stream.add_row(*made)
                    rows.append(made[0])
            try:
                if rows:
                    self._recorder.insert_events(rows)
            except IntegrityError:  # a different process stored these numbers first
                del self._streams[match_id]
                self._stream_of(match_id).since = before
                continue
            self.counts["stored"] += len(rows)
            self.counts["counted"] += len(tried) - len(rows)
            return
        self.counts["dropped"] += len(tried)

    def _stream_of(self, match_id: UUID) -> _Stream:
        stream = self._streams.get(match_id)
        if stream is None:
            stream = self._streams[match_id] = _Stream(self._recorder.select_events(match_id))
            if len(self._streams) > STREAMS_MAX:
                self._streams.popitem(last=False)
        self._streams.move_to_end(match_id)
        return stream
