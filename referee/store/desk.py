"""The commit queue: one thread decides and commits all requests that wait, in one transaction.

Nothing is answered before it is committed. An act is decided at once, on what is at hand. Where that refuses it, or
where another process was first, the desk looks up in one go what has been stored since and which of the acts were
answered before, and decides again: so an act costs no look beforehand, and neither a refusal nor an answer rests on
an old state. Where a transaction is on its way anyway, what has been stored since comes back with it. A repeat is
known by its key, a lost acknowledgement by its rows.
"""

import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
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
from referee.history import NOT_HERE, HistoryNeeded
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.acts import OWN, KeyedAct, key_of
from referee.store.aggregate import KINDS, Aggregate, advanced, fold
from referee.store.aside import LONG_FROM, Aside
from referee.store.cache import MEGABYTE, Cache
from referee.store.clock import checked, machine
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
from referee.store.connection import unsent
from referee.store.damaged import DamagedRow
from referee.store.rows import FIRST, row_hash, to_row
from referee.store.store import Loaded, Referee, UnknownAggregate
from referee.store.whole import Decided, decide
from referee.store.worker import Worker
from referee.value import OFFICIALS_MORE
from referee.visibility import SALT_BYTES, Event, Recorded

P = ParamSpec("P")
T = TypeVar("T")
log = logging.getLogger(__name__)

BATCH_MAX = 256
"""Requests in one transaction: enough for every client that waits while one commits, few enough to stay short."""
WAITING_MAX = 10_000
"""Requests that may wait; more are told to come back."""
SNAPSHOT_SECONDS = 0.5
"""Snapshots wait so long while requests do: they only make loading faster."""
SALTS_AT_ONCE = 256
"""Salts that are drawn together."""
OWN_DIGITS = 24
"""Of the id of an act without a key."""
ATTEMPTS = 3
"""How often a request is decided anew because another process was first."""
ASIDE_ATTEMPTS = 3
"""How often a request is decided aside, on all that has happened, because somebody has acted meanwhile."""
SNAPSHOT_EVERY = 200
"""Events after which a snapshot is taken in any case."""
MADE_MAX = 4096
"""Keyed acts that the desk remembers: their repeats are found before anything is decided."""
CACHE_MEGABYTES = 32
"""What aggregates at hand may take together."""


class Answer(Future[Outcome]):
    """What a request comes to."""

    aside = False
    """Whether it is decided on all that has happened in its match, which takes longer in a long match."""


class _Job(msgspec.Struct, frozen=True):
    """A command on its way: ``act_id`` is its key or, without one, an id of the desk's own; ``name`` stands for the
    key of this actor's act on this aggregate."""

    command: Command
    act_id: str
    name: tuple[UUID, bytes] | None
    future: Answer
    decided: Decided | None = None
    """What was decided aside."""
    attempts: int = 0
    """How often it was decided aside."""


class _Work:
    """What a transaction is about to store, the aggregates as they would stand after it, and the answers then."""

    def __init__(self) -> None:
        self.entries: dict[UUID, Loaded] = {}
        self.rows: list[StoredEvent] = []
        self.history: list[Recorded] = []
        self.made: list[KeyedAct] = []
        self.due: list[Loaded] = []
        """Worth a snapshot."""
        self.known: dict[tuple[UUID, bytes], KeyedAct] = {}
        """Keyed acts, those of this transaction and those that were looked up."""
        self.opened: set[UUID] = set()
        """Aggregates that are stored and that were asked to be opened."""
        self.answers: list[tuple[_Job, Outcome | Exception]] = []
        self.behind: dict[UUID, Loaded] = {}
        """What is asked of others' transactions with this one."""


def digest_of(asked: bytes | msgspec.Raw) -> str:
    """What was asked, in few characters: to tell a repeat from another use of its key."""
    return sha256(asked).hexdigest()[:16]


