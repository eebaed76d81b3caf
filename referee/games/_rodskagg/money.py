"""Who pays whom when a match is won: what the sisters pay alike."""

from collections.abc import Sequence
from typing import Literal

from referee.events import Payment

Negative = Literal["zero", "absolute", "signed"]
"""What a score below zero pays (B-O21): nothing, as above zero, or what the winner pays for it."""


def points_left(
    points: Sequence[int], winner: int, *, rule: str, below_zero: str, negative: Negative = "zero"
) -> tuple[Payment, ...]:
    """B74, B-O22, A-O32, C-O37: each loser, those who are out as well, pays the winner for the points left.

    ``rule``: by which; ``below_zero``: by which where the points are below zero.
    """
    return tuple(
        [
            Payment(
                payer=seat,
                payee=winner,
                points={"zero": max(score, 0), "absolute": abs(score), "signed": score}[negative],
                rule=rule if score >= 0 else below_zero,
            )
            for seat, score in enumerate(points)
            if seat != winner
        ]
    )
