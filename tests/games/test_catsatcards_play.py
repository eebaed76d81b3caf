"""Rödskägg (CatsAtCards): the play, the question, and the announcement near zero (C23-C37, C49)."""

import pytest

from referee.acts import Announce, Answer, Ask, Deal, Play, Remind, Score
from referee.events import CardPlayed, TrickTaken
from referee.games._rodskagg.facts import Announced, QuestionAsked, Reminded
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from tests.games.rodskagg import MIXED, Table, cats, near
from tests.support.match_driver import P1, P2, P3, P4

BOTH = pytest.mark.parametrize("enforcement", ["refuse", "penalise"])


def playing(tricks: str, bids: str = "2 0 0 0", points: tuple[int, ...] = (12, 12, 12, 12), **match: object) -> Table:
    return cats(points, **match).dealt(tricks).bid(bids)


@pytest.mark.rule("C23", "C24", "C25", "C29")
class TestLead:
    @BOTH
    def test_the_declarer_leads_first_then_who_won(self, enforcement: str):
        match = playing("3 1 2 3", "2 0 3 1", enforcement=enforcement)
        match.refused(Play(seat=P1, card=match.plan.cards[0][P1]), rule="C23", code="not_on_lead", kind=OutOfTurn)
        assert len(match.legal(P3)) == 6
        match.trick()
        assert match.seen(P1).to_act == (P3,)
        match.trick()
        assert match.seen(P1).to_act == (P1,)
        match.refused(Play(seat=P3, card=match.plan.cards[2][P3]), rule="C29", code="not_on_lead")

    def test_the_others_follow_clockwise(self):
        match = playing("1 1 1 1").after(Play(seat=P1, card="SA"))
        match.refused(Play(seat=P3, card="SQ"), rule="C24", code="out_of_turn")
        match.do(Play(seat=P2, card="SK"))


@pytest.mark.rule("C26", "C27", "C28")
class TestFollowingSuit:
    def mixed(self, **match: object) -> Table:
        return cats(**match).after(Deal(seat=P4, hands=MIXED)).bid("2 0 0 0")

    @BOTH
    @pytest.mark.rule("C-O26")
    def test_a_player_who_can_follow_suit_must_if_revokes_cost_nothing(self, enforcement: str):
        match = self.mixed(enforcement=enforcement).after(Play(seat=P1, card="SA"))
        assert match.legal(P2) == (Play(seat=P2, card="S9"),)
        match.refused(Play(seat=P2, card="H2"), rule="C26", code="must_follow_suit", kind=AgainstTheRules)

    def test_the_highest_card_of_the_suit_led_wins_the_trick(self):
        match = self.mixed()
        for seat, card in ((P1, "H5"), (P2, "H4"), (P3, "CJ"), (P4, "HA")):
            match.do(Play(seat=seat, card=card))
        assert match.happened(TrickTaken)[0].seat == P4
        assert match.seen(P1).trick == [], "finished tricks are out of play"
        match.refused(Play(seat=P4, card="S2"), rule=None, code="not_held", kind=NoSuchCard)

    def test_with_closed_hands_a_revoke_is_only_noted(self):
        match = cats().after(Deal(seat=P4, counts=(6, 6, 6, 6))).bid("2 0 0 0")
        for seat, card in ((P1, "SA"), (P2, "H2"), (P3, "S3"), (P4, "SK"), (P1, "S2"), (P2, "S9")):
            match.do(Play(seat=seat, card=card))
        assert [breach.points for breach in match.happened(CardPlayed)[-1].breaches] == [0]


