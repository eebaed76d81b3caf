"""A score sheet with counts instead of an order, in the three Rödskägg games, and the cases in which order
decides."""

from typing import Any

import pytest

from tests.officials.rodskagg_tallies import (
    ALL_FOLD,
    CATS,
    KORTOXEN,
    ONE,
    PASSED,
    SHEETS,
    SISTERS,
    points_after,
    refused,
    result,
    tally,
)
from tests.support.match_driver import P1, P2, P3, seats_and

ZEROS = {
    "bids": [*PASSED[:1], {"seat": 1, "bid": "1"}, {"seat": 2, "bid": "pass"}, {"seat": 3, "bid": "pass"}],
    "taken": [2, 2, 1, 1],
    "late": [0, 0, 1, 1],
}
ZEROS["answers"] = seats_and("answer", [2, "play"], [3, "play"])


@pytest.mark.rule("A-O31", "B-O40", "C-O36")
@pytest.mark.parametrize("key", SISTERS)
def test_counts_are_enough_if_no_order_decides(key: str):
    sheet = SHEETS[key]
    counted = {name: value for name, value in sheet.items() if name != "tricks"}
    for name, tricks in (("taken", sheet["tricks"]), ("late", sheet["tricks"][4:])):
        counted[name] = [tricks.count(seat) for seat in range(4)]
    assert points_after(tally(key), **counted) == points_after(tally(key), **sheet)


CATS_COUNTED: dict[str, Any] = {
    "bids": seats_and("bid", [0, "1"], [1, "0"], [2, "0"], [3, "0"]),
    "taken": [3, 2, 0, 1],
    "late": [0, 1, 0, 1],
    "answers": seats_and("answer", [2, "fold"], [3, "play"]),
}
BY_P4 = seats_and("bid", [0, "pass"], [1, "pass"], [2, "pass"], [3, "1"])
"""The words of a deal whose declarer is P4, the only seat without a trick, so that no seat has to answer."""
ORDER: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (KORTOXEN, {"points": (2, 2, 9, 9)}, ZEROS, "B-O12"),
    (KORTOXEN, {"points": (2, 9, 9, 9)}, {**ZEROS, "exits": [{"seat": 0, "after": 4}]}, "B67"),
    (KORTOXEN, {"points": (2, 9, 9, 9), "exact_zero": False}, {**ZEROS, "exits": [{"seat": 0, "after": 4}]}, "B77"),
    (
        KORTOXEN,
        {"points": (2, 9, 9, 9)},
        {**ZEROS, "knocks": [{"seat": 1, "accused": 0, "offence": "exit_knock"}]},
        "B68",
    ),
    (KORTOXEN, {"fold_question_by": "fourth_trick_winner"}, ZEROS, "B56"),
    (
        CATS,
        {"points": (3, 12, 12, 12), "exact_tricks_for_all": True},
        {
            "bids": seats_and("bid", [0, "1"], [1, "0"], [2, "0"], [3, "0"]),
            "taken": [3, 2, 0, 1],
            "late": [1, 0, 0, 1],
            "answers": seats_and("answer", [2, "fold"], [3, "play"]),
        },
        "C55",
    ),
]


@pytest.mark.rule("B-O12", "B56", "B67", "B68", "B77", "C55")
@pytest.mark.parametrize(("key", "opening", "body", "rule"), ORDER, ids=[rule for *_, rule in ORDER])
def test_if_the_order_decides_it_is_asked_for(key: str, opening: dict[str, Any], body: dict[str, Any], rule: str):
    refusal = refused(tally(key, **opening), result(**body))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("order_needed", rule, "/taken")


ENOUGH: list[tuple[str, dict[str, Any], dict[str, Any], tuple[int, ...]]] = [
    (KORTOXEN, {"points": (2, 9, 9, 9)}, ZEROS, (0, 7, 8, 8)),
    (
        KORTOXEN,
        {"fold_question_by": "fourth_trick_winner"},
        {
            "bids": ONE,
            "taken": [4, 1, 1, 0],
            "late": [0, 1, 1, 0],
            "answers": seats_and("answer", [1, "play"], [2, "play"], [3, "fold"]),
        },
        (8, 11, 11, 12),
    ),
    (CATS, {"points": (3, 12, 12, 12)}, CATS_COUNTED, (3 + 5 - 3, 10, 12, 10)),
    (CATS, {"points": (5, 12, -1, 12), "exact_tricks_for_all": True}, CATS_COUNTED, (5 + 6 - 3, 16, -1, 16)),
]


@pytest.mark.rule("B-O12", "B56", "C55")
@pytest.mark.parametrize(
    ("key", "opening", "body", "after"), ENOUGH, ids=["alone at zero", "one took four", "not exact", "out of reach"]
)
def test_if_it_cannot_decide_it_is_not(
    key: str, opening: dict[str, Any], body: dict[str, Any], after: tuple[int, ...]
):
    assert points_after(tally(key, **opening), **body) == after


@pytest.mark.rule("C55")
def test_a_player_who_reaches_zero_with_the_last_trick_needs_the_order():
    body = {**CATS_COUNTED, "taken": [3, 2, 0, 1], "late": [0, 1, 0, 1]}
    refusal = refused(tally(CATS, points=(3, 12, 12, 12), exact_tricks_for_all=True), result(**body))
    assert (refusal.code, refusal.rule) == ("order_needed", "C55")


@pytest.mark.rule("B71", "B-O12")
def test_tricks_in_order_show_who_was_first():
    sheet = {name: value for name, value in ZEROS.items() if name not in ("taken", "late")}
    match = tally(points=(2, 2, 9, 9))
    match.do(result(**sheet, tricks=[0, 1, 1, 0, 2, 3]))
    assert match.state.winner == P2
    match = tally(points=(2, 2, 9, 9))
    match.do(result(**sheet, tricks=[0, 1, 1, 0, 2, 3], exits=[{"seat": 0, "after": 4}]))
    assert match.state.winner == P1


