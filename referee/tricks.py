"""The order of play in a trick (A29-A32, B41-B45, C22-C27)."""


def following(order: tuple[int, ...], seats: int) -> tuple[int, ...]:
    """Return, by seat, the seat that plays next in ``order``; for a seat outside ``order`` itself."""
    after = list(range(seats))
    for place, seat in enumerate(order):
        after[seat] = order[(place + 1) % len(order)]
    return tuple(after)


def next_in(order: tuple[int, ...], seat: int) -> int:
    """Return the seat that plays after ``seat`` in ``order``."""
    return order[(order.index(seat) + 1) % len(order)]
