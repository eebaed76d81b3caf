"""A match at a real table with officials, in memory, with its acts and cases."""

from datetime import timedelta
from typing import Any, Self

import pytest

from referee.actors import Actor, actor_of
from referee.acts import Deal, Knock, KnockOut
from referee.events import Adjudication
from referee.officials.state import Case, status_at
from referee.refusals import Refused
from referee.requests import Request, Ruling, Statement
from referee.ruleset import Moment
from referee.store.match import Match
from referee.visibility import Event, Recorded
from tests.support.growing_history import Folded
from tests.support.match_driver import MATCH, NOON
from tests.support.random_matches import opening

TWO = Adjudication(officials=("Maja", "Nils"))


class Hearing:
    """An attended match for tests. Seats are counted from 0; ``said`` has the events of the last request."""

    def __init__(self, ruleset: str = "rodskagg-kortoxen", terms: Adjudication = TWO, **opened: Any) -> None:
        opened = {"players": 4, "dealing": "table", "adjudication": terms, "first_dealer": 3, **opened}
        if ruleset == "rodskagg-kortoxen":
            opened = {"deal_ritual": False, **opened}
        self.at, self.history, self._folded = NOON, list[Recorded](), Folded()
        first = opening(ruleset=ruleset, **opened)
        self._record((first,), "official")
        self.match: Match = self._folded.match_of(self.history)
        self._record(self.match.procedure.begin(self.match.state, Moment(1, NOON, "")), "official")
        self.match = self._folded.match_of(self.history)

    def _record(self, events: tuple[Event, ...], actor: Actor) -> None:
        for event in events:
            number = len(self.history) + 1
            self.history.append(Recorded(MATCH, number, self.at, actor, "", "", "", event))

    def ask(self, request: Request, actor: Actor | None = None) -> tuple[Event, ...]:
        """Do a request; return its events. Check that the fold gives the decided state."""
        if actor is None:
            actor = actor_of(request)
        moment = Moment(len(self.history), self.at, "seed", actor, self.history)
        events, state = self.match.procedure.take(self.match.state, request, moment)
        self._record(events, actor)
        self.match = self._folded.match_of(self.history)
        assert self.match.state == state, "what take gives is what folding gives"
        self.said = events
        return events

    def refused(self, request: Request, code: str, rule: str | None, actor: Actor | None = None) -> Refused:
        """Return the refusal of a request."""
        with pytest.raises(Refused) as caught:
            self.ask(request, actor)
        assert (caught.value.code, caught.value.rule) == (code, rule)
        return caught.value

    def wait(self, minutes: float) -> Self:
        """Let this many minutes pass."""
        self.at += timedelta(minutes=minutes)
        return self

    def deal(self, **fields: Any) -> Self:
        """Deal closed hands."""
        dealer = self.match.play.table.dealer
        self.ask(Deal(seat=dealer, **(fields or {"counts": (6,) * self.match.play.table.seats})))
        return self

    def play(self, acts: int = 300, until: str = "deal/scored") -> Self:
        """Do the first legal act each time, until an event with this topic or for this many acts."""
        for _ in range(acts):
            legal: list[Any] = [act for seat in range(4) for act in self.match.rules.legal(self.match.play, seat)]
            wanted = [act for act in legal if not isinstance(act, KnockOut | Deal)]
            if not getattr(self.match.play, "calls", True):  # a seat must declare, or the deal is not played
                wanted = [act for act in wanted if act.bid != "pass"]
            if not wanted or until in {event.TOPIC for event in self.ask(wanted[0])}:
                break
        return self

    def knock(self, seat: int, accused: int, offence: Any = None, note: str = "") -> Case:
        """Knock; return the case."""
        self.ask(Knock(seat=seat, accused=accused, offence=offence, note=note))
        return self.case

    def says(self, seat: int, agrees: bool, case: int = 1, **fields: Any) -> tuple[Event, ...]:
        """Make a statement in a case; return its events."""
        return self.ask(Statement(case=case, seat=seat, agrees=agrees, **fields))

    def rule(self, verdict: Any, case: int = 1, by: Actor = "official", **fields: Any) -> tuple[Event, ...]:
        """Rule on a case as an official; return the events."""
        return self.ask(self.ruling(verdict, case, **fields), by)

    def ruling(self, verdict: Any, case: int = 1, **fields: Any) -> Ruling:
        """Return the request for a ruling."""
        fields = {"standard": "balance_of_probabilities", "rule": "B11", **fields}
        return Ruling(case=case, verdict=verdict, **fields)

    @property
    def cases(self) -> tuple[Case, ...]:
        """All cases of the match."""
        docket = self.match.docket
        assert docket is not None
        return docket.cases

    @property
    def case(self) -> Case:
        """The last case of the match."""
        return self.cases[-1]

    def status(self, case: int = 1) -> str:
        """Return the present status of a case."""
        return status_at(self.cases[case - 1], self.at)

    @property
    def up(self) -> tuple[int, ...]:
        """Return the penalties in the deal under way, by seat."""
        ledger = self.match.play.table.ledger
        return tuple(ledger.penalty_points(seat) for seat in range(self.match.play.table.seats))
