"""Rödskägg (alga): the play and the question (A29-A39, A45)."""

import pytest

from referee.acts import Answer, Ask, Deal, Play, Score
from referee.events import CardPlayed, TrickTaken
from referee.games._rodskagg.facts import QuestionAsked
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from referee.visibility import as_seen_by
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4

BOTH = pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
MIXED = (
    ("S2", "SA", "H5", "H6", "D7", "D8"),
    ("S9", "H2", "H3", "H4", "D2", "D3"),
    ("S3", "S4", "C2", "C3", "C4", "C5"),
    ("SK", "DA", "DK", "DQ", "DJ", "HA"),
)


def alga(points: tuple[int, ...] = (12, 12, 12, 12), **match: object) -> Table:
    return table("rodskagg-alga", points=points, **match)


def playing(tricks: str, bids: str = "2 pass pass pass", **match: object) -> Table:
    return alga(**match).dealt(tricks).bid(bids)


def cards(match: Table, seat: int) -> set[str]:
    return {act.card for act in match.legal(seat) if isinstance(act, Play)}


@pytest.mark.rule("A29")
class TestLead:
    @BOTH
    def test_the_declarer_leads_to_every_trick(self, enforcement: str):
        match = playing("2 3 4 2", "pass pass 3 pass", enforcement=enforcement)
        for number in range(4):
            assert match.turn == P3
            card = match.plan.cards[number][P2]
            match.refused(Play(seat=P2, card=card), rule="A29", code="not_on_lead", kind=OutOfTurn)
            match.trick()

    def test_any_card_may_be_led(self):
        match = playing("1 1 1 1")
        assert len(cards(match, P1)) == 6


@pytest.mark.rule("A8", "A30")
def test_the_others_follow_clockwise():
    match = playing("1 1 1 1").after(Play(seat=P1, card="SA"))
    match.refused(Play(seat=P3, card="SQ"), rule="A30", code="out_of_turn", kind=OutOfTurn)
    match.do(Play(seat=P2, card="SK"))
    assert match.seen(P1).to_act == (P3,)


@pytest.mark.rule("A31", "A-O17", "A-O26")
class TestFollowingSuit:
    def mixed(self, **match: object) -> Table:
        return alga(**match).after(Deal(seat=P4, hands=MIXED)).bid("2 pass pass pass")

    @BOTH
    def test_a_player_who_can_follow_suit_must_in_both_enforcements(self, enforcement: str):
        match = self.mixed(enforcement=enforcement).after(Play(seat=P1, card="SA"))
        refusal = match.refused(Play(seat=P2, card="H2"), rule="A31", code="must_follow_suit")
        assert isinstance(refusal, AgainstTheRules)
        assert refusal.facts["allowed"] == ("S9",)
        assert cards(match, P2) == {"S9"}

    def test_a_player_who_cannot_follow_suit_may_play_any_card(self):
        match = self.mixed().after(Play(seat=P1, card="H5"), Play(seat=P2, card="H2"))
        assert cards(match, P3) == set(MIXED[P3])

    def test_only_from_the_own_hand(self):
        self.mixed().refused(Play(seat=P1, card="DA"), rule=None, code="not_held", kind=NoSuchCard)

    def test_with_closed_hands_a_revoke_is_noted_when_it_shows(self):
        match = alga(honour_redeal=False).after(Deal(seat=P4, counts=(6, 6, 6, 6))).bid("2 pass pass pass")
        for seat, card in ((P1, "SA"), (P2, "H2"), (P3, "S3"), (P4, "SK")):
            match.do(Play(seat=seat, card=card))
        match.refused(Play(seat=P1, card="H2"), rule="A4", code="card_seen")
        match.do(Play(seat=P1, card="S2"), Play(seat=P2, card="S9"))
        shown = match.happened(CardPlayed)[-1].breaches
        assert [(breach.seat, breach.rule, breach.points) for breach in shown] == [(P2, "A31", 0)]
        assert len(match.seen("official").breaches) == 1
        assert as_seen_by(match.happened(CardPlayed)[-1], P1, public=False).breaches == ()
        for seat, card in ((P3, "S4"), (P4, "S5")):
            match.do(Play(seat=seat, card=card))
        for lead, *rest in (("D2", "D3", "D4", "D5"), ("C2", "C3", "C4", "C5")):
            match.do(Play(seat=P1, card=lead), *(Play(seat=seat, card=card) for seat, card in enumerate(rest, 1)))
        match.ask()
        for one, two, four in (("H3", "H7", "H4"), ("H5", "H8", "H6")):
            match.do(Play(seat=P1, card=one), Play(seat=P2, card=two), Play(seat=P4, card=four))
        assert match.line.detail["noted"][0]["seat"] == P2


@pytest.mark.rule("A32")
def test_the_highest_card_of_the_suit_led_wins():
    match = alga().after(Deal(seat=P4, hands=MIXED)).bid("2 pass pass pass")
    for seat, card in ((P1, "S2"), (P2, "S9"), (P3, "S3"), (P4, "SK")):
        match.do(Play(seat=seat, card=card))
    assert match.happened(TrickTaken)[0].seat == P4
    for seat, card in ((P1, "H5"), (P2, "H4"), (P3, "C5"), (P4, "HA")):
        match.do(Play(seat=seat, card=card))
    for seat, card in ((P1, "SA"), (P2, "D3"), (P3, "S4"), (P4, "DA")):
        match.do(Play(seat=seat, card=card))
    assert [taken.seat for taken in match.happened(TrickTaken)] == [P4, P4, P1]


