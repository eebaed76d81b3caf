"""Rödskägg (Kortoxen): the tricks, and the question after the fourth (B41-B57)."""

from typing import Any

import pytest

from referee.acts import Answer, Ask, Play, Report, Void
from referee.events import CardPlayed, Reported, TrickTaken
from referee.games._rodskagg.facts import QuestionAnswered, QuestionAsked
from referee.refusals import AgainstTheRules, NoSuchCard, NotInPlay, OutOfTurn, WrongPhase
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4, deal

BOTH = pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
MIXED = deal("S2 SA H5 H6 D7 D8 | S9 H2 H3 H4 D2 D3 | S3 S4 C2 C3 C4 C5 | SK DA DK DQ DJ HA")


def playing(winners: str, declarer: int = P1, contract: Any = 1, **match: Any) -> Table:
    return table(**match).dealt(winners).declares(declarer, contract)


def mixed(**match: Any) -> Table:
    """Return a table where all hands have a spade: P1 one high and one low."""
    return table(**match).dealt(MIXED).declares(P1, 2)


def after_four(winners: str, declarer: int = P1, contract: Any = 1, **match: Any) -> Table:
    return playing(winners, declarer, contract, **match).tricks(4)


def plays(t: Table, seat: int) -> set[str]:
    """Return the cards that a seat may play."""
    return {act.card for act in t.legal(seat) if isinstance(act, Play)}


@pytest.mark.rule("B41")
class TestFirstLead:
    """The declarer leads to the first trick."""

    @pytest.mark.parametrize("declarer", [P1, P2, P3, P4])
    def test_it_is_the_declarer_with_any_dealer(self, declarer: int):
        t = playing("1 2 3 4 | 1 2", declarer)
        assert t.turn == declarer
        t.card()

    @BOTH
    def test_no_one_else_leads(self, enforcement: str):
        t = playing("1 2 3 4 | 1 2", P3, enforcement=enforcement)
        t.refused(Play(seat=P1, card=t.plan.cards[0][P1]), rule="B41", kind=OutOfTurn)
        assert plays(t, P1) == set()

    def test_any_card_may_be_led(self):
        t = playing("1 2 3 4 | 1 2")
        assert plays(t, P1) == set(t.plan.hands[P1])

    @BOTH
    def test_only_cards_in_hand_can_be_played(self, enforcement: str):
        t = playing("1 2 3 4 | 1 2", enforcement=enforcement)
        t.refused(Play(seat=P1, card=t.plan.hands[P2][0]), rule=None, kind=NoSuchCard, code="not_held")


@pytest.mark.rule("B42", "B43")
class TestFollowSuit:
    """A player who can follow suit must do so; the others may play any card."""

    def test_a_player_with_the_suit_has_no_other_choice(self):
        t = mixed()
        t.do(Play(seat=P1, card="SA"))
        assert plays(t, P2) == {"S9"}
        refusal = t.refused(Play(seat=P2, card="H2"), rule="B42", kind=AgainstTheRules)
        assert refusal.facts["allowed"] == ("S9",)

    def test_a_player_without_it_may_play_all(self):
        t = mixed()
        t.do(Play(seat=P1, card="H5"))
        t.do(Play(seat=P2, card="H2"))
        assert plays(t, P3) == set(MIXED[P3])
        t.do(Play(seat=P3, card="C2"))

    @pytest.mark.rule("B13")
    @BOTH
    def test_the_cards_are_played_clockwise(self, enforcement: str):
        t = mixed(enforcement=enforcement)
        t.do(Play(seat=P1, card="SA"))
        t.refused(Play(seat=P3, card="S3"), rule="B13", kind=OutOfTurn)

    @pytest.mark.rule("B-O26")
    def test_a_revoke_stands_and_costs_five_if_someone_knocks(self):
        t = mixed(enforcement="penalise")
        t.do(Play(seat=P1, card="S2"))
        t.do(Play(seat=P2, card="H2"))
        lead, revoke = t.upheld(P3, P2, "revoke", rule="B42")
        assert isinstance(lead, CardPlayed)
        assert isinstance(revoke, CardPlayed)
        assert (lead.card, revoke.card) == ("S2", "H2")
        t.do(Play(seat=P3, card="S3"))
        t.do(Play(seat=P4, card="SK"))
        assert t.turn == P4

    @pytest.mark.rule("B-O26")
    def test_the_deal_goes_on_unless_it_is_voided(self):
        t = mixed(enforcement="penalise")
        t.do(Play(seat=P1, card="S2"))
        t.do(Play(seat=P2, card="H2"))
        assert t.turn == P3
        t.do(Void())
        assert t.turn == P4

    @pytest.mark.rule("B-O26", "B11")
    @pytest.mark.parametrize("fault", ["exposed_card", "led_out_of_turn"])
    def test_another_error_that_only_the_table_sees_is_reported_and_costs_five_if_someone_knocks(self, fault: Any):
        t = mixed(enforcement="penalise")
        t.do(Report(seat=P4, accused=P2, fault=fault))
        (reported,) = t.upheld(P1, P2, fault, rule="B11")
        assert isinstance(reported, Reported)

    def test_if_errors_are_refused_nothing_is_reported_to_be_punished(self):
        mixed().refused(Report(seat=P4, accused=P2, fault="exposed_card"), rule="B12", kind=WrongPhase)


