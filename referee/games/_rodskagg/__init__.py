"""The parts that the three games of Rödskägg share: facts, phases, and functions over the fields that they need.

This package is neither a game nor a base class. Each game's own package says which decisions a phase has. Its table
``CITES`` names the rule that the functions here cite.
"""

from referee.games._rodskagg.bids import BIDS, PASS, RODSKAGG, BidValue
from referee.games._rodskagg.facts import (
    FACTS,
    Announced,
    AuctionWon,
    BidMade,
    CardGiven,
    CardsCut,
    CardsThrown,
    DuelCalled,
    HandKept,
    HandRequested,
    KnockedForCards,
    KnockedOut,
    LeadDrawn,
    MisdealFound,
    NewHands,
    PickedUp,
    QuestionAnswered,
    QuestionAsked,
    Reminded,
)

__all__ = [
    "BIDS",
    "FACTS",
    "PASS",
    "RODSKAGG",
    "Announced",
    "AuctionWon",
    "BidMade",
    "BidValue",
    "CardGiven",
    "CardsCut",
    "CardsThrown",
    "DuelCalled",
    "HandKept",
    "HandRequested",
    "KnockedForCards",
    "KnockedOut",
    "LeadDrawn",
    "MisdealFound",
    "NewHands",
    "PickedUp",
    "QuestionAnswered",
    "QuestionAsked",
    "Reminded",
]