class TestQuestion:
    @pytest.mark.rule("A33", "A-O7")
    def test_it_is_due_after_the_fourth_trick(self):
        match = playing("1 1 1 2").tricks(3)
        match.refused(Ask(seat=P1), rule="A33", code="question_too_early", kind=WrongPhase)
        match.trick()
        assert match.due("ask")
        assert match.legal(P1) == (Ask(seat=P1),)
        match.refused(Play(seat=P1, card=match.plan.cards[4][P1]), rule="A33", code="question_owed")
        match.refused(Ask(seat=P2), rule="A33", code="not_the_asker", kind=OutOfTurn)
        match.do(Ask(seat=P1))
        match.refused(Ask(seat=P1), rule="A33", code="already_asked")

    @pytest.mark.rule("A34", "A36", "A-O13")
    def test_only_the_trickless_answer_in_turn_from_the_left(self):
        match = playing("3 1 3 3", "2 pass 3 pass").tricks(4).after(Ask(seat=P3))
        assert match.happened(QuestionAsked)[0].of == (P4, P2)
        assert match.legal(P4) == (Answer(seat=P4, answer="play"), Answer(seat=P4, answer="fold"))
        assert match.legal(P2) == ()
        match.refused(Answer(seat=P2, answer="fold"), rule="A34", code="out_of_turn")
        match.refused(Answer(seat=P1, answer="fold"), rule="A36", code="in_already")
        match.refused(Answer(seat=P3, answer="fold"), rule="A-O13", code="declarer_not_asked")
        match.refused(Play(seat=P3, card=match.plan.cards[4][P3]), rule="A34", code="answers_pending")
        match.do(Answer(seat=P4, answer="fold"), Answer(seat=P2, answer="play"))
        match.refused(Answer(seat=P4, answer="play"), rule="A34", code="not_asked")

    @pytest.mark.rule("A34")
    def test_a_seat_that_has_not_answered_yet_is_shown_without_an_answer(self):
        match = playing("3 1 3 3", "2 pass 3 pass").tricks(4).after(Ask(seat=P3))
        assert match.seen().answers == ("in", None, None, None)
        match.do(Answer(seat=P4, answer="fold"))
        assert match.seen().answers == ("in", None, None, "fold")
        match.do(Answer(seat=P2, answer="play"))
        assert match.seen().answers == ("in", "play", None, "fold")

    def test_answers_have_no_place_before_it(self):
        playing("1 1 1 2").refused(Answer(seat=P2, answer="play"), rule="A34", code="not_asked")

    @pytest.mark.rule("A35", "A37")
    def test_a_player_who_folds_sits_out_and_the_others_play_on(self):
        match = playing("3 1 3 3 | 2 3", "2 pass 3 pass").tricks(4).ask("P2")
        assert [answer == "fold" for answer in match.seen().answers or ()] == [False, False, False, True]
        match.do(Play(seat=P3, card=match.plan.cards[4][P3]))
        assert match.turn == P1
        match.refused(Play(seat=P4, card=match.plan.cards[4][P4]), rule="A37", code="has_folded", kind=NotInPlay)
        assert match.seen(P1).cards_left == (2, 2, 1, 2)

    @pytest.mark.rule("A38", "A39")
    def test_there_is_none_in_rodskagg(self):
        match = playing("1 1 1 1", "rodskagg").tricks(4)
        assert not match.due("ask")
        match.refused(Ask(seat=P1), rule="A38", code="no_question_in_rodskagg")
        match.tricks(2)
        assert match.won_by == (P1, "rodskagg")

    @pytest.mark.rule("A-O23")
    def test_no_one_need_answer_when_all_have_a_trick(self):
        match = playing("1 2 3 4 | 1 1").tricks(4)
        assert not match.due("ask")
        assert Ask(seat=P1) in match.legal(P1)
        match.do(Ask(seat=P1))
        assert match.happened(QuestionAsked)[0].of == ()
        match.tricks(2)
        assert match.line.detail["forgotten"] is False

    @pytest.mark.rule("A45", "A-O7", "A-O23")
    def test_under_penalise_it_may_be_forgotten(self):
        match = playing("1 1 1 2 | 1 1", enforcement="penalise").tricks(4)
        assert match.due("ask")
        match.do(Play(seat=P1, card=match.plan.cards[4][P1]))
        match.refused(Ask(seat=P1), rule="A-O7", code="question_too_late")
        assert match.seen(P3).more == {"forgotten": True}
        for seat in (P2, P3, P4):
            match.do(Play(seat=seat, card=match.plan.cards[4][seat]))
        match.trick().do(Score(seat=P3))
        assert match.line.detail["forgotten"] is True
        assert match.line.answers == (None,) * 4

    @pytest.mark.rule("A-O23")
    def test_the_grace_changes_nothing_as_only_the_declarer_leads(self):
        match = playing("1 1 1 2 | 1 1", enforcement="penalise", question_grace_seconds=30).tricks(4)
        match.do(Play(seat=P1, card=match.plan.cards[4][P1]))


@pytest.mark.rule("A-O12", "A-O30")
class TestEverybodyFolds:
    def test_the_declarer_gets_the_last_two_without_play(self):
        match = playing("1 1 1 1", "4 pass pass pass").tricks(4).ask()
        assert [taken.uncontested for taken in match.happened(TrickTaken)] == [False] * 4 + [True] * 2
        assert match.line.tricks == (6, 0, 0, 0)

    def test_void_uncontested_tricks_count_for_no_one_and_a_bid_of_five_fails(self):
        match = playing("1 1 1 1", "5 pass pass pass", uncontested_tricks="void").tricks(4).ask()
        assert match.line.tricks == (4, 0, 0, 0)
        assert match.points == (12 + 6 - 4, 12, 12, 12)
