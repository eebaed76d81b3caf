"""Rödskägg (CatsAtCards): Fem Opp, its table and its knocks (C57-C62)."""

import pytest

from referee.acts import Answer, Ask, Bid, Cut, Deal, Draw, Knock, KnockForCards, PickUp, Play, Report, Score, Void
from referee.events import CardPlayed, Dealt, DealVoided, KnockDismissed, KnockUpheld
from referee.games._rodskagg.facts import MisdealFound, PickedUp
from referee.offences import DISMISSED_MAX
from referee.refusals import AgainstTheRules, NotInPlay, WrongPhase
from referee.visibility import as_seen_by
from tests.games.rodskagg import MIXED, Table, cats, fem
from tests.support.match_driver import P1, P2, P3, P4


def upheld(match: Table, seat: int, accused: int, offence: str | None = None) -> KnockUpheld:
    match.do(Knock(seat=seat, accused=accused, offence=offence))
    ruling: KnockUpheld = match.happened(KnockUpheld)[-1]
    return ruling


def dismissed(match: Table, seat: int, accused: int, offence: str | None = None) -> str:
    many = len(match.happened(KnockDismissed))
    match.do(Knock(seat=seat, accused=accused, offence=offence))
    assert len(match.happened(KnockDismissed)) == many + 1
    reason: str = match.happened(KnockDismissed)[-1].reason
    return reason


def revoked(**match: object) -> Table:
    """Return a table where P2 has just revoked in trick one."""
    at = fem(**match).after(Deal(seat=P4, hands=MIXED)).bid("2 0 0 0")
    return at.after(Play(seat=P1, card="SA"), Play(seat=P2, card="H2"))


@pytest.mark.rule("C57", "C58", "C59", "C60")
class TestRevoke:
    def test_it_stands_until_someone_knocks(self):
        match = revoked()
        breach = match.happened(CardPlayed)[-1].breaches[0]
        assert (breach.offence, breach.rule, breach.points, breach.closes_after) == ("revoke", "C26", 5, 2)
        assert as_seen_by(match.happened(CardPlayed)[-1], P1, public=False).breaches == ()
        assert [open_["offence"] for open_ in match.seen("official").breaches] == ["revoke"]
        ruling = upheld(match, P3, P2)
        assert (ruling.rule, ruling.payer, ruling.penalty) == ("C26", P2, 5)
        assert match.seen(P1).penalties == (0, 5, 0, 0)
        assert match.seen("official").breaches == ()

    @pytest.mark.rule("C62")
    def test_the_penalty_is_in_the_line(self):
        hands = (
            ("SA", "SK", "SQ", "SJ", "ST", "S9"),
            ("S2", "H2", "H3", "H4", "H5", "HJ"),
            ("C2", "C3", "C4", "C5", "C6", "CJ"),
            ("D2", "D3", "D4", "D5", "D6", "DJ"),
        )
        match = (
            fem()
            .after(Deal(seat=P4, hands=hands))
            .bid("5 0 0 0")
            .after(Play(seat=P1, card="SA"), Play(seat=P2, card="H2"))
        )
        upheld(match, P4, P2)
        match.do(Play(seat=P3, card="C2"), Play(seat=P4, card="D2"))
        for number, mine in enumerate(("SK", "SQ", "SJ"), 3):
            two = "S2" if number == 3 else f"H{number}"
            match.do(Play(seat=P1, card=mine), Play(seat=P2, card=two))
            match.do(Play(seat=P3, card=f"C{number}"), Play(seat=P4, card=f"D{number}"))
        match.ask().do(Score(seat=P1))
        assert match.line.penalties == (0, 5, 0, 0)
        assert match.points == (12 + 5 - 6, 17, 12, 12)

    @pytest.mark.rule("C61", "C-O12")
    def test_it_can_be_knocked_for_until_the_next_trick_is_complete(self):
        match = revoked().after(Play(seat=P3, card="S3"), Play(seat=P4, card="SK"))
        match.do(Play(seat=P1, card="H5"), Play(seat=P2, card="H4"), Play(seat=P3, card="CJ"))
        match.do(Play(seat=P4, card="HA"))
        assert dismissed(match, P3, P2) == "late"
        again = revoked().after(Play(seat=P3, card="S3"), Play(seat=P4, card="SK"), Play(seat=P1, card="H5"))
        assert upheld(again, P3, P2).rests_on

    @pytest.mark.rule("C61", "C-O12")
    def test_with_a_window_to_the_end_it_can_be_knocked_for_until_the_scoring(self):
        match = revoked(knock_window="deal_end").after(Play(seat=P3, card="S3"), Play(seat=P4, card="SK"))
        match.do(Play(seat=P1, card="H5"), Play(seat=P2, card="H4"), Play(seat=P3, card="CJ"))
        match.do(Play(seat=P4, card="HA"))
        assert upheld(match, P3, P2).offence == "revoke"

    @pytest.mark.rule("C60")
    def test_the_table_is_data(self):
        assert upheld(revoked(fem_opp_penalties={"revoke": 3}), P1, P2).penalty == 3
        none = fem(fem_opp_penalties={"revoke": 0}).after(Deal(seat=P4, hands=MIXED)).bid("2 0 0 0")
        none.do(Play(seat=P1, card="SA"))
        none.refused(Play(seat=P2, card="H2"), rule="C26", code="must_follow_suit")

    def test_with_closed_hands_it_is_proved_when_the_suit_turns_up(self):
        match = fem().after(Deal(seat=P4, counts=(6, 6, 6, 6))).bid("2 0 0 0")
        for seat, card in ((P1, "SA"), (P2, "H2"), (P3, "S3"), (P4, "SK"), (P1, "S2"), (P2, "S9")):
            match.do(Play(seat=seat, card=card))
        assert len(upheld(match, P1, P2).rests_on) == 3

    def test_if_errors_are_refused_there_is_none(self):
        match = (
            fem(enforcement="refuse").after(Deal(seat=P4, hands=MIXED)).bid("2 0 0 0").after(Play(seat=P1, card="SA"))
        )
        match.refused(Play(seat=P2, card="H2"), rule="C26", code="must_follow_suit")
        assert dismissed(match, P1, P2) == "enforced"


