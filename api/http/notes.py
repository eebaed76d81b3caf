"""Notes about a request that the app needs when the answer begins."""

from typing import Any, NamedTuple
from uuid import UUID

from api.http.request_ids import RequestIds, request_ids
from referee.actors import Actor
from referee.value import Value


class AnsweredProblem(NamedTuple):
    """Problem that answered a request or one of its acts."""

    status: int
    code: str
    rule: str | None


class Notes:
    __slots__ = ("counted", "ids", "is_answered", "problem", "secret_hash", "tried")

    def __init__(self, ids: RequestIds) -> None:
        self.ids = ids
        self.counted: Any = None
        """The :class:`~api.access.limits.Counted` of the request; ``None``: no limit applies."""
        self.secret_hash = ""
        """SHA-256 of the token or key of the request; empty: not calculated yet."""
        self.tried: tuple[UUID, Actor, Value] | None = None
        """Match, actor and request of an attempt that officials may read; ``None``: no attempt (J12)."""
        self.is_answered = False
        self.problem: AnsweredProblem | None = None


def notes_in(scope: Any) -> Notes:
    """Return the notes of a request. Make them at the first call."""
    notes: Notes | None = scope["state"].get("notes")
    if notes is None:
        notes = scope["state"]["notes"] = Notes(request_ids(scope["headers"]))
    return notes


def has_notes(scope: Any) -> bool:
    """Return whether a request has notes, and so its limits have been checked."""
    return "notes" in scope.get("state", {})
