"""The line of a deal, duels between players at zero, and the end of the match (A40-A60)."""

from functools import partial
from typing import NotRequired

from msgspec.structs import replace

from referee.acts import Score
from referee.events import DealScored, Entry, PlayerEliminated
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.dealing import forehand_first
from referee.games._rodskagg.facts import DuelCalled
from referee.games._rodskagg.money import won_by_house_rule
from referee.games._rodskagg.question import ASKED_AFTER, seats_that_answered
from referee.games._rodskagg.ritual import Undealt
from referee.games._rodskagg.score_line import (
    Noted,
    ScoreRule,
    SharedDetail,
    entries_by_rules,
    line_of_deal,
    noted_breaches,
    promised_tricks,
    shared_detail,
)
from referee.games.rodskagg_alga.states import Outcome, Played, Table
from referee.phases import next_deal
from referee.ruleset import Moment
from referee.visibility import Event
from referee.wire_types import ListOfMany

SIX_UP = 6
"""Points that a failed contract or going along in vain adds (A42, A44)."""
LATE = 2
"""Points that a late trick (five or six) can take off (A41, A46)."""


def score(state: Played, act: Score, moment: Moment) -> tuple[Event, ...]:
    """Return the events of :func:`scored` (A-O28)."""
    return scored(state.table, state.outcome)


def automatic_events(state: Played, moment: Moment) -> tuple[Event, ...]:
    """Return the events of :func:`scored` unless errors are penalised (A-O23, B-O28)."""
    return () if state.table.penalise else scored(state.table, state.outcome)


def rescoring_events(state: Played, seed: str) -> tuple[Event, ...]:
    return scored(state.table, state.outcome)


def scored(table: Table, deal: Outcome) -> tuple[Event, ...]:
    """Return the line of the deal, and an elimination, win or duel, if any."""
    contract = deal.contract
    written_down = () if contract is None or table.duel else tuple(_entries(table, deal, contract))  # A-O4
    out = (contract.declarer,) if contract is not None and deal.kind == "rodskagg_failed" else ()
    line = line_of_deal(table, deal, deal.kind, written_down, out, _detail(table, deal))
    return line, *(PlayerEliminated(seat=seat, rule="A49") for seat in out), *_win_or_duel(table, deal, line)


class Detail(SharedDetail):
    """Details of a scored deal apart from its numbers."""

    noted: NotRequired[ListOfMany[Noted]]
    """Revokes shown by closed hands (A-O26); left out if empty."""


def _detail(table: Table, deal: Outcome) -> Detail:
    breaches, detail = noted_breaches(table.ledger), shared_detail(table, deal, table.duel)
    return {**detail, "noted": breaches} if breaches else {**detail}  # type: ignore[typeddict-item]  # mypy expects ``noted``


SCORE_RULES: dict[str, tuple[ScoreRule, ...]] = {
    "made": (ScoreRule(-1, "trick", "A40"),),
    "failed": (ScoreRule(SIX_UP, "contract", "A42"), ScoreRule(-1, "trick", "A43")),
    "early": (ScoreRule(-1, "trick", "A40"),),
    "late": (ScoreRule(-LATE, "trick", "A41"),),
    "in_vain": (ScoreRule(SIX_UP, "answer", "A44"),),
    "folded": (),
    "deemed_one_late_trick": (ScoreRule(-LATE, "late_lead", "A46"),),
    "normal_value": (ScoreRule(-1, "trick", "A-O9"),),
    "rodskagg": (),
    "none": (),
    "one_per_trick": (ScoreRule(-1, "trick", "A-O1"),),
}
"""Rules by the result of a seat; rules that add points come first (A40-A50)."""


