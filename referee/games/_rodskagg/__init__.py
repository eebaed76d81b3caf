"""What the sister games of Rödskägg do alike: facts, phases, and plain functions over the fields that they need.

Not a game and no base class. A sister's own package says what it decides in which phase, what only it has, and in one
table (``CITES``) the rule to cite for each thing that is done here.
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
