"""Edge cases of Kortoxen: between two events, at exactly zero, at the end of a window, and seats that act next."""

from typing import Any

import pytest

from referee.acts import (
    Answer,
    Ask,
    Bid,
    Cut,
    Deal,
    Draw,
    Knock,
    KnockForCards,
    KnockOut,
    PickUp,
    Play,
    Report,
    RequestCards,
    Score,
)
from referee.events import MatchWon, TrickTaken
from referee.games._rodskagg.facts import MisdealFound, NewHands
from referee.refusals import AgainstTheRules, NotInPlay, OutOfTurn, WrongPhase
from referee.requests import Request
from tests.games.rodskagg import NO_ACE_NOR_COURT, SEVEN_FOR_P3, SIX_EACH, Table, misdealt, penalising, table
from tests.support.match_driver import P1, P2, P3, P4

STOCK = tuple(suit + rank for rank in "432A" for suit in "SHDC")


def within(t: Table, act: Request) -> Any:
    """Return the state after the first of several events of an act. A replay may stop there."""
    first, *_ = t.rules.decide(t.state, act, t.moment())
    return t.rules.evolve(t.state, first, t.version + 1)


def playing(winners: str, points: tuple[int, ...] = (12, 12, 12, 12), declarer: int = P1, **match: Any) -> Table:
    return table(points=points, **match).dealt(winners).declares(declarer, 1)


# The deal


@pytest.mark.rule("B14", "B15")
def test_those_who_draw_are_awaited_in_turn_and_no_one_when_all_have_drawn():
    t = table(dealer=None)
    for seat, card in ((P1, "S2"), (P2, "HA"), (P3, "D3")):
        assert t.seen().to_act == (seat,)
        t.do(Draw(seat=seat, card=card))
    assert t.rules.to_act(within(t, Draw(seat=P4, card="C4"))) == ()


@pytest.mark.rule("B18")
@pytest.mark.parametrize("cards", [{"hands": SIX_EACH}, {"counts": (6, 6, 6, 6)}, {"stock": ("SA",)}])
def test_the_house_accepts_no_cards(cards: Any):
    t = table(dealing="house")
    t.refused(Deal(seat=P4, **cards), rule=None, kind=AgainstTheRules, code="house_deals")


@pytest.mark.rule("B20", "B23")
@pytest.mark.parametrize("ritual", [True, False])
def test_with_the_ritual_the_house_deals_face_down(ritual: bool):
    t = table(dealing="house", deal_ritual=ritual)
    (dealt,) = t.do(Deal(seat=P4))
    assert dealt.face_up is not ritual


@pytest.mark.rule("B20", "B23", "B24")
def test_the_dealer_is_awaited_until_the_formula_and_then_all_who_have_not_picked_up():
    t = penalising()
    t.do(Deal(seat=P4, hands=SIX_EACH))
    assert t.seen().to_act == (P4,)
    t.do(PickUp(seat=P2))
    assert t.seen().to_act == (P4,)
    t.do(PickUp(seat=P4))  # the formula cannot be said any more
    assert t.seen().to_act == (P1, P3)
    assert PickUp(seat=P1) in t.legal(P1)
    assert t.legal(P2) == ()


@pytest.mark.rule("B16", "B27")
def test_after_a_misdeal_the_dealer_may_cut_once_before_dealing():
    t = misdealt()
    t.do(KnockForCards(seat=P4))
    t.do(PickUp(seat=P3))
    assert t.legal(P4) == (PickUp(seat=P4), Cut(seat=P4), Deal(seat=P4))
    t.refused(Bid(seat=P1, bid="1"), rule="B27", kind=WrongPhase, code="misdealt")
    t.do(Cut(seat=P4))
    assert t.legal(P4) == (PickUp(seat=P4), Deal(seat=P4))


@pytest.mark.rule("B16", "B27")
def test_without_the_ritual_there_is_only_the_new_deal():
    t = penalising(deal_ritual=False)
    t.do(Deal(seat=P4, hands=SEVEN_FOR_P3))
    assert [t.legal(seat) for seat in range(4)] == [(), (), (), (Deal(seat=P4),)]


@pytest.mark.rule("B23")
def test_no_one_bids_while_cards_lie_face_down():
    t = table().dealt(ritual=False)
    t.refused(Bid(seat=P1, bid="1"), rule="B23", kind=WrongPhase, code="cards_down")