@pytest.mark.rule("C59", "C-O23")
class TestKnocks:
    def test_not_for_oneself_nor_for_a_stranger(self):
        match = revoked()
        match.refused(Knock(seat=P2, accused=P2), rule="C59", code="knocks_on_oneself", kind=AgainstTheRules)
        match.refused(Knock(seat=P2, accused=7), rule=None, code="no_such_seat", kind=NotInPlay)

    def test_a_second_knock_and_one_for_nothing(self):
        match = revoked(false_knock_penalty=5)
        upheld(match, P1, P2)
        assert dismissed(match, P3, P2, "revoke") == "again"
        assert match.seen(P1).penalties == (0, 5, 0, 0)
        assert dismissed(match, P3, P1) == "nothing"
        assert match.seen(P1).penalties == (0, 5, 5, 0)

    @pytest.mark.rule("C-O26")
    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_without_fem_opp_there_is_no_knocking(self, enforcement: str):
        match = cats(enforcement=enforcement, false_knock_penalty=5).dealt()
        for knock in (Knock(seat=P1, accused=P2), Knock(seat=P1, accused=P2, offence="fold_question")):
            match.refused(knock, rule="C-O26", code="no_knocking", kind=WrongPhase)

    def test_after_the_scoring_it_is_too_late(self):
        match = fem(enforcement="penalise").play_deal("3 0 0 0", "1 1 2 3 | 1 1", ask=False)
        assert dismissed(match, P2, P1) == "late"

    def test_a_knock_finds_an_error_of_the_deal_before_only_by_name(self):
        match = fem(false_knock_penalty=5).dealt("1 1 2 3 | 1 1").bid("3 0 0 0").tricks(4)
        match.do(Play(seat=P3, card=match.plan.cards[4][P3]))
        upheld(match, P2, P1)
        for seat in (P4, P1, P2):
            match.do(Play(seat=seat, card=match.plan.cards[4][seat]))
        match.trick().do(Score(seat=P1))
        assert dismissed(match, P2, P1, "fold_question") == "again"
        assert dismissed(match, P2, P1) == "nothing"
        assert match.seen(P1).penalties == (0, 5, 0, 0)

    @pytest.mark.rule("C-O23")
    def test_an_error_of_an_earlier_deal_cannot_be_knocked_for_after_the_next_dealing(self):
        """Otherwise a player could be accused again in every deal of an error that they paid for once."""
        match = fem(false_knock_penalty=5).dealt("1 1 2 3 | 1 1").bid("3 0 0 0").tricks(4)
        match.do(Play(seat=P3, card=match.plan.cards[4][P3]))
        upheld(match, P2, P1)
        for seat in (P4, P1, P2):
            match.do(Play(seat=seat, card=match.plan.cards[4][seat]))
        match.trick().do(Score(seat=P1))
        match.dealt("1 1 2 3 | 1 1")
        assert dismissed(match, P2, P1, "fold_question") == "nothing"
        assert match.seen(P1).penalties == (0, 5, 0, 0)

    @pytest.mark.rule("C61", "C-O12", "C-O33")
    @pytest.mark.parametrize("uncontested", ["to_declarer", "void"])
    def test_tricks_that_are_only_credited_close_no_window(self, uncontested: str):
        match = fem((12, 12, 12), dealer=P3, uncontested_tricks=uncontested)
        hands = (
            ("SA", "SK", "SQ", "HA", "DA", "CA"),
            ("S2", "S3", "S4", "S5", "H2", "D2"),
            ("S6", "S7", "S8", "H3", "H4", "D3"),
        )
        match.after(Deal(seat=P3, hands=hands)).bid("4 0 0")
        for cards in ("SA S2 S6", "SK S3 S7", "SQ S4 S8", "HA D2 H3"):
            for seat, card in enumerate(cards.split()):
                match.do(Play(seat=seat, card=card))
        match.do(Ask(seat=P1), Answer(seat=P2, answer="fold"), Answer(seat=P3, answer="fold"))
        assert match.phase == "played"
        assert [open_["offence"] for open_ in match.seen("official").breaches] == ["revoke"]
        assert upheld(match, P1, P2).offence == "revoke"


