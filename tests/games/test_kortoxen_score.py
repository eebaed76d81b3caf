"""Rödskägg (Kortoxen): the score of a deal (B39-B40, B58-B66, B72-B73, B75-B76, B79)."""

from typing import Any

import pytest

from referee.acts import Cut, Play
from referee.events import DealScored, Entry, PlayEnded, PlayerEliminated
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4


def played(winners: str, declarer: int, contract: Any, answers: str, **match: Any) -> DealScored:
    """Return the line of a whole deal. Exit knocks are made when they are owed."""
    t = table(enforcement="penalise", **match).dealt(winners).declares(declarer, contract)
    for _ in range(4):
        with_exit_knock(t.tricks(1))
    t.asks(declarer, answers)
    while t.phase == "playing":
        with_exit_knock(t.tricks(1))
    return t.score()


def with_exit_knock(t: Table) -> None:
    if "knock_out" in t.seen().due:
        t.knocks_out(t.turn_to_play)


def rules_of(line: DealScored, seat: int) -> list[tuple[int, str]]:
    """Return the numbers on a player's line with the rules they cite."""
    return [(entry.points, entry.rule) for entry in line.entries if entry.seat == seat]


@pytest.mark.rule("B58")
class TestTricks:
    """Each trick taken takes off one point."""

    @pytest.mark.rule("B-X1")
    def test_an_ordinary_deal(self):
        t = table().dealt("3 1 3 3 | 2 3").bid("2 pass 3 pass").tricks(4).asks(P3, "fold play").tricks(2)
        assert (t.line.declarer, t.line.contract, t.line.tricks) == (P3, "3", (1, 1, 4, 0))
        assert t.line.answers == ("in", "play", None, "fold")
        assert t.points == (11, 11, 8, 12)
        assert t.dealer == P1

    def test_a_trick_taken_late_is_worth_one_as_well(self):
        assert played("1 1 1 1 | 2 3", P1, 4, "play play fold").points == (8, 11, 11, 12)

    def test_each_entry_names_the_tricks_that_it_counts(self):
        line = played("3 1 3 3 | 2 3", P3, 3, "fold play")
        entry = next(entry for entry in line.entries if entry.seat == P3)
        assert (entry.points, entry.rule, len(entry.events)) == (-4, "B58", 4)


@pytest.mark.rule("B39")
class TestContractMade:
    """A number contract is made with that many tricks or more."""

    @pytest.mark.parametrize("contract", [1, 2, 3, 4, 5])
    def test_exactly_as_many_are_enough(self, contract: int):
        winners = " ".join("1" * contract + "2" * (6 - contract))
        line = played(winners, P1, contract, "fold fold" if contract < 4 else "play fold fold")
        assert rules_of(line, P1) == [(-contract, "B58")]

    def test_more_are_no_harm(self):
        assert played("1 1 1 1 | 1 1", P1, 1, "fold fold play").points == (6, 12, 12, 17)

    @pytest.mark.parametrize("contract", [2, 3, 4, 5, 6])
    def test_one_less_is_not_enough(self, contract: int):
        winners = " ".join("1" * (contract - 1) + "2" * (7 - contract))
        line = played(winners, P1, contract, "fold fold" if contract < 5 else "play fold fold")
        assert line.points[P1] == 12 + 5 - (contract - 1)


@pytest.mark.rule("B40")
class TestRodskaggIsMoreThanSix:
    """Rödskägg asks for all six; to make or fail it counts for more than six."""

    def test_six_made_is_six_points(self):
        t = table(points=(9, 12, 12, 12)).dealt("1 1 1 1 | 1 1").declares(P1, 6).tricks(4)
        t.asks(P1, "play fold fold").tricks(2)
        assert t.points == (3, 17, 12, 12)
        assert t.won is None

    def test_rodskagg_made_is_the_match(self):
        t = table(points=(9, 12, 12, 12)).dealt("1 1 1 1 | 1 1").declares(P1, "rodskagg").tricks(6)
        assert t.won is not None
        assert (t.won.seat, t.won.rule) == (P1, "B62")

    def test_six_failed_is_five_up_and_rodskagg_failed_is_the_end(self):
        assert played("1 1 1 1 | 1 2", P1, 6, "play fold fold").eliminated == ()
        t = table().dealt("1 1 1 1 | 1 2").declares(P1, "rodskagg").tricks(6)
        assert t.line.eliminated == (P1,)


