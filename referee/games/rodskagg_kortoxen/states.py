"""The phases of a match and what stands in each (B7, B16-B80).

Hands are bit masks by seat. With closed hands a mask holds every card not yet seen, the same for all.
"""

from typing import Annotated, Literal

from msgspec import Meta

from referee import phases
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import Calls, Contract
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.closed_hands import Denial
from referee.games._rodskagg.dealing import DealtCards, Drawing
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.question import Question
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.phases import Over
from referee.value import Value


class Options(Value, forbid_unknown_fields=True):
    """The choices that the sources leave to the table; each names its rule or open point."""

    rodskagg_defenders_score: Annotated[
        Literal["none", "one_per_trick"], Meta(description="B65: what the others subtract in rödskägg.")
    ] = "none"
    rodskagg_stop_at_first_loss: Annotated[
        bool, Meta(description="B64: play stops when another player takes a trick in rödskägg.")
    ] = True
    forgotten_question_others_free: Annotated[
        bool, Meta(description="B55, B-O16: after a forgotten question the others risk nothing.")
    ] = True
    uncontested_tricks: Annotated[
        Literal["to_declarer", "void"],
        Meta(description="B-O25: tricks five and six when all others have folded."),
    ] = "to_declarer"
    honour_redeal: Annotated[bool, Meta(description="B-O20: a hand without ace or court card may be exchanged.")] = (
        False
    )
    max_players: Annotated[int, Meta(ge=3, le=8, description="B-O23: the most that may take part.")] = 8
    bid_cap_by_score: Annotated[bool, Meta(description="B32, B-O19: no number bid above one's own points.")] = False
    knock_window: Annotated[Literal["deal_end", "next_trick"], Meta(description="B-O2: how late one may knock.")] = (
        "deal_end"
    )
    false_knock_penalty: Annotated[
        Literal[0, 5], Meta(description="B-O3: what a knock for nothing costs the knocker.")
    ] = 0
    wrong_cut_penalty_to: Annotated[
        Literal["cutter", "dealer"], Meta(description="B17, B-O6: who pays for a wrong cut.")
    ] = "cutter"
    fold_question_by: Annotated[
        Literal["declarer", "fourth_trick_winner"], Meta(description="B56-B57, B-O18: who asks.")
    ] = "declarer"
    overshoot: Annotated[
        Literal["bounce", "negative"], Meta(description="B72, B75-B76: more tricks than points.")
    ] = "bounce"
    exact_zero: Annotated[
        bool, Meta(description="B70, B77-B78: false: who knocks out wins, and the deal is broken off.")
    ] = True
    zero_tie_fallback: Annotated[
        Literal["earliest_zero"], Meta(description="B-O12: several at zero, nobody knocked.")
    ] = "earliest_zero"
    money_negative: Annotated[
        Literal["zero", "absolute", "signed"], Meta(description="B-O21, B-O39: what points below zero pay.")
    ] = "zero"
    deal_ritual: Annotated[
        bool, Meta(description="B16-B27: cutting, the formula and picking up are acts, with their offences.")
    ] = True
    question_grace_seconds: Annotated[
        int, Meta(ge=0, le=60, description="B-O29: so long only the asker may lead to trick five.")
    ] = 0


class Table(phases.Table):
    """What holds for the whole of a deal."""

    options: Options


class Exits(Value):
    """The exit knocks of a deal (B67-B71)."""

    knocked: tuple[tuple[int, int], ...] = ()
    """Seat and event of each knock that was made at zero, in order."""
    owed: bool = False
    """The winner of the last trick reached zero by it."""


class Playing(Value, tag="playing"):
    """The play of the cards (B41-B57)."""

    table: Table
    cards: DealtCards
    contract: Contract
    order: tuple[int, ...]
    """The seats that play on, clockwise."""
    after: tuple[int, ...]
    """By seat, who plays next."""
    turn: int
    tricks: tuple[int, ...]
    exits: Exits = Exits()
    gone: int = 0
    """The cards played so far, as a mask."""
    led: int = 0
    best: int = 0
    winner: int = 0
    trick: tuple[tuple[int, str], ...] = ()
    lead: int = 0
    """Event number of the lead."""
    won: tuple[tuple[int, int], ...] = ()
    """Seat and event of each trick taken."""
    credited: int = 0
    """How many of them were not played: nobody was left to play against."""
    question: Question = Question()
    voids: tuple[Denial, ...] = ()

    @property
    def played(self) -> int:
        """The tricks that were played: windows are counted in them."""
        return len(self.won) - self.credited


class Outcome(Value):
    """What the score of a deal is made of, and what may still be owed before it (B58-B80)."""

    kind: str
    tricks: tuple[int, ...]
    exits: Exits = Exits()
    contract: Contract | None = None
    calls: Calls = ()
    order: tuple[int, ...] = ()
    """The seats that played to the end."""
    won: tuple[tuple[int, int], ...] = ()
    """Seat and event of each trick taken."""
    credited: int = 0
    question: Question = Question()

    @property
    def played(self) -> int:
        """The tricks that were played."""
        return len(self.won) - self.credited


class Played(Value, tag="played"):
    """No more cards are played; the deal waits to be written into the protocol (B-O28)."""

    table: Table
    cards: DealtCards
    outcome: Outcome
    gone: int = 0


BeforePlay = Drawing[Table] | Undealt[Table] | PickingUp[Table] | Exchanging[Table] | Auction[Table]
State = BeforePlay | Playing | Played | Over[Table]


def deal_of(state: State) -> Playing | Outcome | None:
    """The play of a deal under way or just over: what can be asked of it alike."""
    return state.outcome if isinstance(state, Played) else state if isinstance(state, Playing) else None


CITES = Cites(
    pack="B4",
    cut="B16",
    wrong_cut="B17",
    dealer="B13",
    six_cards="B18",
    formula="B20",
    formula_late="B22",
    picking_up="B23",
    early_pick_up="B24",
    own_pick_up="B26",
    misdeal="B27",
    new_hands="B-O20",
    new_hands_turn="B-O20",
    bids="B28",
    bid_turn="B29",
    capped="B32",
    higher="B34",
    spoken="B35",
    first_lead="B41",
    follow_suit="B42",
    turn="B13",
    lead="B45",
    question="B46",
    answers="B47",
    answer_turn="B47",
    question_late="B48",
    in_already="B50",
    folded="B52",
    accused="B63",
)
