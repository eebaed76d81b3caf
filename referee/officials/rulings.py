"""Rulings by an official, or by the referee if the parties agree, with their consequences (J2-J4, J7-J11)."""

from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace

from referee.acts import Void
from referee.events import Adjudication
from referee.history import History
from referee.officials import corrections, remedies, takeback
from referee.officials.events.cases import CaseRuled, Precedent, Remedy
from referee.officials.state import AttendedState, Case, status_at
from referee.refusals import AgainstTheRules, NotYours, Refused, WrongPhase
from referee.requests import Ruling
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event, Recorded


def adjudication_of(state: AttendedState) -> Adjudication:
    terms = state.docket.terms
    assert terms is not None, "a case is in a match with officials"
    return terms


def appeal_until(state: AttendedState, at: datetime) -> datetime | None:
    """Return the end of the time for appeals from a ruling made ``at`` this time; ``None``: no appeals (J7)."""
    minutes = adjudication_of(state).appeal_minutes
    return at + timedelta(minutes=minutes) if minutes else None


def check_events(events: tuple[int, ...], moment: Moment) -> None:
    """Raise AgainstTheRules if one of these numbers is higher than that of the last event."""
    if to_come := [number for number in events if number > moment.version]:
        raise AgainstTheRules("event_to_come", "J1", event=to_come[0], last=moment.version)


def decide_ruling(rules: Ruleset, state: AttendedState, request: Ruling, moment: Moment) -> tuple[Event, ...]:
    """Return an official's ruling on a case, with its consequences (J2-J4, J7-J11).

    Raises AgainstTheRules if the standard or remedy does not fit the verdict or case, or for an unknown offence. Also
    raises what :func:`check_may_rule`, :func:`check_events` and :func:`with_consequences` raise.
    """
    case = state.docket.case(request.case)
    check_may_rule(case, moment)
    upheld, remedy = request.verdict == "upheld", request.remedy
    if upheld and request.standard == "undetermined":
        raise AgainstTheRules("undetermined_dismisses", "J4")
    if request.standard == "agreed_facts" and not _losing_side_agreed(case, upheld=upheld):
        raise AgainstTheRules("facts_not_agreed", "J2")
    undone = case.corrected is not None  # a dismissal may strike deals, because they may depend on that
    if not upheld and (remedy.void or remedy.result is not None or (remedy.strike and not undone)):
        raise AgainstTheRules("remedy_for_nothing", "J3")
    if case.kind == "misclick" and (remedy.void or remedy.result is not None or remedy.strike):
        raise AgainstTheRules("remedy_for_misclick", "J11")
    check_events(request.events, moment)
    offence = request.offence or case.offence
    if case.kind == "offence" and upheld and (offence is None or offence not in rules.offences):
        raise AgainstTheRules("no_such_offence", "J3", allowed=rules.offences)
    ruled = CaseRuled(
        case=case.case,
        instance=case.instance + 1,
        verdict=request.verdict,
        standard=request.standard,
        rule=request.rule,
        offence=offence if case.kind == "offence" else None,
        official=moment.actor,
        rests_on=request.events,
        reason=request.reason,
        precedents=tuple(Precedent(match=one.match, case=one.case) for one in request.precedents),
        remedy=Remedy(
            void=remedy.void,
            result=case.result if upheld and remedy.result is None else remedy.result,
            strike=remedy.strike,
        ),
        within_deal=state.docket.under_way,
    )
    return with_consequences(rules, state, case, ruled, moment)


def check_may_rule(case: Case, moment: Moment) -> None:
    """Raise NotYours if the official may not rule on the case again, WrongPhase if the case is not open (J7, J10)."""
    status = status_at(case, moment.at)
    if status == "withdrawn":
        raise WrongPhase("case_decided", "J7", status=status)
    if moment.actor in case.ruled_by and not (case.reopened and status == "appealed"):
        raise NotYours("ruled_by_you", "J7")
    if status == "final" and case.instance > 1:
        raise WrongPhase("case_decided", "J7", status=status)
    if status == "final":
        raise WrongPhase("window_closed", "J7")
    if status == "ruled":
        raise WrongPhase("not_appealed", "J7")


def _losing_side_agreed(case: Case, *, upheld: bool) -> bool:
    """Return whether a last statement of the side that would lose by this verdict accepts the verdict (J2)."""
    if not upheld:
        return case.opener is not None and case.agrees(case.opener) is False
    return any(case.agrees(seat) for seat in (case.accused, case.payer) if seat not in (None, case.opener))


def rule_by_agreement(rules: Ruleset, state: AttendedState, moment: Moment) -> tuple[Event, ...]:
    """Return the ruling on the first agreed case that can be decided now, with consequences; else no events (J2)."""
    for case in state.docket.cases:
        if not (case.is_open and _all_concerned_agree(state, case)):
            continue
        try:
            return _decide_agreed_case(rules, state, case, moment)
        except Refused:
            continue  # because a later act may make this ruling possible
    return ()


def _all_concerned_agree(state: AttendedState, case: Case) -> bool:
    """Return whether the payer of an offence or, in other cases, all seats but the opener agree (J2).

    A payer who opened the case agrees until the first ruling. Seats out of the match need not agree on a misclick.
    """
    if case.kind == "offence":
        return bool(case.agrees(case.payer)) or (case.payer == case.opener and case.status == "pending")
    table = state.play.table
    concerned = table.active if case.kind == "misclick" else range(table.seats)
    others = [seat for seat in concerned if seat != case.opener]
    return all(case.agrees(seat) for seat in others)


