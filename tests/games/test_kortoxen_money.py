"""Rödskägg (Kortoxen): playing for money (B9-B10, B74, B80)."""

from typing import Any

import pytest

from referee.acts import Cut
from referee.events import MatchWon, Stakes
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4

ORE = Stakes(currency="SEK", unit=2)
"""Stakes of two öre a point."""


def won(t: Table) -> MatchWon:
    assert t.won is not None
    return t.won


def p2_goes_home(points: tuple[int, ...], **match: Any) -> Table:
    """Let P2 win with trick 2. P1 declares 1 and takes one trick, P3 two, and P4 two."""
    t = table(points=points, **match).dealt("1 2 3 4 | 3 4").declares(P1, 1).tricks(2).knocks_out(P2)
    if t.phase == "playing":
        t.tricks(4)
    return t


@pytest.mark.rule("B9", "B10", "B-O39")
class TestStakes:
    """The players agree in advance how much a point is worth. Without stakes no player pays."""

    def test_without_stakes_no_one_pays(self):
        assert won(p2_goes_home((9, 1, 8, 8))).settlement is None

    @pytest.mark.parametrize("unit", [1, 2, 50])
    def test_a_point_is_worth_what_was_agreed(self, unit: int):
        t = p2_goes_home((9, 1, 8, 8), stakes=Stakes(currency="SEK", unit=unit))
        assert won(t).settlement == (-8 * unit, 20 * unit, -6 * unit, -6 * unit)


@pytest.mark.rule("B74")
class TestLosersPay:
    """Each loser pays the winner for every point left."""

    def test_for_the_points_after_the_last_deal(self):
        t = p2_goes_home((9, 1, 8, 8), stakes=ORE)
        assert won(t).points == (8, 0, 6, 6)
        assert won(t).settlement == (-16, 40, -12, -12)

    @pytest.mark.rule("B-O39")
    def test_the_settlement_adds_up_to_zero(self):
        assert sum(won(p2_goes_home((9, 1, 8, 8), stakes=ORE)).settlement or (1,)) == 0


@pytest.mark.rule("B66", "B-O22", "B63")
class TestEliminatedPlayers:
    """An eliminated player pays at the end, for the points held then and five more."""

    @pytest.mark.rule("B-X9")
    def test_rodskagg_lost_and_the_game_won_by_p2(self):
        """P1 at 4 loses rödskägg to P3 at 1; P2 wins later: P1 pays 18, P3 2 and P4 12."""
        t = table(points=(4, 6, 1, 6), stakes=ORE).dealt("1 3 1 1 | 1 1").declares(P1, "rodskagg").tricks(2)
        assert (t.points, t.seen().active) == ((9, 6, 1, 6), (P2, P3, P4))
        t.dealt("2 2 2 2 | 2 2").declares(P2, 4).tricks(4).asks(P2, "fold fold").knocks_out(P2)
        assert (won(t).seat, won(t).points) == (P2, (9, 0, 1, 6))
        assert won(t).settlement == (-18, 32, -2, -12)

    def test_after_a_rodskagg_made_the_losers_pay_what_they_stood_at(self):
        t = table(points=(4, 7, 1, 6), stakes=ORE).dealt("1 1 1 1 | 1 1").declares(P1, "rodskagg").tricks(6)
        assert won(t).settlement == (28, -14, -2, -12)


@pytest.mark.rule("B80", "B-O34")
class TestBrokenOffForMoney:
    """Losers get nothing for tricks in the last deal if exact_zero is false: they pay what they had before."""

    def test_the_losers_pay_on_their_points_before_the_deal(self):
        t = p2_goes_home((9, 1, 8, 8), stakes=ORE, exact_zero=False)
        assert won(t).settlement == (-18, 50, -16, -16)

    def test_and_on_penalties_knocked_in_it(self):
        t = table(points=(9, 1, 8, 8), stakes=ORE, exact_zero=False, enforcement="penalise")
        t.do(Cut(seat=P3))
        t.knock(P1, P3)
        t.dealt("1 2 3 4 | 3 4").declares(P1, 1).tricks(2).knocks_out(P2)
        assert won(t).settlement == (-18, 60, -26, -16)


@pytest.mark.rule("B-O21", "B-O39", "B75")
class TestBelowZero:
    """A loser below zero pays by money_negative: nothing, as for plus points, or a negative amount from the
    winner."""

    @pytest.mark.parametrize(
        ("value", "settlement"),
        [("zero", (0, 26, -10, -16)), ("absolute", (-4, 30, -10, -16)), ("signed", (4, 22, -10, -16))],
    )
    def test_a_loser_at_minus_two(self, value: str, settlement: tuple[int, ...]):
        t = table(points=(-1, 1, 8, 9), stakes=ORE, overshoot="negative", money_negative=value)
        t.dealt("1 2 3 4 | 3 3").declares(P1, 1).tricks(2).knocks_out(P2).tricks(4)
        assert won(t).points == (-2, 0, 5, 8)
        assert won(t).settlement == settlement

    def test_the_option_changes_nothing_above_zero(self):
        settlements = {
            won(p2_goes_home((9, 1, 8, 8), stakes=ORE, money_negative=value)).settlement
            for value in ("zero", "absolute", "signed")
        }
        assert settlements == {(-16, 40, -12, -12)}
