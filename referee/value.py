"""What everything here is made of: values that never change, and the words of the interface that are single values.

A type with a ``title`` goes by that name in the description of the interface. What stands on record is trusted: where
checking it again would cost time, its pattern is told (``extra_json_schema``) and not held.
"""

from datetime import datetime
from typing import Annotated, Any, Literal, Protocol, TypeVar, cast, dataclass_transform

from msgspec import Meta, Struct, field
from msgspec.structs import replace


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Value(Struct, frozen=True):
    """A value: its fields are given by name and never change. Those without a default come first."""


V = TypeVar("V")


class _Replace(Protocol):
    def __call__(self, value: V, /, **changes: Any) -> V: ...


changed = cast(_Replace, replace)
""":func:`msgspec.structs.replace` for a value that is known only by the fields that it has (a Protocol)."""


def tied(by: str, what: str) -> Meta:
    """Marks a field that is of another type for each value of the field ``by`` that stands beside it, or above."""
    return Meta(extra_json_schema={"x-tied": (by, what)})


EVENTS_MAX = 100_000
"""Events that an aggregate may have."""
OFFICIALS_MORE = 1000
"""Events that officials may still add to a full aggregate: to void a deal, or to close."""
VERSION_MAX = EVENTS_MAX + OFFICIALS_MORE

_SEAT_SAYS = "The number of a seat: 0 to n-1, clockwise."
Seat = Annotated[int, Meta(title="Seat", description=_SEAT_SAYS, extra_json_schema={"minimum": 0, "maximum": 7})]
SeatSent = Annotated[int, Meta(title="Seat", ge=0, le=7, description=_SEAT_SAYS)]
"""A seat as somebody sends it."""

_CARD = "^[SHDC][2-9TJQKA]$"
_CARD_SAYS = "A card: suit, then rank. `SA` is the ace of spades, `HT` the ten of hearts, `D7` the seven of diamonds."
Card = Annotated[
    str,
    Meta(title="Card", pattern=_CARD, description=_CARD_SAYS, examples=["SA"], max_length=2),
]
CardText = Annotated[
    str,
    Meta(title="Card", description=_CARD_SAYS, examples=["SA"], extra_json_schema={"pattern": _CARD, "maxLength": 2}),
]
"""A card where it is told, not read from somebody."""

RuleId = Annotated[
    str,
    Meta(
        title="RuleId",
        description="The id of a rule, or of the reading of a point that the source leaves open: `B42`, `B-O2`.",
        examples=["B42"],
        extra_json_schema={"pattern": "^[A-Z](-[A-Z])?[0-9]{1,3}$", "maxLength": 6},
    ),
]
Version = Annotated[
    int,
    Meta(
        title="Version",
        description="How far a match has come: the number of its last event. The first event has number 1.",
        extra_json_schema={"minimum": 1, "maximum": VERSION_MAX},
    ),
]
EventNumber = Annotated[
    int,
    Meta(
        title="EventNumber",
        description="The number of an event in its match; the first is 1, and none is left out.",
        extra_json_schema={"minimum": 1, "maximum": VERSION_MAX},
    ),
]
Points = Annotated[
    int | float,
    Meta(
        title="Points",
        description="Points as the protocol has them: whole but in games that count halves. In Rams the balance of "
        "a player, in minor units of money where the match has stakes, else in tricks.",
    ),
]
"""Whole wherever it can be; a half only in games that count them."""
BidNumber = Annotated[int, Meta(extra_json_schema={"minimum": -99, "maximum": 99})]
_BID_WORD = Annotated[str, Meta(extra_json_schema={"pattern": "^[A-Za-z_]+$", "maxLength": 16})]
BidSeen = Annotated[
    BidNumber | _BID_WORD,
    Meta(
        title="BidSeen",
        description="What was bid: a number of tricks, or a word of the game, such as `pass`, `rodskagg`, `join`, "
        "`take`, or the letter of a suit.",
    ),
]


def _word(title: str, values: str, says: str) -> Meta:
    """One word of those that the referee has sentences for (``sentences.toml``)."""
    return Meta(title=title, description=says, extra_json_schema={"x-values": values})


OFFENCE_SAYS = "The code of what somebody did against the rules; each game lists which it knows."
OffenceText = Annotated[str, _word("Offence", "offences", OFFENCE_SAYS)]
DealKind = Annotated[str, _word("DealKind", "kinds", "How a deal was played, or why it was not.")]
WonBy = Annotated[str, _word("WonBy", "wins", "What made somebody the winner, or ended the match.")]
AnswerSeen = Annotated[
    Literal["in", "play", "fold"],
    Meta(
        title="AnswerSeen",
        description="What a seat came to by the question: `in` (it had a trick), `play` (it goes along), `fold` (it "
        "threw in its cards).",
    ),
]
CaseKind = Annotated[
    Literal["offence", "entry", "misclick"],
    Meta(
        title="CaseKind",
        description="What a case is about. `offence`: what somebody did. `entry`: a deal that was written wrongly "
        "into the protocol. `misclick`: an act that was not meant (J11).",
    ),
]
Verdict = Annotated[
    Literal["upheld", "dismissed"],
    Meta(title="Ruled", description="`upheld`: who opened the case is right. `dismissed`: it changes nothing."),
]
Standard = Annotated[
    Literal["agreed_facts", "balance_of_probabilities", "beyond_reasonable_doubt", "undetermined"],
    Meta(
        title="Standard",
        description="How sure the facts are. `agreed_facts`: both sides say so (J2). `balance_of_probabilities`: "
        "more likely than not (J3). `beyond_reasonable_doubt`: nothing else can be believed (J8). `undetermined`: "
        "they cannot be found out, and the case is dismissed (J4).",
    ),
]
Time = Annotated[datetime, Meta(tz=True)]
"""RFC 3339, UTC."""
