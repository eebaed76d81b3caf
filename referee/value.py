"""The base class of values, and types of fields that many values share.

A type with a ``title`` has that name in the API's description. Bounds in ``extra_json_schema`` are only published,
never checked.
"""

from datetime import datetime
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    Protocol,
    TypeAlias,
    TypedDict,
    TypeVar,
    cast,
    dataclass_transform,
)

from msgspec import Meta, Struct, field
from msgspec.structs import replace

from referee.vocabulary import with_installed


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class Value(Struct, frozen=True, gc=False):
    """A value. Its fields never change.

    It must not contain itself, because the garbage collector ignores values and would never free it.
    """


V = TypeVar("V")


class _Replace(Protocol):
    def __call__(self, value: V, /, **changes: Any) -> V: ...


replaced = cast(_Replace, replace)
""":func:`msgspec.structs.replace` for a value that is typed as a Protocol."""


def with_item(values: tuple[V, ...], place: int, value: V) -> tuple[V, ...]:
    return (*values[:place], value, *values[place + 1 :])


def type_depends_on(by: str, name: str) -> Meta:
    """Mark a field whose type depends on the field ``by`` of its object or an outer one.

    ``name``: key of the type in :mod:`api.http.schemas`.
    """
    return Meta(extra_json_schema={"x-tied": (by, name)})


EVENTS_MAX = 100_000
"""Maximum events of a match or club, without :data:`OFFICIALS_MORE`."""
OFFICIALS_MORE = 1000
"""Maximum events that officials may add to a full match, for example to end it."""
VERSION_MAX = EVENTS_MAX + OFFICIALS_MORE

_SEAT_SAYS = "The number of a seat: 0 to n-1, clockwise."
Seat = Annotated[int, Meta(title="Seat", description=_SEAT_SAYS, extra_json_schema={"minimum": 0, "maximum": 7})]
SeatSent = Annotated[int, Meta(title="Seat", ge=0, le=7, description=_SEAT_SAYS)]

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
"""Card in an event or answer."""

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
        description="The state of a match, as the number of its last event. The first event has number 1.",
        extra_json_schema={"minimum": 1, "maximum": VERSION_MAX},
    ),
]
EventNumber = Annotated[
    int,
    Meta(
        title="EventNumber",
        description="The number of an event in its match, from 1, without gaps.",
        extra_json_schema={"minimum": 1, "maximum": VERSION_MAX},
    ),
]
Points = Annotated[
    int | float,
    Meta(
        title="Points",
        description="Points as in the protocol: whole numbers, or halves in games that count them. In Rams the "
        "balance of a player, in minor units of money if the match has stakes, else in tricks.",
    ),
]
BIDS = with_installed(
    (
        *"0123456789",
        "pass",
        "rodskagg",
        "join",
        "lie_down",
        "widow",
        "generalrams",
        "pay",
        "take",
        "redeal",
        *"SHDC",
    ),
    "bids",
)
if TYPE_CHECKING:
    BidWord: TypeAlias = str
else:
    BidWord = Literal[BIDS]
BidValue = Annotated[
    BidWord,
    Meta(
        title="BidValue",
        description="A bid: a number of tricks as text, or a word of the game, such as `pass`, `rodskagg`, `join`, "
        "`take`, or the letter of a suit.",
    ),
]


class SeatAndCard(TypedDict):
    """A card, and the seat that drew or played it."""

    seat: Seat
    card: CardText


class SeatAndBid(TypedDict):
    """A bid, and the seat that made it."""

    seat: Seat
    bid: BidValue


def _word(title: str, values: str, says: str) -> Meta:
    """Describe a code for the API. ``values``: the table of ``sentences.toml`` whose keys are the codes."""
    return Meta(title=title, description=says, extra_json_schema={"x-values": values})


OFFENCE_SAYS = "The code of an offence; each game lists the ones it has."
OffenceText = Annotated[str, _word("Offence", "offences", OFFENCE_SAYS)]
DealKind = Annotated[str, _word("DealKind", "kinds", "The way a deal was played, or the reason why it was not.")]
WonBy = Annotated[str, _word("WonBy", "wins", "The reason why a player won, or why the match ended.")]
AnswerSeen = Annotated[
    Literal["in", "play", "fold"],
    Meta(
        title="AnswerSeen",
        description="The answer of a seat to the question: `in` (it had a trick), `play` (it goes along), `fold` (it "
        "threw in its cards).",
    ),
]
CaseKind = Annotated[
    Literal["offence", "entry", "misclick"],
    Meta(
        title="CaseKind",
        description="The subject of a case. `offence`: an act against the rules. `entry`: a wrong deal in the "
        "protocol. `misclick`: an act that was not meant (J11).",
    ),
]
Verdict = Annotated[
    Literal["upheld", "dismissed"],
    Meta(
        title="Ruled", description="`upheld`: the opener of the case is right. `dismissed`: the case changes nothing."
    ),
]
Standard = Annotated[
    Literal["agreed_facts", "balance_of_probabilities", "beyond_reasonable_doubt", "undetermined"],
    Meta(
        title="Standard",
        description="How certain the facts are. `agreed_facts`: both sides agree on them (J2). "
        "`balance_of_probabilities`: more likely than not (J3). `beyond_reasonable_doubt`: no other "
        "explanation is credible (J8). `undetermined`: they cannot be established, and the case is "
        "dismissed (J4).",
    ),
]
Time = Annotated[datetime, Meta(tz=True)]