@pytest.mark.rule("C-X15", "C30", "C37", "C-O15")
class TestForgottenQuestion:
    def test_the_declarer_pays_and_nothing_else_changes(self):
        match = fem().dealt("1 1 2 3 | 1 4").bid("3 0 0 0").tricks(4)
        match.do(Play(seat=P3, card=match.plan.cards[4][P3]))
        ruling = upheld(match, P3, P1)
        assert (ruling.offence, ruling.rule, ruling.penalty) == ("fold_question", "C30", 5)
        for seat in (P4, P1, P2):
            match.do(Play(seat=seat, card=match.plan.cards[4][seat]))
        match.trick().do(Score(seat=P1))
        assert match.points == (14, 11, 11, 11)
        assert [entry.rule for entry in match.line.entries if entry.seat == P1] == ["C30", "C38"]

    @pytest.mark.rule("C61", "C-O24")
    def test_its_window_is_the_trick_that_was_led(self):
        match = fem().dealt("1 1 2 3 | 1 4").bid("3 0 0 0").tricks(5)
        assert dismissed(match, P3, P1) == "late"


@pytest.mark.rule("C49", "C-O10", "C-O24")
class TestNearZero:
    def test_one_passed_over_is_one_offence(self):
        match = fem((2, 12, 12, 12)).dealt("1 2 3 4 | 1 1").bid("2 0 0 0").trick()
        match.do(Play(seat=P1, card=match.plan.cards[1][P1]))
        ruling = upheld(match, P2, P1)
        assert (ruling.offence, ruling.rule) == ("near_zero", "C49")
        for seat in (P2, P3, P4):
            match.do(Play(seat=seat, card=match.plan.cards[1][seat]))
        match.do(Play(seat=P2, card=match.plan.cards[2][P2]))
        assert dismissed(match, P2, P1) == "again"

    def test_several_owe_it_at_once(self):
        match = fem((2, 1, 1, 12)).dealt("1 2 3 4 | 1 1").bid("2 0 0 0")
        match.do(Play(seat=P1, card=match.plan.cards[0][P1]))
        assert {breach.seat for breach in match.happened(CardPlayed)[0].breaches} == {P2, P3}
        assert upheld(match, P1, P3).payer == P3
        assert upheld(match, P1, P2).payer == P2

    def test_a_penalty_may_end_the_duty_or_bring_it(self):
        match = fem((12, -4, 12, 12)).after(Deal(seat=P4, hands=MIXED)).bid("2 0 0 0")
        match.do(Play(seat=P1, card="SA"), Play(seat=P2, card="H2"))
        upheld(match, P1, P2)
        assert match.seen(P1).more["near_zero"] == [P2], "-4 + 5"
        ends = fem((12, 1, 12, 12)).after(Deal(seat=P4, hands=MIXED)).bid("2 0 0 0")
        ends.announce().do(Play(seat=P1, card="SA"), Play(seat=P2, card="H2"))
        upheld(ends, P1, P2)
        assert ends.seen(P1).more["near_zero"] == []


