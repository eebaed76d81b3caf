"""The effects of a ruling: points in the deal under way, or corrected lines of the protocol (J9)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from msgspec.structs import replace

from referee.acts import Result
from referee.events import DealScored, PenaltyImposed, Reported
from referee.officials import corrections, incidents
from referee.officials.events.cases import CaseRuled
from referee.officials.events.corrections import Line, Script, Why
from referee.officials.numbering import recorded_form
from referee.officials.rescoring import Rescored, as_json, as_tally, rescore, script
from referee.officials.state import AttendedState, Case, Due
from referee.phases import Over
from referee.refusals import WrongPhase
from referee.requests import Correct
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event
from referee.whole_deal import result_decision


class Price(NamedTuple):
    payer: int
    points: int
    rule: str


def price_events(rules: Ruleset, play: Any, offence: str, accused: int, sign: int = 1) -> tuple[Event, ...]:
    """Return the events that add the price of an offence to a deal or, with ``sign`` -1, remove it (J3).

    Raises WrongPhase if the game has no prices, and the game's refusal if the offence is impossible.
    """
    if rules.priced is None:
        raise WrongPhase("not_in_this_game", "J3")
    return rules.priced(play, offence, accused, sign)


def price(rules: Ruleset, play: Any, offence: str, accused: int) -> Price:
    """Return the price of an offence (J3). Raises what :func:`price_events` raises."""
    due = price_events(rules, play, offence, accused)[0]
    if isinstance(due, PenaltyImposed):
        return Price(due.seat, due.points, due.rule)
    assert isinstance(due, Reported), "a price is imposed, or falls due with the score"
    breach = due.breaches[0]
    return Price(breach.payer, breach.points, breach.rule)


def check_unpunished(rules: Ruleset, state: AttendedState, case: Case, ruled: CaseRuled, moment: Moment) -> None:
    """Raise WrongPhase if a different case or, without knocks, a recorded fault punishes the incident (B-O5, J3).

    Checks only upheld offences. Also raises WrongPhase if the deal does not count.
    """
    if ruled.verdict != "upheld" or ruled.offence is None:
        return
    if case.verdict == "upheld" and case.offence == ruled.offence:
        return  # because the penalty in force is that of this case
    incident, written = incidents.incident_of_ruling(state.docket, case, ruled), case.deal <= state.docket.scored
    counts = _penalty_still_counts(rules, case, ruled, moment) if written else None
    punished = incidents.punishing_case(state.docket, incident, case.case, counts)
    if punished is not None:
        raise WrongPhase("punished_already", "J3", case=punished)
    if rules.knocks:
        return
    ledger = game_before_score(rules, state, case.deal, moment, case.corrected).table.ledger
    if incidents.is_on_record(state.docket, ledger, incident):
        raise WrongPhase("punished_already", "J3")


def _penalty_still_counts(rules: Ruleset, case: Case, ruled: CaseRuled, moment: Moment) -> Callable[[Case], bool]:
    """Return a function that returns whether a case's penalty still counts: no result replaces the deal with it."""

    def counts(other: Case) -> bool:
        if other.corrected is not None or other.entered is None:
            return True
        rescored, deal = rescore(rules, moment.history, replaces=case.corrected), case.deal
        replaced = deal in rescored.whole or ruled.remedy.result is not None
        return not (replaced and other.entered.event > rescored.begun.get(deal, 0))

    return counts


def awaits_score(state: AttendedState, case: Case) -> bool:
    return case.deal > state.docket.scored and not isinstance(state.play, Over)


def point_events(rules: Ruleset, play: Any, case: Case, ruled: CaseRuled, due: Due | None) -> tuple[Event, ...]:
    """Return the events that add a ruling's price to a deal and cancel what no longer applies.

    ``due``: price and fine in the deal now. Raises what :func:`price_events` raises.
    """
    events: tuple[Event, ...] = ()
    upheld = ruled.verdict == "upheld"
    found = ruled.offence if upheld else None
    has_price = due is not None and due.points is not None
    if has_price and due is not None and due.offence == found:
        found = None  # because the deal has the price already
    elif has_price and due is not None and due.offence is not None and case.accused is not None:
        for event in price_events(rules, play, due.offence, case.accused, -1):
            if isinstance(event, PenaltyImposed) and due.payer is not None and due.points is not None:
                event = replace(event, seat=due.payer, points=-due.points)
            events += (event,)
    if found is not None and case.accused is not None:
        events += price_events(rules, play, found, case.accused)
    if upheld and due is not None and due.fine and case.opener is not None:
        events += (PenaltyImposed(seat=case.opener, points=-due.fine, rule=ruled.rule),)
    return tuple([replace(one, case=case.case) if isinstance(one, PenaltyImposed) else one for one in events])


