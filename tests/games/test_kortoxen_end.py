"""Rödskägg (Kortoxen): the exit knock and the end of the match (B8, B67-B72)."""

from typing import Any

import pytest

from referee.acts import Bid, Cut, Deal, Knock, KnockOut, PickUp, Play, Score, Void
from referee.events import CardPlayed, PenaltyImposed, TrickTaken
from referee.games._rodskagg.facts import KnockedOut
from referee.refusals import AgainstTheRules, MatchOver, NotInPlay, WrongPhase
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4

BOTH = pytest.mark.parametrize("enforcement", ["refuse", "penalise"])


def playing(winners: str, points: tuple[int, ...], *, declarer: int = P1, contract: Any = 1, **match: Any) -> Table:
    return table(points=points, **match).dealt(winners).declares(declarer, contract)


def ended(t: Table) -> tuple[int, str, str]:
    assert t.won is not None
    return t.won.seat, t.won.by, t.won.rule


@pytest.mark.rule("B8", "B70")
class TestExactlyZero:
    """The first player at exactly zero after a finished deal wins."""

    @BOTH
    def test_zero_wins(self, enforcement: str):
        t = playing("2 2 3 1 | 4 4", (12, 2, 12, 12), enforcement=enforcement).tricks(2).knocks_out(P2)
        t.tricks(2).asks(P1, "play").tricks(2).score()
        assert ended(t) == (P2, "zero", "B70")
        assert t.points == (11, 0, 11, 10)

    def test_one_does_not(self):
        t = playing("2 3 3 1 | 4 4", (12, 2, 12, 12)).tricks(4).asks(P1, "play").tricks(2)
        assert t.won is None

    def test_nor_does_a_bounce(self):
        t = playing("2 3 2 1 | 4 2", (12, 2, 12, 12)).tricks(3).knocks_out(P2).tricks(1)
        t.asks(P1, "play").tricks(2)
        assert t.points[P2] == 1
        assert t.won is None

    @pytest.mark.parametrize("act", [Deal(seat=P2), Bid(seat=P1, bid="1"), Void(), Knock(seat=P1, accused=P2)])
    def test_after_it_nothing_can_be_done(self, act: Any):
        t = playing("1 1 1 1 | 1 1", (9, 9, 9, 9), contract="rodskagg").tricks(6)
        assert t.phase == "over"
        assert t.seen().to_act == ()
        t.refused(act, rule=None, kind=MatchOver)


@pytest.mark.rule("B67", "B-O9")
class TestExitKnock:
    """A player brought to zero by a trick must knock for the exit before the next lead."""

    def test_the_lead_is_refused_until_it_is_made(self):
        t = playing("2 1 2 1 | 4 3", (9, 1, 8, 8)).tricks(1)
        assert t.seen().due == ("knock_out",)
        assert t.legal(P2) == (KnockOut(seat=P2),)
        t.refused(Play(seat=P2, card=t.plan.cards[1][P2]), rule="B67", kind=AgainstTheRules)
        assert t.do(KnockOut(seat=P2)) == (KnockedOut(seat=P2, valid=True),)
        t.tricks(1)

    def test_it_is_owed_at_exactly_zero_only(self):
        t = playing("2 1 2 2 | 4 3", (9, 2, 8, 8), contract="1").tricks(2)
        assert t.seen().due == ()
        t.tricks(1)
        assert t.seen().due == ("knock_out",)
        t.knocks_out(P2).tricks(1)
        assert t.seen().due == ("ask",)

    def test_penalties_knocked_in_the_deal_count(self):
        t = table(points=(12, 1, 12, 12), enforcement="penalise")
        t.do(Cut(seat=P2))
        t.dealt("2 1 3 4 | 1 1").declares(P1, 1)
        t.knock(P1, P2)
        t.tricks(1)
        assert t.seen().due == ()

    def test_a_failed_contract_does_not_count_yet(self):
        t = playing("1 2 2 2 | 2 2", (1, 12, 12, 12), contract="6").tricks(1)
        assert t.seen().due == ("knock_out",)

    @pytest.mark.parametrize("trick", [1, 2, 3, 4, 5])
    def test_after_any_trick(self, trick: int):
        winners = " ".join("3" * (trick - 1) + "2" + "3" * (6 - trick))
        t = playing(winners, (12, 1, 12, 12), contract="1").tricks(min(trick, 4))
        if trick == 5:
            t.asks(P1, "play play").tricks(1)
        assert "knock_out" in t.seen().due

    @BOTH
    def test_it_is_made_once(self, enforcement: str):
        t = playing("2 1 3 1 | 4 3", (9, 1, 8, 8), enforcement=enforcement).tricks(1).knocks_out(P2)
        t.refused(KnockOut(seat=P2), rule="B67", kind=AgainstTheRules)

    def test_there_is_none_in_rodskagg(self):
        t = playing("1 1 1 1 | 1 1", (1, 12, 12, 12), contract="rodskagg").tricks(1)
        assert KnockOut(seat=P1) not in t.legal(P1)
        t.refused(KnockOut(seat=P1), rule="B67")

    def test_nor_in_the_bidding(self):
        table().dealt("1 2 3 4 | 1 1").refused(KnockOut(seat=P1), rule="B67", kind=WrongPhase)


