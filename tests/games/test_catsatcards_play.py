"""Rödskägg (CatsAtCards): the play, the question, and the announcement near zero (C23-C37, C49)."""

import pytest

from referee.acts import Announce, Answer, Ask, Deal, Play, Remind, Score
from referee.events import CardPlayed, TrickTaken
from referee.games._rodskagg import Announced, QuestionAsked, Reminded
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from tests.games.rodskagg import P1, P2, P3, P4, Match

BOTH = pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
MIXED = (
    ("S2", "SA", "H5", "H6", "D7", "D8"),
    ("S9", "H2", "H3", "H4", "D2", "DJ"),
    ("S3", "S4", "C2", "C3", "C4", "CJ"),
    ("SK", "DA", "DK", "DQ", "D3", "HA"),
)


def cats(points: tuple[int, ...] = (12, 12, 12, 12), **match: object) -> Match:
    return Match("rodskagg-catsatcards", points, **match)  # type: ignore[arg-type]


def playing(tricks: str, bids: str = "2 0 0 0", points: tuple[int, ...] = (12, 12, 12, 12), **match: object) -> Match:
    return cats(points, **match).deal(tricks).bid(bids)


def near(seat: int) -> Announce:
    return Announce(seat=seat, what="near_zero")


@pytest.mark.rule("C23", "C24", "C25", "C29")
class TestLead:
    @BOTH
    def test_the_declarer_leads_first_then_who_won(self, enforcement: str):
        match = playing("3 1 2 3", "2 0 3 1", enforcement=enforcement)
        assert isinstance(match.refused(Play(seat=P1, card=match.board[0][P1]), "C23", "not_on_lead"), OutOfTurn)
        assert len(match.legal(P3)) == 6
        match.trick()
        assert match.view(P1).to_act == (P3,)
        match.trick()
        assert match.view(P1).to_act == (P1,)
        match.refused(Play(seat=P3, card=match.board[2][P3]), "C29", "not_on_lead")

    def test_the_others_follow_clockwise(self):
        match = playing("1 1 1 1").do(Play(seat=P1, card="SA"))
        match.refused(Play(seat=P3, card="SQ"), "C24", "out_of_turn")
        match.do(Play(seat=P2, card="SK"))


@pytest.mark.rule("C26", "C27", "C28")
class TestFollowingSuit:
    def mixed(self, **match: object) -> Match:
        return cats(**match).do(Deal(seat=P4, hands=MIXED)).bid("2 0 0 0")

    @BOTH
    @pytest.mark.rule("C-O26")
    def test_who_can_must_where_nothing_is_punished(self, enforcement: str):
        match = self.mixed(enforcement=enforcement).do(Play(seat=P1, card="SA"))
        assert match.legal(P2) == (Play(seat=P2, card="S9"),)
        assert isinstance(match.refused(Play(seat=P2, card="H2"), "C26", "must_follow_suit"), AgainstTheRules)

    def test_the_highest_card_of_the_suit_led_wins_the_trick(self):
        match = self.mixed()
        for seat, card in ((P1, "H5"), (P2, "H4"), (P3, "CJ"), (P4, "HA")):
            match.do(Play(seat=seat, card=card))
        assert match.of(TrickTaken)[0].seat == P4
        assert match.view(P1).trick == (), "finished tricks are out of play"
        assert isinstance(match.refused(Play(seat=P4, card="S2"), None, "not_held"), NoSuchCard)

    def test_with_closed_hands_a_revoke_is_only_noted(self):
        match = cats().do(Deal(seat=P4, counts=(6, 6, 6, 6))).bid("2 0 0 0")
        for seat, card in ((P1, "SA"), (P2, "H2"), (P3, "S3"), (P4, "SK"), (P1, "S2"), (P2, "S9")):
            match.do(Play(seat=seat, card=card))
        assert [breach.points for breach in match.of(CardPlayed)[-1].breaches] == [0]


