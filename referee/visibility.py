"""Events, and the visibility of their fields."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Protocol, TypeVar, get_origin
from uuid import UUID

import msgspec
from msgspec.structs import replace

from referee.actors import Actor
from referee.value import Seat, Value

Viewer = Seat | Literal["official", "spectator"]
"""A seat, an official, or any other client."""
Veil = Callable[[Any, str, Viewer], Any]
"""Takes an event, a hidden field's name and a viewer who is no official. Returns the value to show."""
Audience = Literal["nobody", "sealed", "official", "open", "own", "by_seat"] | Veil
"""Viewers who may see a field.

``nobody``: no viewer, ever. ``official``: only officials, always. Fields with any other value are public when the
deal is over. Until then ``sealed``: no viewer; ``open``: officials; ``own``: officials and the event's ``seat``;
``by_seat``: officials, and each seat its own item; a :data:`Veil`: officials, and other viewers the value it returns.
"""
Hidden = Mapping[str, Audience]


class Event(Value, omit_defaults=True):
    """A fact. All viewers see the fields that ``HIDDEN`` does not name."""

    TOPIC: ClassVar[str]
    HIDDEN: ClassVar[Hidden] = {}
    FOLLOWS_FROM_LINE: ClassVar[bool] = False
    """True if the event follows from a line of the protocol: a correction of the line can change it."""


E = TypeVar("E", bound=Event)
KERNEL = __name__.partition(".")[0]
"""Package of the event types that belong to no installed game."""
_encode: Callable[[Any], bytes] = msgspec.json.Encoder().encode


class _Beginnings(dict[type, bytes]):
    """The first bytes of an event as JSON, by its type."""

    def __missing__(self, kind: type[Event]) -> bytes:
        self[kind] = begun = b'{"topic":"%b",' % kind.TOPIC.encode()
        return begun


_beginnings = _Beginnings()


def with_topic(event: Event) -> msgspec.Raw:
    """Return the event as JSON, with its topic as the first field."""
    fields = _encode(event)
    if fields == b"{}":
        return msgspec.Raw(_beginnings[type(event)][:-1] + b"}")
    return msgspec.Raw(_beginnings[type(event)] + fields[1:])


@cache
def stored_with_topic(kind: type[Event], official: bool, public: bool) -> Callable[[bytes], msgspec.Raw | None]:
    """Return a function that adds the topic to the stored JSON of an event, without decoding the event.

    It returns the result of :func:`with_topic` for the event as the viewer may see it. It returns ``None`` if the
    JSON is empty, has an escape, has a character that is not printable ASCII, or may have a hidden field. It always
    returns ``None`` for installed games, because their old rows may have fields that the type no longer has.
    """
    hidden = _hidden(kind, official, public)
    if kind.__module__.partition(".")[0] != KERNEL or any(callable(instead) for _, instead in hidden):
        return lambda stored: None
    must_decode = re.compile("|".join([r"[^ -\[\]-~]", *(rf'"{name}"\s*:' for name, _ in hidden)]).encode()).search
    begins = _beginnings[kind]

    def unchanged(stored: bytes) -> msgspec.Raw | None:
        if stored[:2] != b'{"' or must_decode(stored):
            return None
        return msgspec.Raw(begins + stored[1:])

    return unchanged


def as_seen_by(event: E, viewer: Viewer, public: bool) -> E:
    """Return the event as this viewer may see it. ``public``: the deal is over."""
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
    """Return the names of the hidden fields, each with the value or :data:`Veil` that replaces the field."""
    fields = {field.name: field for field in msgspec.structs.fields(kind)}
    return tuple(
        (name, _replacement(audience, fields[name]))
        for name, audience in kind.HIDDEN.items()
        if _is_hidden(audience, official, public)
    )


def _is_hidden(audience: Audience, official: bool, public: bool) -> bool:
    if audience == "sealed":
        return not public
    return audience == "nobody" or (not official and (audience == "official" or not public))


def _replacement(audience: Audience, field: msgspec.structs.FieldInfo) -> Any:
    """Return the :data:`Veil` or the value that replaces a hidden field: its default, or an empty value."""
    if not isinstance(audience, str):
        return audience
    if audience == "by_seat":
        return only_own_item
    blank = _plain_type(field.type)() if field.required else field.default
    if audience == "own":
        return lambda event, name, viewer: getattr(event, name) if viewer == event.seat else blank
    return blank


def _plain_type(kind: Any) -> Any:
    if get_origin(kind) is Annotated:
        kind = kind.__origin__
    return get_origin(kind) or kind


def only_own_item(event: Any, field: str, viewer: Viewer) -> tuple[tuple[str, ...], ...] | None:
    """Return a field's items by seat, all empty but the viewer's own; ``None`` if the field is ``None``."""
    hands = getattr(event, field)
    return None if hands is None else tuple([hand if seat == viewer else () for seat, hand in enumerate(hands)])


SALT_BYTES = 16


class OfAct(Protocol):
    """The fields that are equal in all events of an act."""

    @property
    def at(self) -> datetime: ...
    @property
    def actor(self) -> Actor: ...
    @property
    def act_id(self) -> str: ...


def differs_in_act(one: OfAct, before: OfAct) -> bool:
    """Return whether two successive events cannot belong to the same act."""
    return one.act_id != before.act_id or one.at != before.at or one.actor != before.actor


class Recorded(msgspec.Struct, frozen=True):
    """Event number ``originator_version`` of aggregate ``originator_id``.

    ``act_id``: the Idempotency-Key of its act, or an id with ``~``. ``digest``: a hash of the request. ``prev``:
    hash of the row before. ``request``: as JSON, only in the first event of an act, except an opening. ``salt``:
    random bytes; empty if not stored.
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
    salt: bytes = b""

    def begins_after(self, before: "Recorded") -> bool:
        """Return whether this event and the event before it belong to different acts."""
        return self.request is not None or differs_in_act(self, before)


def with_act_numbers(events: Iterable[Recorded], first: int) -> Iterator[tuple[Recorded, int]]:
    """Yield successive events, each with the number of the first event of its act. ``first``: that of the first."""
    number, before = first, None
    for one in events:
        if before is not None and one.begins_after(before):
            number = one.originator_version
        before = one
        yield one, number