@pytest.mark.rule("C10", "C60")
class TestCut:
    def test_anyone_but_the_dealer_can_be_knocked_for_it(self):
        match = fem(ritual=True)
        assert match.legal(P4) == (Cut(seat=P4), Deal(seat=P4))
        match.do(Cut(seat=P4))
        match.refused(Cut(seat=P4), rule="C10", code="already_cut", kind=WrongPhase)
        match.do(Cut(seat=P3))
        ruling = upheld(match, P1, P3)
        assert (ruling.offence, ruling.rule, ruling.payer) == ("wrong_cut", "C10", P3)

    def test_an_option_makes_the_dealer_pay_for_a_wrong_cut(self):
        match = fem(ritual=True, wrong_cut_penalty_to="dealer").after(Cut(seat=P3))
        assert dismissed(match, P1, P3) == "nothing"
        assert upheld(match, P1, P4).payer == P4

    def test_if_it_is_not_punished_it_is_refused(self):
        fem(ritual=True, enforcement="refuse").refused(Cut(seat=P3), rule="C10", code="only_dealer_cuts")
        fem(ritual=True, fem_opp_penalties={"wrong_cut": 0}).refused(
            Cut(seat=P3), rule="C10", code="only_dealer_cuts"
        )

    def test_after_the_deal_it_has_no_place(self):
        match = fem(ritual=True).dealt(ritual=False)
        match.refused(Deal(seat=P4, counts=(6, 6, 6, 6)), rule="C9", code="already_dealt")
        match.refused(Cut(seat=P4), rule="C10", code="already_dealt")


