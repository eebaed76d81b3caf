"""The commit queue: one thread, the writer, decides waiting requests and stores their rows in one transaction.

The desk first decides an act on the cached aggregate. If it refuses the act, or if a different process has stored
rows first, it reads the newer rows and decides again. So most acts need no query before the commit, and no answer
depends on an outdated state.

A request that needs the whole history is decided *aside*: on a different thread (:mod:`referee.store.aside`).
"""

import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from hashlib import sha256
from itertools import count
from queue import Empty, SimpleQueue
from typing import Any, Concatenate, ParamSpec, TypeVar
from uuid import UUID

import msgspec
from eventsourcing.persistence import IntegrityError, PersistenceError, StoredEvent
from msgspec.structs import replace

from referee.actors import is_official
from referee.history import UNAVAILABLE, HistoryNeeded
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.acts import OWN_KEY_PREFIX, KeyedAct, key_of, means_unsent
from referee.store.aggregate import KINDS, Aggregate, fold, with_known_state
from referee.store.answer import Answer
from referee.store.aside import LONG_FROM, Aside
from referee.store.cache import MEGABYTE, Cache
from referee.store.clock import checked_time, machine_time
from referee.store.command import (
    Busy,
    Command,
    Full,
    InDoubt,
    KeyReused,
    OpenedByAnother,
    Outcome,
    Overtaken,
    Stale,
    TokenNotValid,
)
from referee.store.damaged import DamagedRow
from referee.store.rows import HASH_BEFORE_FIRST, row_hash, to_row
from referee.store.store import Loaded, Referee, UnknownAggregate
from referee.store.whole import Decided, decide
from referee.store.worker import Worker
from referee.value import OFFICIALS_MORE
from referee.visibility import SALT_BYTES, Event, Recorded

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)

BATCH_MAX = 256
WAITING_MAX = 10_000
SNAPSHOT_SECONDS = 0.5
"""Maximum seconds that due snapshots wait while requests arrive."""
SALTS_AT_ONCE = 256
OWN_ID_DIGITS = 24
ATTEMPTS = 3
"""Maximum attempts to store a request, if other processes store rows first."""
ASIDE_ATTEMPTS = 3
"""Maximum decisions on a request aside, if the match changes meanwhile."""
SNAPSHOT_EVERY = 200
"""Events after the last snapshot until the next one."""
REMEMBERED_ACTS_MAX = 4096
"""Maximum keyed acts in memory, to recognise repeats."""
CACHE_MEGABYTES = 32


class _Job(msgspec.Struct, frozen=True):
    command: Command
    act_id: str
    """Idempotency-Key, or an id made by the desk."""
    keyed_as: tuple[UUID, bytes] | None
    """Aggregate's id and :func:`key_of` the act; ``None`` without an Idempotency-Key."""
    future: Answer
    decided: Decided | None = None
    """Last decision made aside, if any."""
    decisions_aside: int = 0


class _Work:
    """A transaction: its rows, the aggregates after it, and its answers."""

    def __init__(self) -> None:
        self.aggregates: dict[UUID, Loaded] = {}
        self.rows: list[StoredEvent] = []
        self.history: list[Recorded] = []
        self.made: list[KeyedAct] = []
        self.due: list[Loaded] = []
        self.known: dict[tuple[UUID, bytes], KeyedAct] = {}
        """Keyed acts made in this transaction or looked up, by ``keyed_as``."""
        self.already_opened: set[UUID] = set()
        """Stored aggregates that a request of this batch would open again."""
        self.answers: list[tuple[_Job, Outcome | Exception]] = []
        self.to_refresh: dict[UUID, Loaded] = {}
        """Cached aggregates of which this transaction also reads newer rows."""


def digest_of(request: bytes | msgspec.Raw) -> str:
    """Return a short hash of a request as JSON."""
    return sha256(request).hexdigest()[:16]


def seeds() -> Callable[[], str]:
    """Return a function that makes unpredictable seeds."""
    secret, numbers = secrets.token_bytes(32), count()
    return lambda: sha256(secret + next(numbers).to_bytes(8, "big")).hexdigest()[:32]


def salts() -> Iterator[bytes]:
    """Yield random salts, for one thread."""
    while True:
        drawn = secrets.token_bytes(SALTS_AT_ONCE * SALT_BYTES)
        for start in range(0, len(drawn), SALT_BYTES):
            yield drawn[start : start + SALT_BYTES]


