"""Conclusions about closed hands from the cards played (A-O26, B-O26). Suits and cards are bit masks."""

from referee.games._rodskagg.question import ASKED_AFTER
from referee.value import Value


class Denial(Value):
    """The claim of a seat that did not follow suit: it has no card of ``suit``."""

    seat: int
    suit: int
    trick: int
    event: int
    """Event number of this seat's card."""
    lead: int
    """Event number of the lead."""


def disproved(voids: tuple[Denial, ...], seat: int, bit: int) -> tuple[Denial, ...]:
    """Return the seat's claims that its card ``bit`` disproves."""
    return tuple(void for void in voids if void.seat == seat and void.suit & bit)


def claims_after(
    voids: tuple[Denial, ...], seat: int, bit: int, led: int, trick: int, lead: int, event: int
) -> tuple[Denial, ...]:
    """Return the claims after the seat played card ``bit``.

    Disproved claims are removed. A new one is added unless the card leads (``led`` is 0) or follows suit.
    """
    voids = tuple(void for void in voids if void.seat != seat or not void.suit & bit)
    if led and not bit & led:
        voids += (Denial(seat=seat, suit=led, trick=trick, event=event, lead=lead),)
    return voids


def cards_left(
    counts: tuple[int, ...], active: tuple[int, ...], full_tricks: int, in_trick: set[int], folded: set[int]
) -> tuple[int, ...]:
    """Return the number of cards by seat. Seats that have ``folded`` keep their last cards."""
    left = list(counts)
    for seat in active:
        left[seat] -= min(full_tricks, ASKED_AFTER) if seat in folded else full_tricks + (seat in in_trick)
    return tuple(max(0, count) for count in left)
