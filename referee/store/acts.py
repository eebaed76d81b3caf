"""Acts that came with an Idempotency-Key: kept beside the events, so that a repeat is found without reading a match.

The events tell all of it: each row names its act. What is here is written with them in one transaction, and where it
is missing it is made anew from them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import groupby
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import msgspec
from eventsourcing.persistence import StoredEvent

from referee.actors import Actor
from referee.store.rows import act_of_row

OWN = "~"
"""Begins the ids that the desk gives to acts without an Idempotency-Key."""


class KeyedAct(NamedTuple):
    """Which events of an aggregate an act made, from the first to the last."""

    aggregate_id: UUID
    key: bytes
    first: int
    last: int

    @property
    def is_whole(self) -> bool:
        """Whether these can be numbers of events. SQLite takes any value for one."""
        numbers = self.first, self.last
        return all(isinstance(one, int) for one in numbers) and 0 < self.first <= self.last


class Store(Protocol):
    """What the desk needs of a store beyond the library's recorder."""

    def store(
        self, rows: Sequence[StoredEvent], acts: Sequence[KeyedAct], versions: Mapping[UUID, int]
    ) -> Sequence[StoredEvent]:
        """Stores rows and the acts that made them, or nothing; then what :meth:`select_newer` gives."""

    def settle(self) -> None:
        """Waits for a transaction that may still be on its way to its end."""

    def select_acts(self, keys: Iterable[tuple[UUID, bytes]]) -> list[KeyedAct]:
        """Those of the acts that are stored."""

    def select_secret(self) -> bytes:
        """What only this store knows: made when its tables were, the same for all who use it."""

    def select_ends(self) -> list[Any]:
        """Return the states of the first and of the last row of the log, none for an empty log."""

    def select_newer(self, versions: Mapping[UUID, int]) -> list[StoredEvent]:
        """The rows of these aggregates after these versions, those of each together and in order."""


SECRET_BYTES = 32
"""Of the secret of a store."""


def key_of(actor: Actor, key: str) -> bytes:
    """Stands for what an actor calls an act, in few bytes."""
    return sha256(f"{actor} {key}".encode()).digest()[:16]


def keyed_acts(rows: Iterable[tuple[UUID | str, int, bytes]]) -> Iterator[KeyedAct]:
    """The acts with a key that made these rows: id, number and state in the order in which they were stored."""

    def act_of(row: tuple[UUID | str, int, bytes]) -> tuple[UUID | str, Actor, str]:
        try:
            act = act_of_row(row[2])
        except (msgspec.MsgspecError, ValueError, TypeError):  # a row that cannot be read hides no other
            return row[0], "", OWN
        return row[0], act.actor, act.act_id

    for (aggregate_id, actor, act_id), made in groupby(rows, act_of):
        numbers = [number for _, number, _ in made]
        if not act_id.startswith(OWN):
            yield KeyedAct(UUID(str(aggregate_id)), key_of(actor, act_id), numbers[0], numbers[-1])
