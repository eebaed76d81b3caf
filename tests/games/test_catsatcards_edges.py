"""Edge cases of CatsAtCards: seats that act next, fields shown, duties that arise and end, and events behind
points."""

from typing import Any

import pytest

from referee.acts import (
    Announce,
    Ask,
    Cut,
    Deal,
    Draw,
    Knock,
    KnockForCards,
    PickUp,
    Play,
    Report,
    Score,
    Void,
)
from referee.events import CardDrawn, DealScored, Dealt, TrickTaken
from referee.games._rodskagg.facts import Announced, AuctionWon, MisdealFound, PickedUp, QuestionAnswered
from tests.games.rodskagg import MIXED, Table, cats, fem, near
from tests.support.match_driver import P1, P2, P3, P4

SIX = (6, 6, 6, 6)
SEVEN_FOR_P2 = (6, 7, 6, 6)


def rests_on(match: Table, seat: int, rule: str) -> list[Any]:
    """Return the events that an entry of the last line names."""
    (entry,) = (entry for entry in match.line.entries if (entry.seat, entry.rule) == (seat, rule))
    return [match.event(number) for number in entry.events]


# The deal


@pytest.mark.rule("C7", "C8")
def test_all_draw_though_the_first_two_are_level():
    match = cats((12, 12, 12), dealer=None)
    match.do(Draw(seat=P1, card="SK"), Draw(seat=P2, card="HK"))
    assert match.seen(P1).to_act == (P3,)
    first, _ = match.rules.decide(match.state, Draw(seat=P3, card="CA"), match.moment())
    assert first == CardDrawn(seat=P3, card="CA")
    assert match.rules.to_act(match.rules.evolve(match.state, first, 4)) == ()
    match.do(Draw(seat=P3, card="DK"))
    assert match.seen(P1).to_act == (P1,)


@pytest.mark.rule("C60")
@pytest.mark.parametrize("dealing", ["table", "house"])
@pytest.mark.parametrize("ritual", [True, False])
def test_with_the_ritual_cards_are_dealt_face_down(dealing: str, ritual: bool):
    match = fem(ritual=ritual, dealing=dealing)
    match.do(Deal(seat=P4) if dealing == "house" else Deal(seat=P4, hands=MIXED))
    assert match.happened(Dealt)[0].face_up is not ritual


@pytest.mark.rule("C60")
def test_the_dealer_is_awaited_until_the_formula_and_then_all_who_have_not_picked_up():
    match = fem(ritual=True).after(Deal(seat=P4, hands=MIXED))
    assert match.seen(P1).to_act == (P4,)
    match.do(PickUp(seat=P2))
    assert match.seen(P1).to_act == (P4,)
    match.do(PickUp(seat=P4))  # the formula cannot be said any more
    assert match.seen(P1).to_act == (P1, P3)
    assert match.happened(PickedUp)[0].hand == match.seen(P2).hand
    assert set(match.seen(P2).hand) == set(MIXED[P2])
    said = fem(ritual=True).after(Deal(seat=P4, hands=MIXED), KnockForCards(seat=P4))
    assert said.seen(P1).to_act == (P1, P2, P3, P4)


@pytest.mark.rule("C10")
def test_the_dealer_may_cut_after_another_has_and_once():
    match = fem(ritual=True).after(Cut(seat=P2), Cut(seat=P4))
    match.refused(Cut(seat=P4), rule="C10", code="already_cut")


@pytest.mark.rule("C10", "C12")
def test_after_a_misdeal_the_dealer_may_cut_once_before_dealing():
    match = fem(ritual=True).after(Deal(seat=P4, counts=SEVEN_FOR_P2), KnockForCards(seat=P4), PickUp(seat=P2))
    assert match.happened(MisdealFound)[0].seat == P2
    assert match.legal(P4)[1:] == (Cut(seat=P4), Deal(seat=P4))
    match.do(Report(seat=P1, accused=P3, fault="wrong_cut"), Cut(seat=P4))
    assert match.legal(P4)[1:] == (Deal(seat=P4),)


