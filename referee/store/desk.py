"""The commit queue: one thread decides and commits all requests that wait, in one transaction.

Nothing is answered before it is committed. On a conflict (another process was first) what was decided is dropped,
the aggregates are loaded again, and the requests are decided one by one. An act's id is in its rows, so that a
repeat, and an acknowledgement lost on the way back, are recognised from its rows.
"""

import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from datetime import UTC, datetime
from hashlib import sha256
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any
from uuid import UUID

import msgspec
from eventsourcing.persistence import IntegrityError, PersistenceError, StoredEvent

from referee.actors import Actor
from referee.events import Event, Recorded
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.aggregate import KINDS, Aggregate, advanced, fold
from referee.store.reach import unsent
from referee.store.rows import FIRST, act_of_row, from_row, row_hash, to_row
from referee.store.store import Loaded, Referee, UnknownAggregate
from referee.value import Value

log = logging.getLogger(__name__)

BATCH_MAX = 256
"""Requests in one transaction: enough for every client that waits while one commits, few enough to stay short."""
WAITING_MAX = 10_000
"""Requests that may wait; more are told to come back."""
SNAPSHOT_SECONDS = 0.5
"""Snapshots wait so long while requests do: they only make loading faster."""
ATTEMPTS = 3
"""How often a request is decided again after another process was first."""
OWN = "~"
"""Begins the ids that the desk gives to acts without an Idempotency-Key."""


class Stale(Exception):
    """The aggregate has moved on from the version that the caller expected."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


class KeyReused(Exception):
    """The Idempotency-Key was used before, for something else."""


class Busy(Exception):
    """Too many requests wait, or the store does not answer; try again."""


class InDoubt(Exception):
    """The store has not said whether it took the request: it may stand there, and its key tells."""


class Command(Value):
    """A request to an aggregate as it reaches the desk; an event opens the aggregate that begins with it.

    ``expected``: the version that ``If-Match`` names. ``key`` is the client's Idempotency-Key; it may not begin
    with ``~``.
    """

    id: UUID
    actor: Actor
    request: Any
    key: str | None = None
    expected: int | None = None


class Outcome(Value):
    """What a request came to: the aggregate after it, and the events it made."""

    aggregate: Aggregate
    events: tuple[Recorded, ...]
    repeated: bool = False


class _Made(msgspec.Struct, frozen=True):
    """The events of one keyed act, as numbers, and what was asked."""

    first: int
    last: int
    digest: str


class _Entry(msgspec.Struct, frozen=True):
    """A cached aggregate, the hash of its last row, and its keyed acts if they have been read."""

    aggregate: Aggregate
    head: str
    acts: dict[tuple[Actor, str], _Made] | None
    """Touched by the writer's thread alone, and dropped with the entry when a transaction fails."""


class _Job(msgspec.Struct, frozen=True):
    """A command on its way: ``act_id`` is its key or, without one, an id of the desk's own."""

    command: Command
    act_id: str
    future: Future[Outcome]


class _Work:
    """What a transaction is about to store, and the aggregates as they would stand after it."""

    def __init__(self) -> None:
        self.entries: dict[UUID, _Entry] = {}
        self.rows: list[StoredEvent] = []
        self.history: list[Recorded] = []


def digest_of(asked: bytes | msgspec.Raw) -> str:
    """What was asked, in few characters: to tell a repeat from another use of its key."""
    return sha256(asked).hexdigest()[:16]


def utc_now() -> datetime:
    """The time, UTC."""
    return datetime.now(UTC)


def seeds() -> Callable[[], str]:
    """Seeds that nobody can foresee: hashes over a secret of this process and a number.

    Asking the system for each would let go of the interpreter's lock once a request.
    """
    secret, numbers = secrets.token_bytes(32), count()
    return lambda: sha256(secret + next(numbers).to_bytes(8, "big")).hexdigest()[:32]


