"""A deal entered from the score sheet."""

from typing import ClassVar

from referee.acts import Result
from referee.visibility import Event


class ResultEntered(Event):
    """A whole deal was entered as the score sheet has it; the facts that follow are what it stands for."""

    TOPIC: ClassVar[str] = "result/entered"
    result: Result
    """As it was sent."""