def game_before_score(
    rules: Ruleset, state: AttendedState, deal: int, moment: Moment, replaces: int | None = None
) -> Any:
    """Return the game just before a deal was scored, or the present game if the deal is not scored.

    ``replaces``: number of a correction to ignore. Raises WrongPhase if the deal does not count.
    """
    if deal > state.docket.scored:
        return state.play
    return _state_of_deal(rescore(rules, moment.history, replaces=replaces).played, deal)


def _state_of_deal(states: Any, deal: int) -> Any:
    if deal not in states:
        raise WrongPhase("line_struck", "J9", deal=deal)
    return states[deal]


def script_of_result(rules: Ruleset, rescored: Rescored, deal: int, result: Result, moment: Moment) -> Script:
    """Return the script that replaces a deal with a result (J9).

    Raises the game's first refusal, with its place in the result; WrongPhase if results cannot be entered in the game
    or the deal does not count.
    """
    if rules.result is None or rules.script is None:
        raise WrongPhase("not_in_this_game", "J9")
    enter = result_decision(rules.result, rules.script, rules.take)
    events = enter(as_tally(_state_of_deal(rescored.before, deal)), result, moment)
    score = next(place for place, event in enumerate(events) if isinstance(event, DealScored))
    number = moment.version + 1
    return script(deal, [recorded_form(event, number) for event in events[:score]], whole=True)


def check_result(rules: Ruleset, deal: int, result: Result, moment: Moment) -> None:
    """Raise what :func:`script_of_result` raises, and WrongPhase if the line shows the result already (J9)."""
    now = rescore(rules, moment.history)
    script = script_of_result(rules, now, deal, result, moment)
    if same_lines_and_outcome(rules, rescore(rules, moment.history, (script,)), now):
        raise WrongPhase("line_says_so", "J9", deal=deal)


def same_lines_and_outcome(rules: Ruleset, one: Rescored, other: Rescored) -> bool:
    """Return whether two replays have the same outcome and lines. The events that prove a line may differ."""

    def outcome(rescored: Rescored) -> Any:
        table = rescored.state.table
        counts = (table.points, table.active, table.dealer, table.deal, table.pot)
        lines = {number: _without_proof(line) for number, line in rescored.lines.items()}
        return lines, rescored.struck, rescored.dependent, rescored.end, rescored.duel, counts

    return bool(outcome(one) == outcome(other))


def _without_proof(line: Line) -> Any:
    """Return a line as plain JSON values, with sorted entries, without their events and noted breaches."""
    plain = as_json(line)
    plain.get("detail", {}).pop("noted", None)
    for name in ("entries", "pot_entries"):
        for entry in plain.get(name, ()):
            entry.pop("events")
        plain[name] = sorted(plain.get(name, ()), key=repr)
    return plain


def _repeats_last_ruling(case: Case, ruled: CaseRuled) -> bool:
    if (case.verdict, case.remedy) != (ruled.verdict, ruled.remedy):
        return False
    return ruled.verdict == "dismissed" or case.offence == ruled.offence


def correction_events(
    rules: Ruleset, state: AttendedState, case: Case, ruled: CaseRuled, moment: Moment
) -> tuple[Event, ...]:
    """Return the correction that a ruling requires and the events that follow; none if nothing changes (J8, J9).

    ``moment``: just after the ruling. Raises WrongPhase if the line of an ``entry`` case shows the result already,
    and what :func:`script_of_result`, :func:`point_events` and :func:`corrections.make_correction` raise.
    """
    if _repeats_last_ruling(case, ruled):
        return ()
    history, deal, remedy = moment.history, case.deal, ruled.remedy
    scripts: tuple[Script, ...] = ()
    rescored = rescore(rules, history, replaces=case.corrected)
    due = case.entered
    if remedy.result is not None:
        scripts = (script_of_result(rules, rescored, deal, remedy.result, moment),)
        rescored = rescore(rules, history, scripts, number=moment.version + 1, replaces=case.corrected)
        if case.kind == "entry" and same_lines_and_outcome(rules, rescored, rescore(rules, history)):
            raise WrongPhase("line_says_so", "J9", deal=deal)
    if due is not None and deal in rescored.whole and due.event > rescored.begun[deal]:
        due = None  # because the later result replaced the deal and its penalties
    if ruled.verdict == "upheld" or deal in rescored.played:
        points = point_events(rules, _state_of_deal(rescored.played, deal), case, ruled, due)
        scripts += (script(deal, points),) if points else ()
    if not (scripts or remedy.strike or case.corrected):
        return ()
    correction = Correct(
        case=case.case,
        why=Why(rule=ruled.rule, reason=ruled.reason),
        scripts=scripts,
        strike=remedy.strike,
        beyond_doubt=ruled.standard == "beyond_reasonable_doubt",
    )
    event = corrections.make_correction(rules, state, correction, moment, replaces=case.corrected)
    return event, *corrections.next_deal_events(rules, state, event, moment)