class Desk:
    """Accepts requests from any thread, and answers after the commit."""

    def __init__(
        self,
        referee: Referee,
        *,
        cache_bytes: int = CACHE_MEGABYTES * MEGABYTE,
        clock: Callable[[], datetime] = machine_time,
        seed: Callable[[], str] | None = None,
        committed: Callable[[Sequence[Recorded]], None] = lambda recorded: None,
    ) -> None:
        """``cache_bytes``: maximum memory of cached aggregates. ``seed``: makes a seed for each decision.

        ``committed``: called on the writer's thread with each transaction's events.
        """
        self.referee = referee
        self._clock, self._seed, self._committed = clock, seed or seeds(), committed
        self._own_ids = seeds()
        self._salts = salts()
        self._cache = Cache(cache_bytes)
        self._recent_acts: OrderedDict[tuple[UUID, bytes], KeyedAct] = OrderedDict()
        """Keyed acts last made or looked up, by ``keyed_as``."""
        self._waiting: SimpleQueue[_Job | None] = SimpleQueue()
        self._worker = Worker(referee.env)
        self._aside = Aside(self._decide_aside)
        self._to_send_aside: list[_Job] = []
        self._decided_aside: dict[Answer, None] = {}
        """Answers being decided aside, in order."""
        self._closing = threading.Lock()
        self._postponed: list[_Job] = []
        """Jobs for the next transaction."""
        self._due: list[Loaded] = []
        self._snapshots_at = 0.0
        self._closed = False
        self._busy_since: float | None = None
        self._failed: tuple[float, str] | None = None
        self._writer = threading.Thread(target=self._write, name="desk", daemon=True)
        self._writer.start()

    # For any thread

    def submit(self, command: Command) -> Answer:
        """Queue a request and return its future answer. Raises :class:`Busy` if the queue is full or the desk closed.

        The answer raises ``Refused``, :class:`Stale`, :class:`KeyReused`, :class:`OpenedByAnother`,
        :class:`Overtaken`, :class:`Full`, :class:`TokenNotValid`, :class:`~referee.store.store.UnknownAggregate`,
        :class:`Busy`, :class:`InDoubt`, :class:`~referee.store.clock.ClockWrong`,
        :class:`~referee.store.damaged.DamagedRow` or the library's ``PersistenceError``.
        """
        if self._waiting.qsize() >= WAITING_MAX:
            raise Busy
        future = Answer()
        key = command.key
        name = None if key is None else (command.id, key_of(command.actor, key))
        job = _Job(command, key or OWN_KEY_PREFIX + self._own_ids()[:OWN_ID_DIGITS], name, future)
        with self._closing:  # because the writer ends after the last job that was queued before it closed
            if self._closed:
                raise Busy
            self._waiting.put(job)
        return future

    def cached(self, aggregate_id: UUID, *, allow_stale: bool = False) -> Aggregate | None:
        """Return the cached aggregate; ``None`` if not cached, or outdated without ``allow_stale``."""
        if not allow_stale and self._cache.is_behind(aggregate_id):
            return None
        loaded = self._cache.use(aggregate_id)
        return loaded.aggregate if loaded else None

    def get(self, aggregate_id: UUID, *, min_version: int = 0) -> Aggregate:
        """Return the cached aggregate. If it is missing, outdated or below ``min_version``, read newer rows first.

        Without newer rows the version may stay lower. Raises what :meth:`Referee.load` raises.
        """
        loaded = self._cache.get(aggregate_id)
        if loaded is None:
            return self._load_into_cache(aggregate_id).aggregate
        if loaded.aggregate.version < min_version or self._cache.is_behind(aggregate_id):
            self._catch_up({aggregate_id: loaded})
            loaded = self._cache.get(aggregate_id) or self._load_into_cache(aggregate_id)
        return loaded.aggregate

    def cached_head(self, aggregate_id: UUID) -> tuple[int, str] | None:
        """Return the cached aggregate's version and last hash, even if outdated; ``None`` if not cached."""
        loaded = self._cache.get(aggregate_id)
        return None if loaded is None else (loaded.aggregate.version, loaded.head)

    def mark_stored(self, aggregate_id: UUID, version: int) -> None:
        """Note that event ``version`` is stored. An earlier cached version is then outdated."""
        self._cache.mark_stored(aggregate_id, version)

    def run_on_history(
        self, events: int, work: Callable[Concatenate[Referee, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Return the result of ``work``, called with the event store and the other arguments. Blocks the thread.

        ``events``: length of the match. From :data:`LONG_FROM` events a different process makes the call
        (:meth:`Worker.__call__`).
        """
        if events < LONG_FROM:
            return work(self.referee, *args, **kwargs)
        return self._worker(work, *args, **kwargs)

    def stop_worker(self) -> None:
        """Stop the process for long matches, and refuse further work. Does not wait."""
        self._worker.stop()

    @property
    def worker_pid(self) -> int | None:
        """Process id; ``None`` if the process for long matches does not run."""
        return self._worker.pid

    @property
    def alive(self) -> bool:
        return not self._closed and self._writer.is_alive()

    @property
    def busy_seconds(self) -> float:
        """Seconds since the writer began its present batch; 0 if it waits."""
        began = self._busy_since
        return 0.0 if began is None else time.monotonic() - began

    @property
    def failed(self) -> tuple[float, str] | None:
        """Seconds since the last failed write, and its message; ``None`` after a successful write.

        Conflicts and writes that were not sent do not count.
        """
        failed = self._failed
        return None if failed is None else (time.monotonic() - failed[0], failed[1])

    @property
    def waiting(self) -> int:
        return self._waiting.qsize()

    @property
    def cached_count(self) -> int:
        return len(self._cache)

    def close(self) -> None:
        """Answer all requests in the queue, then stop. Requests being decided aside get :class:`Busy`."""
        with self._closing:
            self._closed = True
            self._waiting.put(None)
        self._writer.join()
        for future in list(self._decided_aside):
            self._answer_aside(future)
        self._worker.close()
        self._aside.close()

    # The writer's thread: batches

    def _write(self) -> None:
        closing = False
        while not closing or self._postponed:
            postponed, self._postponed = self._postponed, []
            batch, closing = self._next_batch(postponed, closing)
            self._busy_since = time.monotonic()
            try:
                self._postponed = self._commit(batch, postponed)
            except Exception:
                log.exception("the desk could not answer %d requests", len(batch))
                self._cache.forget([job.command.id for job in batch])
                self._to_send_aside.clear()
                for job in batch:
                    if not job.future.done:
                        job.future.set(InDoubt())
            for job in self._to_send_aside:
                self._send_aside(job)
            self._to_send_aside.clear()
            self._busy_since = None
        self._take_snapshots()

    def _next_batch(self, postponed: list[_Job], closing: bool) -> tuple[list[_Job], bool]:
        """Return the postponed and waiting jobs, and whether the desk is closing. Wait until there is a job."""
        batch = [*postponed]
        if not batch and (self._waiting.empty() or time.monotonic() > self._snapshots_at):
            self._take_snapshots()
        with suppress(Empty):
            while len(batch) < BATCH_MAX and not closing:
                job = self._waiting.get(block=not batch)
                closing = job is None
                # A job decided aside is begun already.
                if job is not None and (job.decisions_aside or job.future.begin()):
                    batch.append(job)
        return batch, closing

    def _commit(self, batch: list[_Job], postponed: Sequence[_Job] = ()) -> list[_Job]:
        """Decide the jobs, each after those before it, and store all rows at once.

        Return the undecided jobs, to postpone to the next transaction. ``postponed``: jobs not to postpone again.
        """
        work = _Work()
        left = self._decide_all(batch, work)
        if left and (not work.rows or any(job is left[0] for job in postponed)):
            self._commit_on_stored_state(left, work)
            return []
        if left:
            work.to_refresh = self._cached_of({job.command.id for job in left} - work.aggregates.keys())
        self._store_and_answer(work)
        return left

    def _commit_on_stored_state(self, left: list[_Job], work: _Work, attempt: int = 1) -> None:
        """Read newer rows, decide the jobs on them, and store the results with those already in ``work``."""
        if outdated := self._cached_of({job.command.id for job in left} - work.aggregates.keys()):
            self._catch_up(outdated)
        if attempt == 1:
            left = self._decide_all(left, work)
        if left:
            self._look_up_answered(left, work)
            self._decide_all(left, work, on_stored_state=True)
        self._store_and_answer(work, attempt)

    def _look_up_answered(self, jobs: list[_Job], work: _Work) -> None:
        """Add to ``work`` the stored acts that jobs repeat, and the stored aggregates that jobs would open."""
        openings = {job.command.id for job in jobs if isinstance(job.command.request, Event)}
        work.already_opened = {aggregate_id for aggregate_id in openings if self.referee.exists(aggregate_id)}
        # Acts are read last, because a different process may store the repeated act meanwhile.
        if names := [job.keyed_as for job in jobs if job.keyed_as is not None]:
            work.known = self.referee.acts(names) | work.known

    # The writer's thread: decisions

    def _decide_all(self, jobs: list[_Job], work: _Work, *, on_stored_state: bool = False) -> list[_Job]:
        """Decide the jobs, add their answers to ``work``, and return the undecided jobs.

        Jobs that need the history are noted to be sent aside. Without ``on_stored_state`` these jobs stay undecided,
        because the cached state may be outdated: jobs on an outdated aggregate, refused jobs, later jobs on the
        aggregates of refused jobs, and new openings of cached aggregates.
        """
        undecided, doubted = [], set[UUID]()
        for job in jobs:
            aggregate_id = job.command.id
            if not on_stored_state and (
                (doubted and aggregate_id in doubted)
                or self._cache.is_behind(aggregate_id)
                or self._may_repeat_opening(job)
            ):
                undecided.append(job)
                continue
            try:
                work.answers.append((job, self._decide(job, work)))
            except HistoryNeeded:
                if job.decisions_aside == ASIDE_ATTEMPTS:
                    work.answers.append((job, Overtaken()))
                else:
                    self._to_send_aside.append(job)
            except (Refused, Stale, Full, TokenNotValid, OpenedByAnother) as refusal:
                if on_stored_state:
                    work.answers.append((job, refusal))
                else:
                    undecided.append(job)
                    doubted.add(aggregate_id)
            except Exception as error:
                work.answers.append((job, error))
        return undecided

    def _may_repeat_opening(self, job: _Job) -> bool:
        """Return whether the job would open a cached aggregate and is no remembered act."""
        if not isinstance(job.command.request, Event) or self._cache.get(job.command.id) is None:
            return False
        return job.keyed_as is None or job.keyed_as not in self._recent_acts

    def _decide(self, job: _Job, work: _Work) -> Outcome:
        """Return the outcome of a request and add its rows to ``work``.

        Raises the errors of the answer (:meth:`submit`), or ``HistoryNeeded`` to decide aside.
        """
        at = checked_time(self._clock)
        if job.keyed_as is not None and (made := work.known.get(job.keyed_as) or self._recent_acts.get(job.keyed_as)):
            return self._repeated_outcome(job, made, work)
        if isinstance(job.command.request, Event):
            return self._decide_opening(job, job.command.request, at, work)
        return self._decide_act(job, at, work)

    def _decide_opening(self, job: _Job, opening: Event, at: datetime, work: _Work) -> Outcome:
        """Open an aggregate. Raises :class:`OpenedByAnother` if ``work`` contains it."""
        aggregate_id = job.command.id
        if aggregate_id in work.aggregates or aggregate_id in work.already_opened:
            raise OpenedByAnother
        rules = KINDS[opening.TOPIC].rules_for(opening)
        moment = Moment(1, at, self._seed(), match=aggregate_id)
        events = (opening, *rules.begin(rules.start(opening), moment))
        history, head = self._make_rows(job, None, events, at, work)
        return self._make_outcome(job, fold(None, history), history, head, 0, work)

    def _decide_act(self, job: _Job, at: datetime, work: _Work) -> Outcome:
        """Decide an act, or use the decision made aside on this version."""
        command = job.command
        loaded = self._loaded_after(work, command.id)
        aggregate = loaded.aggregate
        if command.token is not None and not aggregate.may_act(command.actor, command.token):
            raise TokenNotValid
        if command.expected is not None and command.expected != aggregate.version:
            raise Stale(aggregate.version)
        decided = job.decided
        if decided is not None and decided.moment.version == aggregate.version:
            if decided.refused is not None:
                raise decided.refused
            at, events, state = decided.moment.at, decided.events, decided.state
        else:
            moment = Moment(aggregate.version, at, self._seed(), command.actor, UNAVAILABLE, command.id)
            events, state = aggregate.procedure.take(aggregate.state, command.request, moment)
        over = aggregate.version + len(events) - aggregate.EVENTS_MAX
        if over > 0 and (over > OFFICIALS_MORE or not is_official(command.actor)):
            raise Full(aggregate.EVENTS_MAX)
        history, head = self._make_rows(job, loaded, events, at, work)
        return self._make_outcome(job, with_known_state(aggregate, history, state), history, head, loaded.kept, work)

    def _make_rows(
        self, job: _Job, loaded: Loaded | None, events: tuple[Event, ...], at: datetime, work: _Work
    ) -> tuple[list[Recorded], str]:
        """Add the events' rows to ``work``. Return the recorded events and the last row's hash."""
        command = job.command
        version, prev = (loaded.aggregate.version, loaded.head) if loaded else (0, HASH_BEFORE_FIRST)
        request_json = msgspec.json.encode(command.request)
        digest = digest_of(request_json)
        # The request of an opening is its first event, so it is not stored again.
        stored_request = None if isinstance(command.request, Event) else msgspec.Raw(request_json)
        history: list[Recorded] = []
        for number, event in enumerate(events, version + 1):
            salt = next(self._salts)
            recorded = Recorded(
                command.id, number, at, command.actor, job.act_id, digest, prev, event, stored_request, salt
            )
            stored_request = None
            work.rows.append(to_row(recorded))
            prev = row_hash(work.rows[-1])
            history.append(recorded)
        work.history += history
        return history, prev

    def _make_outcome(
        self, job: _Job, aggregate: Any, history: list[Recorded], head: str, kept: int, work: _Work
    ) -> Outcome:
        """Add aggregate, due snapshot and keyed act to ``work``. Return the outcome. ``kept``: last snapshot's
        version."""
        version, after = aggregate.version, aggregate.SNAPSHOT_AFTER
        due = version >= kept + SNAPSHOT_EVERY or not after.isdisjoint([type(one.event) for one in history])
        work.aggregates[aggregate.id] = loaded = Loaded(aggregate, head, version if due else kept)
        if due:
            work.due.append(loaded)
        if job.keyed_as is not None:
            work.known[job.keyed_as] = made = KeyedAct(*job.keyed_as, history[0].originator_version, version)
            work.made.append(made)
        return Outcome(aggregate=aggregate, events=tuple(history))

    def _repeated_outcome(self, job: _Job, made: KeyedAct, work: _Work) -> Outcome:
        """Return the events of an act decided before, with the present aggregate.

        Raises :class:`KeyReused` or :class:`TokenNotValid`.
        """
        aggregate_id, numbers = made.aggregate_id, range(made.first, made.last + 1)
        in_batch = [
            recorded
            for recorded in work.history
            if recorded.originator_id == aggregate_id and recorded.originator_version in numbers
        ]
        history = in_batch or self.referee.history(aggregate_id, after=made.first - 1, to=made.last)
        if history[0].digest != digest_of(msgspec.json.encode(job.command.request)):
            raise KeyReused(job.act_id)
        aggregate, token = self._loaded_after(work, aggregate_id).aggregate, job.command.token
        if token is not None and not aggregate.has_token(job.command.actor, token):
            raise TokenNotValid
        return Outcome(aggregate=aggregate, events=tuple(history), repeated=True)

    def _loaded_after(self, work: _Work, aggregate_id: UUID) -> Loaded:
        return (
            work.aggregates.get(aggregate_id) or self._cache.get(aggregate_id) or self._load_into_cache(aggregate_id)
        )

    # The writer's thread: storing and answering

    def _store_and_answer(self, work: _Work, attempt: int = 1) -> None:
        """Store the rows of ``work`` in one transaction, then answer its jobs.

        If the rows are not stored, decide the jobs again. After an error, answer :class:`InDoubt` if the store cannot
        be read.
        """
        newer: dict[UUID, list[StoredEvent]] = {}
        try:
            if work.rows:
                newer = self.referee.insert(work.rows, work.made, work.to_refresh.values())
                self._failed = None
        except PersistenceError as error:
            try:
                # A row contains its act's id, its time and the previous hash, so only this desk can write it.
                stored = not means_unsent(error) and self.referee.is_stored(work.rows[0])
            except PersistenceError:
                self._note_failure(error)
                for job, _ in work.answers:
                    job.future.set(InDoubt())
                return
            if not stored:
                if not means_unsent(error) and not isinstance(error, IntegrityError):
                    self._note_failure(error)
                self._decide_again([job for job, _ in work.answers], attempt, error)
                return
        self._cache.keep(work.aggregates.values())
        self._remember_acts(work.known)
        for job, answer in work.answers:
            job.future.set(answer)
        self._apply_newer(work.to_refresh, newer)
        self._after_commit(work)

    def _note_failure(self, error: PersistenceError) -> None:
        self._failed = time.monotonic(), str(error).partition("\n")[0]

    def _decide_again(self, jobs: list[_Job], attempt: int, error: PersistenceError) -> None:
        """Decide jobs again after a conflict with a different process: first together, then one by one.

        Answer them with :class:`Busy` after :data:`ATTEMPTS`, or if ``error`` is not a conflict.
        """
        log.info("%s: deciding %d requests again", type(error).__name__, len(jobs))
        if not isinstance(error, IntegrityError) or attempt == ATTEMPTS:
            for job in jobs:
                job.future.set(Busy())
        elif attempt == 1:
            self._commit_on_stored_state(jobs, _Work(), attempt + 1)
        else:
            for job in jobs:
                self._commit_on_stored_state([job], _Work(), attempt + 1)

    def _remember_acts(self, known: Mapping[tuple[UUID, bytes], KeyedAct]) -> None:
        self._recent_acts |= known
        while len(self._recent_acts) > REMEMBERED_ACTS_MAX:
            self._recent_acts.popitem(last=False)

    def _after_commit(self, work: _Work) -> None:
        if work.history:
            self._committed(work.history)
        if work.due and not self._due:
            self._snapshots_at = time.monotonic() + SNAPSHOT_SECONDS
        self._due += work.due

    def _take_snapshots(self) -> None:
        if not self._due:
            return
        due, self._due = self._due, []
        try:
            self.referee.take_snapshots(due)
        except Exception:  # because loading is only slower
            log.warning("no snapshots of %d aggregates", len(due), exc_info=True)

    # Decisions made aside, on other threads

    def _send_aside(self, job: _Job) -> None:
        loaded = self._cache.get(job.command.id)
        job.future.aside = True
        self._decided_aside[job.future] = None
        try:
            self._aside.put(job.command.id, 0 if loaded is None else loaded.aggregate.version, job)
        except Busy:
            self._answer_aside(job.future)

    def _decide_aside(self, job: _Job) -> None:
        """Decide a job on its aggregate's whole history, and put it back into the queue.

        After an error, or if the desk is closed, answer it.
        """
        command = job.command
        try:
            aggregate = self.get(command.id)
            moment = Moment(
                aggregate.version, checked_time(self._clock), self._seed(), command.actor, match=command.id
            )
            decided = self.run_on_history(aggregate.version, decide, aggregate, command.request, moment)
        except Exception as error:
            self._answer_aside(job.future, error)
            return
        with self._closing:
            if self._closed:
                self._answer_aside(job.future)
            elif self._decided_aside.pop(job.future, job) is None:
                self._waiting.put(replace(job, decided=decided, decisions_aside=job.decisions_aside + 1))

    def _answer_aside(self, future: Answer, error: Exception | None = None) -> None:
        """Answer a job with ``error`` or :class:`Busy`, if it is being decided aside."""
        if self._decided_aside.pop(future, future) is None:
            future.set(error or Busy())

    # The cache, for any thread

    def _cached_of(self, ids: Iterable[UUID]) -> dict[UUID, Loaded]:
        return {aggregate_id: loaded for aggregate_id in ids if (loaded := self._cache.get(aggregate_id)) is not None}

    def _load_into_cache(self, aggregate_id: UUID) -> Loaded:
        loaded = self.referee.load(aggregate_id)
        self._cache.keep([loaded])
        return loaded

    def _catch_up(self, cached: dict[UUID, Loaded]) -> None:
        self._apply_newer(cached, self.referee.newer_rows(cached.values()))

    def _apply_newer(self, cached: dict[UUID, Loaded], newer: dict[UUID, list[StoredEvent]]) -> None:
        """Add newer rows to cached aggregates. After an error, drop the aggregate."""
        for aggregate_id, rows in newer.items():
            try:
                self._cache.keep([self.referee.after_rows(cached[aggregate_id], rows)])
            except Exception as error:  # because one damaged aggregate must not stop the others
                with_trace = not isinstance(error, DamagedRow)
                log.error("%s cannot be brought up to date: %s", aggregate_id, error, exc_info=with_trace)
                self._cache.forget([aggregate_id])


__all__ = [
    "Busy",
    "Command",
    "Desk",
    "Full",
    "InDoubt",
    "KeyReused",
    "OpenedByAnother",
    "Outcome",
    "Stale",
    "TokenNotValid",
    "UnknownAggregate",
]
