"""Decisions that open cases, and on statements, withdrawals and appeals (J1-J3, J5-J7, J9-J11)."""

from typing import Any

from msgspec.structs import replace

from referee import offences, phases, seating
from referee.actors import Actor, actor_at, is_official, officials
from referee.acts import Abandon, Close, Knock, Report, Result, Void
from referee.events import DEAL_ENDS, DealScored, Dealt, KnockDismissed, KnockUpheld, PenaltyImposed, Reported
from referee.offences import DISMISSED_MAX
from referee.officials import incidents, remedies, takeback
from referee.officials.events.cases import CaseAppealed, CaseOpened, CaseStated, CaseWithdrawn
from referee.officials.rulings import adjudication_of, appeal_until, check_agreement, check_events
from referee.officials.state import AttendedState, Case, Docket, DocketUpdates, status_at
from referee.refusals import AgainstTheRules, NotInPlay, NotYours, Refused, WrongPhase
from referee.requests import Appeal, OpenCase, Statement, Withdrawal
from referee.ruleset import Moment, Ruleset
from referee.value import CaseKind
from referee.visibility import Event, as_seen_by

OPEN_MAX = 3
"""Maximum cases opened by one seat that wait for their first ruling."""
STATEMENTS_MAX = 20
"""Maximum statements of one seat in one case, counted again after an appeal."""


def knock(rules: Ruleset, state: AttendedState, request: Knock, moment: Moment) -> tuple[Event, ...]:
    """Return the game's ruling on a knock, with its penalty, or the event that opens or joins a case (J1).

    Opens one if events cannot show the offence, or if only a seat that would not pay reported it. Raises the game's
    refusals, and what :func:`_open_or_join` raises.
    """
    try:
        events, decided = _ruled_by_game(rules, state, request, moment)
    except WrongPhase:
        payer = None if rules.knocks else _payer_of_unseen(rules, state, request.offence, request.accused)
        if payer is None:
            raise
        return _open_or_join(rules, state, request, request.offence, payer, moment)
    ruling = events[0]
    if isinstance(ruling, KnockUpheld):
        reporters = {event: seat for event, seat, _ in state.docket.reports}
        if reporters.get(ruling.rests_on[-1]) not in (None, ruling.payer):
            return _open_for_knock(state, request, offence=ruling.offence, payer=ruling.payer, events=ruling.rests_on)
    assert isinstance(ruling, KnockUpheld | KnockDismissed), "a knock is ruled on"
    if isinstance(ruling, KnockDismissed) and _seems_for_nothing(ruling):
        payer = _payer_of_unseen(rules, state, ruling.named, request.accused)
        if payer is not None:
            return _open_or_join(rules, state, request, ruling.named, payer, moment)
    if isinstance(ruling, KnockDismissed) and ruling.of is not None:
        decided = decided or state.docket.case(ruling.of)
        if decided.is_open:
            return _join_case(state, decided, request.seat, request.note)
        ruling = replace(ruling, of=decided.case)
        if decided.verdict != "upheld":
            ruling = replace(ruling, offence=None, rests_on=())
    until = appeal_until(state, moment.at)
    return replace(ruling, appeal_until=until, note_kept=state.docket.under_way), *events[1:]


def _ruled_by_game(
    rules: Ruleset, state: AttendedState, request: Knock, moment: Moment
) -> tuple[tuple[Event, ...], Case | None]:
    """Return the game's events for a knock, and the first case that decides about its breach (B-O5).

    Breaches that such cases decide count as taken up. The case is ``None`` if no case does, or if the game upholds
    the knock for a breach without a case.
    """
    play, first = state.play, None
    while True:
        events = rules.decide(play, request, moment)
        ruling = events[0]
        if not isinstance(ruling, KnockUpheld):
            return events, first
        case = incidents.deciding_case(state.docket, incidents.incident_of_breach(state, ruling, moment.version))
        if case is None:
            return events, None
        first = first or case
        ledger = play.table.ledger
        taken = ledger.taken_up(case.case, ruling.accused, ruling.offence, ruling.rests_on)
        play = offences.with_ledger(play, replace(taken, cases=ledger.cases))


def _seems_for_nothing(ruling: KnockDismissed) -> bool:
    """Return whether a knock was for nothing, or too late for a breach of this deal."""
    return ruling.reason == "nothing" or (ruling.reason == "late" and ruling.within_deal)