@pytest.mark.rule("C12")
def test_without_the_ritual_there_is_only_the_new_deal():
    match = fem().after(Deal(seat=P4, counts=SEVEN_FOR_P2))
    assert match.happened(MisdealFound)[0].seat == P2
    assert match.legal(P4) == (Deal(seat=P4),)


@pytest.mark.rule("C60", "C-O23")
@pytest.mark.parametrize(
    ("acts", "ritual", "price"),
    [
        ((), True, 5),  # the formula can still be said
        ((KnockForCards(seat=P4), *(PickUp(seat=seat) for seat in range(4))), True, 5),
        ((PickUp(seat=P4),), True, 0),
        ((), False, 5),
    ],
)
def test_a_reported_misdeal_is_free(acts: Any, ritual: bool, price: int):
    match = fem(ritual=ritual, fem_opp_penalties={"misdeal": price}).after(Deal(seat=P4, counts=SIX), *acts)
    match.do(Report(seat=P2, accused=P2, fault="misdeal"))
    assert match.happened(MisdealFound)[0].breaches == ()


@pytest.mark.rule("C10", "C60")
def test_an_error_without_a_price_or_a_ritual_cannot_be_reported():
    report = Report(seat=P1, accused=P2, fault="wrong_cut")
    fem(ritual=True, fem_opp_penalties={"wrong_cut": 0}).refused(report, rule="C60", code="nothing_to_punish")
    fem().refused(report, rule="C60", code="nothing_to_punish")


@pytest.mark.rule("C10", "C60")
@pytest.mark.parametrize(("to", "offender"), [("cutter", P2), ("dealer", P4)])
def test_a_reported_cut_is_by_option_the_dealers_offence_and_nothing_else_is(to: str, offender: int):
    match = fem(ritual=True, wrong_cut_penalty_to=to).after(Report(seat=P1, accused=P2, fault="wrong_cut"))
    match.upheld(P1, offender, rule="C10")
    match.do(Deal(seat=P4, counts=SIX), Report(seat=P1, accused=P3, fault="early_pick_up"))
    match.upheld(P1, P3, rule="C60")


# Knocks


@pytest.mark.rule("C59")
def test_no_one_can_be_accused_who_has_no_seat():
    fem().refused(Knock(seat=P1, accused=4), rule=None, code="no_such_seat")


# The play


def test_only_officials_see_all_hands():
    match = cats().dealt("1 2 3 4 | 1 2").bid("2 0 0 0").trick()
    own = [match.seen(seat).hand for seat in range(4)]
    assert [len(hand) for hand in own] == [5, 5, 5, 5]
    assert match.seen("official").hands == tuple(own)
    for viewer in (P1, P2, P3, P4, "spectator"):
        assert match.seen(viewer).hands is None
    closed = cats().after(Deal(seat=P4, counts=SIX)).bid("2 0 0 0")
    assert (closed.seen("official").hands, closed.seen(P1).hand) == (None, None)
    assert cats().seen(P1).more is None


@pytest.mark.rule("C30")
def test_the_declarer_is_awaited_for_the_question_and_answers_are_shown_from_then_on():
    match = cats().dealt("3 1 2 3").bid("2 0 0 0").tricks(4)
    seen = match.seen("spectator")
    assert (seen.to_act, seen.due, seen.answers) == ((P1,), ("ask",), None)
    match.do(Ask(seat=P1))
    seen = match.seen("spectator")
    assert (seen.to_act, seen.due) == ((P4,), ("answer",))
    assert seen.answers is not None


@pytest.mark.rule("C-O23")
@pytest.mark.parametrize(
    ("bids", "seconds", "given"),
    [("2 0 0 0", 0, [False] * 4), ("2 0 0 0", 30, [False, False, False, True]), ("rodskagg 0 0 0", 30, [False] * 4)],
)
def test_grace_is_given_after_the_fourth_trick_if_there_is_a_question(bids: str, seconds: int, given: list[bool]):
    match = cats(enforcement="penalise", question_grace_seconds=seconds, ask_fold_in_redbeard=False)
    match.dealt("1 1 1 1 | 1 1").bid(bids).tricks(4)
    assert [taken.grace_until is not None for taken in match.happened(TrickTaken)] == given


