"""The phases of a match."""

from typing import Annotated, Literal

from msgspec import Meta

from referee import phases
from referee.games._rodskagg import in_play
from referee.games._rodskagg.bids import Calls
from referee.games._rodskagg.cites import CitedRules
from referee.games._rodskagg.dealing import DealtCards, Drawing
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.phases import Over
from referee.value import Value

Points = Annotated[int, Meta(ge=0, le=12)]


class FemOpp(Value, forbid_unknown_fields=True):
    """C57-C60: Points that each neglected ritual costs after a knock; 0: no offence. `thanks`: no effect (C-O25)."""

    wrong_cut: Points = 5
    early_pick_up: Points = 5
    misdeal: Points = 5
    fold_question: Points = 5
    near_zero: Points = 5
    thanks: Points = 5
    revoke: Points = 5


class Options(Value, forbid_unknown_fields=True):
    """Choices that the source leaves to the table, with their rule ids."""

    rodskagg_defenders_score: Annotated[
        Literal["none", "one_per_trick"], Meta(description="C-O7: whether tricks take off points in a Redbeard hand.")
    ] = "one_per_trick"
    rodskagg_stop_at_first_loss: Annotated[
        bool, Meta(description="C-O7: play stops when no Redbeard can be made any more.")
    ] = False
    uncontested_tricks: Annotated[
        Literal["to_declarer", "void"],
        Meta(description="C-O33, C-O34: whether the Declarer gets the tricks left when all others have folded."),
    ] = "to_declarer"
    honour_redeal: Annotated[
        bool, Meta(description="C13-C15, C-O32: a hand without a card above ten may be given more cards.")
    ] = True
    max_players: Annotated[int, Meta(ge=3, le=7, description="C4: the largest number of players.")] = 7
    knock_window: Annotated[
        Literal["deal_end", "next_trick"], Meta(description="C61, C-O12: the time limit for a knock in Fem Opp.")
    ] = "next_trick"
    false_knock_penalty: Annotated[
        Literal[0, 5], Meta(description="C-O23: points that a knock for nothing costs the knocker in Fem Opp.")
    ] = 0
    wrong_cut_penalty_to: Annotated[
        Literal["cutter", "dealer"], Meta(description="C10, C60: the player who pays for a wrong cut in Fem Opp.")
    ] = "cutter"
    deal_ritual: Annotated[
        bool,
        Meta(description="C-O23: in Fem Opp, cutting, the formula and picking up are acts; neglect is an offence."),
    ] = True
    question_grace_seconds: Annotated[
        int, Meta(ge=0, le=60, description="C-O23: seconds in which only the asker may lead to trick five.")
    ] = 0
    play_on_double_for_all: Annotated[
        bool,
        Meta(
            description="C34, C-O1, C-O29: late tricks count two also for players with an early trick; for a "
            "Declarer only with play_on_applies_to_declarer."
        ),
    ] = False
    play_on_applies_to_declarer: Annotated[
        bool, Meta(description="C34-C36, C-O2, C-O29: a Declarer without a trick after four plays on as others do.")
    ] = False
    ask_fold_in_redbeard: Annotated[
        bool, Meta(description="C30, C-O6: the question is also put in a Redbeard hand.")
    ] = True
    near_zero_includes_minus_one: Annotated[
        bool, Meta(description="C49, C-O10: a total of minus one must also be announced.")
    ] = False
    exact_tricks_for_all: Annotated[
        bool,
        Meta(
            description="C52-C55: all must take exactly the tricks they bid; a trick that brings zero wins at once."
        ),
    ] = False
    exact_tricks_penalty: Annotated[
        int, Meta(ge=0, le=12, description="C52, C-O16: points that a missed bid costs with exact_tricks_for_all.")
    ] = 6
    fem_opp: Annotated[bool, Meta(description="C57-C62: neglected rituals can be knocked for.")] = False
    fem_opp_penalties: Annotated[
        FemOpp, Meta(description="C60: the table of penalties in Fem Opp; 0: no offence.")
    ] = FemOpp()
    money: Annotated[
        Literal["none", "points_left"],
        Meta(description="C-O37: the amount that each loser pays the winner in a match for money; none: no money."),
    ] = "none"


class Table(phases.Table):
    options: Options
    announced: tuple[int | None, ...]
    """Totals near zero, by seat, whose announcement was made or missed, until they change; ``None``: none (C-O24)."""
    duel: bool = False
    lead: int | None = None
    """Seat that leads first in the duel (C48)."""


class Auction(Value, tag="auction"):
    """The declarations, and before them the replacement of cards (C13-C22)."""

    table: Table
    cards: DealtCards
    to_speak: tuple[int, ...]
    calls: Calls = ()
    stock_left: int = 0
    kept: tuple[int, ...] = ()
    """Seats that waived more cards, or have discarded."""
    holder: int | None = None
    """Seat that received more cards and must discard (C15)."""
    extra: int = 0
    """Number of cards that the holder must discard."""
    thrown: int = 0
    """Mask of the cards discarded."""


class Playing(in_play.InPlay[Table], kw_only=True, tag="playing"):
    owed: tuple[int, ...] = ()
    """Seats that owe an announcement (C49)."""
    redbeards: tuple[int, ...] = ()
    """Seats that bid Redbeard (C41-C42)."""


class Outcome(in_play.DealSoFar, kw_only=True):
    """The result of the play (C34-C55)."""

    kind: str
    redbeards: tuple[int, ...] = ()


class Played(Value, tag="played"):
    """The deal waits for its score (C-O23)."""

    table: Table
    cards: DealtCards
    outcome: Outcome
    gone: int
    """Mask of the cards played."""
    owed: tuple[int, ...] = ()
    thanked: tuple[int, ...] = ()


State = Drawing[Table] | Undealt[Table] | PickingUp[Table] | Auction | Playing | Played | Over[Table]


def play_or_outcome(state: State) -> Playing | Outcome | None:
    """Return the play or its outcome; ``None`` in other phases."""
    return state.outcome if isinstance(state, Played) else state if isinstance(state, Playing) else None


CITES = CitedRules(
    pack="C2",
    dealer="C9",
    dealer_cuts="C10",
    six_cards="C12",
    misdeal="C12",
    formula="C60",
    formula_late="C60",
    picking_up="C60",
    wrong_cut="C60",
    early_pick_up="C60",
    own_pick_up="C60",
    bid_turn="C16",
    one_bid_each="C17",
    bids="C18",
    first_lead="C23",
    lead_in_duel="C48",
    turn="C24",
    follow_suit="C26",
    lead="C29",
    question="C30",
    answers="C30",
    answered_by_trick="C31",
    folded="C32",
    declarer_in="C36",
    question_late="C37",
    not_accusable="C42",
    answer_turn="C-O23",
)
