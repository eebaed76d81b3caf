"""The events that the games of Rödskägg share."""

from typing import ClassVar, Literal

from referee import wire_types
from referee.events import Breach
from referee.value import BidValue, CardText, RuleId, Seat
from referee.visibility import Event, Hidden


class CardsCut(Event):
    """A seat cut the pack."""

    TOPIC: ClassVar[str] = "deal/cut"
    HIDDEN: ClassVar[Hidden] = {"breaches": "official"}
    seat: Seat
    breaches: wire_types.Many[Breach] = ()


class KnockedForCards(Event):
    """The dealer said "knack för kort och felgiv"."""

    TOPIC: ClassVar[str] = "deal/formula-said"
    seat: Seat


class PickedUp(Event):
    """A seat picked up its cards. ``hand`` contains them if they are known."""

    TOPIC: ClassVar[str] = "deal/picked-up"
    HIDDEN: ClassVar[Hidden] = {"hand": "own", "breaches": "official"}
    seat: Seat
    hand: wire_types.Cards | None = None
    breaches: wire_types.Many[Breach] = ()


class MisdealFound(Event):
    """A misdeal, a wrong number of cards, was found. The same dealer deals again (A-O17, B27)."""

    TOPIC: ClassVar[str] = "deal/misdeal-found"
    HIDDEN: ClassVar[Hidden] = {"breaches": "official"}
    seat: Seat
    rule: RuleId
    breaches: wire_types.Many[Breach] = ()


class HandRequested(Event):
    """A seat without an ace or court card asked for six new cards. ``cards``: the cards received, if named."""

    TOPIC: ClassVar[str] = "deal/hand-requested"
    HIDDEN: ClassVar[Hidden] = {"cards": "own"}
    seat: Seat
    cards: wire_types.Cards | None = None


class HandKept(Event):
    """A seat kept its hand."""

    TOPIC: ClassVar[str] = "deal/hand-kept"
    seat: Seat


class NewHands(Event):
    """The seats that asked received new hands. Other ``hands`` are empty. ``stock``: the rest of the pack.

    ``last``: thrown-in cards were shuffled into the stock, so no seat may ask again (A15-A16).
    """

    TOPIC: ClassVar[str] = "deal/new-hands"
    HIDDEN: ClassVar[Hidden] = {"hands": "by_seat", "stock": "open", "seed": "open"}
    seats: wire_types.Seats
    hands: wire_types.Hands | None = None
    stock: wire_types.Cards = ()
    last: bool = False
    seed: wire_types.Seed | None = None


class BidMade(Event):
    """A seat bid or passed."""

    TOPIC: ClassVar[str] = "auction/bid"
    seat: Seat
    bid: BidValue


class AuctionWon(Event):
    """The highest bid became the contract, and its bidder the declarer."""

    TOPIC: ClassVar[str] = "auction/won"
    seat: Seat
    contract: BidValue


class QuestionAsked(Event):
    """The seats ``of`` were asked whether they go along. They must answer in this order."""

    TOPIC: ClassVar[str] = "question/asked"
    seat: Seat
    of: wire_types.Seats


class QuestionAnswered(Event):
    """A seat answered that it goes along (``play``), or that it throws in its cards (``fold``)."""

    TOPIC: ClassVar[str] = "question/answered"
    seat: Seat
    answer: Literal["play", "fold"]


class KnockedOut(Event):
    """A seat said "knack för min utgång". ``valid``: its running total was zero."""

    TOPIC: ClassVar[str] = "exit/knocked"
    seat: Seat
    valid: bool


class CardGiven(Event):
    """A seat without a card above ten received one more card (C13-C14). ``card`` names the card if it is known."""

    TOPIC: ClassVar[str] = "deal/card-given"
    HIDDEN: ClassVar[Hidden] = {"card": "own"}
    seat: Seat
    card: CardText | None = None


class CardsThrown(Event):
    """A seat discarded cards until it had six (C15)."""

    TOPIC: ClassVar[str] = "deal/cards-thrown"
    HIDDEN: ClassVar[Hidden] = {"cards": "own"}
    seat: Seat
    count: wire_types.Count
    cards: wire_types.Cards = ()


class Reminded(Event):
    """A player reminded the declarer, which counts as asking the question (C37)."""

    TOPIC: ClassVar[str] = "question/reminded"
    seat: Seat


class Announced(Event):
    """A seat announced a total near zero (C49), or gave thanks for the help (C44)."""

    TOPIC: ClassVar[str] = "announcement/made"
    seat: Seat
    what: Literal["near_zero", "thanks"]
    total: wire_types.WholePoints


class LeadDrawn(Event):
    """The seat drew the highest card and leads first in the duel (C48)."""

    TOPIC: ClassVar[str] = "duel/lead-drawn"
    seat: Seat


class DuelCalled(Event):
    """Several players are level at zero, and play a duel in the next deal (A55-A60, C46)."""

    TOPIC: ClassVar[str] = "duel/called"
    FOLLOWS_FROM_LINE: ClassVar[bool] = True
    seats: wire_types.Seats
    dealer: Seat
    rule: RuleId


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
