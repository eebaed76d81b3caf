"""Aggregates (matches, clubs, the log), folded from recorded events by the rules of each kind."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import cache
from typing import Any, ClassVar, Protocol, TypeVar, get_args
from uuid import UUID

import msgspec

from referee.actors import Actor
from referee.games import ACTS
from referee.ruleset import Moment
from referee.store.damaged import DamagedRow, NotInstalled
from referee.value import EVENTS_MAX, Value
from referee.visibility import Audience, Event, Recorded


class Rules(Protocol):
    """Pure functions on a state. Only ``take`` raises ``Refused``."""

    @property
    def state(self) -> Any:
        """Type of the states, to read snapshots."""

    def start(self, opened: Any, /) -> Any:
        """Return the state after the first event."""

    def begin(self, state: Any, moment: Moment, /) -> tuple[Event, ...]:
        """Return the events that follow the first event automatically."""

    def take(self, state: Any, request: Any, moment: Moment, /) -> tuple[tuple[Event, ...], Any]:
        """Return the events of a request, and the state after them."""

    def evolve(self, state: Any, event: Any, number: int, /) -> Any:
        """Return the state after event ``number``."""


class Aggregate(Value):
    """An aggregate after event ``version``."""

    id: UUID
    version: int
    opened: Any
    """First event. Each kind declares its type, to read snapshots."""
    opened_at: datetime
    changed_at: datetime
    state: Any
    public_to: int = 0
    """Events up to this number are public, because their deals are over; 0: none."""
    ended_at: datetime | None = None

    OPENING: ClassVar[type[Event]]
    FACTS: ClassVar[tuple[type[Event], ...]]
    REQUEST_OF: ClassVar[Callable[[bytes], Any]]
    """Function that decodes a stored request."""
    LAYS_OPEN: ClassVar[frozenset[type[Event]]] = frozenset()
    """Event types after which all earlier events are public."""
    ENDS: ClassVar[frozenset[type[Event]]] = frozenset()
    """Event types that can end the aggregate or reopen it (:meth:`end_time_after`)."""
    SNAPSHOT_AFTER: ClassVar[frozenset[type[Event]]] = frozenset()
    """Event types after which a snapshot is taken."""

    EVENTS_MAX: ClassVar[int] = EVENTS_MAX
    """Maximum events; officials may add ``OFFICIALS_MORE``."""

    @classmethod
    def rules_for(cls, opened: Any) -> Rules:
        """Return the rules for an aggregate with this first event."""
        raise NotImplementedError

    @classmethod
    def end_time_after(cls, event: Any, at: datetime, before: datetime | None) -> datetime | None:
        """Return ``ended_at`` after an event of :data:`ENDS` at time ``at``. ``before``: the earlier ``ended_at``."""
        return at

    def has_token(self, actor: Actor, token_sha256: str) -> bool:
        """Return whether an actor's token has this SHA-256 now; true for kinds without tokens."""
        return True

    def may_act(self, actor: Actor, token_sha256: str) -> bool:
        """Return whether an actor may make new acts with a token of this SHA-256 now."""
        return self.has_token(actor, token_sha256)

    def sole_actor(self, request: Any) -> Actor | None:
        """Return the only actor who may make a request; ``None`` if any may. ``official``: every official."""
        return getattr(request, "seat", "official")

    @property
    def before_request(self) -> Callable[[Any, Recorded], Any] | None:
        """Function that prepares the state before a request's first event is folded; ``None`` if not needed."""
        return None

    @property
    def procedure(self) -> Rules:
        return self.rules_for(self.opened)


KINDS: dict[str, type[Aggregate]] = {}
"""Kinds of aggregates, by the topic of the first event."""

STORED_BESIDE: list[type[Event]] = []
"""Event types stored apart from the aggregates and never folded."""

A = TypeVar("A", bound=Aggregate)


_AUDIENCES = frozenset(get_args(get_args(Audience)[0]))


