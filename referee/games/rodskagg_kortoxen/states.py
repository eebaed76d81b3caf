"""The phases of a match."""

from typing import Annotated, Literal

from msgspec import Meta

from referee import phases
from referee.games._rodskagg import in_play
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import Calls, Contract
from referee.games._rodskagg.cites import CitedRules
from referee.games._rodskagg.dealing import DealtCards, Drawing
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.ritual import PickingUp, Undealt
from referee.phases import Over
from referee.value import Value


class Options(Value, forbid_unknown_fields=True):
    """Choices that the source leaves to the table, with their rule ids."""

    rodskagg_defenders_score: Annotated[
        Literal["none", "one_per_trick"],
        Meta(description="B65: points that opponents subtract for tricks in rödskägg."),
    ] = "none"
    rodskagg_stop_at_first_loss: Annotated[
        bool, Meta(description="B64: play stops when an opponent takes a trick in rödskägg.")
    ] = True
    forgotten_question_others_free: Annotated[
        bool, Meta(description="B55, B-O16: after a forgotten question the others risk nothing.")
    ] = True
    uncontested_tricks: Annotated[
        Literal["to_declarer", "void"],
        Meta(description="B-O25: whether the declarer gets the tricks left when all others have folded."),
    ] = "to_declarer"
    honour_redeal: Annotated[bool, Meta(description="B-O20: a hand without ace or court card may be exchanged.")] = (
        False
    )
    max_players: Annotated[int, Meta(ge=3, le=8, description="B-O23: the largest number of players.")] = 8
    bid_cap_by_score: Annotated[
        bool, Meta(description="B32, B-O19: a player may not bid a number above their own points.")
    ] = False
    knock_window: Annotated[
        Literal["deal_end", "next_trick"], Meta(description="B-O2: the time limit for a knock.")
    ] = "deal_end"
    false_knock_penalty: Annotated[
        Literal[0, 5], Meta(description="B-O3: points that a knock for nothing costs the knocker.")
    ] = 0
    wrong_cut_penalty_to: Annotated[
        Literal["cutter", "dealer"], Meta(description="B17, B-O6: the player who pays for a wrong cut.")
    ] = "cutter"
    fold_question_by: Annotated[
        Literal["declarer", "fourth_trick_winner"],
        Meta(description="B56-B57, B-O18: the player who asks the question."),
    ] = "declarer"
    overshoot: Annotated[
        Literal["bounce", "negative"], Meta(description="B72, B75-B76: the result of taking more tricks than points.")
    ] = "bounce"
    exact_zero: Annotated[
        bool, Meta(description="B70, B77-B78: false: a player who knocks out wins, and the deal is broken off.")
    ] = True
    zero_tie_fallback: Annotated[
        Literal["earliest_zero"], Meta(description="B-O12: the winner among several at zero when no player knocked.")
    ] = "earliest_zero"
    money_negative: Annotated[
        Literal["zero", "absolute", "signed"], Meta(description="B-O21, B-O39: the payment for points below zero.")
    ] = "zero"
    deal_ritual: Annotated[
        bool, Meta(description="B16-B27: cutting, the formula and picking up are acts, with their offences.")
    ] = True
    question_grace_seconds: Annotated[
        int, Meta(ge=0, le=60, description="B-O29: seconds in which only the asker may lead to trick five.")
    ] = 0


class Table(phases.Table):
    options: Options


class Exits(Value):
    """The exit knocks of a deal (B67-B71)."""

    knocked: tuple[tuple[int, int], ...] = ()
    """Valid exit knocks, in order: pairs of seat and event number."""
    owed: bool = False
    """True if the last trick brought its winner to zero."""


class Playing(in_play.InPlay[Table], kw_only=True, tag="playing"):
    contract: Contract
    exits: Exits = Exits()


class Outcome(in_play.DealSoFar, kw_only=True):
    """The result of the play (B58-B80). ``order``: seats that did not fold."""

    kind: str
    exits: Exits = Exits()
    calls: Calls = ()
    order: tuple[int, ...] = ()


class Played(Value, tag="played"):
    """The deal waits for its score (B-O28)."""

    table: Table
    cards: DealtCards
    outcome: Outcome
    gone: int = 0
    """Mask of the cards played."""


BeforePlay = Drawing[Table] | Undealt[Table] | PickingUp[Table] | Exchanging[Table] | Auction[Table]
State = BeforePlay | Playing | Played | Over[Table]


def play_or_outcome(state: State) -> Playing | Outcome | None:
    """Return the play or its outcome; ``None`` in other phases."""
    return state.outcome if isinstance(state, Played) else state if isinstance(state, Playing) else None


CITES = CitedRules(
    pack="B4",
    dealer_cuts="B16",
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
    bid_cap="B32",
    bid_must_rise="B34",
    one_bid_each="B35",
    first_lead="B41",
    follow_suit="B42",
    turn="B13",
    lead="B45",
    question="B46",
    answers="B47",
    answer_turn="B47",
    question_late="B48",
    answered_by_trick="B50",
    folded="B52",
    not_accusable="B63",
)
