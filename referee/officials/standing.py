"""How a match stands that officials attend to: the game as it is played, and what lies before them beside it."""

from typing import Any, Generic, TypeVar

from referee.value import Value

P = TypeVar("P")


class Docket(Value):
    """What officials keep of a match beside the game."""


class Attended(Value, Generic[P], tag="attended"):
    """The game's own state, which knows of no officials, and their docket."""

    play: P
    docket: Docket


Standing = Attended[Any]