@pytest.mark.rule("B41")
def test_a_card_before_the_bidding_is_over_is_too_early():
    t = table().dealt()
    t.refused(Play(seat=P1, card="SA"), rule="B41", kind=WrongPhase, code="play_not_begun")


@pytest.mark.rule("B17")
def test_a_wrong_cut_is_reported_before_the_deal_and_not_after():
    t = penalising().dealt(ritual=False)
    t.refused(Report(seat=P1, accused=P2, fault="wrong_cut"), rule="B17", kind=AgainstTheRules, code="acts_tell")
    t.do(KnockForCards(seat=P4))
    t.all_pick_up()
    t.refused(Report(seat=P1, accused=P2, fault="wrong_cut"), rule="B17", kind=AgainstTheRules, code="acts_tell")


@pytest.mark.rule("B25", "B27")
def test_the_dealer_who_took_up_without_the_formula_pays_for_a_misdeal_that_another_finds():
    t = penalising()
    t.do(Deal(seat=P4, counts=(6, 6, 6, 6)))
    t.do(PickUp(seat=P4))
    found = t.do(Report(seat=P2, accused=P2, fault="misdeal"))[-1]
    assert isinstance(found, MisdealFound)
    assert [(error.offence, error.payer) for error in found.breaches] == [("misdeal", P4)]


@pytest.mark.rule("B-O20")
def test_a_second_new_hand_comes_from_what_is_left_of_the_stock():
    t = table(honour_redeal=True)
    t.do(Deal(seat=P4, hands=NO_ACE_NOR_COURT, stock=STOCK))
    t.do(KnockForCards(seat=P4))
    t.all_pick_up()
    received = []
    for _ in range(2):
        t.do(RequestCards(seat=P1))
        while t.phase == "exchanging" and t.turn != P1:
            t.do(next(act for act in t.legal(t.turn) if type(act) is not RequestCards))
        received.append(t.happened(NewHands)[-1].hands[P1])
    assert received == [STOCK[:6], STOCK[6:12]]


# Knocks


@pytest.mark.rule("B12")
def test_no_one_can_be_accused_who_has_no_seat():
    t = penalising()
    t.refused(Knock(seat=P1, accused=4), rule=None, kind=NotInPlay, code="no_such_seat")


@pytest.mark.rule("B11", "B37")
def test_an_error_is_knocked_for_when_all_have_passed():
    t = penalising()
    t.do(Cut(seat=P2))
    t.dealt().bid("pass pass pass pass")
    t.upheld(P1, P2, "wrong_cut", rule="B17")
    assert t.score().points == (12, 17, 12, 12)


@pytest.mark.rule("B-O5")
def test_an_error_is_punished_once_also_after_the_last_trick():
    t = penalising()
    t.do(Cut(seat=P2))
    t.dealt("1 1 1 1 | 1 1").declares(P1, 1).tricks(4).asks(P1, "fold fold play").tricks(2)
    t.upheld(P1, P2, "wrong_cut", rule="B17")
    t.dismissed(P3, P2, "wrong_cut", reason="again")


# The play


@pytest.mark.rule("B13")
def test_between_the_last_card_of_a_trick_and_its_winner_no_one_is_awaited():
    t = playing("1 1 2 4 | 1 1")
    for _ in range(3):
        t.card()
    state = within(t, Play(seat=P4, card=t.plan.cards[0][P4]))
    assert t.rules.to_act(state) == ()
    assert [t.rules.legal(state, seat) for seat in range(4)] == [(), (), (), ()]


@pytest.mark.rule("B47", "B50")
def test_players_with_a_trick_or_an_answer_are_not_asked_again():
    t = playing("1 1 2 1 | 1 1").tricks(4).asks(P1, "fold")
    assert t.refused(Answer(seat=P2, answer="play"), rule="B50", kind=OutOfTurn).code == "in_already"
    assert t.refused(Answer(seat=P3, answer="play"), rule="B47", kind=OutOfTurn).code == "not_asked"


@pytest.mark.rule("B47", "B49")
def test_answers_are_shown_from_the_question_on():
    t = playing("1 1 2 1 | 1 1").tricks(4)
    assert t.seen("spectator").answers is None
    t.do(Ask(seat=P1))
    assert t.seen("spectator").answers is not None


