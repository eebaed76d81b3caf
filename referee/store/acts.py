"""Keyed acts (acts with an Idempotency-Key), stored so that a repeat is found without reading the aggregate."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import msgspec
from eventsourcing.persistence import StoredEvent

from referee.actors import Actor
from referee.store.rows import Row, act_of_row

OWN_KEY_PREFIX = "~"
"""Prefix of the ids of acts without an Idempotency-Key."""


Placed = tuple[int, str, int, str, bytes]
"""A row: position in the store, aggregate, number, topic and state. A tuple, because making the library's object
takes longer than decoding the row."""


class KeyedAct(NamedTuple):
    """``key``: :func:`key_of` the act. ``first``, ``last``: numbers of the act's first and last event."""

    aggregate_id: UUID
    key: bytes
    first: int
    last: int

    @property
    def is_whole(self) -> bool:
        """False if ``first`` and ``last`` cannot be event numbers. SQLite accepts any value."""
        numbers = self.first, self.last
        return all(isinstance(one, int) for one in numbers) and 0 < self.first <= self.last


class NothingSent(Exception):
    """Cause of a library error if nothing was sent to the store."""


def means_unsent(error: Exception) -> bool:
    """Return whether the error's cause is :class:`NothingSent`."""
    return isinstance(error.__cause__, NothingSent)


class Store(Protocol):
    """Methods that our recorders add to the library's."""

    def store(
        self, rows: Sequence[StoredEvent], acts: Sequence[KeyedAct], versions: Mapping[UUID, int]
    ) -> Sequence[StoredEvent]:
        """Store all rows and acts or none, then return :meth:`select_newer` for ``versions``.

        Raises the library's ``IntegrityError`` if a row's number or an act is already stored.
        """

    def wait_for_writes(self) -> None:
        """Wait until no failed transaction can store its rows later."""

    def select_acts(self, keys: Iterable[tuple[UUID, bytes]]) -> list[KeyedAct]:
        """Return the stored acts with these pairs of aggregate and :func:`key_of`."""

    def select_secret(self) -> bytes:
        """Return the secret made with the tables."""

    def select_ends(self) -> list[Any]:
        """Return the states of the store's first and last row; empty without rows."""

    def select_rows(self, aggregate_id: UUID, *, gt: int | None = None, lte: int | None = None) -> list[Row]:
        """Return an aggregate's rows after number ``gt``, up to number ``lte``, in order."""

    def select_newer(self, versions: Mapping[UUID, int]) -> list[StoredEvent]:
        """Return the rows after these versions of aggregates, grouped by aggregate, in order."""

    def select_page(self, after: int, limit: int) -> list[Placed]:
        """Return at most ``limit`` rows of the store after position ``after``, in order."""

    def select_history(self, aggregate_id: UUID, after: int, limit: int) -> list[Placed]:
        """Return at most ``limit`` rows of an aggregate after number ``after``, in order."""


SECRET_BYTES = 32


def key_of(actor: Actor, key: str) -> bytes:
    """Return a 16-byte hash of an actor and an Idempotency-Key."""
    return sha256(f"{actor} {key}".encode()).digest()[:16]


def keyed_acts(rows: Iterable[tuple[UUID | str, int, bytes]]) -> Iterator[KeyedAct]:
    """Yield the keyed acts of rows (aggregate, number, state), which must be in the order of storing."""

    def act_of(row: tuple[UUID | str, int, bytes]) -> tuple[UUID | str, Actor, str]:
        try:
            act = act_of_row(row[2])
        except (msgspec.MsgspecError, ValueError, TypeError):  # because an unreadable row names no act
            return row[0], "", OWN_KEY_PREFIX
        return row[0], act.actor, act.act_id

    for (aggregate_id, actor, act_id), made in groupby(rows, act_of):
        numbers = [number for _, number, _ in made]
        if not act_id.startswith(OWN_KEY_PREFIX):
            yield KeyedAct(UUID(str(aggregate_id)), key_of(actor, act_id), numbers[0], numbers[-1])
