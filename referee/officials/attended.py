"""Attended matches: a game together with the officials' docket (cases, shuffle, take-back).

Games do not use this layer. If a match is attended (:func:`attends`), its requests and events come here first. The
officials' own requests and events change the docket; all others go to the game. A match that is not attended uses its
ruleset directly.
"""

from collections.abc import Callable, Mapping
from functools import cache
from itertools import chain
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
Note = Callable[[Docket, Any, Event, int], Docket]
"""Returns the docket after an event of the game, given the state of the game after it and the event's number."""
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
FOR_OFFICIALS: frozenset[type] = frozenset((*HEARD, *DECIDED, *REVISIONS))
"""Requests that officials may decide, or whose events they may revise."""
_NOTES: tuple[Mapping[type[Event], Note], ...] = (incidents.NOTES, cases.NOTES, cases.NOTES_AT_END, shuffle.NOTES)
NOTES: Mapping[type[Event], tuple[Note, ...]] = {
    kind: tuple(notes[kind] for notes in _NOTES if kind in notes) for kind in chain.from_iterable(_NOTES)
}
"""The notes of each type of event, in order. While an act can be taken back, :mod:`takeback` notes every event."""
CONSEQUENCES: tuple[Consequence, ...] = (takeback.withdraw_overtaken, rulings.rule_by_agreement, shuffle.commit)


def before_request(state: AttendedState, request: Request, actor: Actor, first: int) -> AttendedState:
    """Return the match before the events of a request, the first of which has the number ``first``."""
    return takeback.before_request(state, request, actor, first)


def attends(opened: MatchOpened) -> bool:
    """Return whether a match has an adjudication or a shuffle by commitment, so that it is folded here."""
    return opened.adjudication is not None or opened.shuffle is not None


def _following(rules: Ruleset, state: AttendedState, moment: Moment, events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return the events of the first consequence that is due after these events, which come after the moment.

    The caller asks again for those that are due after them.
    """
    after = rulings.moment_after(moment, events)
    for follow in CONSEQUENCES:
        if news := follow(rules, state, after):
            return news
    return ()


def _may_follow(docket: Docket) -> bool:
    """Return whether a consequence may be due: a case waits for a ruling, or the next deal has no commitment."""
    shuffle = docket.shuffle
    return (shuffle is not None and shuffle.commitment is None) or any(case.is_open for case in docket.cases)


def _noted(docket: Docket, play: Any, event: Event, number: int) -> Docket:
    """Return the docket after an event of the game, given the state of the game after it."""
    for note in NOTES.get(type(event), ()):
        docket = note(docket, play, event, number)
    return docket if docket.last is None else takeback.note(docket, play, event, number)


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
        play = rules.evolve(state.play, event, number)
        return Attended(play=play, docket=_noted(state.docket, play, event, number), before=state.before)

    def folded(state: AttendedState, events: tuple[Event, ...], number: int) -> AttendedState:
        """Return the match after these events, the first of which follows on event ``number``."""
        for event in events:
            number += 1
            state = evolve(state, event, number)
        return state

    def settled(
        events: tuple[Event, ...], state: AttendedState, moment: Moment
    ) -> tuple[tuple[Event, ...], AttendedState]:
        """Return ``events`` (the first after the moment) with all consequences, and the match after them."""
        while _may_follow(state.docket) and (news := _following(rules, state, moment, events)):
            state = folded(state, news, moment.version + len(events))
            events += news
        return events, state

    def begin(state: AttendedState, moment: Moment) -> tuple[Event, ...]:
        before, state = settled((), state, moment)  # the house commits before it draws lots
        met, number = passed(state, None, replace(moment, version=0)), moment.version + len(before)
        events = rules.begin(state.play, replace(moment, version=number, seed=met.seed))
        return settled((*before, *events), folded(state, events, number), moment)[0]

    def passed(state: AttendedState, request: Request | None, moment: Moment) -> Moment:
        """Return the moment for the game, or raise the refusal of a check."""
        for check in CHECKS:
            moment = check(rules, state, request, moment)
        return moment

    def take_for_officials(
        state: AttendedState, request: Request, moment: Moment
    ) -> tuple[tuple[Event, ...], AttendedState]:
        """Take a request that the officials decide, or whose events they may revise."""
        kind, heard = type(request), state.docket.terms is not None
        decision = DECIDED.get(kind) or (HEARD.get(kind) if heard else None)
        if decision is not None:
            events = decision(rules, state, request, moment)
        else:
            events, play = rules.take(state.play, request, passed(state, request, moment))
            decided = events
            if heard and (revise := REVISIONS.get(kind)) is not None:
                events = revise(rules, state, request, decided, moment)
            if events == decided:
                return settled(events, noted(state, play, events, moment.version), moment)
        return settled(events, folded(state, events, moment.version), moment)

    def noted(state: AttendedState, play: Any, events: tuple[Event, ...], number: int) -> AttendedState:
        """Return the match after events of the game, given the state of the game after the last of them."""
        docket, last = state.docket, number
        for event in events:
            last += 1
            kind = type(event)
            if (notes := NOTES.get(kind)) is not None:
                if kind in cases.RULINGS:
                    return folded(state, events, number)
                for note in notes:
                    docket = note(docket, play, event, last)
            if docket.last is not None:
                docket = takeback.note(docket, play, event, last)
        return Attended(play=play, docket=docket, before=state.before)

    def take(state: AttendedState, request: Request, moment: Moment) -> tuple[tuple[Event, ...], AttendedState]:
        docket = state.docket
        if docket.takes_back is not None:
            state = before_request(state, request, moment.actor, moment.version + 1)
        if type(request) in FOR_OFFICIALS:
            return take_for_officials(state, request, moment)
        if not docket.cases and docket.shuffle is None:  # no check and no consequence can apply
            events, play = rules.take(state.play, request, moment)
            return events, noted(state, play, events, moment.version)
        # Only the game gets the derived seed, which is published later. The next commitment needs the secret one.
        events, play = rules.take(state.play, request, passed(state, request, moment))
        return settled(events, noted(state, play, events, moment.version), moment)

    return Procedure(
        state=Attended[rules.state],  # type: ignore[name-defined]
        start=start,
        begin=begin,
        take=take,
        evolve=evolve,
    )
