"""The options, the events that only Rams has, and the phases of a match (D1-D58).

Hands are bit masks by seat. The mask of a closed hand has every card that the seat may have.
"""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from referee import phases, wire_types
from referee.cards import PACK as WHOLE_PACK
from referee.cards import Cards, cards_of
from referee.phases import Over
from referee.value import CardText, OffenceText, RuleId, Seat, Value
from referee.visibility import Event, Hidden

PACK: tuple[str, ...] = tuple(card for card in WHOLE_PACK if card[1] in "789TJQKA")
"""32 cards (D6-D8)."""
IN_PACK: Cards = cards_of(PACK)
HAND_SIZE = 5
"""Cards in a hand or the widow, tricks in a deal, and tricks that a stake is worth (D3, D15, D17)."""

Word = Literal["join", "lie_down", "widow", "generalrams", "pay"]
"""Declarations: to play, not to play, to play with the widow, to promise all tricks, or to pay and end the deal."""
JOIN: Literal["join"] = "join"
LIE_DOWN: Literal["lie_down"] = "lie_down"
WIDOW: Literal["widow"] = "widow"
GENERALRAMS: Literal["generalrams"] = "generalrams"
PAY: Literal["pay"] = "pay"

Kind = Literal["played", "generalrams_won", "generalrams_lost", "paid", "misdeal"]


class Options(Value, forbid_unknown_fields=True):
    """The choices that the rulebook leaves to the table."""

    late_generalrams: Annotated[
        bool, Meta(description="D35, D-O4: all who have joined may announce generalrams until the first lead.")
    ] = False
    passers_may_take_widow: Annotated[
        bool, Meta(description="D38, D-O5: after a generalrams those who lay down may take the widow too.")
    ] = False
    misdeal_stake: Annotated[
        Literal["stays", "returned"], Meta(description="D67, D-O10: the dealer's stake after a misdeal.")
    ] = "stays"
    forfeited_share: Annotated[
        Literal["second_best", "next_pot", "split_equally"],
        Meta(description="D71, D-O11: the receiver of the share of a trick that a player at fault has taken."),
    ] = "second_best"
    second_best_counts_as_trick: Annotated[
        bool, Meta(description="D60, D-O12: a share won by the second-best card counts as a trick.")
    ] = False
    fault_and_trickless_cumulate: Annotated[
        bool, Meta(description="D60, D70, D-O13, D-O25: a player at fault who took no trick pays for both.")
    ] = True
    fault_per_incident: Annotated[
        bool, Meta(description="D70, D-O14, D-O25: every fault is paid for, not only one for each player and deal.")
    ] = False
    final_pot: Annotated[
        Literal["split_equally", "last_dealer", "keep"],
        Meta(description="D-O18, D-O28: the receiver of the pot when the match is closed or abandoned."),
    ] = "split_equally"
    six_players: Annotated[bool, Meta(description="D2, D-O9: six may play, the dealer sitting out.")] = True


class Staked(Event):
    """The dealer put the stake into the pot. ``pot``: the new amount. ``double``: the pot was not empty before."""

    TOPIC: ClassVar[str] = "pot/staked"
    seat: Seat
    amount: wire_types.Money
    pot: wire_types.Money
    double: bool


class Declared(Event):
    """A seat made a declaration. ``hand``: the widow's cards, if taken and known."""

    TOPIC: ClassVar[str] = "declarations/spoken"
    HIDDEN: ClassVar[Hidden] = {"hand": "own"}
    seat: Seat
    word: Word
    hand: wire_types.Cards | None = None


class DeclarationsClosed(Event):
    """The declarations are over. ``order`` has the seats that play, clockwise from forehand."""

    TOPIC: ClassVar[str] = "declarations/closed"
    order: wire_types.Seats
    leader: Seat
    rule: RuleId
    """Rule that decides the leader: D48, or D49 after a generalrams."""
    announcer: Seat | None = None
    """Seat that announced a generalrams."""


