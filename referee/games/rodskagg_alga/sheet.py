"""A whole deal entered from the score sheet (A-O31)."""

from functools import partial
from typing import Any

from referee.games._rodskagg import tally
from referee.games.rodskagg_alga import play
from referee.games.rodskagg_alga.states import CITES


class Result(tally.SharedResult, forbid_unknown_fields=True):
    """A whole deal from the score sheet: the bids and, unless all passed, the tricks and the question."""


def order_decides(state: Any, result: Result) -> None:
    """Return ``None``: the order never matters, because duels decide between players at zero (A55-A60)."""


SHEET = tally.Sheet(
    cites=CITES,
    six_tricks="A51",
    question_time=play.question_time,
    question_due=play.question_due,
    asker=lambda state: state.contract.declarer,
    order_decides=order_decides,
)

script = partial(tally.script, sheet=SHEET)