def _payer_of_unseen(rules: Ruleset, state: AttendedState, offence: str | None, accused: int) -> int | None:
    """Return the payer of an offence that events cannot show; ``None`` for any other or an impossible offence."""
    if rules.unseen is None or offence is None or offence not in rules.unseen(state.play):
        return None
    if accused not in state.play.table.playing:
        return None
    try:
        return remedies.price(rules, state.play, offence, accused).payer
    except Refused:
        return None


def _open_or_join(
    rules: Ruleset, state: AttendedState, request: Knock, offence: str | None, payer: int, moment: Moment
) -> tuple[Event, ...]:
    """Return the event by which a knock opens a case or joins an open case (J1).

    If a case has decided about the offence in this trick: returns a dismissal or, in a game without knocks, raises
    WrongPhase. Also raises what :func:`_join_case` and :func:`opening_events` raise.
    """
    docket = state.docket
    incident = incidents.alleged_incident(state, offence, request.accused, payer, moment.version + 1)
    case = incidents.deciding_case(docket, incident)
    if case is not None and case.is_open:
        return _join_case(state, case, request.seat, request.note)
    case = incidents.deciding_case(docket, incidents.limited_to_trick(docket, incident))
    if case is None:
        return _open_for_knock(state, request, offence=offence, payer=payer)
    if not rules.knocks:
        raise WrongPhase("decided_already", "J1", case=case.case)
    again = KnockDismissed(
        case=state.play.table.ledger.next_case,
        seat=request.seat,
        accused=request.accused,
        reason="again",
        rule="J1",
        named=offence,
        of=case.case,
        note=request.note,
        appeal_until=appeal_until(state, moment.at),
        note_kept=docket.under_way,
    )
    return (again,)


def _join_case(state: AttendedState, case: Case, seat: int, text: str = "") -> tuple[Event, ...]:
    """Return the statement by which a knock or report joins a case.

    Raises WrongPhase after :data:`STATEMENTS_MAX` statements.
    """
    _check_statement_limit(case, seat)
    within = state.docket.under_way
    return (CaseStated(case=case.case, seat=seat, agrees=True, text=text, within_deal=within, knocked=True),)


def _check_statement_limit(case: Case, seat: int) -> None:
    if sum(who == seat for who, _ in case.said) >= STATEMENTS_MAX:
        raise WrongPhase("too_many_statements", "J1", limit=STATEMENTS_MAX)


def _open_for_knock(
    state: AttendedState,
    request: Knock,
    *,
    offence: str | None,
    payer: int,
    events: tuple[int, ...] = (),
) -> tuple[Event, ...]:
    deal = phases.deal_of(state.play)
    return opening_events(
        state,
        by=actor_at(request.seat),
        kind="offence",
        deal=deal,
        offence=offence,
        accused=request.accused,
        payer=payer,
        events=events,
        text=request.note,
    )


def opening_events(state: AttendedState, *, by: Actor, kind: CaseKind, deal: int, **fields: Any) -> tuple[Event, ...]:
    """Return the event that opens a case (J1).

    Raises WrongPhase if the seat ``by`` has :data:`OPEN_MAX` such cases or, with knocks that the referee ruled on,
    :data:`DISMISSED_MAX` in this deal.
    """
    docket, now = state.docket, phases.deal_of(state.play)
    if not is_official(by):
        own = [case for case in docket.cases if case.by == by and case.during == now]
        if sum(case.by == by and case.status == "pending" for case in docket.cases) >= OPEN_MAX:
            raise WrongPhase("too_many_cases", "J1", limit=OPEN_MAX)
        if len(own) >= DISMISSED_MAX:
            raise WrongPhase("too_many_knocks", None, limit=DISMISSED_MAX)
    number = state.play.table.ledger.next_case
    return (CaseOpened(case=number, by=by, kind=kind, deal=deal, within_deal=docket.under_way, **fields),)