@pytest.mark.rule("B77", "B78")
def test_an_exit_breaks_off_the_deal():
    sheet = {"bids": ZEROS["bids"], "tricks": [0, 1, 0], "exits": [{"seat": 0, "after": 3}]}
    match = tally(points=(2, 9, 9, 9), exact_zero=False)
    refusal = refused(match, result(**{**sheet, "tricks": [0, 1, 0, 1]}))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("too_many_tricks", "B69", "/tricks/3")
    match.do(result(**sheet, knocks=[{"seat": 2, "accused": 1, "offence": "revoke"}]))
    assert (match.state.winner, match.state.table.points) == (P1, (0, 14, 9, 9))


@pytest.mark.rule("B46", "B77", "B78", "B-O30")
@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ({"answers": seats_and("answer", [2, "fold"], [3, "fold"])}, True),
        ({}, False),
        ({"asked": False}, False),
        ({"tricks": [0, 1, 2, 0], "bids": BY_P4, "asked": False}, False),
        ({"tricks": [0, 1, 2, 0], "bids": BY_P4}, True),
    ],
)
def test_the_question_comes_before_an_exit_that_breaks_off_the_deal_if_it_was_put(more: dict[str, Any], asked: bool):
    """P1 comes to zero after the fourth trick: answers were entered, or no seat had to answer."""
    sheet = {"bids": ZEROS["bids"], "tricks": [0, 1, 1, 0], "exits": [{"seat": 0, "after": 4}], **more}
    match = tally(points=(2, 9, 9, 9), exact_zero=False)
    events = match.do(result(**sheet))
    assert any(event.TOPIC == "question/asked" for event in events) == asked
    assert (match.state.winner, match.state.by) == (P1, "exit_knock")


@pytest.mark.rule("B67", "B-O25")
def test_an_exit_comes_before_the_question_if_the_deal_is_played_out():
    sheet = {"bids": ONE, "tricks": [0, 0, 0, 0], "answers": ALL_FOLD["answers"], "exits": [{"seat": 0, "after": 4}]}
    match = tally(points=(4, 12, 12, 12))
    events = [event.TOPIC for event in match.do(result(**sheet))]
    assert events.index("exit/knocked") < events.index("question/asked")
    assert match.state.table.points == (2, 12, 12, 12), "this seat has two more tricks"


@pytest.mark.rule("B-O31", "B67")
def test_an_exit_made_before_a_knock_is_not_undone_by_its_place_on_the_sheet():
    """P2 comes to zero after the third trick and knocks out; then a knock imposes five points."""
    sheet = {
        "bids": [{"seat": 0, "bid": "2"}, *PASSED[1:]],
        "tricks": [1, 0, 1, 0, 3, 2],
        "answers": seats_and("answer", [2, "play"], [3, "play"]),
    }
    knock = {"seat": 3, "accused": 1, "offence": "revoke", "after": 3}
    match = tally(points=(9, 2, 8, 8))
    assert points_after(match, **sheet, exits=[{"seat": 1, "after": 3}], knocks=[knock]) == (7, 5, 7, 7)


@pytest.mark.rule("B-O11", "B67")
def test_an_exit_may_become_due_by_a_knock():
    sheet = {
        "bids": [{"seat": 0, "bid": "2"}, *PASSED[1:]],
        "tricks": [1, 0, 1, 0, 3, 2],
        "answers": seats_and("answer", [2, "play"], [3, "play"]),
    }
    knock = {"seat": 3, "accused": 1, "offence": "revoke", "after": 3}
    match = tally(points=(9, -3, 8, 8), overshoot="negative")
    assert refused(match, result(**sheet, exits=[{"seat": 1, "after": 3}])).code == "not_at_zero"
    match.do(result(**sheet, exits=[{"seat": 1, "after": 3}], knocks=[knock]))
    assert (match.state.winner, match.state.table.points[P2]) == (P2, 0)


@pytest.mark.rule("C55", "C-O33")
def test_zero_by_uncontested_tricks_wins_at_once():
    sheet = {"bids": seats_and("bid", [0, "5"], [1, "0"], [2, "0"], [3, "0"]), "answers": ALL_FOLD["answers"]}
    match = tally(CATS, points=(6, 12, 12, 12), exact_tricks_for_all=True)
    refusal = refused(match, result(**sheet, tricks=[0, 0, 0, 0, 0, 1]))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("has_folded", "C32", "/tricks/5")
    refusal = refused(match, result(**sheet, tricks=[0] * 7))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("too_many_tricks", "C12", "/tricks/6")
    match.do(result(**sheet, tricks=[0] * 6))
    assert (match.state.winner, match.state.by) == (P1, "zero_at_once")


@pytest.mark.rule("C55")
def test_a_seat_that_comes_to_zero_while_others_play_on_wins():  # C-X13
    sheet = {"bids": seats_and("bid", [0, "4"], [1, "0"], [2, "3"], [3, "0"]), "tricks": [2, 2]}
    match = tally(CATS, points=(12, 12, 2, 12), exact_tricks_for_all=True)
    alone = {"tricks": [2] * 6, "answers": seats_and("answer", [3, "fold"], [0, "fold"], [1, "fold"])}
    for more in ({"tricks": [2, 2, 2]}, alone):
        refusal = refused(match, result(**{**sheet, **more}))
        assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("too_many_tricks", "C12", "/tricks/2")
    match.do(result(**sheet))
    assert (match.state.winner, match.state.by) == (P3, "zero_at_once")
