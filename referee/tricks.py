"""Following suit and winning a trick, for games that agree on it (A29-A32, B41-B45, C22-C27)."""

from referee.cards import BIT, SUIT_OF, Cards


def playable(hand: Cards, led: Cards) -> Cards:
    """Follow suit if possible, otherwise any card; ``led`` is the led suit, 0 for the lead."""
    return hand & led or hand


def suit_led(card: str) -> Cards:
    """All cards of this card's suit."""
    return SUIT_OF[BIT[card]]


def next_in(order: tuple[int, ...], seat: int) -> int:
    """Who comes after ``seat`` among the seats that play, clockwise."""
    return order[(order.index(seat) + 1) % len(order)]
