"""A deal as the score sheet has it (B-O40)."""

from functools import partial

from referee.events import DealScored
from referee.games._rodskagg import tally
from referee.games._rodskagg.bids import RODSKAGG
from referee.games.rodskagg_kortoxen import play, scoring
from referee.games.rodskagg_kortoxen.deal import RULE
from referee.games.rodskagg_kortoxen.states import CITES, Played, Playing, deal_of


class Result(tally.SharedResult, forbid_unknown_fields=True):
    """A whole deal as the score sheet has it: the bids, and if somebody bid the tricks and the question; exit knocks;
    and the knocks for errors, as the table agreed on them."""

    exits: tally.Exits = ()
    """Who knocked for his exit, after how many tricks."""
    knocks: tally.Knocks = ()
    """The knocks of the deal, and what the table agreed on each."""


def order_decides(state: Playing | Played, result: Result) -> str | None:
    """B56, B67-B68, B77, B-O12: who took the fourth trick, where he asks; and who came to zero when: for an exit, for
    forgetting it, and among several at zero."""
    by_fourth = state.table.options.fold_question_by == "fourth_trick_winner"
    if by_fourth and sum(early > 0 for early, _ in result.taken or ()) > 1:
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


def points_to_zero(state: Playing | Played, seat: int) -> int:
    """B67, B-O9: what keeps a seat from zero; nothing where there is no exit knock anyway."""
    deal = deal_of(state)
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
    points_to_zero=points_to_zero,
    exit_ends_deal=lambda table: not table.options.exact_zero,
    knocks_can_be_late=lambda table: table.options.knock_window == "next_trick",
    offences=RULE,
)

script = partial(tally.script, sheet=SHEET)