@pytest.mark.rule("B59", "B60", "B79", "B-O1")
class TestContractFailed:
    """The declarer adds five points, and still takes off a point for each trick. This needs no knock."""

    def test_five_up_and_tricks_off(self):
        line = played("1 2 1 2 | 1 3", P1, 4, "play fold")
        assert rules_of(line, P1) == [(5, "B59"), (-3, "B60")]
        assert line.points == (14, 10, 11, 12)

    @pytest.mark.parametrize("contract", range(1, 7))
    def test_without_a_trick_it_is_five_up(self, contract: int):
        line = played("2 2 2 2 | 2 2", P1, contract, "fold fold")
        assert rules_of(line, P1) == [(5, "B59")]

    @pytest.mark.rule("B-X3")
    def test_the_five_come_first_and_then_the_tricks(self):
        """Two points, four bid, three taken: 2 + 5 - 3 is 4; the other order would bounce to 6."""
        t = table(players=3, dealer=P3, points=(2, 8, 8), enforcement="penalise")
        t.dealt("1 2 1 2 | 1 3").declares(P1, 4).tricks(3).knocks_out(P1).tricks(1).asks(P1, "play").tricks(2)
        assert t.score().points == (4, 6, 7)
        assert rules_of(t.line, P1) == [(5, "B59"), (-3, "B60")]

    def test_an_entry_for_the_declarer_names_the_contract_and_the_tricks(self):
        line = played("1 2 1 2 | 1 3", P1, 4, "play fold")
        assert len(next(entry for entry in line.entries if entry.rule == "B59").events) == 1 + 3


@pytest.mark.rule("B61", "B49", "B-O1")
class TestWentAlongInVain:
    """A player who goes along in a number contract and takes no trick adds five points, knocked for or not."""

    def test_five_up(self):
        line = played("1 1 1 1 | 2 2", P1, 4, "play play fold")
        assert rules_of(line, P3) == [(5, "B61")]
        assert line.points == (8, 10, 17, 12)

    def test_it_rests_on_the_answer(self):
        t = table().dealt("1 1 1 1 | 2 2").declares(P1, 4).tricks(4).asks(P1, "play play fold").tricks(2)
        (entry,) = [entry for entry in t.line.entries if entry.rule == "B61"]
        assert [getattr(t.event(number), "answer", None) for number in entry.events] == ["play"]

    def test_the_declarer_without_a_trick_pays_for_the_contract_only(self):
        assert rules_of(played("2 2 2 2 | 2 2", P1, 1, "play play"), P1) == [(5, "B59")]


@pytest.mark.rule("B62")
class TestRodskaggMade:
    """The declarer wins the match."""

    def test_wherever_the_declarer_stood(self):
        t = table(points=(17, 1, 12, 12), enforcement="penalise").dealt("1 1 1 1 | 1 1").declares(P1, "rodskagg")
        t.tricks(6).score()
        assert t.won is not None
        assert (t.won.seat, t.won.by, t.won.rule) == (P1, "rodskagg", "B62")
        assert t.line.points == (17, 1, 12, 12)

    def test_not_before_the_sixth_trick(self):
        t = table().dealt("1 1 1 1 | 1 1").declares(P1, "rodskagg").tricks(5)
        assert t.won is None


@pytest.mark.rule("B63", "B64", "B65", "B66")
class TestRodskaggFailed:
    """Play stops at the first trick of an opponent. The declarer is out with five more points; no player takes off a
    point."""

    @pytest.mark.parametrize("lost", [1, 2, 6])
    def test_play_stops_at_the_first_trick_lost(self, lost: int):
        winners = " ".join("1" * (lost - 1) + "3" * (7 - lost))
        t = table(enforcement="penalise").dealt(winners).declares(P1, "rodskagg").tricks(lost)
        assert t.happened(PlayEnded) == [PlayEnded(kind="rodskagg_failed")]
        t.refused(Play(seat=P3, card=t.plan.cards[-1][P3]), rule="B41")

    def test_no_one_takes_off_a_point_and_the_declarer_goes_up_five(self):
        t = table(points=(4, 7, 1, 6)).dealt("1 3 1 1 | 1 1").declares(P1, "rodskagg").tricks(2)
        assert t.points == (9, 7, 1, 6)
        assert [(entry.seat, entry.points, entry.rule) for entry in t.line.entries] == [(P1, 5, "B66")]

    def test_the_declarer_is_out(self):
        t = table().dealt("3 1 1 1 | 1 1").declares(P1, "rodskagg").tricks(1)
        assert t.happened(PlayerEliminated) == [PlayerEliminated(seat=P1, rule="B63")]
        assert t.seen().active == (P2, P3, P4)

    @pytest.mark.rule("B67")
    def test_no_exit_knock_is_owed_in_rodskagg(self):
        t = table(points=(1, 12, 12, 12)).dealt("1 3 1 1 | 1 1").declares(P1, "rodskagg").tricks(1)
        assert t.seen().due == ()
        t.tricks(1)


