"""The rules for matches with a docket: the state of cases, shuffle and take-backs.

:class:`Procedure` decides some requests, or revises the game's decision (:data:`NOT_BY_GAME_ALONE`).
"""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
from typing import Any

from msgspec.structs import replace

from referee.acts import Entropy, Knock, Report, Result, TakeBack
from referee.events import MatchOpened
from referee.officials import cases, corrections, incidents, rulings, shuffle, takeback
from referee.officials.events.cases import CaseAppealed, CaseOpened, CaseRuled, CaseStated, CaseWithdrawn
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.shuffle import EntropyGiven, ShuffleCommitted
from referee.officials.events.takeback import ActTakenBack, TakeBackAsked
from referee.officials.state import Attended, AttendedState, Docket, DocketUpdate, DocketUpdates
from referee.requests import Appeal, Correct, OpenCase, Request, Ruling, Statement, Withdrawal
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event

Decision = Callable[[Ruleset, AttendedState, Any, Moment], tuple[Event, ...]]
Evolution = Callable[[Ruleset, AttendedState, Any, int], AttendedState]
"""Returns the match after an event of the docket, given its number."""
Check = Callable[[Ruleset, AttendedState, Any, Moment], Moment]
"""Returns the moment to pass to the game with a request. Raises ``Refused``."""
Revision = Callable[[Ruleset, AttendedState, Any, tuple[Event, ...], Moment], tuple[Event, ...]]
"""Returns the events to record, given the game's events."""
Consequence = Callable[[Ruleset, AttendedState, Moment], tuple[Event, ...]]
"""Returns the events that are due without a request."""

OFFICIALS_DECIDE: Mapping[type, Decision] = {
    Knock: cases.knock,
    OpenCase: cases.open_case,
    Statement: cases.make_statement,
    Withdrawal: cases.withdraw,
    Appeal: cases.appeal,
    Ruling: rulings.decide_ruling,
    Correct: corrections.correct,
    TakeBack: takeback.take_back,
}
"""Decisions in a match with officials; in others the game decides."""
ALWAYS_DECIDED: Mapping[type, Decision] = {Entropy: shuffle.add_entropy}
"""Decisions that need no officials."""
EVOLVE: Mapping[type[Event], Evolution] = {
    CaseOpened: cases.after_opened,
    CaseStated: cases.after_stated,
    CaseWithdrawn: cases.after_withdrawn,
    CaseRuled: rulings.after_ruled,
    CaseAppealed: cases.after_appealed,
    ProtocolCorrected: corrections.after_corrected,
    EntropyGiven: shuffle.after_entropy,
    ShuffleCommitted: shuffle.after_commitment,
    TakeBackAsked: takeback.after_asked,
    ActTakenBack: takeback.after_taken_back,
}
CHECKS: tuple[Check, ...] = (cases.check_not_held, shuffle.with_seed)
REVISIONS: Mapping[type, Revision] = {Report: cases.revise_report, Result: cases.revise_result}
NOT_BY_GAME_ALONE: frozenset[type] = frozenset((*OFFICIALS_DECIDE, *ALWAYS_DECIDED, *REVISIONS))
_UPDATES: tuple[DocketUpdates, ...] = (
    incidents.DOCKET_UPDATES,
    cases.DOCKET_UPDATES,
    cases.DOCKET_UPDATES_AT_END,
    shuffle.DOCKET_UPDATES,
)
DOCKET_UPDATES: Mapping[type[Event], tuple[DocketUpdate, ...]] = {
    kind: tuple(updates[kind] for updates in _UPDATES if kind in updates) for kind in chain.from_iterable(_UPDATES)
}
"""Updates of the docket, in order, by type of the game's event."""
CONSEQUENCES: tuple[Consequence, ...] = (takeback.withdraw_overtaken, rulings.rule_by_agreement, shuffle.commit)


def has_docket(opened: MatchOpened) -> bool:
    """Return whether a match has officials or a shuffle that clients can check."""
    return opened.adjudication is not None or opened.shuffle is not None


def _may_have_consequences(docket: Docket) -> bool:
    """Return whether :data:`CONSEQUENCES` might return events."""
    current = docket.shuffle
    return (current is not None and current.commitment is None) or any(case.is_open for case in docket.cases)


