"""What the sisters keep alike of the play of a deal, for functions that all of them use."""

from typing import Protocol, TypeVar

from referee import phases
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.closed_hands import Denial
from referee.games._rodskagg.dealing import DealtCards
from referee.games._rodskagg.question import Question


class Taken(Protocol):
    """What a deal is reckoned from: its play, or what came of it."""

    @property
    def contract(self) -> Contract | None: ...
    @property
    def tricks(self) -> tuple[int, ...]: ...
    @property
    def won(self) -> tuple[tuple[int, int], ...]: ...
    @property
    def question(self) -> Question: ...


class InPlay(Taken, Protocol):
    """The play of the cards."""

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
