"""The facts common to all games, and the envelope that places them in a match.

This module is all that projections may know of the referee. A fact carries codes and numbers and the ruling that
was made, never a sentence; its ``TOPIC`` stands in the database for ever.
"""

from datetime import datetime
from typing import Any, ClassVar, Literal
from uuid import UUID

import msgspec

from referee.value import Value

Dealing = Literal["house", "table"]
Enforcement = Literal["refuse", "penalise"]
Viewer = int | Literal["official", "spectator"]
"""Who looks: a seat, the official, or anybody else."""
Points = int | float
"""As they are told: whole wherever it can be; a half only in games that count them."""


def told(points: tuple[int, ...], halves: bool) -> tuple[Points, ...]:
    """Points as they are told, from so many points or so many halves."""
    return tuple([number / 2 if number % 2 else number // 2 for number in points]) if halves else points


class Event(Value, omit_defaults=True):
    """Something that happened in a match and stays so."""

    TOPIC: ClassVar[str]

    def seen_by(self, viewer: "Viewer", public: bool) -> "Event":
        """The event as this viewer may see it; ``public``: the deal is over and its cards lie open."""
        return self


class Recorded(msgspec.Struct, frozen=True):
    """A fact in its place: event number ``originator_version`` of match ``originator_id``.

    ``actor`` is the seat that acted, or ``"official"``; ``act`` the id of the act that made it (its
    Idempotency-Key) and ``digest`` what was asked; ``prev`` the SHA-256 of the row before it in the match.
    """

    originator_id: UUID
    originator_version: int
    at: datetime
    actor: int | str
    act: str
    digest: str
    prev: str
    event: Event


class Stakes(Value, forbid_unknown_fields=True):
    """What a point is worth: ``unit`` minor units of an ISO 4217 ``currency``."""

    currency: str
    unit: int


class Breach(Value, omit_defaults=True):
    """An act against the rules that stands until somebody knocks. Only officials may see it.

    ``seat`` did it, ``payer`` goes up ``points`` by ``rule`` if it is knocked for. After ``closes_after``
    completed tricks of the deal it is too late; ``None``: when the deal is scored.
    """

    offence: str
    seat: int
    rule: str
    payer: int
    points: int
    closes_after: int | None = None
    shown_by: tuple[int, ...] = ()
    """Earlier events that prove it, beside the one that carries it."""


class Entry(Value):
    """One number on a line of the protocol: why it stands there, and the events that show it."""

    seat: int
    points: int
    rule: str
    events: tuple[int, ...]


class PotEntry(Value):
    """What a seat put into the pot (below zero: drew from it), in the pot's units, and why."""

    seat: int | None
    units: int
    rule: str
    events: tuple[int, ...]


class MatchOpened(Event):
    """A match was opened, with every option of its ruleset resolved. Tokens are kept as SHA-256."""

    TOPIC: ClassVar[str] = "match/opened"
    ruleset: str
    edition: int
    options: dict[str, Any]
    players: tuple[str, ...]
    dealing: Dealing
    enforcement: Enforcement
    points: tuple[int, ...]
    tokens: tuple[str, ...]
    official: str
    pot: int = 0
    """What lies in the pot, in games that have one."""
    taken_over: bool = False
    first_dealer: int | None = None
    stakes: Stakes | None = None

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """Without the tokens' hashes, for everybody."""
        return msgspec.structs.replace(self, tokens=(), official="")


class CardDrawn(Event):
    """A seat drew a card for the first deal."""

    TOPIC: ClassVar[str] = "dealer/card-drawn"
    seat: int
    card: str


class FirstDealerDrawn(Event):
    """The highest card drawn gave the first deal."""

    TOPIC: ClassVar[str] = "dealer/drawn"
    seat: int
    rule: str


class Dealt(Event):
    """The cards of a deal lie before the seats. ``hands`` by seat, or with closed hands only ``counts``.

    A hand that is not for the viewer to see is empty; ``counts`` say how many cards it has. ``seed`` made the
    shuffle in house dealing; ``stock`` is what is left, when it is known and needed.
    """

    TOPIC: ClassVar[str] = "deal/dealt"
    deal: int
    dealer: int
    counts: tuple[int, ...]
    hands: tuple[tuple[str, ...], ...] | None = None
    each: int = 0
    """How many cards each should have, where a wrong number is found only on picking up."""
    stock: tuple[str, ...] = ()
    widow: tuple[str, ...] = ()
    turn_up: str | None = None
    """Lies face up for all to see."""
    seed: str | None = None
    face_up: bool = False
    """Hands are up as soon as they are dealt: each seat sees its own."""
    breaches: tuple[Breach, ...] = ()

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """Before the deal is over: the own hand when hands are up, nothing else that was face down."""
        if viewer == "official":
            return self
        if public:
            return msgspec.structs.replace(self, breaches=())
        hands = None
        if self.hands is not None and self.face_up:
            hands = tuple(hand if seat == viewer else () for seat, hand in enumerate(self.hands))
        counts = tuple(self.each if count else 0 for count in self.counts) if self.each else self.counts
        return msgspec.structs.replace(self, hands=hands, counts=counts, stock=(), widow=(), seed=None, breaches=())


class CardPlayed(Event):
    """A card was played to the trick."""

    TOPIC: ClassVar[str] = "card/played"
    seat: int
    card: str
    breaches: tuple[Breach, ...] = ()

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """Without the breaches."""
        return self if viewer == "official" else msgspec.structs.replace(self, breaches=())


class TrickTaken(Event):
    """A trick was won. ``trick`` counts from 1. Uncontested: nobody was left to play against."""

    TOPIC: ClassVar[str] = "trick/taken"
    seat: int
    trick: int
    uncontested: bool = False
    grace_until: datetime | None = None
    """Until then a lead to trick five by anybody but the asker is refused (B-O29)."""


class Reported(Event):
    """A seat reported what the cards cannot show."""

    TOPIC: ClassVar[str] = "fault/reported"
    seat: int
    accused: int
    fault: str
    breaches: tuple[Breach, ...] = ()

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """Without the breaches."""
        return self if viewer == "official" else msgspec.structs.replace(self, breaches=())


class KnockUpheld(Event):
    """A knock was right. ``rests_on``: the event numbers that prove it."""

    TOPIC: ClassVar[str] = "knock/upheld"
    case: int
    seat: int
    accused: int
    offence: str
    rule: str
    payer: int
    penalty: int
    rests_on: tuple[int, ...]
    named: str | None = None
    note: str = ""


class KnockDismissed(Event):
    """A knock was wrong. ``reason``: ``nothing``, ``late``, ``again`` or ``enforced`` (nothing to punish)."""

    TOPIC: ClassVar[str] = "knock/dismissed"
    case: int
    seat: int
    accused: int
    reason: Literal["nothing", "late", "again", "enforced"]
    rule: str
    named: str | None = None
    offence: str | None = None
    rests_on: tuple[int, ...] = ()
    note: str = ""
    within_deal: bool = False
    """Ruled while the deal was under way: that there was something to be late for is not told before its end."""

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """Too late and for nothing look alike until the deal is over."""
        if viewer == "official" or public or not self.within_deal or self.reason != "late":
            return self
        return msgspec.structs.replace(self, reason="nothing", offence=None, rests_on=(), within_deal=False)


class PenaltyImposed(Event):
    """A seat goes up ``points`` when the deal is written into the protocol."""

    TOPIC: ClassVar[str] = "penalty/imposed"
    seat: int
    points: int
    rule: str
    case: int | None = None


class DealScored(Event):
    """A deal was written into the protocol. All tuples go by seat.

    ``before`` plus the ``entries`` of a seat gives its ``points``. ``answers``: ``"in"`` (has a trick),
    ``"play"``, ``"fold"`` or ``None`` (was not asked).
    """

    TOPIC: ClassVar[str] = "deal/scored"
    deal: int
    dealer: int
    kind: str
    declarer: int | None
    contract: int | str | None
    tricks: tuple[int, ...]
    answers: tuple[str | None, ...]
    penalties: tuple[int, ...]
    before: tuple[int, ...]
    points: tuple[int, ...]
    entries: tuple[Entry, ...]
    eliminated: tuple[int, ...] = ()
    """Everybody who is out of the match after this deal."""
    pot_before: int | None = None
    pot: int | None = None
    """The pot before and after the deal, in games that have one."""
    pot_entries: tuple[PotEntry, ...] = ()
    halves: bool = False
    """``before``, ``points`` and ``entries`` count halves of a point."""
    detail: dict[str, Any] = msgspec.field(default_factory=dict)
    """What only this game has to tell of the deal: codes and numbers, never a sentence."""


class PlayEnded(Event):
    """No more cards are played in the deal; it waits to be written into the protocol."""

    TOPIC: ClassVar[str] = "deal/play-ended"
    kind: str


class DealVoided(Event):
    """An official voided the deal under way: it is dealt again.

    Where penalties that were knocked in it enter the protocol at once, ``before`` plus ``entries`` gives ``points``.
    """

    TOPIC: ClassVar[str] = "deal/voided"
    deal: int
    reason: str = ""
    before: tuple[int, ...] = ()
    points: tuple[int, ...] = ()
    entries: tuple[Entry, ...] = ()


class PlayerEliminated(Event):
    """A player is out of the match."""

    TOPIC: ClassVar[str] = "player/eliminated"
    seat: int
    rule: str


class MatchWon(Event):
    """The match is over. ``settlement``: what each seat receives (or pays, below zero) in minor units.

    ``seat`` is ``None`` when nobody is left to win it.
    """

    TOPIC: ClassVar[str] = "match/won"
    seat: int | None
    by: str
    rule: str
    points: tuple[int, ...]
    settlement: tuple[int, ...] | None = None
    halves: bool = False
    """``points`` count halves of a point."""
    seats: tuple[int, ...] = ()
    """All winners, where partners win together."""


class MatchClosed(Event):
    """An official ended the session between two deals. ``shares``: what each seat drew from the pot.

    ``before`` plus ``shares`` gives ``points``; ``pot`` stays. ``settlement`` as in :class:`MatchWon`.
    """

    TOPIC: ClassVar[str] = "match/closed"
    rule: str
    pot_before: int
    shares: tuple[int, ...]
    pot: int
    before: tuple[int, ...]
    points: tuple[int, ...]
    settlement: tuple[int, ...] | None = None


LAYS_OPEN: frozenset[type[Event]] = frozenset((DealScored, DealVoided, MatchClosed, MatchWon))
"""The deal is over after these: its cards lie open, up to and with the event itself."""
