"""The course of a trick, for games that agree on it (A29-A32, B41-B45, C22-C27).

Following suit is ``hand & led or hand``: the cards of the led suit if there are any, else the hand.
"""


def following(order: tuple[int, ...], seats: int) -> tuple[int, ...]:
    """By seat, who plays next when the seats of ``order`` play, clockwise; a seat that is not among them itself."""
    after = list(range(seats))
    for place, seat in enumerate(order):
        after[seat] = order[(place + 1) % len(order)]
    return tuple(after)
