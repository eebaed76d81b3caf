"""A match: a fold of its events and nothing else."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from referee.events import LAYS_OPEN, MatchOpened, Recorded, Viewer, seen
from referee.games import RULESETS
from referee.ruleset import Ruleset
from referee.value import Value


class Match(Value):
    """A match as it stands after event number ``version``."""

    id: UUID
    version: int
    opened: MatchOpened
    opened_at: datetime
    changed_at: datetime
    state: Any
    public_to: int = 0
    """Up to this event all cards lie open: their deals are over."""

    @property
    def rules(self) -> Ruleset:
        """The ruleset that it is played by."""
        return RULESETS[self.opened.ruleset]

    def seen(self, recorded: Recorded, viewer: Viewer) -> Recorded:
        """A recorded event as the viewer may see it."""
        event = seen(recorded.event, viewer, recorded.originator_version <= self.public_to)
        return recorded if event is recorded.event else msgspec.structs.replace(recorded, event=event)


def fold(match: Match | None, history: Iterable[Recorded]) -> Match:
    """The match after this much more of its history; versions may have no gap."""
    history = iter(history)
    if match is None:
        first = next(history)
        assert first.originator_version == 1, "a history begins with event 1"
        assert isinstance(first.event, MatchOpened), "a history begins with the opening"
        match = Match(
            id=first.originator_id,
            version=1,
            opened=first.event,
            opened_at=first.at,
            changed_at=first.at,
            state=RULESETS[first.event.ruleset].start(first.event),
        )
    state, version, at, public_to = match.state, match.version, match.changed_at, match.public_to
    evolve = match.rules.evolve
    for recorded in history:
        version += 1
        assert recorded.originator_version == version, "a history has no gap"
        event, at = recorded.event, recorded.at
        state = evolve(state, event, version)
        if type(event) in LAYS_OPEN:
            public_to = version
    return msgspec.structs.replace(match, state=state, version=version, changed_at=at, public_to=public_to)
