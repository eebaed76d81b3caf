"""Corrections, which score finished deals again and contain all numbers that count from then on (J8-J10)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace

from referee import events
from referee.events import Adjudication, DealScored, DealVoided, MatchAbandoned, MatchClosed, MatchWon
from referee.officials import shuffle
from referee.officials.events.corrections import (
    Ended,
    Line,
    LineCorrected,
    ProtocolCorrected,
    corrected_line,
    lines_as_corrected,
)
from referee.officials.rescoring import Rescored, as_json, rescore
from referee.officials.state import AttendedState
from referee.phases import Over
from referee.refusals import AgainstTheRules, WrongPhase
from referee.requests import Correct
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event, Recorded


def correct(rules: Ruleset, state: AttendedState, request: Correct, moment: Moment) -> tuple[Event, ...]:
    """Return a correction and the events for the next deal (J8-J10). Raises what :func:`make_correction` raises."""
    event = make_correction(rules, state, request, moment)
    return event, *next_deal_events(rules, state, event, moment)


def make_correction(
    rules: Ruleset, state: AttendedState, request: Correct, moment: Moment, *, replaces: int | None = None
) -> ProtocolCorrected:
    """Return a correction, to be recorded as the event after ``moment.version`` (J8, J9).

    ``replaces``: number of an earlier correction that no longer counts. Raises WrongPhase if a deal depends on a
    changed number and the request does not strike it. Also raises what :func:`_first_deal` and :func:`check_time`
    raise.
    """
    history, play, number = moment.history, state.play, moment.version + 1
    check_time(rules, state, moment, beyond_doubt=request.beyond_doubt)
    lines = lines_as_corrected(history)
    first = _first_deal(request, history, lines, replaces)
    rescored = rescore(rules, history, request.scripts, request.strike, number, replaces)
    if rescored.dependent:
        raise WrongPhase("line_hangs", "J9", deals=rescored.dependent)
    table, was = rescored.state.table, play.table
    over = rescored.end is not None
    as_usual = rescored.duel == rescored.called and (table.active, table.dealer) == (was.active, was.dealer)
    changed = [
        _line_change(place, lines[place], line) for place, line in rescored.lines.items() if line != lines[place]
    ]
    return ProtocolCorrected(
        case=request.case,
        deal=first,
        why=request.why,
        lines=tuple(changed),
        struck=rescored.struck,
        points=table.points,
        eliminated=tuple([seat for seat in range(table.seats) if seat not in table.active]),
        dealer=table.dealer,
        next_deal=table.deal,
        halves=any(isinstance(line, DealScored) and line.halves for line in lines.values()),
        pot=table.pot if rules.has_pot else None,
        duel=rescored.duel,
        carried=as_json({name: getattr(table, name) for name in rules.carries}),
        fresh=not over and (not as_usual or isinstance(play, Over)),
        won=_recorded_end(rescored) if over else None,
        replaces=replaces,
        scripts=request.scripts,
        strike=tuple(sorted(set(request.strike))),
    )


def _first_deal(
    request: Correct, history: Sequence[Recorded], lines: Mapping[int, Line], replaces: int | None
) -> int:
    """Return the first deal that a correction names or that the replaced correction changed.

    Raises AgainstTheRules without any deal, or if a named deal has no line.
    """
    deals = {one.deal for one in request.scripts} | set(request.strike)
    unknown = deals - {line.deal for line in lines.values()}
    if replaces is not None:
        deals.update(
            one.event.deal
            for one in history
            if one.originator_version == replaces and isinstance(one.event, ProtocolCorrected)
        )
    if unknown or not deals:
        raise AgainstTheRules("no_such_line", "J9", deals=tuple(sorted(unknown)))
    return min(deals)


def check_time(rules: Ruleset, state: AttendedState, moment: Moment, *, beyond_doubt: bool = False) -> None:
    """Raise WrongPhase if no correction is possible now (J8, J9). ``beyond_doubt`` lifts the time limit."""
    check_between_deals(rules, state)
    if not beyond_doubt and (until := _correction_until(state, moment.history)) is not None and moment.at >= until:
        raise WrongPhase("window_closed", "J8", until=until)


def check_between_deals(rules: Ruleset, state: AttendedState) -> None:
    """Raise WrongPhase if a deal is under way or the game cannot score deals again (J9)."""
    play = state.play
    if rules.scored is None:
        raise WrongPhase("not_in_this_game", None)
    if not (isinstance(play, Over) or rules.between_deals(play)):
        raise WrongPhase("deal_under_way", "J9")


def next_deal_events(
    rules: Ruleset, state: AttendedState, event: ProtocolCorrected, moment: Moment
) -> tuple[Event, ...]:
    """Return the commitment and draws for the next deal, which follow the correction ``event``.

    A preview has no seed and gets none, because an official could repeat previews until a draw suits them.
    """
    if not moment.seed:
        return ()
    number = moment.version + 1
    state = after_corrected(rules, state, event, number)
    committed = shuffle.commit(rules, state, moment)
    for made in committed:
        number += 1
        state = shuffle.after_commitment(rules, state, made, number)
    met = shuffle.with_seed(rules, state, None, replace(moment, version=number))
    return *committed, *rules.begin(state.play, met)


def after_corrected(rules: Ruleset, state: AttendedState, event: ProtocolCorrected, number: int) -> AttendedState:
    """Return the match after a correction. Its case, if any, notes the seats whose points improved."""
    assert rules.resumed is not None, "a game that scores again can resume"
    docket = state.docket
    if event.case is not None and event.case <= len(docket.cases):
        points = zip(state.play.table.points, event.points, strict=True)
        gained = tuple([seat for seat, (before, after) in enumerate(points) if rules.is_better(before, after)])
        docket = docket.with_case(replace(docket.case(event.case), corrected=number, gained=gained))
    return replace(state, play=rules.resumed(state.play, event), docket=docket)


def _correction_until(state: AttendedState, history: Iterable[Recorded]) -> datetime | None:
    """Return the time limit for corrections; ``None``: no limit (J8)."""
    ended_at: datetime | None = None
    for recorded in history:
        if type(recorded.event) in ENDS:
            ended_at = end_time_after(recorded.event, recorded.at, ended_at)
    terms = state.docket.terms
    return None if ended_at is None or terms is None else correctable_until(terms, ended_at)


def correctable_until(terms: Adjudication, ended_at: datetime) -> datetime:
    """Return the time limit for corrections (J8)."""
    return ended_at + timedelta(minutes=terms.correction_minutes)


ENDS: frozenset[type[Event]] = events.MATCH_ENDS | {ProtocolCorrected}
"""Events that can end a match or reopen it."""


def end_time_after(event: Event, at: datetime, before: datetime | None) -> datetime | None:
    """Return the time at which the match ended, after one of :data:`ENDS`; ``None`` if the match goes on.

    ``before``: time returned for the earlier events. A correction does not change this time if the match stays over.
    """
    if isinstance(event, ProtocolCorrected):
        return None if event.won is None else before or at
    return at


def _line_change(event: int, was: Line, now: Line) -> LineCorrected:
    """Return the new numbers of a line; of a scored line also the whole new line, if more has changed."""
    numbers = LineCorrected(event=event, before=now.before, points=now.points)
    if isinstance(now, DealVoided):
        return numbers
    numbers = replace(numbers, eliminated=now.eliminated, pot_before=now.pot_before, pot=now.pot)
    return numbers if corrected_line(was, numbers) == now else replace(numbers, score=now)


def _recorded_end(rescored: Rescored) -> Ended:
    match rescored.end:
        case MatchWon() as won:
            return Ended(
                by=won.by,
                rule=won.rule,
                event=rescored.ended_by,
                seat=won.seat,
                seats=won.seats,
                settlement=won.settlement,
                payments=won.payments,
            )
        case (MatchClosed() | MatchAbandoned()) as ended:
            return Ended(
                by=rescored.state.by,
                rule=ended.rule,
                event=rescored.ended_by,
                settlement=ended.settlement,
                pot_before=ended.pot_before,
                shares=ended.shares,
            )
    raise AssertionError(f"{rescored.end} ends no match")
