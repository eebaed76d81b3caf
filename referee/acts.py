"""What a seat or an official can do: one tagged union, tag ``act``, and the knock.

An act says what somebody wants to do. Whether it may be done is for the ruleset; here it is only read.
"""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from referee import wire_types
from referee.value import OFFENCE_SAYS, Card, SeatSent, Value

Note = Annotated[str, Meta(max_length=wire_types.NOTE_MAX, extra_json_schema={"pattern": wire_types.NOTE})]
"""A few lines in somebody's own words."""
Hand = Annotated[tuple[Card, ...], Meta(max_length=52)]
Fault = Literal[
    "misdeal",
    "exposed_card",
    "wrong_count",
    "led_out_of_turn",
    "early_pick_up",
    "wrong_cut",
    "revoke",
    "not_heading",
    "near_zero",
]
ENTROPY = r"^[0-9a-f]{32,64}$(?!\n)"
Offence = Literal[
    "wrong_cut",
    "early_pick_up",
    "misdeal",
    "fold_question",
    "exit_knock",
    "revoke",
    "not_heading",
    "near_zero",
    "thanks",
    "exposed_card",
    "wrong_count",
    "led_out_of_turn",
]


BidWord = Literal[
    "pass", "rodskagg", "join", "lie_down", "widow", "generalrams", "pay", "take", "redeal", "S", "H", "D", "C"
]
"""Bids that are words: Rödskägg, Rams, Kalabrias."""
BidSent = (
    Annotated[int, Meta(ge=-99, le=99)]
    | Annotated[BidWord, Meta(title="BidWord", description="A bid that is a word: Rödskägg, Rams, Kalabrias.")]
)
AnswerSent = Literal["play", "fold"]