class TestQuestion:
    @pytest.mark.rule("C30", "C31", "C36")
    def test_the_declarer_asks_those_without_a_trick(self):
        match = playing("3 1 2 3", "2 0 2 1").tricks(3)
        assert isinstance(match.refused(Ask(seat=P1), "C30", "question_too_early"), WrongPhase)
        match.trick()
        assert match.due("ask")
        assert match.legal(P1) == (Ask(seat=P1),)
        match.refused(Ask(seat=P2), "C30", "not_the_asker")
        match.refused(Play(seat=P3, card=match.board[4][P3]), "C30", "question_owed")
        match.do(Ask(seat=P1))
        assert match.of(QuestionAsked)[0].of == (P4,)
        match.refused(Ask(seat=P1), "C30", "already_asked")
        match.refused(Answer(seat=P1, answer="fold"), "C36", "declarer_not_asked")
        match.refused(Answer(seat=P3, answer="fold"), "C31", "in_already")
        match.refused(Play(seat=P3, card=match.board[4][P3]), "C30", "answers_pending")
        assert match.legal(P4) == (Answer(seat=P4, answer="play"), Answer(seat=P4, answer="fold"))

    @pytest.mark.rule("C32", "C33", "C-O20", "C-O23")
    def test_who_folds_is_out_of_the_hand_and_pays_nothing(self):
        match = playing("1 1 1 1 | 1 2").tricks(4).do(Ask(seat=P1))
        match.refused(Answer(seat=P3, answer="fold"), "C-O23", "out_of_turn")
        match.do(Answer(seat=P2, answer="play"), Answer(seat=P3, answer="fold"), Answer(seat=P4, answer="fold"))
        match.refused(Answer(seat=P3, answer="play"), "C30", "not_asked")
        match.do(Play(seat=P1, card=match.board[4][P1]))
        assert isinstance(match.refused(Play(seat=P3, card=match.board[4][P3]), "C32", "has_folded"), NotInPlay)
        match.do(Play(seat=P2, card=match.board[4][P2])).trick()
        assert match.points[P3] == match.points[P4] == 12

    @pytest.mark.rule("C-O6")
    @pytest.mark.parametrize("asked", [True, False])
    def test_in_a_redbeard_hand_it_is_put_unless_chosen_otherwise(self, asked: bool):
        match = playing("1 1 1 1 | 1 1", "rodskagg 0 0 0", ask_fold_in_redbeard=asked).tricks(4)
        assert match.due("ask") is asked
        if not asked:
            match.refused(Ask(seat=P1), "C-O6", "no_question_in_redbeard")

    @pytest.mark.rule("C37", "C-O13", "C-O30")
    def test_another_player_may_remind(self):
        match = playing("3 1 2 3", "2 0 2 1", enforcement="penalise").tricks(3)
        match.refused(Remind(seat=P2), "C37", "question_too_early")
        match.trick()
        assert match.legal(P2) == (Remind(seat=P2),)
        match.refused(Remind(seat=P1), "C37", "reminds_himself")
        match.do(Remind(seat=P2))
        assert match.of(Reminded)[0].seat == P2
        assert match.of(QuestionAsked)[0].seat == P1
        match.refused(Ask(seat=P1), "C30", "already_asked")

    @pytest.mark.rule("C-O23", "C-O30")
    def test_nobody_need_answer_when_all_have_a_trick(self):
        match = playing("1 2 3 4 | 1 1").tricks(4)
        assert not match.due("ask")
        match.refused(Remind(seat=P2), "C37", "question_not_due")
        assert Ask(seat=P1) in match.legal(P1)
        match.do(Ask(seat=P1)).tricks(2)

    @pytest.mark.rule("C37", "C-O14", "C-O26")
    def test_under_penalise_it_may_be_forgotten(self):
        match = playing("3 1 2 3", "2 0 2 1", enforcement="penalise").tricks(4)
        match.do(Play(seat=P3, card=match.board[4][P3]))
        assert match.view(P1).more["forgotten"] is True
        match.refused(Ask(seat=P1), "C37", "question_too_late")
        match.refused(Remind(seat=P2), "C37", "question_too_late")

    @pytest.mark.rule("C-O23")
    def test_the_grace_keeps_others_from_leading(self):
        match = playing("3 1 2 3", "2 0 2 1", enforcement="penalise", question_grace_seconds=30).tricks(4)
        lead = Play(seat=P3, card=match.board[4][P3])
        match.refused(lead, "C-O23", "question_grace")
        match.wait(30).do(lead)

    @pytest.mark.rule("C-O33")
    def test_when_all_fold_the_rest_is_the_declarers(self):
        match = playing("1 1 1 1", "4 0 0 0").tricks(4).ask()
        assert [taken.uncontested for taken in match.of(TrickTaken)] == [False] * 4 + [True] * 2
        assert match.points[P1] == 12 + 5 - 6, "six are not four"

    @pytest.mark.rule("C-O33", "C-O34")
    def test_or_nobodys(self):
        match = playing("1 1 1 1", "4 0 0 0", uncontested_tricks="void").tricks(4).ask()
        assert match.points[P1] == 8
        failed = playing("1 1 1 1", "rodskagg 0 0 0", uncontested_tricks="void").tricks(4).ask()
        assert (failed.line.kind, failed.line.eliminated) == ("redbeard_failed", (P1,))


