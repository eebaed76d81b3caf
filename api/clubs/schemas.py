"""What several calls about clubs answer with."""

from collections.abc import Mapping
from typing import Annotated, Any

from msgspec import Meta
from msgspec.structs import fields, replace

from api.access.codes import Code
from api.access.keys import LENGTH_MAX, PATTERN
from referee import wire_types
from referee.actors import Actor
from referee.clubs.commands import ClubAct
from referee.clubs.facts import KeyId, Scopes
from referee.value import EventNumber, Time, Value, tied
from referee.visibility import Recorded, seen

KeySecret = Annotated[
    str,
    Meta(
        title="KeySecret",
        description="A key of a club, as it is sent in `Authorization: Bearer …`.",
        extra_json_schema={"pattern": f"^{PATTERN}$", "maxLength": LENGTH_MAX},
    ),
]


class KeyGiven(Value):
    """A key just made. Its secret is shown this once, and the club keeps only its SHA-256."""

    id: KeyId
    """Which key of the club it is."""
    secret: KeySecret
    """All of the key."""
    scopes: Scopes
    expires_at: Time


class KeyInvitationGiven(Value):
    """The invitation of a member to a key. Its code is shown this once: hand it to the member, who redeems it with
    `redeem_invitation` and is shown the secret of the key."""

    key: KeyId
    """The key to be."""
    code: Code
    """The one-time code: whoever has it can redeem the invitation."""
    scopes: Scopes
    expires_at: Time
    """The code can be redeemed once, until then."""
    key_expires_at: Time
    """When the key ends."""


class EventSeen(Value):
    """One event of a club. ``act`` is the Idempotency-Key of the act that made it, for its sender."""

    SCHEMA = "ClubEventSeen"
    number: EventNumber
    """Its number in the club, from 1; none is left out."""
    at: Time
    """When it was stored."""
    actor: Actor
    """Who made it: the holder of a key, or the operator."""
    act: Annotated[wire_types.Key | None, Meta(description="null: made without a key.")]
    topic: str
    """What happened; no topic is one of matches as well."""
    event: Annotated[dict[str, Any], tied("topic", "of_club")]
    """More of it; its fields go by the topic."""


def event_seen(recorded: Recorded, texts: Mapping[str, str]) -> dict[str, Any]:
    """An event as its sender may see it, ready to encode; ``texts``: by ref those that he may read."""
    event = seen(recorded.event, "spectator", public=False)
    return {
        "number": recorded.originator_version,
        "at": recorded.at,
        "actor": recorded.actor,
        "act": None if recorded.act_id.startswith("~") else recorded.act_id,
        "topic": event.TOPIC,
        "event": _told(event, texts),
    }


def _told(told: Any, texts: Mapping[str, str]) -> Any:
    """Return an event, or a part of one, with texts instead of their refs."""
    values = {field.name: getattr(told, field.name) for field in fields(told)}
    changed: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, str) and value in texts:
            changed[name] = texts[value]
        elif isinstance(value, ClubAct):
            changed[name] = _told(value, texts)
    return replace(told, **changed) if changed else told
