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
from referee.officials.state import Attended, Docket, Standing
from referee.requests import Appeal, Correct, OpenCase, Request, Ruling, Statement, Withdrawal
from referee.ruleset import Moment, Ruleset
from referee.value import Value
from referee.visibility import Event

Decision = Callable[[Ruleset, Standing, Any, Moment], tuple[Event, ...]]
"""The events that a request makes which is the officials' to decide, or a refusal."""
Evolution = Callable[[Ruleset, Standing, Any, int], Standing]
"""The match after an event of the officials', and its number."""
Passing = Callable[[Ruleset, Standing, Any, Moment], Moment]
"""What a request of the game meets on its way there: it may be refused, or given another moment."""
Turning = Callable[[Ruleset, Standing, Any, tuple[Event, ...], Moment], tuple[Event, ...]]
"""What the officials make of the events that a request of the game would make."""
Noting = Callable[[Standing, Event, int], Docket]
"""The docket after an event of the game, and its number; the game has evolved already."""
Consequence = Callable[[Ruleset, Standing, Moment], tuple[Event, ...]]
"""Events of the officials' that follow by themselves; none: nothing is due."""

HEAR: Mapping[type, Decision] = {
    Knock: cases.knock,
    OpenCase: cases.open_case,
    Statement: cases.state,
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
    CaseOpened: cases.opened,
    CaseStated: cases.stated,
    CaseWithdrawn: cases.withdrawn,
    CaseRuled: rulings.evolve,
    CaseAppealed: cases.appealed,
    ProtocolCorrected: corrections.resumed,
    EntropyGiven: shuffle.given,
    ShuffleCommitted: shuffle.committed,
    TakeBackAsked: takeback.asked,
    ActTakenBack: takeback.undone,
}
"""Whose these events are."""
PASS: tuple[Passing, ...] = (cases.held, shuffle.chance)
TURN: Mapping[type, Turning] = {Report: cases.report, Result: cases.entered}
NOTE: tuple[Noting, ...] = (incidents.noted, cases.noted, shuffle.noted, takeback.noted)
FOLLOW: tuple[Consequence, ...] = (takeback.overtaken, rulings.agreed, shuffle.commit)


def asked(standing: Standing, request: Request, actor: Actor, first: int) -> Standing:
    """The match when something is asked for, of which event ``first`` is the first: before what comes of it."""
    return takeback.begins(standing, request, actor, first)


def attends(opened: MatchOpened) -> bool:
    """Whether officials have more to do with a match than to void a deal or to end it."""
    return opened.adjudication is not None or opened.shuffle is not None


def _following(rules: Ruleset, standing: Standing, moment: Moment) -> tuple[Event, ...]:
    """The first events that are due by themselves; what is due after them is asked for anew."""
    for follow in FOLLOW:
        if events := follow(rules, standing, moment):
            return events
    return ()


class Procedure(Value):
    """A game with its officials: the rules that fold an attended match."""

    state: Any
    """The type of how it stands, for snapshots."""
    start: Callable[[MatchOpened], Standing]
    begin: Callable[[Standing, Moment], tuple[Event, ...]]
    take: Callable[[Standing, Request, Moment], tuple[tuple[Event, ...], Standing]]
    evolve: Callable[[Standing, Event, int], Standing]


@cache
def attended(rules: Ruleset) -> Procedure:
    """The procedure by which the officials attend to a game."""

    def start(opened: MatchOpened) -> Standing:
        docket = Docket(
            terms=opened.adjudication,
            shuffle=shuffle.begun(opened),
            takes_back=takeback.takes_back(opened),
            of_club=opened.club is not None,
        )
        return Attended(play=rules.start(opened), docket=docket)

    def evolve(standing: Standing, event: Event, number: int) -> Standing:
        own = EVOLVE.get(type(event))
        if own is not None:
            return takeback.kept(standing, own(rules, standing, event, number))
        return noted(replace(standing, play=rules.evolve(standing.play, event, number)), event, number)

    def noted(standing: Standing, event: Event, number: int) -> Standing:
        docket = standing.docket
        for note in NOTE:
            docket = note(standing, event, number)
            if docket is not standing.docket:
                standing = replace(standing, docket=docket)
        return standing

    def settled(standing: Standing, events: tuple[Event, ...], moment: Moment) -> tuple[tuple[Event, ...], Standing]:
        """These events, which come after the moment, and all that follow; the match then."""
        while news := _following(rules, standing, rulings.later(moment, events)):
            number = moment.version + len(events)
            for event in news:
                number += 1
                standing = evolve(standing, event, number)
            events += news
        return events, standing

    def begin(standing: Standing, moment: Moment) -> tuple[Event, ...]:
        before, standing = settled(standing, (), moment)  # whoever draws lots has committed to them
        met, number = passed(standing, None, replace(moment, version=0)), moment.version + len(before)
        events = rules.begin(standing.play, replace(moment, version=number, seed=met.seed))
        for event in events:
            number += 1
            standing = evolve(standing, event, number)
        return settled(standing, (*before, *events), moment)[0]

    def passed(standing: Standing, request: Request | None, moment: Moment) -> Moment:
        """The moment as the game meets it."""
        for meet in PASS:
            moment = meet(rules, standing, request, moment)
        return moment

    def take(standing: Standing, request: Request, moment: Moment) -> tuple[tuple[Event, ...], Standing]:
        kind, number, heard = type(request), moment.version, standing.docket.terms is not None
        decision = DECIDE.get(kind) or (HEAR.get(kind) if heard else None)
        standing = asked(standing, request, moment.actor, number + 1)
        if decision is not None:
            events = decision(rules, standing, request, moment)
            for event in events:
                number += 1
                standing = evolve(standing, event, number)
            return settled(standing, events, moment)
        # What follows for the officials keeps the seed that came from outside: what the game was given is told.
        events = rules.take(standing.play, request, passed(standing, request, moment))[0]
        if heard and (turn := TURN.get(kind)) is not None:
            events = turn(rules, standing, request, events, moment)
        for event in events:
            number += 1
            standing = evolve(standing, event, number)
        return settled(standing, events, moment)

    return Procedure(
        state=Attended[rules.state],  # type: ignore[name-defined]
        start=start,
        begin=begin,
        take=take,
        evolve=evolve,
    )