@pytest.mark.rule("C49", "C-O10", "C-O11", "C-O24")
class TestNearZero:
    def test_it_is_due_before_the_next_lead_whoever_leads(self):
        match = playing("2 1 2 3 | 1 1", "2 0 0 0", (12, 3, 12, 12))
        match.trick()
        match.refused(near(P2), "C49", "nothing_to_announce")
        match.trick().trick()
        assert match.due("announce")
        assert match.view(P1).to_act == (P2,)
        assert match.legal(P2) == (near(P2),)
        refusal = match.refused(Play(seat=P2, card=match.board[3][P2]), "C49", "announcement_owed")
        assert refusal.facts["pending"] == (P2,)
        match.do(near(P2))
        assert match.of(Announced)[0].total == 1
        match.refused(near(P2), "C49", "nothing_to_announce")
        match.trick()

    def test_another_ones_lead_waits_for_it_too(self):
        match = playing("1 2 2 2 | 1 1", "2 0 0 0", (2, 12, 12, 12)).trick()
        assert match.view(P1).to_act == (P1,)
        match.do(near(P1)).trick()
        assert not match.due("announce")

    def test_once_for_each_value(self):
        match = playing("1 1 2 3", "2 0 0 0", (2, 12, 12, 12)).trick().do(near(P1))
        match.do(*(Play(seat=seat, card=match.board[1][seat]) for seat in range(4)))
        assert match.due("announce")
        match.do(near(P1))
        assert [said.total for said in match.of(Announced)] == [1, 0]

    def test_who_starts_there_says_so_before_the_first_lead(self):
        match = playing("1 1 2 3", "2 0 0 0", (12, 1, 12, 12))
        match.refused(Play(seat=P1, card="SA"), "C49", "announcement_owed")
        match.do(near(P2), Play(seat=P1, card="SA"))

    def test_who_has_said_it_does_not_repeat_it_in_the_next_deal(self):
        match = cats((12, 2, 12, 12)).play_deal("2 0 0 0", "1 2 1 3 | 3 1")
        assert match.points[P2] == 1
        assert [said.seat for said in match.of(Announced)] == [P2]
        match.deal("1 1 2 3").bid("2 0 0 0")
        assert not match.due("announce")

    def test_coming_back_to_a_value_is_new(self):
        match = cats((7, 2, 12, 12)).play_deal("2 0 0 0", "1 2 1 3 | 3 3")
        assert match.points[P2] == 1
        match.deal("3 3 2 3 | 4 4").bid("2 0 1 0").tricks(3)
        assert match.of(Announced)[-1].total == 1
        match.trick()
        assert match.of(Announced)[-1].total == 0, "the other value"

    def test_minus_one_only_by_option(self):
        assert not playing("1 1 2 3", "2 0 0 0", (12, -1, 12, 12)).due("announce")
        assert playing("1 1 2 3", "2 0 0 0", (12, -1, 12, 12), near_zero_includes_minus_one=True).due("announce")

    @pytest.mark.rule("C-O26")
    def test_under_penalise_it_may_be_passed_over(self):
        match = playing("1 2 2 2 | 1 1", "2 0 0 0", (2, 12, 12, 12), enforcement="penalise").trick()
        match.do(Play(seat=P1, card=match.board[1][P1]))
        match.refused(near(P1), "C49", "nothing_to_announce")
        assert match.of(CardPlayed)[-1].breaches == (), "without Fem Opp it costs nothing"

    @BOTH
    def test_after_the_last_trick_it_is_due_until_the_scoring(self, enforcement: str):
        match = playing("1 2 3 4 | 1 1", "2 0 0 0", (4, 12, 12, 12), enforcement=enforcement)
        match.tricks(6)
        assert match.phase == "played"
        assert match.legal(P1)[0] == near(P1)
        if enforcement == "refuse":
            assert match.view(P2).to_act == (P1,)
            match.refused(Score(seat=P1), "C-O23", "scored_by_itself")
            match.refused(Deal(seat=P1, counts=(6, 6, 6, 6)), "C49", "announcement_owed")
            match.do(near(P1))
        else:
            match.refused(Deal(seat=P1, counts=(6, 6, 6, 6)), "C-O23", "deal_not_scored")
            match.do(near(P1), Score(seat=P4))
        assert match.points[P1] == 4 + 5 - 3

    def test_not_after_a_redbeard_made(self):
        match = playing("1 1 1 1 | 1 1", "rodskagg 0 0 0", (6, 12, 12, 12)).tricks(4).ask("P2")
        match.tricks(2)
        assert match.won == (P1, "redbeard")


@pytest.mark.rule("C44", "C-O25")
class TestThanks:
    def test_from_whoever_will_stand_at_zero_and_once(self):
        match = playing("1 1 1 2 | 3 3", "3 0 0 0", (3, 12, 12, 12), enforcement="penalise").tricks(4).ask("P3")
        thanks = Announce(seat=P1, what="thanks")
        match.refused(thanks, "C44", "no_thanks_now")
        match.tricks(2)
        assert match.phase == "played"
        assert match.legal(P1) == (thanks, Score(seat=P1))
        match.refused(Announce(seat=P2, what="thanks"), "C44", "not_at_zero")
        match.do(thanks)
        match.refused(thanks, "C44", "not_at_zero")
        match.do(Score(seat=P2))
        assert match.won == (P1, "zero")

    def test_they_are_never_due(self):
        match = playing("1 1 1 2 | 3 3", "3 0 0 0", (3, 12, 12, 12), enforcement="penalise").tricks(4).ask("P3")
        match.tricks(2).do(Score(seat=P2))
        assert match.won == (P1, "zero")

    def test_they_have_no_place_in_the_bidding(self):
        cats().deal().refused(Announce(seat=P1, what="thanks"), "C44", "wrong_phase")
        cats().deal().refused(near(P1), "C49", "wrong_phase")