@pytest.mark.rule("B44", "B5")
class TestWinningATrick:
    """The highest card of the suit led wins: ace high, two low, and no trumps."""

    @pytest.mark.parametrize("lead", ["2", "9", "T", "Q", "A"])
    def test_the_highest_of_four(self, lead: str):
        ranks = [lead, *(rank for rank in "3JK" if rank != lead)]
        hands = deal(" | ".join(f"S{rank} {other}" for rank, other in zip(ranks, FIVE, strict=True)))
        t = table().dealt(hands).declares(P1, 1)
        for seat, hand in enumerate(hands):
            events = t.do(Play(seat=seat, card=hand[0]))
        best = max(range(4), key=lambda seat: "23456789TJQKA".index(ranks[seat]))
        assert events[-1] == TrickTaken(seat=best, trick=1)

    def test_a_discard_cannot_win(self):
        t = table().dealt(deal("S2 H2 H3 H4 H5 H6 | SA HA D2 D3 D4 D5 | C2 C3 C4 C5 C6 CA | DA DK DQ DJ DT D9"))
        t.declares(P1, 1)
        for seat, card in ((P1, "S2"), (P2, "SA"), (P3, "CA"), (P4, "D9")):
            t.do(Play(seat=seat, card=card))
        for seat, card in ((P2, "D2"), (P3, "C6"), (P4, "DA"), (P1, "H6")):
            events = t.do(Play(seat=seat, card=card))
        assert events[-1] == TrickTaken(seat=P4, trick=2)

    def test_a_low_lead_wins_if_no_one_follows(self):
        t = table().dealt(deal("S2 H2 H3 H4 H5 H6 | D2 D3 D4 D5 D6 D7 | C2 C3 C4 C5 C6 C7 | DA DK DQ DJ DT D9"))
        t.declares(P1, 1)
        for seat, card in ((P1, "S2"), (P2, "D7"), (P3, "C7"), (P4, "DA")):
            t.do(Play(seat=seat, card=card))
        assert t.seen().tricks == (1, 0, 0, 0)


FIVE = ("H2 H3 H4 H5 H6", "D2 D3 D4 D5 D6", "C2 C3 C4 C5 C6", "H7 H8 D7 D8 C7")
"""No spades."""


@pytest.mark.rule("B45")
class TestNextLead:
    """The winner of a trick leads to the next."""

    def test_the_winner_leads(self):
        t = playing("3 1 4 2 | 1 1")
        leads = []
        for _ in range(4):
            leads.append(t.turn_to_play)
            t.tricks(1)
        assert leads == [P1, P3, P1, P4]

    @BOTH
    def test_no_one_else_does(self, enforcement: str):
        t = playing("3 1 4 2 | 1 1", enforcement=enforcement).tricks(1)
        t.refused(Play(seat=P1, card=t.plan.cards[1][P1]), rule="B45", kind=OutOfTurn)


