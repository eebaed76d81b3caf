"""The facts of a shuffle that the house commits to."""

from typing import ClassVar

from referee import wire_types
from referee.value import Seat, Time
from referee.visibility import Event, Hidden


class ShuffleCommitted(Event):
    """Before a deal the server told the hash of the seed that it is going to shuffle by."""

    TOPIC: ClassVar[str] = "shuffle/committed"
    HIDDEN: ClassVar[Hidden] = {"seed": "sealed"}
    commitment: wire_types.Hash
    """The SHA-256 of the seed as it is written."""
    seed: wire_types.HiddenHash
    """What the server committed to. Empty until the deal is over: nobody is told, the official neither."""
    until: Time | None = None
    """Until then the deal waits for what the seats add. Left out: it does not wait."""


class EntropyGiven(Event):
    """A seat added digits of its own to the shuffle of the next deal."""

    TOPIC: ClassVar[str] = "shuffle/entropy-given"
    seat: Seat
    hex: wire_types.Entropy
    """What it added."""