# Near zero


@pytest.mark.rule("C49", "C-O24")
def test_the_match_waits_for_the_announcer_before_the_leader():
    match = cats((12, 1, 12, 12)).dealt("1 1 2 3").bid("2 0 0 0")
    assert match.seen(P1).to_act == (P2,)
    assert match.seen(P1).due == ("announce",)


@pytest.mark.rule("C49", "C-O24")
def test_a_penalty_ends_the_duty_of_its_payer_alone():
    match = fem((12, 1, 1, 12), ritual=True).after(
        Deal(seat=P4, hands=MIXED), PickUp(seat=P2), KnockForCards(seat=P4)
    )
    match.after(*(PickUp(seat=seat) for seat in (P1, P3, P4))).bid("2 0 0 0")
    assert match.seen(P1).more["near_zero"] == [P2, P3]
    match.upheld(P1, P2, rule="C60")
    assert match.seen(P1).more["near_zero"] == [P3]


@pytest.mark.rule("C-O24")
def test_a_player_who_returns_to_a_value_announces_it_again():
    match = fem((1, 12, 12, 12), ritual=True, knock_window="deal_end").dealt("1 1 1 1 | 1 1", ritual=False)
    match.do(PickUp(seat=P1), KnockForCards(seat=P4), *(PickUp(seat=seat) for seat in (P2, P3, P4)))
    match.bid("5 0 0 0").do(near(P1))
    match.upheld(P2, P1, rule="C60")
    match.tricks(4, announce=False).ask("P2")
    assert not match.due("announce"), "at two"
    match.trick(announce=False)
    assert match.due("announce"), "at one again"


@pytest.mark.rule("C-O23", "C-O24")
def test_an_announcement_stays_valid_if_the_deal_is_voided():
    match = cats((12, 1, 12, 12)).dealt("1 1 2 3").bid("2 0 0 0").after(near(P2), Void())
    match.dealt("1 1 2 3").bid("2 0 0 0")
    assert not match.due("announce")


@pytest.mark.rule("C49", "C-O24")
def test_after_the_last_trick_only_the_announcement_is_listed_with_its_total():
    match = cats((3, 12, 12, 12)).dealt("1 2 3 4 | 2 1").bid("2 0 0 0").tricks(6)
    assert match.phase == "played"
    assert (match.legal(P1), match.legal(P2)) == ((near(P1),), ())
    assert match.due("announce")
    match.do(near(P1))
    assert [said.total for said in match.happened(Announced)] == [1]


# The score


@pytest.mark.rule("C31", "C-O23")
def test_if_no_one_had_to_be_asked_the_line_has_no_answers():
    assert cats().play_deal("2 0 0 0", "1 2 3 4 | 1 1").line.answers == (None, None, None, None)


@pytest.mark.rule("C39", "C40", "C38")
def test_a_missed_contract_rests_on_the_tricks_of_the_declarer_alone():
    match = cats().play_deal("4 2 0 0", "1 1 1 2 | 3 3", join="P3")
    tricks = [event for event in rests_on(match, P1, "C39") if isinstance(event, TrickTaken)]
    assert [(taken.seat, taken.trick) for taken in tricks] == [(P1, 1), (P1, 2), (P1, 3)]
    assert [entry.rule for entry in match.line.entries if entry.seat == P2] == ["C38"]


@pytest.mark.rule("C35")
def test_playing_on_in_vain_rests_on_ones_own_answer():
    match = cats().play_deal("3 0 0 0", "1 1 1 2 | 2 2", join="P3 P4")
    for seat in (P3, P4):
        assert rests_on(match, seat, "C35") == [QuestionAnswered(seat=seat, answer="play")]