@pytest.mark.rule("B46")
class TestQuestion:
    """The declarer of a number contract asks the others after the fourth trick whether they go along."""

    def test_the_declarer_asks_after_the_fourth_trick(self):
        t = after_four("1 1 2 1 | 1 1")
        assert t.seen().due == ("ask",)
        assert t.seen().to_act == (P1,)
        assert t.legal(P1) == (Ask(seat=P1),)
        assert t.do(Ask(seat=P1)) == (QuestionAsked(seat=P1, of=(P3, P4)),)

    @BOTH
    @pytest.mark.parametrize("played", [0, 1, 3])
    def test_not_before(self, played: int, enforcement: str):
        t = playing("1 1 2 1 | 1 1", enforcement=enforcement).tricks(played)
        assert Ask(seat=P1) not in t.legal(P1)
        t.refused(Ask(seat=P1), rule="B46", kind=WrongPhase)

    def test_nor_while_the_fourth_trick_is_played(self):
        t = playing("1 1 2 1 | 1 1").tricks(3)
        t.card()
        t.refused(Ask(seat=P1), rule="B46", kind=WrongPhase)

    @BOTH
    def test_no_one_else_asks(self, enforcement: str):
        t = after_four("1 1 2 2 | 1 1", enforcement=enforcement)
        assert t.legal(P3) == ()
        t.refused(Ask(seat=P2), rule="B46", kind=OutOfTurn)

    @BOTH
    def test_once(self, enforcement: str):
        t = after_four("1 1 2 1 | 1 1", enforcement=enforcement).asks(P1)
        t.refused(Ask(seat=P1), rule="B46", kind=WrongPhase, code="already_asked")


@pytest.mark.rule("B47")
class TestAnswers:
    """The others answer in turn, beginning on the declarer's left."""

    @pytest.mark.parametrize(("declarer", "order"), [(P1, (P2, P3, P4)), (P2, (P3, P4, P1)), (P3, (P4, P1, P2))])
    def test_the_order_begins_on_the_declarers_left(self, declarer: int, order: tuple[int, ...]):
        number = str(declarer + 1)
        t = after_four(" ".join(number * 6), declarer)
        (asked,) = t.do(Ask(seat=declarer))
        assert isinstance(asked, QuestionAsked)
        assert asked.of == order
        for seat in order:
            assert t.seen().to_act == (seat,)
            assert t.legal(seat) == (Answer(seat=seat, answer="play"), Answer(seat=seat, answer="fold"))
            t.do(Answer(seat=seat, answer="play"))
        assert t.turn == declarer

    @BOTH
    def test_no_one_answers_out_of_turn(self, enforcement: str):
        t = after_four("1 1 1 1 | 1 1", enforcement=enforcement).asks(P1)
        t.refused(Answer(seat=P3, answer="fold"), rule="B47", kind=OutOfTurn)

    @BOTH
    def test_no_one_answers_twice_or_unasked(self, enforcement: str):
        t = after_four("1 1 1 1 | 1 1", enforcement=enforcement)
        t.refused(Answer(seat=P2, answer="fold"), rule="B47", kind=OutOfTurn)
        t.asks(P1, "play")
        t.refused(Answer(seat=P2, answer="fold"), rule="B47", kind=OutOfTurn)
        t.refused(Answer(seat=P1, answer="fold"), rule="B50", kind=OutOfTurn)

    @pytest.mark.rule("B-O30")
    @BOTH
    def test_no_card_is_played_before_all_have_answered(self, enforcement: str):
        t = after_four("1 1 1 1 | 1 1", enforcement=enforcement).asks(P1, "play")
        assert t.seen().due == ("answer",)
        assert plays(t, P1) == set()
        t.refused(Play(seat=P1, card=t.plan.cards[4][P1]), rule="B47", kind=AgainstTheRules)