@pytest.mark.rule("B68")
class TestForgottenExitKnock:
    """A player who forgets the exit knock adds five points if another player knocks."""

    @pytest.mark.rule("B-X6")
    def test_p2_leads_silently_and_p4_knocks(self):
        t = playing("2 1 2 1 | 4 3", (9, 2, 8, 8), contract="2", enforcement="penalise").tricks(3)
        t.card()
        third, lead = t.upheld(P4, P2, "exit_knock", rule="B68")
        assert third == TrickTaken(seat=P2, trick=3)
        assert isinstance(lead, CardPlayed)
        t.tricks(1).asks(P1, "play play").tricks(2)
        assert t.score().points == (7, 5, 7, 7)

    def test_in_time_there_is_nothing_to_knock_for(self):
        t = playing("2 1 2 1 | 4 3", (9, 2, 8, 8), enforcement="penalise").tricks(3)
        t.dismissed(P4, P2, reason="nothing")
        t.knocks_out(P2).tricks(1)
        t.dismissed(P4, P2, reason="nothing")

    def test_forgotten_and_not_knocked_for_it_costs_nothing(self):
        t = playing("2 1 3 1 | 4 3", (9, 1, 8, 8), enforcement="penalise").tricks(4).asks(P1, "play").tricks(2)
        t.score()
        assert ended(t) == (P2, "zero", "B70")

    def test_question_and_exit_knock_forgotten_by_one_lead_are_two_errors(self):
        t = playing("2 2 1 1 | 4 3", (2, 12, 12, 12), enforcement="penalise").tricks(4)
        t.card()
        t.upheld(P2, P1, "fold_question", rule="B54")
        t.upheld(P2, P1, "exit_knock", rule="B68")
        assert t.penalties == (10, 0, 0, 0)


@pytest.mark.rule("B-O10", "B-O28")
class TestZeroOnTheSixthTrick:
    """The sixth trick has no next lead, so the exit knock is in time until the deal is scored."""

    def test_if_errors_are_refused_the_deal_waits_for_it(self):
        t = playing("3 4 1 1 | 3 2", (12, 1, 12, 12)).tricks(4).asks(P1, "play").tricks(2)
        assert (t.phase, t.seen().to_act, t.seen().due) == ("played", (P2,), ("knock_out",))
        assert t.legal(P2) == (KnockOut(seat=P2),)
        t.refused(Deal(seat=P1), rule="B67", kind=AgainstTheRules)
        t.refused(Score(seat=P2), rule="B-O28", kind=WrongPhase)
        t.knocks_out(P2)
        assert ended(t) == (P2, "zero", "B70")

    def test_if_they_stand_it_may_be_made_until_someone_scores(self):
        t = playing("3 4 1 2 | 3 1", (2, 1, 12, 12), enforcement="penalise").tricks(4).asks(P1).tricks(2)
        assert t.seen().due == ("knock_out",)
        t.dismissed(P3, P1, reason="nothing")
        t.knocks_out(P1).score()
        assert ended(t) == (P1, "zero", "B71")

    def test_not_after_it(self):
        t = playing("3 4 1 1 | 3 2", (12, 2, 12, 12), enforcement="penalise").tricks(4).asks(P1, "play").tricks(2)
        t.score()
        t.refused(KnockOut(seat=P2), rule="B67", kind=WrongPhase)


