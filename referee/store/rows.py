"""Between recorded events and stored rows: plain JSON, chained by hash, readable for ever.

A row's topic names the type of its event; its state is
``{"at", "actor", "act", "digest", "prev", "salt", "request"?, "event"}``. ``request`` stands in the first row that an
act made: what was asked, as it was asked. ``prev`` is the SHA-256 over the aggregate's row before,
so that its rows form a chain from the first event on: over a zero byte, the aggregate's id, the row's number and its
topic, each with a line break behind it, and the stored bytes. So a row cannot be passed off as another's, or as of
another place. The same hash is the row's leaf in the tree over the log (:mod:`referee.log.tree`).

``salt`` is 16 random bytes in base64, which the service draws for each row and shows only with the whole row. Leaves
are public. Without the salt a caller who guesses all the rest of a hidden row cannot compute the leaf, and so cannot
check the guess. A row without a salt of 16 bytes is damaged.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from functools import lru_cache
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

import msgspec
from eventsourcing.persistence import Mapper, StoredEvent

from referee.actors import Actor
from referee.log.tree import FIRST as FIRST
from referee.log.tree import leaf_hash
from referee.store.aggregate import event_types
from referee.store.damaged import DamagedRow
from referee.visibility import SALT_BYTES, Event, Recorded

_NOTHING = msgspec.Raw()
E = TypeVar("E", bound=Event)
Salt = Annotated[bytes, msgspec.Meta(min_length=SALT_BYTES, max_length=SALT_BYTES)]


class _Row(msgspec.Struct, Generic[E], frozen=True, kw_only=True, omit_defaults=True):
    at: datetime
    actor: Actor
    act_id: str = msgspec.field(name="act")
    digest: str
    prev: str
    salt: Salt
    request: msgspec.Raw = _NOTHING
    event: E


class _Shape(msgspec.Struct):
    """The parts of a row that show its shape."""

    prev: str
    event: msgspec.Raw
    salt: msgspec.Raw = _NOTHING


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
_shape_of_row = msgspec.json.Decoder(_Shape).decode


def make_ready() -> None:
    """Makes what reads the rows of every topic that there is."""
    for topic in event_types():
        _decoders[topic]


def to_row(recorded: Recorded) -> StoredEvent:
    """Return the row that keeps a recorded event, which has its salt."""
    assert len(recorded.salt) == SALT_BYTES, "a row without a salt could be guessed by its hash"
    row = _Row(
        at=recorded.at,
        actor=recorded.actor,
        act_id=recorded.act_id,
        digest=recorded.digest,
        prev=recorded.prev,
        salt=recorded.salt,
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
        row.salt,
    )


class OlderStore(Exception):
    """The rows of a store have no salt, so this release cannot read any of them."""

    def __str__(self) -> str:
        return (
            "the rows were stored by an earlier commit of Knacka: they have no salt, and this release cannot read "
            "them. Begin with an empty store (KNACKA_DATABASE_URL), or run the commit that stored them"
        )


def refuse_older(states: Iterable[Any]) -> None:
    """Raise :class:`OlderStore` if each of these is a row but for its salt, which it lacks. ``states``: those of the
    first and the last row of a log. If only one of the two lacks its salt, that row was edited and is damaged."""
    shapes = [*map(_is_older, states)]
    if shapes and all(shapes):
        raise OlderStore


def _is_older(state: Any) -> bool:
    try:
        return _shape_of_row(state).salt is _NOTHING
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return False


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