@pytest.mark.rule("B48", "B54")
class TestQuestionInTime:
    """The question comes before the lead to trick five. A declarer who forgets it adds five points on a knock."""

    def test_the_lead_is_refused_until_it_is_asked(self):
        t = after_four("1 1 2 1 | 1 1")
        refusal = t.refused(Play(seat=P1, card=t.plan.cards[4][P1]), rule="B48", kind=AgainstTheRules)
        assert refusal.facts["asker"] == P1
        t.asks(P1, "play play").tricks(1)

    def test_so_is_an_opponents_lead(self):
        t = after_four("1 1 1 2 | 1 1")
        t.refused(Play(seat=P2, card=t.plan.cards[4][P2]), rule="B48", kind=AgainstTheRules)

    def test_if_errors_stand_the_lead_makes_it_too_late(self):
        t = after_four("1 1 2 1 | 1 1", enforcement="penalise")
        t.card()
        t.refused(Ask(seat=P1), rule="B48", kind=WrongPhase, code="question_too_late")
        fourth, lead = t.upheld(P3, P1, "fold_question", rule="B54")
        assert fourth == TrickTaken(seat=P1, trick=4)
        assert isinstance(lead, CardPlayed)

    @pytest.mark.rule("B-O29")
    def test_the_declarer_is_late_although_an_opponent_led(self):
        t = after_four("1 1 1 2 | 1 1", enforcement="penalise")
        t.card()
        t.dismissed(P3, P2, reason="nothing")
        t.upheld(P2, P1, "fold_question", rule="B54")

    def test_asked_in_time_there_is_nothing_to_knock_for(self):
        t = after_four("1 1 2 1 | 1 1", enforcement="penalise").asks(P1, "play fold").tricks(1)
        t.dismissed(P3, P1, reason="nothing")

    def test_before_the_lead_there_is_nothing_to_knock_for(self):
        after_four("1 1 2 1 | 1 1", enforcement="penalise").dismissed(P3, P1, "fold_question", reason="nothing")


@pytest.mark.rule("B49", "B50", "B51", "B52")
class TestGoingAlong:
    """A player with a trick is in. The others go along and owe a trick, or lay down their cards and sit out."""

    def test_a_player_with_a_trick_is_not_asked(self):
        t = after_four("1 2 2 1 | 3 4").asks(P1)
        t.refused(Answer(seat=P2, answer="fold"), rule="B50", kind=OutOfTurn)
        assert t.seen().to_act == (P3,)

    def test_going_along_without_a_trick_costs_five(self):
        t = after_four("1 2 2 1 | 3 1").asks(P1, "play play").tricks(2)
        assert t.line.answers == (None, "in", "play", "play")
        assert t.points == (12 - 3, 12 - 2, 12 - 1, 12 + 5)

    def test_going_along_with_a_trick_keeps_the_promise(self):
        t = after_four("1 2 2 1 | 3 4").asks(P1, "play play").tricks(2)
        assert t.points == (10, 10, 11, 11)

    def test_a_player_who_folds_sits_out_the_last_two_tricks(self):
        t = after_four("1 2 2 1 | 3 1").asks(P1)
        t.do(Answer(seat=P3, answer="play"))
        assert t.do(Answer(seat=P4, answer="fold")) == (QuestionAnswered(seat=P4, answer="fold"),)
        assert t.seen().cards_left == (2, 2, 2, 2)
        t.card(), t.card()
        assert t.card()[-1] == TrickTaken(seat=P3, trick=5)
        t.tricks(1)
        assert t.line.answers == (None, "in", "play", "fold")
        assert t.points == (9, 10, 11, 12)

    @BOTH
    def test_a_player_who_has_folded_plays_no_card(self, enforcement: str):
        t = after_four("1 2 2 1 | 3 1", enforcement=enforcement).asks(P1, "play fold")
        assert t.legal(P4) == ()
        t.refused(Play(seat=P4, card=t.plan.cards[4][P4]), rule="B52", kind=NotInPlay)

    def test_the_declarer_is_not_asked_even_without_a_trick(self):
        t = after_four("2 2 2 2 | 3 1").asks(P1)
        assert t.happened(QuestionAsked)[0].of == (P3, P4)