class Desk:
    """Takes requests from any thread, answers each when it is committed."""

    def __init__(
        self,
        referee: Referee,
        *,
        cache_size: int = 2000,
        clock: Callable[[], datetime] = utc_now,
        seed: Callable[[], str] | None = None,
        committed: Callable[[Iterable[Recorded]], None] = lambda recorded: None,
    ) -> None:
        """``cache_size``: how many aggregates stay at hand.

        ``committed`` is called on the writer's thread with all that a transaction stored.
        """
        self.referee = referee
        self._cache_size = cache_size
        self._clock, self._seed, self._committed = clock, seed or seeds(), committed
        self._own, self._numbers = f"{OWN}{secrets.token_hex(8)}-", count(1)
        self._cache: OrderedDict[UUID, _Entry] = OrderedDict()
        self._overtaken: OrderedDict[UUID, int] = OrderedDict()
        self._lock = threading.Lock()
        self._waiting: SimpleQueue[_Job | None] = SimpleQueue()
        self._due: dict[UUID, Loaded] = {}
        self._snapshots_at = 0.0
        self._closed = False
        self._began: float | None = None
        self._failed: tuple[float, str] | None = None
        self._writer = threading.Thread(target=self._write, name="desk", daemon=True)
        self._writer.start()

    # From outside

    def submit(self, command: Command) -> Future[Outcome]:
        """Puts a request into the queue. The future raises ``Refused``, :class:`Stale`, :class:`KeyReused`,
        :class:`~referee.store.store.UnknownAggregate`, :class:`Busy` or :class:`InDoubt`."""
        if self._closed or self._waiting.qsize() >= WAITING_MAX:
            raise Busy
        future: Future[Outcome] = Future()
        self._waiting.put(_Job(command, command.key or f"{self._own}{next(self._numbers)}", future))
        return future

    def cached(self, aggregate_id: UUID) -> Aggregate | None:
        """The aggregate, if it is at hand."""
        with self._lock:
            entry = self._cache.get(aggregate_id)
            if entry is None:
                return None
            self._cache.move_to_end(aggregate_id)
            return entry.aggregate

    def get(self, aggregate_id: UUID, *, min_version: int = 0) -> Aggregate:
        """The aggregate, from the cache or the store. Raises :class:`~referee.store.store.UnknownAggregate`."""
        found = self.cached(aggregate_id)
        if found is not None and found.version >= min_version:
            return found
        loaded = self.referee.load(aggregate_id)
        self._keep({aggregate_id: _Entry(loaded.aggregate, loaded.head, None)})
        return loaded.aggregate

    def overtaken(self, aggregate_id: UUID, version: int) -> None:
        """Tells that event ``version`` of an aggregate is stored: an older one in the cache is forgotten."""
        with self._lock:
            entry = self._cache.get(aggregate_id)
            if entry is not None and entry.aggregate.version < version:
                del self._cache[aggregate_id]
            if entry is None or entry.aggregate.version < version:
                # It may be on its way from the store to the cache, as it stood before.
                self._overtaken[aggregate_id] = version
                self._overtaken.move_to_end(aggregate_id)
                while len(self._overtaken) > self._cache_size:
                    self._overtaken.popitem(last=False)

    @property
    def alive(self) -> bool:
        """Whether requests are taken and decided."""
        return not self._closed and self._writer.is_alive()

    @property
    def at_it(self) -> float:
        """For how many seconds the writer has been at what it does now."""
        began = self._began
        return 0.0 if began is None else time.monotonic() - began

    @property
    def failed(self) -> tuple[float, str] | None:
        """How many seconds ago the store answered but took nothing, and why; ``None`` when it took what came last."""
        failed = self._failed
        return None if failed is None else (time.monotonic() - failed[0], failed[1])

    @property
    def waiting(self) -> int:
        """How many requests wait."""
        return self._waiting.qsize()

    @property
    def at_hand(self) -> int:
        """How many aggregates are at hand."""
        return len(self._cache)

    def close(self) -> None:
        """Finishes what waits, then ends."""
        self._closed = True
        self._waiting.put(None)
        self._writer.join()

    # The writer's thread

    def _write(self) -> None:
        while True:
            batch, last = self._next_batch()
            self._began = time.monotonic()
            try:
                self._commit(batch)
            except Exception:
                log.exception("the desk could not answer %d requests", len(batch))
                self._forget([job.command.id for job in batch])
                for job in batch:
                    if not job.future.done():
                        job.future.set_exception(Busy())
            self._began = None
            if last:
                self._take_snapshots()
                return

    def _next_batch(self) -> tuple[list[_Job], bool]:
        """Whatever waits, and whether the desk closes after it."""
        batch: list[_Job] = []
        if self._due and (self._waiting.empty() or time.monotonic() > self._snapshots_at):
            self._take_snapshots()
        job = self._waiting.get()
        while job is not None:
            if job.future.set_running_or_notify_cancel():  # else the caller has gone before its turn came
                batch.append(job)
            if len(batch) == BATCH_MAX:
                return batch, False
            try:
                job = self._waiting.get_nowait()
            except Empty:
                return batch, False
        return batch, True

    def _commit(self, batch: list[_Job], attempt: int = 1) -> None:
        """Decides each in order, several of one aggregate building on one another, and stores them at once."""
        work, answers = _Work(), list[tuple[_Job, Outcome | Exception]]()
        for job in batch:
            try:
                answers.append((job, self._decide(job, work)))
            except Exception as refusal:
                answers.append((job, refusal))
        self._store(work, answers, attempt)

    def _store(self, work: _Work, answers: list[tuple[_Job, Outcome | Exception]], attempt: int) -> None:
        """One transaction, and then the answers to all that it holds."""
        try:
            if work.rows:
                self.referee.recorder.insert_events(work.rows)
                self._failed = None
        except PersistenceError as error:
            try:
                stored = not unsent(error) and self._is_stored(work.rows[0])
            except PersistenceError:
                self._forget(work.entries)
                for job, _ in answers:
                    self._answer(job, InDoubt())
                return
            if not stored:
                if not unsent(error) and not isinstance(error, IntegrityError):
                    self._failed = time.monotonic(), str(error).partition("\n")[0]
                self._forget(work.entries)
                self._decide_again([job for job, _ in answers], attempt, error)
                return
        self._keep(work.entries)
        for job, answer in answers:
            self._answer(job, answer)
        self._after_commit(work)

    def _is_stored(self, row: StoredEvent) -> bool:
        """Whether the transaction was stored after all, though its acknowledgement was lost on the way back.

        A row holds the id of its act, its time and the hash before it: an identical one is ours.
        """
        version = row.originator_version
        return row in self.referee.recorder.select_events(row.originator_id, gt=version - 1, lte=version)

    def _decide_again(self, jobs: list[_Job], attempt: int, error: PersistenceError) -> None:
        """After a conflict: all at once, then one by one, so that nobody waits for what others fight over."""
        log.info("%s: deciding %d requests again", type(error).__name__, len(jobs))
        if not isinstance(error, IntegrityError) or attempt == ATTEMPTS:
            for job in jobs:
                self._answer(job, Busy())
        elif attempt == 1:
            self._commit(jobs, attempt + 1)
        else:
            for job in jobs:
                self._commit([job], attempt + 1)

    def _answer(self, job: _Job, answer: Outcome | Exception) -> None:
        if isinstance(answer, Exception):
            job.future.set_exception(answer)
        else:
            job.future.set_result(answer)

    def _after_commit(self, work: _Work) -> None:
        """After the answers: followers are woken, and what is worth a snapshot is marked for one."""
        if work.history:
            self._committed(work.history)
        for recorded in work.history:
            entry = work.entries[recorded.originator_id]
            if type(recorded.event) in entry.aggregate.SNAPSHOT_AFTER:
                if not self._due:
                    self._snapshots_at = time.monotonic() + SNAPSHOT_SECONDS
                self._due[recorded.originator_id] = Loaded(entry.aggregate, entry.head)

    def _take_snapshots(self) -> None:
        """All that are due, in one transaction, when nobody waits or some time has passed."""
        due, self._due = list(self._due.values()), {}
        try:
            self.referee.take_snapshots(due)
        except PersistenceError:
            log.warning("no snapshots of %d aggregates", len(due), exc_info=True)

    def _decide(self, job: _Job, work: _Work) -> Outcome:
        """The outcome of a request; what it changes goes into ``work``."""
        command, at = job.command, self._clock()
        request, aggregate_id = command.request, command.id
        if isinstance(request, Event):
            rules = KINDS[request.TOPIC].rules_for(request)
            moment = Moment(1, at, self._seed())
            events = (request, *rules.begin(rules.start(request), moment))
            history, head = self._written(job, None, events, at, work)
            return self._outcome(job, None, fold(None, history), history, head, work)
        entry = work.entries.get(aggregate_id)
        if entry is not None:
            return self._decide_on(job, entry, at, work)
        entry = self._entry(aggregate_id)
        try:
            return self._decide_on(job, entry, at, work)
        except (Refused, Stale):
            newer = self._caught_up(entry)
            if newer is entry:
                raise
            return self._decide_on(job, newer, at, work)

    def _decide_on(self, job: _Job, entry: _Entry, at: datetime, work: _Work) -> Outcome:
        command, request = job.command, job.command.request
        if command.key is not None:
            if entry.acts is None:
                entry = self._with_acts(entry)
                self._keep({command.id: entry})
            assert entry.acts is not None
            made = entry.acts.get((command.actor, command.key))
            if made is not None:
                if made.digest != digest_of(msgspec.json.encode(request)):
                    raise KeyReused(command.key)
                return self._again(entry.aggregate, made, work)
        aggregate = entry.aggregate
        if command.expected is not None and command.expected != aggregate.version:
            raise Stale(aggregate.version)
        moment = Moment(aggregate.version, at, self._seed())
        events, state = aggregate.rules.take(aggregate.state, request, moment)
        history, head = self._written(job, entry, events, at, work)
        return self._outcome(job, entry, advanced(aggregate, history, state), history, head, work)

    def _caught_up(self, entry: _Entry) -> _Entry:
        """The entry, with what other processes have stored since: a refusal may not rest on an old state."""
        rows = self.referee.rows(entry.aggregate.id, after=entry.aggregate.version)
        if not rows:
            return entry
        return _Entry(fold(entry.aggregate, map(from_row, rows)), row_hash(rows[-1]), None)

    def _written(
        self, job: _Job, entry: _Entry | None, events: tuple[Event, ...], at: datetime, work: _Work
    ) -> tuple[list[Recorded], str]:
        """The events as they will be stored, and the hash of the last row."""
        command = job.command
        version, prev = (entry.aggregate.version, entry.head) if entry else (0, FIRST)
        asked = msgspec.json.encode(command.request)
        digest = digest_of(asked)
        # An opening stands there as its own event.
        on_record = None if isinstance(command.request, Event) else msgspec.Raw(asked)
        history: list[Recorded] = []
        for number, event in enumerate(events, version + 1):
            recorded = Recorded(command.id, number, at, command.actor, job.act_id, digest, prev, event, on_record)
            on_record = None
            work.rows.append(to_row(recorded))
            prev = row_hash(work.rows[-1])
            history.append(recorded)
        work.history += history
        return history, prev

    def _outcome(
        self, job: _Job, entry: _Entry | None, aggregate: Any, history: list[Recorded], head: str, work: _Work
    ) -> Outcome:
        """What a request came to, when its rows are stored."""
        command, acts = job.command, entry.acts if entry else {}
        if acts is not None and command.key is not None:
            acts[command.actor, job.act_id] = _Made(
                history[0].originator_version, aggregate.version, history[0].digest
            )
        work.entries[command.id] = _Entry(aggregate, head, acts)
        return Outcome(aggregate=aggregate, events=tuple(history))

    # Acts that were answered before

    def _again(self, aggregate: Aggregate, made: _Made, work: _Work) -> Outcome:
        """The outcome of an act already decided: stored, or earlier in this batch."""
        numbers = range(made.first, made.last + 1)
        here = [
            recorded
            for recorded in work.history
            if recorded.originator_id == aggregate.id and recorded.originator_version in numbers
        ]
        history = here or self.referee.history(aggregate.id, after=made.first - 1, to=made.last)
        return Outcome(aggregate=aggregate, events=tuple(history), repeated=True)

    def _with_acts(self, entry: _Entry) -> _Entry:
        """The entry with the keyed acts of its aggregate, read from its rows."""
        acts: dict[tuple[Actor, str], _Made] = {}
        for row in self.referee.rows(entry.aggregate.id, to=entry.aggregate.version):
            act, number = act_of_row(row.state), row.originator_version
            if not act.act_id.startswith(OWN):
                before = acts.get((act.actor, act.act_id))
                acts[act.actor, act.act_id] = _Made(before.first if before else number, number, act.digest)
        return _Entry(entry.aggregate, entry.head, acts)

    # The cache

    def _entry(self, aggregate_id: UUID) -> _Entry:
        entry = self._cache.get(aggregate_id)
        if entry is None:
            loaded = self.referee.load(aggregate_id)
            entry = _Entry(loaded.aggregate, loaded.head, None)
        return entry

    def _keep(self, entries: dict[UUID, _Entry]) -> None:
        with self._lock:
            for aggregate_id, entry in entries.items():
                if entry.aggregate.version < self._overtaken.get(aggregate_id, 0):
                    continue
                self._overtaken.pop(aggregate_id, None)
                cached = self._cache.get(aggregate_id)
                if cached is None or cached.aggregate.version <= entry.aggregate.version:
                    self._cache[aggregate_id] = entry
                self._cache.move_to_end(aggregate_id)
            while len(self._cache) > self._cache_size:
                self._cache.popitem(last=False)

    def _forget(self, ids: Iterable[UUID]) -> None:
        with self._lock:
            for aggregate_id in ids:
                self._cache.pop(aggregate_id, None)


__all__ = ["Busy", "Command", "Desk", "KeyReused", "Outcome", "Stale", "UnknownAggregate"]