class TestQuestion:
    @pytest.mark.rule("C30", "C31", "C36")
    def test_the_declarer_asks_those_without_a_trick(self):
        match = playing("3 1 2 3", "2 0 2 1").tricks(3)
        match.refused(Ask(seat=P1), rule="C30", code="question_too_early", kind=WrongPhase)
        match.trick()
        assert match.due("ask")
        assert match.legal(P1) == (Ask(seat=P1),)
        match.refused(Ask(seat=P2), rule="C30", code="not_the_asker")
        match.refused(Play(seat=P3, card=match.plan.cards[4][P3]), rule="C30", code="question_owed")
        match.do(Ask(seat=P1))
        assert match.happened(QuestionAsked)[0].of == (P4,)
        match.refused(Ask(seat=P1), rule="C30", code="already_asked")
        match.refused(Answer(seat=P1, answer="fold"), rule="C36", code="declarer_not_asked")
        match.refused(Answer(seat=P3, answer="fold"), rule="C31", code="in_already")
        match.refused(Play(seat=P3, card=match.plan.cards[4][P3]), rule="C30", code="answers_pending")
        assert match.legal(P4) == (Answer(seat=P4, answer="play"), Answer(seat=P4, answer="fold"))

    @pytest.mark.rule("C32", "C33", "C-O20", "C-O23")
    def test_a_player_who_folds_is_out_of_the_hand_and_pays_nothing(self):
        match = playing("1 1 1 1 | 1 2").tricks(4).after(Ask(seat=P1))
        match.refused(Answer(seat=P3, answer="fold"), rule="C-O23", code="out_of_turn")
        match.do(Answer(seat=P2, answer="play"), Answer(seat=P3, answer="fold"), Answer(seat=P4, answer="fold"))
        match.refused(Answer(seat=P3, answer="play"), rule="C30", code="not_asked")
        match.do(Play(seat=P1, card=match.plan.cards[4][P1]))
        match.refused(Play(seat=P3, card=match.plan.cards[4][P3]), rule="C32", code="has_folded", kind=NotInPlay)
        match.after(Play(seat=P2, card=match.plan.cards[4][P2])).trick()
        assert match.points[P3] == match.points[P4] == 12

    @pytest.mark.rule("C-O6")
    @pytest.mark.parametrize("asked", [True, False])
    def test_in_a_redbeard_hand_it_is_put_unless_chosen_otherwise(self, asked: bool):
        match = playing("1 1 1 1 | 1 1", "rodskagg 0 0 0", ask_fold_in_redbeard=asked).tricks(4)
        assert match.due("ask") is asked
        if not asked:
            match.refused(Ask(seat=P1), rule="C-O6", code="no_question_in_redbeard")

    @pytest.mark.rule("C37", "C-O13", "C-O30")
    def test_another_player_may_remind(self):
        match = playing("3 1 2 3", "2 0 2 1", enforcement="penalise").tricks(3)
        match.refused(Remind(seat=P2), rule="C37", code="question_too_early")
        match.trick()
        assert match.legal(P2) == (Remind(seat=P2),)
        match.refused(Remind(seat=P1), rule="C37", code="reminds_himself")
        match.do(Remind(seat=P2))
        assert match.happened(Reminded)[0].seat == P2
        assert match.happened(QuestionAsked)[0].seat == P1
        match.refused(Ask(seat=P1), rule="C30", code="already_asked")

    @pytest.mark.rule("C-O23", "C-O30")
    def test_no_one_need_answer_when_all_have_a_trick(self):
        match = playing("1 2 3 4 | 1 1").tricks(4)
        assert not match.due("ask")
        match.refused(Remind(seat=P2), rule="C37", code="question_not_due")
        assert Ask(seat=P1) in match.legal(P1)
        match.after(Ask(seat=P1)).tricks(2)

    @pytest.mark.rule("C37", "C-O14", "C-O26")
    def test_under_penalise_it_may_be_forgotten(self):
        match = playing("3 1 2 3", "2 0 2 1", enforcement="penalise").tricks(4)
        match.do(Play(seat=P3, card=match.plan.cards[4][P3]))
        assert match.seen(P1).more["forgotten"] is True
        match.refused(Ask(seat=P1), rule="C37", code="question_too_late")
        match.refused(Remind(seat=P2), rule="C37", code="question_too_late")

    @pytest.mark.rule("C-O23")
    def test_the_grace_keeps_others_from_leading(self):
        match = playing("3 1 2 3", "2 0 2 1", enforcement="penalise", question_grace_seconds=30).tricks(4)
        lead = Play(seat=P3, card=match.plan.cards[4][P3])
        match.refused(lead, rule="C-O23", code="question_grace")
        match.wait(30).do(lead)

    @pytest.mark.rule("C-O33")
    def test_when_all_fold_the_rest_is_the_declarers(self):
        match = playing("1 1 1 1", "4 0 0 0").tricks(4).ask()
        assert [taken.uncontested for taken in match.happened(TrickTaken)] == [False] * 4 + [True] * 2
        assert match.points[P1] == 12 + 5 - 6, "six are not four"

    @pytest.mark.rule("C-O33", "C-O34")
    def test_when_all_fold_void_tricks_belong_to_no_one(self):
        match = playing("1 1 1 1", "4 0 0 0", uncontested_tricks="void").tricks(4).ask()
        assert match.points[P1] == 8
        failed = playing("1 1 1 1", "rodskagg 0 0 0", uncontested_tricks="void").tricks(4).ask()
        assert (failed.line.kind, failed.line.eliminated) == ("redbeard_failed", (P1,))


