"""The signed log of a store as an aggregate."""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID

import msgspec

from referee.actors import Actor
from referee.log.facts import LogOpened, LogSigned, Sign
from referee.log.rules import RULES, Signed
from referee.store.aggregate import Aggregate, Rules
from referee.visibility import Event

LOG_ID = UUID("6b6e6163-6b61-8000-8000-6c6f67000000")


class Log(Aggregate):
    opened: LogOpened
    state: Signed

    OPENING: ClassVar[type[Event]] = LogOpened
    FACTS: ClassVar[tuple[type[Event], ...]] = (LogOpened, LogSigned)
    REQUEST_OF: ClassVar[Callable[[bytes], Sign]] = msgspec.json.Decoder(Sign).decode
    EVENTS_MAX: ClassVar[int] = 2**31

    @classmethod
    def rules_for(cls, opened: LogOpened) -> Rules:
        return RULES

    def sole_actor(self, request: Any) -> Actor | None:
        return "operator"