def seeds() -> Callable[[], str]:
    """Seeds that nobody can foresee: hashes over a secret of this process and a number.

    Asking the system for each would let go of the interpreter's lock once a request.
    """
    secret, numbers = secrets.token_bytes(32), count()
    return lambda: sha256(secret + next(numbers).to_bytes(8, "big")).hexdigest()[:32]


def salts() -> Iterator[bytes]:
    """Yield random salts without end, for one thread.

    The system is asked for many at once, since each time lets go of the interpreter's lock.
    """
    while True:
        drawn = secrets.token_bytes(SALTS_AT_ONCE * SALT_BYTES)
        for start in range(0, len(drawn), SALT_BYTES):
            yield drawn[start : start + SALT_BYTES]


class Desk:
    """Takes requests from any thread, answers each when it is committed."""

    def __init__(
        self,
        referee: Referee,
        *,
        cache_bytes: int = CACHE_MEGABYTES * MEGABYTE,
        clock: Callable[[], datetime] = machine,
        seed: Callable[[], str] | None = None,
        committed: Callable[[Iterable[Recorded]], None] = lambda recorded: None,
    ) -> None:
        """``cache_bytes``: how much aggregates at hand may take.

        ``committed`` is called on the writer's thread with all that a transaction stored.
        """
        self.referee = referee
        self._clock, self._seed, self._committed = clock, seed or seeds(), committed
        self._own = seeds()
        """Source of the ids of acts that came without a key: no two acts of any process have the same id."""
        self._salts = salts()
        self._cache = Cache(cache_bytes)
        self._made: OrderedDict[tuple[UUID, bytes], KeyedAct] = OrderedDict()
        """The last :data:`MADE_MAX` keyed acts that were made or looked up."""
        self._waiting: SimpleQueue[_Job | None] = SimpleQueue()
        self._worker = Worker(referee.env)
        self._aside = Aside(self._decide_aside)
        self._for_aside: list[_Job] = []
        """To be decided aside, when what was decided before them is stored."""
        self._aside_now: dict[Answer, None] = {}
        """The answers to what is decided aside."""
        self._closing = threading.Lock()
        self._late: list[_Job] = []
        """Put off to the next transaction: what others have stored came back with the last."""
        self._due: list[Loaded] = []
        self._snapshots_at = 0.0
        self._closed = False
        self._began: float | None = None
        self._failed: tuple[float, str] | None = None
        self._writer = threading.Thread(target=self._write, name="desk", daemon=True)
        self._writer.start()

    # From outside

    def submit(self, command: Command) -> Answer:
        """Put a request into the queue. The future raises ``Refused``, :class:`Stale`, :class:`KeyReused`,
        :class:`OpenedByAnother`, :class:`Overtaken`, :class:`Full`, :class:`NotHeld`,
        :class:`~referee.store.store.UnknownAggregate`, :class:`Busy`, :class:`InDoubt`,
        :class:`~referee.store.clock.ClockWrong` or :class:`~referee.store.damaged.DamagedRow`."""
        if self._closed or self._waiting.qsize() >= WAITING_MAX:
            raise Busy
        future = Answer()
        key = command.key
        name = None if key is None else (command.id, key_of(command.actor, key))
        self._waiting.put(_Job(command, key or OWN + self._own()[:OWN_DIGITS], name, future))
        return future

    def cached(self, aggregate_id: UUID, *, as_it_was: bool = False) -> Aggregate | None:
        """The aggregate, if it is at hand; ``as_it_was``: also where something is known to have come after it."""
        if not as_it_was and self._cache.is_behind(aggregate_id):
            return None
        loaded = self._cache.use(aggregate_id)
        return loaded.aggregate if loaded else None

    def get(self, aggregate_id: UUID, *, min_version: int = 0) -> Aggregate:
        """The aggregate, from the cache or the store. Raises :class:`~referee.store.store.UnknownAggregate`."""
        loaded = self._cache.get(aggregate_id)
        if loaded is None:
            return self._load(aggregate_id).aggregate
        if loaded.aggregate.version < min_version or self._cache.is_behind(aggregate_id):
            self._catch_up({aggregate_id: loaded})
            loaded = self._cache.get(aggregate_id) or self._load(aggregate_id)
        return loaded.aggregate

    def place(self, aggregate_id: UUID) -> tuple[int, str] | None:
        """An event of an aggregate and the hash of its row: the last, as far as is known here; ``None`` if it is not
        at hand."""
        loaded = self._cache.get(aggregate_id)
        return None if loaded is None else (loaded.aggregate.version, loaded.head)

    def overtaken(self, aggregate_id: UUID, version: int) -> None:
        """Tells that event ``version`` of an aggregate is stored, perhaps by another process."""
        self._cache.overtaken(aggregate_id, version)

    def whole(self, events: int, work: Callable[Concatenate[Referee, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what ``work`` makes of the first events of a match, which are this many. The thread waits for it.

        Work on a long match is done in a process beside the service, and then ``work`` is a function of a module, and
        its arguments and its result can be pickled. Raises what ``work`` raises, and
        :class:`~referee.store.command.Busy` if the process does not answer.
        """
        if events < LONG_FROM:
            return work(self.referee, *args, **kwargs)
        return self._worker(work, *args, **kwargs)

    def stop_whole(self) -> None:
        """Refuse from now on all work on long matches, also what is under way. It waits for nothing."""
        self._worker.stop()

    @property
    def worker_pid(self) -> int | None:
        """The id of the process for long matches, ``None`` if it does not run."""
        return self._worker.pid

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
        """Finish what waits, then end. What is decided aside is given up: nothing of it has been stored."""
        with self._closing:
            self._closed = True
            self._waiting.put(None)
        self._writer.join()
        for future in list(self._aside_now):
            self._give_up(future)
        self._worker.close()
        self._aside.close()

    # The writer's thread

    def _write(self) -> None:
        last = False
        while not last or self._late:
            late, self._late = self._late, []
            batch, last = self._next_batch(late, last)
            self._began = time.monotonic()
            try:
                self._late = self._commit(batch, late)
            except Exception:
                log.exception("the desk could not answer %d requests", len(batch))
                self._cache.forget([job.command.id for job in batch])
                self._for_aside.clear()
                for job in batch:
                    if not job.future.done():
                        job.future.set_exception(InDoubt())
            for job in self._for_aside:
                self._put_aside(job)
            self._for_aside.clear()
            self._began = None
        self._take_snapshots()

    def _next_batch(self, late: list[_Job], last: bool) -> tuple[list[_Job], bool]:
        """What was put off and whatever waits, and whether the desk closes after it."""
        batch = [*late]
        if not batch and (self._waiting.empty() or time.monotonic() > self._snapshots_at):
            self._take_snapshots()
        with suppress(Empty):
            while len(batch) < BATCH_MAX and not last:
                job = self._waiting.get(block=not batch)
                last = job is None
                # A job that comes back is running; of another the caller may have gone.
                if job is not None and (job.attempts or job.future.set_running_or_notify_cancel()):
                    batch.append(job)
        return batch, last

    def _commit(self, batch: list[_Job], late: Sequence[_Job] = ()) -> list[_Job]:
        """Decides each in order, several of one aggregate building on one another, and stores them at once. Gives
        back those that are put off: none that were so before, the ``late``."""
        work = _Work()
        left = self._undecided(batch, work)
        if left and work.rows and not any(job is left[0] for job in late):
            work.behind = self._at_hand({job.command.id for job in left} - work.entries.keys())
            self._store(work)
            return left
        self._commit_for_certain(left, work)
        return []

    def _commit_for_certain(self, left: list[_Job], work: _Work, attempt: int = 1) -> None:
        """Decides what is left on what is stored now, and stores it with the rest."""
        if left:
            self._catch_up_with(left, work)
        if left and attempt == 1:
            left = self._undecided(left, work)
        if left:
            self._look_up(left, work)
            self._undecided(left, work, for_certain=True)
        self._store(work, attempt)

    def _at_hand(self, ids: Iterable[UUID]) -> dict[UUID, Loaded]:
        return {aggregate_id: loaded for aggregate_id in ids if (loaded := self._cache.get(aggregate_id)) is not None}

    def _undecided(self, jobs: list[_Job], work: _Work, *, for_certain: bool = False) -> list[_Job]:
        """Decide all of these but those on what is behind, or has refused one: that may rest on an old state, or be
        a repeat, and so do those that come after it. An opening of what is at hand is a repeat, or another's."""
        undecided, doubted = [], set[UUID]()
        for job in jobs:
            aggregate_id = job.command.id
            if not for_certain and (
                (doubted and aggregate_id in doubted) or self._cache.is_behind(aggregate_id) or self._opens_again(job)
            ):
                undecided.append(job)
                continue
            try:
                work.answers.append((job, self._decide(job, work)))
            except HistoryNeeded:
                if job.attempts == ASIDE_ATTEMPTS:
                    work.answers.append((job, Overtaken()))
                else:
                    self._for_aside.append(job)
            except (Refused, Stale, Full, NotHeld, OpenedByAnother) as refusal:
                if for_certain:
                    work.answers.append((job, refusal))
                else:
                    undecided.append(job)
                    doubted.add(aggregate_id)
            except Exception as error:
                work.answers.append((job, error))
        return undecided

    def _opens_again(self, job: _Job) -> bool:
        """Return whether it would open what is at hand, and is not known as the act that did."""
        if not isinstance(job.command.request, Event) or self._cache.get(job.command.id) is None:
            return False
        return job.name is None or job.name not in self._made

    def _catch_up_with(self, jobs: list[_Job], work: _Work) -> None:
        """Adds what other processes have stored of what these are about."""
        if at_hand := self._at_hand({job.command.id for job in jobs} - work.entries.keys()):
            self._catch_up(at_hand)

    def _look_up(self, jobs: list[_Job], work: _Work) -> None:
        """Find out which of these were answered before, and which would open what is stored."""
        openings = {job.command.id for job in jobs if isinstance(job.command.request, Event)}
        work.opened = {aggregate_id for aggregate_id in openings if self.referee.exists(aggregate_id)}
        # Only then: else an act that opens one meanwhile, in another process, is another's.
        if names := [job.name for job in jobs if job.name is not None]:
            work.known = self.referee.acts(names) | work.known

    def _store(self, work: _Work, attempt: int = 1) -> None:
        """One transaction, and then the answers to all that it holds."""
        newer: dict[UUID, list[StoredEvent]] = {}
        try:
            if work.rows:
                newer = self.referee.insert(work.rows, work.made, work.behind.values())
                self._failed = None
        except PersistenceError as error:
            try:
                stored = not unsent(error) and self._is_stored(work.rows[0])
            except PersistenceError:
                for job, _ in work.answers:
                    self._answer(job, InDoubt())
                return
            if not stored:
                if not unsent(error) and not isinstance(error, IntegrityError):
                    self._failed = time.monotonic(), str(error).partition("\n")[0]
                self._decide_again([job for job, _ in work.answers], attempt, error)
                return
        self._cache.keep(work.entries.values())
        self._remember(work.known)
        for job, answer in work.answers:
            self._answer(job, answer)
        self._brought_on(work.behind, newer)
        self._after_commit(work)

    def _remember(self, known: Mapping[tuple[UUID, bytes], KeyedAct]) -> None:
        self._made |= known
        while len(self._made) > MADE_MAX:
            self._made.popitem(last=False)

    def _is_stored(self, row: StoredEvent) -> bool:
        """Whether the transaction was stored after all, though its acknowledgement was lost on the way back.

        A row holds the id of its act, its time and the hash before it: an identical one is ours.
        """
        return self.referee.is_stored(row)

    def _decide_again(self, jobs: list[_Job], attempt: int, error: PersistenceError) -> None:
        """After a conflict: all at once, then one by one, so that nobody waits for what others fight over."""
        log.info("%s: deciding %d requests again", type(error).__name__, len(jobs))
        if not isinstance(error, IntegrityError) or attempt == ATTEMPTS:
            for job in jobs:
                self._answer(job, Busy())
        elif attempt == 1:
            self._commit_for_certain(jobs, _Work(), attempt + 1)
        else:
            for job in jobs:
                self._commit_for_certain([job], _Work(), attempt + 1)

    def _answer(self, job: _Job, answer: Outcome | Exception) -> None:
        if isinstance(answer, Exception):
            job.future.set_exception(answer)
        else:
            job.future.set_result(answer)

    def _after_commit(self, work: _Work) -> None:
        """After the answers: followers are woken, and what is worth a snapshot is marked for one."""
        if work.history:
            self._committed(work.history)
        if work.due and not self._due:
            self._snapshots_at = time.monotonic() + SNAPSHOT_SECONDS
        self._due += work.due

    def _take_snapshots(self) -> None:
        """All that are due, in one transaction, when nobody waits or some time has passed."""
        if not self._due:
            return
        due, self._due = self._due, []
        try:
            self.referee.take_snapshots(due)
        except Exception:  # they only make loading faster
            log.warning("no snapshots of %d aggregates", len(due), exc_info=True)

    def _decide(self, job: _Job, work: _Work) -> Outcome:
        """The outcome of a request; what it changes goes into ``work``."""
        command, at = job.command, checked(self._clock)
        request = command.request
        if job.name is not None and (made := work.known.get(job.name) or self._made.get(job.name)) is not None:
            return self._again(job, made, work)
        if isinstance(request, Event):
            if command.id in work.entries or command.id in work.opened:
                raise OpenedByAnother
            rules = KINDS[request.TOPIC].rules_for(request)
            moment = Moment(1, at, self._seed(), match=command.id)
            events = (request, *rules.begin(rules.start(request), moment))
            history, head = self._written(job, None, events, at, work)
            return self._outcome(job, fold(None, history), history, head, 0, work)
        entry = self._entry(command.id, work)
        aggregate = entry.aggregate
        if command.token is not None and not aggregate.may_act(command.actor, command.token):
            raise NotHeld
        if command.expected is not None and command.expected != aggregate.version:
            raise Stale(aggregate.version)
        decided = job.decided
        if decided is not None and decided.moment.version == aggregate.version:
            if decided.refused is not None:
                raise decided.refused
            at, events, standing = decided.moment.at, decided.events, decided.standing
        else:
            moment = Moment(aggregate.version, at, self._seed(), command.actor, NOT_HERE, command.id)
            events, standing = aggregate.procedure.take(aggregate.standing, request, moment)
        over = aggregate.version + len(events) - aggregate.EVENTS_MAX
        if over > 0 and (over > OFFICIALS_MORE or not is_official(command.actor)):
            raise Full(aggregate.EVENTS_MAX)
        history, head = self._written(job, entry, events, at, work)
        return self._outcome(job, advanced(aggregate, history, standing), history, head, entry.kept, work)

    def _put_aside(self, job: _Job) -> None:
        """Have a job decided on all that has happened, on another thread, and come back."""
        loaded = self._cache.get(job.command.id)
        job.future.aside = True
        self._aside_now[job.future] = None
        try:
            self._aside.put(job.command.id, 0 if loaded is None else loaded.aggregate.version, job)
        except Busy:
            self._give_up(job.future)

    def _decide_aside(self, job: _Job) -> None:
        """Decide a job on all that is stored of its aggregate. The writer stores what comes of it, if that still is
        all by then. On a thread beside the writer."""
        command = job.command
        try:
            aggregate = self.get(command.id)
            moment = Moment(aggregate.version, checked(self._clock), self._seed(), command.actor, match=command.id)
            decided = self.whole(aggregate.version, decide, aggregate, command.request, moment)
        except Exception as error:
            self._give_up(job.future, error)
            return
        with self._closing:
            if self._closed:
                self._give_up(job.future)
            elif self._aside_now.pop(job.future, job) is None:
                self._waiting.put(replace(job, decided=decided, attempts=job.attempts + 1))

    def _give_up(self, future: Answer, error: Exception | None = None) -> None:
        """Answer what is decided aside with an error, unless it has been answered."""
        if self._aside_now.pop(future, future) is None:
            future.set_exception(error or Busy())

    def _entry(self, aggregate_id: UUID, work: _Work) -> Loaded:
        return work.entries.get(aggregate_id) or self._cache.get(aggregate_id) or self._load(aggregate_id)

    def _written(
        self, job: _Job, entry: Loaded | None, events: tuple[Event, ...], at: datetime, work: _Work
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
            salt = next(self._salts)
            recorded = Recorded(
                command.id, number, at, command.actor, job.act_id, digest, prev, event, on_record, salt
            )
            on_record = None
            work.rows.append(to_row(recorded))
            prev = row_hash(work.rows[-1])
            history.append(recorded)
        work.history += history
        return history, prev

    def _outcome(
        self, job: _Job, aggregate: Any, history: list[Recorded], head: str, kept: int, work: _Work
    ) -> Outcome:
        """What a request came to, when its rows are stored; ``kept`` is the version of the last snapshot."""
        version, after = aggregate.version, aggregate.SNAPSHOT_AFTER
        due = version >= kept + SNAPSHOT_EVERY or not after.isdisjoint([type(one.event) for one in history])
        work.entries[aggregate.id] = entry = Loaded(aggregate, head, version if due else kept)
        if due:
            work.due.append(entry)
        if job.name is not None:
            work.known[job.name] = made = KeyedAct(*job.name, history[0].originator_version, version)
            work.made.append(made)
        return Outcome(aggregate=aggregate, events=tuple(history))

    def _again(self, job: _Job, made: KeyedAct, work: _Work) -> Outcome:
        """The outcome of an act already decided: stored, or earlier in this batch."""
        aggregate_id, numbers = made.aggregate_id, range(made.first, made.last + 1)
        here = [
            recorded
            for recorded in work.history
            if recorded.originator_id == aggregate_id and recorded.originator_version in numbers
        ]
        history = here or self.referee.history(aggregate_id, after=made.first - 1, to=made.last)
        if history[0].digest != digest_of(msgspec.json.encode(job.command.request)):
            raise KeyReused(job.act_id)
        aggregate, token = self._entry(aggregate_id, work).aggregate, job.command.token
        if token is not None and not aggregate.held(job.command.actor, token):
            raise NotHeld
        return Outcome(aggregate=aggregate, events=tuple(history), repeated=True)

    # From any thread

    def _load(self, aggregate_id: UUID) -> Loaded:
        loaded = self.referee.load(aggregate_id)
        self._cache.keep([loaded])
        return loaded

    def _catch_up(self, at_hand: dict[UUID, Loaded]) -> None:
        """Adds to aggregates at hand what other processes have stored since."""
        self._brought_on(at_hand, self.referee.newer(at_hand.values()))

    def _brought_on(self, at_hand: dict[UUID, Loaded], newer: dict[UUID, list[StoredEvent]]) -> None:
        for aggregate_id, rows in newer.items():
            try:
                self._cache.keep([self.referee.further(at_hand[aggregate_id], rows)])
            except Exception as error:  # so that one that cannot be read stops no other
                whole = not isinstance(error, DamagedRow)
                log.error("%s cannot be brought up to date: %s", aggregate_id, error, exc_info=whole)
                self._cache.forget([aggregate_id])


__all__ = [
    "Busy",
    "Command",
    "Desk",
    "Full",
    "InDoubt",
    "KeyReused",
    "NotHeld",
    "OpenedByAnother",
    "Outcome",
    "Stale",
    "UnknownAggregate",
]
