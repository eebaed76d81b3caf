"""The line of a deal, and the end of the match (B8, B58-B80)."""

from referee.acts import Act, Score
from referee.cards import clockwise
from referee.events import DealScored, Entry, MatchWon, PlayerEliminated
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.money import payments_of_points_left
from referee.games._rodskagg.score_line import (
    ScoreRule,
    entries_by_rules,
    line_of_deal,
    penalty_entries,
    points_after,
    promised_tricks,
)
from referee.games.rodskagg_kortoxen.deal import FIVE_UP
from referee.games.rodskagg_kortoxen.play import exit_owed, zero_events
from referee.games.rodskagg_kortoxen.states import Outcome, Played, Table
from referee.phases import with_settlement
from referee.refusals import AgainstTheRules, WrongPhase
from referee.ruleset import Moment
from referee.visibility import Event


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """Return the events of :func:`scored` (B-O28). Raises WrongPhase if errors are refused."""
    if not state.table.penalise:
        raise WrongPhase("scored_by_itself", "B-O28")
    return scored(state.table, state.outcome)


def must_score_first(state: Played, act: Act, moment: Moment) -> tuple[Event, ...]:
    """Raise WrongPhase if this deal waits for ``score``, AgainstTheRules if it waits for an exit knock (B67,
    B-O28)."""
    if state.table.penalise:
        raise WrongPhase("deal_not_scored", "B-O28")
    raise AgainstTheRules("exit_knock_owed", "B67")


def no_exit_owed(table: Table, deal: Outcome) -> bool:
    """Return whether no exit knock is owed before the score (B-O10, B-O28)."""
    return deal.kind != "number" or not exit_owed(table, deal)


def automatic_events(state: Played, moment: Moment) -> tuple[Event, ...]:
    """Return the events of :func:`scored` unless an exit knock is owed or an act must score the deal (B-O28, B78)."""
    table, deal = state.table, state.outcome
    by_itself = deal.kind == "knocked_out" or not table.penalise
    return scored(table, deal) if by_itself and no_exit_owed(table, deal) else ()


def rescoring_events(state: Played, seed: str) -> tuple[Event, ...]:
    """Return the events of :func:`scored`; none if the exit that ended the deal is no longer valid (B77)."""
    broken_off = state.outcome.kind == "knocked_out"
    return (
        ()
        if broken_off and _first_to_knock_out(state.table, state.outcome) is None
        else scored(state.table, state.outcome)
    )


def scored(table: Table, deal: Outcome) -> tuple[Event, ...]:
    """Return the line of the deal, and its eliminated declarer and win, if any (B58-B80, B-O21, B-O22)."""
    contract = deal.contract
    loser = (contract.declarer,) if contract is not None and deal.kind == "rodskagg_failed" else ()
    line = line_of_deal(table, deal, deal.kind, tuple(_entries(table, deal)), loser, {})
    out = [PlayerEliminated(seat=seat, rule="B63") for seat in loser]
    if (won := winner(table, deal, line)) is None:
        return line, *out
    seat, by, rule = won
    negative = table.options.money_negative
    payments = payments_of_points_left(line.points, seat, rule="B74", rule_below_zero="B-O21", negative=negative)
    return line, *out, with_settlement(table, MatchWon(seat=seat, by=by, rule=rule, points=line.points), payments)


SCORE_RULES: dict[str, tuple[ScoreRule, ...]] = {
    "failed": (ScoreRule(FIVE_UP, "contract", "B59"), ScoreRule(-1, "trick", "B60")),
    "in_vain": (ScoreRule(FIVE_UP, "answer", "B61"),),
    "takes": (ScoreRule(-1, "trick", "B58"),),
    "nothing": (),
    "lost": (ScoreRule(FIVE_UP, "lost_tricks", "B66"),),
    "none": (),
    "one_per_trick": (ScoreRule(-1, "trick", "B58"),),
}
"""Rules by the result of a seat (B58-B61, B65-B66)."""


