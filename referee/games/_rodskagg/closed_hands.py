"""Conclusions about closed hands from the cards played (A-O26, B-O26). Suits and cards are bit masks."""

from referee.games._rodskagg.question import ASKED_AFTER
from referee.value import Value


class Denial(Value):
    """A claim. By not following suit, the seat claims that it has no card of ``suit``."""

    seat: int
    suit: int
    trick: int
    event: int
    """Event number of this seat's card."""
    lead: int
    """Event number of the lead."""


def disproved_claims(claims: tuple[Denial, ...], seat: int, bit: int) -> tuple[Denial, ...]:
    """Return the claims of ``seat`` that its card ``bit`` disproves."""
    return tuple(claim for claim in claims if claim.seat == seat and claim.suit & bit)


def claims_after(
    claims: tuple[Denial, ...], seat: int, bit: int, suit_led: int, trick: int, lead_event: int, card_event: int
) -> tuple[Denial, ...]:
    """Return the claims after ``seat`` played card ``bit``, without those that it disproves.

    A claim is added unless the card leads (``suit_led`` is 0) or follows suit.
    """
    claims = tuple(claim for claim in claims if claim.seat != seat or not claim.suit & bit)
    if suit_led and not bit & suit_led:
        claims += (Denial(seat=seat, suit=suit_led, trick=trick, event=card_event, lead=lead_event),)
    return claims


def cards_left(
    dealt: tuple[int, ...], active: tuple[int, ...], full_tricks: int, in_trick: set[int], folded: set[int]
) -> tuple[int, ...]:
    """Return the number of cards left by seat. Seats in ``folded`` played no card after trick four."""
    left = list(dealt)
    for seat in active:
        left[seat] -= min(full_tricks, ASKED_AFTER) if seat in folded else full_tricks + (seat in in_trick)
    return tuple(max(0, count) for count in left)
