"""The state of the question after trick four whether other players go along (A33-A37, B46-B52, C30-C32)."""

from datetime import datetime
from typing import Literal

from referee.value import Value

ASKED_AFTER = 4
"""Number of tricks before the question."""
TRICKS = 6

Answers = tuple[tuple[int, Literal["play", "fold"], int], ...]
"""Triples of seat, answer and event number."""


class Question(Value):
    event: int = 0
    """Event number of the question, or 0."""
    pending: tuple[int, ...] = ()
    """Seats that must still answer, in order."""
    answers: Answers = ()
    forgotten: int = 0
    """Event number of the lead that made the question too late, or 0."""
    grace_until: datetime | None = None
    """Time until which only the asker may lead."""


def seats_without_trick(
    order: tuple[int, ...], first: int, declarer: int, tricks: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the seats without a trick except the declarer, clockwise after ``first`` (A34-A37, B47-B51, C31)."""
    after = order.index(first) + 1
    return tuple([seat for seat in (*order[after:], *order[:after]) if not tricks[seat] and seat != declarer])


def seats_that_answered(answers: Answers, answer: str) -> tuple[int, ...]:
    return tuple([seat for seat, given, _ in answers if given == answer])
