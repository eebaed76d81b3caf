"""The phases of a match and their fields."""

from typing import Annotated, Literal

from msgspec import Meta

from referee import phases
from referee.games._rodskagg import in_play
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import Calls, Contract
from referee.games._rodskagg.cites import CitedRules
from referee.games._rodskagg.dealing import DealtCards
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.ritual import Undealt
from referee.phases import Over
from referee.value import Value


class Options(Value, forbid_unknown_fields=True):
    """Choices that the source leaves to the table, with their rule ids."""

    rodskagg_defenders_score: Annotated[
        Literal["none", "one_per_trick"],
        Meta(description="A-O1: points that opponents subtract for tricks in rödskägg."),
    ] = "none"
    rodskagg_stop_at_first_loss: Annotated[
        bool, Meta(description="A-O2, A51: play stops when another player takes a trick in rödskägg.")
    ] = False
    duel_fail_winner: Annotated[
        Literal["most_tricks"], Meta(description="A58, A-O3: the winner when the declarer of a duel fails.")
    ] = "most_tricks"
    duel_fold_question: Annotated[
        bool, Meta(description="A-O4, A-O25: in a duel too, the declarer asks who goes along.")
    ] = False
    forgotten_question_effect: Annotated[
        Literal["deemed_one_late_trick", "normal_value"],
        Meta(
            description="A45-A47, A-O9: how players with none of the first four tricks score after a "
            "forgotten question."
        ),
    ] = "deemed_one_late_trick"
    forgotten_question_penalty: Annotated[
        Literal[0, 5, 6], Meta(description="A-O10, A-O27: points that the declarer who forgot the question adds.")
    ] = 0
    uncontested_tricks: Annotated[
        Literal["to_declarer", "void"],
        Meta(description="A-O12, A-O30: whether the declarer gets tricks five and six when all others have folded."),
    ] = "to_declarer"
    honour_redeal: Annotated[
        bool, Meta(description="A11-A16, A-O14: a hand without ace or court card may be exchanged.")
    ] = True
    max_players: Annotated[int, Meta(ge=2, le=8, description="A1, A-O15: the largest number of players.")] = 8
    bid_cap_by_score: Annotated[
        bool, Meta(description="A-O20: a player may not bid a number above their own points.")
    ] = False
    question_grace_seconds: Annotated[
        int,
        Meta(
            ge=0,
            le=60,
            description="A-O23: seconds in which only the asker may lead to trick five; no effect here, because the "
            "declarer always leads (A29).",
        ),
    ] = 0
    money: Annotated[
        Literal["none", "points_left"],
        Meta(description="A-O32: the amount that each loser pays the winner in a match for money; none: no money."),
    ] = "none"


class Table(phases.Table):
    options: Options
    duel: bool = False


class Playing(in_play.InPlay[Table], kw_only=True, tag="playing"):
    contract: Contract


class Outcome(in_play.DealSoFar, kw_only=True):
    """The result of the play (A40-A60)."""

    kind: str
    calls: Calls = ()


class Played(Value, tag="played"):
    """The deal waits for its score (A-O28)."""

    table: Table
    cards: DealtCards
    outcome: Outcome
    gone: int = 0
    """Mask of the cards played."""


State = Undealt[Table] | Exchanging[Table] | Auction[Table] | Playing | Played | Over[Table]


CITES = CitedRules(
    pack="A4",
    dealer="A9",
    six_cards="A9",
    misdeal="A-O17",
    not_accusable="A-O17",
    new_hands="A11",
    new_hands_turn="A-O14",
    bids="A17",
    bid_turn="A18",
    bid_must_rise="A21",
    one_bid_each="A22",
    bid_cap="A-O20",
    first_lead="A29",
    lead="A29",
    turn="A30",
    follow_suit="A31",
    question="A33",
    question_late="A-O7",
    answers="A34",
    answer_turn="A34",
    declarer_in="A-O13",
    answered_by_trick="A36",
    folded="A37",
)


def play_or_outcome(state: State) -> Playing | Outcome | None:
    return state.outcome if isinstance(state, Played) else state if isinstance(state, Playing) else None
