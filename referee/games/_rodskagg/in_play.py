"""The state of a deal during and after the play."""

from typing import Any, Generic, TypeVar

from referee import phases
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.closed_hands import Denial
from referee.games._rodskagg.dealing import DealtCards
from referee.games._rodskagg.question import Question
from referee.tricks import next_seats
from referee.value import Value

T = TypeVar("T", bound=phases.Table)


class DealSoFar(Value):
    tricks: tuple[int, ...]
    """Number of tricks, by seat."""
    contract: Contract | None = None
    """``None`` if all passed, or in a duel without bidding."""
    won: tuple[tuple[int, int], ...] = ()
    """Taker and event number of each trick."""
    credited: int = 0
    """Number of tricks credited without play."""
    question: Question = Question()

    @property
    def played(self) -> int:
        """Number of tricks played, not credited."""
        return len(self.won) - self.credited


class InPlay(DealSoFar, Generic[T], kw_only=True):
    """``gone``, ``led`` and ``best`` are bit masks."""

    table: T
    cards: DealtCards
    order: tuple[int, ...]
    """Seats that still play, clockwise."""
    after: tuple[int, ...]
    """Next seat to play, by seat."""
    turn: int
    gone: int = 0
    """Cards played."""
    led: int = 0
    """Suit led, or 0 before the lead."""
    best: int = 0
    winner: int = 0
    """Seat with the best card so far."""
    trick: tuple[tuple[int, str], ...] = ()
    lead: int = 0
    """Event number of the latest lead, or 0."""
    voids: tuple[Denial, ...] = ()


P = TypeVar("P", bound=InPlay[Any])
R = TypeVar("R", bound=DealSoFar)


def start_of_play(kind: type[P], table: phases.Table, cards: DealtCards, leader: int, **game_fields: Any) -> P:
    return kind(
        table=table,
        cards=cards,
        order=table.playing,
        after=next_seats(table.playing, table.seats),
        turn=leader,
        tricks=(0,) * table.seats,
        **game_fields,
    )


def result_of_play(outcome: type[R], state: InPlay[Any], **game_fields: Any) -> R:
    return outcome(
        tricks=state.tricks,
        contract=state.contract,
        won=state.won,
        credited=state.credited,
        question=state.question,
        **game_fields,
    )