@pytest.mark.rule("B69")
class TestPlayedToTheEnd:
    """A deal is played to its end although a player has knocked out."""

    def test_play_goes_on_after_an_exit_knock(self):
        t = playing("2 1 3 1 | 4 3", (9, 1, 8, 8)).tricks(1).knocks_out(P2)
        assert (t.phase, t.turn) == ("playing", P2)
        t.tricks(3).asks(P1, "play").tricks(1)
        assert t.won is None
        t.tricks(1)
        assert ended(t) == (P2, "zero", "B70")


@pytest.mark.rule("B71")
class TestSeveralAtZero:
    """The player who knocked out first wins if more than one are at zero."""

    @BOTH
    @pytest.mark.parametrize(("winners", "first"), [("2 3 1 1 | 4 4", P2), ("3 2 1 1 | 4 4", P3)])
    def test_the_first_to_knock_out(self, winners: str, first: int, enforcement: str):
        t = playing(winners, (12, 1, 1, 12), enforcement=enforcement).tricks(1).knocks_out(first)
        t.tricks(1).knocks_out(P3 if first == P2 else P2).tricks(2).asks(P1, "play").tricks(2).score()
        assert ended(t) == (first, "zero", "B71")
        assert t.points == (10, 0, 0, 10)

    def test_not_the_first_at_zero(self):
        t = playing("2 3 1 1 | 4 4", (12, 1, 1, 12), enforcement="penalise").tricks(2)
        t.knocks_out(P3).tricks(2).asks(P1, "play").tricks(2).score()
        assert ended(t) == (P3, "zero", "B71")

    @pytest.mark.rule("B-O31")
    def test_a_late_exit_knock_counts_from_when_it_is_made_and_stays_an_error(self):
        t = playing("2 3 1 1 | 4 4", (12, 1, 1, 12), enforcement="penalise").tricks(2).knocks_out(P2).knocks_out(P3)
        t.tricks(2).asks(P1, "play").tricks(2)
        assert [standing["offence"] for standing in t.seen().breaches or ()] == ["exit_knock"]
        t.score()
        assert ended(t) == (P2, "zero", "B71")

    @pytest.mark.rule("B-O31", "B68")
    def test_a_knock_for_the_late_one_takes_the_player_off_zero(self):
        t = playing("2 3 1 1 | 4 4", (12, 1, 1, 12), enforcement="penalise").tricks(2).knocks_out(P2).knocks_out(P3)
        t.upheld(P1, P2, "exit_knock", rule="B68")
        t.tricks(2).asks(P1, "play").tricks(2).score()
        assert ended(t) == (P3, "zero", "B70")
        assert t.points[P2] == 5


@pytest.mark.rule("B-O11")
class TestZeroWithoutATrick:
    """A player brought to zero by a penalty owes no exit knock. A player who knocked beats one who did not."""

    def from_below(self, winners: str, points: tuple[int, ...] = (12, 12, -5, 12)) -> Table:
        t = table(points=points, overshoot="negative", enforcement="penalise")
        t.do(Cut(seat=P3))
        t.dealt(winners).declares(P1, 1)
        t.knock(P1, P3)
        return t

    def test_nothing_is_due(self):
        t = self.from_below("1 1 2 4 | 1 1").tricks(1)
        assert t.seen().due == ()
        t.tricks(3)
        t.card()
        t.dismissed(P2, P3, "exit_knock", reason="nothing")

    def test_it_wins_without_a_knock(self):
        t = self.from_below("1 1 2 4 | 1 1").tricks(4)
        t.asks(P1, "fold").tricks(2).score()
        assert ended(t) == (P3, "zero", "B70")

    def test_a_player_who_knocked_is_before(self):
        t = self.from_below("1 1 2 4 | 1 1", (12, 1, -5, 12)).tricks(3).knocks_out(P2).tricks(1)
        t.asks(P1, "fold").tricks(2).score()
        assert ended(t) == (P2, "zero", "B71")

    def test_a_penalty_after_the_sixth_trick_may_bring_zero_too(self):
        t = table(points=(1, 12, 12, 12), enforcement="penalise").dealt("1 1 1 1 | 1 1").declares(P1, 1).tricks(1)
        t.knocks_out(P1).tricks(3)
        t.card()
        t.tricks(2)
        assert t.seen().due == ()
        t.upheld(P2, P1, "fold_question", rule="B54")
        assert t.seen().due == ()
        t.score()
        assert ended(t) == (P1, "zero", "B70")


