"""How a match stands that officials attend to: the game as it is played, and what lies before them beside it."""

from typing import Any, Generic, Literal, TypeVar

from referee.actors import Actor
from referee.value import Value

P = TypeVar("P")

TakesBack = Literal["agreed", "alone"]
"""Whether all others have to agree, or nobody need."""


class LastAct(Value):
    """The last act of the match: what it made, and who wants it to be taken back (J11)."""

    actor: Actor
    first: int
    """Its first event."""
    last: int = 0
    """Its last one so far; 0: it has made none in the game."""
    seen: bool = False
    """Somebody has learnt something from it, or chance had a part in it, or it ended the deal."""
    done: bool = False
    """Something else was asked for after it: events that come now are not its own."""
    asked: tuple[int, ...] = ()
    """Seats that want it to be taken back, first who did it."""


class Docket(Value):
    """What officials keep of a match beside the game."""

    takes_back: TakesBack | None = None
    """How an act is taken back; ``None``: it is not."""
    last: LastAct | None = None
    """The last act, where it may be taken back; ``None``: there is none, or more than that has happened since."""


class Attended(Value, Generic[P], tag="attended"):
    """The game's own state, which knows of no officials, and their docket."""

    play: P
    docket: Docket
    before: P | None = None
    """The game before the last act, where that may be taken back."""


Standing = Attended[Any]
