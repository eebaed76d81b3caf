"""The event store, in the eventsourcing library's recorders."""

import itertools
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from hashlib import sha256
from itertools import groupby
from operator import attrgetter
from typing import Any, TypeVar, cast
from uuid import UUID

import msgspec
from eventsourcing.application import Application
from eventsourcing.persistence import IntegrityError, Mapper, StoredEvent

from referee.actors import Actor
from referee.store.acts import KeyedAct, Placed, Store, key_of, keyed_acts
from referee.store.aggregate import KINDS, Aggregate, fold
from referee.store.command import OpenedByAnother
from referee.store.connection import SqliteFile, parse_store_url
from referee.store.damaged import DamagedRow
from referee.store.rows import AnyRow, JsonRows, Row, from_row, refuse_older, row_hash
from referee.visibility import Recorded

log = logging.getLogger(__name__)
A = TypeVar("A", bound=AnyRow)


class UnknownAggregate(LookupError):
    """No aggregate has this id."""


class Loaded(msgspec.Struct, frozen=True):
    """An aggregate. ``head``: hash of its last row. ``kept``: version of its last snapshot, stored or due; else 0."""

    aggregate: Aggregate
    head: str
    kept: int = 0


class Snapshot(msgspec.Struct, frozen=True):
    """A snapshot. ``kind``: topic of the first event. ``shape``: :func:`shape_of` the state."""

    kind: str
    shape: str
    head: str
    aggregate: msgspec.Raw


SNAPSHOT_TOPIC = "snapshot"
SNAPSHOTS_TRIED = 3
"""Maximum snapshots to try before all rows are folded."""
ACT_EVENTS = 32
"""Maximum rows in each read of :meth:`Referee.first_of_act`."""


@cache
def shape_of(state_type: Any) -> str:
    """Return a hash of the type's schema without descriptions."""
    schema = _without_descriptions(msgspec.json.schema(state_type))
    return sha256(msgspec.json.encode(schema, order="deterministic")).hexdigest()[:16]


