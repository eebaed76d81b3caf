"""What an event is, its place in a match, and who may see what of it."""

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, TypeVar, get_origin
from uuid import UUID

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from referee.actors import Actor
from referee.value import Seat, Value

Viewer = Annotated[
    Seat
    | Annotated[
        Literal["official", "spectator"],
        Meta(title="ViewerName", description="Who looks without a seat: the official, or anybody else."),
    ],
    Meta(title="Viewer", description="Who looks: a seat by its number, the official, or a spectator."),
]
"""Who looks: a seat, the official, or anybody else."""
Veil = Callable[[Any, str, Viewer], Any]
"""What it tells of an event's field, by name, to a viewer who may not see it yet."""
Audience = Literal["nobody", "sealed", "official", "open", "own", "by_seat"] | Veil
"""Who sees a field. ``nobody``: not even officials. ``official``: they alone, for ever. All others: everybody when
the deal is over and its cards lie open. Until then with ``sealed`` nobody, officials neither; else officials, and
with ``open`` nobody beside them, with ``own`` the event's ``seat``, with ``by_seat`` each seat its own place in the
tuple, and with a function what that tells.
"""
Hidden = Mapping[str, Audience]


class Event(Value, omit_defaults=True):
    """Something that happened in a match and stays so. All may see of it what ``HIDDEN`` does not name."""

    TOPIC: ClassVar[str]
    HIDDEN: ClassVar[Hidden] = {}
    OF_THE_LINE: ClassVar[bool] = False
    """It comes of the line of a deal alone: of a corrected one comes another, or none."""


E = TypeVar("E", bound=Event)


def seen(event: E, viewer: Viewer, public: bool) -> E:
    """The event as this viewer may see it; ``public``: the deal is over and its cards lie open."""
    if not event.HIDDEN:
        return event
    changed: dict[str, Any] = {}
    for name, instead in _hidden(type(event), viewer == "official", public):
        if callable(instead):
            changed[name] = instead(event, name, viewer)
        elif getattr(event, name) != instead:
            changed[name] = instead
    return replace(event, **changed) if changed else event


@cache
def _hidden(kind: type[Event], official: bool, public: bool) -> tuple[tuple[str, Any], ...]:
    """The fields that such a viewer may not see as they are, and what is told instead."""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    return tuple(
        (name, _instead(audience, fields[name]))
        for name, audience in kind.HIDDEN.items()
        if _is_hidden(audience, official, public)
    )


def _is_hidden(audience: Audience, official: bool, public: bool) -> bool:
    if audience == "sealed":
        return not public
    return audience == "nobody" or (not official and (audience == "official" or not public))


def _instead(audience: Audience, field: msgspec.structs.FieldInfo) -> Any:
    """Of what is hidden the default, or where there is none what is empty; or a function that tells it."""
    if not isinstance(audience, str):
        return audience
    if audience == "by_seat":
        return by_seat
    blank = _bare(field.type)() if field.required else field.default
    if audience == "own":
        return lambda event, name, viewer: getattr(event, name) if viewer == event.seat else blank
    return blank


def _bare(kind: Any) -> Any:
    """The type itself, without its bounds and what it is made of."""
    if get_origin(kind) is Annotated:
        kind = kind.__origin__
    return get_origin(kind) or kind


def by_seat(event: Any, field: str, viewer: Viewer) -> tuple[tuple[str, ...], ...] | None:
    """Each seat sees its own place; a hand that is not for the viewer to see is empty."""
    hands = getattr(event, field)
    return None if hands is None else tuple([hand if seat == viewer else () for seat, hand in enumerate(hands)])


class Recorded(msgspec.Struct, frozen=True):
    """A fact in its place: event number ``originator_version`` of match ``originator_id``.

    ``actor`` is who acted; ``act_id`` the id of the act that made it (its Idempotency-Key) and ``digest`` what was
    asked; ``prev`` the SHA-256 of the row before it in the match. ``request``: what was asked, as JSON, with the
    first event of an act; ``None`` with the others, and where nobody asked.
    """

    originator_id: UUID
    originator_version: int
    at: datetime
    actor: Actor
    act_id: str
    digest: str
    prev: str
    event: Event
    request: msgspec.Raw | None = None
