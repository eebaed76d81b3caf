"""The fields of a deal in play that the games share, as protocols for the functions that all of them use."""

from typing import Protocol, TypeVar

from referee import phases
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.closed_hands import Denial
from referee.games._rodskagg.dealing import DealtCards
from referee.games._rodskagg.question import Question


class DealSoFar(Protocol):
    """The contract, tricks and question of a deal, while it is played or after it."""

    @property
    def contract(self) -> Contract | None: ...
    @property
    def tricks(self) -> tuple[int, ...]: ...
    @property
    def won(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def question(self) -> Question: ...


class InPlay(DealSoFar, Protocol):
    """The phase in which cards are played."""

    @property
    def table(self) -> phases.Table: ...
    @property
    def cards(self) -> DealtCards: ...
    @property
    def order(self) -> tuple[int, ...]: ...
    @property
    def after(self) -> tuple[int, ...]: ...
    @property
    def turn(self) -> int: ...
    @property
    def gone(self) -> int: ...
    @property
    def led(self) -> int: ...
    @property
    def best(self) -> int: ...
    @property
    def trick(self) -> tuple[tuple[int, str], ...]: ...
    @property
    def lead(self) -> int: ...
    @property
    def voids(self) -> tuple[Denial, ...]: ...


P = TypeVar("P", bound=InPlay)
