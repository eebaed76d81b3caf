"""Rödskägg (Kortoxen): the cut, "knack för kort och felgiv", and picking up (B16-B17, B20-B26)."""

import pytest

from referee.acts import Cut, Deal, KnockForCards, PickUp, Void
from referee.events import Dealt
from referee.games._rodskagg.facts import CardsCut, KnockedForCards, PickedUp
from referee.refusals import AgainstTheRules, WrongPhase
from tests.games.rodskagg import SIX_EACH, misdealt, penalising, table
from tests.support.match_driver import P1, P2, P3, P4


@pytest.mark.rule("B16")
class TestCut:
    """The pack need not be cut; if it is, the dealer cuts."""

    def test_the_dealer_may_cut(self):
        t = table()
        assert Cut(seat=P4) in t.legal(P4)
        assert t.do(Cut(seat=P4)) == (CardsCut(seat=P4),)

    def test_no_one_need_cut(self):
        assert table().dealt(SIX_EACH).phase == "auction"

    def test_no_one_else_may(self):
        t = table()
        assert Cut(seat=P3) not in t.legal(P3)
        t.refused(Cut(seat=P3), rule="B16", kind=AgainstTheRules, code="only_dealer_cuts")

    def test_once_is_enough(self):
        t = table()
        t.do(Cut(seat=P4))
        t.refused(Cut(seat=P4), rule="B16", kind=WrongPhase)

    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_after_the_deal_it_is_too_late(self, enforcement: str):
        t = table(enforcement=enforcement).dealt(SIX_EACH)
        t.refused(Cut(seat=P4), rule="B16", kind=WrongPhase)

    @pytest.mark.rule("B27")
    def test_before_the_new_deal_after_a_misdeal_the_dealer_may_cut_again(self):
        t = misdealt()
        t.do(KnockForCards(seat=P4))
        t.do(PickUp(seat=P3))
        t.do(Cut(seat=P4))

    def test_before_the_new_deal_of_a_voided_one_the_dealer_may_cut_again(self):
        t = table()
        t.do(Cut(seat=P4))
        t.dealt(SIX_EACH).do(Void())
        assert t.do(Cut(seat=P4)) == (CardsCut(seat=P4),)


@pytest.mark.rule("B17", "B-O6")
class TestWrongCut:
    """A player other than the dealer who cuts adds five points on a knock."""

    def test_the_player_who_cut_goes_up_five(self):
        t = penalising()
        t.do(Cut(seat=P3))
        (cut,) = t.upheld(P4, P3, rule="B17")
        assert isinstance(cut, CardsCut)

    @pytest.mark.rule("B-X13")
    @pytest.mark.parametrize(("knocks", "points"), [(True, 17), (False, 12)])
    def test_p3_cuts_and_pays_if_p4_knocks(self, knocks: bool, points: int):
        t = penalising()
        t.do(Cut(seat=P3))
        if knocks:
            t.knock(P4, P3)
        line = t.dealt(SIX_EACH).bid("pass pass pass pass").score()
        assert line.points == (12, 12, points, 12)

    def test_the_pack_may_still_be_cut_by_the_dealer(self):
        t = penalising()
        t.do(Cut(seat=P3))
        t.do(Cut(seat=P4))
        assert t.dealt(SIX_EACH).phase == "auction"

    def test_no_one_can_knock_for_a_cut_by_the_dealer(self):
        t = penalising()
        t.do(Cut(seat=P4))
        t.dismissed(P1, P4, reason="nothing")

    def test_a_third_person_who_cuts_before_the_new_deal_after_a_misdeal_pays_too(self):
        t = misdealt()
        t.do(KnockForCards(seat=P4))
        t.do(PickUp(seat=P3))
        t.do(Cut(seat=P2))
        t.upheld(P1, P2, "wrong_cut", rule="B17")


@pytest.mark.rule("B20")
class TestFormula:
    """The dealer knocks for cards and misdeal when all cards are dealt."""

    def test_the_dealer_says_it(self):
        t = table().dealt(SIX_EACH, ritual=False)
        assert t.legal(P4) == (KnockForCards(seat=P4),)
        assert t.do(KnockForCards(seat=P4)) == (KnockedForCards(seat=P4),)

    def test_no_one_else_can(self):
        t = table().dealt(SIX_EACH, ritual=False)
        t.refused(KnockForCards(seat=P1), rule="B20", kind=AgainstTheRules)

    def test_it_is_said_once(self):
        t = table().dealt(SIX_EACH, ritual=False)
        t.do(KnockForCards(seat=P4))
        t.refused(KnockForCards(seat=P4), rule="B20", kind=WrongPhase)

    def test_it_has_no_meaning_before_the_deal(self):
        table().refused(KnockForCards(seat=P4), rule="B20", kind=WrongPhase)


@pytest.mark.rule("B21")
class TestImmunity:
    """The formula saves the dealer from paying for a misdeal."""

    def test_no_one_can_knock_for_the_misdeal(self):
        t = misdealt()
        t.do(KnockForCards(seat=P4))
        for seat in (P1, P2, P3, P4):
            t.do(PickUp(seat=seat))
        for offence in ("misdeal", "early_pick_up", None):
            t.dismissed(P1, P4, offence, reason="nothing")

    @pytest.mark.rule("B-X11")
    def test_with_the_formula_said_the_dealer_stays_at_twelve_and_deals_again(self):
        t = misdealt(dealer=P1)
        t.do(KnockForCards(seat=P1))
        t.do(PickUp(seat=P3))
        line = t.dealt(SIX_EACH).bid("pass pass pass pass").score()
        assert (line.dealer, line.points) == (P1, (12, 12, 12, 12))


