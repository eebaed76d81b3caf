"""Events of a shuffle by commitment."""

from typing import ClassVar

from referee import wire_types
from referee.value import Seat, Time
from referee.visibility import Event, Hidden


class ShuffleCommitted(Event):
    """Before a deal, the server published the hash of the seed for its shuffle."""

    TOPIC: ClassVar[str] = "shuffle/committed"
    HIDDEN: ClassVar[Hidden] = {"seed": "sealed"}
    commitment: wire_types.Hash
    """SHA-256 of ``seed`` as text."""
    seed: wire_types.HiddenHash
    """Seed; empty for all viewers, even officials, until the deal is over."""
    until: Time | None = None
    """Time until which the deal waits for digits of the seats; left out: it does not wait."""


class EntropyGiven(Event):
    """A seat added digits to the shuffle of the next deal."""

    TOPIC: ClassVar[str] = "shuffle/entropy-given"
    seat: Seat
    hex: wire_types.Entropy
    """Digits, in hexadecimal."""
