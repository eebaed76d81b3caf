"""Between recorded events and stored rows: plain JSON, chained by hash, readable for ever.

A row's topic names the type of its event; its state is
``{"at", "actor", "act", "digest", "prev", "event"}``. ``prev`` is the SHA-256 over topic and stored bytes of the
match's row before, so that a match's rows form a chain from its first event on.
"""

from collections.abc import Callable
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import msgspec
from eventsourcing.persistence import Mapper, StoredEvent

import referee.events as common
from referee.actors import Actor
from referee.events import Event, Recorded
from referee.games import RULESETS

FIRST = "0" * 64
"""``prev`` of a match's first row."""


class _Row(msgspec.Struct, frozen=True):
    at: datetime
    actor: Actor
    act_id: str = msgspec.field(name="act")
    digest: str
    prev: str
    event: msgspec.Raw


class ActOfRow(msgspec.Struct, frozen=True):
    """Only what tells whose act a row is."""

    actor: Actor
    act_id: str = msgspec.field(name="act")
    digest: str


def _event_types() -> dict[str, type[Event]]:
    types = [kind for kind in vars(common).values() if isinstance(kind, type) and issubclass(kind, Event)]
    for ruleset in RULESETS.values():
        types += ruleset.events
    topics: dict[str, type[Event]] = {}
    for kind in types:
        if kind is Event:
            continue
        assert topics.setdefault(kind.TOPIC, kind) is kind, f"topic {kind.TOPIC} stands for two types"
    return topics


EVENT_TYPES: dict[str, type[Event]] = _event_types()
"""Every topic ever stored, and the type that reads it."""

_encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode
_row = msgspec.json.Decoder(_Row).decode
_decoders = {topic: msgspec.json.Decoder(kind).decode for topic, kind in EVENT_TYPES.items()}
act_of_row = msgspec.json.Decoder(ActOfRow).decode


def to_row(recorded: Recorded) -> StoredEvent:
    """The row that keeps a recorded event."""
    event = recorded.event
    row = _Row(
        recorded.at,
        recorded.actor,
        recorded.act_id,
        recorded.digest,
        recorded.prev,
        msgspec.Raw(_encode(event)),
    )
    return StoredEvent(recorded.originator_id, recorded.originator_version, event.TOPIC, _encode(row))


def from_row(stored: StoredEvent) -> Recorded:
    """The recorded event that a row keeps."""
    row = _row(stored.state)
    match_id = stored.originator_id
    return Recorded(
        match_id if isinstance(match_id, UUID) else UUID(match_id),
        stored.originator_version,
        row.at,
        row.actor,
        row.act_id,
        row.digest,
        row.prev,
        _decoders[stored.topic](row.event),
    )


def row_hash(stored: StoredEvent) -> str:
    """What the next row of the match names as ``prev``."""
    return sha256(stored.topic.encode() + stored.state).hexdigest()


class JsonRows(Mapper[UUID]):
    """The library's seam for the two functions above."""

    def to_stored_event(self, domain_event: Any) -> StoredEvent:
        """The row of a recorded event."""
        return to_row(domain_event)

    def to_domain_event(self, stored_event: StoredEvent) -> Any:
        """The recorded event of a row."""
        return from_row(stored_event)
