"""Cards and the pack: texts (``"SA"``, ``"HT"``) in events, bit masks in rules.

A set of cards (a hand, a suit) is an ``int`` with one bit for each card. In a suit, a higher rank has a higher bit.
"""

from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from itertools import count
from random import Random

Cards = int

SUITS = "SHDC"
RANKS = "23456789TJQKA"

PACK: tuple[str, ...] = tuple(suit + rank for suit in SUITS for rank in RANKS)
"""52 cards, suit by suit, two to ace."""

BIT: dict[str, Cards] = {card: 1 << place for place, card in enumerate(PACK)}
CARD: dict[Cards, str] = {bit: card for card, bit in BIT.items()}
ALL: Cards = (1 << len(PACK)) - 1
SUIT: dict[str, Cards] = {suit: sum(BIT[suit + rank] for rank in RANKS) for suit in SUITS}
SUIT_OF: dict[Cards, Cards] = {bit: SUIT[card[0]] for bit, card in CARD.items()}
HONOURS: Cards = sum(BIT[suit + rank] for suit in SUITS for rank in "JQKA")


def cards_of(texts: Iterable[str]) -> Cards:
    """Return the set of these cards. They must all be different."""
    return sum(map(BIT.__getitem__, texts))


def texts_of(cards: Cards) -> tuple[str, ...]:
    """Return the cards as texts, in the order of :data:`PACK`."""
    texts = []
    while cards:
        bit = cards & -cards
        texts.append(CARD[bit])
        cards ^= bit
    return tuple(texts)


@cache
def clockwise(first: int, seats: int) -> tuple[int, ...]:
    """Return all seats, clockwise from ``first``."""
    return (*range(first, seats), *range(first))


def shuffled(seed: str, pack: Cards = ALL) -> tuple[str, ...]:
    """Return the cards of ``pack``, in the order in which the seed shuffles all 52 cards.

    In a seed ``2:n:key``, only ``key`` counts; ``n`` is the number of the last event before.
    """
    by_key = seed.startswith("2:")
    cards = _shuffled_by_key(seed.rpartition(":")[2]) if by_key else Random(seed).sample(PACK, len(PACK))
    return tuple(cards if pack == ALL else [card for card in cards if BIT[card] & pack])


def _shuffled_by_key(key: str) -> list[str]:
    """Return the 52 cards after a Fisher-Yates shuffle with the bytes of SHA-256 over the key and a counter.

    Skips bytes that would make some places more likely.
    """
    stream = (byte for block in count() for byte in sha256(f"{key}\n{block}".encode()).digest())
    cards = list(PACK)
    for left in range(len(cards), 1, -1):
        place = next(byte for byte in stream if byte < 256 - 256 % left) % left
        cards[left - 1], cards[place] = cards[place], cards[left - 1]
    return cards