class TurnUpTaken(Event):
    """The dealer took the turned-up card, and laid away the card ``laid``."""

    TOPIC: ClassVar[str] = "turn-up/taken"
    HIDDEN: ClassVar[Hidden] = {"laid": "own"}
    seat: Seat
    card: CardText | None = None
    """Turned-up card; null in a tally."""
    laid: CardText | None = None


class SecondEntered(Event):
    """The seat with the best card among players without fault was entered for a trick of a tally (D71)."""

    TOPIC: ClassVar[str] = "trick/second-told"
    seat: Seat
    trick: wire_types.TrickNumber


class FaultLifted(Event):
    """A fault was lifted: it did not happen, and is not paid for."""

    TOPIC: ClassVar[str] = "fault/lifted"
    accused: Seat
    fault: OffenceText


FACTS: tuple[type[Event], ...] = (Staked, Declared, DeclarationsClosed, TurnUpTaken, SecondEntered, FaultLifted)


class Table(phases.Table):
    """``pot`` is the amount before the dealer's stake."""

    options: Options
    stake: int
    """Minor units that five tricks are worth; without stakes 5 (D10, D15, D-O17)."""


class Drawing(Value, tag="drawing"):
    """Cards are turned up until a jack gives the first deal (D11-D13)."""

    table: Table
    drawn: tuple[tuple[int, str], ...] = ()


class Undealt(Value, tag="undealt"):
    """The dealer stakes and deals next. ``staked``: the number of the stake event, or 0."""

    table: Table
    staked: int = 0


class DealtCards(Value):
    staked: int
    order: tuple[int, ...]
    """Seats with cards, clockwise from forehand."""
    known: bool
    """False: closed hands."""
    widow: int
    """Mask of its cards; 0: unknown."""
    turn_up: str
    """Turned-up card; empty in a tally."""
    trumps: int


class Declarations(Value):
    """The declarations and the exchange before the first lead (D22-D47)."""

    calls: tuple[tuple[int, Word, int], ...] = ()
    """Triples of seat, word and event number."""
    joined: tuple[int, ...] = ()
    lain: tuple[int, ...] = ()
    """Seats that lay down. After a generalrams they play nevertheless."""
    widow: int | None = None
    """Seat that took the widow."""
    announcer: int | None = None
    exchanged: int = 0
    """Event number of the dealer's exchange, or 0."""


class Declaring(Value, tag="declaring"):
    table: Table
    dealing: DealtCards
    hands: tuple[int, ...]
    to_speak: tuple[int, ...]
    said: Declarations = Declarations()


class DeniedCards(Value):
    """The cards that a closed hand cannot have if its play was right (D50-D53).

    ``follow``, ``trump`` and ``head`` are their masks, one for each duty.
    """

    seat: int
    event: int
    lead: int
    follow: int
    trump: int
    head: int


class Taken(Value):
    seat: int
    event: int
    cards: tuple[tuple[int, str], ...]
    """Pairs of seat and card; empty in a tally."""
    second: int | None = None
    """Seat of the second-best card, as entered in a tally (D71)."""


class Playing(Value, tag="playing"):
    """The exchange before the first lead, and the play (D46-D58)."""

    table: Table
    dealing: DealtCards
    said: Declarations
    hands: tuple[int, ...]
    order: tuple[int, ...]
    turn: int
    led: int = 0
    """Suit led, as a mask, or 0."""
    best: int = 0
    winner: int = 0
    lead: int = 0
    """Event number of the lead to the trick."""
    trick: tuple[tuple[int, str], ...] = ()
    won: tuple[Taken, ...] = ()
    denials: tuple[DeniedCards, ...] = ()


class Outcome(Value):
    """The facts by which a deal is paid (D59-D71, D-O24, D67, D-O10). Faults are in the ledger."""

    kind: Kind
    staked: int
    said: Declarations = Declarations()
    order: tuple[int, ...] = ()
    won: tuple[Taken, ...] = ()
    trumps: int = 0


class Played(Value, tag="played"):
    """The deal waits for its score (D59-D71)."""

    table: Table
    dealing: DealtCards
    hands: tuple[int, ...]
    outcome: Outcome


State = Drawing | Undealt | Declaring | Playing | Played | Over[Table]
