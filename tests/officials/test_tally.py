"""A deal of which only the tally is kept, in the three Rödskägg games: from the score sheet, and act by act."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from referee import notation
from referee.acts import (
    Announce,
    Answer,
    Ask,
    Bid,
    Cut,
    Deal,
    Draw,
    KeepCards,
    Knock,
    KnockForCards,
    KnockOut,
    PickUp,
    Play,
    Report,
    Request,
    RequestCards,
    Result,
    Score,
    Trick,
    request_of,
)
from referee.events import DealScored, KnockUpheld, PenaltyImposed, TrickTaken, seen
from referee.games._rodskagg.facts import DuelCalled, KnockedOut, LeadDrawn
from referee.proceedings.tally import ResultEntered
from referee.refusals import MatchOver, NotInPlay, Refused, WrongPhase
from tests.conformance.replay import Direct
from tests.games.rodskagg import Table, opened, penalising
from tests.given import P1, P2, P3, P4
from tests.tallied import Tally, acts_of, deals_of, line_of, sheet_of
from tests.test_golden import given, play

ALGA, CATS, KORTOXEN = "rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen"
SISTERS = (ALGA, CATS, KORTOXEN)
GOLDEN = Path(__file__).parents[1] / "golden"
EXAMPLES = sorted(path for key in SISTERS for path in (GOLDEN / key).glob("?-X*.txt"))

X1: dict[str, Any] = {
    "bids": [[0, 2], [1, "pass"], [2, 3], [3, "pass"]],
    "tricks": [2, 0, 2, 2, 1, 2],
    "answers": [[3, "fold"], [1, "play"]],
}
"""A-X1 and B-X1: P3 declares three; P4 folds, P2 goes along."""
CX1: dict[str, Any] = {**X1, "bids": [[0, 2], [1, 0], [2, 2], [3, 1]], "tricks": [2, 0, 1, 2, 0, 2]}
"""C-X1: P1 is Declarer, the first of two who bid two."""
CX1["answers"] = [[3, "fold"]]
SHEETS = {ALGA: X1, CATS: CX1, KORTOXEN: X1}


def tally(
    ruleset: str = KORTOXEN, *, points: tuple[int, ...] = (12, 12, 12, 12), dealer: int = P4, **options: Any
) -> Tally:
    """A tally that has just been opened."""
    return Tally(opened(ruleset, points=points, **options), dealer)


def result(**told: Any) -> Result:
    """A result as it is sent."""
    return sent({"act": "result", **told})  # type: ignore[return-value]


def sent(body: dict[str, Any]) -> Request:
    """What comes of a body."""
    return request_of(msgspec.json.encode(body))


def points_after(match: Tally, **told: Any) -> tuple[int, ...]:
    """The points after a deal that is entered."""
    (line,) = [event for event in match.do(result(**told)) if isinstance(event, DealScored)]
    return line.points


def refused(match: Tally, request: Request) -> Refused:
    """How a request is refused; nothing has happened."""
    before = match.state
    with pytest.raises(Refused) as caught:
        match.decide(request)
    assert match.state == before
    return caught.value


# Worked examples


@pytest.mark.rule("A-O31", "B-O40", "C-O36")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_worked_examples_give_their_lines(path: Path):
    """A-X1 to C-X17 are played as they stand in the golden deals; then their score sheets are entered."""
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
def test_and_one_in_kortoxen():  # B-X1
    assert points_after(tally(), **X1) == (11, 11, 8, 12)


@pytest.mark.rule("C38", "C39")
def test_who_bids_two_and_takes_two():  # C-X1
    assert points_after(tally(CATS), **CX1) == (10, 11, 9, 12)


@pytest.mark.rule("B54")
def test_a_forgotten_question_is_ruled_from_the_tricks():  # B-X5
    told = {"bids": [[0, 3], [1, "pass"], [2, "pass"], [3, "pass"]], "tricks": [0, 0, 1, 0, 3, 0], "asked": False}
    before = (9, 6, 7, 12)
    assert points_after(tally(points=before), **told) == (5, 5, 7, 11)
    knock: dict[str, Any] = {"seat": 2, "accused": 0, "offence": "fold_question", "after": 5}
    assert points_after(tally(points=before), **told, knocks=[knock]) == (10, 5, 7, 11)
    del knock["after"]
    assert points_after(tally(points=before), **told, knocks=[knock]) == (10, 5, 7, 11)


@pytest.mark.rule("B67", "B68")
def test_a_forgotten_exit_knock_is_ruled_from_the_tricks():  # B-X6
    told = {
        "bids": [[0, 2], [1, "pass"], [2, "pass"], [3, "pass"]],
        "tricks": [1, 0, 1, 0, 3, 2],
        "answers": [[2, "play"], [3, "play"]],
        "knocks": [{"seat": 3, "accused": 1, "offence": "exit_knock", "after": 4}],
    }
    assert points_after(tally(points=(9, 2, 8, 8)), **told) == (7, 5, 7, 7)


@pytest.mark.rule("B25", "B26")
def test_a_misdeal_is_dealt_again_and_its_knocks_enter_with_the_deal():  # B-X11
    knocks = [{"seat": 1, "accused": 0, "offence": "misdeal"}, {"seat": 3, "accused": 0, "offence": "early_pick_up"}]
    told = {"bids": [[1, "pass"], [2, "pass"], [3, "pass"], [0, "pass"]], "knocks": knocks}
    match = tally(dealer=P1)
    events = match.do(result(**told))
    assert [event.rule for event in events if isinstance(event, KnockUpheld)] == ["B25", "B26"]
    assert match.state.table.points == (22, 12, 12, 12)
    assert match.state.table.dealer == P2


@pytest.mark.rule("B17", "B-O6")
@pytest.mark.parametrize(
    ("pays", "accused", "after"), [("cutter", P3, (12, 12, 17, 12)), ("dealer", P4, (12, 12, 12, 17))]
)
def test_a_wrong_cut(pays: str, accused: int, after: tuple[int, ...]):  # B-X13
    told = {"bids": [[seat, "pass"] for seat in (0, 1, 2, 3)]}
    knock = {"seat": 1, "accused": accused, "offence": "wrong_cut"}
    assert points_after(tally(wrong_cut_penalty_to=pays), **told, knocks=[knock]) == after


# What a result must tell, and what is checked


def told(ruleset: str, **changes: Any) -> dict[str, Any]:
    """The first example with something else in it."""
    return {**SHEETS[ruleset], **changes}


PASSED = [[0, "pass"], [1, "pass"], [2, "pass"], [3, "pass"]]
ONE = [[0, 1], [1, "pass"], [2, "pass"], [3, "pass"]]
RODSKAGG = [[0, "pass"], [1, "rodskagg"]]
ALL_FOLD = {"bids": ONE, "tricks": [0, 0, 0, 0], "answers": [[1, "fold"], [2, "fold"], [3, "fold"]]}
LOST = {"bids": RODSKAGG, "tricks": [1, 2]}
Wrong = tuple[dict[str, Any], str, str | None, str]
WRONG: dict[str, list[Wrong]] = {
    ALGA: [
        ({"bids": [[1, 2], [0, 3]]}, "out_of_turn", "A18", "/bids/0"),
        ({"bids": [[0, 2], [1, 2]]}, "bid_too_low", "A21", "/bids/1"),
        ({"bids": [[0, 2], [1, "pass"], [0, 3]]}, "already_spoken", "A22", "/bids/2"),
        ({"bids": [[0, 2], [1, "rodskagg"], [2, "pass"]]}, "wrong_phase", "A17", "/bids/2"),
        ({"bids": [[0, "join"]]}, "no_such_bid", "A17", "/bids/0"),
        ({"bids": [[0, 2], [1, "pass"]]}, "bids_missing", "A18", "/bids"),
        ({"tricks": [2, 0, 2, 2, 1]}, "tricks_missing", "A51", "/tricks"),
        ({"tricks": [2, 0, 2, 2, 1, 2, 2]}, "too_many_tricks", "A51", "/tricks/6"),
        ({"tricks": None}, "tricks_missing", "A51", "/tricks"),
        ({"tricks": [2, 0, 2, 2, 3, 2]}, "has_folded", "A37", "/tricks/4"),
        ({"tricks": [2, 0, 2, 2, 7, 2]}, "no_such_seat", None, "/tricks/4"),
        ({"answers": [[1, "play"], [3, "fold"]]}, "out_of_turn", "A34", "/answers/0"),
        ({"answers": [[3, "fold"], [0, "play"]]}, "in_already", "A36", "/answers/1"),
        ({"answers": [[3, "fold"], [2, "play"]]}, "declarer_not_asked", "A-O13", "/answers/1"),
        ({"answers": [[3, "fold"]]}, "answers_missing", "A34", "/answers"),
        ({"answers": None}, "answers_missing", "A34", "/answers"),
        ({"asked": False}, "answers_without_question", "A33", "/answers"),
        ({"bids": RODSKAGG, "tricks": [1, 2, 1, 1, 1, 1]}, "no_question_in_rodskagg", "A38", "/answers"),
        ({**LOST, "answers": None}, "tricks_missing", "A51", "/tricks"),
        ({"bids": PASSED, "answers": None}, "too_many_tricks", "A51", "/tricks/0"),
        ({"bids": PASSED, "tricks": None}, "answers_without_question", "A33", "/answers"),
        ({"knocks": [{"seat": 0, "accused": 1, "offence": "revoke"}]}, "not_in_the_result", None, "/knocks"),
        ({"exits": [[0, 4]]}, "not_in_the_result", None, "/exits"),
        ({"taken": [[1, 0], [0, 1], [3, 1], [0, 0]]}, "tricks_or_taken", None, "/taken"),
        ({"tricks": None, "taken": [[1, 0], [0, 1], [3, 1]]}, "one_count_a_seat", None, "/taken"),
        ({"tricks": None, "taken": [1, 1, 4, 0]}, "told_otherwise", None, "/taken"),
        ({"tricks": None, "taken": [[1, 0], [0, 1], [2, 1], [0, 0]]}, "tricks_do_not_add_up", "A51", "/taken"),
        ({"tricks": None, "taken": [[1, 0], [0, 1], [3, 2], [0, 0]]}, "tricks_do_not_add_up", "A51", "/taken"),
        ({"tricks": None, "taken": [[1, 0], [0, 1], [3, 0], [0, 0]]}, "tricks_missing", "A51", "/taken"),
        ({"tricks": None, "taken": [[1, 0], [0, 1], [3, 0], [0, 1]]}, "has_folded", "A37", "/taken/3"),
    ],
    KORTOXEN: [
        ({"bids": [[1, 2], [0, 3]]}, "out_of_turn", "B29", "/bids/0"),
        ({"bids": [[0, 2], [1, 2]]}, "bid_too_low", "B34", "/bids/1"),
        ({"bids": [[0, 2], [1, "pass"], [0, 3]]}, "already_spoken", "B35", "/bids/2"),
        ({"bids": [[0, 2], [1, "rodskagg"], [2, "pass"]]}, "wrong_phase", "B28", "/bids/2"),
        ({"bids": [[0, 2], [1, "pass"]]}, "bids_missing", "B29", "/bids"),
        ({"tricks": [2, 0, 2, 2, 1]}, "tricks_missing", "B69", "/tricks"),
        ({"tricks": [2, 0, 2, 2, 1, 2, 2]}, "too_many_tricks", "B69", "/tricks/6"),
        ({"tricks": [2, 0, 2, 2, 3, 2]}, "has_folded", "B52", "/tricks/4"),
        ({"answers": [[1, "play"], [3, "fold"]]}, "out_of_turn", "B47", "/answers/0"),
        ({"answers": [[3, "fold"], [0, "play"]]}, "in_already", "B50", "/answers/1"),
        ({"answers": [[3, "fold"]]}, "answers_missing", "B47", "/answers"),
        ({"asked": False}, "answers_without_question", "B46", "/answers"),
        ({"exits": [[0, 4]]}, "not_at_zero", "B67", "/exits/0"),
        ({"exits": [[0, 7]]}, "after_the_last_trick", "B69", "/exits/0"),
        ({"exits": [[4, 4]]}, "no_such_seat", None, "/exits/0"),
        ({**LOST, "tricks": [1, 2, 2], "answers": None}, "too_many_tricks", "B69", "/tricks/2"),
        ({**LOST}, "answers_without_question", "B46", "/answers"),
        ({**LOST, "answers": None, "exits": [[2, 2]]}, "no_exit_now", "B67", "/exits/0"),
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
        ({"bids": [[1, 2]]}, "out_of_turn", "C16", "/bids/0"),
        ({"bids": [[0, 2], [1, 0], [0, 3]]}, "already_spoken", "C17", "/bids/2"),
        ({"bids": [[0, "pass"]]}, "no_such_bid", "C18", "/bids/0"),
        ({"bids": [[0, 6]]}, "no_such_bid", "C18", "/bids/0"),
        ({"bids": [[0, 2], [1, 0]]}, "bids_missing", "C16", "/bids"),
        ({"tricks": [2, 0, 1, 2, 0]}, "tricks_missing", "C12", "/tricks"),
        ({"tricks": [2, 0, 1, 2, 0, 2, 2]}, "too_many_tricks", "C12", "/tricks/6"),
        ({"tricks": [2, 0, 1, 2, 3, 2]}, "has_folded", "C32", "/tricks/4"),
        ({"answers": [[1, "play"]]}, "in_already", "C31", "/answers/0"),
        ({"answers": [[0, "fold"]]}, "declarer_not_asked", "C36", "/answers/0"),
        ({"answers": None}, "answers_missing", "C30", "/answers"),
        ({"asked": False}, "answers_without_question", "C30", "/answers"),
        ({"knocks": [{"seat": 1, "accused": 0, "offence": "revoke"}]}, "nothing_to_punish", "C60", "/knocks/0"),
        ({"knocks": [{"seat": 1, "accused": 0, "offence": "fold_question"}]}, "ruling_differs", "C30", "/knocks/0"),
        ({"exits": [[0, 4]]}, "not_in_the_result", None, "/exits"),
    ],
}
CHECKS = [(key, *wrong) for key in SISTERS for wrong in WRONG[key]]


@pytest.mark.rule("A18", "A37", "A51", "B29", "B52", "B69", "C16", "C32", "A-O31", "B-O40", "C-O36")
@pytest.mark.parametrize(
    ("key", "changes", "code", "rule", "at"), CHECKS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_what_is_wrong_is_refused_with_its_rule_and_place(
    key: str, changes: dict[str, Any], code: str, rule: str | None, at: str
):
    """And the sheet put right is taken: one refusal refuses all of it."""
    match = tally(key)
    body = {name: value for name, value in told(key, **changes).items() if value is not None}
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
def test_when_all_have_folded_the_last_tricks_may_be_left_out_or_told(key: str, more: list[int]):
    assert points_after(tally(key), **{**ALL_FOLD, "tricks": [0, 0, 0, 0, *more]}) == (6, 12, 12, 12)


@pytest.mark.rule("A-O12", "B-O25")
def test_where_they_go_to_nobody_they_are_not_told():
    match = tally(uncontested_tricks="void")
    refusal = refused(match, result(**{**ALL_FOLD, "tricks": [0, 0, 0, 0, 0]}))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("too_many_tricks", "B69", "/tricks/4")
    assert points_after(match, **ALL_FOLD) == (8, 12, 12, 12)


@pytest.mark.rule("A55", "A58")
def test_a_duel_is_told_by_the_duellists_alone():  # A-X9
    match = tally(ALGA, points=(3, 9, 11, 2), dealer=P2)
    bids = [[2, "pass"], [3, "pass"], [0, 3], [1, "pass"]]
    events = match.do(result(bids=bids, tricks=[0, 3, 1, 0, 3, 0], answers=[[2, "fold"]]))
    assert any(isinstance(event, DuelCalled) for event in events)
    refusal = refused(match, result(bids=[[0, 3], [1, "pass"]]))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("not_in_duel", "A55", "/bids/1")
    duel = {"bids": [[0, 3], [3, "pass"]], "tricks": [0, 3, 3, 0, 3, 3], "asked": False}
    refusal = refused(match, result(**{**duel, "tricks": [0, 3, 2, 0, 3, 3]}))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("not_in_duel", "A55", "/tricks/2")
    match.do(result(**duel))
    assert (match.state.winner, match.state.by) == (P4, "duel")
    assert isinstance(refused(match, result(**duel)), MatchOver)


@pytest.mark.rule("C46", "C47", "C48")
def test_a_duel_of_catsatcards_has_tricks_only_and_no_lead_is_drawn():
    match = tally(CATS, points=(12, 2, 2, 12))
    bids = [[0, 2], [1, 0], [2, 0], [3, 0]]
    events = match.do(result(bids=bids, tricks=[1, 2, 1, 2, 0, 0], answers=[[3, "fold"]]))
    assert any(isinstance(event, DuelCalled) for event in events)
    refusal = refused(match, result(bids=[[1, 2]]))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("wrong_phase", "C16", "/bids/0")
    refusal = refused(match, result(tricks=[1, 1, 1, 0, 1, 1]))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("not_in_duel", "C46", "/tricks/3")
    again = match.do(result(taken=[[0, 0], [2, 1], [2, 1], [0, 0]]))
    assert not any(isinstance(event, LeadDrawn) for event in again)
    match.do(result(taken=[[0, 0], [4, 0], [0, 2], [0, 0]]))
    assert (match.state.winner, match.state.by) == (P2, "duel")


# Counts, and where they are not enough


ZEROS = {"bids": [*PASSED[:1], [1, 1], [2, "pass"], [3, "pass"]], "taken": [[2, 0], [2, 0], [0, 1], [0, 1]]}
ZEROS["answers"] = [[2, "play"], [3, "play"]]


@pytest.mark.rule("A-O31", "B-O40", "C-O36")
@pytest.mark.parametrize("key", SISTERS)
def test_counts_are_enough_where_no_order_decides(key: str):
    sheet = SHEETS[key]
    halves = sheet["tricks"][:4], sheet["tricks"][4:]
    taken = [[half.count(seat) for half in halves] for seat in range(4)]
    counted = {name: value for name, value in sheet.items() if name != "tricks"} | {"taken": taken}
    assert points_after(tally(key), **counted) == points_after(tally(key), **sheet)


CATS_COUNTED: dict[str, Any] = {
    "bids": [[0, 1], [1, 0], [2, 0], [3, 0]],
    "taken": [[3, 0], [1, 1], [0, 0], [0, 1]],
    "answers": [[2, "fold"], [3, "play"]],
}
BY_P4 = [[0, "pass"], [1, "pass"], [2, "pass"], [3, 1]]
"""P4 is the only one without a trick, and declarer, so nobody has to answer."""
ORDER: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (KORTOXEN, {"points": (2, 2, 9, 9)}, ZEROS, "B-O12"),
    (KORTOXEN, {"points": (2, 9, 9, 9)}, {**ZEROS, "exits": [[0, 4]]}, "B67"),
    (KORTOXEN, {"points": (2, 9, 9, 9), "exact_zero": False}, {**ZEROS, "exits": [[0, 4]]}, "B77"),
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
            "bids": [[0, 1], [1, 0], [2, 0], [3, 0]],
            "taken": [[2, 1], [2, 0], [0, 0], [0, 1]],
            "answers": [[2, "fold"], [3, "play"]],
        },
        "C55",
    ),
]


@pytest.mark.rule("B-O12", "B56", "B67", "B68", "B77", "C55")
@pytest.mark.parametrize(("key", "opening", "body", "rule"), ORDER, ids=[rule for *_, rule in ORDER])
def test_where_the_order_decides_it_is_asked_for(key: str, opening: dict[str, Any], body: dict[str, Any], rule: str):
    refusal = refused(tally(key, **opening), result(**body))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("order_needed", rule, "/taken")


ENOUGH: list[tuple[str, dict[str, Any], dict[str, Any], tuple[int, ...]]] = [
    (KORTOXEN, {"points": (2, 9, 9, 9)}, ZEROS, (0, 7, 8, 8)),
    (
        KORTOXEN,
        {"fold_question_by": "fourth_trick_winner"},
        {
            "bids": ONE,
            "taken": [[4, 0], [0, 1], [0, 1], [0, 0]],
            "answers": [[1, "play"], [2, "play"], [3, "fold"]],
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
def test_where_it_cannot_decide_it_is_not(
    key: str, opening: dict[str, Any], body: dict[str, Any], after: tuple[int, ...]
):
    assert points_after(tally(key, **opening), **body) == after


@pytest.mark.rule("C55")
def test_who_comes_to_zero_with_his_last_trick_needs_the_order_too():
    body = {**CATS_COUNTED, "taken": [[3, 0], [1, 1], [0, 0], [0, 1]]}
    refusal = refused(tally(CATS, points=(3, 12, 12, 12), exact_tricks_for_all=True), result(**body))
    assert (refusal.code, refusal.rule) == ("order_needed", "C55")


@pytest.mark.rule("B71", "B-O12")
def test_told_in_their_order_they_say_who_was_first():
    told = {name: value for name, value in ZEROS.items() if name != "taken"}
    match = tally(points=(2, 2, 9, 9))
    match.do(result(**told, tricks=[0, 1, 1, 0, 2, 3]))
    assert match.state.winner == P2
    match = tally(points=(2, 2, 9, 9))
    match.do(result(**told, tricks=[0, 1, 1, 0, 2, 3], exits=[[0, 4]]))
    assert match.state.winner == P1


@pytest.mark.rule("B77", "B78")
def test_an_exit_breaks_off_the_deal():
    told = {"bids": ZEROS["bids"], "tricks": [0, 1, 0], "exits": [[0, 3]]}
    match = tally(points=(2, 9, 9, 9), exact_zero=False)
    refusal = refused(match, result(**{**told, "tricks": [0, 1, 0, 1]}))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("too_many_tricks", "B69", "/tricks/3")
    match.do(result(**told, knocks=[{"seat": 2, "accused": 1, "offence": "revoke"}]))
    assert (match.state.winner, match.state.table.points) == (P1, (0, 14, 9, 9))


@pytest.mark.rule("B46", "B77", "B78", "B-O30")
@pytest.mark.parametrize(
    ("more", "asked"),
    [
        ({"answers": [[2, "fold"], [3, "fold"]]}, True),
        ({}, False),
        ({"asked": False}, False),
        ({"tricks": [0, 1, 2, 0], "bids": BY_P4, "asked": False}, False),
        ({"tricks": [0, 1, 2, 0], "bids": BY_P4}, True),
    ],
)
def test_the_question_comes_before_an_exit_that_breaks_off_the_deal_if_it_was_put(more: dict[str, Any], asked: bool):
    """After the fourth trick, when P1 comes to zero: answers were told, or nobody had to answer."""
    told = {"bids": ZEROS["bids"], "tricks": [0, 1, 1, 0], "exits": [[0, 4]], **more}
    match = tally(points=(2, 9, 9, 9), exact_zero=False)
    events = match.do(result(**told))
    assert any(event.TOPIC == "question/asked" for event in events) == asked
    assert (match.state.winner, match.state.by) == (P1, "exit_knock")


@pytest.mark.rule("B67", "B-O25")
def test_an_exit_comes_before_the_question_where_the_deal_is_played_out():
    told = {"bids": ONE, "tricks": [0, 0, 0, 0], "answers": ALL_FOLD["answers"], "exits": [[0, 4]]}
    match = tally(points=(4, 12, 12, 12))
    events = [event.TOPIC for event in match.do(result(**told))]
    assert events.index("exit/knocked") < events.index("question/asked")
    assert match.state.table.points == (2, 12, 12, 12), "two more tricks are his"


@pytest.mark.rule("B-O31", "B67")
def test_an_exit_made_before_a_knock_is_not_undone_by_its_place_on_the_sheet():
    """P2 stands at zero after the third trick and knocks out; then five are knocked up."""
    told = {"bids": [[0, 2], *PASSED[1:]], "tricks": [1, 0, 1, 0, 3, 2], "answers": [[2, "play"], [3, "play"]]}
    knock = {"seat": 3, "accused": 1, "offence": "revoke", "after": 3}
    match = tally(points=(9, 2, 8, 8))
    assert points_after(match, **told, exits=[[1, 3]], knocks=[knock]) == (7, 5, 7, 7)


@pytest.mark.rule("B-O11", "B67")
def test_an_exit_may_become_due_by_a_knock():
    told = {"bids": [[0, 2], *PASSED[1:]], "tricks": [1, 0, 1, 0, 3, 2], "answers": [[2, "play"], [3, "play"]]}
    knock = {"seat": 3, "accused": 1, "offence": "revoke", "after": 3}
    match = tally(points=(9, -3, 8, 8), overshoot="negative")
    assert refused(match, result(**told, exits=[[1, 3]])).code == "not_at_zero"
    match.do(result(**told, exits=[[1, 3]], knocks=[knock]))
    assert (match.state.winner, match.state.table.points[P2]) == (P2, 0)


@pytest.mark.rule("C55", "C-O33")
def test_who_comes_to_zero_by_tricks_that_nobody_contests_has_won_at_once():
    told = {"bids": [[0, 5], [1, 0], [2, 0], [3, 0]], "answers": ALL_FOLD["answers"]}
    match = tally(CATS, points=(6, 12, 12, 12), exact_tricks_for_all=True)
    refusal = refused(match, result(**told, tricks=[0, 0, 0, 0, 0, 1]))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("has_folded", "C32", "/tricks/5")
    refusal = refused(match, result(**told, tricks=[0] * 7))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("too_many_tricks", "C12", "/tricks/6")
    match.do(result(**told, tricks=[0] * 6))
    assert (match.state.winner, match.state.by) == (P1, "zero_at_once")


@pytest.mark.rule("C55")
def test_and_so_has_who_comes_to_zero_while_others_play_on():  # C-X13
    told = {"bids": [[0, 4], [1, 0], [2, 3], [3, 0]], "tricks": [2, 2]}
    match = tally(CATS, points=(12, 12, 2, 12), exact_tricks_for_all=True)
    alone = {"tricks": [2] * 6, "answers": [[3, "fold"], [0, "fold"], [1, "fold"]]}
    for more in ({"tricks": [2, 2, 2]}, alone):
        refusal = refused(match, result(**{**told, **more}))
        assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("too_many_tricks", "C12", "/tricks/2")
    match.do(result(**told))
    assert (match.state.winner, match.state.by) == (P3, "zero_at_once")


# Knocks


@pytest.mark.rule("B11", "B12", "B-O40")
def test_what_the_tally_cannot_show_is_reported_and_knocked_for():
    match = tally()
    knock = {"seat": 0, "accused": 1, "offence": "revoke", "after": 5, "note": "klöver fanns"}
    events = match.do(result(**X1, knocks=[knock]))
    topics = [event.TOPIC for event in events]
    assert topics.index("fault/reported") == topics.index("knock/upheld") - 1
    (ruling,) = [event for event in events if isinstance(event, KnockUpheld)]
    assert (ruling.rule, ruling.payer, ruling.penalty, ruling.note) == ("B42", P2, 5, "klöver fanns")
    assert match.state.table.points == (11, 16, 8, 12)


@pytest.mark.rule("B-O3", "B-O32")
def test_a_knock_that_the_table_found_wrong_may_cost_a_fine():
    knock = {"seat": 0, "accused": 1, "offence": "revoke", "upheld": False}
    assert points_after(tally(), **X1, knocks=[knock]) == (11, 11, 8, 12)
    assert points_after(tally(false_knock_penalty=5), **X1, knocks=[knock]) == (16, 11, 8, 12)


@pytest.mark.rule("B-O27", "B-O31")
@pytest.mark.parametrize("fine", [0, 5])
def test_who_knocked_for_his_exit_in_vain_is_told_as_a_knock_for_himself(fine: int):
    knock = {"seat": 0, "accused": 0, "offence": "exit_knock", "after": 4, "upheld": False}
    match = tally(false_knock_penalty=fine)
    events = match.do(result(**X1, knocks=[knock]))
    assert KnockedOut(seat=0, valid=False) in events
    assert match.state.table.points == (11 + fine, 11, 8, 12)


@pytest.mark.rule("B67", "B-O31")
def test_but_not_who_stood_at_zero():
    told = {"bids": [[0, 2], *PASSED[1:]], "tricks": [1, 1, 0, 0, 3, 2], "answers": [[2, "play"], [3, "play"]]}
    knock = {"seat": 1, "accused": 1, "offence": "exit_knock", "after": 2, "upheld": False}
    match = tally(points=(9, 2, 8, 8))
    refusal = refused(match, result(**told, knocks=[knock]))
    assert (refusal.code, refusal.rule, refusal.facts["at"]) == ("ruling_differs", "B67", "/knocks/0")
    refusal = refused(match, result(**told, knocks=[knock | {"upheld": True}]))
    assert (refusal.code, refusal.facts["at"]) == ("knocks_on_oneself", "/knocks/0")


@pytest.mark.rule("B54", "B-O40")
def test_the_table_cannot_dismiss_what_the_tricks_show():
    knock = {"seat": 0, "accused": 2, "offence": "fold_question", "upheld": False}
    told = {**X1, "asked": False, "answers": [], "knocks": [knock]}
    refusal = refused(tally(), result(**told))
    assert (refusal.code, refusal.facts["at"], refusal.facts["verdict"]) == ("ruling_differs", "/knocks/0", "upheld")


@pytest.mark.rule("B-O2", "C61", "B-O40", "C-O36")
@pytest.mark.parametrize("key", [KORTOXEN, CATS])
def test_how_late_one_may_knock_is_the_tables_affair(key: str):
    told = {**SHEETS[key], "asked": False, "answers": []}
    accused = P3 if key == KORTOXEN else P1
    knock = {"seat": 3, "accused": accused, "offence": "fold_question"}
    options = {"knock_window": "next_trick"} | ({"fem_opp": True} if key == CATS else {})
    with_it = points_after(tally(key, **options), **told, knocks=[knock])
    assert with_it[accused] == points_after(tally(key, **options), **told)[accused] + 5


@pytest.mark.rule("C49", "C60", "C-O36")
def test_in_fem_opp_a_neglected_announcement_is_a_knock_like_any_other():
    match = tally(CATS, points=(12, 12, 4, 12), fem_opp=True)
    knock = {"seat": 0, "accused": 2, "offence": "near_zero", "after": 5}
    events = match.do(result(**CX1, knocks=[knock]))
    assert [event.rule for event in events if isinstance(event, KnockUpheld)] == ["C49"]
    assert match.state.table.points == (10, 11, 4 + 5 - 3, 12)


# Act by act


def at_the_question() -> Tally:
    """After four tricks: P3 is declarer with three of them, P1 has one."""
    match = tally()
    bids = [Bid(seat=0, bid=2), Bid(seat=1, bid="pass"), Bid(seat=2, bid=3), Bid(seat=3, bid="pass")]
    match.do(Deal(seat=P4), *bids, *(Trick(seat=seat) for seat in (2, 0, 2, 2)))
    return match


@pytest.mark.rule("B44", "B47", "B52")
def test_a_trick_is_anybodys_who_plays_on_once_all_have_answered():
    match = at_the_question()
    match.do(Ask(seat=P3), Answer(seat=P4, answer="fold"))
    assert refused(match, Trick(seat=P3)).code == "answers_pending"
    match.do(Answer(seat=P2, answer="play"))
    refusal = refused(match, Trick(seat=P4))
    assert isinstance(refusal, NotInPlay)
    assert (refusal.code, refusal.rule) == ("has_folded", "B52")
    events = match.do(Trick(seat=P2), Trick(seat=P3), Score(seat=P1))
    assert line_of(events)[0].points == (11, 11, 8, 12)


@pytest.mark.rule("B48", "B54")
def test_a_trick_passes_over_the_question_and_only_officials_see_it():
    match = at_the_question()
    (taken,) = match.do(Trick(seat=P2))
    assert isinstance(taken, TrickTaken)
    (breach,) = taken.breaches
    assert (breach.offence, breach.seat, breach.rule, breach.closes_after) == ("fold_question", P3, "B54", None)
    assert seen(taken, P1, False).breaches == ()  # type: ignore[attr-defined]
    assert seen(taken, "official", False) == taken
    upheld, fine = match.do(Knock(seat=P1, accused=P3))
    assert isinstance(upheld, KnockUpheld)
    assert upheld.rests_on[-1] == match.version - 2
    assert isinstance(fine, PenaltyImposed)


@pytest.mark.parametrize("key", SISTERS)
def test_what_is_listed_is_ready_to_send(key: str):
    """Whoever may have taken the trick is awaited; no cards are asked for, and no ritual and no new hands."""
    match = tally(key, **({} if key == ALGA else {"deal_ritual": True}), honour_redeal=True)
    rules = match.rules
    assert rules.legal(match.state, P4) == (Deal(seat=P4),)
    match.do(Deal(seat=P4), *(sent({"act": "bid", "seat": seat, "bid": bid}) for seat, bid in SHEETS[key]["bids"]))
    assert rules.to_act(match.state) == (P1, P2, P3, P4)
    for seat in range(4):
        assert rules.legal(match.state, seat) == (Trick(seat=seat),)
    assert rules.view(match.state, P1).hand is None


NO_PLACE = (
    Cut(seat=P4),
    KnockForCards(seat=P4),
    PickUp(seat=P1),
    RequestCards(seat=P1),
    KeepCards(seat=P1),
    Draw(seat=P1),
    Announce(seat=P1, what="near_zero"),
)


@pytest.mark.parametrize("act", NO_PLACE, ids=lambda act: type(act).__name__)
@pytest.mark.parametrize("key", SISTERS)
def test_there_is_no_ritual_and_no_new_hand(key: str, act: Request):
    match = tally(key, points=(1, 12, 12, 12), **({} if key == ALGA else {"deal_ritual": True}), honour_redeal=True)
    for _ in range(2):
        assert refused(match, act).code
        if match.state.__struct_config__.tag == "undealt":
            match.do(Deal(seat=P4))


@pytest.mark.parametrize("key", SISTERS)
def test_cards_are_never_told(key: str):
    match = tally(key)
    hands = tuple(("SA",) * 6 for _ in range(4))
    assert refused(match, Deal(seat=P4, hands=hands)).code == "cards_not_told"
    assert refused(match, Deal(seat=P4, counts=(6, 6, 6, 5))).code == "six_cards_each"
    match.do(Deal(seat=P4, counts=(6, 6, 6, 6)))
    match.do(*(sent({"act": "bid", "seat": seat, "bid": bid}) for seat, bid in SHEETS[key]["bids"]))
    for seat in range(4):
        assert refused(match, Play(seat=seat, card="SA")).code == "tallied"
    assert refused(match, Trick(seat=P1, second=P2)).code == "second_not_told"


@pytest.mark.rule("B42", "B-O40")
def test_a_revoke_is_reported_only_in_a_tally():
    match = at_the_question()
    (reported,) = match.do(Report(seat=P1, accused=P2, fault="revoke"))
    assert reported.breaches[0].rule == "B42"  # type: ignore[attr-defined]
    assert refused(match, Report(seat=P3, accused=P2, fault="revoke")).code == "already_reported"
    with_cards = penalising().dealt("3 1 3 3 | 2 3").bid("2 pass 3 pass")
    with_cards.refused(Report(seat=P1, accused=P2, fault="revoke"), rule="B42", code="cards_tell")


# Where a result has its place


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
def test_where_cards_are_told_there_is_no_tally(dealing: Any):
    table = Table(opened(dealing=dealing, deal_ritual=False))
    table.refused(result(**X1), rule=None, code="not_tallied", kind=WrongPhase)
    table.dealt().bid("1 pass pass pass")
    table.refused(Trick(seat=P1), rule=None, code="not_tallied", kind=WrongPhase)


def test_what_was_entered_stands_first_and_all_that_follows_from_it():
    events = tally().do(result(**X1))
    assert events[0] == ResultEntered(result=result(**X1))
    assert [event.TOPIC for event in events[1:3]] == ["deal/dealt", "auction/bid"]
    assert events[-1].TOPIC == "deal/scored"


@pytest.mark.rule("B67")
def test_an_exit_in_vain_costs_what_the_table_agreed_act_by_act():
    match = at_the_question()
    match.do(KnockOut(seat=P1))
    assert match.state.exits.knocked == (0, 0, 0, 0)