@pytest.mark.rule("C60", "C-O23")
class TestRitual:
    def dealt(self, **match: object) -> Table:
        return fem(ritual=True, **match).dealt(ritual=False)

    def test_formula_then_picking_up_then_the_bidding(self):
        match = self.dealt(enforcement="refuse")
        assert match.seen(P1).hand is None
        assert match.legal(P4) == (KnockForCards(seat=P4),)
        match.refused(PickUp(seat=P1), rule="C60", code="before_the_formula")
        match.refused(KnockForCards(seat=P1), rule="C60", code="only_dealer_says_it")
        match.refused(Bid(seat=P1, bid="1"), rule="C16", code="cards_down")
        match.do(KnockForCards(seat=P4))
        match.refused(KnockForCards(seat=P4), rule="C60", code="already_said", kind=WrongPhase)
        match.do(PickUp(seat=P1))
        assert match.seen(P1).hand is not None
        match.refused(PickUp(seat=P1), rule="C60", code="already_picked_up")
        match.do(PickUp(seat=P2), PickUp(seat=P3), PickUp(seat=P4))
        assert match.phase == "auction"

    def test_picking_up_early(self):
        match = self.dealt().after(PickUp(seat=P2))
        assert as_seen_by(match.happened(PickedUp)[0], P1, public=False).hand is None
        assert upheld(match, P1, P2).offence == "early_pick_up"
        match.do(PickUp(seat=P4))
        match.refused(KnockForCards(seat=P4), rule="C60", code="formula_too_late")
        assert upheld(match, P1, P4).payer == P4
        assert PickUp(seat=P1) in match.legal(P1), "the formula can no longer be said"

    def test_without_the_ritual_there_is_nothing_to_say(self):
        match = fem().after(Deal(seat=P4, counts=(6, 6, 6, 5)))
        match.refused(KnockForCards(seat=P4), rule="C60", code="no_ritual")
        match.refused(PickUp(seat=P4), rule="C60", code="no_ritual")

    def test_a_player_who_picks_up_finds_the_misdeal(self):
        match = fem(ritual=True).after(Deal(seat=P4, counts=(6, 7, 6, 6)), PickUp(seat=P4), PickUp(seat=P2))
        assert match.happened(MisdealFound)[0].seat == P2
        match.refused(Bid(seat=P1, bid="1"), rule="C16", code="misdealt")
        assert [upheld(match, P1, P4).offence for _ in range(2)] == ["misdeal", "early_pick_up"]
        assert match.legal(P4) == (Cut(seat=P4), Deal(seat=P4))
        match.do(Deal(seat=P4, counts=(6, 6, 6, 6)))
        assert match.seen(P1).penalties == (0, 0, 0, 10)

    def test_a_wrong_number_lies_face_down_until_it_is_picked_up(self):
        match = fem(ritual=True).after(Deal(seat=P4, counts=(6, 7, 6, 6)))
        (dealt,) = match.happened(Dealt)
        for viewer in (P1, P2, P4, "spectator"):
            assert match.seen(viewer).cards_left == (6, 6, 6, 6)
            assert as_seen_by(dealt, viewer, False).counts == (6, 6, 6, 6)
        assert match.seen("official").cards_left == (6, 7, 6, 6)

    def test_with_the_formula_said_a_misdeal_is_free(self):
        match = fem(ritual=True).after(Deal(seat=P4, counts=(6, 7, 6, 6)), KnockForCards(seat=P4), PickUp(seat=P2))
        assert match.happened(MisdealFound)
        assert dismissed(match, P1, P4) == "nothing"

    def test_the_dealer_who_says_nothing_and_deals_again(self):
        match = fem(ritual=True).after(
            Deal(seat=P4, counts=(6, 7, 6, 6)), PickUp(seat=P2), Deal(seat=P4, counts=(6,) * 4)
        )
        assert [breach.offence for breach in match.happened(Dealt)[1].breaches] == ["misdeal"]

    def test_without_the_ritual_a_misdeal_is_dealt_again_for_nothing(self):
        match = fem().after(Deal(seat=P4, counts=(6, 7, 6, 6)))
        assert match.happened(MisdealFound)[0].rule == "C12"
        assert match.seen(P1).to_act == (P4,)
        assert dismissed(match, P1, P4) == "nothing"
        match.do(Deal(seat=P4, counts=(6, 6, 6, 6)))