def _check_hidden(kind: type[Event]) -> None:
    """Raise ``ImportError`` if ``HIDDEN`` of an event type names a missing field or an unusable audience."""
    for name, audience in kind.HIDDEN.items():
        if name not in kind.__struct_fields__:
            what = f"{name}, which is no field"
        elif not callable(audience) and audience not in _AUDIENCES:
            what = f"{name} for {audience!r}: an audience is a function or one of {', '.join(sorted(_AUDIENCES))}"
        elif audience == "own" and "seat" not in kind.__struct_fields__:
            what = f"{name} for 'own', which needs a field seat"
        else:
            continue
        raise ImportError(f"HIDDEN of {kind.__module__}.{kind.__name__} has {what}.")


def event_types() -> dict[str, type[Event]]:
    """Return the event types by topic.

    Raises ``ImportError`` if types share a topic, types or acts share a class name, or ``HIDDEN`` is wrong.
    """
    topics: dict[str, type[Event]] = {}
    names: dict[str, type] = {act.__name__: act for act in ACTS}
    for kind in (*(fact for aggregate in KINDS.values() for fact in aggregate.FACTS), *STORED_BESIDE):
        _check_hidden(kind)
        for what, first in (
            (f"topic {kind.TOPIC}", topics.setdefault(kind.TOPIC, kind)),
            (f"class name {kind.__name__}", names.setdefault(kind.__name__, kind)),
        ):
            if first is not kind:
                raise ImportError(
                    f"{first.__module__}.{first.__name__} and {kind.__module__}.{kind.__name__} have the {what}. "
                    "Change one of them."
                )
    return topics


@cache
def event_type(topic: str) -> type[Event]:
    """Return the event type with this topic. Raises ``KeyError`` for an unknown topic."""
    return event_types()[topic]


def fold(aggregate: A | None, history: Iterable[Recorded]) -> A:
    """Return the aggregate after further events. For ``None``, the first event opens an aggregate.

    Raises :class:`DamagedRow` if an event is missing or the first cannot open an aggregate. The rules may raise other
    errors.
    """
    history = iter(history)
    if aggregate is None:
        aggregate = _opened_aggregate(next(history))
    state, version = aggregate.state, aggregate.version
    at, public_to, ended_at = aggregate.changed_at, aggregate.public_to, aggregate.ended_at
    evolve, lays_open, ends = aggregate.procedure.evolve, aggregate.LAYS_OPEN, aggregate.ENDS
    before_request = aggregate.before_request
    for recorded in history:
        version += 1
        if recorded.originator_version != version:
            raise DamagedRow(aggregate.id, version, "missing")
        event, at = recorded.event, recorded.at
        if before_request is not None and recorded.request is not None:
            state = before_request(state, recorded)
        state = evolve(state, event, version)
        if type(event) in lays_open:
            public_to = version
        if type(event) in ends:
            ended_at = aggregate.end_time_after(event, at, ended_at)
    return msgspec.structs.replace(
        aggregate, state=state, version=version, changed_at=at, public_to=public_to, ended_at=ended_at
    )


def with_known_state(aggregate: A, history: Sequence[Recorded], state: Any) -> A:
    """Return the aggregate after one or more events that lead to ``state``, without checks."""
    last, public_to, ended_at = history[-1], aggregate.public_to, aggregate.ended_at
    for recorded in history:
        if type(recorded.event) in aggregate.LAYS_OPEN:
            public_to = recorded.originator_version
        if type(recorded.event) in aggregate.ENDS:
            ended_at = aggregate.end_time_after(recorded.event, recorded.at, ended_at)
    version, at = last.originator_version, last.at
    return msgspec.structs.replace(
        aggregate, state=state, version=version, changed_at=at, public_to=public_to, ended_at=ended_at
    )


def _opened_aggregate(first: Recorded) -> Any:
    if first.originator_version != 1:
        raise DamagedRow(first.originator_id, 1, "missing")
    kind = KINDS.get(first.event.TOPIC)
    if kind is None:
        raise DamagedRow(first.originator_id, 1, "unfit", f"nothing begins with {first.event.TOPIC}")
    try:
        rules = kind.rules_for(first.event)
    except NotInstalled as missing:
        raise DamagedRow(first.originator_id, 1, "unreadable", str(missing)) from None
    return kind(
        id=first.originator_id,
        version=1,
        opened=first.event,
        opened_at=first.at,
        changed_at=first.at,
        state=rules.start(first.event),
    )
