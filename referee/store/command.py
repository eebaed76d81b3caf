"""What is asked of the desk, what comes of it, and what is raised where nothing does."""

from typing import Any
from uuid import UUID

from referee.actors import Actor
from referee.store.aggregate import Aggregate
from referee.value import Value
from referee.visibility import Recorded


class Stale(Exception):
    """The aggregate has moved on from the version that the caller expected."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


class KeyReused(Exception):
    """The Idempotency-Key was used before, for something else."""


class OpenedByAnother(Exception):
    """Another caller has opened an aggregate by the Idempotency-Key."""


class Overtaken(Exception):
    """A decision that takes long was made several times, and each time others had acted meanwhile."""


class Full(Exception):
    """The aggregate has as many events as it may have."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most


class Busy(Exception):
    """Too many requests wait, or the store does not answer; try again."""


class NotHeld(Exception):
    """The token that the caller acts by is the actor's no more."""


class InDoubt(Exception):
    """The store has not said whether it took the request: it may stand there, and its key tells."""


class Command(Value):
    """A request to an aggregate as it reaches the desk; an event opens the aggregate that begins with it.

    ``expected``: the version that ``If-Match`` names. ``key`` is the client's Idempotency-Key; it may not begin
    with ``~``. ``token`` is the SHA-256 of what the actor acts by, where that may have ended meanwhile.
    """

    id: UUID
    actor: Actor
    request: Any
    key: str | None = None
    expected: int | None = None
    token: str | None = None


class Outcome(Value):
    """What a request came to: the aggregate after it, and the events it made."""

    aggregate: Aggregate
    events: tuple[Recorded, ...]
    repeated: bool = False
