"""Schemas of several operations on clubs."""

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
from referee.value import EventNumber, Time, Value, type_depends_on
from referee.visibility import Recorded, as_seen_by, with_topic

KeySecret = Annotated[
    str,
    Meta(
        description="A key of a club, for `Authorization: Bearer …`.",
        extra_json_schema={"pattern": f"^{PATTERN}$", "maxLength": LENGTH_MAX},
    ),
]


class KeyGiven(Value):
    """A new key. Its secret is shown only here."""

    id: KeyId
    secret: KeySecret
    scopes: Scopes
    expires_at: Time


class KeyInvitationGiven(Value):
    """An invitation to a key. Its code is shown only here: hand it to the member for `redeem_invitation`."""

    key: KeyId
    code: Code
    scopes: Scopes
    expires_at: Time
    """Time until which the code is valid."""
    key_expires_at: Time


class EventSeen(Value):
    """An event of a club."""

    SCHEMA = "ClubEventSeen"
    number: EventNumber
    """Number of the event in the club, from 1 without gaps."""
    at: Time
    actor: Actor
    """Sender: a key, or the operator."""
    act: Annotated[
        wire_types.Key | None,
        Meta(
            description="Idempotency-Key of the act, for its sender; a derived id if the act makes a secret; null: "
            "the act had none."
        ),
    ]
    event: Annotated[dict[str, Any], type_depends_on("topic", "club")]
    """Event; its fields depend on its topic."""


def event_seen(recorded: Recorded, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return an :class:`EventSeen` as a dict. ``texts``: texts by ref that the sender may read."""
    event = as_seen_by(recorded.event, "spectator", public=False)
    return {
        "number": recorded.originator_version,
        "at": recorded.at,
        "actor": recorded.actor,
        "act": None if recorded.act_id.startswith("~") else recorded.act_id,
        "event": with_topic(_with_texts(event, texts)),
    }


def _with_texts(part: Any, texts: Mapping[str, str]) -> Any:
    """Return an event in which ``texts`` replace refs, also in its proposed act."""
    values = {field.name: getattr(part, field.name) for field in fields(part)}
    changed: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, str) and value in texts:
            changed[name] = texts[value]
        elif isinstance(value, ClubAct):
            changed[name] = _with_texts(value, texts)
    return replace(part, **changed) if changed else part