@pytest.mark.rule("B53")
class TestNoQuestionInRodskagg:
    """Rödskägg has no question, and no player need take a trick."""

    @BOTH
    def test_there_is_no_question(self, enforcement: str):
        t = after_four("1 1 1 1 | 1 1", P1, "rodskagg", enforcement=enforcement)
        assert t.seen().due == ()
        t.refused(Ask(seat=P1), rule="B53", kind=WrongPhase)
        t.tricks(1)

    def test_no_one_can_knock_for_it(self):
        t = after_four("1 1 1 1 | 1 1", P1, "rodskagg", enforcement="penalise").tricks(1)
        t.dismissed(P2, P1, reason="nothing")

    def test_no_trick_costs_the_others_nothing(self):
        t = playing("1 1 1 1 | 1 2", P1, "rodskagg", enforcement="penalise").tricks(6)
        assert t.score().points == (17, 12, 12, 12)


@pytest.mark.rule("B54", "B55", "B-O16")
class TestForgottenQuestion:
    """The declarer pays only on a knock; the others go along free either way."""

    @pytest.mark.rule("B-X5")
    @pytest.mark.parametrize(("knocks", "declarer_points"), [(True, 10), (False, 5)])
    def test_five_for_the_declarer_and_a_free_ride_for_p3(self, knocks: bool, declarer_points: int):
        t = after_four("1 1 2 1 | 4 1", P1, 3, points=(9, 6, 7, 12), enforcement="penalise")
        t.card()
        if knocks:
            t.upheld(P3, P1, rule="B54")
        t.tricks(2)
        assert t.score().points == (declarer_points, 5, 7, 11)

    def test_only_a_question_that_was_due_can_be_forgotten(self):
        t = after_four("1 2 3 4 | 4 1", enforcement="penalise").tricks(2)
        t.dismissed(P3, P1, reason="nothing")


@pytest.mark.rule("B-O17")
def test_once_trick_five_is_led_no_one_can_fold():
    t = after_four("1 1 2 1 | 1 1", enforcement="penalise")
    t.card()
    t.refused(Answer(seat=P3, answer="fold"), rule="B47", kind=OutOfTurn)
    t.tricks(2)
    assert t.score().answers == (None, None, None, None)


@pytest.mark.rule("B56", "B57", "B-O18")
class TestFourthTrickWinnerAsks:
    """The winner of trick four asks by fold_question_by: fourth_trick_winner, and answers begin on their left."""

    def asked(self, winners: str, declarer: int = P1, **match: Any) -> Table:
        return after_four(winners, declarer, 2, fold_question_by="fourth_trick_winner", **match)

    def test_the_taker_of_the_fourth_trick_asks(self):
        t = self.asked("1 1 1 3 | 1 1")
        assert t.seen().to_act == (P3,)
        t.refused(Ask(seat=P1), rule="B56", kind=OutOfTurn)
        assert t.do(Ask(seat=P3)) == (QuestionAsked(seat=P3, of=(P4, P2)),)

    def test_the_declarer_is_neither_asked_nor_folds(self):
        t = self.asked("2 2 2 2 | 1 1").asks(P2)
        assert t.happened(QuestionAsked)[0].of == (P3, P4)
        t.refused(Answer(seat=P1, answer="fold"), rule="B47", kind=OutOfTurn)

    def test_forgetting_costs_the_asker_the_five(self):
        t = self.asked("1 1 1 3 | 1 1", enforcement="penalise")
        t.card()
        t.dismissed(P2, P1, reason="nothing")
        t.upheld(P1, P3, "fold_question", rule="B54")

    def test_if_errors_are_refused_the_asker_cannot_lead_first(self):
        t = self.asked("1 1 1 3 | 1 1")
        refusal = t.refused(Play(seat=P3, card=t.plan.cards[4][P3]), rule="B48", kind=AgainstTheRules)
        assert refusal.facts["asker"] == P3

    def test_a_declarer_who_takes_the_fourth_trick_asks_as_ever(self):
        t = self.asked("3 1 1 1 | 1 1")
        assert t.do(Ask(seat=P1)) == (QuestionAsked(seat=P1, of=(P2, P4)),)


