"""Between recorded events and stored rows: plain JSON, chained by hash, readable for ever.

A row's topic names the type of its event; its state is
``{"at", "actor", "act", "digest", "prev", "request"?, "event"}``. ``request`` stands in the first row that an act
made: what was asked, as it was asked. ``prev`` is the SHA-256 over the aggregate's row before,
so that its rows form a chain from the first event on: over a zero byte, the aggregate's id, the row's number and its
topic, each with a line break behind it, and the stored bytes. So a row cannot be passed off as another's, or as of
another place. The same hash is the row's leaf in the tree over the log (:mod:`referee.log.tree`).
"""

from collections.abc import Callable
from datetime import datetime
from functools import lru_cache
from typing import Any, Generic, TypeVar
from uuid import UUID

import msgspec
from eventsourcing.persistence import Mapper, StoredEvent

from referee.actors import Actor
from referee.log.tree import FIRST as FIRST
from referee.log.tree import leaf_hash
from referee.store.aggregate import event_types
from referee.store.damaged import DamagedRow
from referee.visibility import Event, Recorded

_NOTHING = msgspec.Raw()
E = TypeVar("E", bound=Event)


class _Row(msgspec.Struct, Generic[E], frozen=True, kw_only=True, omit_defaults=True):
    at: datetime
    actor: Actor
    act_id: str = msgspec.field(name="act")
    digest: str
    prev: str
    request: msgspec.Raw = _NOTHING
    event: E


class ActOfRow(msgspec.Struct, frozen=True):
    """Only what tells whose act a row is."""

    actor: Actor
    act_id: str = msgspec.field(name="act")
    digest: str


class _Decoders(dict[str, Callable[[bytes], _Row[Any]]]):
    """What reads a row, by its topic; made when such a row is first read."""

    def __missing__(self, topic: str) -> Callable[[bytes], _Row[Any]]:
        row: Any = _Row
        decode: Callable[[bytes], _Row[Any]] = msgspec.json.Decoder(row[event_types()[topic]]).decode
        self[topic] = decode
        return decode


_encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
_decoders = _Decoders()
act_of_row = msgspec.json.Decoder(ActOfRow).decode


def make_ready() -> None:
    """Makes what reads the rows of every topic that there is."""
    for topic in event_types():
        _decoders[topic]


def to_row(recorded: Recorded) -> StoredEvent:
    """The row that keeps a recorded event."""
    row = _Row(
        at=recorded.at,
        actor=recorded.actor,
        act_id=recorded.act_id,
        digest=recorded.digest,
        prev=recorded.prev,
        request=_NOTHING if recorded.request is None else recorded.request,
        event=recorded.event,
    )
    return StoredEvent(recorded.originator_id, recorded.originator_version, recorded.event.TOPIC, _encode(row))


def from_row(stored: StoredEvent) -> Recorded:
    """Return the recorded event that a row keeps. Raises :class:`~referee.store.damaged.DamagedRow`."""
    aggregate_id, number = stored.originator_id, stored.originator_version
    own = aggregate_id if isinstance(aggregate_id, UUID) else UUID(aggregate_id)
    try:
        row = _decoders[stored.topic](stored.state)
    except KeyError:
        raise DamagedRow(own, number, "unreadable", f"there is no topic {stored.topic}") from None
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise DamagedRow(own, number, "unreadable", str(error)) from None
    if not isinstance(stored.state, bytes):
        raise DamagedRow(own, number, "unreadable", "it was written as text")
    return Recorded(
        own,
        number,
        row.at,
        row.actor,
        row.act_id,
        row.digest,
        row.prev,
        row.event,
        None if row.request is _NOTHING else row.request,
    )


@lru_cache(4096)  # to write an id takes longer than to hash the row
def _written(aggregate_id: UUID | str) -> str:
    return str(UUID(str(aggregate_id)))


def row_hash(stored: StoredEvent) -> str:
    """What the next row of the aggregate names as ``prev``, and its leaf in the tree over the whole log."""
    return leaf_hash(_written(stored.originator_id), stored.originator_version, stored.topic, stored.state).hex()


class JsonRows(Mapper[UUID]):
    """The library's seam for the two functions above."""

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        """The row of a recorded event."""
        return to_row(domain_event)

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        """The recorded event of a row."""
        return from_row(stored_event)
