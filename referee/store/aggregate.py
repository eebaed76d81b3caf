"""What is kept in the store: aggregates, each a fold of its recorded events and nothing else.

The topic of the first event tells the kind of an aggregate (``match/opened``: a match), and the kind knows by which
rules it is folded. Whatever is written here, and by the desk, holds for all kinds.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, ClassVar, Protocol, TypeVar
from uuid import UUID

import msgspec

from referee.actors import Actor
from referee.ruleset import Moment
from referee.store.damaged import DamagedRow
from referee.value import EVENTS_MAX, Value
from referee.visibility import Event, Recorded


class Rules(Protocol):
    """``take`` may refuse, ``evolve`` may not; all are pure."""

    @property
    def state(self) -> Any:
        """The type of the states, for snapshots."""

    def start(self, opened: Any, /) -> Any:
        """The state after the first event."""

    def begin(self, state: Any, moment: Moment, /) -> tuple[Event, ...]:
        """What happens by itself after the first event."""

    def take(self, state: Any, request: Any, moment: Moment, /) -> tuple[tuple[Event, ...], Any]:
        """The events that a request makes, and the state after them."""

    def evolve(self, state: Any, event: Any, number: int, /) -> Any:
        """The state after event ``number``."""


class Aggregate(Value):
    """How it stands after event number ``version``. Each kind of aggregate is a subclass, and says by which rules."""

    id: UUID
    version: int
    opened: Any
    """The first event. Each kind names its type anew, for snapshots are read by it."""
    opened_at: datetime
    changed_at: datetime
    standing: Any
    """What its rules make of its events."""
    public_to: int = 0
    """Up to this event nothing is hidden any more."""
    ended_at: datetime | None = None
    """When it came to its end last."""

    OPENING: ClassVar[type[Event]]
    """The type of the first event."""
    FACTS: ClassVar[tuple[type[Event], ...]]
    """The types of all its events."""
    REQUEST_OF: ClassVar[Callable[[bytes], Any]]
    """What was asked of it, from how it stands on record."""
    LAYS_OPEN: ClassVar[frozenset[type[Event]]] = frozenset()
    """After these nothing that came before is hidden any more."""
    ENDS: ClassVar[frozenset[type[Event]]] = frozenset()
    """With these it is over, or may go on again (:meth:`ended`)."""
    SNAPSHOT_AFTER: ClassVar[frozenset[type[Event]]] = frozenset()
    """After these it is kept, so that loading it need not begin at its first event."""

    EVENTS_MAX: ClassVar[int] = EVENTS_MAX
    """So many events it may have; officials may add a few more."""

    @classmethod
    def rules_for(cls, opened: Any) -> Rules:
        """The rules that fold what begins with this event."""
        raise NotImplementedError

    @classmethod
    def ended(cls, event: Any, at: datetime, before: datetime | None) -> datetime | None:
        """When it came to its end last, after one of :data:`ENDS`; ``before``: until then."""
        return at

    def held(self, actor: Actor, token: str) -> bool:
        """Whether an actor holds a token of this SHA-256 now; where a kind says nothing, whoever asks has looked."""
        return True

    def may_act(self, actor: Actor, token: str) -> bool:
        """Return whether an actor may do something new with a token of this SHA-256 now."""
        return self.held(actor, token)

    def whose(self, request: Any) -> Actor | None:
        """Who alone may ask this of it, beside officials for a seat; ``None``: whoever has a token of it."""
        return getattr(request, "seat", "official")

    @property
    def asked(self) -> Callable[[Any, Recorded], Any] | None:
        """What makes of how it stands, before the first event that came of a request, how it stands then; ``None``
        where a request changes nothing beyond its events."""
        return None

    @property
    def procedure(self) -> Rules:
        """The rules that it is folded by."""
        return self.rules_for(self.opened)


KINDS: dict[str, type[Aggregate]] = {}
"""The kinds that there are, by the topic of the first event."""

BESIDE: list[type[Event]] = []
"""Facts that are kept beside the aggregates, and that nothing folds."""

A = TypeVar("A", bound=Aggregate)


def event_types() -> dict[str, type[Event]]:
    """Every topic, and the type that reads it; no two kinds share one, or a book could not tell them apart."""
    topics: dict[str, type[Event]] = {}
    for facts in (*(kind.FACTS for kind in KINDS.values()), BESIDE):
        for fact in facts:
            assert fact.TOPIC not in topics, f"topic {fact.TOPIC} stands for two facts"
            topics[fact.TOPIC] = fact
    return topics


def fold(aggregate: A | None, history: Iterable[Recorded]) -> A:
    """Return the aggregate after this much more of its history. Raises :class:`~referee.store.damaged.DamagedRow` if
    an event is missing."""
    history = iter(history)
    if aggregate is None:
        aggregate = _begun(next(history))
    standing, version = aggregate.standing, aggregate.version
    at, public_to, ended_at = aggregate.changed_at, aggregate.public_to, aggregate.ended_at
    evolve, lays_open, ends = aggregate.procedure.evolve, aggregate.LAYS_OPEN, aggregate.ENDS
    asked = aggregate.asked
    for recorded in history:
        version += 1
        if recorded.originator_version != version:
            raise DamagedRow(aggregate.id, version, "missing")
        event, at = recorded.event, recorded.at
        if asked is not None and recorded.request is not None:
            standing = asked(standing, recorded)
        standing = evolve(standing, event, version)
        if type(event) in lays_open:
            public_to = version
        if type(event) in ends:
            ended_at = aggregate.ended(event, at, ended_at)
    return msgspec.structs.replace(
        aggregate, standing=standing, version=version, changed_at=at, public_to=public_to, ended_at=ended_at
    )


def advanced(aggregate: A, history: Sequence[Recorded], standing: Any) -> A:
    """What :func:`fold` gives, where it is known already how things stand after this history."""
    last, public_to, ended_at = history[-1], aggregate.public_to, aggregate.ended_at
    for recorded in history:
        if type(recorded.event) in aggregate.LAYS_OPEN:
            public_to = recorded.originator_version
        if type(recorded.event) in aggregate.ENDS:
            ended_at = aggregate.ended(recorded.event, recorded.at, ended_at)
    version, at = last.originator_version, last.at
    return msgspec.structs.replace(
        aggregate, standing=standing, version=version, changed_at=at, public_to=public_to, ended_at=ended_at
    )


def _begun(first: Recorded) -> Any:
    """An aggregate after its first event."""
    if first.originator_version != 1:
        raise DamagedRow(first.originator_id, 1, "missing")
    kind = KINDS.get(first.event.TOPIC)
    if kind is None:
        raise DamagedRow(first.originator_id, 1, "unfit", f"nothing begins with {first.event.TOPIC}")
    return kind(
        id=first.originator_id,
        version=1,
        opened=first.event,
        opened_at=first.at,
        changed_at=first.at,
        standing=kind.rules_for(first.event).start(first.event),
    )