@pytest.mark.rule("B72", "B73", "B-O14")
class TestBounce:
    """A player who takes more tricks than points gets the surplus as plus points."""

    @pytest.mark.rule("B73")
    def test_from_two_points_three_tricks_make_one(self):
        line = played("1 2 3 4 | 2 2", P1, 1, "", points=(12, 2, 12, 12))
        assert rules_of(line, P2) == [(-3, "B58"), (2, "B72")]
        assert line.points[P2] == 1

    @pytest.mark.parametrize(
        ("points", "taken", "after"), [(2, 2, 0), (2, 3, 1), (2, 4, 2), (1, 4, 3), (1, 6, 5), (3, 6, 3)]
    )
    def test_it_is_calculated_once_at_the_end(self, points: int, taken: int, after: int):
        winners = " ".join(("1" * taken + "2" * 6)[:6])
        answers = " ".join(["play"] * (3 if taken >= 4 else 2))
        line = played(winners, P1, 1, answers, points=(points, 12, 12, 12))
        assert line.points[P1] == after

    def test_before_plus_entries_is_after(self):
        line = played("1 2 3 4 | 2 2", P1, 1, "", points=(12, 2, 12, 12))
        for seat in range(4):
            assert line.before[seat] + sum(points for points, _ in rules_of(line, seat)) == line.points[seat]

    @pytest.mark.rule("B-X6")
    def test_one_more_trick_after_a_forgotten_exit_knock(self):
        """2 + 5 - 3 is 4: the penalty first, so nothing bounces."""
        t = table(points=(9, 2, 8, 8), enforcement="penalise").dealt("2 1 2 1 | 2 3").declares(P1, 2).tricks(3)
        t.card()
        t.upheld(P4, P2, rule="B68")
        t.tricks(1).asks(P1, "play play").tricks(2)
        assert t.score().points[P2] == 4


@pytest.mark.rule("B-O15")
class TestPlusPointsFirst:
    """Penalties go in before tricks come off."""

    def test_a_penalty_takes_away_the_bounce(self):
        t = table(points=(2, 12, 12, 12), enforcement="penalise")
        t.do(Cut(seat=P1))
        t.knock(P2, P1)
        t.dealt("1 1 1 2 | 3 4").declares(P1, 3).tricks(4).asks(P1, "play play").tricks(2)
        assert t.score().points[P1] == 2 + 5 - 3
        assert rules_of(t.line, P1) == [(5, "B17"), (-3, "B58")]

    def test_also_one_knocked_for_after_the_last_trick(self):
        t = table(points=(2, 12, 12, 12), enforcement="penalise").dealt("1 2 1 1 | 3 4").declares(P1, 3).tricks(3)
        t.knocks_out(P1).tricks(1)
        t.card()  # P1 leads and forgets the question
        t.tricks(2)
        t.upheld(P2, P1, "fold_question", rule="B54")
        assert t.score().points[P1] == 2 + 5 - 3


@pytest.mark.rule("B75", "B76")
class TestNegative:
    """A player with overshoot: negative goes below zero, and needs five plus points for a new chance."""

    @pytest.mark.rule("B-X15")
    def test_from_one_with_three_tricks_to_minus_two_and_then_to_three(self):
        t = table(points=(12, 1, 12, 12), enforcement="penalise", overshoot="negative")
        t.dealt("2 1 3 2 | 2 4").declares(P1, 1).tricks(4).asks(P1, "play").tricks(2)
        assert t.score().points == (11, -2, 11, 11)
        assert rules_of(t.line, P2) == [(-3, "B58")]
        t.dealt("1 1 3 4 | 1 1").declares(P1, 1).tricks(4).asks(P1, "play").tricks(2)
        assert t.score().points[P2] == 3

    def test_five_up_may_lead_to_zero_exactly(self):
        t = table(points=(12, -5, 12, 12), overshoot="negative").dealt("1 1 3 4 | 1 1").declares(P1, 1)
        t.tricks(4).asks(P1, "play").tricks(2)
        assert t.won is not None
        assert t.won.seat == P2


@pytest.mark.rule("B58", "B59", "B61")
def test_an_entry_shows_seat_points_rule_and_events():
    line = played("1 2 1 2 | 1 2", P1, 4, "play play")
    assert Entry(seat=P3, points=5, rule="B61", events=line.entries[1].events) == line.entries[1]
    assert line.points == (14, 9, 17, 17)
