"""Facts about a request that are found before its handler runs or while its answer is made."""

from typing import Any, NamedTuple
from uuid import UUID

from api.http.request_ids import RequestIds, request_ids
from referee.actors import Actor
from referee.value import Value


class AnsweredProblem(NamedTuple):
    """The problem that a request was answered with, or one of its acts."""

    status: int
    code: str
    rule: str | None


class Notes:
    """Facts about one request, for the app when the answer begins."""

    __slots__ = ("counted", "ids", "problem", "secret_hash", "tried")

    def __init__(self, ids: RequestIds) -> None:
        self.ids = ids
        self.counted: Any = None
        """The :class:`~api.access.limits.Counted` of a request that a limit holds for; None: no limit does."""
        self.secret_hash = ""
        """The SHA-256 of the token or key that came with the request; empty: it has not been calculated."""
        self.tried: tuple[UUID, Actor, Value] | None = None
        """The match, the holder of a token, and what they asked; None: nothing that officials could read (J12)."""
        self.problem: AnsweredProblem | None = None
        """The problem in the answer; None: there is no problem in it."""


def notes_in(scope: Any) -> Notes:
    """Return the notes of a request. Its scope keeps them, so that all that handle it have the same."""
    notes: Notes | None = scope["state"].get("notes")
    if notes is None:
        notes = scope["state"]["notes"] = Notes(request_ids(scope["headers"]))
    return notes


def has_notes(scope: Any) -> bool:
    """Return whether notes were made of a request: its limits have been checked then."""
    return "notes" in scope.get("state", {})