def revise_report(
    rules: Ruleset, state: AttendedState, request: Report, events: tuple[Event, ...], moment: Moment
) -> tuple[Event, ...]:
    """Return the events to record for a report, given the game's ``events`` (J1).

    In a game without knocks, a report joins an open case about the fault. If none is open, the report of a seat
    that would not pay opens one.

    Raises WrongPhase if a case has decided about the fault in this trick, unless the payer reports it after a
    dismissal. Raises AgainstTheRules if the payer's fault is on record and the report is not for ``another``. Also
    raises what :func:`_join_case` and :func:`opening_events` raise.
    """
    reported = events[0]
    if rules.knocks or not isinstance(reported, Reported) or not reported.breaches:
        return events
    breach, docket = reported.breaches[0], state.docket
    incident = incidents.alleged_incident(state, request.fault, request.accused, breach.payer, moment.version + 1)
    case = incidents.deciding_case(docket, incident)
    if case is not None and case.is_open:
        return _join_case(state, case, request.seat)
    own = breach.payer == request.seat
    case = incidents.deciding_case(docket, incidents.limited_to_trick(docket, incident))
    if case is not None and not (own and case.verdict == "dismissed"):
        raise WrongPhase("decided_already", "J1", case=case.case)
    if own:
        table = state.play.table
        on_record = incidents.is_on_record(docket, table.ledger, incidents.limited_to_trick(docket, incident))
        if on_record and not request.another and not table.tally:  # in a tally, each report is a further fault
            raise AgainstTheRules("already_reported", breach.rule)
        return events
    deal = phases.deal_of(state.play)
    fields = {"offence": request.fault, "accused": request.accused, "payer": breach.payer}
    return opening_events(state, by=actor_at(request.seat), kind="offence", deal=deal, **fields)


def revise_result(
    rules: Ruleset, state: AttendedState, request: Result, events: tuple[Event, ...], moment: Moment
) -> tuple[Event, ...]:
    """Return a result's ``events``, with ``appeal_until`` in each ruling on a knock (J7).

    Raises WrongPhase if a case already punishes the error of an upheld knock (J3).
    """
    until = appeal_until(state, moment.at)
    for one in events:
        if isinstance(one, KnockUpheld):
            seats, now = (one.accused, one.payer), moment.version + 1
            incident = incidents.alleged_incident(state, one.offence, *seats, now)
            if (case := incidents.punishing_case(state.docket, incident)) is not None:
                raise WrongPhase("punished_already", "J3", case=case)
    return tuple(
        [replace(one, appeal_until=until) if isinstance(one, KnockUpheld | KnockDismissed) else one for one in events]
    )


def open_case(rules: Ruleset, state: AttendedState, request: OpenCase, moment: Moment) -> tuple[Event, ...]:
    """Return the event that opens a case about an offence, a line or a misclick (J1, J3, J9-J11).

    Raises NotInPlay for an unknown seat, AgainstTheRules for a later deal or an unknown offence. Raises WrongPhase if
    such a case is open already or not possible now. Also raises the game's refusals.
    """
    docket, now = state.docket, phases.deal_of(state.play)
    for seat in (request.seat, request.accused):
        if seat is not None:
            _check_seat_exists(state, seat)
    by = moment.actor if request.seat is None else actor_at(request.seat)
    deal = now if request.deal is None else request.deal
    if deal > now:
        raise AgainstTheRules("deal_to_come", "J1", last=now)
    if request.kind == "misclick":
        meant = takeback.misclick_events(state, by)
        return opening_events(state, by=by, kind="misclick", deal=now, events=meant, text=request.note)
    if request.kind == "entry":
        if deal > docket.scored:
            raise WrongPhase("deal_not_scored", "J9", deal=deal)
        assert request.result is not None, "a case about a line has the right result"
        remedies.check_result(rules, deal, request.result, moment)
        return opening_events(state, by=by, kind="entry", deal=deal, result=request.result, text=request.note)
    accused, offence = request.accused, request.offence
    assert is_official(by), "a seat knocks"
    assert accused is not None, "an offence has an accused player"
    if rules.priced is None:
        raise WrongPhase("not_in_this_game", "J3")
    if offence is None or offence not in rules.offences:
        raise AgainstTheRules("no_such_offence", "J3", allowed=rules.offences)
    payer = remedies.price(rules, remedies.game_before_score(rules, state, deal, moment), offence, accused).payer
    incident = replace(incidents.alleged_incident(state, offence, accused, payer, moment.version + 1), deal=deal)
    if deal <= docket.scored:
        incident = replace(incident, span=(0, incident.span[1]))
    case = incidents.deciding_case(docket, incident)
    if case is not None and case.is_open:
        raise WrongPhase("case_waits", "J1", case=case.case)
    fields = {"offence": offence, "accused": accused, "payer": payer, "text": request.note}
    return opening_events(state, by=by, kind="offence", deal=deal, **fields)


