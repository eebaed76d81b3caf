"""A whole deal entered from the score sheet (B-O40)."""

from functools import partial

from referee.events import DealScored
from referee.games._rodskagg import tally
from referee.games._rodskagg.bids import RODSKAGG
from referee.games.rodskagg_kortoxen import play, scoring
from referee.games.rodskagg_kortoxen.deal import RULE_BY_OFFENCE
from referee.games.rodskagg_kortoxen.states import CITES, Played, Playing, play_or_outcome


class Result(tally.SharedResult, forbid_unknown_fields=True):
    """A whole deal from the score sheet: bids, tricks, question, exit knocks, and knocks for errors."""

    exits: tally.Exits = ()
    """Exit knocks."""
    knocks: tally.Knocks = ()
    """Knocks with the rulings that the table agreed on."""


def order_decides(state: Playing | Played, result: Result) -> str | None:
    """Return the rule by which the order of the tricks matters, if any (B56, B67-B68, B77, B-O12).

    It matters if it shows the asker, for exit knocks made or missing, and between several seats at zero.
    """
    by_fourth = state.table.options.fold_question_by == "fourth_trick_winner"
    if by_fourth and sum(early > 0 for early in result.halves()[0]) > 1:
        return "B56"
    if result.exits:
        return "B67" if state.table.options.exact_zero else "B77"
    if any(knock.offence == "exit_knock" for knock in result.knocks):
        return "B68"
    if isinstance(state, Playing):
        return None
    line = scoring.scored(state.table, state.outcome)[0]
    assert isinstance(line, DealScored), "the line comes first"
    at_zero = [seat for seat in state.table.active if not line.points[seat] and state.outcome.tricks[seat]]
    return "B-O12" if len(at_zero) > 1 else None


def running_total(state: Playing | Played, seat: int) -> int:
    """Return the running total of the seat; 0 if the contract has no exit knock (B67, B-O9)."""
    deal = play_or_outcome(state)
    if deal is None or deal.contract is None or deal.contract.bid == RODSKAGG:
        return 0
    return play.running_total(state.table, deal, seat)


SHEET = tally.Sheet(
    cites=CITES,
    six_tricks="B69",
    question_time=play.question_time,
    question_due=play.question_due,
    asker=play.asker,
    order_decides=order_decides,
    running_total=running_total,
    exit_ends_deal=lambda table: not table.options.exact_zero,
    knocks_can_be_late=lambda table: table.options.knock_window == "next_trick",
    offences=RULE_BY_OFFENCE,
)

script = partial(tally.script, sheet=SHEET)
