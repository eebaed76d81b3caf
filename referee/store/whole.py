"""Decisions on the whole history of a match."""

from functools import partial
from typing import Any
from uuid import UUID

import msgspec

from referee.history import History
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.aggregate import Aggregate
from referee.store.store import Referee
from referee.visibility import Event, Recorded

PAGE = 2_000
"""Maximum events per read, so that few rows are in memory."""


class Decided(msgspec.Struct, frozen=True):
    """The decision on a request: events and the state after them, or a refusal. ``moment`` has no history."""

    moment: Moment
    events: tuple[Event, ...] = ()
    state: Any = None
    refused: Refused | None = None


def read_whole(referee: Referee, aggregate_id: UUID, to: int) -> list[Recorded]:
    """Return all events of an aggregate up to event ``to``. Raises what :meth:`Referee.history` raises."""
    history: list[Recorded] = []
    while (after := len(history)) < to:
        history += referee.history(aggregate_id, after=after, to=min(to, after + PAGE))
    return history


def decide(referee: Referee, aggregate: Aggregate, request: Any, moment: Moment) -> Decided:
    """Decide a request on the aggregate's whole history. Raises what :func:`read_whole` raises."""
    history = History(partial(read_whole, referee, aggregate.id, aggregate.version))
    try:
        made = aggregate.procedure.take(aggregate.state, request, msgspec.structs.replace(moment, history=history))
    except Refused as refused:
        return Decided(moment, refused=refused)
    return Decided(moment, *made)
