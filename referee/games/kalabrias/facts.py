"""Events that only Kalabrias has."""

from typing import ClassVar, Literal

from referee import wire_types
from referee.games.kalabrias.ranks import SequenceName
from referee.value import CardText, DealKind, RuleId, Seat
from referee.visibility import Event, Hidden

Call = Literal["take", "pass", "redeal", "S", "H", "D", "C"]
Answer = Literal["better", "equal", "enough"]


class TrumpsCalled(Event):
    """A seat took the turned-up suit, named another suit, passed, or proposed a new deal."""

    TOPIC: ClassVar[str] = "trumps/called"
    seat: Seat
    call: Call


class RedealAnswered(Event):
    """A seat agreed to the proposed new deal, or refused it."""

    TOPIC: ClassVar[str] = "redeal/answered"
    seat: Seat
    agree: bool


class DeclarerBound(Event):
    """A refused new deal made this seat the declarer, who must name trumps (E12-E13)."""

    TOPIC: ClassVar[str] = "redeal/declarer-bound"
    seat: Seat
    rule: RuleId


class TrumpsMade(Event):
    """The declarer and trumps are known."""

    TOPIC: ClassVar[str] = "trumps/made"
    seat: Seat
    trumps: wire_types.Suit
    rule: RuleId


class LaterCardsDealt(Event):
    """The later cards were dealt: ``hands`` by seat, or with closed hands only ``counts``.

    ``turn_up_to`` is the seat that took up the turned-up card (E51).
    """

    TOPIC: ClassVar[str] = "deal/later-cards-dealt"
    HIDDEN: ClassVar[Hidden] = {"hands": "by_seat"}
    counts: wire_types.Counts
    hands: wire_types.Hands | None = None
    turn_up_to: Seat | None = None


class SevenExchanged(Event):
    """A seat laid the seven of trumps on the table and took the turned-up card (E-O16)."""

    TOPIC: ClassVar[str] = "deal/seven-exchanged"
    seat: Seat
    card: CardText
    turn_up: CardText


class SequenceDeclared(Event):
    """A seat stated one fact about its best sequence. ``five``: it has five cards, which beat four (E-O11)."""

    TOPIC: ClassVar[str] = "sequence/declared"
    seat: Seat
    sequence: SequenceName | Literal["none"] | None = None
    top: wire_types.Rank | None = None
    trumps: bool | None = None
    five: bool = False


class SequenceAnswered(Event):
    """A seat answered the best sequence so far.

    ``refrains``: the seat did not declare a sequence that may be equal or better (E25); hidden until the deal is
    over.
    """

    TOPIC: ClassVar[str] = "sequence/answered"
    HIDDEN: ClassVar[Hidden] = {"refrains": "open"}
    seat: Seat
    answer: Answer
    five: bool = False
    refrains: bool = False


class SequencesCompared(Event):
    """``seat`` has the best sequence. The seats ``level`` have equal sequences outside trumps (E24)."""

    TOPIC: ClassVar[str] = "sequence/compared"
    seat: Seat | None
    level: wire_types.Seats = ()


class SequenceShown(Event):
    """A seat with a closed hand showed the cards of a sequence (E-O34)."""

    TOPIC: ClassVar[str] = "sequence/shown"
    seat: Seat
    cards: wire_types.Cards


class BellaDeclared(Event):
    """A seat declared king and queen of trumps (E18, E26)."""

    TOPIC: ClassVar[str] = "bella/declared"
    seat: Seat


class DealCounted(Event):
    """A deal without recorded cards was counted at the table. Numbers are by seat."""

    TOPIC: ClassVar[str] = "deal/counted"
    kind: DealKind
    tricks: wire_types.Counts
    declarer: Seat | None = None
    trumps: wire_types.Suit | None = None
    """Trump suit; null: the deal was not played."""
    card_points: wire_types.PointsBySeat = ()
    """Points for the cards in the tricks won, and for the last trick (E34-E41)."""
    sequence_points: wire_types.PointsBySeat = ()
    """Points for sequences (E20, E24)."""
    bella_points: wire_types.PointsBySeat = ()
    """Points for king and queen of trumps (E18)."""
    scoring: wire_types.Seats = ()
    """Seats that score sequences, the best first."""


FACTS: tuple[type[Event], ...] = (
    TrumpsCalled,
    RedealAnswered,
    DeclarerBound,
    TrumpsMade,
    LaterCardsDealt,
    SevenExchanged,
    SequenceDeclared,
    SequenceAnswered,
    SequencesCompared,
    SequenceShown,
    BellaDeclared,
    DealCounted,
)
