"""What stands above the games: officials, who hear what events cannot decide, and what they keep in order.

Games know no officials. A match that is attended (:func:`attends`) is folded here: what is theirs changes the docket,
all else the game, and each request goes first to whom it belongs. A match without them is its game's alone, event for
event, and never comes here.
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
"""The events that a request makes which is the officials' to decide, or a refusal."""
Evolution = Callable[[Ruleset, AttendedState, Any, int], AttendedState]
"""The match after an event of the officials', and its number."""
Passing = Callable[[Ruleset, AttendedState, Any, Moment], Moment]
"""What a request of the game meets on its way there: it may be refused, or given another moment."""
Turning = Callable[[Ruleset, AttendedState, Any, tuple[Event, ...], Moment], tuple[Event, ...]]
"""What the officials make of the events that a request of the game would make."""
Noting = Callable[[AttendedState, Event, int], Docket]
"""The docket after an event of the game, and its number; the game has evolved already."""
Consequence = Callable[[Ruleset, AttendedState, Moment], tuple[Event, ...]]
"""Events of the officials' that follow by themselves; none: nothing is due."""

HEAR: Mapping[type, Decision] = {
    Knock: cases.knock,
    OpenCase: cases.open_case,
    Statement: cases.make_statement,
    Withdrawal: cases.withdraw,
    Appeal: cases.appeal,
    Ruling: rulings.rule,
    Correct: corrections.correct,
    TakeBack: takeback.take_back,
}
"""Whose these requests are where there are officials to hear them."""
DECIDE: Mapping[type, Decision] = {Entropy: shuffle.give}
"""Whose these requests are in any case."""
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
"""Whose these events are."""
PASS: tuple[Passing, ...] = (cases.check_not_held, shuffle.with_seed)
TURN: Mapping[type, Turning] = {Report: cases.revise_report, Result: cases.revise_result}
NOTE: tuple[Noting, ...] = (incidents.note, cases.note, shuffle.note, takeback.note)
FOLLOW: tuple[Consequence, ...] = (takeback.withdraw_overtaken, rulings.rule_by_agreement, shuffle.commit)


def before_request(state: AttendedState, request: Request, actor: Actor, first: int) -> AttendedState:
    """The match when something is asked for, of which event ``first`` is the first: before what comes of it."""
    return takeback.before_request(state, request, actor, first)


def attends(opened: MatchOpened) -> bool:
    """Whether officials have more to do with a match than to void a deal or to end it."""
    return opened.adjudication is not None or opened.shuffle is not None


def _following(rules: Ruleset, state: AttendedState, moment: Moment) -> tuple[Event, ...]:
    """The first events that are due by themselves; what is due after them is asked for anew."""
    for follow in FOLLOW:
        if events := follow(rules, state, moment):
            return events
    return ()


class Procedure(Value):
    """A game with its officials: the rules that fold an attended match."""

    state: Any
    """The type of how it stands, for snapshots."""
    start: Callable[[MatchOpened], AttendedState]
    begin: Callable[[AttendedState, Moment], tuple[Event, ...]]
    take: Callable[[AttendedState, Request, Moment], tuple[tuple[Event, ...], AttendedState]]
    evolve: Callable[[AttendedState, Event, int], AttendedState]


@cache
def attended(rules: Ruleset) -> Procedure:
    """The procedure by which the officials attend to a game."""

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
        for note in NOTE:
            docket = note(state, event, number)
            if docket is not state.docket:
                state = replace(state, docket=docket)
        return state

    def settled(
        state: AttendedState, events: tuple[Event, ...], moment: Moment
    ) -> tuple[tuple[Event, ...], AttendedState]:
        """These events, which come after the moment, and all that follow; the match then."""
        while news := _following(rules, state, rulings.moment_after(moment, events)):
            number = moment.version + len(events)
            for event in news:
                number += 1
                state = evolve(state, event, number)
            events += news
        return events, state

    def begin(state: AttendedState, moment: Moment) -> tuple[Event, ...]:
        before, state = settled(state, (), moment)  # whoever draws lots has committed to them
        met, number = passed(state, None, replace(moment, version=0)), moment.version + len(before)
        events = rules.begin(state.play, replace(moment, version=number, seed=met.seed))
        for event in events:
            number += 1
            state = evolve(state, event, number)
        return settled(state, (*before, *events), moment)[0]

    def passed(state: AttendedState, request: Request | None, moment: Moment) -> Moment:
        """The moment as the game meets it."""
        for meet in PASS:
            moment = meet(rules, state, request, moment)
        return moment

    def take(state: AttendedState, request: Request, moment: Moment) -> tuple[tuple[Event, ...], AttendedState]:
        kind, number, heard = type(request), moment.version, state.docket.terms is not None
        decision = DECIDE.get(kind) or (HEAR.get(kind) if heard else None)
        state = before_request(state, request, moment.actor, number + 1)
        if decision is not None:
            events = decision(rules, state, request, moment)
            for event in events:
                number += 1
                state = evolve(state, event, number)
            return settled(state, events, moment)
        # What follows for the officials keeps the seed that came from outside: what the game was given is told.
        events = rules.take(state.play, request, passed(state, request, moment))[0]
        if heard and (turn := TURN.get(kind)) is not None:
            events = turn(rules, state, request, events, moment)
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
