"""The phases of a match and what stands in each (A6, A9-A60).

Hands are bit masks by seat. With closed hands a mask holds every card not yet seen, the same for all.
"""

from typing import Annotated, Literal

from msgspec import Meta

from referee import phases
from referee.games._rodskagg.auction import Auction
from referee.games._rodskagg.bids import Calls, Contract
from referee.games._rodskagg.cites import Cites
from referee.games._rodskagg.closed_hands import Denial
from referee.games._rodskagg.dealing import DealtCards
from referee.games._rodskagg.new_hands import Exchanging
from referee.games._rodskagg.question import Question
from referee.phases import Over
from referee.value import Value


class Options(Value, forbid_unknown_fields=True):
    """The choices that the source leaves to the table; each names its rule or open point."""

    rodskagg_defenders_score: Annotated[
        Literal["none", "one_per_trick"],
        Meta(description="A-O1: what the others subtract for tricks in rödskägg."),
    ] = "none"
    rodskagg_stop_at_first_loss: Annotated[
        bool, Meta(description="A-O2, A51: play stops when another player takes a trick in rödskägg.")
    ] = False
    duel_fail_winner: Annotated[
        Literal["most_tricks"], Meta(description="A58, A-O3: who wins when the duel's declarer fails.")
    ] = "most_tricks"
    duel_fold_question: Annotated[bool, Meta(description="A-O4, A-O25: the question is put in a duel, too.")] = False
    forgotten_question_effect: Annotated[
        Literal["deemed_one_late_trick", "normal_value"],
        Meta(description="A45-A47, A-O9: what the trickless subtract after a forgotten question."),
    ] = "deemed_one_late_trick"
    forgotten_question_penalty: Annotated[
        Literal[0, 5, 6], Meta(description="A-O10, A-O27: what the declarer who forgot goes up.")
    ] = 0
    uncontested_tricks: Annotated[
        Literal["to_declarer", "void"],
        Meta(description="A-O12, A-O30: tricks five and six when all others have folded."),
    ] = "to_declarer"
    honour_redeal: Annotated[
        bool, Meta(description="A11-A16, A-O14: a hand without ace or court card may be exchanged.")
    ] = True
    max_players: Annotated[int, Meta(ge=2, le=8, description="A1, A-O15: the most that may take part.")] = 8
    bid_cap_by_score: Annotated[bool, Meta(description="A-O20: no number bid above one's own points.")] = False
    question_grace_seconds: Annotated[
        int,
        Meta(
            ge=0,
            le=60,
            description="A-O23: so long only the asker may lead to trick five; here nobody else leads anyway (A29).",
        ),
    ] = 0
    money: Annotated[
        Literal["none", "points_left"],
        Meta(description="A-O32: played for money, for what a loser pays the winner; none: it is not."),
    ] = "none"


class Table(phases.Table):
    """What holds for the whole of a deal."""

    options: Options
    duel: bool = False


class Undealt(Value, tag="undealt"):
    """The dealer is to deal."""

    table: Table


class Playing(Value, tag="playing"):
    """The play of the cards (A29-A39)."""

    table: Table
    cards: DealtCards
    contract: Contract
    order: tuple[int, ...]
    """The seats that play on, clockwise."""
    after: tuple[int, ...]
    """By seat, who plays next."""
    turn: int
    tricks: tuple[int, ...]
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
    question: Question = Question()
    voids: tuple[Denial, ...] = ()


class Outcome(Value):
    """What the score of a deal is made of (A40-A60)."""

    kind: str
    tricks: tuple[int, ...]
    contract: Contract | None = None
    calls: Calls = ()
    won: tuple[tuple[int, int], ...] = ()
    """Seat and event of each trick taken."""
    question: Question = Question()


class Played(Value, tag="played"):
    """No more cards are played; the deal waits to be written into the protocol (A-O28)."""

    table: Table
    cards: DealtCards
    outcome: Outcome
    gone: int = 0


State = Undealt | Exchanging[Table] | Auction[Table] | Playing | Played | Over[Table]


CITES = Cites(
    pack="A4",
    dealer="A9",
    six_cards="A9",
    misdeal="A-O17",
    accused="A-O17",
    new_hands="A11",
    new_hands_turn="A-O14",
    bids="A17",
    bid_turn="A18",
    higher="A21",
    spoken="A22",
    capped="A-O20",
    first_lead="A29",
    lead="A29",
    turn="A30",
    follow_suit="A31",
    question="A33",
    question_late="A-O7",
    answers="A34",
    answer_turn="A34",
    declarer_in="A-O13",
    in_already="A36",
    folded="A37",
)


def deal_of(state: State) -> Playing | Outcome | None:
    """The play of a deal under way or just over: what can be asked of it alike."""
    return state.outcome if isinstance(state, Played) else state if isinstance(state, Playing) else None
