"""The event of a deal that is entered from a score sheet."""

from typing import ClassVar

from referee.acts import Result
from referee.visibility import Event


class ResultEntered(Event):
    """The result of a whole deal was entered from the score sheet. The next events follow from it."""

    TOPIC: ClassVar[str] = "result/entered"
    result: Result
    """Result as the client sent it."""
