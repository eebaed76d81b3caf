"""The acts, events, options and phases of Plump."""

from typing import Annotated, ClassVar, Literal, TypedDict

from msgspec import Meta

from referee import phases, wire_types
from referee.acts import BidEntered, FaultEntered, SeatAct
from referee.cards import Cards
from referee.phases import Over
from referee.value import BidValue, Seat, Value
from referee.visibility import Event, Hidden

CARDS_MAX = 10
TricksShown = Annotated[
    int,
    Meta(ge=0, le=CARDS_MAX, description="Number of tricks that a seat shows."),
]
Bidding = Annotated[
    Literal["in_turn", "fingers"],
    Meta(
        title="PlumpBidding",
        description="P4, P13, P-O3, P-O4: how the seats bid. `in_turn`: one after the other. `fingers`: all at once.",
    ),
]


class ShowFingers(SeatAct, tag="show_fingers"):
    """Show a number of tricks with the fingers. The other seats see it when all have shown theirs."""

    number: TricksShown


class TricksBid(Event):
    """A seat said how many tricks it will take."""

    TOPIC: ClassVar[str] = "plump/bid"
    seat: Seat
    bid: BidValue


class FingersShown(Event):
    """A seat showed a number of tricks. Until all have shown theirs, the other seats do not see it."""

    TOPIC: ClassVar[str] = "plump/fingers-shown"
    HIDDEN: ClassVar[Hidden] = {"number": "own"}
    seat: Seat
    number: wire_types.Count | None = None


class FingersCompared(Event):
    """All have shown their numbers. ``shown`` is by seat."""

    TOPIC: ClassVar[str] = "plump/fingers-compared"
    shown: wire_types.Counts


class LateFingersLifted(Event):
    """An official found that a seat had not shown its fingers late."""

    TOPIC: ClassVar[str] = "plump/late-fingers-lifted"
    seat: Seat


class Options(Value, forbid_unknown_fields=True):
    """Options of Plump."""

    cards: Annotated[int, Meta(ge=1, le=CARDS_MAX, description="P2: number of cards in the first deal.")] = CARDS_MAX
    bidding: Bidding = "in_turn"


class More(TypedDict):
    """Fields of a state that only Plump has."""

    cards_each: Annotated[int, Meta(ge=1, le=CARDS_MAX, description="Number of cards that each seat gets.")]
    shown: Annotated[
        wire_types.Seats | None,
        Meta(description="Seats that have shown their fingers; null if the seats do not show them now."),
    ]


class Detail(TypedDict):
    """Fields of a scored deal that only Plump has."""

    tricks_bid: Annotated[wire_types.Counts, Meta(description="Number of tricks that each seat bid, by seat.")]
    plumps: Annotated[wire_types.Seats, Meta(description="Seats that get a plump in the protocol (P11, P-O4).")]


class Result(Value, forbid_unknown_fields=True):
    """A whole deal from the score sheet: either ``bids`` or, if the seats show fingers, ``fingers``."""

    tricks: wire_types.Many[Seat]
    bids: wire_types.Many[BidEntered] = ()
    fingers: wire_types.Counts = ()
    faults: wire_types.Many[FaultEntered] = ()


class Table(phases.Table):
    """The part of the state that does not change during a deal."""

    options: Options


class Undealt(Value, tag="undealt"):
    """The dealer must deal."""

    table: Table


class Auction(Value, tag="auction"):
    """The seats bid in turn, the dealer last (P4)."""

    table: Table
    hands: tuple[Cards, ...]
    bids: tuple[int, ...] = ()
    """Numbers of tricks, in the order of bidding."""


class Showing(Value, tag="showing"):
    """The seats show their fingers (P13). ``shown`` is by seat."""

    table: Table
    hands: tuple[Cards, ...]
    shown: tuple[int | None, ...]


class Playing(Value, tag="playing"):
    """The tricks are played. ``bids``, ``hands`` and ``tricks`` are by seat."""

    table: Table
    hands: tuple[Cards, ...]
    """Empty in a tally."""
    bids: tuple[int, ...]
    turn: int
    tricks: tuple[int, ...]
    trick: tuple[tuple[int, str], ...] = ()
    late: tuple[int, ...] = ()
    """Seats that showed their fingers late."""


class Played(Value, tag="played"):
    """All tricks are played."""

    table: Table
    bids: tuple[int, ...]
    tricks: tuple[int, ...]
    late: tuple[int, ...]
    shown: int
    """Number of the event of the last trick."""


State = Undealt | Auction | Showing | Playing | Played | Over[Table]


def deals_of(table: Table) -> int:
    """P2: Return the number of deals of the match."""
    return 2 * (table.options.cards - 1) + table.seats


def cards_each(table: Table) -> int:
    """P2: Return the number of cards that each seat gets in this deal or, after the match, got in the last."""
    deal = min(table.deal, deals_of(table))
    return max(table.options.cards + 1 - deal, deal - table.options.cards - table.seats + 2, 1)
