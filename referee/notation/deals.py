"""The parts of a deal's text."""

from typing import Any, Literal

import msgspec

from referee.actors import Actor
from referee.acts import Act, Knock
from referee.events import Dealing, Enforcement, Stakes
from referee.value import Value


class Header(Value):
    """The table before the deal. ``players`` and ``points`` are by seat."""

    ruleset: str
    players: tuple[str, ...]
    dealer: int
    points: tuple[int, ...]
    source: str = ""
    """Origin of the deal, as free text."""
    number: int = 1
    options: dict[str, Any] = msgspec.field(default_factory=dict)
    """Options that differ from their default."""
    enforcement: Enforcement = "refuse"
    dealing: Dealing = "table"
    stakes: Stakes | None = None
    pot: int | None = None
    """``None`` in games without a pot."""
    halves: bool = False
    """True if the points count half points."""
    out: tuple[int, ...] = ()
    """Seats that are out of the match."""
    among: tuple[int, ...] = ()
    """Seats that play the deal, if it is a duel."""
    carried: dict[str, Any] = msgspec.field(default_factory=dict)
    """Other values that the deal takes over from earlier deals, by name."""


class Ruling(Value):
    """The ruling on a knock. ``payer`` goes up ``points``; ``None``: no seat pays. ``pending``: a case was opened."""

    verdict: Literal["upheld", "dismissed", "pending"]
    rule: str
    payer: int | None = None
    points: int = 0


class Done(Value):
    """An act with its actor, and the ruling if it was a knock."""

    actor: Actor
    act: Act | Knock
    ruling: Ruling | None = None


class Result(Value):
    """A line of the protocol. ``won``: the seats that won the match with this line. ``by``: how the match ended."""

    kind: str
    points: tuple[int, ...]
    tricks: tuple[int, ...]
    declarer: int | None = None
    contract: str | None = None
    pot: int | None = None
    halves: bool = False
    out: tuple[int, ...] = ()
    won: tuple[int, ...] = ()
    by: str = ""
    settlement: tuple[int, ...] | None = None
    """Minor units that each seat received at the end of the match (below zero: paid)."""
    before: tuple[int, ...] | None = None
    """Points before the deal, if they differ from the header."""
    pot_before: int | None = None
    """Pot before the deal, if it differs from the header."""


class Correction(Value):
    """The number of the event that corrected a line, with its rule and case."""

    event: int
    rule: str
    case: int | None = None
    reason: str = ""


class ResultWas(Value):
    """A line that no longer counts, and the correction that changed it."""

    result: Result
    by: Correction


class Deal(Value):
    """A finished deal.

    ``result``: the line that counts. ``was``: the earlier lines, oldest first. ``struck``: the correction that
    struck the deal.
    """

    header: Header
    acts: tuple[Done, ...]
    result: Result
    was: tuple[ResultWas, ...] = ()
    struck: Correction | None = None
