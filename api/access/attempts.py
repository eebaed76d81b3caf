"""Notes the act that a caller tries, so that a refusal can be recorded for the officials (J12)."""

from typing import Any, NamedTuple
from uuid import UUID

from api.http.headers import Req
from api.http.notes import notes_in
from referee.actors import Actor
from referee.requests import act_name
from referee.value import Value


class Tried(NamedTuple):
    match: UUID
    actor: Actor
    act: str


def tries(request: Req, match_id: UUID, actor: Actor, asked: Value) -> None:
    notes_in(request.scope).tried = match_id, actor, asked


def tried_in(scope: Any) -> Tried | None:
    """Return the attempt that was noted on a request, or None."""
    if (tried := notes_in(scope).tried) is None:
        return None
    match_id, actor, asked = tried
    return Tried(match_id, actor, act_name(asked))