@pytest.mark.rule("C35", "C-O2")
def test_the_declarers_own_rests_on_the_contract():
    match = cats(play_on_applies_to_declarer=True).play_deal("0 0 0 0", "2 2 3 4 | 2 2")
    assert rests_on(match, P1, "C35") == match.happened(AuctionWon)


@pytest.mark.rule("C34", "C-O1", "C-O2")
def test_a_late_trick_that_counts_two_names_its_rule():
    options = {"play_on_double_for_all": True, "play_on_applies_to_declarer": True}
    match = cats(**options).play_deal("3 0 0 0", "1 2 2 3 | 1 2")
    late = {entry.seat: entry.rule for entry in match.line.entries if entry.rule in ("C34", "C-O1")}
    assert late == {P1: "C34", P2: "C-O1"}
    match = cats().play_deal("2 0 0 0", "1 1 2 3 | 4 1", join="P4")
    assert [(entry.points, entry.rule) for entry in match.line.entries if entry.seat == P4] == [(-2, "C34")]


@pytest.mark.rule("C-O9")
def test_the_line_names_who_was_in_a_duel():
    match = cats((12, 2, 12, 1)).play_deal("3 0 0 0", "2 2 4 1 | 1 3", join="P3")
    assert match.line.detail["duel"] is None
    match.after(Draw(seat=P2, card="SK"), Draw(seat=P4, card="SA")).dealt("2 2 2 4 | 2 4").tricks(6)
    assert match.line.detail["duel"] == [P2, P4]


@pytest.mark.rule("C-O31")
def test_only_seats_in_the_duel_enter_its_score():
    match = cats((12, 2, 12, 1), enforcement="penalise").play_deal("3 0 0 0", "2 2 4 1 | 1 3", join="P3")
    match.after(Draw(seat=P2, card="SK"), Draw(seat=P4, card="SA")).dealt("2 2 2 4 | 2 4").tricks(6)
    assert match.phase == "played"
    assert [Score(seat=seat) in match.legal(seat) for seat in range(4)] == [False, True, False, True]


@pytest.mark.rule("C26", "C59")
@pytest.mark.parametrize("game", [cats, fem])
def test_a_revoke_that_costs_nothing_is_noted_in_the_line(game: Any):
    match = game().after(Deal(seat=P4, counts=SIX)).bid("2 0 0 0")
    hands = ("SA H2 H3 H4 H5 H6", "C2 S2 D3 D4 D5 D6", "S3 S4 S5 S6 S7 S8", "S9 ST SJ SQ SK HA")
    order = [hand.split() for hand in hands]
    match.do(*(Play(seat=seat, card=order[seat][0]) for seat in range(4)))
    match.do(Play(seat=P1, card="H2"), Play(seat=P2, card="S2"), Play(seat=P3, card="S4"), Play(seat=P4, card="ST"))
    while match.phase == "playing":
        if match.due("ask"):
            match.ask("P2 P3 P4")
        seat = match.seen(P1).to_act[0]
        match.do(next(act for act in match.legal(seat) if isinstance(act, Play)))
    if match.phase == "played":
        match.do(Score(seat=P1))
    noted = [one for one in match.line.detail["noted"] if one["seat"] == P2]
    assert bool(noted) is (game is cats)


@pytest.mark.rule("C55", "C-O21")
def test_an_unbeaten_redbeard_wins_at_zero_at_once():
    match = cats((3, 12, 12, 12), exact_tricks_for_all=True, rodskagg_defenders_score="one_per_trick")
    match.dealt("1 1 1 1 | 1 1").bid("rodskagg 0 0 0").tricks(2)
    assert match.won is None
    assert match.announce().trick().won_by == (P1, "zero_at_once")
    line: DealScored = match.line
    assert line.points == (0, 12, 12, 12)


def test_thanks_are_for_after_the_last_trick():
    cats().dealt("1 1 1 1").bid("2 0 0 0").refused(Announce(seat=P1, what="thanks"), rule="C44", code="no_thanks_now")
