"""Conversion between recorded events and stored rows: plain JSON, chained by hash.

A row's topic names its event type. A row's state is ``{"v", "at", "actor", "act", "digest", "prev", "salt",
"request"?, "event"}``. ``v`` is :data:`FORM`. ``digest`` is a hash of the request. Only the first row of an act has
the ``request``. An opening has none, because its request is the event. ``prev`` is the hash of the aggregate's
previous row. A row's hash is its leaf in the log.

``salt`` is 16 random bytes in base64, shown only with the whole row. Without it, a caller could check a guess of a
hidden row against the public leaf.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache, lru_cache
from typing import Annotated, Any, Generic, Literal, TypeVar
from uuid import UUID

import msgspec
from eventsourcing.persistence import Mapper, StoredEvent

from referee.actors import Actor
from referee.log.tree import HASH_BEFORE_FIRST as HASH_BEFORE_FIRST
from referee.log.tree import leaf_hash, leaf_hashes
from referee.store.aggregate import event_type, event_types
from referee.store.damaged import DamagedRow
from referee.visibility import SALT_BYTES, Event, Recorded

NO_REQUEST = msgspec.Raw()
E = TypeVar("E", bound=Event)
Salt = Annotated[bytes, msgspec.Meta(min_length=SALT_BYTES, max_length=SALT_BYTES)]


FORM: Literal[2] = 2
"""Form of rows. Earlier releases wrote a lower one or none."""


class Row(msgspec.Struct, frozen=True, gc=False):
    """A row as read, because the library's ``StoredEvent`` takes six times as long to make."""

    originator_id: UUID
    originator_version: int
    topic: str
    state: bytes


AnyRow = StoredEvent | Row


class _Head(msgspec.Struct, frozen=True, gc=False, kw_only=True, omit_defaults=True):
    """Fields of a row, except the event."""

    form: Literal[2] = msgspec.field(name="v")
    at: datetime
    actor: str
    act_id: str = msgspec.field(name="act")
    digest: str
    prev: str
    salt: Salt
    request: msgspec.Raw = NO_REQUEST


class _Row(_Head, Generic[E], frozen=True, kw_only=True):
    event: E


class RawRow(_Head, frozen=True, gc=False, kw_only=True):
    """A row whose event is not decoded."""

    event: msgspec.Raw


class _Form(msgspec.Struct):
    """Fields that show whether a row has an earlier form."""

    prev: str
    event: msgspec.Raw
    form: int = msgspec.field(name="v", default=0)


class ActOfRow(msgspec.Struct, frozen=True):
    """Fields of a row that identify its act."""

    actor: Actor
    act_id: str = msgspec.field(name="act")
    digest: str


R = TypeVar("R", bound=_Head)


_encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
act_of_row = msgspec.json.Decoder(ActOfRow).decode
_form_of_row = msgspec.json.Decoder(_Form).decode
_decode_raw = msgspec.json.Decoder(RawRow).decode


@cache
def _decoder(topic: str) -> Callable[[bytes], _Row[Any]]:
    row: Any = _Row
    decode: Callable[[bytes], _Row[Any]] = msgspec.json.Decoder(row[event_type(topic)]).decode
    return decode


@cache
def _raw_decoder(topic: str) -> Callable[[bytes], RawRow]:
    event_type(topic)
    return _decode_raw


@lru_cache(1024)
def _check_actor(text: str) -> None:
    """Raise ``ValidationError`` if the text is no :data:`Actor`. Cached, because the pattern is slow."""
    msgspec.convert(text, Actor)


def prepare_decoders() -> None:
    for topic in event_types():
        _decoder(topic)


def to_row(recorded: Recorded) -> StoredEvent:
    """Return the row of a recorded event. Raises ``AssertionError`` if it has no salt."""
    assert len(recorded.salt) == SALT_BYTES, "a row without a salt could be guessed by its hash"
    row = _Row(
        form=FORM,
        at=recorded.at,
        actor=recorded.actor,
        act_id=recorded.act_id,
        digest=recorded.digest,
        prev=recorded.prev,
        salt=recorded.salt,
        request=NO_REQUEST if recorded.request is None else recorded.request,
        event=recorded.event,
    )
    return StoredEvent(recorded.originator_id, recorded.originator_version, recorded.event.TOPIC, _encode(row))


def from_row(stored: AnyRow) -> Recorded:
    """Return the recorded event in a row. Raises :class:`DamagedRow` if it is unreadable."""
    (row,) = _decoded((stored,), _decoder)
    aggregate_id = stored.originator_id
    return Recorded(
        aggregate_id if isinstance(aggregate_id, UUID) else UUID(aggregate_id),
        stored.originator_version,
        row.at,
        row.actor,
        row.act_id,
        row.digest,
        row.prev,
        row.event,
        None if row.request is NO_REQUEST else row.request,
        row.salt,
    )


def raw_rows(stored: Iterable[AnyRow]) -> list[RawRow]:
    """Return rows with raw events. Raises :class:`DamagedRow` if a topic or the rest of a row is unreadable."""
    return _decoded(stored, _raw_decoder)


def _decoded(rows: Iterable[AnyRow], decoder_of: Callable[[str], Callable[[bytes], R]]) -> list[R]:
    found = []
    for stored in rows:
        try:
            row = decoder_of(stored.topic)(stored.state)
            _check_actor(row.actor)
        except KeyError:
            fault = f"there is no topic {stored.topic}"
        except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
            fault = str(error)
        else:
            if isinstance(stored.state, bytes):
                found.append(row)
                continue
            fault = "it was written as text"
        raise DamagedRow(UUID(str(stored.originator_id)), stored.originator_version, "unreadable", fault)
    return found


class OlderStore(Exception):
    """The rows of the store are in an earlier form, which this release cannot read."""

    def __str__(self) -> str:
        return (
            "the rows were stored by an earlier commit of Knacka in a different form, and this release cannot "
            "read them. Begin with an empty store (KNACKA_DATABASE_URL), or run the commit that stored them"
        )


def refuse_older(states: Iterable[Any]) -> None:
    """Raise :class:`OlderStore` if there are states and all have an earlier form."""
    older = [*map(_is_older, states)]
    if older and all(older):
        raise OlderStore


def _is_older(state: Any) -> bool:
    try:
        return _form_of_row(state).form < FORM
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError):
        return False


@lru_cache(4096)  # because formatting an id takes longer than hashing the row
def _id_text(aggregate_id: UUID | str) -> str:
    return str(UUID(str(aggregate_id)))


def row_hash(stored: AnyRow) -> str:
    """Return a row's leaf hash in hexadecimal."""
    return leaf_hash(_id_text(stored.originator_id), stored.originator_version, stored.topic, stored.state).hex()


def row_hashes(rows: Sequence[Row]) -> list[str]:
    """Return :func:`row_hash` of each row of one aggregate."""
    own = _id_text(rows[0].originator_id) if rows else ""
    leaves = [(0, own, row.originator_version, row.topic, row.state) for row in rows]
    digits = leaf_hashes(leaves, {own: own}).hex()
    return [digits[at : at + 64] for at in range(0, len(digits), 64)]


class JsonRows(Mapper[UUID]):
    """:func:`to_row` and :func:`from_row` in the form that the library calls."""

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        return to_row(domain_event)

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        return from_row(stored_event)
