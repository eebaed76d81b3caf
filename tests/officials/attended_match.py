"""An attended match in memory: requests are decided, and the decision is compared with the fold."""

from datetime import timedelta
from typing import Any

import msgspec
import pytest

from referee.actors import Actor, actor_of
from referee.events import Adjudication
from referee.refusals import Refused
from referee.requests import Request
from referee.ruleset import Moment
from referee.store.match import Match
from referee.visibility import Event, Recorded
from tests.support.growing_history import Folded
from tests.support.match_driver import MATCH, NOON
from tests.support.random_matches import opening

TAKES_BACK = Adjudication(officials=("Maja",), take_back=True)


class Attending:
    """A match and its history."""

    def __init__(self, adjudication: Adjudication = TAKES_BACK, **given: Any) -> None:
        kwargs: dict[str, Any] = {"enforcement": "refuse", "players": 4} | given
        self.opened = opening(adjudication=adjudication, **kwargs)
        self.history: list[Recorded] = []
        self._folded = Folded()
        self.stand((self.opened,))
        self.stand(self.match.procedure.begin(self.match.state, self.moment("official")))

    @property
    def match(self) -> Match:
        return self._folded.match_of(self.history)

    @property
    def version(self) -> int:
        return len(self.history)

    @property
    def events(self) -> list[Event]:
        return [one.event for one in self.history]

    def moment(self, actor: Actor, seed: str = "seed") -> Moment:
        return Moment(self.version, NOON + timedelta(seconds=self.version), seed, actor, self.history)

    def stand(self, events: tuple[Event, ...], actor: Actor = "official", request: Request | None = None) -> None:
        raw_request = None if request is None else msgspec.Raw(msgspec.json.encode(request))
        at = NOON + timedelta(seconds=self.version)
        for event in events:
            self.history.append(Recorded(MATCH, self.version + 1, at, actor, "", "", "", event, raw_request))
            raw_request = None

    def do(self, *requests: Any, actor: Actor | None = None, seed: str = "seed") -> tuple[Event, ...]:
        """Do these requests, each by its seat; return the last events. Check that the fold gives the decided
        state."""
        events: tuple[Event, ...] = ()
        for request in requests:
            by = self.who(request) if actor is None else actor
            match = self.match
            events, state = match.procedure.take(match.state, request, self.moment(by, seed))
            self.stand(events, by, request)
            assert self.match.state == state, "what take gives is what folding gives"
        return events

    def who(self, request: Any) -> Actor:
        """Return the actor of a request that names none: its seat, or the official."""
        return actor_of(request)

    def refused(self, request: Any, code: str, rule: str | None = "J11") -> Refused:
        """Return the refusal of a request."""
        match = self.match
        with pytest.raises(Refused) as caught:
            match.procedure.take(match.state, request, self.moment(self.who(request)))
        assert (caught.value.code, caught.value.rule) == (code, rule)
        return caught.value

    def legal(self) -> list[Any]:
        """Return the acts that the seats may do in the game."""
        match = self.match
        return [act for seat in match.play.table.active for act in match.rules.legal(match.play, seat)]