@pytest.mark.rule("B-O12")
class TestNoExitKnock:
    """Several players are at zero without an exit knock: the earliest trick to zero wins."""

    @pytest.mark.parametrize(("winners", "first"), [("2 3 1 1 | 4 4", P2), ("3 2 1 1 | 4 4", P3)])
    def test_the_earliest_trick_wins(self, winners: str, first: int):
        t = playing(winners, (12, 1, 1, 12), enforcement="penalise").tricks(4).asks(P1, "play").tricks(2)
        t.score()
        assert ended(t) == (first, "zero", "B-O12")


@pytest.mark.rule("B-O13", "B72")
class TestKnockedOutInVain:
    """A player who takes a further trick after the exit knock bounces, and the knock loses its effect."""

    @BOTH
    def test_the_player_bounces(self, enforcement: str):
        t = playing("2 3 1 1 | 2 4", (12, 1, 12, 12), enforcement=enforcement).tricks(1).knocks_out(P2).tricks(3)
        t.asks(P1, "play").tricks(2).score()
        assert t.points[P2] == 1
        assert t.won is None

    @pytest.mark.rule("B71", "B-O11")
    def test_a_knock_in_vain_does_not_count_when_a_penalty_brings_zero_again(self):
        """P2 knocks out first, also takes the other tricks, and adds five: 1 - 6 + 5. P3 knocked out later."""
        t = table(points=(12, 1, -5, 12), overshoot="negative", enforcement="penalise")
        for seat in (P2, P3):
            t.do(Cut(seat=seat))
        t.dealt("2 2 2 2 | 2 2").declares(P1, 1)
        t.knock(P1, P3)
        t.tricks(1).knocks_out(P2).knocks_out(P3).tricks(3).asks(P1, "fold fold").tricks(2)
        t.knock(P1, P2)
        assert t.score().points == (17, 0, 0, 12)
        assert ended(t) == (P3, "zero", "B71")


@pytest.mark.rule("B-O27", "B-O31", "B67")
class TestExitKnockOffZero:
    """A player who is not at zero cannot knock out: the knock is refused, or recorded without effect."""

    def test_refused(self):
        t = playing("2 1 2 1 | 4 3", (9, 2, 8, 8)).tricks(1)
        t.refused(KnockOut(seat=P2), rule="B67", kind=AgainstTheRules, code="not_at_zero")

    def test_without_effect(self):
        t = playing("2 2 1 1 | 4 3", (12, 2, 1, 12), enforcement="penalise").tricks(1)
        assert t.do(KnockOut(seat=P2)) == (KnockedOut(seat=P2, valid=False),)
        assert t.penalties == (0, 0, 0, 0)
        t.tricks(1)
        assert t.seen().due == ("knock_out",)
        t.knocks_out(P2)

    def test_at_a_price(self):
        t = playing("2 2 1 1 | 4 3", (12, 2, 12, 12), enforcement="penalise", false_knock_penalty=5).tricks(1)
        events = t.do(KnockOut(seat=P2))
        assert isinstance(events[1], PenaltyImposed)
        assert t.penalties == (0, 5, 0, 0)

    @pytest.mark.rule("B-O10")
    def test_also_after_the_sixth_trick(self):
        t = playing("2 2 3 1 | 4 3", (12, 12, 12, 12), enforcement="penalise", false_knock_penalty=5).tricks(4)
        t.asks(P1, "play").tricks(2).knocks_out(P2)
        assert t.score().points == (11, 15, 10, 11)

    def test_one_at_zero_does_not_make_it_possible_for_another(self):
        t = playing("2 2 1 1 | 4 3", (12, 1, 12, 12)).tricks(1)
        t.refused(KnockOut(seat=P3), rule="B67", kind=AgainstTheRules)

    def test_a_penalty_before_the_lead_ends_the_duty(self):
        t = table(points=(12, 1, 12, 12), enforcement="penalise")
        t.do(Cut(seat=P2))
        t.dealt("2 3 1 1 | 4 3").declares(P1, 1).tricks(1)
        assert t.seen().due == ("knock_out",)
        t.knock(P1, P2)
        assert t.seen().due == ()
        t.card()
        t.dismissed(P1, P2, "exit_knock", reason="nothing")


