"""Rödskägg (Kortoxen): errors that cards cannot show, and are reported (B11, B-O26, B-O33)."""

from typing import Any

import pytest

from referee.acts import Cut, Deal, KnockForCards, PickUp, Report, Void
from referee.refusals import AgainstTheRules, NotInPlay, WrongPhase
from tests.games.kortoxen_errors import fresh, without_p4
from tests.support.match_driver import P1, P2, P3, P4


@pytest.mark.rule("B11", "B-O26", "B-O33")
class TestReports:
    """A report of what only the table sees stands as seen, and a knock makes it count."""

    def test_an_early_player(self):
        t = fresh()
        t.do(Deal(seat=P1, counts=(6, 6, 6, 6)))
        t.do(Report(seat=P1, accused=P2, fault="early_pick_up"))
        t.upheld(P3, P2, "early_pick_up", rule="B24")

    @pytest.mark.rule("B-O5")
    def test_an_open_report_cannot_be_repeated(self):
        t = fresh()
        t.do(Deal(seat=P1, counts=(6, 6, 6, 6)))
        t.do(Report(seat=P1, accused=P2, fault="early_pick_up"))
        t.refused(Report(seat=P3, accused=P2, fault="early_pick_up"), rule="B-O5", kind=AgainstTheRules)

    @pytest.mark.rule("B-O5", "B24")
    def test_a_reported_error_and_its_act_are_punished_once(self):
        t = fresh()
        t.do(Deal(seat=P1, counts=(6, 6, 6, 6)))
        t.do(Report(seat=P1, accused=P2, fault="early_pick_up"))
        t.do(PickUp(seat=P2))
        t.upheld(P1, P2, "early_pick_up", rule="B24")
        t.dismissed(P3, P2, "early_pick_up", reason="again")

    @pytest.mark.rule("B-O5", "B-O38")
    def test_an_error_punished_in_a_voided_deal_is_not_punished_again(self):
        t = fresh(false_knock_penalty=5)
        t.do(Cut(seat=P2))
        t.upheld(P1, P2, "wrong_cut", rule="B17")
        t.dealt()
        t.do(Void())
        t.dealt()
        t.dismissed(P3, P2, "wrong_cut", reason="again")
        assert t.penalties == (0, 5, 0, 0)

    @pytest.mark.rule("B17", "B-O38")
    def test_but_the_same_done_again_is_another_offence(self):
        t = fresh()
        t.do(Report(seat=P1, accused=P2, fault="wrong_cut"))
        t.upheld(P1, P2, "wrong_cut", rule="B17")
        t.dealt()
        t.do(Void())
        t.do(Report(seat=P1, accused=P2, fault="wrong_cut"))
        t.upheld(P1, P2, "wrong_cut", rule="B17")
        t.dismissed(P3, P2, "wrong_cut", reason="again")
        assert t.penalties == (0, 10, 0, 0)

    @pytest.mark.rule("B17", "B-O33")
    def test_a_wrong_cut_before_the_cards_are_dealt_again(self):
        t = fresh(deal_ritual=True)
        t.do(Deal(seat=P1, counts=(6, 7, 6, 6)))
        t.do(KnockForCards(seat=P1))
        t.do(PickUp(seat=P2))
        t.do(Report(seat=P3, accused=P4, fault="wrong_cut"))
        t.upheld(P3, P4, "wrong_cut", rule="B17")

    @pytest.mark.rule("B-O5")
    @pytest.mark.parametrize("window", ["deal_end", "next_trick"])
    def test_the_same_in_another_trick_is_another_offence(self, window: str):
        t = fresh(knock_window=window).dealt("2 1 2 1 | 1 4").declares(P2, 1)
        led_out = Report(seat=P1, accused=P2, fault="led_out_of_turn")
        t.do(led_out)
        t.upheld(P1, P2, rule="B11")
        t.tricks(1)
        t.refused(led_out, rule="B-O5", kind=AgainstTheRules)
        t.tricks(1)
        t.do(led_out)
        t.upheld(P1, P2, rule="B11")
        assert t.penalties == (0, 10, 0, 0)

    @pytest.mark.rule("B-O5", "B-O33")
    def test_a_report_between_two_tricks_is_about_the_last_one(self):
        t = fresh().dealt("2 1 2 1 | 1 4").declares(P2, 1).tricks(2)
        led_out = Report(seat=P1, accused=P2, fault="led_out_of_turn")
        t.do(led_out)
        t.refused(led_out, rule="B-O5", code="already_reported")
        t.card()
        t.do(led_out)
        t.upheld(P1, P2, rule="B11")
        t.upheld(P1, P2, rule="B11")
        assert t.penalties == (0, 10, 0, 0)

    @pytest.mark.rule("B-O5")
    def test_another_error_of_the_same_trick_is_reported_as_another(self):
        t = fresh().dealt("2 1 2 1 | 1 4").declares(P2, 1).tricks(2)
        again = Report(seat=P3, accused=P2, fault="exposed_card", another=True)
        for _ in range(2):
            t.do(again)
            t.upheld(P1, P2, "exposed_card", rule="B11")
        t.refused(again, rule="B-O5", code="already_reported")
        assert t.penalties == (0, 10, 0, 0), "at most one for each trick"

    def test_no_report_says_otherwise_than_the_acts(self):
        """The formula is said, so picking up now is not early, whatever a player reports."""
        t = fresh()
        t.do(Deal(seat=P1, counts=(6, 6, 6, 6)))
        t.do(KnockForCards(seat=P1))
        t.refused(Report(seat=P1, accused=P2, fault="early_pick_up"), rule="B24", kind=AgainstTheRules)

    @pytest.mark.rule("B-O6")
    @pytest.mark.parametrize(("value", "offender"), [("cutter", P2), ("dealer", P1)])
    def test_a_wrong_cut_before_the_deal(self, value: str, offender: int):
        t = fresh(wrong_cut_penalty_to=value)
        t.do(Report(seat=P3, accused=P2, fault="wrong_cut"))
        t.refused(Report(seat=P4, accused=P2, fault="wrong_cut"), rule="B-O5", kind=AgainstTheRules)
        t.upheld(P4, offender, "wrong_cut", rule="B17", payer=offender)

    def test_the_dealer_may_cut(self):
        fresh().refused(Report(seat=P3, accused=P1, fault="wrong_cut"), rule="B16", kind=AgainstTheRules)

    @pytest.mark.parametrize("fault", ["misdeal", "wrong_count", "exposed_card", "led_out_of_turn"])
    def test_before_the_deal_there_is_nothing_else_to_report(self, fault: Any):
        fresh().refused(Report(seat=P3, accused=P2, fault=fault), rule="B27", kind=WrongPhase)

    def test_a_misdeal_already_found_is_not_reported_again(self):
        t = fresh().dealt("2 2 1 2 | 2 2", closed=True)
        t.do(Report(seat=P3, accused=P2, fault="misdeal"))
        t.refused(Report(seat=P3, accused=P2, fault="misdeal"), rule="B27", kind=WrongPhase)

    @pytest.mark.parametrize(("fault", "rule"), [("wrong_cut", "B16"), ("early_pick_up", "B23")])
    def test_without_the_ritual_its_errors_are_none(self, fault: Any, rule: str):
        t = fresh(deal_ritual=False).dealt("2 2 1 2 | 2 2")
        t.refused(Report(seat=P3, accused=P2, fault=fault), rule=rule, kind=WrongPhase)

    def test_an_eliminated_player_neither_reports_nor_is_reported(self):
        t = without_p4().dealt("2 2 1 2 | 2 2")
        t.refused(Report(seat=P1, accused=P4, fault="exposed_card"), rule="B63", kind=AgainstTheRules)
        t.refused(Report(seat=P4, accused=P1, fault="exposed_card"), rule="B63", kind=NotInPlay)

    def test_at_the_house_nothing_is_reported(self):
        t = fresh(dealing="house").dealt()
        t.refused(Report(seat=P3, accused=P2, fault="exposed_card"), rule=None, kind=AgainstTheRules)