def seat_result(table: Table, deal: Outcome, contract: Contract, seat: int, early: set[int]) -> str:
    """Return the seat's key in ``SCORE_RULES`` (A36, A40-A47, A50, A-O1, A-O8, A-O9). ``early``: seats with an early
    trick (one to four)."""
    if deal.kind != "number":
        return "rodskagg" if seat == contract.declarer else table.options.rodskagg_defenders_score
    if seat == contract.declarer:
        return "failed" if deal.tricks[seat] < promised_tricks(contract) else "made"
    if seat in early:
        return "early"
    if deal.question.forgotten:
        return table.options.forgotten_question_effect
    if seat not in seats_that_answered(deal.question.answers, "play"):
        return "folded"
    return "late" if deal.tricks[seat] else "in_vain"


def _entries(table: Table, deal: Outcome, contract: Contract) -> list[Entry]:
    """Return the entries of the line, the declarer's first (A40-A50, A-O10)."""
    declarer, fine = contract.declarer, table.options.forgotten_question_penalty
    early = {seat for seat, _ in deal.won[:ASKED_AFTER]}
    rows = SCORE_RULES[seat_result(table, deal, contract, declarer, early)]
    if fine and deal.question.forgotten:
        rows = (*rows[:-1], ScoreRule(fine, "late_lead", "A-O10"), rows[-1])
    written_down = entries_by_rules(rows, deal, contract, declarer)
    for seat in table.playing:
        if seat != declarer:
            written_down += entries_by_rules(
                SCORE_RULES[seat_result(table, deal, contract, seat, early)], deal, contract, seat
            )
    return written_down


def _win_or_duel(table: Table, deal: Outcome, line: DealScored) -> tuple[Event, ...]:
    """Return the event of a win or duel, if any (A48, A52, A55-A60, A-O18)."""
    if deal.contract is not None and deal.kind == "rodskagg_made":
        return (_match_won(table, line, deal.contract.declarer, "rodskagg", "A48"),)
    if table.duel:
        return _result_of_duel(table, deal, line)
    left = [seat for seat in table.active if seat not in line.eliminated]
    at_zero = tuple(seat for seat in left if line.points[seat] == 0)
    if len(at_zero) == 1:
        return (_match_won(table, line, at_zero[0], "zero", "A52"),)
    if at_zero:
        return (_new_duel(table, at_zero, "A55"),)
    if len(left) == 1:
        return (_match_won(table, line, left[0], "last_standing", "A-O18"),)
    return ()


def _result_of_duel(table: Table, deal: Outcome, line: DealScored) -> tuple[Event, ...]:
    """Return the win by most tricks, or a new duel. A declarer who failed cannot win (A58-A60, A-O3 to A-O6)."""
    if deal.contract is None:
        return (_new_duel(table, table.playing, "A-O5"),)
    declarer = deal.contract.declarer
    failed = deal.tricks[declarer] < promised_tricks(deal.contract)
    rivals = [seat for seat in table.playing if seat != declarer or not failed]
    most = max(deal.tricks[seat] for seat in rivals)
    best = tuple(seat for seat in rivals if deal.tricks[seat] == most)
    if len(best) > 1:
        return (_new_duel(table, best, "A60"),)
    return (_match_won(table, line, best[0], "duel", "A58" if failed else "A59"),)


_match_won = partial(won_by_house_rule, house_rule="A-O32")


def _new_duel(table: Table, seats: tuple[int, ...], rule: str) -> DuelCalled:
    """Return the event of a duel, dealt by its first seat clockwise after the last dealer (A56, A-O5, A-O21)."""
    return DuelCalled(seats=seats, dealer=forehand_first(table.dealer, seats, table.seats)[0], rule=rule)


def deal_scored(state: Played, event: DealScored, number: int) -> Undealt[Table]:
    """Return the state between deals. The deal passes clockwise (A25, A-O19)."""
    return Undealt(table=replace(next_deal(state.table, event), duel=False))


def duel_called(state: Undealt[Table], event: DuelCalled, number: int) -> Undealt[Table]:
    return Undealt(table=replace(state.table, playing=event.seats, dealer=event.dealer, duel=True))
