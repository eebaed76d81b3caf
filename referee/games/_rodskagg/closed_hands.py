"""Conclusions about closed hands from the cards played (A-O26, B-O26)."""

from referee.games._rodskagg.question import ASKED_AFTER
from referee.value import Value


class Denial(Value):
    """The claim of a seat that did not follow suit: it has no card of this suit."""

    seat: int
    suit: int
    trick: int
    event: int
    lead: int


def disproved(voids: tuple[Denial, ...], seat: int, bit: int) -> tuple[Denial, ...]:
    """Return the claims of this seat that its card disproves."""
    return tuple(void for void in voids if void.seat == seat and void.suit & bit)


def claims_after(
    voids: tuple[Denial, ...], seat: int, bit: int, led: int, trick: int, lead: int, event: int
) -> tuple[Denial, ...]:
    """Return the claims after a card: without those that it disproves, with its own.

    ``led`` is the mask of the suit led, or 0 if the card leads.
    """
    voids = tuple(void for void in voids if void.seat != seat or not void.suit & bit)
    if led and not bit & led:
        voids += (Denial(seat=seat, suit=led, trick=trick, event=event, lead=lead),)
    return voids


def cards_left(
    counts: tuple[int, ...], active: tuple[int, ...], full_tricks: int, in_trick: set[int], folded: set[int]
) -> tuple[int, ...]:
    """Return the number of cards by seat. Seats that have ``folded`` still have two."""
    left = list(counts)
    for seat in active:
        left[seat] -= min(full_tricks, ASKED_AFTER) if seat in folded else full_tricks + (seat in in_trick)
    return tuple(max(0, count) for count in left)