@pytest.mark.rule("B-O29")
def test_grace_is_given_after_the_fourth_trick_only_and_from_there():
    t = playing("1 1 1 2 | 1 1", enforcement="penalise", question_grace_seconds=30)
    for _ in range(4):
        t.wait(60).tricks(1)
    assert [taken.grace_until is not None for taken in t.happened(TrickTaken)] == [False, False, False, True]
    t.refused(Play(seat=P2, card=t.plan.cards[4][P2]), rule="B-O29", kind=AgainstTheRules)
    t.asks(P1, "play play").tricks(2)
    assert t.phase == "played"


@pytest.mark.rule("B-O25", "B72")
@pytest.mark.parametrize(("points", "after"), [(5, 1), (8, 2)])
@pytest.mark.parametrize("exact_zero", [True, False])
def test_uncontested_tricks_stop_only_if_the_declarer_may_knock_out(points: int, after: int, exact_zero: bool):
    t = playing("1 1 1 1 | 1 1", (points, 12, 12, 12), exact_zero=exact_zero)
    t.tricks(4).asks(P1, "fold fold fold")
    stops = points == 5 and not exact_zero
    assert len(t.happened(TrickTaken)) == (5 if stops else 6)
    assert t.phase == ("playing" if stops else "undealt")
    if not stops:
        assert t.points[P1] == after


# The end


@pytest.mark.rule("B70", "B72")
def test_at_exactly_zero_nothing_bounces():
    t = playing("1 2 2 2 | 2 2", (1, 12, 12, 12)).tricks(1).knocks_out(P1).tricks(3)
    line = t.asks(P1, "fold fold").tricks(2).score()
    assert [entry.rule for entry in line.entries if entry.seat == P1] == ["B58"]


@pytest.mark.rule("B66")
def test_a_failed_rodskagg_rests_on_the_trick_that_was_lost():
    t = table().dealt("1 1 2 1 | 1 1").declares(P1, "rodskagg").tricks(3)
    (entry,) = (entry for entry in t.line.entries if entry.rule == "B66")
    lost = [number for number, row in enumerate(t.history, 1) if row.event == TrickTaken(seat=P2, trick=3)]
    assert list(entry.events[1:]) == lost


@pytest.mark.rule("B67")
def test_only_a_player_at_zero_makes_the_exit_knock_after_the_last_trick():
    t = playing("1 2 3 4 | 1 2", (12, 2, 12, 12), enforcement="penalise").tricks(4).asks(P1).tricks(2)
    assert t.seen().to_act == (P1, P2, P3, P4)
    assert t.legal(P1) == (Score(seat=P1),)
    assert t.legal(P2) == (KnockOut(seat=P2), Score(seat=P2))


@pytest.mark.rule("B67", "B-O35")
def test_an_exit_knock_is_listed_for_a_player_whom_a_penalty_brings_to_zero():
    t = table(points=(12, 12, -5, 12), overshoot="negative", enforcement="penalise")
    t.do(Cut(seat=P3))
    t.dealt("1 1 2 4 | 1 1").declares(P1, 1)
    assert t.legal(P3) == ()
    t.knock(P1, P3)
    assert t.legal(P3) == (KnockOut(seat=P3),)


@pytest.mark.rule("B-O12", "B-O35")
def test_at_zero_by_a_trick_comes_before_at_zero_without_one():
    t = table(points=(12, 1, -5, 12), overshoot="negative", enforcement="penalise", dealer=P1)
    t.do(Cut(seat=P3))
    t.dealt("4 4 2 4 | 4 4").declares(P4, 1)
    t.knock(P1, P3)
    t.tricks(4).asks(P4, "fold fold").tricks(2).score()
    won = t.won
    assert isinstance(won, MatchWon)
    assert (won.seat, won.rule) == (P2, "B-O12")


@pytest.mark.rule("B-O31", "B67")
def test_a_penalty_that_moves_a_player_off_zero_cancels_the_exit_knock():
    t = table(points=(12, 12, -5, 12), overshoot="negative", enforcement="penalise")
    t.do(Cut(seat=P3))
    t.dealt("1 1 2 4 | 1 1").declares(P1, 1)
    t.knock(P1, P3)
    t.knocks_out(P3)
    t.refused(KnockOut(seat=P3), rule="B67", code="already_knocked_out")
    t.do(Report(seat=P1, accused=P3, fault="exposed_card"))
    t.knock(P1, P3, "exposed_card")
    assert [knocked.valid for knocked in t.do(KnockOut(seat=P3))] == [False]
