"""The question after trick four: who must answer it, and what was said (A33-A37, B46-B52, C30-C32)."""

from datetime import datetime
from typing import Literal

from referee.value import Value

ASKED_AFTER = 4
"""The question comes after this trick."""
TRICKS = 6

Answers = tuple[tuple[int, Literal["play", "fold"], int], ...]
"""Seat, answer and event."""


class Question(Value):
    """The question after trick four (A33-A37, B46-B52, C30-C32)."""

    event: int = 0
    """When it was asked, or 0."""
    pending: tuple[int, ...] = ()
    answers: Answers = ()
    forgotten: int = 0
    """The event of the lead that made it too late, or 0."""
    grace_until: datetime | None = None


def trickless(order: tuple[int, ...], first: int, declarer: int, tricks: tuple[int, ...]) -> tuple[int, ...]:
    """Who must answer, clockwise after ``first``: all without a trick but the declarer (A34-A37, B47-B51, C31)."""
    after = order.index(first) + 1
    return tuple(seat for seat in (*order[after:], *order[:after]) if not tricks[seat] and seat != declarer)


def seats_that_answered(answers: Answers, answer: str) -> tuple[int, ...]:
    """Who gave this answer, in the order in which they spoke."""
    return tuple([seat for seat, given, _ in answers if given == answer])