def make_statement(rules: Ruleset, state: AttendedState, request: Statement, moment: Moment) -> tuple[Event, ...]:
    """Return the event of a seat's statement in a case (J1-J2).

    Raises WrongPhase if the case is not open, after :data:`STATEMENTS_MAX` statements, or if the payer's agreement
    would punish an error twice. Raises NotInPlay for an unknown seat, and what :func:`check_events` raises.
    """
    case = state.docket.case(request.case)
    _check_seat_exists(state, request.seat)
    if not case.is_open:
        raise WrongPhase("case_decided", "J7", status=status_at(case, moment.at))
    _check_statement_limit(case, request.seat)
    check_events(request.events, moment)
    if request.agrees and request.seat == case.payer:
        check_agreement(rules, state, case, moment)
    stated = CaseStated(
        case=case.case,
        seat=request.seat,
        agrees=request.agrees,
        events=request.events,
        text=request.text,
        within_deal=state.docket.under_way,
    )
    return (stated,)


def withdraw(rules: Ruleset, state: AttendedState, request: Withdrawal, moment: Moment) -> tuple[Event, ...]:
    """Return the event that withdraws a case (J1).

    Raises NotYours unless the caller opened the case. Raises WrongPhase if it was ruled on or withdrawn, or if
    another seat joined it.
    """
    case = state.docket.case(request.case)
    if moment.actor != case.by:
        raise NotYours("not_the_opener", "J1")
    if case.status != "pending":
        raise WrongPhase("case_decided", "J7", status=status_at(case, moment.at))
    if any(seat != case.opener for seat in case.joined):
        raise WrongPhase("others_knocked", "J1")
    return (CaseWithdrawn(case=case.case),)


def appeal(rules: Ruleset, state: AttendedState, request: Appeal, moment: Moment) -> tuple[Event, ...]:
    """Return the event of an appeal by a party, or by the official who found an error in their own ruling (J7, J10).

    Raises NotYours for a seat that is not a party or did not lose, and for an official who did not rule last. Raises
    WrongPhase if the case is open or withdrawn, or its act was taken back (J11); for a seat also after an appeal or
    the time for appeals, or without another official. Raises NotInPlay for an unknown seat.
    """
    case = state.docket.case(request.case)
    status, seat = status_at(case, moment.at), request.seat
    if seat is not None:
        _check_seat_exists(state, seat)
        if case.kind == "offence" and seat not in case.parties:
            raise NotYours("not_a_party", "J7")
    elif not case.ruled_by or case.ruled_by[-1] != moment.actor:
        raise NotYours("not_your_ruling", "J10")
    if status == "withdrawn":
        raise WrongPhase("case_decided", "J7", status=status)
    if status == "pending":
        raise WrongPhase("not_ruled_yet", "J7")
    if case.kind == "misclick" and case.verdict == "upheld":
        raise WrongPhase("taken_back_already", "J11")
    if status == "appealed" or (seat is not None and case.instance > 1):
        raise WrongPhase("appealed_already", "J7")
    if seat is not None:
        if status == "final":
            raise WrongPhase("window_closed", "J7")
        if not case.went_against(seat):
            raise NotYours("not_against_you", "J7")
        named = set(officials(len(adjudication_of(state).officials)))
        if not state.docket.of_club and named <= set(case.ruled_by):
            raise WrongPhase("no_other_official", "J7")
    within = state.docket.under_way
    return (CaseAppealed(case=case.case, seat=seat, text=request.text, within_deal=within),)


def _check_seat_exists(state: AttendedState, seat: int) -> None:
    if seat >= state.play.table.seats:
        raise NotInPlay("no_such_seat", None, seat=seat)


WHILE_HELD = (Abandon, Close, Knock, Void, *seating.REQUESTS)
"""Requests of the game that are possible while play is held."""


def check_not_held(rules: Ruleset, state: AttendedState, request: Any, moment: Moment) -> Moment:
    """Return ``moment`` unchanged. Raises WrongPhase while play is held, except for :data:`WHILE_HELD` (J5)."""
    if not isinstance(request, WHILE_HELD):
        takeback.check_play_not_held(state.docket)
    return moment


