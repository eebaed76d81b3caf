"""Payments to the winner of a match for money."""

from collections.abc import Sequence
from typing import Any, Literal

from referee.events import DealScored, MatchWon, Payment
from referee.phases import with_settlement

Negative = Literal["zero", "absolute", "signed"]
"""Payment for points below zero (B-O21): none, their absolute value, or that value from the winner to the loser."""


def payments_of_points_left(
    points: Sequence[int], winner: int, *, rule: str, rule_below_zero: str, negative: Negative = "zero"
) -> tuple[Payment, ...]:
    """Return the payments: each loser, even if eliminated, pays the points left (B74, B-O22, A-O32, C-O37)."""
    return tuple(
        [
            Payment(
                payer=seat,
                payee=winner,
                points={"zero": max(score, 0), "absolute": abs(score), "signed": score}[negative],
                rule=rule if score >= 0 else rule_below_zero,
            )
            for seat, score in enumerate(points)
            if seat != winner
        ]
    )


def won_by_house_rule(
    table: Any, line: DealScored, seat: int | None, by: str, rule: str, *, house_rule: str
) -> MatchWon:
    """Return the win of ``seat`` (``None``: no winner). The option ``money`` adds payments by ``house_rule``."""
    won = MatchWon(seat=seat, by=by, rule=rule, points=line.points)
    if table.options.money == "none":
        return won
    if seat is None:
        return with_settlement(table, won, ())
    return with_settlement(
        table, won, payments_of_points_left(line.points, seat, rule=house_rule, rule_below_zero=house_rule)
    )