@pytest.mark.rule("C49", "C-O10", "C-O11", "C-O24")
class TestNearZero:
    def test_it_is_due_before_the_next_lead_of_any_seat(self):
        match = playing("2 1 2 3 | 1 1", "2 0 0 0", (12, 3, 12, 12))
        match.trick()
        match.refused(near(P2), rule="C49", code="nothing_to_announce")
        match.trick().trick()
        assert match.due("announce")
        assert match.seen(P1).to_act == (P2,)
        assert match.legal(P2) == (near(P2),)
        refusal = match.refused(Play(seat=P2, card=match.plan.cards[3][P2]), rule="C49", code="announcement_owed")
        assert refusal.facts["pending"] == (P2,)
        match.do(near(P2))
        assert match.happened(Announced)[0].total == 1
        match.refused(near(P2), rule="C49", code="nothing_to_announce")
        match.trick()

    def test_another_ones_lead_waits_for_it_too(self):
        match = playing("1 2 2 2 | 1 1", "2 0 0 0", (2, 12, 12, 12)).trick()
        assert match.seen(P1).to_act == (P1,)
        match.after(near(P1)).trick()
        assert not match.due("announce")

    def test_once_for_each_value(self):
        match = playing("1 1 2 3", "2 0 0 0", (2, 12, 12, 12)).trick().after(near(P1))
        match.do(*(Play(seat=seat, card=match.plan.cards[1][seat]) for seat in range(4)))
        assert match.due("announce")
        match.do(near(P1))
        assert [said.total for said in match.happened(Announced)] == [1, 0]

    def test_a_player_who_starts_at_one_announces_it_before_the_first_lead(self):
        match = playing("1 1 2 3", "2 0 0 0", (12, 1, 12, 12))
        match.refused(Play(seat=P1, card="SA"), rule="C49", code="announcement_owed")
        match.do(near(P2), Play(seat=P1, card="SA"))

    def test_an_announcement_is_not_repeated_in_the_next_deal(self):
        match = cats((12, 2, 12, 12)).play_deal("2 0 0 0", "1 2 1 3 | 3 1")
        assert match.points[P2] == 1
        assert [said.seat for said in match.happened(Announced)] == [P2]
        match.dealt("1 1 2 3").bid("2 0 0 0")
        assert not match.due("announce")

    def test_coming_back_to_a_value_is_new(self):
        match = cats((7, 2, 12, 12)).play_deal("2 0 0 0", "1 2 1 3 | 3 3")
        assert match.points[P2] == 1
        match.dealt("3 3 2 3 | 4 4").bid("2 0 1 0").tricks(3)
        assert match.happened(Announced)[-1].total == 1
        match.trick()
        assert match.happened(Announced)[-1].total == 0, "the other value"

    def test_minus_one_only_by_option(self):
        assert not playing("1 1 2 3", "2 0 0 0", (12, -1, 12, 12)).due("announce")
        assert playing("1 1 2 3", "2 0 0 0", (12, -1, 12, 12), near_zero_includes_minus_one=True).due("announce")

    @pytest.mark.rule("C-O26")
    def test_under_penalise_it_may_be_passed_over(self):
        match = playing("1 2 2 2 | 1 1", "2 0 0 0", (2, 12, 12, 12), enforcement="penalise").trick()
        match.do(Play(seat=P1, card=match.plan.cards[1][P1]))
        match.refused(near(P1), rule="C49", code="nothing_to_announce")
        assert match.happened(CardPlayed)[-1].breaches == (), "without Fem Opp it costs nothing"

    @BOTH
    def test_after_the_last_trick_it_is_due_until_the_scoring(self, enforcement: str):
        match = playing("1 2 3 4 | 1 1", "2 0 0 0", (4, 12, 12, 12), enforcement=enforcement)
        match.tricks(6)
        assert match.phase == "played"
        assert match.legal(P1)[0] == near(P1)
        if enforcement == "refuse":
            assert match.seen(P2).to_act == (P1,)
            match.refused(Score(seat=P1), rule="C-O23", code="scored_by_itself")
            match.refused(Deal(seat=P1, counts=(6, 6, 6, 6)), rule="C49", code="announcement_owed")
            match.do(near(P1))
        else:
            match.refused(Deal(seat=P1, counts=(6, 6, 6, 6)), rule="C-O23", code="deal_not_scored")
            match.do(near(P1), Score(seat=P4))
        assert match.points[P1] == 4 + 5 - 3

    def test_not_after_a_redbeard_made(self):
        match = playing("1 1 1 1 | 1 1", "rodskagg 0 0 0", (6, 12, 12, 12)).tricks(4).ask("P2")
        match.tricks(2)
        assert match.won_by == (P1, "redbeard")


@pytest.mark.rule("C44", "C-O25")
class TestThanks:
    def test_from_every_player_who_will_be_at_zero_and_once(self):
        match = playing("1 1 1 2 | 3 3", "3 0 0 0", (3, 12, 12, 12), enforcement="penalise").tricks(4).ask("P3")
        thanks = Announce(seat=P1, what="thanks")
        match.refused(thanks, rule="C44", code="no_thanks_now")
        match.tricks(2)
        assert match.phase == "played"
        assert match.legal(P1) == (thanks, Score(seat=P1))
        match.refused(Announce(seat=P2, what="thanks"), rule="C44", code="not_at_zero")
        match.do(thanks)
        match.refused(thanks, rule="C44", code="not_at_zero")
        match.do(Score(seat=P2))
        assert match.won_by == (P1, "zero")

    def test_they_are_never_due(self):
        match = playing("1 1 1 2 | 3 3", "3 0 0 0", (3, 12, 12, 12), enforcement="penalise").tricks(4).ask("P3")
        match.tricks(2).do(Score(seat=P2))
        assert match.won_by == (P1, "zero")

    def test_they_have_no_place_in_the_bidding(self):
        cats().dealt().refused(Announce(seat=P1, what="thanks"), rule="C44", code="wrong_phase")
        cats().dealt().refused(near(P1), rule="C49", code="wrong_phase")