def _docket_after(docket: Docket, play: Any, events: tuple[Event, ...], version: int) -> Docket:
    """Return the docket after events of the game, which follow event ``version`` and lead to the state ``play``.

    A ruling on a knock must be the only event, because its update needs the state just after the ruling.
    """
    number = version
    for event in events:
        number += 1
        for update in DOCKET_UPDATES.get(type(event), ()):
            docket = update(docket, play, event, number)
        if docket.last is not None:
            docket = takeback.note_event(docket, play, event, number)
    return docket


EventsAndMatch = tuple[tuple[Event, ...], AttendedState]


class Procedure:
    """Implements :class:`~referee.store.aggregate.Rules` with a docket."""

    def __init__(self, rules: Ruleset) -> None:
        self.rules = rules
        self.state: Any = Attended[rules.state]  # type: ignore[name-defined]  # a type made at run time

    def start(self, opened: MatchOpened) -> AttendedState:
        docket = Docket(
            terms=opened.adjudication,
            shuffle=shuffle.shuffle_of(opened),
            takes_back=takeback.take_back_mode(opened),
            of_club=opened.club is not None,
        )
        return Attended(play=self.rules.start(opened), docket=docket)

    def begin(self, state: AttendedState, moment: Moment) -> tuple[Event, ...]:
        """Return the automatic events after the opening: any commitment to a seed, then the game's events."""
        before, state = self._with_consequences((), state, moment)
        seed, number = self._checked(state, None, replace(moment, version=0)).seed, moment.version + len(before)
        events = self.rules.begin(state.play, replace(moment, version=number, seed=seed))
        return self._with_consequences((*before, *events), self._fold(state, events, number), moment)[0]

    def take(self, state: AttendedState, request: Request, moment: Moment) -> EventsAndMatch:
        """Return the events of a request, and the match after them. Raises ``Refused``."""
        docket = state.docket
        if docket.takes_back is not None:
            state = takeback.before_request(state, request, moment.actor, moment.version + 1)
        if type(request) in NOT_BY_GAME_ALONE:
            return self._take_with_docket(state, request, moment)
        if not docket.cases and docket.shuffle is None:  # no check or consequence applies
            events, play = self.rules.take(state.play, request, moment)
            docket = _docket_after(state.docket, play, events, moment.version)
            return events, Attended(play=play, docket=docket, before=state.before)
        # Pass the derived seed to the game alone: it is published later. The next commitment needs the secret seed.
        events, play = self.rules.take(state.play, request, self._checked(state, request, moment))
        docket = _docket_after(state.docket, play, events, moment.version)
        return self._with_consequences(events, Attended(play=play, docket=docket, before=state.before), moment)

    def evolve(self, state: AttendedState, event: Event, number: int) -> AttendedState:
        own = EVOLVE.get(type(event))
        if own is not None:
            return takeback.with_last_act_checked(state, own(self.rules, state, event, number))
        play = self.rules.evolve(state.play, event, number)
        docket = _docket_after(state.docket, play, (event,), number - 1)
        return Attended(play=play, docket=docket, before=state.before)

    def _take_with_docket(self, state: AttendedState, request: Request, moment: Moment) -> EventsAndMatch:
        kind, has_officials = type(request), state.docket.terms is not None
        decision = ALWAYS_DECIDED.get(kind) or (OFFICIALS_DECIDE.get(kind) if has_officials else None)
        if decision is not None:
            events = decision(self.rules, state, request, moment)
        else:
            events = self.rules.take(state.play, request, self._checked(state, request, moment))[0]
            if has_officials and (revise := REVISIONS.get(kind)) is not None:
                events = revise(self.rules, state, request, events, moment)
        return self._with_consequences(events, self._fold(state, events, moment.version), moment)

    def _checked(self, state: AttendedState, request: Request | None, moment: Moment) -> Moment:
        for check in CHECKS:
            moment = check(self.rules, state, request, moment)
        return moment

    def _with_consequences(self, events: tuple[Event, ...], state: AttendedState, moment: Moment) -> EventsAndMatch:
        """Return ``events`` and all consequences, and the match after them. ``state``: the match after ``events``."""
        while _may_have_consequences(state.docket):
            after = rulings.moment_after(moment, events)
            news = next(filter(None, (follow(self.rules, state, after) for follow in CONSEQUENCES)), ())
            if not news:
                break
            state = self._fold(state, news, moment.version + len(events))
            events += news
        return events, state

    def _fold(self, state: AttendedState, events: tuple[Event, ...], version: int) -> AttendedState:
        for number, event in enumerate(events, version + 1):
            state = self.evolve(state, event, number)
        return state


@cache
def procedure_of(rules: Ruleset) -> Procedure:
    return Procedure(rules)