@pytest.mark.rule("B-O35")
class TestZeroAfterNoPlay:
    """Zero after a deal without tricks wins as usual. Between several players the knock decides, then the trick, then
    the seat."""

    def test_after_a_passed_out_deal(self):
        t = table(points=(12, -5, 12, 12), overshoot="negative", enforcement="penalise")
        t.do(Cut(seat=P2))
        t.knock(P1, P2)
        t.dealt("1 1 1 1 | 1 1").bid("pass pass pass pass").score()
        assert ended(t) == (P2, "zero", "B70")

    @pytest.mark.parametrize(("dealer", "first"), [(P4, P2), (P1, P2), (P2, P3), (P3, P2)])
    def test_the_nearest_player_to_the_left_of_the_dealer_wins_among_several(self, dealer: int, first: int):
        t = table(points=(12, -5, -5, 12), overshoot="negative", enforcement="penalise", dealer=dealer)
        t.dealt(ritual=False)
        for seat in (P2, P3):
            t.do(PickUp(seat=seat))
            t.knock(P1, seat)
        for seat in (P1, P4):
            t.do(PickUp(seat=seat))
        t.bid("pass pass pass pass").score()
        assert ended(t) == (first, "zero", "B-O35")

    def test_after_a_failed_rodskagg(self):
        t = table(points=(12, -5, 12, 12), overshoot="negative", enforcement="penalise")
        t.do(Cut(seat=P2))
        t.knock(P1, P2)
        t.dealt("1 2 1 1 | 1 1").declares(P1, "rodskagg").tricks(2).score()
        assert ended(t) == (P2, "zero", "B70")

    @pytest.mark.rule("B65")
    @pytest.mark.parametrize(("winners", "first"), [("3 2 1 1 | 1 1", P3), ("2 3 1 1 | 1 1", P2)])
    def test_the_first_player_at_zero_wins_a_failed_rodskagg(self, winners: str, first: int):
        options = {"rodskagg_defenders_score": "one_per_trick", "rodskagg_stop_at_first_loss": False}
        t = playing(winners, (5, 1, 1, 12), contract="rodskagg", **options).tricks(6)
        assert t.line.kind == "rodskagg_failed"
        assert ended(t) == (first, "zero", "B-O12")

    def test_the_failed_declarer_cannot_win(self):
        t = playing("2 1 1 1 | 1 1", (-5, 12, 12, 12), contract="rodskagg", overshoot="negative").tricks(1)
        assert t.points[P1] == 0
        assert t.won is None


@pytest.mark.rule("B-O36", "B63")
class TestLastOneLeft:
    """The last player left wins at once. An eliminated player keeps their points plus five."""

    def test_the_last_player_wins_when_two_of_three_fail(self):
        t = table(players=3, dealer=P3).dealt("2 1 1 1 | 1 1").declares(P1, "rodskagg").tricks(1)
        assert t.won is None
        t.refused(Bid(seat=P1, bid="1"), rule="B63", kind=NotInPlay)
        t.dealt("2 3 2 2 | 2 2").declares(P2, "rodskagg").tricks(2)
        assert ended(t) == (P3, "last_standing", "B-O36")
        assert t.points == (17, 17, 12)
        assert t.line.eliminated == (P1, P2)

    def test_the_points_of_an_eliminated_player_stay_in_the_protocol(self):
        t = table().dealt("2 1 1 1 | 1 1").declares(P1, "rodskagg").tricks(1)
        t.dealt("2 2 3 4 | 2 3").declares(P2, 2).tricks(4).asks(P2).tricks(2)
        assert t.points == (17, 9, 10, 11)
        assert t.line.eliminated == (P1,)

    def test_two_can_go_on(self):
        t = table(players=3, dealer=P3).dealt("2 1 1 1 | 1 1").declares(P1, "rodskagg").tricks(1)
        t.dealt("2 2 2 3 | 3 2").declares(P2, 4).tricks(4).asks(P2).tricks(2)
        assert t.points == (17, 8, 10)
        assert t.dealer == P3
