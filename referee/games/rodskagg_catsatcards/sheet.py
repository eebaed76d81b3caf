"""A whole deal entered from the score sheet (C-O36)."""

from functools import partial

from referee.games._rodskagg import tally
from referee.games.rodskagg_catsatcards import play
from referee.games.rodskagg_catsatcards.deal import RULE_BY_OFFENCE
from referee.games.rodskagg_catsatcards.states import CITES, Played, Playing


class Result(tally.SharedResult, forbid_unknown_fields=True):
    """A whole deal from the score sheet: bids, tricks, question and, in Fem Opp, knocks; in a duel only tricks."""

    knocks: tally.Knocks = ()
    """Knocks with the rulings that the table agreed on."""


def order_decides(state: Playing | Played, result: Result) -> str | None:
    """Return the rule if a player may have won by zero before the last trick, else ``None`` (C55)."""
    table = state.table
    if not table.options.exact_tricks_for_all or table.duel:
        return None
    halves = result.halves()
    for seat in table.playing if result.taken else ():
        early, late = (half[seat] for half in halves)
        if early + late and table.points[seat] <= early + play.LATE * late:
            return "C55"
    return None


SHEET = tally.Sheet(
    cites=CITES,
    six_tricks="C12",
    question_time=play.question_time,
    question_due=play.question_due,
    asker=play.asker,
    order_decides=order_decides,
    knocks_can_be_late=lambda table: table.options.knock_window == "next_trick",
    offences=RULE_BY_OFFENCE,
)

script = partial(tally.script, sheet=SHEET)
