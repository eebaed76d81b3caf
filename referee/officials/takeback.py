"""Take-back of the last act (J11): the match returns to its state before the act, with the present cases."""

from contextlib import suppress
from typing import Any

from msgspec.structs import replace

from referee import offences, phases, seating
from referee.actors import Actor, actor_at, is_official, seat_of
from referee.acts import Act, AgreeStakes, TakeBack
from referee.events import DEAL_ENDS, MatchOpened
from referee.officials.events.cases import CaseWithdrawn
from referee.officials.events.takeback import ActTakenBack, TakeBackAsked
from referee.officials.state import AttendedState, Case, Docket, LastAct, TakesBack, cases_holding_play
from referee.phases import Over
from referee.refusals import AgainstTheRules, Refused, WrongPhase
from referee.requests import Request
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event, as_seen_by


def take_back_mode(opened: MatchOpened) -> TakesBack | None:
    """Return ``alone`` in a tally, otherwise ``agreed``; ``None`` if the match has no take-backs."""
    if opened.adjudication is None or not opened.adjudication.take_back:
        return None
    return "alone" if opened.dealing == "tally" else "agreed"


def check_opening(opened: MatchOpened) -> None:
    """Raise AgainstTheRules for ``agreed`` take-backs with ``penalise``, because they would remove breaches (J11)."""
    if take_back_mode(opened) == "agreed" and opened.enforcement == "penalise":
        raise AgainstTheRules("take_back_needs_refuse", "J11")


def before_request(state: AttendedState, request: Request, actor: Actor, first: int) -> AttendedState:
    """Return the match before a request's events, with the present state stored if the request is an act of the play.

    Any other request ends the last act. ``first``: number of the first event.
    """
    docket = state.docket
    if docket.takes_back is None:
        return state
    if isinstance(request, Act) and not isinstance(request, TakeBack | AgreeStakes):
        last = LastAct(actor=actor, first=first)
        return replace(state, before=replace(state, before=None), docket=replace(docket, last=last))
    if docket.last is None:
        return state
    return replace(state, docket=replace(docket, last=replace(docket.last, done=True)))


def note_event(docket: Docket, play: Any, event: Event, number: int) -> Docket:
    """Return the docket after an event. After the last act, any event but one of seating prevents its take-back."""
    if (last := docket.last) is None:
        return docket
    if last.done:
        return docket if type(event) in seating.SEATING_EVENTS else replace(docket, last=None)
    last = replace(last, last=number, seen=last.seen or _reveals(event, play.table.seats))
    return replace(docket, last=last)


def _reveals(event: Event, seats: int) -> bool:
    """Return whether an event shows different data to different seats, has a seed, or ends a deal (J11)."""
    if type(event) in DEAL_ENDS or getattr(event, "seed", None) is not None:
        return True
    if not event.HIDDEN:
        return False
    first = as_seen_by(event, 0, False)
    return any(as_seen_by(event, seat, False) != first for seat in range(1, seats))


def with_last_act_checked(before: AttendedState, after: AttendedState) -> AttendedState:
    """Return ``after``, without the last act if the game changed in more than seating and number of cases."""
    if (
        after.docket.last is None
        or after.play is before.play
        or after.play == _with_lasting_parts(before.play, after.play)
    ):
        return after
    return replace(after, docket=replace(after.docket, last=None))


def _with_lasting_parts(play: Any, now: Any) -> Any:
    """Return game ``play`` with the seating and number of cases of game ``now``."""
    table, ledger = play.table, replace(play.table.ledger, cases=now.table.ledger.cases)
    return replace(play, table=replace(table, ledger=ledger, seating=now.table.seating))


def check_play_not_held(docket: Docket) -> None:
    """Raise WrongPhase while play is held for a case (J5)."""
    if waiting := cases_holding_play(docket):
        raise WrongPhase("held", "J5", cases=waiting)


