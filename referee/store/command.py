"""Commands to the desk, their outcomes, and the errors that the desk raises."""

from typing import Any
from uuid import UUID

from referee.actors import Actor
from referee.store.aggregate import Aggregate
from referee.value import Value
from referee.visibility import Recorded


class Stale(Exception):
    """The aggregate does not have the expected version."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


class KeyReused(Exception):
    """The Idempotency-Key was used for a different request."""


class OpenedByAnother(Exception):
    """A different caller has opened an aggregate by the Idempotency-Key."""


class Overtaken(Exception):
    """The aggregate has changed during each attempt at a long decision."""


class Full(Exception):
    """The aggregate has the maximum number of events."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most


class Busy(Exception):
    """The queue is full or the store does not answer; a retry may succeed."""


class NotHeld(Exception):
    """The actor no longer has the token that the caller used."""


class InDoubt(Exception):
    """The store did not confirm the request, which may be stored. A retry with the same key shows that."""


class Command(Value):
    """A request to an aggregate. An opening event creates it.

    ``expected``: the version from ``If-Match``. ``key``: the Idempotency-Key, which may not begin with ``~``.
    ``token``: the SHA-256 of the caller's token, if it may have been revoked meanwhile.
    """

    id: UUID
    actor: Actor
    request: Any
    key: str | None = None
    expected: int | None = None
    token: str | None = None


class Outcome(Value):
    """The result of a request: the aggregate after it, and its events."""

    aggregate: Aggregate
    events: tuple[Recorded, ...]
    repeated: bool = False
