"""Who tries what: noted with a request when that is known, for what is kept if it is refused (J12)."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

from api.http.headers import Req
from referee.actors import Actor
from referee.requests import act_name
from referee.value import Value


class Tried(NamedTuple):
    """Whoever acts has shown a token of the match."""

    match: UUID
    actor: Actor
    act: str


def tries(request: Req, match_id: UUID, actor: Actor, asked: Value) -> None:
    """The holder of a token wants this: say so before anything can refuse it."""
    request.scope["state"]["tried"] = match_id, actor, asked


def tried_in(scope: Mapping[str, Any]) -> Tried | None:
    """What was noted with a request."""
    if (tried := scope["state"].get("tried")) is None:
        return None
    match_id, actor, asked = tried
    return Tried(match_id, actor, act_name(asked))
