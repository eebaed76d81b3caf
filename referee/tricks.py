"""The order of play in a trick (A29-A32, B41-B45, C22-C27)."""

from collections.abc import Iterable
from functools import lru_cache

from referee.value import SeatAndCard


@lru_cache(maxsize=4096)
def next_seats(order: tuple[int, ...], seats: int) -> tuple[int, ...]:
    """Return, by seat, the next seat in ``order``; a seat that is not in ``order`` follows itself."""
    after = list(range(seats))
    for place, seat in enumerate(order):
        after[seat] = order[(place + 1) % len(order)]
    return tuple(after)


def next_in(order: tuple[int, ...], seat: int) -> int:
    return order[(order.index(seat) + 1) % len(order)]


def seats_and_cards(cards: Iterable[tuple[int, str]]) -> list[SeatAndCard]:
    """Return pairs of seat and card as answers show them."""
    return [{"seat": seat, "card": card} for seat, card in cards]
