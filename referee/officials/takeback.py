"""Taking back the last act (J11): asked for by who did it, agreed to by all others, or ruled by an official.

The match keeps the game as it stood before the last act. Where nobody has learnt anything from the act, it can stand
so again; what has come to the officials meanwhile stays with them.
"""

from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from referee import offences, phases, seating
from referee.actors import Actor, is_official
from referee.acts import Act, AgreeStakes, TakeBack
from referee.events import LAYS_OPEN, MatchOpened
from referee.officials.events.cases import CaseWithdrawn
from referee.officials.events.takeback import ActTakenBack, TakeBackAsked
from referee.officials.state import Case, Docket, LastAct, Standing, TakesBack, holding
from referee.phases import Over
from referee.refusals import AgainstTheRules, Refused, WrongPhase
from referee.requests import Request
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event, seen

ALONE = frozenset(("tally",))
"""Dealings in which nobody need agree: what was written down is written otherwise."""


def takes_back(opened: MatchOpened) -> TakesBack | None:
    """How an act is taken back in a match so opened."""
    if opened.adjudication is None or not opened.adjudication.take_back:
        return None
    return "alone" if opened.dealing in ALONE else "agreed"


def check_opening(opened: MatchOpened) -> None:
    """J11: where errors stand until somebody knocks, taking back would take the knock away."""
    if takes_back(opened) == "agreed" and opened.enforcement == "penalise":
        raise AgainstTheRules("take_back_needs_refuse", "J11")


# What is kept of the last act


def begins(standing: Standing, request: Request, actor: Actor, first: int) -> Standing:
    """The match when something is asked for: before an act it keeps how all stands."""
    docket = standing.docket
    if docket.takes_back is None:
        return standing
    if isinstance(request, Act) and not isinstance(request, TakeBack | AgreeStakes):
        last = LastAct(actor=actor, first=first)
        return replace(standing, before=replace(standing, before=None), docket=replace(docket, last=last))
    if docket.last is None:
        return standing
    return replace(standing, docket=replace(docket, last=replace(docket.last, done=True)))


def noted(standing: Standing, event: Event, number: int) -> Docket:
    """The docket after an event of the game: of the last act, or after it."""
    docket = standing.docket
    if (last := docket.last) is None:
        return docket
    if last.done:
        return docket if type(event) in seating.FACTS else replace(docket, last=None)
    last = replace(last, last=number, seen=last.seen or _shows(event, standing.play.table.seats))
    return replace(docket, last=last)


def _shows(event: Event, seats: int) -> bool:
    """J11: whether an event differs between seats, has a seed or ends a deal."""
    if type(event) in LAYS_OPEN or getattr(event, "seed", None) is not None:
        return True
    if not event.HIDDEN:
        return False
    told = seen(event, 0, False)
    return any(seen(event, seat, False) != told for seat in range(1, seats))


def kept(before: Standing, after: Standing) -> Standing:
    """The match after an event of the officials': where that changed the game, the act before it stands."""
    if after.docket.last is None or after.play is before.play or after.play == _carried(before.play, after.play):
        return after
    return replace(after, docket=replace(after.docket, last=None))


def _carried(play: Any, now: Any) -> Any:
    """The game as it stood, with what is the same whatever is played: seating, and the number of the last case."""
    table, ledger = play.table, replace(play.table.ledger, cases=now.table.ledger.cases)
    return replace(play, table=replace(table, ledger=ledger, seating=now.table.seating))


def check_play(docket: Docket) -> None:
    """J5: refuses where play is held."""
    if waiting := holding(docket):
        raise WrongPhase("held", "J5", cases=waiting)


# Asking, agreeing and ruling


def take_back(rules: Ruleset, standing: Standing, act: TakeBack, moment: Moment) -> tuple[Event, ...]:
    """J11: a seat wants its act to be taken back, or agrees to another's; the last to agree takes it back."""
    with suppress(WrongPhase):
        rules.take(standing.play, act, moment)  # no game has this act; who may do nothing at all is refused first
    check_play(standing.docket)
    seat = act.seat
    last = takeable(standing, seat)
    case = standing.play.table.ledger.next_case
    if standing.docket.takes_back == "alone":
        return (ActTakenBack(case=case, seat=seat, first=last.first, last=last.last),)
    if seat in last.asked:
        raise WrongPhase("take_back_asked", "J11", pending=awaited(standing))
    asked = TakeBackAsked(seat=seat, first=last.first, last=last.last)
    if set(awaited(standing)) <= {seat, last.actor}:
        return asked, ActTakenBack(case=case, seat=last.asked[0], first=last.first, last=last.last)
    return (asked,)


