"""Attended matches: a game together with the officials' docket (cases, shuffle, take-back).

Games do not use this layer. If a match is attended (:func:`attends`), its requests and events come here first. The
officials' own requests and events change the docket; all others go to the game. A match that is not attended uses its
ruleset directly.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from msgspec.structs import replace

from referee.actors import Actor
from referee.acts import Entropy, Knock, Report, Result, TakeBack
from referee.events import MatchOpened
from referee.officials import cases, corrections, incidents, rulings, shuffle, takeback
from referee.officials.events.cases import CaseAppealed, CaseOpened, CaseRuled, CaseStated, CaseWithdrawn
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.shuffle import EntropyGiven, ShuffleCommitted
from referee.officials.events.takeback import ActTakenBack, TakeBackAsked
from referee.officials.state import Attended, AttendedState, Docket
from referee.requests import Appeal, Correct, OpenCase, Request, Ruling, Statement, Withdrawal
from referee.ruleset import Moment, Ruleset
from referee.value import Value
from referee.visibility import Event

Decision = Callable[[Ruleset, AttendedState, Any, Moment], tuple[Event, ...]]
"""Returns the events of a request that the officials decide, or raises a refusal."""
Evolution = Callable[[Ruleset, AttendedState, Any, int], AttendedState]
"""Returns the match after an event of the officials, given the event's number."""
Check = Callable[[Ruleset, AttendedState, Any, Moment], Moment]
"""Runs before a request reaches the game: returns the moment for the game, or raises a refusal."""
Revision = Callable[[Ruleset, AttendedState, Any, tuple[Event, ...], Moment], tuple[Event, ...]]
"""Returns the events to record instead of those that the game has decided on."""
Note = Callable[[AttendedState, Event, int], Docket]
"""Returns the docket after an event of the game, given its number. The game has folded the event already."""
Consequence = Callable[[Ruleset, AttendedState, Moment], tuple[Event, ...]]
"""Returns the officials' events that are due without a request; empty if none is due."""

HEARD: Mapping[type, Decision] = {
    Knock: cases.knock,
    OpenCase: cases.open_case,
    Statement: cases.make_statement,
    Withdrawal: cases.withdraw,
    Appeal: cases.appeal,
    Ruling: rulings.rule,
    Correct: corrections.correct,
    TakeBack: takeback.take_back,
}
"""Requests that are decided here if the match has officials."""
DECIDED: Mapping[type, Decision] = {Entropy: shuffle.give}
"""Requests that are decided here in every attended match."""
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
"""Events of the officials, each with the function that folds it."""
CHECKS: tuple[Check, ...] = (cases.check_not_held, shuffle.with_seed)
REVISIONS: Mapping[type, Revision] = {Report: cases.revise_report, Result: cases.revise_result}
NOTES: tuple[Note, ...] = (incidents.note, cases.note, shuffle.note, takeback.note)
CONSEQUENCES: tuple[Consequence, ...] = (takeback.withdraw_overtaken, rulings.rule_by_agreement, shuffle.commit)


def before_request(state: AttendedState, request: Request, actor: Actor, first: int) -> AttendedState:
    """Return the match before the events of a request, the first of which has the number ``first``."""
    return takeback.before_request(state, request, actor, first)


def attends(opened: MatchOpened) -> bool:
    """Return whether a match has an adjudication or a shuffle by commitment, so that it is folded here."""
    return opened.adjudication is not None or opened.shuffle is not None


def _following(rules: Ruleset, state: AttendedState, moment: Moment) -> tuple[Event, ...]:
    """Return the events of the first consequence that is due; the caller asks again for those that are due after."""
    for follow in CONSEQUENCES:
        if events := follow(rules, state, moment):
            return events
    return ()


class Procedure(Value):
    """The rules by which an attended match is decided and folded: those of a game with its officials."""

    state: Any
    """The type of the state, for snapshots."""
    start: Callable[[MatchOpened], AttendedState]
    begin: Callable[[AttendedState, Moment], tuple[Event, ...]]
    take: Callable[[AttendedState, Request, Moment], tuple[tuple[Event, ...], AttendedState]]
    evolve: Callable[[AttendedState, Event, int], AttendedState]


@cache
def attended(rules: Ruleset) -> Procedure:
    """Return the procedure for the attended matches of a game."""

    def start(opened: MatchOpened) -> AttendedState:
        docket = Docket(
            terms=opened.adjudication,
            shuffle=shuffle.shuffle_of(opened),
            takes_back=takeback.takes_back(opened),
            of_club=opened.club is not None,
        )
        return Attended(play=rules.start(opened), docket=docket)

    def evolve(state: AttendedState, event: Event, number: int) -> AttendedState:
        own = EVOLVE.get(type(event))
        if own is not None:
            return takeback.with_last_act_checked(state, own(rules, state, event, number))
        return noted(replace(state, play=rules.evolve(state.play, event, number)), event, number)

    def noted(state: AttendedState, event: Event, number: int) -> AttendedState:
        docket = state.docket
        for note in NOTES:
            docket = note(state, event, number)
            if docket is not state.docket:
                state = replace(state, docket=docket)
        return state

    def settled(
        state: AttendedState, events: tuple[Event, ...], moment: Moment
    ) -> tuple[tuple[Event, ...], AttendedState]:
        """Return ``events`` (the first after the moment) with all consequences, and the match after them."""
        while news := _following(rules, state, rulings.moment_after(moment, events)):
            number = moment.version + len(events)
            for event in news:
                number += 1
                state = evolve(state, event, number)
            events += news
        return events, state

    def begin(state: AttendedState, moment: Moment) -> tuple[Event, ...]:
        before, state = settled(state, (), moment)  # the house commits before it draws lots
        met, number = passed(state, None, replace(moment, version=0)), moment.version + len(before)
        events = rules.begin(state.play, replace(moment, version=number, seed=met.seed))
        for event in events:
            number += 1
            state = evolve(state, event, number)
        return settled(state, (*before, *events), moment)[0]

    def passed(state: AttendedState, request: Request | None, moment: Moment) -> Moment:
        """Return the moment for the game, or raise the refusal of a check."""
        for check in CHECKS:
            moment = check(rules, state, request, moment)
        return moment

    def take(state: AttendedState, request: Request, moment: Moment) -> tuple[tuple[Event, ...], AttendedState]:
        kind, number, heard = type(request), moment.version, state.docket.terms is not None
        decision = DECIDED.get(kind) or (HEARD.get(kind) if heard else None)
        state = before_request(state, request, moment.actor, number + 1)
        if decision is not None:
            events = decision(rules, state, request, moment)
            for event in events:
                number += 1
                state = evolve(state, event, number)
            return settled(state, events, moment)
        # Only the game gets the derived seed, which is published later. The next commitment needs the secret one.
        events = rules.take(state.play, request, passed(state, request, moment))[0]
        if heard and (revise := REVISIONS.get(kind)) is not None:
            events = revise(rules, state, request, events, moment)
        for event in events:
            number += 1
            state = evolve(state, event, number)
        return settled(state, events, moment)

    return Procedure(
        state=Attended[rules.state],  # type: ignore[name-defined]
        start=start,
        begin=begin,
        take=take,
        evolve=evolve,
    )
