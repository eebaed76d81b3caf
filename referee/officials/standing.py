"""How a match stands that officials attend to: the game as it is played, and what lies before them beside it."""

from datetime import datetime
from typing import Any, Generic, TypeVar

from referee.value import Value

P = TypeVar("P")


class Commitment(Value):
    """The seed that the house has committed to for a deal, its hash, and by seat what was added to it."""

    seed: str
    hash: str
    until: datetime | None
    """Until then the deal waits for what is added."""
    entropy: tuple[str, ...]
    dealt: bool = False
    """The cards are out: nothing more is added."""


class Shuffle(Value):
    """How a match is shuffled in which the house commits to it; ``commitment`` from before a deal to its end."""

    seconds: int
    """So long a deal waits."""
    commitment: Commitment | None = None


class Docket(Value):
    """What officials keep of a match beside the game."""

    shuffle: Shuffle | None = None
    """Where the house commits to it."""


class Attended(Value, Generic[P], tag="attended"):
    """The game's own state, which knows of no officials, and their docket."""

    play: P
    docket: Docket


Standing = Attended[Any]