class Act(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act"):
    """Anything that can be sent to a match as an act."""


class SeatAct(Act):
    """An act by a seat."""

    seat: SeatSent


class Draw(SeatAct, tag="draw"):
    """Draw a card (for the first deal, for the lead in a duel); at a real table the card that was drawn."""

    card: Card | None = None


class Entropy(SeatAct, tag="entropy"):
    """Add digits of one's own to a shuffle that the house has committed to: before the deal, and once."""

    hex: Annotated[str, Meta(pattern=ENTROPY, max_length=64)]
    """32 to 64 hexadecimal digits, drawn at random by the player: they go into the shuffle, and all see them."""


class Cut(SeatAct, tag="cut"):
    """Cut the pack before the deal."""


class Deal(SeatAct, tag="deal"):
    """Deal. In house dealing nothing more; at a real table ``hands`` by seat, or ``counts`` with closed hands."""

    hands: Annotated[tuple[Hand, ...], Meta(max_length=8)] | None = None
    counts: Annotated[tuple[Annotated[int, Meta(ge=0, le=52)], ...], Meta(max_length=8)] | None = None
    stock: Hand | None = None
    widow: Hand | None = None
    turn_up: Card | None = None


class KnockForCards(SeatAct, tag="knock_for_cards"):
    """The dealer's "knack för kort och felgiv"."""


class PickUp(SeatAct, tag="pick_up"):
    """Take up one's own cards."""


class RequestCards(SeatAct, tag="request_cards"):
    """Ask for a new hand; at a real table ``cards`` may say what was received."""

    cards: Hand | None = None


class KeepCards(SeatAct, tag="keep_cards"):
    """Be content with the hand."""


class Bid(SeatAct, tag="bid"):
    """Bid or pass: a number of tricks, or one of the words that the game knows."""

    bid: BidSent


class Ask(SeatAct, tag="ask"):
    """Ask the others whether they go along."""


class Answer(SeatAct, tag="answer"):
    """Answer the question: go along (``play``) or throw in the cards (``fold``)."""

    answer: AnswerSent


class KnockOut(SeatAct, tag="knock_out"):
    """Knock and say "knack för min utgång"."""


class Play(SeatAct, tag="play"):
    """Play a card."""

    card: Card


class Trick(SeatAct, tag="trick"):
    """Where only the tally is kept: ``seat`` took the trick, or would have taken it."""

    SCHEMA: ClassVar[str] = "TrickTold"
    second: SeatSent | None = None
    """Who had played the second best card, where a fault of its taker gives the trick to another."""


class Report(SeatAct, tag="report"):
    """Report at a real table what the cards cannot show."""

    accused: SeatSent
    fault: Annotated[Fault, Meta(title="Fault", description="What the cards cannot show.")]
    another: bool = False
    """True: this is another error of the kind than those on record, although it was reported in the same trick."""


class Score(SeatAct, tag="score"):
    """Write the deal into the protocol; after that it is too late to knock for it."""


class Void(Act, tag="void"):
    """By the official: the deal under way counts for nothing and is dealt again."""

    reason: Note = ""


class Discard(SeatAct, tag="discard"):
    """Throw cards away; which ones."""

    cards: Hand


class Remind(SeatAct, tag="remind"):
    """Remind the declarer of the question."""


class Announce(SeatAct, tag="announce"):
    """Announce that one is near zero, or give thanks."""

    what: Literal["near_zero", "thanks"]


class Exchange(SeatAct, tag="exchange"):
    """Lay away a card and take the turned-up one. Where only the tally is kept the card is not told."""

    card: Card | None = None


class Reply(SeatAct, tag="reply"):
    """Agree to a proposed new deal, or refuse it."""

    agree: bool


class Declare(SeatAct, tag="declare"):
    """State one thing of a sequence: its class, top rank, or whether it is in trumps; with closed hands its cards."""

    sequence: Literal["small", "large", "none"] | None = None
    top: Annotated[str, Meta(pattern="^[2-9TJQKA]$", max_length=1)] | None = None
    trumps: bool | None = None
    cards: Hand | None = None


class Respond(SeatAct, tag="respond"):
    """Answer a stated sequence."""

    answer: Literal["better", "equal", "enough"]


class Bella(SeatAct, tag="bella"):
    """Declare king and queen of trumps."""


class TakeBack(SeatAct, tag="take_back"):
    """Ask that the last act be taken back, which was one's own; or agree to that where another has asked for it."""


class AgreeStakes(Act, tag="agree_stakes"):
    """Agree to the stakes of a club's match: until every member in it has, its money counts for nothing.

    In a club with ``stakes_need: secretary`` one member's key with ``officiate`` confirms for all who are present at
    a real table."""

    seat: SeatSent | None = None
    """The seat whose member agrees; left out by an official, who answers for all seats that have not agreed."""
    agree: bool = True
    """False: decline. The match then never counts in the books."""


class Close(Act, tag="close"):
    """By the official, between deals: ends the session."""


class Abandon(Act, tag="abandon"):
    """By the official, at any time: ends a match that will not be finished."""

    reason: Note = ""
    """Why, for the record."""


# A whole deal, from the score sheet

TRICKS_MAX = 16
"""More than any deal has, so that a list that is too long is against a rule and not unreadable."""
KNOCKS_MAX = 64
AfterTrick = Annotated[int, Meta(ge=0, le=TRICKS_MAX)]
"""So many tricks were over."""
SeatAndBidSent = Annotated[tuple[SeatSent, BidSent], Meta(description="Who bid, and then what.")]
SeatAndAnswerSent = Annotated[tuple[SeatSent, AnswerSent], Meta(description="Who answered, and then what.")]
SeatAndTrick = Annotated[
    tuple[SeatSent, AfterTrick], Meta(description="Who knocked, and then after how many tricks of the deal.")
]
EarlyAndLate = Annotated[
    tuple[AfterTrick, ...],
    Meta(min_length=2, max_length=2, description="How many of the first four tricks, and of the last two."),
]
"""A pair; as such msgspec cannot tell it from a number without harm (0.22)."""


class KnockTold(Value, forbid_unknown_fields=True, omit_defaults=True):
    """A knock and what the table agreed on it."""

    seat: SeatSent
    """Who knocked."""
    accused: SeatSent
    """For whose error. Who knocked for his own exit in vain accuses himself of `exit_knock`, not `upheld`."""
    offence: Annotated[Offence, Meta(title="Offence", description=OFFENCE_SAYS)]
    after: AfterTrick | None = None
    """After so many tricks; null: before the bidding where it is about the deal, else after the last trick."""
    upheld: bool = True
    """Whether the table found it right."""
    note: Note = ""


class FaultTold(Value, forbid_unknown_fields=True):
    """A fault and whose it was."""

    seat: SeatSent
    """Whose it was."""
    fault: Annotated[Fault, Meta(title="Fault", description="What the cards cannot show.")]
    """Which it was."""


class SequenceTold(Value, forbid_unknown_fields=True):
    """A sequence that was shown and counts."""

    seat: SeatSent
    """Whose it is."""
    cards: Annotated[int, Meta(ge=3, le=8)]
    """How many cards it has."""
    top: Annotated[str, Meta(pattern="^[2-9TJQKA]$", max_length=1)]
    """The rank of its highest card."""
    trumps: bool
    """Whether it is in trumps."""


class Result(Act, tag="result"):
    """Where only the tally is kept: a whole deal as the score sheet has it. What a game does not know is left out."""

    bids: Annotated[tuple[SeatAndBidSent, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Seat and bid, as they were spoken."""
    tricks: Annotated[tuple[SeatSent, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Who took each trick, in order."""
    taken: Annotated[tuple[AfterTrick | EarlyAndLate, ...], Meta(max_length=8)] | None = None
    """By seat, how many tricks it took; where there is a question, of the first four and of the last two."""
    answers: Annotated[tuple[SeatAndAnswerSent, ...], Meta(max_length=8)] | None = None
    """Seat and answer to the question, as they were spoken."""
    asked: bool = True
    """Whether the question was put in time."""
    exits: Annotated[tuple[SeatAndTrick, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Who knocked for his exit, after how many tricks."""
    knocks: Annotated[tuple[KnockTold, ...], Meta(max_length=KNOCKS_MAX)] | None = None
    """The knocks of the deal, and what the table agreed on each."""
    misdeal: bool = False
    """The deal was a misdeal."""
    second: Annotated[tuple[SeatSent | None, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """For each trick who had played the second best card; null where it does not matter."""
    exchanged: bool = False
    """The dealer took the turned-up card."""
    faults: Annotated[tuple[FaultTold, ...], Meta(max_length=KNOCKS_MAX)] | None = None
    """Faults that forfeit a part in the pot."""
    kind: Literal["passed_out", "redeal"] | None = None
    """Why nothing was played."""
    declarer: SeatSent | None = None
    """Who played for the points."""
    trumps: Annotated[str, Meta(pattern="^[SHDC]$", max_length=1)] | None = None
    """The suit that was trumps."""
    card_points: Annotated[tuple[Annotated[int, Meta(ge=0, le=999)], ...], Meta(max_length=8)] | None = None
    """By seat, the points of the cards in its tricks."""
    sequences: Annotated[tuple[SequenceTold, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Those that count."""
    bella: SeatSent | None = None
    """Who declared king and queen of trumps."""


AnyAct = (
    Draw
    | Entropy
    | Cut
    | Deal
    | KnockForCards
    | PickUp
    | RequestCards
    | KeepCards
    | Bid
    | Ask
    | Answer
    | KnockOut
    | Play
    | Trick
    | Result
    | Report
    | Score
    | Discard
    | Remind
    | Announce
    | Exchange
    | Reply
    | Declare
    | Respond
    | Bella
    | TakeBack
    | AgreeStakes
    | Close
    | Void
    | Abandon
)


class Knock(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act", tag="knock"):
    """A knock on the table: ``seat`` says that ``accused`` did something wrong.

    ``offence`` names it; without it the referee looks for the oldest that stands open.
    """

    seat: SeatSent
    accused: SeatSent
    offence: Annotated[Offence, Meta(title="Offence", description=OFFENCE_SAYS)] | None = None
    note: Note = ""
    late: bool = False
    """True inside a result: the table dismissed the knock as too late."""
