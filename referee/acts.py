"""The acts that clients send to a match, and the knock. The JSON field ``act`` names the type."""

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, TypeAlias, cast

from msgspec import Meta, defstruct

from referee import wire_types
from referee.value import OFFENCE_SAYS, BidValue, Card, SeatSent, Value
from referee.vocabulary import INSTALLED, ResultField, with_installed

Note = Annotated[str, Meta(max_length=wire_types.NOTE_MAX, extra_json_schema={"pattern": wire_types.NOTE})]
Hand = Annotated[tuple[Card, ...], Meta(max_length=52)]
FAULTS = with_installed(
    (
        "misdeal",
        "exposed_card",
        "wrong_count",
        "led_out_of_turn",
        "early_pick_up",
        "wrong_cut",
        "revoke",
        "not_heading",
        "near_zero",
    ),
    "faults",
)
OFFENCES = with_installed(
    (
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
    ),
    "offences",
)
if TYPE_CHECKING:
    Fault: TypeAlias = str
    Offence: TypeAlias = str
else:
    Fault = Literal[FAULTS]
    Offence = Literal[OFFENCES]
ENTROPY = r"^[0-9a-f]{32,64}$(?!\n)"
AnswerSent = Literal["play", "fold"]


class Act(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act"):
    """An act as a client sends it."""


class SeatAct(Act):
    seat: SeatSent


class Draw(SeatAct, tag="draw"):
    """Draw a card (for the first deal, or for the lead in a duel)."""

    card: Card | None = None


class Entropy(SeatAct, tag="entropy"):
    """Add random digits to a committed shuffle, once for each seat, before the deal."""

    hex: Annotated[str, Meta(pattern=ENTROPY, max_length=64)]
    """32 to 64 hexadecimal digits, drawn at random. They are public."""


class Cut(SeatAct, tag="cut"):
    """Cut the pack before the deal."""


class Deal(SeatAct, tag="deal"):
    """Deal. In house dealing, send only `seat`."""

    hands: Annotated[tuple[Hand, ...], Meta(max_length=8)] | None = None
    counts: Annotated[tuple[Annotated[int, Meta(ge=0, le=52)], ...], Meta(max_length=8)] | None = None
    stock: Hand | None = None
    widow: Hand | None = None
    turn_up: Card | None = None


class KnockForCards(SeatAct, tag="knock_for_cards"):
    """Knock as the dealer and say "knack för kort och felgiv"."""


class PickUp(SeatAct, tag="pick_up"):
    """Pick up the seat's cards."""


class RequestCards(SeatAct, tag="request_cards"):
    """Ask for a new hand."""

    cards: Hand | None = None


class KeepCards(SeatAct, tag="keep_cards"):
    """Keep the hand."""


class Bid(SeatAct, tag="bid"):
    """Bid: a number of tricks, a word of the game, or pass."""

    bid: BidValue


class Ask(SeatAct, tag="ask"):
    """Ask the other seats whether they go along."""


class Answer(SeatAct, tag="answer"):
    """Answer the question whether the seat goes along."""

    answer: AnswerSent


class KnockOut(SeatAct, tag="knock_out"):
    """Knock and say "knack för min utgång"."""


class Play(SeatAct, tag="play"):
    """Play a card."""

    card: Card


class Trick(SeatAct, tag="trick"):
    """Enter the winner of a trick in a tally. ``seat`` took the trick, or would have taken it without a fault."""

    SCHEMA: ClassVar[str] = "TrickEntered"
    second: SeatSent | None = None
    """Seat that had played the second best card, if a fault of the taker gives the trick away."""


class Report(SeatAct, tag="report"):
    """Report at a real table a fault that the cards cannot show."""

    accused: SeatSent
    fault: Annotated[Fault, Meta(title="Fault", description="A fault that the cards cannot show.")]
    another: bool = False
    """True: a further fault of this kind in the same trick."""


class Score(SeatAct, tag="score"):
    """Write the deal into the protocol. After that, a knock is too late."""


class Void(Act, tag="void"):
    """Void the deal under way (officials only): it is dealt again."""

    reason: Note = ""


class Discard(SeatAct, tag="discard"):
    """Throw away the named cards."""

    cards: Hand


class Remind(SeatAct, tag="remind"):
    """Remind the declarer to ask whether the others go along."""


class Announce(SeatAct, tag="announce"):
    """Announce "near zero", or give thanks."""

    what: Literal["near_zero", "thanks"]


class Exchange(SeatAct, tag="exchange"):
    """Exchange a card for the turned-up card."""

    card: Card | None = None


class Reply(SeatAct, tag="reply"):
    """Agree to a proposed new deal, or refuse it."""

    agree: bool


class Declare(SeatAct, tag="declare"):
    """Declare one property of a sequence or, with closed hands, its cards."""

    sequence: Literal["small", "large", "none"] | None = None
    top: Annotated[str, Meta(pattern="^[2-9TJQKA]$", max_length=1)] | None = None
    trumps: bool | None = None
    cards: Hand | None = None


class Respond(SeatAct, tag="respond"):
    """Answer a declared sequence: better, equal or good enough."""

    answer: Literal["better", "equal", "enough"]


class Bella(SeatAct, tag="bella"):
    """Declare king and queen of trumps."""


class TakeBack(SeatAct, tag="take_back"):
    """Ask to take back the seat's own last act, or agree to the request of a different seat."""


class AgreeStakes(Act, tag="agree_stakes"):
    """Agree to the stakes of a club's match. The books count the match when all members at the table have agreed.

    In a club with ``stakes_need: secretary`` a member's key with ``officiate`` agrees for all at a real table.
    """

    seat: SeatSent | None = None
    """Seat to answer for; left out: all seats that have not agreed."""
    agree: bool = True
    """False: decline, and the books never count the match."""


class Close(Act, tag="close"):
    """End the session between two deals (officials only)."""


class Abandon(Act, tag="abandon"):
    """End an unfinished match at any time (officials only)."""

    reason: Note = ""


# A whole deal, from the score sheet

TRICKS_MAX = 16
"""More than any deal has, so that a rule, not the parser, refuses too many tricks."""
KNOCKS_MAX = 64
TrickCount = Annotated[int, Meta(ge=0, le=TRICKS_MAX)]
"""Number of complete tricks."""


class BidEntered(Value, forbid_unknown_fields=True):
    """A bid, and the seat that made it."""

    seat: SeatSent
    bid: BidValue


class AnswerEntered(Value, forbid_unknown_fields=True):
    """An answer to the question, and its seat."""

    seat: SeatSent
    answer: AnswerSent
    """Answer of the seat."""


class ExitEntered(Value, forbid_unknown_fields=True):
    """A knock to go out."""

    seat: SeatSent
    after: TrickCount
    """Number of tricks before the knock."""


class KnockEntered(Value, forbid_unknown_fields=True, omit_defaults=True):
    """A knock and the table's agreement on it."""

    seat: SeatSent
    accused: SeatSent
    """Accused seat. For a failed knock to go out: the knocker, with the offence `exit_knock` and `upheld` false."""
    offence: Annotated[Offence, Meta(title="Offence", description=OFFENCE_SAYS)]
    after: TrickCount | None = None
    """Number of tricks before the knock. Null: before the bidding if the offence is about the deal, else after the
    last trick."""
    upheld: bool = True
    """True if the table upheld the knock."""
    note: Note = ""


class FaultEntered(Value, forbid_unknown_fields=True):
    """A fault and its seat."""

    seat: SeatSent
    fault: Annotated[Fault, Meta(title="Fault", description="A fault that the cards cannot show.")]


class SequenceEntered(Value, forbid_unknown_fields=True):
    """A sequence that was shown and counts."""

    seat: SeatSent
    cards: Annotated[int, Meta(ge=3, le=8)]
    """Number of its cards."""
    top: Annotated[str, Meta(pattern="^[2-9TJQKA]$", max_length=1)]
    """Rank of its highest card."""
    trumps: bool
    """True if the sequence is in trumps."""


_OWN_FIELDS: dict[str, tuple[Any, Any]] = {
    "flag": (bool, False),
    "seat": (SeatSent | None, None),
    "seats": (Annotated[tuple[SeatSent, ...], Meta(max_length=TRICKS_MAX)] | None, None),
    "count": (TrickCount | None, None),
    "counts": (Annotated[tuple[TrickCount, ...], Meta(max_length=8)] | None, None),
    "cards": (Hand | None, None),
}
"""Type and default of an installed game's result field, by kind."""


def _result_base() -> type[Act]:
    """Return the base of :class:`Result`, with the result fields of the installed games.

    Raises ``ImportError`` if two games give one name to fields of different kinds.
    """
    own: dict[str, ResultField] = {}
    packages: dict[str, str] = {}
    for package, name, field in ((key, *item) for key, words in INSTALLED.items() for item in words.result.items()):
        first = packages.setdefault(name, package)
        if own.setdefault(name, field).kind != field.kind:
            raise ImportError(
                f"The packages {first} and {package} have the result field {name}, of different kinds. "
                "Use the same kind, or a different name."
            )
    fields: list[tuple[str, Any, Any]] = []
    for name, field in own.items():
        kind, default = _OWN_FIELDS[field.kind]
        fields.append((name, Annotated[kind, Meta(description=field.says)], default))
    base: Any = defstruct("ResultOfInstalledGames", fields, bases=(Act,)) if fields else Act
    return cast(type[Act], base)


if TYPE_CHECKING:
    _ResultBase: TypeAlias = Act
else:
    _ResultBase = _result_base()


class Result(_ResultBase, tag="result"):
    """Enter a whole deal from the score sheet (tally only). Leave out fields that the game does not have."""

    bids: Annotated[tuple[BidEntered, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Bids, in the order of speaking."""
    tricks: Annotated[tuple[SeatSent, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Winner of each trick, in order."""
    taken: Annotated[tuple[TrickCount, ...], Meta(max_length=8)] | None = None
    """Number of tricks, by seat."""
    late: Annotated[tuple[TrickCount, ...], Meta(max_length=8)] | None = None
    """Number of tricks among the last two, by seat (Rödskägg); left out: none."""
    answers: Annotated[tuple[AnswerEntered, ...], Meta(max_length=8)] | None = None
    """Answers to the question, in the order of speaking."""
    asked: bool = True
    """True if the question was asked in time."""
    exits: Annotated[tuple[ExitEntered, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Knocks to go out."""
    knocks: Annotated[tuple[KnockEntered, ...], Meta(max_length=KNOCKS_MAX)] | None = None
    """Knocks of the deal."""
    misdeal: bool = False
    """True if the deal was a misdeal."""
    second: Annotated[tuple[SeatSent | None, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Seat with the second best card of each trick; null if it does not matter."""
    exchanged: bool = False
    """True if the dealer took the turned-up card."""
    faults: Annotated[tuple[FaultEntered, ...], Meta(max_length=KNOCKS_MAX)] | None = None
    """Faults that forfeit a share in the pot."""
    kind: Literal["passed_out", "redeal"] | None = None
    """Reason why no card was played."""
    declarer: SeatSent | None = None
    """Seat that played for the points."""
    trumps: Annotated[str, Meta(pattern="^[SHDC]$", max_length=1)] | None = None
    """Suit of trumps."""
    card_points: Annotated[tuple[Annotated[int, Meta(ge=0, le=999)], ...], Meta(max_length=8)] | None = None
    """Points of the cards in each seat's tricks, by seat."""
    sequences: Annotated[tuple[SequenceEntered, ...], Meta(max_length=TRICKS_MAX)] | None = None
    """Sequences that count."""
    bella: SeatSent | None = None
    """Seat that declared king and queen of trumps."""


for _package, _words in INSTALLED.items():
    if _clash := _words.result.keys() & Result.__annotations__.keys():
        raise ImportError(
            f"The package {_package} has a result field that the kernel has already: {', '.join(sorted(_clash))}. "
            "Use the field of the kernel, or a different name."
        )


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
"""Acts without those of installed games, which ``referee.games.ACTS`` also has."""


class Knock(Value, forbid_unknown_fields=True, omit_defaults=True, tag_field="act", tag="knock"):
    """A knock on the table: ``seat`` accuses ``accused``. Without ``offence`` the knock is about the oldest
    open breach of ``accused``."""

    SCHEMA: ClassVar[str] = "KnockRecorded"
    """Name of the schema. Clients send the schema `Knock`."""
    seat: SeatSent
    accused: SeatSent
    offence: Annotated[Offence, Meta(title="Offence", description=OFFENCE_SAYS)] | None = None
    note: Note = ""
    late: bool = False
    """True if, by the `result`, the knock may have come too late."""
