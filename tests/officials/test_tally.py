"""Whole deals of a tally in the three Rödskägg games, entered from the score sheet."""

from pathlib import Path
from typing import Any

import pytest

from referee import notation
from referee.acts import Deal, Trick
from referee.events import KnockDismissed, KnockUpheld, PenaltyImposed
from referee.games._rodskagg.facts import DuelCalled, LeadDrawn
from referee.officials.events.tally import ResultEntered
from referee.refusals import MatchOver, WrongPhase
from tests.conformance.replay import Direct
from tests.games.rodskagg import Table, opened
from tests.officials.rodskagg_tallies import (
    ALGA,
    ALL_FOLD,
    CATS,
    KORTOXEN,
    PASSED,
    SHEETS,
    SISTERS,
    points_after,
    refused,
    result,
    tally,
)
from tests.officials.wrong_and_right_sheets import CX1, X1
from tests.support.match_driver import P1, P2, P3, P4, seats_and
from tests.support.random_tallies import Tally, acts_of, deals_of, line_of, sheet_of
from tests.test_golden import given, play

GOLDEN = Path(__file__).parents[1] / "golden"
EXAMPLES = sorted(path for key in SISTERS for path in (GOLDEN / key).glob("?-X*.txt"))


# Worked examples


@pytest.mark.rule("A-O31", "B-O40", "C-O36")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_worked_examples_give_their_lines(path: Path):
    """A-X1 to C-X17 are played from the golden deals; then their score sheets are entered."""
    deals = notation.parse_all(path.read_text(encoding="utf-8"))
    player = Direct(given(deals[0].header))
    for deal in deals:
        play(player, deal)
    opening = player.table.opening
    whole, stepwise = (Tally(opening, deals[0].header.dealer) for _ in range(2))
    for events, after in deals_of([recorded.event for recorded in player.history[1:]]):
        line = line_of((events[-1], *after))
        assert line_of(whole.do(sheet_of(events, whole.rules))) == line
        assert line_of(stepwise.act_by_act(acts_of(events, whole.rules))) == line
    assert line[0].points == deals[-1].result.points


@pytest.mark.rule("A40", "A41")
def test_a_late_trick_counts_two_in_alga():  # A-X1
    assert points_after(tally(ALGA), **X1) == (11, 10, 8, 12)


@pytest.mark.rule("B58")
def test_a_late_trick_counts_one_in_kortoxen():  # B-X1
    assert points_after(tally(), **X1) == (11, 11, 8, 12)


@pytest.mark.rule("C38", "C39")
def test_a_player_bids_two_and_takes_two_tricks():  # C-X1
    assert points_after(tally(CATS), **CX1) == (10, 11, 9, 12)


@pytest.mark.rule("B54")
def test_a_forgotten_question_is_ruled_from_the_tricks():  # B-X5
    sheet = {
        "bids": seats_and("bid", [0, "3"], [1, "pass"], [2, "pass"], [3, "pass"]),
        "tricks": [0, 0, 1, 0, 3, 0],
        "asked": False,
    }
    before = (9, 6, 7, 12)
    assert points_after(tally(points=before), **sheet) == (5, 5, 7, 11)
    knock: dict[str, Any] = {"seat": 2, "accused": 0, "offence": "fold_question", "after": 5}
    assert points_after(tally(points=before), **sheet, knocks=[knock]) == (10, 5, 7, 11)
    del knock["after"]
    assert points_after(tally(points=before), **sheet, knocks=[knock]) == (10, 5, 7, 11)


@pytest.mark.rule("C37", "C61", "C-O36", "B-O2")
@pytest.mark.parametrize("key", [KORTOXEN, CATS])
def test_a_knock_for_the_question_that_the_table_found_too_late(key: str):
    fem_opp = {"fem_opp": True} if key == CATS else {}
    late = {"seat": 1, "accused": 0, "offence": "fold_question", "upheld": False}
    sheet = {"bids": SHEETS[key]["bids"], "tricks": [0, 0, 1, 0, 3, 0], "asked": False}
    declarer = {KORTOXEN: 2, CATS: 0}[key]
    for after in ({}, {"after": 5}, {"after": 6}):
        match = tally(key, knock_window="next_trick", false_knock_penalty=5, **fem_opp)
        events = match.do(result(**sheet, knocks=[{**late, "accused": declarer, **after}]))
        (dismissed,) = [event for event in events if isinstance(event, KnockDismissed)]
        assert (dismissed.reason, dismissed.offence) == ("late", "fold_question")
        assert [(event.seat, event.points) for event in events if isinstance(event, PenaltyImposed)] == [(1, 5)]
        until_the_end = tally(key, knock_window="deal_end", **fem_opp)
        assert refused(until_the_end, result(**sheet, knocks=[{**late, "accused": declarer, **after}])).code == (
            "ruling_differs"
        )