def after_opened(rules: Ruleset, state: AttendedState, event: CaseOpened, number: int) -> AttendedState:
    """Return the match with the new case, which takes up the breach that its events show."""
    play, docket = state.play, state.docket
    span = incidents.span_of(docket, event.events, number)
    case = Case(
        case=event.case,
        by=event.by,
        kind=event.kind,
        deal=event.deal,
        during=phases.deal_of(play),
        offence=event.offence,
        accused=event.accused,
        payer=event.payer,
        events=event.events,
        span=span if event.deal > docket.scored else (0, number),
        result=event.result,
    )
    play = offences.taken_up(play, event.case, event.accused, event.offence, event.events)
    return replace(state, play=play, docket=docket.with_case(case))


def _with_case_changed(state: AttendedState, number: int, **changes: Any) -> AttendedState:
    docket = state.docket
    return replace(state, docket=docket.with_case(replace(docket.case(number), **changes)))


def after_stated(rules: Ruleset, state: AttendedState, event: CaseStated, number: int) -> AttendedState:
    case = state.docket.case(event.case)
    said, joined = (*case.said, (event.seat, event.agrees)), case.joined
    if event.knocked and event.seat not in joined:
        joined = (*joined, event.seat)
    return _with_case_changed(state, event.case, said=said, joined=joined)


def after_withdrawn(rules: Ruleset, state: AttendedState, event: CaseWithdrawn, number: int) -> AttendedState:
    play = offences.reopened(state.play, event.case)
    return _with_case_changed(replace(state, play=play), event.case, status="withdrawn")


def after_appealed(rules: Ruleset, state: AttendedState, event: CaseAppealed, number: int) -> AttendedState:
    return _with_case_changed(state, event.case, status="appealed", said=(), reopened=event.seat is None)


def _begin_deal(docket: Docket, play: Any, event: Dealt, number: int) -> Docket:
    return docket if docket.under_way else replace(docket, under_way=True)


def _end_deal(docket: Docket, play: Any, event: Event, number: int) -> Docket:
    return replace(docket, under_way=False, reports=())


def _enter_dues(docket: Docket, play: Any, event: DealScored, number: int) -> Docket:
    """Note the deal as scored, with the price and fine that each of its cases now has in force."""
    entered = [replace(case, entered=case.due) if case.deal == event.deal else case for case in docket.cases]
    return replace(docket, scored=event.deal, cases=tuple(entered))


def _add_report(docket: Docket, play: Any, event: Reported, number: int) -> Docket:
    breach = number if event.breaches else number + 1  # without breaches, the next event has the breach
    return replace(docket, reports=(*docket.reports, (breach, event.seat, docket.led)))


def _add_ruled_case(docket: Docket, play: Any, event: KnockUpheld | KnockDismissed, number: int) -> Docket:
    """Add a case for a knock on which the referee ruled, with only the fields that every seat may see."""
    deal = phases.deal_of(play)
    event = as_seen_by(event, "spectator", public=False)
    upheld = isinstance(event, KnockUpheld)
    of = event.of if isinstance(event, KnockDismissed) else None
    events, span = event.rests_on, incidents.span_of(docket, event.rests_on, number)
    if of is not None:
        events, span = docket.case(of).events, docket.case(of).span
    case = Case(
        case=event.case,
        by=actor_at(event.seat),
        kind="offence",
        deal=deal,
        during=deal,
        offence=event.offence or event.named,
        accused=event.accused,
        payer=event.payer if isinstance(event, KnockUpheld) else None,
        events=events,
        span=span,
        of=of,
        status="ruled",
        instance=1,
        verdict="upheld" if upheld else "dismissed",
        ruled_by=(None,),
        appeal_until=event.appeal_until,
        penalty=event.penalty if isinstance(event, KnockUpheld) else None,
        ruling=number,
    )
    return docket.with_case(case)


def _set_fine(docket: Docket, play: Any, event: PenaltyImposed, number: int) -> Docket:
    """Set the fine of a case if the penalty is for its dismissed knock."""
    if event.case is None or event.points < 0:
        return docket
    case = docket.case(event.case)
    if case.verdict != "dismissed" or case.instance > 1 or case.opener != event.seat:
        return docket
    return docket.with_case(replace(case, fine=event.points))


DOCKET_UPDATES: DocketUpdates = {
    Dealt: _begin_deal,
    DealScored: _enter_dues,
    Reported: _add_report,
    KnockUpheld: _add_ruled_case,
    KnockDismissed: _add_ruled_case,
    PenaltyImposed: _set_fine,
}
DOCKET_UPDATES_AT_END: DocketUpdates = dict.fromkeys(DEAL_ENDS, _end_deal)