@pytest.mark.rule("B22", "B-O7")
class TestFormulaInTime:
    """The formula comes before the dealer's own cards are up."""

    def test_before_it_the_dealer_may_not_pick_up(self):
        t = table().dealt(SIX_EACH, ritual=False)
        t.refused(PickUp(seat=P4), rule="B22", kind=AgainstTheRules)

    def test_after_picking_up_it_is_too_late(self):
        t = penalising().dealt(SIX_EACH, ritual=False)
        t.do(PickUp(seat=P4))
        t.refused(KnockForCards(seat=P4), rule="B22", kind=AgainstTheRules)

    def test_after_another_has_picked_up_it_is_still_in_time(self):
        t = penalising().dealt(SIX_EACH, ritual=False)
        t.do(PickUp(seat=P1))
        t.do(KnockForCards(seat=P4))
        (picked_up,) = t.do(PickUp(seat=P4))
        assert picked_up == PickedUp(seat=P4, hand=picked_up.hand)
        t.dismissed(P2, P4, reason="nothing")

    def test_without_the_formula_dealer_and_all_after_are_early_and_each_may_be_knocked_for(self):
        t = penalising().dealt(SIX_EACH, ritual=False)
        for seat in (P4, P1, P2, P3):
            t.do(PickUp(seat=seat))
        for accused, by in ((P4, P1), (P1, P2), (P2, P3), (P3, P4)):
            dealt, picked_up = t.upheld(by, accused, "early_pick_up", rule="B24")
            assert isinstance(dealt, Dealt)
            assert isinstance(picked_up, PickedUp)
        assert t.penalties == (5, 5, 5, 5)


@pytest.mark.rule("B23", "B24")
class TestPickingUp:
    """A player who takes up cards before the formula adds five points on a knock."""

    def test_too_early_is_refused(self):
        t = table().dealt(SIX_EACH, ritual=False)
        assert t.legal(P2) == ()
        t.refused(PickUp(seat=P2), rule="B23", kind=AgainstTheRules)

    def test_after_the_formula_all_may_in_any_order(self):
        t = table().dealt(SIX_EACH, ritual=False)
        t.do(KnockForCards(seat=P4))
        for seat in (P3, P1, P4, P2):
            assert t.legal(seat) == (PickUp(seat=seat),)
            t.do(PickUp(seat=seat))
        assert t.phase == "auction"

    def test_an_early_player_goes_up_five(self):
        t = penalising().dealt(SIX_EACH, ritual=False)
        t.do(PickUp(seat=P2))
        t.upheld(P1, P2, "early_pick_up", rule="B24")
        t.do(KnockForCards(seat=P4))
        assert t.all_pick_up().phase == "auction"

    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_cards_are_picked_up_once(self, enforcement: str):
        t = table(enforcement=enforcement).dealt(SIX_EACH, ritual=False)
        t.do(KnockForCards(seat=P4))
        t.do(PickUp(seat=P2))
        t.refused(PickUp(seat=P2), rule="B23", kind=WrongPhase)

    def test_only_a_player_who_has_picked_up_sees_a_hand(self):
        t = table().dealt(SIX_EACH, ritual=False)
        t.do(KnockForCards(seat=P4))
        assert t.seen(P2).hand is None
        t.do(PickUp(seat=P2))
        assert sorted(t.seen(P2).hand or ()) == sorted(SIX_EACH[P2])
        assert t.seen(P3).hand is None


@pytest.mark.rule("B25", "B26")
class TestForgottenFormula:
    """The dealer who forgot the formula pays for a misdeal, and again for having picked up."""

    def test_the_dealer_pays_twice(self):
        t = misdealt()
        t.do(PickUp(seat=P4))
        t.do(PickUp(seat=P3))
        (dealt, picked_up) = t.upheld(P1, P4, "misdeal", rule="B25")
        assert isinstance(dealt, Dealt)
        assert isinstance(picked_up, PickedUp)
        t.upheld(P2, P4, "early_pick_up", rule="B26")
        assert t.penalties == (0, 0, 0, 10)

    @pytest.mark.rule("B-X11")
    def test_two_knocks_bring_the_dealer_from_twelve_to_twenty_two(self):
        t = misdealt(dealer=P1)
        t.do(PickUp(seat=P1))
        t.do(PickUp(seat=P3))
        t.upheld(P3, P1, rule="B25")
        t.upheld(P2, P1, rule="B26")
        assert t.dealer == P1
        line = t.dealt(SIX_EACH).bid("pass pass pass pass").score()
        assert (line.dealer, line.points) == (P1, (22, 12, 12, 12))

    def test_with_the_right_number_of_cards_only_the_early_pick_up_is_left(self):
        t = penalising().dealt(SIX_EACH, ritual=False)
        t.do(PickUp(seat=P4))
        t.dismissed(P1, P4, "misdeal", reason="nothing")
        t.upheld(P1, P4, rule="B24")

    def test_a_dealer_who_deals_again_without_having_said_it_pays_for_the_misdeal_alone(self):
        t = misdealt()
        t.do(PickUp(seat=P3))
        t.dismissed(P1, P4, "misdeal", reason="nothing")
        t.do(Deal(seat=P4, hands=SIX_EACH))
        t.upheld(P1, P4, "misdeal", rule="B25")
        t.dismissed(P1, P4, "early_pick_up", reason="nothing")
