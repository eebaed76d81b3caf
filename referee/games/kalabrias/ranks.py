"""The cards: their points, their rank in a trick, and sequences (E2, E15-E18, E33-E41)."""

from typing import Literal

import msgspec

from referee.cards import BIT, SUIT, SUITS, Cards
from referee.cards import PACK as FIFTY_TWO

RANKS = "789TJQKA"
"""Ranks in the order of sequences, lowest first (E17)."""

PACK: tuple[str, ...] = tuple(card for card in FIFTY_TWO if card[1] in RANKS)
"""32 cards (E2)."""
ALL: Cards = sum(BIT[card] for card in PACK)

TRICK_RANK = {
    "ten_high": {"trumps": "J9ATKQ87", "plain": "ATKQJ987"},
    "ten_low": {"trumps": "J9AKQT87", "plain": "AKQJT987"},
}
"""Ranks, highest first (E-O2)."""

CARD_POINTS = {
    "trumps": dict(zip("J9ATKQ87", (20, 14, 11, 10, 4, 3, 0, 0), strict=True)),
    "plain": dict(zip("ATKQJ987", (11, 10, 4, 3, 2, 0, 0, 0), strict=True)),
}
"""Points by rank (E34-E40, E-O3)."""

LAST_TRICK = 10
"""Points for the last trick (E41)."""


def _beaters(order: dict[str, str], trumps: str) -> dict[Cards, Cards]:
    """Return for each card the cards that beat it (E31)."""
    beaters = {}
    for suit in SUITS:
        ranks = order["trumps" if suit == trumps else "plain"]
        beats = 0 if suit == trumps else sum(BIT[trumps + rank] for rank in ranks)
        for rank in ranks:
            beaters[BIT[suit + rank]] = beats
            beats |= BIT[suit + rank]
    return beaters


BEATERS: dict[str, dict[str, dict[Cards, Cards]]] = {
    name: {trumps: _beaters(order, trumps) for trumps in SUITS} for name, order in TRICK_RANK.items()
}
"""Cards that beat each card, by trick rank and trumps."""

POINTS: dict[str, dict[str, int]] = {
    trumps: {card: CARD_POINTS["trumps" if card[0] == trumps else "plain"][card[1]] for card in PACK}
    for trumps in SUITS
}
"""Points of each card, by trumps (E34-E40)."""

BELLA: dict[str, Cards] = {suit: BIT[suit + "K"] | BIT[suit + "Q"] for suit in SUITS}
"""King and queen of trumps (E18)."""


SequenceName = Literal["small", "large"]
TOPS: dict[str, str] = {"small": "9TJQKA", "large": "TJQKA"}
"""Ranks that can be the top of a sequence (E15-E16)."""


class Sequence(msgspec.Struct, frozen=True, order=True):
    """A sequence. A better one is greater (E20-E24)."""

    cards: int
    """Number of cards that count: 3, 4, or 5 if longer sequences win."""
    top: int
    """Index of the top in ``RANKS``."""
    trumps: bool

    @property
    def name(self) -> SequenceName:
        """The class of the sequence (E15-E16)."""
        return "small" if self.cards == 3 else "large"

    @property
    def five(self) -> bool:
        """True if five cards count (E-O11)."""
        return self.cards == 5


def _runs_of_bits(pattern: int) -> tuple[tuple[int, int], ...]:
    runs, length = [], 0
    for place in range(len(RANKS) + 1):
        if pattern >> place & 1:
            length += 1
            continue
        if length >= 3:
            runs.append((length, place - 1))
        length = 0
    return tuple(runs)


_RUNS = tuple(_runs_of_bits(pattern) for pattern in range(1 << len(RANKS)))
_LOWEST = {suit: BIT[suit + RANKS[0]].bit_length() - 1 for suit in SUITS}


def runs(hand: Cards, suit: str) -> tuple[tuple[int, int], ...]:
    """Return the runs of three or more cards: pairs of length and index of the top in ``RANKS``."""
    return _RUNS[hand >> _LOWEST[suit] & 0xFF]


def strongest_sequence(hand: Cards, trumps: str, longer_wins: bool) -> Sequence | None:
    """Return the best sequence of a hand, or None (E21, E-O11)."""
    best = None
    for suit in SUITS:
        for length, top in runs(hand, suit):
            cards = min(length, 5 if longer_wins else 4)
            found = Sequence(cards, top, suit == trumps)
            if best is None or found > best:
                best = found
    return best


def cards_of_run(suit: str, top: int, length: int) -> Cards:
    return sum(BIT[suit + RANKS[place]] for place in range(top - length + 1, top + 1))


def is_sequence(cards: Cards) -> bool:
    """Return whether cards are three or more of one suit without a gap (E15-E16, E-O34)."""
    return any(
        cards & SUIT[suit] == cards and [length for length, _ in runs(cards, suit)] == [cards.bit_count()]
        for suit in SUITS
    )


def best_split(length: int, small: int, large: int, five: int) -> int:
    """Return the most points for a run that is split into sequences of 3, 4 and 5 cards (E-O10, E-O34)."""
    if length < 3:
        return 0
    pieces = ((1, 0), (3, small), (4, large), (5, five))
    return max(points + best_split(length - cards, small, large, five) for cards, points in pieces if cards <= length)
