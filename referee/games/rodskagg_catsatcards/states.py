"""The phases of a match and what stands in each (C5-C62).

Hands are bit masks by seat. With closed hands a mask holds every card not yet seen, the same for all.
"""

from typing import Annotated, Literal

from msgspec import Meta

from referee import phases
from referee.games._rodskagg.bids import Calls, Contract
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.closed_hands import Denial
from referee.games._rodskagg.dealing import DealtCards, Drawing
from referee.games._rodskagg.question import Question
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.phases import Over
from referee.value import Value

Points = Annotated[int, Meta(ge=0, le=12)]


class FemOpp(Value, forbid_unknown_fields=True):
    """C57-C60: what each neglected ritual costs who is knocked for it; 0: it is no offence."""

    wrong_cut: Points = 5
    early_pick_up: Points = 5
    misdeal: Points = 5
    fold_question: Points = 5
    near_zero: Points = 5
    thanks: Points = 5
    revoke: Points = 5


class Options(Value, forbid_unknown_fields=True):
    """The choices that the source leaves to the table; each names its rule or open point."""

    rodskagg_defenders_score: Annotated[
        Literal["none", "one_per_trick"], Meta(description="C-O7: what tricks take off in a Redbeard hand.")
    ] = "one_per_trick"
    rodskagg_stop_at_first_loss: Annotated[
        bool, Meta(description="C-O7: play stops when no Redbeard can be made any more.")
    ] = False
    uncontested_tricks: Annotated[
        Literal["to_declarer", "void"],
        Meta(description="C-O33, C-O34: tricks five and six when all others have folded."),
    ] = "to_declarer"
    honour_redeal: Annotated[
        bool, Meta(description="C13-C15, C-O32: a hand without a card above ten may be given more cards.")
    ] = True
    max_players: Annotated[int, Meta(ge=3, le=7, description="C4: the most that may take part.")] = 7
    knock_window: Annotated[
        Literal["deal_end", "next_trick"], Meta(description="C61, C-O12: how late one may knock in Fem Opp.")
    ] = "next_trick"
    false_knock_penalty: Annotated[
        Literal[0, 5], Meta(description="C-O23: what a knock for nothing costs the knocker in Fem Opp.")
    ] = 0
    wrong_cut_penalty_to: Annotated[
        Literal["cutter", "dealer"], Meta(description="C10, C60: who pays for a wrong cut in Fem Opp.")
    ] = "cutter"
    deal_ritual: Annotated[
        bool,
        Meta(description="C-O23: in Fem Opp cutting, the formula and picking up are acts, with their offences."),
    ] = True
    question_grace_seconds: Annotated[
        int, Meta(ge=0, le=60, description="C-O23: so long only the asker may lead to trick five.")
    ] = 0
    play_on_double_for_all: Annotated[
        bool, Meta(description="C34, C-O1, C-O29: late tricks count two for all but the Declarer.")
    ] = False
    play_on_applies_to_declarer: Annotated[
        bool, Meta(description="C34-C36, C-O2, C-O29: a Declarer without a trick after four plays on as others do.")
    ] = False
    ask_fold_in_redbeard: Annotated[
        bool, Meta(description="C30, C-O6: the question is put in a Redbeard hand, too.")
    ] = True
    near_zero_includes_minus_one: Annotated[
        bool, Meta(description="C49, C-O10: minus one is to be announced, too.")
    ] = False
    exact_tricks_for_all: Annotated[
        bool, Meta(description="C52-C55: everybody must take exactly what he bid; zero in mid-hand wins.")
    ] = False
    exact_tricks_penalty: Annotated[
        int, Meta(ge=0, le=12, description="C52, C-O16: what a missed bid costs with exact_tricks_for_all.")
    ] = 6
    fem_opp: Annotated[bool, Meta(description="C57-C62: neglected rituals can be knocked for.")] = False
    fem_opp_penalties: Annotated[
        FemOpp, Meta(description="C60: the table of penalties in Fem Opp; 0: no offence.")
    ] = FemOpp()
    money: Annotated[
        Literal["none", "points_left"],
        Meta(description="C-O37: played for money, for what a loser pays the winner; none: it is not."),
    ] = "none"


class Table(phases.Table):
    """What holds for the whole of a deal."""

    options: Options
    told: tuple[int | None, ...]
    """The value near zero at which a seat stands and that it has announced, or passed over (C-O24)."""
    duel: bool = False
    lead: int | None = None
    """Who leads to the first trick of a duel (C48)."""


class Auction(Value, tag="auction"):
    """The round of declarations, and before it the replacement of cards (C13-C22)."""

    table: Table
    cards: DealtCards
    to_speak: tuple[int, ...]
    calls: Calls = ()
    stock_left: int = 0
    kept: tuple[int, ...] = ()
    """Who waived more cards, or has thrown what was too much."""
    holder: int | None = None
    """Who has been given more cards and must throw some (C15)."""
    extra: int = 0
    thrown: int = 0
    """The cards thrown away, as a mask."""


class Playing(Value, tag="playing"):
    """The play of the cards (C23-C37)."""

    table: Table
    cards: DealtCards
    contract: Contract | None
    """In a duel there is none (C47)."""
    order: tuple[int, ...]
    """The seats that play on, clockwise."""
    after: tuple[int, ...]
    """By seat, who plays next."""
    turn: int
    tricks: tuple[int, ...]
    owed: tuple[int, ...] = ()
    """Who owes the announcement of C49."""
    redbeards: tuple[int, ...] = ()
    """Who announced Redbeard (C41-C42)."""
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
    """What the score of a hand is made of (C34-C55)."""

    kind: str
    tricks: tuple[int, ...]
    contract: Contract | None
    """In a duel there is none (C47)."""
    won: tuple[tuple[int, int], ...] = ()
    """Seat and event of each trick taken."""
    question: Question = Question()
    redbeards: tuple[int, ...] = ()
    """Who announced Redbeard (C41-C42)."""


class Played(Value, tag="played"):
    """No more cards are played; the deal waits to be written into the protocol (C-O23)."""

    table: Table
    cards: DealtCards
    outcome: Outcome
    gone: int
    tricks_played: int
    """Windows are counted in them."""
    owed: tuple[int, ...] = ()
    """Who owes the announcement of C49."""
    thanked: tuple[int, ...] = ()


State = Drawing[Table] | Undealt[Table] | PickingUp[Table] | Auction | Playing | Played | Over[Table]


def deal_of(state: State) -> Playing | Outcome | None:
    """The play of a deal under way or just over: what can be asked of it alike."""
    return state.outcome if isinstance(state, Played) else state if isinstance(state, Playing) else None


CITES = Cites(
    pack="C2",
    dealer="C9",
    cut="C10",
    six_cards="C12",
    misdeal="C12",
    formula="C60",
    formula_late="C60",
    picking_up="C60",
    wrong_cut="C60",
    early_pick_up="C60",
    own_pick_up="C60",
    bid_turn="C16",
    spoken="C17",
    bids="C18",
    first_lead="C23",
    lead_in_duel="C48",
    turn="C24",
    follow_suit="C26",
    lead="C29",
    question="C30",
    answers="C30",
    in_already="C31",
    folded="C32",
    declarer_in="C36",
    question_late="C37",
    accused="C42",
    answer_turn="C-O23",
)
