"""The phases of a match and their fields (E1-E53).

Hands are bit masks by seat, with the cards played. A closed hand has every card that the seat may have held.
"""

from functools import cache
from typing import Annotated, Literal

from msgspec import Meta

from referee import phases
from referee.cards import clockwise
from referee.games.kalabrias.facts import Call
from referee.games.kalabrias.ranks import SequenceName
from referee.phases import Over
from referee.value import Value

POINTS_MAX = 10_000
"""Maximum of points in an option, to catch typing errors."""


class SequencePoints(Value, forbid_unknown_fields=True):
    """Points for sequences (E-O1)."""

    small: Annotated[int, Meta(ge=0, le=POINTS_MAX, description="E-O1: three cards.")] = 20
    large: Annotated[int, Meta(ge=0, le=POINTS_MAX, description="E-O1: four or five cards.")] = 50
    five: Annotated[int, Meta(ge=0, le=POINTS_MAX)] | None = None
    """Points for five cards, if they differ from those for four."""


class Options(Value, forbid_unknown_fields=True):
    """The choices that the rulebook leaves to the table. Each names its rule or open point."""

    sequence_points: Annotated[
        SequencePoints,
        Meta(
            description="E-O1: points for a small and a large sequence, and for five cards if they differ from four."
        ),
    ] = SequencePoints()
    bella_points: Annotated[int, Meta(ge=0, le=POINTS_MAX, description="E-O1: points for bella.")] = 20
    all_pass: Annotated[
        Literal["redeal_next_dealer", "dealer_must_choose"],
        Meta(description="E-O5, E-O40: the consequence if all seats pass twice."),
    ] = "redeal_next_dealer"
    redeal_dealer: Annotated[Literal["same", "next"], Meta(description="E-O6: the dealer of an agreed new deal.")] = (
        "same"
    )
    refused_redeal_declarer: Annotated[
        Literal["proposer", "refuser"], Meta(description="E12, E-O7, E-O37: the declarer after a refused new deal.")
    ] = "proposer"
    winner_scores_all_sequences: Annotated[
        bool, Meta(description="E-O10: the winner scores all sequences, not only the best.")
    ] = True
    longer_sequence_wins: Annotated[bool, Meta(description="E16, E-O11: five cards beat four, with any tops.")] = (
        False
    )
    equal_sequences: Annotated[
        Literal["none", "ten_each", "forehand"],
        Meta(description="E24, E-O12: the points for equal best sequences in plain suits."),
    ] = "none"
    declaration_needs_trick: Annotated[
        bool, Meta(description="E-O14: a side without a trick gets no points for sequences; partners are one side.")
    ] = False
    trump_seven_exchange: Annotated[
        bool, Meta(description="E-O16: the seven of trumps may be exchanged for the turned-up card; not with four.")
    ] = False
    must_overtrump: Annotated[
        bool, Meta(description="E-O17: a trump on a plain lead must beat the trumps already played, if possible.")
    ] = False
    target_score: Annotated[int, Meta(ge=1, le=POINTS_MAX, description="E46, E-O20: points that end the match.")] = (
        500
    )
    target_tie: Annotated[
        Literal["play_on"],
        Meta(description="E-O20: the consequence if the best sides have equal points at the target: another deal."),
    ] = "play_on"
    tie_rule: Annotated[
        Literal["opponent_only", "bete", "carry"],
        Meta(description="E44, E-O21, E-O36: the score if declarer and opponents have equal points."),
    ] = "opponent_only"
    three_player_compare: Annotated[
        Literal["sum", "each"],
        Meta(
            description="E47, E-O22: the points that the declarer must exceed: the opponents' sum, or those of each."
        ),
    ] = "sum"
    bete_split: Annotated[
        Literal["half", "higher_opponent_takes_all", "full_to_both", "none"],
        Meta(description="E48, E-O23, E-O38: three players: the opponents' shares of the points of a bête declarer."),
    ] = "half"
    bete_odd_point: Annotated[
        Literal["higher_opponent", "drop", "exact_half"],
        Meta(description="E48, E-O23, E-O38: three players: the odd point when a bête declarer's points are halved."),
    ] = "higher_opponent"
    three_player_side_sequences: Annotated[
        bool, Meta(description="E-O25: three players: the declarer's opponents score sequences as partners do.")
    ] = False
    bella_deadline: Annotated[
        Literal["second_card", "first_card"],
        Meta(description="E27, E-O15, E-O39: the deadline for bella."),
    ] = "second_card"
    trick_rank: Annotated[
        Literal["ten_high", "ten_low"],
        Meta(description="E-O2: trumps J 9 A T K Q 8 7 and plain A T K Q J 9 8 7, or the ten below the queen."),
    ] = "ten_high"
    money: Annotated[
        Literal["none", "difference"],
        Meta(description="E-O42: each loser pays the winner the difference in points; none: no money is paid."),
    ] = "none"


class Table(phases.Table):
    options: Options
    carry: int = 0
    """Points of tied deals (E-O36)."""

    @property
    def unit(self) -> int:
        """Units of ``points`` in a point: two if half points are counted (E-O38), else one."""
        options = self.options
        # because points carried over are halved nevertheless (E-O36)
        carried = options.bete_split == "none" and options.tie_rule == "carry"
        divides = options.bete_split == "half" or carried
        return 2 if self.seats == 3 and options.bete_odd_point == "exact_half" and divides else 1

    @property
    def forehand(self) -> int:
        return (self.dealer + 1) % self.seats

    def opponents(self, declarer: int) -> tuple[int, ...]:
        """Return the seats that play against the declarer, clockwise from the declarer (E47, E49)."""
        return _opponents(declarer, self.seats)


