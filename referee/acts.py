"""What a seat or an official can do: one tagged union, tag ``act``, and the knock.

An act says what somebody wants to do. Whether it may be done is for the ruleset; here it is only read.
"""

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from referee import told
from referee.value import OFFENCE_SAYS, Card, Seat, SeatSent, Value

Note = Annotated[str, Meta(max_length=told.NOTE_MAX, extra_json_schema={"pattern": told.NOTE})]
"""A few lines in somebody's own words."""
Hand = Annotated[tuple[Card, ...], Meta(max_length=52)]
Fault = Literal["misdeal", "exposed_card", "wrong_count", "led_out_of_turn", "early_pick_up", "wrong_cut"]
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


class Act(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act"):
    """Anything that can be sent to a match as an act."""


class SeatAct(Act):
    """An act by a seat."""

    seat: SeatSent


class Draw(SeatAct, tag="draw"):
    """Draw a card (for the first deal, for the lead in a duel); at a real table the card that was drawn."""

    card: Card | None = None


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

    bid: (
        Annotated[int, Meta(ge=-99, le=99)]
        | Annotated[BidWord, Meta(title="BidWord", description="A bid that is a word: Rödskägg, Rams, Kalabrias.")]
    )


class Ask(SeatAct, tag="ask"):
    """Ask the others whether they go along."""


class Answer(SeatAct, tag="answer"):
    """Answer the question: go along (``play``) or throw in the cards (``fold``)."""

    answer: Literal["play", "fold"]


class KnockOut(SeatAct, tag="knock_out"):
    """Knock and say "knack för min utgång"."""


class Play(SeatAct, tag="play"):
    """Play a card."""

    card: Card


class Report(SeatAct, tag="report"):
    """Report at a real table what the cards cannot show."""

    accused: SeatSent
    fault: Annotated[Fault, Meta(title="Fault", description="What the cards cannot show.")]


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
    """Lay away a card and take the turned-up one."""

    card: Card


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


class Close(Act, tag="close"):
    """By the official, between deals: ends the session."""


class Abandon(Act, tag="abandon"):
    """By the official, at any time: ends a match that will not be finished."""

    reason: Note = ""
    """Why, for the record."""


AnyAct = (
    Draw
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


Role = Literal["seat"]
"""What a token can be for."""


class IssueToken(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act", tag="issue_token"):
    """By the official: ``seat`` is given another token, of which this is the SHA-256, in place of the one it had."""

    seat: Seat
    hash: told.HiddenHash
    """Of the token, as SHA-256: told to nobody."""
    role: Role = "seat"


Request = AnyAct | Knock | IssueToken
"""Whatever can be asked; on record its tag tells a knock from an act."""

request_of: Callable[[bytes], Request] = msgspec.json.Decoder(Request).decode
"""What was asked, from how it stands on record."""


def act_name(request: Request) -> str:
    """The name that a request goes by on the wire."""
    return str(request.__struct_config__.tag)