def take_back(rules: Ruleset, state: AttendedState, act: TakeBack, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a seat that asks for the take-back of the last act, or agrees to it (J11).

    After the last agreement, returns the take-back, too; in mode ``alone``, only the take-back. Raises WrongPhase
    while play is held or if the seat has asked already, the game's refusals except WrongPhase, and what
    :func:`act_to_take_back` raises.
    """
    with suppress(WrongPhase):
        rules.take(state.play, act, moment)  # no game has this act, but each refuses a seat that may not act at all
    check_play_not_held(state.docket)
    seat = act.seat
    last = act_to_take_back(state, actor_at(seat))
    case = state.play.table.ledger.next_case
    if state.docket.takes_back == "alone":
        return (ActTakenBack(case=case, seat=seat, first=last.first, last=last.last),)
    if seat in last.asked:
        raise WrongPhase("take_back_asked", "J11", pending=seats_to_agree(state))
    asked = TakeBackAsked(seat=seat, first=last.first, last=last.last)
    if set(seats_to_agree(state)) <= {seat, seat_of(last.actor)}:
        return asked, ActTakenBack(case=case, seat=last.asked[0], first=last.first, last=last.last)
    return (asked,)


def act_to_take_back(state: AttendedState, by: Actor | None = None) -> LastAct:
    """Return the last act.

    Raises WrongPhase if the act cannot be taken back, or if the act's seat must ask before the seat ``by``.
    """
    takes_back = state.docket.takes_back
    if takes_back is None:
        raise WrongPhase("no_taking_back", "J11")
    last = state.docket.last
    if last is None or not last.last:
        raise WrongPhase("nothing_to_take_back", "J11")
    player, other = seat_of(last.actor), None if by is None else seat_of(by)
    if takes_back == "agreed" and player is not None and not last.asked and other not in (None, player):
        raise WrongPhase("not_your_act", "J11", seat=player)
    if last.seen:  # checked last, because this refusal shows other seats whether the discarded cards are entered
        raise WrongPhase("seen_already", "J11")
    return last


def seats_to_agree(state: AttendedState) -> tuple[int, ...]:
    """Return the active seats that have neither asked for the take-back nor agreed."""
    last = state.docket.last
    agreed = () if last is None else last.asked
    return tuple(seat for seat in state.play.table.active if seat not in agreed)


def misclick_events(state: AttendedState, by: Actor) -> tuple[int, ...]:
    """Return the numbers of the last act's events, for a case about a misclick (J11).

    Raises what :func:`act_to_take_back` raises, and WrongPhase in mode ``agreed`` if ``by`` is neither an official
    nor the act's actor.
    """
    last = act_to_take_back(state, by)
    if state.docket.takes_back == "agreed" and not is_official(by) and by != last.actor:
        raise WrongPhase("not_your_act", "J11", seat=seat_of(last.actor))
    return tuple(range(last.first, last.last + 1))


def take_back_events(state: AttendedState, case: Case) -> tuple[Event, ...]:
    """Return the event that takes back the act of a case (J11).

    Raises WrongPhase if the act is not the last, and what :func:`act_to_take_back` raises.
    """
    last = act_to_take_back(state)
    if last.first not in case.events:
        raise WrongPhase("nothing_to_take_back", "J11")
    return (ActTakenBack(case=case.case, first=last.first, last=last.last),)


def withdraw_overtaken(rules: Ruleset, state: AttendedState, moment: Moment) -> tuple[Event, ...]:
    """Return the event that withdraws a misclick case whose act cannot be taken back now; else no event (J11)."""
    for case in state.docket.cases:
        if case.is_open and case.kind == "misclick":
            try:
                take_back_events(state, case)
            except Refused:
                return (CaseWithdrawn(case=case.case, overtaken=True),)
    return ()


def take_back_acts(state: AttendedState, seat: int) -> tuple[Act, ...]:
    """Return the take-back that a seat may request or agree to unless play is held; empty: none."""
    docket, table = state.docket, state.play.table
    if docket.takes_back is None or isinstance(state.play, Over) or seat not in table.active:
        return ()
    try:
        last = act_to_take_back(state)
    except Refused:
        return ()
    may = docket.takes_back == "alone" or (seat not in last.asked and (last.asked or actor_at(seat) == last.actor))
    return (TakeBack(seat=seat),) if may else ()


def after_asked(rules: Ruleset, state: AttendedState, event: TakeBackAsked, number: int) -> AttendedState:
    docket = state.docket
    assert docket.last is not None, "a seat has asked to take back an act"
    last = replace(docket.last, asked=(*docket.last.asked, event.seat))
    return replace(state, docket=replace(docket, last=last))


def after_taken_back(rules: Ruleset, state: AttendedState, event: ActTakenBack, number: int) -> AttendedState:
    """Return the match before the last act, with the present cases, seating and shuffle.

    A take-back by the seats adds a decided case.
    """
    before, docket = state.before, state.docket
    assert before is not None, "the match has the state before the last act"
    play = _with_lasting_parts(before.play, state.play)
    docket = replace(before.docket, cases=docket.cases, shuffle=docket.shuffle, last=None)
    if event.seat is not None:
        deal = phases.deal_of(play)
        case = Case(
            case=event.case,
            by=actor_at(event.seat),
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
    return replace(state, play=play, before=None, docket=docket)