def seat_result(table: Table, deal: Outcome, contract: Contract, seat: int) -> str:
    """Return the seat's key in ``SCORE_RULES`` (B55, B58-B61, B65-B66, B-O34)."""
    declares = seat == contract.declarer
    match deal.kind:
        case "number":
            if declares:
                return "failed" if deal.tricks[seat] < promised_tricks(contract) else "takes"
            free = deal.question.forgotten and table.options.forgotten_question_others_free
            return "takes" if deal.tricks[seat] or free or seat not in deal.order else "in_vain"
        case "knocked_out":
            return "takes" if seat == _first_to_knock_out(table, deal) else "nothing"
        case "rodskagg_failed":
            return "lost" if declares else table.options.rodskagg_defenders_score
    return "nothing"


def _entries(table: Table, deal: Outcome) -> list[Entry]:
    """Return penalties, then plus points (the declarer's first), then tricks (B72, B79, B-O15).

    If ``overshoot`` is ``bounce``, an entry after the tricks makes a total below zero positive (B-O14).
    """
    down, contract = penalty_entries(table.ledger), deal.contract
    if contract is None:
        return down
    of_declarer: list[Entry] = []
    of_others: list[Entry] = []
    tricks: list[Entry] = []
    for seat in table.playing:
        if rules := SCORE_RULES[seat_result(table, deal, contract, seat)]:
            up = of_declarer if seat == contract.declarer else of_others
            for entry in entries_by_rules(rules, deal, contract, seat):
                (up if entry.points > 0 else tricks).append(entry)
    down += of_declarer + of_others
    if not tricks:
        return down
    totals = points_after(table, down)
    for entry in tricks:
        down.append(entry)
        totals[entry.seat] += entry.points
        if (total := totals[entry.seat]) < 0 and table.options.overshoot == "bounce":
            down.append(Entry(seat=entry.seat, points=-2 * total, rule="B72", events=entry.events))
            totals[entry.seat] = -total
    return down


def _first_to_knock_out(table: Table, deal: Outcome) -> int | None:
    """Return the first seat still at zero that knocked after a trick brought it there, if any (B77)."""
    at_zero = {seat: zero_events(table, deal, seat) for seat in table.playing}
    return min(
        [(events.exit_knock, seat) for seat, events in at_zero.items() if events.trick and events.exit_knock],
        default=(0, None),
    )[1]


def winner(table: Table, deal: Outcome, line: DealScored) -> tuple[int, str, str] | None:
    """Return the winner's seat and the kind and rule of the win, or ``None`` (B62, B70-B71, B77, B-O12, B-O35,
    B-O36)."""
    if deal.contract is not None and deal.kind == "rodskagg_made":
        return deal.contract.declarer, "rodskagg", "B62"
    if deal.kind == "knocked_out":
        first = _first_to_knock_out(table, deal)
        assert first is not None, "a deal is broken off by an exit knock"
        return first, "exit_knock", "B77"
    left = [seat for seat in range(table.seats) if seat not in line.eliminated]
    finishers = [seat for seat in left if line.points[seat] == 0]
    if finishers:
        at_zero = {seat: zero_events(table, deal, seat) for seat in finishers}
        seating = clockwise((table.dealer + 1) % table.seats, table.seats)

        def finish_order(seat: int) -> tuple[float, float, int]:
            knock, trick = at_zero[seat].exit_knock, at_zero[seat].trick
            return knock or float("inf"), trick or float("inf"), seating.index(seat)

        best = min(finishers, key=finish_order)
        how = at_zero[best]
        return (
            best,
            "zero",
            "B70" if len(finishers) == 1 else "B71" if how.exit_knock else "B-O12" if how.trick else "B-O35",
        )
    if len(left) == 1:
        return left[0], "last_standing", "B-O36"
    return None
