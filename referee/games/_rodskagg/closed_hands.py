"""Closed hands: what is known of them from the cards that were played (A-O26, B-O26)."""

from referee.games._rodskagg.question import ASKED_AFTER
from referee.value import Value


class Denial(Value):
    """With closed hands: a seat did not follow suit, so it claimed to have none of it."""

    seat: int
    suit: int
    trick: int
    event: int
    lead: int


def disproved(voids: tuple[Denial, ...], seat: int, bit: int) -> tuple[Denial, ...]:
    """The claims of a seat that this card of its own shows to be false."""
    return tuple(void for void in voids if void.seat == seat and void.suit & bit)


def claims(
    voids: tuple[Denial, ...], seat: int, bit: int, led: int, trick: int, lead: int, event: int
) -> tuple[Denial, ...]:
    """The claims that stand after a card to a trick in which ``led`` was led (0: it leads)."""
    voids = tuple(void for void in voids if void.seat != seat or not void.suit & bit)
    if led and not bit & led:
        voids += (Denial(seat=seat, suit=led, trick=trick, event=event, lead=lead),)
    return voids


def cards_left(
    counts: tuple[int, ...], active: tuple[int, ...], full_tricks: int, here: set[int], folded: set[int]
) -> tuple[int, ...]:
    """How many cards each seat holds; ``here`` played to the trick on the table, who folded keeps two."""
    left = list(counts)
    for seat in active:
        left[seat] -= min(full_tricks, ASKED_AFTER) if seat in folded else full_tricks + (seat in here)
    return tuple(max(0, count) for count in left)
