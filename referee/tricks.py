"""The order of play in a trick, for games with the same rules (A29-A32, B41-B45, C22-C27).

Following suit is ``hand & led or hand``: the cards of the led suit if there are any, else the hand.
"""


def following(order: tuple[int, ...], seats: int) -> tuple[int, ...]:
    """Return by seat the next seat when the seats of ``order`` play clockwise; a seat outside ``order`` gets
    itself."""
    after = list(range(seats))
    for place, seat in enumerate(order):
        after[seat] = order[(place + 1) % len(order)]
    return tuple(after)


def next_in(order: tuple[int, ...], seat: int) -> int:
    """Return the seat that plays after ``seat`` in ``order``."""
    return order[(order.index(seat) + 1) % len(order)]