@pytest.mark.rule("C59", "C60", "C-O23")
class TestReports:
    def closed(self, **match: object) -> Table:
        return fem(ritual=True, **match).after(Deal(seat=P4, counts=(6, 6, 6, 6)))

    def test_a_misdeal_that_the_table_has_found(self):
        match = self.closed().after(PickUp(seat=P4), Report(seat=P1, accused=P2, fault="misdeal"))
        assert match.happened(MisdealFound)[0].breaches[0].payer == P4
        match.refused(Report(seat=P1, accused=P2, fault="misdeal"), rule="C12", code="nothing_dealt")

    def test_two_who_cut_are_two_offences_of_the_dealer(self):
        match = fem(ritual=True, wrong_cut_penalty_to="dealer")
        match.do(*(Report(seat=P1, accused=cutter, fault="wrong_cut") for cutter in (P2, P3)))
        match.refused(Report(seat=P1, accused=P3, fault="wrong_cut"), rule="C-O23", code="already_reported")
        assert [breach["seat"] for breach in match.seen().breaches or ()] == [P4, P4]

    def test_errors_that_the_referee_cannot_see_are_punished_after_a_report(self):
        match = fem(ritual=True).after(Report(seat=P1, accused=P3, fault="wrong_cut"))
        assert upheld(match, P1, P3).offence == "wrong_cut"
        match.do(Deal(seat=P4, counts=(6, 6, 6, 6)), Report(seat=P1, accused=P2, fault="early_pick_up"))
        assert upheld(match, P1, P2).offence == "early_pick_up"

    @pytest.mark.rule("C61")
    def test_only_while_it_can_be_so_and_once(self):
        """A report opens no window that has closed, and does not repeat an error on record."""
        match = self.closed()
        match.refused(Report(seat=P1, accused=P2, fault="wrong_cut"), rule="C60", code="acts_tell")
        match.do(Report(seat=P1, accused=P2, fault="early_pick_up"))
        match.refused(Report(seat=P3, accused=P2, fault="early_pick_up"), rule="C-O23", code="already_reported")
        match.do(PickUp(seat=P2))
        match.refused(Report(seat=P1, accused=P2, fault="early_pick_up"), rule="C60", code="acts_tell")
        assert upheld(match, P1, P2).penalty == 5
        assert dismissed(match, P1, P2) == "again"
        match.do(KnockForCards(seat=P4))
        match.refused(Report(seat=P1, accused=P3, fault="early_pick_up"), rule="C60", code="acts_tell")

    def test_a_misdeal_may_be_found_late(self):
        match = fem().after(Deal(seat=P4, counts=(6, 6, 6, 6))).bid("2 0 0 0").after(Play(seat=P1, card="SA"))
        match.refused(Report(seat=P1, accused=P2, fault="wrong_count"), rule="C12", code="only_who_holds_it")
        match.do(Report(seat=P2, accused=P2, fault="wrong_count"))
        assert match.seen(P1).to_act == (P4,)
        match.do(Deal(seat=P4, counts=(6, 6, 6, 6)))
        assert match.phase == "auction"

    def test_a_voided_deal_does_not_wipe_out_who_knocked_in_vain(self):
        match = fem().after(Deal(seat=P4, counts=(6, 6, 6, 6)))
        assert {dismissed(match, P1, P2) for _ in range(DISMISSED_MAX)} == {"nothing"}
        match.do(Void())
        match.refused(Knock(seat=P1, accused=P2), rule=None, code="too_many_knocks")
        assert dismissed(match, P2, P1) == "nothing"

    def test_an_impossible_report_is_refused(self):
        match = self.closed()
        match.refused(Report(seat=P1, accused=7, fault="misdeal"), rule="C42", code="not_in_match")
        match.refused(Report(seat=P1, accused=P2, fault="exposed_card"), rule="C60", code="nothing_to_punish")
        match.refused(Report(seat=P1, accused=P4, fault="wrong_cut"), rule="C10", code="dealer_may_cut")
        fem(ritual=True).refused(Report(seat=P1, accused=P2, fault="early_pick_up"), rule="C60", code="acts_tell")
        fem().dealt().refused(Report(seat=P1, accused=P2, fault="wrong_count"), rule="C12", code="hands_known")
        house = fem(dealing="house").after(Deal(seat=P4))
        house.refused(Report(seat=P1, accused=P2, fault="misdeal"), rule=None, code="house_sees")


