"""Commands to the desk, their outcomes and errors."""

from typing import Any
from uuid import UUID

from referee.actors import Actor
from referee.store.aggregate import Aggregate
from referee.value import Value
from referee.visibility import Recorded


class Stale(Exception):
    """The aggregate has ``version``, not the expected one."""

    def __init__(self, version: int) -> None:
        super().__init__(version)
        self.version = version


class KeyReused(Exception):
    """The Idempotency-Key belongs to a different request."""


class OpenedByAnother(Exception):
    """A different act opened the aggregate."""


class Overtaken(Exception):
    """The aggregate changed during each decision on its whole history."""


class Full(Exception):
    """The request's events would exceed the maximum number, ``most``."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self.most = most


class Busy(Exception):
    """The desk, the store or the process for long matches cannot do the work now.

    Nothing is stored; a retry may succeed.
    """


class TokenNotValid(Exception):
    """The caller's token is no longer valid for the actor."""


class InDoubt(Exception):
    """The request may be stored or not. A retry with the same Idempotency-Key finds out."""


class Command(Value):
    """A request to an aggregate. An opening event as ``request`` creates the aggregate.

    ``expected``: version from ``If-Match``. ``key``: Idempotency-Key. ``token``: SHA-256 of the caller's token
    or key, if the desk must check it again.
    """

    id: UUID
    actor: Actor
    request: Any
    key: str | None = None
    expected: int | None = None
    token: str | None = None


class Outcome(Value):
    """The aggregate after a request, and the request's events.

    ``repeated``: the desk had decided the act before, so the aggregate may contain later events.
    """

    aggregate: Aggregate
    events: tuple[Recorded, ...]
    repeated: bool = False
