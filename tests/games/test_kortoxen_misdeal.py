"""Rödskägg (Kortoxen): a wrong number of cards (B25-B27, B-O8, B-O33)."""

from typing import Any

import pytest

from referee.acts import Bid, Cut, Deal, KnockForCards, PickUp, Report
from referee.events import Reported
from referee.games._rodskagg.facts import MisdealFound
from referee.refusals import AgainstTheRules, OutOfTurn, WrongPhase
from referee.visibility import as_seen_by
from tests.games.rodskagg import SEVEN_FOR_P3, SIX_EACH, Table, fem, misdealt, penalising, table
from tests.support.match_driver import P1, P2, P3, P4


@pytest.mark.rule("B-O8")
class TestMisdealFoundByAnEarlyPlayer:
    """The formula is still in time while the dealer has not picked up."""

    def test_the_dealer_is_safe_and_the_early_player_pays(self):
        t = misdealt()
        events = t.do(PickUp(seat=P3))
        assert isinstance(events[-1], MisdealFound)
        t.do(KnockForCards(seat=P4))
        t.upheld(P1, P3, "early_pick_up", rule="B24")
        t.dismissed(P1, P4, reason="nothing")
        line = t.dealt(SIX_EACH).bid("pass pass pass pass").score()
        assert (line.dealer, line.points) == (P4, (12, 12, 17, 12))


@pytest.mark.rule("B27", "B-O33")
class TestMisdeal:
    """After a wrong number of cards the same dealer deals again, and no player has won by the deal."""

    @pytest.mark.parametrize("formula", [True, False])
    def test_the_same_dealer_deals_again_knocked_for_or_not(self, formula: bool):
        t = misdealt()
        if formula:
            t.do(KnockForCards(seat=P4))
        t.do(PickUp(seat=P3))
        assert Deal(seat=P4) in t.legal(P4)
        t.refused(Deal(seat=P1, hands=SIX_EACH), rule="B13", kind=OutOfTurn)
        t.do(Deal(seat=P4, hands=SIX_EACH))
        assert (t.dealer, t.seen().deal) == (P4, 1)

    def test_the_player_who_finds_it_informs_the_table(self):
        t = misdealt()
        t.do(KnockForCards(seat=P4))
        t.do(PickUp(seat=P1))
        assert t.do(PickUp(seat=P3))[1:] == (MisdealFound(seat=P3, rule="B27"),)

    def test_no_bid_is_taken(self):
        t = misdealt()
        t.do(KnockForCards(seat=P4))
        t.all_pick_up()
        t.refused(Bid(seat=P1, bid="1"), rule="B27", kind=WrongPhase)

    def test_nothing_can_be_dealt_again_before_it_is_found(self):
        t = misdealt()
        t.do(KnockForCards(seat=P4))
        t.do(PickUp(seat=P1))
        t.refused(Deal(seat=P4, hands=SIX_EACH), rule="B13", kind=WrongPhase)

    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    @pytest.mark.parametrize("fault", ["misdeal", "wrong_count"])
    def test_with_closed_hands_it_is_reported(self, enforcement: str, fault: Any):
        t = table(enforcement=enforcement).dealt("1 2 3 4 | 1 2", closed=True).bid("pass 2")
        events = t.do(Report(seat=P3, accused=P2, fault=fault))
        assert events == (Reported(seat=P3, accused=P2, fault=fault), MisdealFound(seat=P2, rule="B27"))
        t.refused(Bid(seat=P3, bid="3"), rule="B27", kind=WrongPhase)
        assert (t.turn, t.seen().deal) == (P4, 1)
        t.do(Deal(seat=P4, counts=(6, 6, 6, 6)))
        assert t.phase == "picking_up"

    def test_no_one_sees_it_before_the_cards_are_up(self):
        """A wrong number is hidden face down: only the player who takes up the cards can find it."""
        t = penalising()
        t.do(Deal(seat=P4, counts=(7, 6, 6, 6)))
        for viewer in (P1, P2, P4, "spectator"):
            assert t.seen(viewer).cards_left == (6, 6, 6, 6)
            told = as_seen_by(t.history[-1].event, viewer, False)
            assert (told.counts, told.each) == ((6, 6, 6, 6), 0)
            assert as_seen_by(t.history[-1].event, viewer, True).each == 6
        assert t.seen().cards_left == (7, 6, 6, 6)

    @pytest.mark.parametrize("hands", [SIX_EACH, SEVEN_FOR_P3])
    def test_if_the_hands_are_known_the_referee_finds_it(self, hands: tuple[tuple[str, ...], ...]):
        """A report accepted only after a misdeal would reveal the cards that lie face down."""
        t = penalising()
        t.do(Deal(seat=P4, hands=hands))
        t.refused(Report(seat=P1, accused=P3, fault="misdeal"), rule="B18", kind=AgainstTheRules)

    def test_during_the_play_too(self):
        t = table().dealt("1 2 3 4 | 1 2", closed=True).declares(P1, 2).tricks(2)
        t.refused(Report(seat=P3, accused=P2, fault="misdeal"), rule="B27", kind=AgainstTheRules)
        t.do(Report(seat=P2, accused=P2, fault="wrong_count"))
        assert t.dealt("1 2 3 4 | 1 2").phase == "auction"

    def test_reported_before_the_dealer_picks_up_the_formula_still_saves(self):
        t = penalising()
        t.do(Deal(seat=P4, counts=(6, 6, 6, 6)))
        t.do(PickUp(seat=P2))
        t.do(Report(seat=P2, accused=P2, fault="wrong_count"))
        t.do(KnockForCards(seat=P4))
        t.dismissed(P1, P4, reason="nothing")

    @pytest.mark.rule("B25")
    def test_reported_with_closed_hands_the_dealer_pays_for_a_forgotten_formula(self):
        t = penalising()
        t.do(Deal(seat=P4, counts=(6, 6, 6, 6)))
        for seat in (P4, P1, P2, P3):
            t.do(PickUp(seat=seat))
        t.do(Report(seat=P2, accused=P2, fault="misdeal"))
        events = t.upheld(P1, P4, "misdeal", rule="B25")
        assert isinstance(events[-1], MisdealFound)
        t.upheld(P1, P4, "early_pick_up", rule="B24")

    def test_a_misdeal_that_the_referee_can_count_cannot_be_reported(self):
        t = penalising().dealt(SIX_EACH)
        t.refused(Report(seat=P1, accused=P2, fault="misdeal"), rule="B18", kind=AgainstTheRules)

    def test_the_house_does_not_misdeal(self):
        t = penalising(dealing="house").dealt()
        t.refused(Report(seat=P1, accused=P2, fault="misdeal"), rule=None, kind=AgainstTheRules)

    def test_no_one_wins_by_it_although_a_penalty_brings_zero(self):
        t = misdealt(overshoot="negative", points=(12, 12, -5, 12))
        t.do(PickUp(seat=P3))
        t.upheld(P1, P3, rule="B24")
        t.do(KnockForCards(seat=P4))
        assert t.won is None
        line = t.dealt(SIX_EACH).bid("pass pass pass pass").score()
        assert line.points[P3] == 0
        assert t.won is not None