def takeable(standing: Standing, by: Actor | None = None) -> LastAct:
    """The last act, which can be taken back. Refuses where it cannot, and ``by`` whom nobody is asked yet: whether
    somebody told the match which cards he threw away is not for the others to find out."""
    takes_back = standing.docket.takes_back
    if takes_back is None:
        raise WrongPhase("no_taking_back", "J11")
    last = standing.docket.last
    if last is None or not last.last:
        raise WrongPhase("nothing_to_take_back", "J11")
    of_seats = isinstance(by, int) and isinstance(last.actor, int)
    if takes_back == "agreed" and of_seats and not last.asked and by != last.actor:
        raise WrongPhase("not_your_act", "J11", seat=last.actor)
    if last.seen:
        raise WrongPhase("seen_already", "J11")
    return last


def awaited(standing: Standing) -> tuple[int, ...]:
    """The seats that have to agree still: all who are in the match."""
    last = standing.docket.last
    asked = () if last is None else last.asked
    return tuple(seat for seat in standing.play.table.active if seat not in asked)


def meant(standing: Standing, by: Actor) -> tuple[int, ...]:
    """J11: the events of the last act, of which an official or who did it says that it was a misclick. Refuses where
    it cannot be taken back."""
    last = takeable(standing, by)
    if standing.docket.takes_back == "agreed" and not is_official(by) and by != last.actor:
        raise WrongPhase("not_your_act", "J11", seat=last.actor)
    return tuple(range(last.first, last.last + 1))


def ruled(standing: Standing, case: Case) -> tuple[Event, ...]:
    """J11: Return the event that takes back the act of a case. Raises WrongPhase if that act is not the last."""
    last = takeable(standing)
    if last.first not in case.events:
        raise WrongPhase("nothing_to_take_back", "J11")
    return (ActTakenBack(case=case.case, first=last.first, last=last.last),)


def overtaken(rules: Ruleset, standing: Standing, moment: Moment) -> tuple[Event, ...]:
    """J11: Withdraw a misclick case whose act can no longer be taken back: no ruling on it could have an effect."""
    for case in standing.docket.cases:
        if case.is_open and case.kind == "misclick":
            try:
                ruled(standing, case)
            except Refused:
                return (CaseWithdrawn(case=case.case, overtaken=True),)
    return ()


def offers(standing: Standing, seat: int) -> tuple[Act, ...]:
    """What a seat may do now about the last act: ask that it be taken back, or agree."""
    docket, table = standing.docket, standing.play.table
    if docket.takes_back is None or isinstance(standing.play, Over) or seat not in table.active:
        return ()
    try:
        last = takeable(standing)
    except Refused:
        return ()
    may = docket.takes_back == "alone" or (seat not in last.asked and (last.asked or seat == last.actor))
    return (TakeBack(seat=seat),) if may else ()


# What comes of it


def asked(rules: Ruleset, standing: Standing, event: TakeBackAsked, number: int) -> Standing:
    """One more seat wants the last act to be taken back."""
    docket = standing.docket
    assert docket.last is not None, "it was asked for"
    last = replace(docket.last, asked=(*docket.last.asked, event.seat))
    return replace(standing, docket=replace(docket, last=last))


def undone(rules: Ruleset, standing: Standing, event: ActTakenBack, number: int) -> Standing:
    """The match as it stood before the last act. What is the officials' stays: the cases, and what the house has
    committed to. Where the table agreed, that is a case of its own."""
    before, docket = standing.before, standing.docket
    assert before is not None, "it was kept"
    play = _carried(before.play, standing.play)
    docket = replace(before.docket, cases=docket.cases, shuffle=docket.shuffle, last=None)
    if event.seat is not None:
        deal = phases.deal_of(play)
        case = Case(
            case=event.case,
            by=event.seat,
            kind="misclick",
            deal=deal,
            during=deal,
            events=event.undone,
            status="ruled",
            instance=1,
            verdict="upheld",
            ruled_by=(None,),
        )
        play, docket = offences.taken_up(play, event.case, None, None, ()), docket.with_case(case)
    return replace(standing, play=play, before=None, docket=docket)
