"""What the text of a deal tells."""

from typing import Any, Literal

import msgspec

from referee.actors import Actor
from referee.acts import AnyAct, Knock
from referee.events import Dealing, Enforcement, Stakes
from referee.value import Value


class Header(Value):
    """The table before the deal. Tuples go by seat; ``points`` (and ``pot``) as the protocol has them."""

    ruleset: str
    players: tuple[str, ...]
    dealer: int
    points: tuple[int, ...]
    source: str = ""
    """Where the deal comes from, for the reader."""
    number: int = 1
    """Which deal of its match it was."""
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    """Those that differ from their default."""
    enforcement: Enforcement = "refuse"
    dealing: Dealing = "table"
    stakes: Stakes | None = None
    pot: int | None = None
    """What lay in the pot before the deal; ``None`` in games that have none."""
    halves: bool = False
    """Points count halves of a point."""
    out: tuple[int, ...] = ()
    """Seats that are out of the match."""
    among: tuple[int, ...] = ()
    """The only seats that play this deal, where it is a duel."""
    carried: dict[str, Any] = msgspec.field(default_factory=dict)
    """What else the deal takes over from those before it, as its ruleset names it."""


class Ruling(Value):
    """What was said to a knock. ``points`` are the ``payer``'s; ``None``: the knock cost nothing.

    ``pending``: it opened a case, on which an official rules.
    """

    verdict: Literal["upheld", "dismissed", "pending"]
    rule: str
    payer: int | None = None
    points: int = 0


class Done(Value):
    """Something that was done, by whom, and the ruling if it was a knock."""

    actor: Actor
    act: AnyAct | Knock
    ruling: Ruling | None = None


class Result(Value):
    """The line in the protocol. ``won``: the seats that won the match by it, and ``by`` how."""

    kind: str
    points: tuple[int, ...]
    tricks: tuple[int, ...]
    declarer: int | None = None
    contract: int | str | None = None
    pot: int | None = None
    halves: bool = False
    out: tuple[int, ...] = ()
    won: tuple[int, ...] = ()
    by: str = ""
    settlement: tuple[int, ...] | None = None
    """What each seat then received (or paid, below zero), in minor units."""
    before: tuple[int, ...] | None = None
    """The protocol before the deal, if a correction has changed it since."""
    pot_before: int | None = None
    """The pot before the deal, likewise."""


class Correction(Value):
    """A correction of the line: its event, its rule, the case that it was ruled in, and the reason, if any."""

    event: int
    rule: str
    case: int | None = None
    reason: str = ""


class ResultWas(Value):
    """A line that no longer counts, and the correction that changed it."""

    result: Result
    by: Correction


class Deal(Value):
    """A finished deal. ``result`` is the line that counts. ``was`` has the line as it was written and after each
    correction but the last. ``struck`` is the correction by which it counts for nothing."""

    header: Header
    acts: tuple[Done, ...]
    result: Result
    was: tuple[ResultWas, ...] = ()
    struck: Correction | None = None
