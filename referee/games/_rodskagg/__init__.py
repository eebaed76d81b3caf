"""What the sister games of Rödskägg share: facts, and plain functions of plain values.

Not a game and no base class: each sister still reads whole in its own package, and cites its own rules. A function
here that refuses is told the rule to cite.
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