@pytest.mark.rule("B-O5", "C-O23", "B-O40", "C-O36")
@pytest.mark.parametrize("key", [KORTOXEN, CATS])
def test_equal_errors_of_a_player_are_several_if_the_sheet_does_not_say_when(key: str):
    fem_opp = {"fem_opp": True} if key == CATS else {}
    revoke = {"seat": 1, "accused": 3, "offence": "revoke"}
    sheet = {name: value for name, value in SHEETS[key].items() if name != "knocks"}
    none = points_after(tally(key, **fem_opp), **sheet)
    twice = points_after(tally(key, **fem_opp), **sheet, knocks=[revoke, {**revoke, "seat": 0}])
    assert [now - before for before, now in zip(none, twice, strict=True)] == [0, 0, 0, 10]
    dated = [{**revoke, "after": 2}, {**revoke, "after": 3}, revoke]
    assert points_after(tally(key, **fem_opp), **sheet, knocks=dated)[3] == none[3] + 15
    same = [{**revoke, "after": 3}, {**revoke, "seat": 0, "after": 3}]
    assert refused(tally(key, **fem_opp), result(**sheet, knocks=same)).code == "already_reported"


@pytest.mark.rule("B67", "B68")
def test_a_forgotten_exit_knock_is_ruled_from_the_tricks():  # B-X6
    sheet = {
        "bids": seats_and("bid", [0, "2"], [1, "pass"], [2, "pass"], [3, "pass"]),
        "tricks": [1, 0, 1, 0, 3, 2],
        "answers": seats_and("answer", [2, "play"], [3, "play"]),
        "knocks": [{"seat": 3, "accused": 1, "offence": "exit_knock", "after": 4}],
    }
    assert points_after(tally(points=(9, 2, 8, 8)), **sheet) == (7, 5, 7, 7)


@pytest.mark.rule("B25", "B26")
def test_a_misdeal_is_dealt_again_and_its_knocks_enter_with_the_deal():  # B-X11
    knocks = [{"seat": 1, "accused": 0, "offence": "misdeal"}, {"seat": 3, "accused": 0, "offence": "early_pick_up"}]
    sheet = {"bids": seats_and("bid", [1, "pass"], [2, "pass"], [3, "pass"], [0, "pass"]), "knocks": knocks}
    match = tally(dealer=P1)
    events = match.do(result(**sheet))
    assert [event.rule for event in events if isinstance(event, KnockUpheld)] == ["B25", "B26"]
    assert match.state.table.points == (22, 12, 12, 12)
    assert match.state.table.dealer == P2


@pytest.mark.rule("B17", "B-O6")
@pytest.mark.parametrize(
    ("pays", "accused", "after"), [("cutter", P3, (12, 12, 17, 12)), ("dealer", P4, (12, 12, 12, 17))]
)
def test_a_wrong_cut(pays: str, accused: int, after: tuple[int, ...]):  # B-X13
    sheet = {"bids": [{"seat": seat, "bid": "pass"} for seat in (0, 1, 2, 3)]}
    knock = {"seat": 1, "accused": accused, "offence": "wrong_cut"}
    assert points_after(tally(wrong_cut_penalty_to=pays), **sheet, knocks=[knock]) == after


# Required fields of a result, and its checks


def example_with(ruleset: str, **changes: Any) -> dict[str, Any]:
    """Return the first example with these changes."""
    return {**SHEETS[ruleset], **changes}


