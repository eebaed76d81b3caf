"""Rödskägg (Kortoxen): the end of the match without exact zero (B77-B78)."""

import pytest

from referee.acts import Cut, KnockOut
from referee.events import PlayEnded
from referee.games._rodskagg.facts import KnockedOut
from tests.games.rodskagg import table
from tests.games.test_kortoxen_end import BOTH, ended, playing
from tests.support.match_driver import P1, P2, P3


@pytest.mark.rule("B77", "B78")
class TestWithoutExactZero:
    """A player who takes a trick to zero and knocks out wins if exact_zero is false, and the deal is broken off."""

    def test_the_deal_is_broken_off(self):
        t = playing("2 1 3 1 | 4 3", (9, 1, 8, 8), exact_zero=False).tricks(1)
        events = t.do(KnockOut(seat=P2))
        assert events[:2] == (KnockedOut(seat=P2, valid=True), PlayEnded(kind="knocked_out"))
        assert ended(t) == (P2, "exit_knock", "B77")
        assert t.points == (9, 0, 8, 8)

    def test_if_errors_stand_the_match_is_over_at_once_as_well(self):
        t = playing("2 1 3 1 | 4 3", (9, 1, 8, 8), exact_zero=False, enforcement="penalise").tricks(1).knocks_out(P2)
        assert t.phase == "over"
        assert ended(t) == (P2, "exit_knock", "B77")

    def test_also_on_a_trick_that_no_one_contests(self):
        """All the others fold. Trick five brings the declarer to zero, who need not take the sixth."""
        t = playing("1 1 1 1 | 1 1", (5, 12, 12, 12), contract="4", exact_zero=False).tricks(4)
        t.asks(P1, "fold fold fold")
        assert t.seen().to_act == (P1,)
        t.knocks_out(P1)
        assert ended(t) == (P1, "exit_knock", "B77")
        assert t.points == (0, 12, 12, 12)

    @pytest.mark.rule("B-O30", "B67")
    @BOTH
    def test_or_on_the_fourth_before_or_after_the_question(self, enforcement: str):
        """Exit knock and question come in either order: a later fold does not undo the exit."""
        first = playing("1 1 1 1 | 1 1", (4, 12, 12, 12), contract="4", exact_zero=False, enforcement=enforcement)
        first.tricks(4).knocks_out(P1)
        then = playing("1 1 1 1 | 1 1", (4, 12, 12, 12), contract="4", exact_zero=False, enforcement=enforcement)
        then.tricks(4).asks(P1, "fold fold fold")
        assert then.phase == "playing"
        then.knocks_out(P1)
        assert ended(first) == ended(then) == (P1, "exit_knock", "B77")
        assert first.points == then.points == (0, 12, 12, 12)

    @pytest.mark.rule("B68")
    def test_a_player_who_leads_on_alone_has_omitted_the_exit_knock(self):
        t = playing("1 1 1 1 | 1 1", (4, 12, 12, 12), contract="4", exact_zero=False, enforcement="penalise").tricks(
            4
        )
        t.asks(P1, "fold fold fold").tricks(2)
        t.upheld(P2, P1, "exit_knock", rule="B68")
        t.score()
        assert t.points == (4 + 5 - 6, 12, 12, 12)

    @pytest.mark.rule("B68", "B-O2")
    def test_its_window_is_counted_in_tricks_that_were_played(self):
        """The fifth trick was only credited. The sixth is the next one played, and closes the window."""
        t = table(points=(5, 12, 12, 12), exact_zero=False, enforcement="penalise", knock_window="next_trick")
        t.dealt("1 1 1 1 | 1 1").declares(P1, 4).tricks(4).asks(P1, "fold fold fold").tricks(1)
        assert t.phase == "played"
        assert t.seen("official").breaches == ()
        t.dismissed(P2, P1, "exit_knock", reason="late")

    def test_an_exit_knock_on_the_sixth_trick_wins(self):
        t = playing("3 4 1 1 | 3 2", (12, 1, 12, 12), exact_zero=False).tricks(4).asks(P1, "play").tricks(2)
        t.knocks_out(P2)
        assert ended(t) == (P2, "exit_knock", "B77")
        assert t.points == (12, 0, 12, 12)

    def test_a_failing_declarer_at_zero_wins_too(self):
        t = playing("1 2 2 2 | 2 2", (1, 12, 12, 12), contract="6", exact_zero=False).tricks(1).knocks_out(P1)
        assert ended(t) == (P1, "exit_knock", "B77")
        assert t.points == (0, 12, 12, 12)

    @pytest.mark.rule("B-O34")
    def test_penalties_count_and_tricks_do_not(self):
        t = table(points=(9, 1, 8, 8), exact_zero=False, enforcement="penalise")
        t.do(Cut(seat=P3))
        t.dealt("1 3 2 1 | 4 3").declares(P1, 1).tricks(3)
        t.upheld(P1, P3, rule="B17")
        t.knocks_out(P2)
        assert t.points == (9, 0, 13, 8)

    @pytest.mark.rule("B-O34", "B70")
    @BOTH
    def test_only_at_exactly_zero(self, enforcement: str):
        """P2 has more tricks than points."""
        t = playing(
            "1 2 3 1 | 4 3", (9, -1, 8, 8), exact_zero=False, overshoot="negative", enforcement=enforcement
        ).tricks(2)
        if enforcement == "refuse":
            t.refused(KnockOut(seat=P2), rule="B67", code="not_at_zero")
        else:
            assert t.do(KnockOut(seat=P2)) == (KnockedOut(seat=P2, valid=False),)
        t.tricks(2).asks(P1, "play").tricks(2)
        if enforcement == "penalise":
            t.score()
        assert (t.won, t.points[P2]) == (None, -2)

    def test_the_exit_knock_of_a_player_with_a_trick_too_many_is_invalid(self):
        t = playing("1 2 2 1 | 4 3", (9, 1, 8, 8), exact_zero=False, enforcement="penalise").tricks(3)
        assert t.do(KnockOut(seat=P2)) == (KnockedOut(seat=P2, valid=False),)
        assert t.phase == "playing"

    def test_if_no_one_knocks_out_the_deal_is_scored_as_usual(self):
        t = playing("2 1 3 1 | 4 3", (9, 1, 8, 8), exact_zero=False, enforcement="penalise").tricks(4)
        t.asks(P1, "play").tricks(2).score()
        assert t.points == (7, 0, 6, 7)
        assert ended(t) == (P2, "zero", "B70")

    def test_zero_by_a_penalty_does_not_break_it_off(self):
        t = table(points=(12, 12, -5, 12), overshoot="negative", exact_zero=False, enforcement="penalise")
        t.do(Cut(seat=P3))
        t.dealt("1 1 2 4 | 1 1").declares(P1, 1)
        t.knock(P1, P3)
        t.knocks_out(P3)
        assert t.phase == "playing"

    def test_a_player_who_took_a_trick_to_zero_wins_before_one_with_a_penalty(self):
        t = table(points=(12, 1, -5, 12), overshoot="negative", exact_zero=False, enforcement="penalise")
        t.do(Cut(seat=P3))
        t.dealt("2 1 1 4 | 1 1").declares(P1, 1)
        t.knock(P1, P3)
        t.knocks_out(P3).tricks(1).knocks_out(P2)
        assert t.line.points[P2] == 0
        assert ended(t) == (P2, "exit_knock", "B77")