class TestVoid:
    @pytest.mark.rule("C-O23")
    def test_penalties_knocked_for_enter_the_score_sheet_at_once(self):
        match = revoked()
        upheld(match, P1, P2)
        match.do(Void())
        voided = match.happened(DealVoided)[0]
        assert (voided.before, voided.points) == ((12, 12, 12, 12), (12, 17, 12, 12))
        assert [(entry.seat, entry.points, entry.rule) for entry in voided.entries] == [(P2, 5, "C26")]
        assert match.points == (12, 17, 12, 12)
        assert dismissed(match, P1, P2, "revoke") == "again"


class TestAfterTheLastTrick:
    """P2 revokes in trick five, to P1's ace of spades, and knocks follow trick six."""

    HANDS = (
        ("HA", "HK", "DA", "CA", "SA", "DK"),
        ("H2", "H3", "D2", "C2", "S2", "HJ"),
        ("H4", "H5", "D3", "C3", "C4", "SJ"),
        ("H6", "H7", "D4", "C5", "C6", "SQ"),
    )

    def revoked(self, bids: str, window: str = "deal_end") -> Table:
        match = fem((12, -4, 12, 12), knock_window=window).after(Deal(seat=P4, hands=self.HANDS)).bid(bids)
        for number in range(4):
            match.do(*(Play(seat=seat, card=hand[number]) for seat, hand in enumerate(self.HANDS)))
        match.ask("P2")
        for one, two in (("SA", "HJ"), ("DK", "S2")):
            match.do(Play(seat=P1, card=one), Play(seat=P2, card=two))
        assert match.phase == "played"
        return match

    @pytest.mark.rule("C61", "C-O12", "C-O24")
    def test_knocks_are_heard_until_the_scoring_and_may_bring_the_duty(self):
        match = self.revoked("5 0 0 0")
        assert upheld(match, P3, P2).offence == "revoke"
        assert match.seen(P1).more["near_zero"] == [P2], "-4 + 5"
        match.announce().do(Score(seat=P1))
        assert match.points == (12 + 5 - 6, -4 + 5 + 6, 12, 12)

    def test_as_a_rule_it_is_too_late(self):
        assert dismissed(self.revoked("5 0 0 0", "next_trick"), P3, P2) == "late"

    @pytest.mark.rule("C-O24")
    def test_not_after_a_redbeard_made(self):
        match = self.revoked("rodskagg 0 0 0")
        upheld(match, P3, P2)
        assert match.seen(P1).more["near_zero"] == []
        assert match.after(Score(seat=P1)).won_by == (P1, "redbeard")
        assert match.points == (12, 1, 12, 12)


class TestInADuel:
    @pytest.mark.rule("C-O31")
    def test_a_penalty_counts_and_changes_no_winner(self):
        match = fem((12, 2, 12, 1), fem_opp_penalties={"revoke": 3})
        match.play_deal("3 0 0 0", "2 2 4 1 | 1 3", join="P3")
        match.do(Draw(seat=P2, card="SK"), Draw(seat=P4, card="SA"))
        mixed = ((), ("S2", "SA", "H5", "H6", "D7", "D8"), (), ("S9", "H2", "H3", "H4", "D2", "D3"))
        match.do(Deal(seat=P1, hands=mixed))
        match.do(Play(seat=P4, card="S9"), Play(seat=P2, card="H6"))
        assert upheld(match, P4, P2).penalty == 3
        match.do(Play(seat=P4, card="H4"), Play(seat=P2, card="H5"))
        for two, four in (("SA", "D3"), ("S2", "D2"), ("D8", "H3"), ("D7", "H2")):
            match.do(Play(seat=P2, card=two), Play(seat=P4, card=four))
        match.do(Score(seat=P2))
        assert match.won_by == (P2, "duel")
        assert match.points[P2] == 3


@pytest.mark.rule("C1", "C58", "C62")
def test_apart_from_the_penalties_it_is_the_same_game():
    plain = cats().play_deal("2 0 2 1", "3 1 2 3 | 1 3")
    assert fem(enforcement="refuse").play_deal("2 0 2 1", "3 1 2 3 | 1 3").points == plain.points