RODSKAGG = seats_and("bid", [0, "pass"], [1, "rodskagg"])
LOST = {"bids": RODSKAGG, "tricks": [1, 2]}
Wrong = tuple[dict[str, Any], str, str | None, str]
WRONG: dict[str, list[Wrong]] = {
    ALGA: [
        ({"bids": seats_and("bid", [1, "2"], [0, "3"])}, "out_of_turn", "A18", "/bids/0"),
        ({"bids": seats_and("bid", [0, "2"], [1, "2"])}, "bid_too_low", "A21", "/bids/1"),
        ({"bids": seats_and("bid", [0, "2"], [1, "pass"], [0, "3"])}, "already_spoken", "A22", "/bids/2"),
        ({"bids": seats_and("bid", [0, "2"], [1, "rodskagg"], [2, "pass"])}, "wrong_phase", "A17", "/bids/2"),
        ({"bids": [{"seat": 0, "bid": "join"}]}, "no_such_bid", "A17", "/bids/0"),
        ({"bids": seats_and("bid", [0, "2"], [1, "pass"])}, "bids_missing", "A18", "/bids"),
        ({"tricks": [2, 0, 2, 2, 1]}, "tricks_missing", "A51", "/tricks"),
        ({"tricks": [2, 0, 2, 2, 1, 2, 2]}, "too_many_tricks", "A51", "/tricks/6"),
        ({"tricks": None}, "tricks_missing", "A51", "/tricks"),
        ({"tricks": [2, 0, 2, 2, 3, 2]}, "has_folded", "A37", "/tricks/4"),
        ({"tricks": [2, 0, 2, 2, 7, 2]}, "no_such_seat", None, "/tricks/4"),
        ({"answers": seats_and("answer", [1, "play"], [3, "fold"])}, "out_of_turn", "A34", "/answers/0"),
        ({"answers": seats_and("answer", [3, "fold"], [0, "play"])}, "in_already", "A36", "/answers/1"),
        ({"answers": seats_and("answer", [3, "fold"], [2, "play"])}, "declarer_not_asked", "A-O13", "/answers/1"),
        ({"answers": [{"seat": 3, "answer": "fold"}]}, "answers_missing", "A34", "/answers"),
        ({"answers": None}, "answers_missing", "A34", "/answers"),
        ({"asked": False}, "answers_without_question", "A33", "/answers"),
        ({"bids": RODSKAGG, "tricks": [1, 2, 1, 1, 1, 1]}, "no_question_in_rodskagg", "A38", "/answers"),
        ({**LOST, "answers": None}, "tricks_missing", "A51", "/tricks"),
        ({"bids": PASSED, "answers": None}, "too_many_tricks", "A51", "/tricks/0"),
        ({"bids": PASSED, "tricks": None}, "answers_without_question", "A33", "/answers"),
        ({"knocks": [{"seat": 0, "accused": 1, "offence": "revoke"}]}, "not_in_the_result", None, "/knocks"),
        ({"exits": [{"seat": 0, "after": 4}]}, "not_in_the_result", None, "/exits"),
        ({"taken": [1, 1, 4, 0], "late": [0, 1, 1, 0]}, "tricks_or_taken", None, "/taken"),
        ({"tricks": None, "taken": [1, 1, 4], "late": [0, 1, 1]}, "one_count_a_seat", None, "/taken"),
        ({"tricks": None, "taken": [1, 1, 4, 0], "late": [0, 1]}, "one_count_a_seat", None, "/late"),
        ({"tricks": None, "taken": [1, 1, 4, 0], "late": [0, 2, 0, 0]}, "tricks_do_not_add_up", "A51", "/taken"),
        ({"tricks": None, "taken": [1, 1, 4, 0]}, "tricks_do_not_add_up", "A51", "/taken"),
        ({"late": [0, 1, 1, 0]}, "tricks_or_taken", None, "/late"),
        ({"tricks": None, "taken": [1, 1, 3, 0], "late": [0, 1, 1, 0]}, "tricks_do_not_add_up", "A51", "/taken"),
        ({"tricks": None, "taken": [1, 1, 5, 0], "late": [0, 1, 2, 0]}, "tricks_do_not_add_up", "A51", "/taken"),
        ({"tricks": None, "taken": [1, 1, 3, 0], "late": [0, 1, 0, 0]}, "tricks_missing", "A51", "/taken"),
        ({"tricks": None, "taken": [1, 1, 3, 1], "late": [0, 1, 0, 1]}, "has_folded", "A37", "/taken/3"),
    ],
    KORTOXEN: [
        ({"bids": seats_and("bid", [1, "2"], [0, "3"])}, "out_of_turn", "B29", "/bids/0"),
        ({"bids": seats_and("bid", [0, "2"], [1, "2"])}, "bid_too_low", "B34", "/bids/1"),
        ({"bids": seats_and("bid", [0, "2"], [1, "pass"], [0, "3"])}, "already_spoken", "B35", "/bids/2"),
        ({"bids": seats_and("bid", [0, "2"], [1, "rodskagg"], [2, "pass"])}, "wrong_phase", "B28", "/bids/2"),
        ({"bids": seats_and("bid", [0, "2"], [1, "pass"])}, "bids_missing", "B29", "/bids"),
        ({"tricks": [2, 0, 2, 2, 1]}, "tricks_missing", "B69", "/tricks"),
        ({"tricks": [2, 0, 2, 2, 1, 2, 2]}, "too_many_tricks", "B69", "/tricks/6"),
        ({"tricks": [2, 0, 2, 2, 3, 2]}, "has_folded", "B52", "/tricks/4"),
        ({"answers": seats_and("answer", [1, "play"], [3, "fold"])}, "out_of_turn", "B47", "/answers/0"),
        ({"answers": seats_and("answer", [3, "fold"], [0, "play"])}, "in_already", "B50", "/answers/1"),
        ({"answers": [{"seat": 3, "answer": "fold"}]}, "answers_missing", "B47", "/answers"),
        ({"asked": False}, "answers_without_question", "B46", "/answers"),
        ({"exits": [{"seat": 0, "after": 4}]}, "not_at_zero", "B67", "/exits/0"),
        ({"exits": [{"seat": 0, "after": 7}]}, "after_the_last_trick", "B69", "/exits/0"),
        ({"exits": [{"seat": 4, "after": 4}]}, "no_such_seat", None, "/exits/0"),
        ({**LOST, "tricks": [1, 2, 2], "answers": None}, "too_many_tricks", "B69", "/tricks/2"),
        ({**LOST}, "answers_without_question", "B46", "/answers"),
        ({**LOST, "answers": None, "exits": [{"seat": 2, "after": 2}]}, "no_exit_now", "B67", "/exits/0"),
        ({**ALL_FOLD, "tricks": [0, 0, 0, 0, 1]}, "has_folded", "B52", "/tricks/4"),
        ({"knocks": [{"seat": 0, "accused": 0, "offence": "revoke"}]}, "knocks_on_oneself", "B12", "/knocks/0"),
        ({"knocks": [{"seat": 7, "accused": 0, "offence": "revoke"}]}, "no_such_seat", None, "/knocks/0"),
        ({"knocks": [{"seat": 1, "accused": 0, "offence": "near_zero"}]}, "no_such_offence", "B11", "/knocks/0"),
        ({"knocks": [{"seat": 1, "accused": 2, "offence": "misdeal"}]}, "ruling_differs", "B25", "/knocks/0"),
        ({"knocks": [{"seat": 1, "accused": 2, "offence": "fold_question"}]}, "ruling_differs", "B54", "/knocks/0"),
        ({"knocks": [{"seat": 1, "accused": 2, "offence": "exit_knock"}]}, "ruling_differs", "B68", "/knocks/0"),
        (
            {"knocks": [{"seat": 1, "accused": 2, "offence": "revoke", "after": 7}]},
            "after_the_last_trick",
            "B69",
            "/knocks/0",
        ),
        (
            {"knocks": [{"seat": seat, "accused": 2, "offence": "revoke", "after": 3} for seat in (0, 1)]},
            "already_reported",
            "B-O5",
            "/knocks/1",
        ),
        ({"knocks": [{"seat": 1, "accused": 3, "offence": "wrong_cut"}]}, "dealer_may_cut", "B16", "/knocks/0"),
        ({"trumps": "H"}, "not_in_the_result", None, "/trumps"),
        ({"misdeal": True}, "not_in_the_result", None, "/misdeal"),
    ],
    CATS: [
        ({"bids": [{"seat": 1, "bid": "2"}]}, "out_of_turn", "C16", "/bids/0"),
        ({"bids": seats_and("bid", [0, "2"], [1, "0"], [0, "3"])}, "already_spoken", "C17", "/bids/2"),
        ({"bids": [{"seat": 0, "bid": "pass"}]}, "no_such_bid", "C18", "/bids/0"),
        ({"bids": [{"seat": 0, "bid": "6"}]}, "no_such_bid", "C18", "/bids/0"),
        ({"bids": seats_and("bid", [0, "2"], [1, "0"])}, "bids_missing", "C16", "/bids"),
        ({"tricks": [2, 0, 1, 2, 0]}, "tricks_missing", "C12", "/tricks"),
        ({"tricks": [2, 0, 1, 2, 0, 2, 2]}, "too_many_tricks", "C12", "/tricks/6"),
        ({"tricks": [2, 0, 1, 2, 3, 2]}, "has_folded", "C32", "/tricks/4"),
        ({"answers": [{"seat": 1, "answer": "play"}]}, "in_already", "C31", "/answers/0"),
        ({"answers": [{"seat": 0, "answer": "fold"}]}, "declarer_not_asked", "C36", "/answers/0"),
        ({"answers": None}, "answers_missing", "C30", "/answers"),
        ({"asked": False}, "answers_without_question", "C30", "/answers"),
        ({"knocks": [{"seat": 1, "accused": 0, "offence": "revoke"}]}, "nothing_to_punish", "C60", "/knocks/0"),
        ({"knocks": [{"seat": 1, "accused": 0, "offence": "fold_question"}]}, "no_knocking", "C-O26", "/knocks/0"),
        ({"exits": [{"seat": 0, "after": 4}]}, "not_in_the_result", None, "/exits"),
    ],
}
CHECKS = [(key, *wrong) for key in SISTERS for wrong in WRONG[key]]