@pytest.mark.rule("B-O2", "B-O41")
class TestABreachBeforeAMisdeal:
    """The breach stays punishable in the deal that is dealt again."""

    def dealt_again(self, tricks: int, **match: Any) -> Table:
        """Return a table where P3 exposes a card after the first trick, and P2 finds a misdeal this many tricks
        later."""
        t = penalising(deal_ritual=False, **match).dealt("1 2 3 4 | 1 2", closed=True).declares(P1, 2).tricks(1)
        t.do(Report(seat=P1, accused=P3, fault="exposed_card"))
        t.tricks(tricks).do(Report(seat=P2, accused=P2, fault="wrong_count"))
        return t.dealt("1 2 3 4 | 1 2", closed=True)

    def test_until_the_score(self):
        t = self.dealt_again(2).declares(P1, 2).tricks(4).asks(P1).tricks(2)
        t.upheld(P1, P3, "exposed_card", rule="B11")
        assert t.score().penalties == (0, 0, 5, 0)

    def test_once_only(self):
        t = self.dealt_again(1)
        t.upheld(P1, P3, "exposed_card", rule="B11")
        t.dismissed(P2, P3, "exposed_card", reason="again")

    def test_with_a_window_until_the_first_trick_is_complete(self):
        t = self.dealt_again(0, knock_window="next_trick").declares(P1, 2)
        t.card()
        t.upheld(P1, P3, "exposed_card", rule="B11")

        t = self.dealt_again(0, knock_window="next_trick").declares(P1, 2).tricks(1)
        t.dismissed(P1, P3, "exposed_card", reason="late")

    def test_an_error_that_lapsed_before_the_new_deal_stays_lapsed(self):
        t = self.dealt_again(1, knock_window="next_trick")
        assert t.dismissed(P1, P3, "exposed_card", reason="late").within_deal
        assert t.declares(P1, 2).tricks(4).asks(P1).tricks(2).score().penalties == (0, 0, 0, 0)


@pytest.mark.rule("C61", "C-O38")
@pytest.mark.parametrize(("tricks", "late"), [(0, False), (1, True)])
def test_in_fem_opp_too(tricks: int, late: bool):
    t = fem(ritual=True, knock_window="next_trick")
    t.do(Cut(seat=P2))
    t.dealt("1 2 3 4 | 1 2", closed=True).bid("1 0 0 0").tricks(tricks)
    t.do(Report(seat=P2, accused=P2, fault="wrong_count"))
    t.dealt("1 2 3 4 | 1 2", closed=True)
    if late:
        t.dismissed(P1, P2, "wrong_cut", reason="late")
    else:
        t.upheld(P1, P2, "wrong_cut", rule="C10")
