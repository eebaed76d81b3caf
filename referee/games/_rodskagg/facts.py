"""The facts that the sister games of Rödskägg share."""

from typing import ClassVar, Literal

import msgspec

from referee.events import Breach, Event, Viewer
from referee.games._rodskagg.bids import BidValue


class CardsCut(Event):
    """A seat cut the pack."""

    TOPIC: ClassVar[str] = "deal/cut"
    seat: int
    breaches: tuple[Breach, ...] = ()

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """Without the breaches."""
        return self if viewer == "official" else msgspec.structs.replace(self, breaches=())


class KnockedForCards(Event):
    """The dealer said "knack för kort och felgiv"."""

    TOPIC: ClassVar[str] = "deal/formula-said"
    seat: int


class PickedUp(Event):
    """A seat took up its cards; ``hand`` when the referee knows them."""

    TOPIC: ClassVar[str] = "deal/picked-up"
    seat: int
    hand: tuple[str, ...] | None = None
    breaches: tuple[Breach, ...] = ()

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """The hand is its holder's until the deal is over."""
        if viewer == "official":
            return self
        hand = self.hand if public or viewer == self.seat else None
        return msgspec.structs.replace(self, hand=hand, breaches=())


class MisdealFound(Event):
    """A wrong number of cards was found: the same dealer deals again (B27)."""

    TOPIC: ClassVar[str] = "deal/misdeal-found"
    seat: int
    rule: str
    breaches: tuple[Breach, ...] = ()

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """Without the breaches."""
        return self if viewer == "official" else msgspec.structs.replace(self, breaches=())


class HandRequested(Event):
    """A seat without an honour asked for six new cards; ``cards`` as received at a real table."""

    TOPIC: ClassVar[str] = "deal/hand-requested"
    seat: int
    cards: tuple[str, ...] | None = None

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """The new cards are their holder's until the deal is over."""
        if viewer == "official" or public or viewer == self.seat:
            return self
        return msgspec.structs.replace(self, cards=None)


class HandKept(Event):
    """A seat was content with its hand."""

    TOPIC: ClassVar[str] = "deal/hand-kept"
    seat: int


class NewHands(Event):
    """New hands were dealt to those who asked, by seat (empty: unchanged); ``stock`` is what is left.

    ``last``: the thrown-in cards had to be shuffled in, so that nobody may ask again (A15-A16).
    """

    TOPIC: ClassVar[str] = "deal/new-hands"
    seats: tuple[int, ...]
    hands: tuple[tuple[str, ...], ...] | None = None
    stock: tuple[str, ...] = ()
    last: bool = False
    seed: str | None = None

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """Each seat sees its own new hand; the rest lies open when the deal is over."""
        if viewer == "official" or public:
            return self
        hands = self.hands
        if hands is not None:
            hands = tuple(hand if seat == viewer else () for seat, hand in enumerate(hands))
        return msgspec.structs.replace(self, hands=hands, stock=(), seed=None)


class BidMade(Event):
    """A seat bid or passed."""

    TOPIC: ClassVar[str] = "auction/bid"
    seat: int
    bid: BidValue


class AuctionWon(Event):
    """The last bid became the contract, its bidder declarer."""

    TOPIC: ClassVar[str] = "auction/won"
    seat: int
    contract: BidValue


class QuestionAsked(Event):
    """The others were asked whether they go along; ``of``: who must answer, in turn."""

    TOPIC: ClassVar[str] = "question/asked"
    seat: int
    of: tuple[int, ...]


class QuestionAnswered(Event):
    """A seat goes along, or throws in its cards."""

    TOPIC: ClassVar[str] = "question/answered"
    seat: int
    answer: Literal["play", "fold"]


class KnockedOut(Event):
    """A seat said "knack för min utgång". ``valid``: it stood at zero then."""

    TOPIC: ClassVar[str] = "exit/knocked"
    seat: int
    valid: bool


class CardGiven(Event):
    """A seat without a card above ten was given one more (C13-C14); ``card`` when the referee knows it."""

    TOPIC: ClassVar[str] = "deal/card-given"
    seat: int
    card: str | None = None

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """The card is its holder's until the deal is over."""
        if viewer == "official" or public or viewer == self.seat:
            return self
        return msgspec.structs.replace(self, card=None)


class CardsThrown(Event):
    """A seat threw away, face down, what it held above six cards (C15)."""

    TOPIC: ClassVar[str] = "deal/cards-thrown"
    seat: int
    count: int
    cards: tuple[str, ...] = ()

    def seen_by(self, viewer: Viewer, public: bool) -> Event:
        """Which cards they were is known to who threw them until the deal is over."""
        if viewer == "official" or public or viewer == self.seat:
            return self
        return msgspec.structs.replace(self, cards=())


class Reminded(Event):
    """Somebody reminded the declarer of the question, which is put thereby (C37)."""

    TOPIC: ClassVar[str] = "question/reminded"
    seat: int


class Announced(Event):
    """A seat said that it is near zero, at this running total (C49), or gave thanks for the help (C44)."""

    TOPIC: ClassVar[str] = "announcement/made"
    seat: int
    what: Literal["near_zero", "thanks"]
    total: int


class LeadDrawn(Event):
    """The highest card drawn gave the lead to the first trick of a duel (C48)."""

    TOPIC: ClassVar[str] = "duel/lead-drawn"
    seat: int


class DuelCalled(Event):
    """Several are level at zero: the next deal is a duel among these seats (A55-A60, C46)."""

    TOPIC: ClassVar[str] = "duel/called"
    seats: tuple[int, ...]
    dealer: int
    rule: str


FACTS: tuple[type[Event], ...] = (
    CardsCut,
    KnockedForCards,
    PickedUp,
    MisdealFound,
    HandRequested,
    HandKept,
    NewHands,
    BidMade,
    AuctionWon,
    QuestionAsked,
    QuestionAnswered,
    KnockedOut,
    CardGiven,
    CardsThrown,
    Reminded,
    Announced,
    LeadDrawn,
    DuelCalled,
)