def check_agreement(rules: Ruleset, state: AttendedState, case: Case, moment: Moment) -> None:
    """Raise what :func:`remedies.check_unpunished` raises for a ruling by agreement (B-O5, J2)."""
    remedies.check_unpunished(rules, state, case, _agreed_ruling(state, case), moment)


def _agreed_ruling(state: AttendedState, case: Case) -> CaseRuled:
    return CaseRuled(
        case=case.case,
        instance=case.instance + 1,
        verdict="upheld",
        standard="agreed_facts",
        rule="J2",
        offence=case.offence,
        rests_on=case.events,
        within_deal=state.docket.under_way,
        remedy=Remedy(result=case.result),
    )


def _decide_agreed_case(rules: Ruleset, state: AttendedState, case: Case, moment: Moment) -> tuple[Event, ...]:
    """Return the agreed ruling with its consequences. Raises ``Refused`` if it is not possible now."""
    ruled = _agreed_ruling(state, case)
    written = case.kind != "misclick" and case.deal <= state.docket.scored
    if written:
        corrections.check_time(rules, state, moment)  # comes first, because the replay is slow
    if case.offence is not None and case.accused is not None and (written or remedies.awaits_score(state, case)):
        play = remedies.game_before_score(rules, state, case.deal, moment, case.corrected)
        ruled = replace(ruled, rule=remedies.price(rules, play, case.offence, case.accused).rule)
    return with_consequences(rules, state, case, ruled, moment)


def with_consequences(
    rules: Ruleset, state: AttendedState, case: Case, ruled: CaseRuled, moment: Moment
) -> tuple[Event, ...]:
    """Return a ruling, with its price and, if it is the first, time for appeals, and the events that follow.

    Raises WrongPhase if the remedy does not fit the state of the deal, what :func:`remedies.check_unpunished`,
    :func:`remedies.price`, :func:`remedies.correction_events` and :func:`takeback.take_back_events` raise, and the
    game's refusals.
    """
    if case.kind == "misclick" and ruled.verdict == "upheld":  # no appeal, because play continues at once
        return ruled, *takeback.take_back_events(state, case)
    remedies.check_unpunished(rules, state, case, ruled, moment)
    remedy, written = ruled.remedy, case.deal <= state.docket.scored
    ruled = replace(ruled, appeal_until=appeal_until(state, moment.at) if case.instance == 0 else None)
    if remedy.void and not remedies.awaits_score(state, case):
        raise WrongPhase("deal_is_over", "J9", deal=case.deal)
    if (remedy.result is not None or remedy.strike) and not written:
        raise WrongPhase("deal_not_scored", "J9", deal=case.deal)
    after = moment_after(moment, (ruled,))
    if written:
        events = remedies.correction_events(rules, state, case, ruled, after)
        return _with_price(rules, state, case, ruled, moment), *events
    if not remedies.awaits_score(state, case):
        return (ruled,)
    ruled = _with_price(rules, state, case, ruled, moment)
    events = remedies.point_events(rules, state.play, case, ruled, case.due)
    play = _play_after(rules, state.play, events, after.version)
    if remedy.void:
        voided, now = rules.decide(play, Void(), moment_after(after, events)), after.version + len(events)
        events, play = (*events, *voided), _play_after(rules, play, voided, now)
    return ruled, *events, *(rules.begin(play, moment_after(after, events)) if events else ())


def _with_price(rules: Ruleset, state: AttendedState, case: Case, ruled: CaseRuled, moment: Moment) -> CaseRuled:
    if ruled.verdict != "upheld" or ruled.offence is None or case.accused is None:
        return ruled
    play = remedies.game_before_score(rules, state, case.deal, moment, case.corrected)
    payer, points, _ = remedies.price(rules, play, ruled.offence, case.accused)
    return replace(ruled, payer=payer, penalty=points)


def _play_after(rules: Ruleset, play: Any, events: tuple[Event, ...], version: int) -> Any:
    for number, event in enumerate(events, version + 1):
        play = rules.evolve(play, event, number)
    return play


def moment_after(moment: Moment, events: tuple[Event, ...]) -> Moment:
    """Return the moment after these events, with them in its history."""
    if not events:
        return moment
    more = [
        Recorded(moment.match, number, moment.at, moment.actor, "", "", "", event)
        for number, event in enumerate(events, moment.version + 1)
    ]
    history = moment.history.followed_by(more) if isinstance(moment.history, History) else [*moment.history, *more]
    return replace(moment, version=moment.version + len(events), history=history)


def after_ruled(rules: Ruleset, state: AttendedState, event: CaseRuled, number: int) -> AttendedState:
    case = state.docket.case(event.case)
    upheld, span = event.verdict == "upheld", case.span
    if upheld and event.rests_on and not case.events:
        span = min(span[0], *event.rests_on), max(span[1], *event.rests_on)
    case = replace(
        case,
        span=span,
        status="ruled",
        instance=event.instance,
        verdict=event.verdict,
        ruled_by=(*case.ruled_by, event.official),
        offence=event.offence if upheld else case.offence,
        payer=event.payer if event.payer is not None else case.payer,
        penalty=event.penalty if upheld and event.payer is not None else None,
        fine=0 if upheld else case.fine,
        appeal_until=event.appeal_until,
        reopened=False,
        remedy=event.remedy,
        ruling=number,
    )
    return replace(state, docket=state.docket.with_case(case))