@pytest.mark.rule("B-O25")
class TestEverybodyFolds:
    """The remaining tricks are the declarer's if all others have folded."""

    def test_the_declarer_is_credited_with_tricks_five_and_six(self):
        t = after_four("1 1 1 1 | 1 1", P1, 6).asks(P1, "fold fold fold")
        assert [event for event in t.happened(TrickTaken) if event.uncontested] == [
            TrickTaken(seat=P1, trick=5, uncontested=True),
            TrickTaken(seat=P1, trick=6, uncontested=True),
        ]
        assert t.points == (6, 12, 12, 12)

    def test_while_one_is_left_they_are_played(self):
        t = after_four("1 1 1 1 | 1 1", P1, 6).asks(P1, "fold fold play")
        assert t.turn == P1
        t.tricks(2)
        assert t.points == (6, 12, 12, 17)

    def test_a_player_with_a_trick_is_left(self):
        t = after_four("1 1 1 2 | 2 2").asks(P1, "fold fold").tricks(2)
        assert t.points == (9, 9, 12, 12)


@pytest.mark.rule("B-O29")
class TestGrace:
    """Only the asker may lead to trick five during question_grace_seconds."""

    def waiting(self, winners: str = "1 1 1 2 | 1 1", seconds: int = 30) -> Table:
        return after_four(winners, enforcement="penalise", question_grace_seconds=seconds)

    @pytest.mark.parametrize("after", [0, 1, 29.9])
    def test_a_lead_by_another_is_refused(self, after: float):
        t = self.waiting().wait(after)
        t.refused(Play(seat=P2, card=t.plan.cards[4][P2]), rule="B-O29", kind=AgainstTheRules)
        assert t.seen().breaches == ()

    def test_the_asker_has_time_to_ask(self):
        t = self.waiting().wait(29).asks(P1, "play play").tricks(2)
        t.dismissed(P2, P1, reason="nothing")

    @pytest.mark.parametrize("after", [30, 31, 600])
    def test_after_it_the_lead_stands_and_the_asker_is_late(self, after: float):
        t = self.waiting().wait(after)
        t.card()
        t.upheld(P2, P1, "fold_question", rule="B54")

    def test_the_askers_own_lead_is_late_at_once(self):
        t = self.waiting("1 1 2 1 | 1 1")
        t.card()
        t.upheld(P2, P1, "fold_question", rule="B54")

    def test_without_it_the_first_lead_makes_the_question_late(self):
        t = self.waiting(seconds=0)
        t.card()
        t.upheld(P2, P1, "fold_question", rule="B54")

    def test_once_asked_no_one_waits(self):
        t = self.waiting().asks(P1, "play play")
        t.card()


@pytest.mark.rule("B-O30")
class TestQuestionNotNeeded:
    """The question is not due if all others have a trick. It may be put, and no seat answers."""

    @BOTH
    def test_the_lead_needs_no_question(self, enforcement: str):
        t = after_four("1 2 3 4 | 1 1", enforcement=enforcement)
        assert t.seen().due == ()
        t.card()

    @BOTH
    def test_it_may_be_put_for_no_one_to_answer(self, enforcement: str):
        t = after_four("1 2 3 4 | 1 1", enforcement=enforcement)
        assert Ask(seat=P1) in t.legal(P1)
        assert t.do(Ask(seat=P1)) == (QuestionAsked(seat=P1, of=()),)
        t.tricks(2)
        assert t.score().answers == (None, "in", "in", "in")

    @pytest.mark.parametrize("question_first", [True, False])
    def test_exit_knock_and_question_come_in_either_order(self, question_first: bool):
        t = after_four("1 1 2 1 | 3 4", points=(3, 12, 12, 12))
        assert t.seen().due == ("knock_out", "ask")
        if question_first:
            t.asks(P1, "play play").knocks_out(P1)
        else:
            t.knocks_out(P1).asks(P1, "play play")
        t.tricks(2)
        assert t.won is not None