@cache
def _opponents(declarer: int, seats: int) -> tuple[int, ...]:
    partner = (declarer + 2) % 4 if seats == 4 else None
    return tuple([seat for seat in clockwise(declarer, seats) if seat not in (declarer, partner)])


class Undealt(Value, tag="undealt"):
    """The dealer deals next (E3-E4)."""

    table: Table
    drawn: bool = True
    """True if the dealer is known (E-O29)."""


class DealtCards(Value):
    hands: tuple[int, ...]
    counts: tuple[int, ...]
    known: bool
    turn_up: str
    """Card that was turned up, or the seven for which it was exchanged; empty in a tally."""
    stock: tuple[str, ...] = ()
    taken_by: int | None = None
    """Seat that took the turned-up card (E51, E-O16)."""
    taken: int = 0
    """Card that ``taken_by`` took, as a mask."""


class Auction(Value, tag="auction"):
    """Trumps are chosen (E5-E11)."""

    table: Table
    cards: DealtCards
    round: int
    to_speak: tuple[int, ...]
    """Seats that have not called in this round."""
    calls: tuple[tuple[int, Call], ...] = ()


class Proposed(Value, tag="redeal_proposed"):
    """The other seats answer the proposal of a new deal (E11-E12)."""

    table: Table
    cards: DealtCards
    round: int
    proposer: int
    to_reply: tuple[int, ...]
    calls: tuple[tuple[int, Call], ...]
    refuser: int | None = None


class Naming(Value, tag="naming"):
    """The declarer must name trumps after a new deal was refused in the second round (E13)."""

    table: Table
    cards: DealtCards
    declarer: int
    calls: tuple[tuple[int, Call], ...]


class TrumpContract(Value):
    event: int
    declarer: int
    trumps: str
    suit: int
    """All cards of the trump suit."""
    calls: tuple[tuple[int, Call], ...]


class LaterCards(Value, tag="later_cards"):
    """The later cards are not yet dealt (E14, E50)."""

    table: Table
    cards: DealtCards
    contract: TrumpContract


class Claim(Value):
    """The statements about the best sequence so far."""

    seat: int
    event: int
    sequence: SequenceName
    five: bool = False
    top: str | None = None
    above: str | None = None
    """Stated top that this sequence beats."""
    trumps: bool | None = None


Expected = Literal["class", "answer", "top", "answer_to_top", "trumps", "answer_trumps"]


class Declaring(Value, tag="declaring"):
    """Sequences are declared and compared, clockwise from forehand (E19-E25, E-O28)."""

    table: Table
    cards: DealtCards
    contract: TrumpContract
    to_speak: tuple[int, ...]
    expected: Expected = "class"
    best: Claim | None = None
    level: tuple[int, ...] = ()
    """Other seats with sequences equal to the best, outside trumps."""
    refrained: tuple[int, ...] = ()
    """Seats that said "none", or "enough" with a known sequence that is equal or better (E25)."""
    may_add: int | None = None
    """Seat that may still add that its equal sequence is not in trumps (E23)."""
    bella: tuple[tuple[int, int], ...] = ()
    """Declarations of bella: pairs of seat and event number."""


class Sequences(Value):
    """The results of the declarations."""

    best: Claim | None = None
    level: tuple[int, ...] = ()
    refrained: tuple[int, ...] = ()
    shown: tuple[tuple[int, int, int], ...] = ()
    """Sequences shown with closed hands: triples of seat, cards and event number."""


class Playing(Value, tag="playing"):
    """The play of the cards (E28-E41)."""

    table: Table
    cards: DealtCards
    contract: TrumpContract
    sequences: Sequences
    turn: int
    tricks: tuple[int, ...]
    card_points: tuple[int, ...]
    gone: int = 0
    """Cards played, as a mask."""
    led: int = 0
    best: int = 0
    winner: int = 0
    trick: tuple[tuple[int, str], ...] = ()
    won: tuple[tuple[int, int], ...] = ()
    """Tricks: pairs of seat and event number."""
    bella: tuple[tuple[int, int], ...] = ()
    may_add: int | None = None
    played: tuple[int, ...] = ()
    """Cards that each seat has played; empty if hands are known."""

    def hand(self, seat: int) -> int:
        """Return the cards that a seat still has, or with closed hands may have."""
        return self.cards.hands[seat] & ~self.gone


class Counted(Value):
    """The points of a deal in a tally, by seat. ``scoring``: seats that score sequences, the best first."""

    event: int
    scoring: tuple[int, ...]
    sequences: tuple[int, ...]
    bella: tuple[int, ...]


class Outcome(Value):
    """The facts by which a deal is scored (E33-E53). A deal without a contract was not played."""

    kind: str
    tricks: tuple[int, ...]
    contract: TrumpContract | None = None
    card_points: tuple[int, ...] = ()
    won: tuple[tuple[int, int], ...] = ()
    sequences: Sequences = Sequences()
    bella: tuple[tuple[int, int], ...] = ()
    known: bool = True
    """False if hands were closed. Then only sequences claimed or shown count (E-O33, E-O34)."""
    hands: tuple[int, ...] = ()
    """Whole hands if they are known, otherwise the cards played (E32); empty in a tally."""
    counted: Counted | None = None


class Played(Value, tag="played"):
    """The deal waits for its score."""

    table: Table
    cards: DealtCards
    outcome: Outcome
    gone: int = 0
    calls: tuple[tuple[int, Call], ...] = ()
    """Calls of a deal that was not played."""


State = Undealt | Auction | Proposed | Naming | LaterCards | Declaring | Playing | Played | Over[Table]