def _without_descriptions(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {
            key: _without_descriptions(value)
            for key, value in schema.items()
            if key != "description" or not isinstance(value, str)
        }
    return [_without_descriptions(one) for one in schema] if isinstance(schema, list) else schema


def snapshot_row(loaded: Loaded) -> StoredEvent:
    aggregate = loaded.aggregate
    snapshot = Snapshot(
        aggregate.OPENING.TOPIC,
        shape_of(aggregate.procedure.state),
        loaded.head,
        msgspec.Raw(msgspec.json.encode(aggregate)),
    )
    return StoredEvent(aggregate.id, aggregate.version, SNAPSHOT_TOPIC, msgspec.json.encode(snapshot))


def _from_snapshot(row: StoredEvent) -> Loaded | None:
    """Return the aggregate of a snapshot; ``None`` if :func:`shape_of` its state has changed."""
    snapshot = msgspec.json.decode(row.state, type=Snapshot)
    kind = KINDS[snapshot.kind]
    raw = msgspec.json.decode(snapshot.aggregate)
    aggregate = msgspec.convert({**raw, "state": None}, kind)
    state = aggregate.procedure.state
    if snapshot.shape != shape_of(state):
        return None
    return Loaded(
        msgspec.structs.replace(aggregate, state=msgspec.convert(raw["state"], state)),
        snapshot.head,
        aggregate.version,
    )


def _after_rows(loaded: Loaded | None, rows: Sequence[StoredEvent]) -> Loaded:
    """Return an aggregate after further rows. ``None``: ``rows`` are its first. Raises :class:`DamagedRow`."""
    before, kept = (loaded.aggregate, loaded.kept) if loaded else (None, 0)
    try:
        after = fold(before, map(from_row, rows))
    except DamagedRow:
        raise
    except Exception as error:
        raise _first_unfit_row(before, rows, error) from error
    return Loaded(after, row_hash(rows[-1]), kept)


def _first_unfit_row(aggregate: Aggregate | None, rows: Sequence[StoredEvent], error: Exception) -> Exception:
    """Return a :class:`DamagedRow` for the first row that cannot be folded; ``error`` if all can."""
    for row in rows:
        try:
            aggregate = fold(aggregate, [from_row(row)])
        except Exception as found:
            why = f"{type(found).__name__}: {found}"
            return DamagedRow(UUID(str(row.originator_id)), row.originator_version, "unfit", why)
    return error


def _hash_if_bytes(row: StoredEvent) -> str | None:
    return row_hash(row) if isinstance(row.state, bytes) else None


def _check_unbroken(rows: Sequence[A], aggregate_id: UUID, after: int, to: int | None) -> Sequence[A]:
    """Return ``rows``. Raises :class:`DamagedRow` for a gap after event ``after``, or an end before ``to``."""
    number = after + len(rows)
    if rows and rows[-1].originator_version != number:  # because numbers are unique and ascend
        found = {row.originator_version for row in rows}
        missing = next(number for number in itertools.count(after + 1) if number not in found)
        raise DamagedRow(aggregate_id, missing, "missing")
    if to is not None and number < to:
        raise DamagedRow(aggregate_id, number + 1, "missing")
    return rows


def _versions(known: Iterable[Loaded]) -> dict[UUID, int]:
    return {loaded.aggregate.id: loaded.aggregate.version for loaded in known}


def _rows_by_aggregate(rows: Iterable[StoredEvent]) -> dict[UUID, list[StoredEvent]]:
    return {aggregate_id: list(history) for aggregate_id, history in groupby(rows, attrgetter("originator_id"))}


def settings_for(url: str) -> dict[str, str]:
    """Return the library's settings for a store URL. Raises ``ValueError`` for an unknown one."""
    place = parse_store_url(url)
    if isinstance(place, SqliteFile):
        return {
            "PERSISTENCE_MODULE": "referee.store.sqlite:Factory",
            "SQLITE_DBNAME": place.path,
            "SQLITE_LOCK_TIMEOUT": "10",
        }
    named = ("dbname", "host", "port", "user", "password")
    return {
        "PERSISTENCE_MODULE": "referee.store.postgres:Factory",
        **{f"POSTGRES_{name.upper()}": str(place.parameters.get(name, "")) for name in named},
        "POSTGRES_URL": url,  # because the library has no settings for other parameters
        "POSTGRES_SCHEMA": place.schema,
        "POSTGRES_POOL_SIZE": "2",
        "POSTGRES_MAX_OVERFLOW": "11",
        "POSTGRES_LOCK_TIMEOUT": "2",
    }


class Referee(Application[UUID]):
    name = "referee"
    is_snapshotting_enabled = True

    def __init__(self, env: Mapping[str, str]) -> None:
        """Open the store of the settings ``env``. Raises ``OlderStore`` if the rows have an earlier form."""
        super().__init__(env)
        self._store = cast(Store, self.recorder)
        self.attempts_recorder = self.factory.aggregate_recorder("attempts")
        """Recorder of refused attempts (:mod:`referee.store.attempts`)."""
        try:
            refuse_older(self._store.select_ends())
        except BaseException:
            self.close()
            raise

    def construct_mapper(self) -> Mapper[UUID]:
        return JsonRows(transcoder=self.factory.transcoder())

    def rows(self, aggregate_id: UUID, *, after: int = 0, to: int | None = None) -> Sequence[Row]:
        """Return an aggregate's rows after event ``after``, up to ``to``. Raises :class:`DamagedRow` for a gap."""
        rows = self._store.select_rows(aggregate_id, gt=after or None, lte=to)
        return _check_unbroken(rows, aggregate_id, after, to)

    def placed(self, after: int, limit: int) -> list[Placed]:
        """Return at most ``limit`` rows of all aggregates after position ``after``, in order."""
        return self._store.select_page(after, limit)

    def placed_of_aggregate(self, aggregate_id: UUID, after: int, limit: int) -> list[Placed]:
        """Return at most ``limit`` rows of an aggregate after event ``after``, in order."""
        return self._store.select_history(aggregate_id, after, limit)

    def history(
        self, aggregate_id: UUID, *, after: int = 0, to: int | None = None, limit: int | None = None
    ) -> list[Recorded]:
        """Return an aggregate's events after event ``after``, up to ``to`` and at most ``limit``.

        Raises :class:`DamagedRow` if one is missing or unreadable.
        """
        stored = self.recorder.select_events(aggregate_id, gt=after or None, lte=to, limit=limit)
        return [from_row(row) for row in _check_unbroken(stored, aggregate_id, after, to if limit is None else None)]

    def first_of_act(self, recorded: Recorded, earlier: Sequence[Row] = ()) -> int:
        """Return the number of the first event of the act of ``recorded``. ``earlier``: rows just before it, if read.

        Raises :class:`DamagedRow` if one is missing or unreadable.
        """
        while recorded.request is None and (end := recorded.originator_version - 1):
            rows = earlier or self.rows(recorded.originator_id, after=max(0, end - ACT_EVENTS), to=end)
            for row in reversed(rows):
                before = from_row(row)
                if recorded.begins_after(before):
                    return recorded.originator_version
                recorded = before
            earlier = ()
        return recorded.originator_version

    def load(self, aggregate_id: UUID, *, to: int | None = None) -> Loaded:
        """Return an aggregate after event ``to``, or after the last if there is no event ``to``.

        Raises :class:`UnknownAggregate` if it has no rows, :class:`DamagedRow` if one is missing or unusable.
        """
        for snapshot in self._snapshots(aggregate_id, to):
            version = snapshot.aggregate.version
            rows = self.recorder.select_events(aggregate_id, gt=version - 1 or None, lte=to)
            if rows and rows[0].originator_version == version and _hash_if_bytes(rows[0]) == snapshot.head:
                try:
                    return _after_rows(snapshot, rows[1:]) if len(rows) > 1 else snapshot
                except DamagedRow as damaged:
                    if damaged.fault != "unfit":
                        raise
            log.warning("the snapshot of %s after event %d is not of its history", aggregate_id, version)
        rows = self.recorder.select_events(aggregate_id, lte=to)
        if rows:
            return _after_rows(None, rows)
        if to is not None and self.recorder.select_events(aggregate_id, limit=1):
            raise DamagedRow(aggregate_id, 1, "missing")
        raise UnknownAggregate(str(aggregate_id))

    def exists(self, aggregate_id: UUID) -> bool:
        return bool(self.recorder.select_events(aggregate_id, limit=1))

    def opening_act(self, aggregate_id: UUID, actor: Actor, key: str) -> KeyedAct | None:
        """Return the act of this actor and key in an aggregate; ``None`` if the aggregate does not exist.

        Raises :class:`OpenedByAnother` if the aggregate has no such act.
        """
        if not self.exists(aggregate_id):
            return None
        act = self.act(aggregate_id, actor, key)
        if act is None:
            raise OpenedByAnother
        return act

    def replay(self, aggregate_id: UUID, at: int) -> Aggregate:
        """Return the aggregate of :meth:`load` with ``to=at``."""
        return self.load(aggregate_id, to=at).aggregate

    def newer_rows(self, known: Iterable[Loaded]) -> dict[UUID, list[StoredEvent]]:
        """Return, by aggregate, rows after the known versions. Omits aggregates without such rows."""
        return _rows_by_aggregate(self._store.select_newer(_versions(known)))

    def after_rows(self, loaded: Loaded, rows: Sequence[StoredEvent]) -> Loaded:
        """Return an aggregate after at least one further row. If the first does not follow, :meth:`load` it again."""
        if from_row(rows[0]).prev != loaded.head:
            return self.load(loaded.aggregate.id)
        return _after_rows(loaded, rows)

    def acts(self, keys: Iterable[tuple[UUID, bytes]]) -> dict[tuple[UUID, bytes], KeyedAct]:
        """Return, by aggregate and key, the stored acts. Reads an act with impossible numbers from the rows."""
        found = {(act.aggregate_id, act.key): act for act in self._store.select_acts(keys)}
        for name, act in list(found.items()):
            if not act.is_whole:
                del found[name]
                if (made := self._act_from_rows(*name)) is not None:
                    found[name] = made
        return found

    def _act_from_rows(self, aggregate_id: UUID, key: bytes) -> KeyedAct | None:
        rows = self.recorder.select_events(aggregate_id)
        made = keyed_acts((aggregate_id, row.originator_version, row.state) for row in rows)
        return next((act for act in made if act.key == key), None)

    def act(self, aggregate_id: UUID, actor: Actor, key: str) -> KeyedAct | None:
        """Return the act of this actor and key; ``None`` if it is not stored."""
        name = aggregate_id, key_of(actor, key)
        return self.acts([name]).get(name)

    @cached_property
    def secret(self) -> bytes:
        """Random secret of this store."""
        return self._store.select_secret()

    def insert(
        self, rows: Sequence[StoredEvent], acts: Sequence[KeyedAct], known: Iterable[Loaded] = ()
    ) -> dict[UUID, list[StoredEvent]]:
        """Store rows and their keyed acts, all or none. Then return :meth:`newer_rows` for ``known``.

        Raises the library's ``IntegrityError`` if a row or act exists.
        """
        return _rows_by_aggregate(self._store.store(rows, acts, _versions(known)))

    def is_stored(self, row: StoredEvent) -> bool:
        """Wait for transactions in progress. Return whether exactly this row is stored."""
        self._store.wait_for_writes()
        version = row.originator_version
        return row in self.recorder.select_events(row.originator_id, gt=version - 1, lte=version)

    def take_snapshots(self, due: Sequence[Loaded]) -> None:
        """Store snapshots that do not exist yet."""
        assert self.snapshots is not None
        rows = [snapshot_row(loaded) for loaded in due]
        try:
            self.snapshots.recorder.insert_events(rows)
        except IntegrityError:
            for row in rows:  # because a different process stored some first
                with suppress(IntegrityError):
                    self.snapshots.recorder.insert_events([row])

    def _snapshots(self, aggregate_id: UUID, to: int | None) -> Iterator[Loaded]:
        """Yield readable snapshots up to event ``to``, the latest first."""
        assert self.snapshots is not None
        for _ in range(SNAPSHOTS_TRIED):
            rows = self.snapshots.recorder.select_events(aggregate_id, lte=to, desc=True, limit=1)
            if not rows:
                return
            for row in rows:
                to = row.originator_version - 1
                try:
                    snapshot = _from_snapshot(row)
                except Exception:  # because a snapshot only makes loading faster
                    log.info("the snapshot of %s cannot be read: folding its history", aggregate_id)
                    continue
                if snapshot is not None:
                    yield snapshot


def construct(url: str, **settings: Any) -> Referee:
    """Open the store at ``url``. ``settings``: further settings of the library.

    Raises ``ValueError`` for an unknown URL, and ``OlderStore``.
    """
    return Referee(env={**settings_for(url), **{key: str(value) for key, value in settings.items()}})
