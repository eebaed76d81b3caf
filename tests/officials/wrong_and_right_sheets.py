"""Score sheets of a first deal in each game: a wrong one and the right one."""

from typing import Any, NamedTuple

from tests.support.match_driver import seats_and

Body = dict[str, Any]


class Sheets(NamedTuple):
    """Bodies of results, in matches whose last seat deals."""

    players: int
    wrong: Body
    right: Body
    cannot_be: Body
    at: str
    """The place in the impossible sheet that is refused."""
    points: tuple[int, ...]
    """The points after the right sheet, from the usual start."""


X1: Body = {
    "bids": seats_and("bid", [0, "2"], [1, "pass"], [2, "3"], [3, "pass"]),
    "tricks": [2, 0, 2, 2, 1, 2],
    "answers": seats_and("answer", [3, "fold"], [1, "play"]),
}
"""The sheet of A-X1 and B-X1."""
CX1: Body = {
    **X1,
    "bids": seats_and("bid", [0, "2"], [1, "0"], [2, "2"], [3, "1"]),
    "tricks": [2, 0, 1, 2, 0, 2],
    "answers": [{"seat": 3, "answer": "fold"}],
}
"""The sheet of C-X1."""
DX1: Body = {"bids": [{"seat": seat, "bid": "join"} for seat in range(4)], "tricks": [0, 1, 0, 2, 2]}
EX1: Body = {
    "declarer": 0,
    "trumps": "S",
    "card_points": [58, 41],
    "taken": [5, 4],
    "sequences": [{"seat": 0, "cards": 3, "top": "Q", "trumps": False}],
}
FOLDED = "/tricks/4"
SHEETS = {
    "rodskagg-alga": Sheets(
        4, {**X1, "tricks": [2, 0, 2, 2, 2, 2]}, X1, {**X1, "tricks": [2, 0, 2, 2, 3, 2]}, FOLDED, (11, 10, 8, 12)
    ),
    "rodskagg-catsatcards": Sheets(
        4, {**CX1, "tricks": [2, 0, 1, 2, 2, 2]}, CX1, {**CX1, "tricks": [2, 0, 1, 2, 3, 2]}, FOLDED, (10, 11, 9, 12)
    ),
    "rodskagg-kortoxen": Sheets(
        4, {**X1, "tricks": [2, 0, 2, 2, 2, 2]}, X1, {**X1, "tricks": [2, 0, 2, 2, 3, 2]}, FOLDED, (11, 11, 8, 12)
    ),
    "rams-english": Sheets(
        4, {**DX1, "tricks": [0, 1, 0, 2, 0]}, DX1, {**DX1, "tricks": [0, 1, 0, 2]}, "/tricks", (2, 1, 2, -10)
    ),
    "kalabrias": Sheets(
        2, {**EX1, "card_points": [41, 58]}, EX1, {**EX1, "card_points": [58, 100]}, "/card_points", (78, 41)
    ),
}