@pytest.mark.rule("A18", "A37", "A51", "B29", "B52", "B69", "C16", "C32", "A-O31", "B-O40", "C-O36")
@pytest.mark.parametrize(
    ("key", "changes", "code", "rule", "at"), CHECKS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_wrong_sheet_is_refused_with_its_rule_and_place(
    key: str, changes: dict[str, Any], code: str, rule: str | None, at: str
):
    """A refusal refuses the whole sheet, and the corrected sheet is accepted."""
    match = tally(key)
    body = {name: value for name, value in example_with(key, **changes).items() if value is not None}
    refusal = refused(match, result(**body))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == (code, rule, at)
    assert points_after(match, **SHEETS[key])


@pytest.mark.rule("A-O20", "B32", "B-O37")
@pytest.mark.parametrize(("key", "rule"), [(ALGA, "A-O20"), (KORTOXEN, "B32")])
def test_no_bid_above_ones_points(key: str, rule: str):
    match = tally(key, points=(12, 12, 2, 12), bid_cap_by_score=True)
    refusal = refused(match, result(**X1))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("bid_above_points", rule, "/bids/2")


@pytest.mark.rule("B32", "B-O37")
def test_a_knock_about_the_deal_counts_for_the_cap():
    match = tally(points=(12, 12, 2, 12), bid_cap_by_score=True)
    knock = {"seat": 0, "accused": 2, "offence": "early_pick_up"}
    assert points_after(match, **X1, knocks=[knock])[P3] == 2 + 5 - 4


@pytest.mark.rule("B64", "A51")
def test_a_lost_rodskagg_ends_at_the_first_loss_in_kortoxen_only():
    assert tally().do(result(**LOST))[-1].TOPIC == "player/eliminated"
    assert tally(ALGA).do(result(bids=RODSKAGG, tricks=[1, 2, 1, 1, 1, 1]))


@pytest.mark.rule("A-O12", "B-O25")
@pytest.mark.parametrize("key", [ALGA, KORTOXEN])
@pytest.mark.parametrize("more", [[], [0], [0, 0]])
def test_when_all_have_folded_the_last_tricks_may_be_left_out_or_entered(key: str, more: list[int]):
    assert points_after(tally(key), **{**ALL_FOLD, "tricks": [0, 0, 0, 0, *more]}) == (6, 12, 12, 12)


@pytest.mark.rule("A-O12", "B-O25")
def test_tricks_that_no_seat_gets_are_not_entered():
    match = tally(uncontested_tricks="void")
    refusal = refused(match, result(**{**ALL_FOLD, "tricks": [0, 0, 0, 0, 0]}))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("too_many_tricks", "B69", "/tricks/4")
    assert points_after(match, **ALL_FOLD) == (8, 12, 12, 12)


@pytest.mark.rule("A55", "A58")
def test_a_duel_has_only_the_words_of_the_duellists():  # A-X9
    match = tally(ALGA, points=(3, 9, 11, 2), dealer=P2)
    bids = seats_and("bid", [2, "pass"], [3, "pass"], [0, "3"], [1, "pass"])
    events = match.do(result(bids=bids, tricks=[0, 3, 1, 0, 3, 0], answers=[{"seat": 2, "answer": "fold"}]))
    assert any(isinstance(event, DuelCalled) for event in events)
    refusal = refused(match, result(bids=seats_and("bid", [0, "3"], [1, "pass"])))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("not_in_duel", "A55", "/bids/1")
    duel = {"bids": seats_and("bid", [0, "3"], [3, "pass"]), "tricks": [0, 3, 3, 0, 3, 3], "asked": False}
    refusal = refused(match, result(**{**duel, "tricks": [0, 3, 2, 0, 3, 3]}))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("not_in_duel", "A55", "/tricks/2")
    match.do(result(**duel))
    assert (match.state.winner, match.state.by) == (P4, "duel")
    assert isinstance(refused(match, result(**duel)), MatchOver)


@pytest.mark.rule("C46", "C47", "C48")
def test_a_duel_of_catsatcards_has_tricks_only_and_no_lead_is_drawn():
    match = tally(CATS, points=(12, 2, 2, 12))
    bids = seats_and("bid", [0, "2"], [1, "0"], [2, "0"], [3, "0"])
    events = match.do(result(bids=bids, tricks=[1, 2, 1, 2, 0, 0], answers=[{"seat": 3, "answer": "fold"}]))
    assert any(isinstance(event, DuelCalled) for event in events)
    refusal = refused(match, result(bids=[{"seat": 1, "bid": "2"}]))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("wrong_phase", "C16", "/bids/0")
    refusal = refused(match, result(tricks=[1, 1, 1, 0, 1, 1]))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("not_in_duel", "C46", "/tricks/3")
    again = match.do(result(taken=[0, 3, 3, 0], late=[0, 1, 1, 0]))
    assert not any(isinstance(event, LeadDrawn) for event in again)
    match.do(result(taken=[0, 4, 2, 0], late=[0, 0, 2, 0]))
    assert (match.state.winner, match.state.by) == (P2, "duel")


# When a result can be entered


def test_a_result_is_entered_between_deals_only():
    match = tally()
    match.do(Deal(seat=P4))
    refusal = refused(match, result(**X1))
    assert isinstance(refusal, WrongPhase)
    assert (refusal.code, refusal.facts) == ("deal_under_way", {"phase": "auction"})


@pytest.mark.rule("B29")
def test_the_same_sheet_twice_is_not_the_next_deal():
    match = tally()
    match.do(result(**X1))
    refusal = refused(match, result(**X1))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("out_of_turn", "B29", "/bids/0")


@pytest.mark.parametrize("dealing", ["house", "table"])
def test_a_match_with_cards_has_no_tally(dealing: Any):
    table = Table(opened(dealing=dealing, deal_ritual=False))
    table.refused(result(**X1), rule=None, code="not_tallied", kind=WrongPhase)
    table.dealt().bid("1 pass pass pass")
    table.refused(Trick(seat=P1), rule=None, code="not_tallied", kind=WrongPhase)


def test_the_entered_result_comes_before_the_events_that_follow_from_it():
    events = tally().do(result(**X1))
    assert events[0] == ResultEntered(result=result(**X1))
    assert [event.TOPIC for event in events[1:3]] == ["deal/dealt", "auction/bid"]
    assert events[-1].TOPIC == "deal/scored"
