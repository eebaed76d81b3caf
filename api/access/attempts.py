"""Reads the act that a caller tried, so that its refusal can be recorded for the officials (J12)."""

from typing import Any, NamedTuple
from uuid import UUID

from api.http.notes import notes_in
from referee.actors import Actor
from referee.requests import act_name


class Tried(NamedTuple):
    match: UUID
    actor: Actor
    act: str


def noted_attempt(scope: Any) -> Tried | None:
    """Return the attempt that :meth:`Caller.note_attempt` noted, or ``None``."""
    if (tried := notes_in(scope).tried) is None:
        return None
    match_id, actor, request = tried
    return Tried(match_id, actor, act_name(request))
