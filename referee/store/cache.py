"""A cache of aggregates, bounded by their size in memory."""

import threading
from collections import OrderedDict
from collections.abc import Iterable
from uuid import UUID

import msgspec

from referee.store.aggregate import Aggregate
from referee.store.store import Loaded

MEGABYTE = 1_000_000
OVERTAKEN_MAX = 10_000
"""Maximum aggregates remembered as outdated. Above it, the oldest leaves the cache."""
MEASURED_EVERY = 16
"""Events after which an aggregate's size is measured again."""
OVERHEAD, FACTOR = 500, 3
"""Estimated bytes in memory: ``OVERHEAD`` plus ``FACTOR`` times the JSON bytes."""


class _Cached(msgspec.Struct, frozen=True):
    """``measured``: version when the ``size`` in bytes was estimated."""

    loaded: Loaded
    size: int
    measured: int


class Cache:
    """A thread-safe cache. Above ``bytes_max`` it drops the least recently used aggregates, but keeps one."""

    def __init__(self, bytes_max: int) -> None:
        self._bytes_max = bytes_max
        self._places: OrderedDict[UUID, _Cached] = OrderedDict()
        self._overtaken: OrderedDict[UUID, int] = OrderedDict()
        self._lock = threading.Lock()
        self.size = 0
        """Estimated bytes of all cached aggregates."""

    def __len__(self) -> int:
        return len(self._places)

    def get(self, aggregate_id: UUID) -> Loaded | None:
        """Return the cached aggregate, if any, even if it is outdated."""
        place = self._places.get(aggregate_id)
        return place.loaded if place else None

    def use(self, aggregate_id: UUID) -> Loaded | None:
        """Return the cached aggregate, if any, and mark it as recently used."""
        try:
            self._places.move_to_end(aggregate_id)
            return self._places[aggregate_id].loaded
        except KeyError:
            return None

    def is_behind(self, aggregate_id: UUID) -> bool:
        """Return whether an aggregate is cached and known to have later events."""
        if not self._overtaken:
            return False
        place = self._places.get(aggregate_id)
        return place is not None and place.loaded.aggregate.version < self._overtaken.get(aggregate_id, 0)

    def mark_stored(self, aggregate_id: UUID, version: int) -> None:
        """Note that event ``version`` is stored, even if not cached, because a thread may be loading an
        earlier version."""
        with self._lock:
            place = self._places.get(aggregate_id)
            if place is not None and place.loaded.aggregate.version >= version:
                return
            self._overtaken[aggregate_id] = max(version, self._overtaken.get(aggregate_id, 0))
            self._overtaken.move_to_end(aggregate_id)
            while len(self._overtaken) > OVERTAKEN_MAX:
                self._drop(self._overtaken.popitem(last=False)[0])

    def keep(self, aggregates: Iterable[Loaded]) -> None:
        """Cache each aggregate unless a later version is cached."""
        with self._lock:
            for loaded in aggregates:
                self._keep(loaded)
            while self.size > self._bytes_max and len(self._places) > 1:
                self._drop(next(iter(self._places)))

    def forget(self, ids: Iterable[UUID]) -> None:
        with self._lock:
            for aggregate_id in ids:
                self._drop(aggregate_id)

    def _keep(self, loaded: Loaded) -> None:
        aggregate_id, version = loaded.aggregate.id, loaded.aggregate.version
        if self._overtaken and version >= self._overtaken.get(aggregate_id, 0):
            self._overtaken.pop(aggregate_id, None)
        place = self._places.get(aggregate_id)
        if place is not None and version < place.loaded.aggregate.version:
            return
        if place is None or version >= place.measured + MEASURED_EVERY:
            size, measured = size_of(loaded.aggregate), version
        else:
            size, measured = place.size, place.measured
        self.size += size - (place.size if place else 0)
        self._places[aggregate_id] = _Cached(loaded, size, measured)
        self._places.move_to_end(aggregate_id)

    def _drop(self, aggregate_id: UUID) -> None:
        place = self._places.pop(aggregate_id, None)
        self.size -= place.size if place else 0


def size_of(aggregate: Aggregate) -> int:
    return OVERHEAD + FACTOR * len(msgspec.json.encode(aggregate))
