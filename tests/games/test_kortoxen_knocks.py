"""Rödskägg (Kortoxen): errors, and who knocks for them, when and at what price (B11-B12, B-O1 to B-O5, B-O32)."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from referee.acts import Bid, Cut, Deal, Knock, KnockForCards, PickUp, Play, Report, Score, Void
from referee.events import (
    CardPlayed,
    Dealt,
    Event,
    KnockDismissed,
    KnockUpheld,
    PenaltyImposed,
    Reported,
    TrickTaken,
    seen,
)
from referee.games._rodskagg import CardsCut, PickedUp
from referee.offences import DISMISSED_MAX
from referee.refusals import AgainstTheRules, MatchOver, NotInPlay, WrongPhase
from tests.games.rodskagg import Table, table
from tests.given import P1, P2, P3, P4, P8


class Error(NamedTuple):
    """An error: how it is made by ``seat`` in a deal by P1, and what the ruling on it says and rests on."""

    offence: str
    seat: int
    rule: str
    rests_on: tuple[type[Event], ...]
    make: Callable[[Table], Any]


def early_pick_up(t: Table) -> None:
    t.dealt("2 2 1 2 | 2 2", ritual=False).do(PickUp(seat=P2))


def misdeal(t: Table) -> None:
    t.do(Deal(seat=P1, counts=tuple(6 + (seat == P2) if seat in t.seen().active else 0 for seat in range(4))))
    t.do(PickUp(seat=P1))


def fold_question(t: Table) -> None:
    t.dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(4).card()


def exit_knock(t: Table) -> None:
    t.dealt("3 3 2 1 | 2 1").declares(P2, 1).tricks(2).card()


def revoke(t: Table) -> None:
    t.dealt("2 2 1 2 | 2 2").declares(P2, 1).card()
    t.do(Play(seat=P3, card=t.plan.cards[1][P3]))


def reported(fault: Any) -> Callable[[Table], None]:
    def report(t: Table) -> None:
        t.dealt("2 2 1 2 | 2 2").declares(P2, 1).do(Report(seat=P1, accused=P2, fault=fault))

    return report


ERRORS = (
    Error("wrong_cut", P2, "B17", (CardsCut,), lambda t: t.do(Cut(seat=P2))),
    Error("early_pick_up", P2, "B24", (Dealt, PickedUp), early_pick_up),
    Error("misdeal", P1, "B25", (Dealt, PickedUp), misdeal),
    Error("fold_question", P2, "B54", (TrickTaken, CardPlayed), fold_question),
    Error("exit_knock", P3, "B68", (TrickTaken, CardPlayed), exit_knock),
    Error("revoke", P3, "B42", (CardPlayed, CardPlayed), revoke),
    Error("exposed_card", P2, "B11", (Reported,), reported("exposed_card")),
    Error("led_out_of_turn", P2, "B11", (Reported,), reported("led_out_of_turn")),
)
EVERY_ERROR = pytest.mark.parametrize("error", ERRORS, ids=[error.offence for error in ERRORS])


ALL_BUT_MISDEAL = [error for error in ERRORS if error.offence != "misdeal"]


def fresh(**match: Any) -> Table:
    """P1 deals; P3 needs two tricks to zero."""
    return table(points=(12, 12, 2, 12), dealer=P1, enforcement="penalise", **match)


def without_p4(**match: Any) -> Table:
    """P4 is out, and P1 deals."""
    t = table(points=(12, 12, 2, 12), dealer=P3, enforcement="penalise", **match)
    t.dealt("1 1 1 1 | 1 1").declares(P4, "rodskagg").tricks(1).score()
    assert t.dealer == P1
    return t


def after(error: Error, **match: Any) -> Table:
    """The error has just been made."""
    t = fresh(**match)
    error.make(t)
    return t


def go_on(t: Table) -> None:
    """The next act within the rules; forehand declares one trick, and all go along."""
    seat = t.turn
    if t.phase == "undealt" or Deal(seat=t.dealer) in t.legal(t.dealer):
        t.dealt("2 2 1 2 | 2 2", ritual=False)
    elif t.phase == "picking_up":
        t.do(PickUp(seat=next(seat for seat in t.seen().active if seat not in (t.seen().picked_up or ()))))
    elif t.phase == "auction":
        t.do(Bid(seat=seat, bid="pass" if t.seen().bids else 1))
    else:
        t.do(t.legal(seat)[0])


def to_the_end(t: Table) -> Table:
    """On within the rules until the deal can be scored."""
    while t.phase != "played":
        go_on(t)
    return t


def other(*seats: int) -> int:
    """Somebody else."""
    return next(seat for seat in (P1, P2, P3) if seat not in seats)


@pytest.mark.rule("B11", "B12", "B-O1")
class TestFiveUp:
    """A player who makes an error goes up five, once another knocks and points it out."""

    @EVERY_ERROR
    def test_a_knock_by_another_is_upheld(self, error: Error):
        t = after(error)
        shown = t.upheld(other(error.seat), error.seat, error.offence, rule=error.rule)
        assert tuple(map(type, shown)) == error.rests_on

    @EVERY_ERROR
    def test_without_a_knock_it_costs_nothing(self, error: Error):
        t = to_the_end(after(error))
        before = t.points
        line = t.score()
        assert line.penalties == (0, 0, 0, 0)
        assert error.rule not in {entry.rule for entry in line.entries}
        assert line.before == before

    @EVERY_ERROR
    def test_the_five_stand_in_the_protocol_with_the_rule_and_what_shows_it(self, error: Error):
        t = after(error)
        t.knock(other(error.seat), error.seat, error.offence)
        line = to_the_end(t).score()
        (entry,) = [entry for entry in line.entries if entry.rule == error.rule]
        assert (entry.seat, entry.points) == (error.seat, 5)
        assert [type(t.event(number)) for number in entry.events] == [KnockUpheld, PenaltyImposed]

    def test_the_penalty_waits_for_the_line_of_the_deal(self):
        t = after(ERRORS[0])
        t.knock(P1, P2)
        assert (t.points[P2], t.penalties[P2]) == (12, 5)

    def test_the_ruling_names_knocker_accused_payer_and_case(self):
        t = after(ERRORS[0])
        first, second = t.knock(P1, P2), t.knock(P3, P2)
        assert (first.case, first.seat, first.accused, first.named) == (1, P1, P2, None)
        assert (second.case, second.seat) == (2, P3)

    @EVERY_ERROR
    def test_only_the_official_sees_that_an_error_stands_open(self, error: Error):
        t = after(error)
        assert error.offence in {breach["offence"] for breach in t.seen().breaches or ()}
        for viewer in (*range(4), "spectator"):
            assert t.seen(viewer).breaches is None
            for recorded in t.history:
                assert not getattr(seen(recorded.event, viewer, False), "breaches", ())


@pytest.mark.rule("B-O2")
class TestWindow:
    """Until the deal is scored; with knock_window next_trick, until the next trick is complete."""

    @EVERY_ERROR
    def test_before_the_score_it_is_in_time(self, error: Error):
        t = to_the_end(after(error))
        t.upheld(other(error.seat), error.seat, error.offence, rule=error.rule)

    @EVERY_ERROR
    def test_after_it_it_is_too_late(self, error: Error):
        t = to_the_end(after(error))
        t.score()
        if t.won is not None:
            t.refused(Knock(seat=other(error.seat), accused=error.seat), rule=None, kind=MatchOver)
            return
        ruling = t.dismissed(other(error.seat), error.seat, error.offence, reason="late")
        assert (ruling.offence, ruling.rule) == (error.offence, "B-O32")
        assert t.penalties == (0, 0, 0, 0)

    def test_a_deal_later_still(self):
        t = to_the_end(after(ERRORS[0]))
        t.score()
        t.dealt("1 2 3 4 | 1 2")
        t.dismissed(P1, P2, "wrong_cut", reason="late")

    @pytest.mark.parametrize(
        "error", [error for error in ERRORS if error.offence != "misdeal"], ids=lambda e: e.offence
    )
    def test_a_window_of_one_trick(self, error: Error):
        """Of one trick after that of the error, or after the pause in which it was made."""
        closes = {"fold_question": 5, "exit_knock": 3, "revoke": 2}.get(error.offence, 1)
        t = after(error, knock_window="next_trick")
        t.upheld(other(error.seat), error.seat, error.offence, rule=error.rule)

        t = after(error, knock_window="next_trick")
        while tricks_done(t) < closes:
            still_open = {breach["offence"] for breach in t.seen().breaches or ()}
            assert error.offence in still_open
            go_on(t)
        t.dismissed(other(error.seat), error.seat, error.offence, reason="late")

    def test_a_misdeal_of_the_cards_before_can_be_knocked_for_until_the_first_trick_is_complete(self):
        t = after(ERRORS[2], knock_window="next_trick")
        while tricks_done(t) < 1:
            assert "misdeal" in {breach["offence"] for breach in t.seen().breaches or ()}
            go_on(t)
        t.dismissed(P2, P1, "misdeal", reason="late")

    def test_a_question_forgotten_can_be_knocked_for_until_trick_five_is_complete(self):
        t = fresh(knock_window="next_trick").dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(4)
        t.card(), t.card(), t.card()
        t.upheld(P1, P2, rule="B54")

    @pytest.mark.parametrize(("played", "closes"), [(0, 2), (1, 3), (3, 5), (4, 6)])
    def test_a_revoke_until_the_trick_after_its_own_is_complete(self, played: int, closes: int):
        t = fresh(knock_window="next_trick").dealt("2 2 1 2 | 4 4").declares(P2, 1).tricks(played)
        if played == 4:
            t.asks(P2, "play play")
        revokes(t)
        while tricks_done(t) < closes - 1:
            go_on(t)
        while not (tricks_done(t) == closes - 1 and len(t.seen().trick or ()) == 3):
            go_on(t)
        assert {breach["offence"] for breach in t.seen().breaches or ()} == {"revoke"}
        go_on(t)
        t.dismissed(P1, P3, "revoke", reason="late")

    def test_what_is_reported_between_two_tricks_closes_with_the_next(self):
        t = fresh(knock_window="next_trick").dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(1)
        t.do(Report(seat=P1, accused=P4, fault="exposed_card"))
        t.tricks(1)
        t.dismissed(P1, P4, reason="late")

    def test_what_is_reported_in_a_trick_closes_with_the_one_after(self):
        t = fresh(knock_window="next_trick").dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(1)
        t.card()
        t.do(Report(seat=P1, accused=P4, fault="exposed_card"))
        t.tricks(1)
        t.upheld(P1, P4, rule="B11")

    def test_what_is_reported_before_the_first_trick_closes_with_it(self):
        t = after(ERRORS[6], knock_window="next_trick").tricks(1)
        t.dismissed(P1, P2, reason="late")

    def test_what_is_forgotten_after_the_fifth_trick_closes_with_the_sixth(self):
        t = (
            fresh(knock_window="next_trick")
            .dealt("3 2 1 2 | 3 2")
            .declares(P2, 1)
            .tricks(4)
            .asks(P2, "play")
            .tricks(1)
        )
        t.card()
        assert {breach["offence"] for breach in t.seen().breaches or ()} == {"exit_knock"}
        t.card(), t.card(), t.card()
        assert t.phase == "played"
        t.dismissed(P1, P3, "exit_knock", reason="late")

    def test_too_late_and_for_nothing_look_alike_to_the_players_until_the_deal_is_over(self):
        t = fresh(knock_window="next_trick")
        t.do(Cut(seat=P2))
        t.dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(1)
        ruling = t.dismissed(P1, P2, "wrong_cut", reason="late")
        for_nothing = t.dismissed(P1, P3, "wrong_cut", reason="nothing")
        for viewer in (*range(4), "spectator"):
            told = seen(ruling, viewer, False)
            assert isinstance(told, KnockDismissed)
            assert (told.reason, told.offence, told.rests_on) == ("nothing", None, ())
            assert told.rule == for_nothing.rule
            assert told.within_deal == for_nothing.within_deal
            assert seen(ruling, viewer, True) == ruling
        assert seen(ruling, "official", False) == ruling


def tricks_done(t: Table) -> int:
    return len(t.winners)


def revokes(t: Table) -> None:
    """P3 has the suit led, and plays another."""
    while t.turn != P3 or not t.seen().trick:
        go_on(t)
    follow = {act.card for act in t.legal(P3)}
    held = t.seen().hands
    assert held is not None
    t.do(Play(seat=P3, card=next(card for card in held[P3] if card not in follow)))
    assert "revoke" in {breach["offence"] for breach in t.seen().breaches or ()}


@pytest.mark.rule("B-O3")
class TestFalseKnock:
    """A knock for nothing has no effect; with false_knock_penalty it costs the one who knocks."""

    @pytest.mark.parametrize("offence", [None, "revoke", "wrong_cut"])
    def test_it_has_no_effect(self, offence: str | None):
        t = fresh().dealt("2 2 1 2 | 2 2")
        assert t.dismissed(P1, P2, offence, reason="nothing").rule == "B-O32"
        assert t.penalties == (0, 0, 0, 0)

    def test_at_a_price(self):
        t = fresh(false_knock_penalty=5).dealt("2 2 1 2 | 2 2")
        t.dismissed(P1, P2, reason="nothing")
        assert t.happened(PenaltyImposed) == [PenaltyImposed(seat=P1, points=5, rule="B-O3", case=1)]
        line = to_the_end(t).score()
        assert (line.penalties[P1], line.penalties[P2]) == (5, 0)

    def test_between_two_deals_the_price_goes_into_the_next(self):
        t = fresh(false_knock_penalty=5).dealt("2 2 1 2 | 2 2").bid("pass pass pass pass")
        t.score()
        t.dismissed(P1, P2, reason="nothing")
        assert to_the_end(t).score().penalties == (5, 0, 0, 0)

    def test_a_right_knock_is_free(self):
        t = after(ERRORS[0], false_knock_penalty=5)
        t.upheld(P1, P2, rule="B17")

    @pytest.mark.rule("B-O31")
    def test_the_price_lifts_a_knocker_at_zero_off_it(self):
        t = fresh(false_knock_penalty=5).dealt("3 3 2 1 | 2 1").declares(P2, 1).tricks(2)
        assert t.seen().due == ("knock_out",)
        t.dismissed(P3, P1, reason="nothing")
        assert t.seen().due == ()


@pytest.mark.rule("B-O4", "B12")
class TestWhoMayKnock:
    """Anybody in the match but the one who made the error."""

    @EVERY_ERROR
    def test_all_others_may(self, error: Error):
        for seat in {P1, P2, P3, P4} - {error.seat}:
            after(error).upheld(seat, error.seat, error.offence, rule=error.rule)

    @EVERY_ERROR
    def test_the_offender_may_not(self, error: Error):
        knock = Knock(seat=error.seat, accused=error.seat)
        after(error).refused(knock, rule="B12", kind=AgainstTheRules)

    @EVERY_ERROR
    def test_nor_may_who_is_out(self, error: Error):
        t = without_p4()
        error.make(t)
        t.refused(Knock(seat=P4, accused=error.seat), rule="B12", kind=NotInPlay)
        t.upheld(other(error.seat), error.seat, error.offence, rule=error.rule)

    def test_who_has_folded_may(self):
        t = fresh().dealt("2 2 1 2 | 2 2")
        t.declares(P2, 1).tricks(4).asks(P2, "fold fold")
        t.do(Report(seat=P1, accused=P2, fault="exposed_card"))
        t.upheld(P3, P2, rule="B11")

    def test_nobody_knocks_for_a_seat_that_does_not_exist(self):
        t = fresh().dealt("2 2 1 2 | 2 2")
        t.refused(Knock(seat=P1, accused=P8), rule=None, kind=NotInPlay)
        t.refused(Knock(seat=P8, accused=P1), rule=None, kind=NotInPlay)


@pytest.mark.rule("B-O5")
class TestAgain:
    """One penalty an offence."""

    @EVERY_ERROR
    @pytest.mark.parametrize("fine", [0, 5])
    def test_a_second_knock_has_no_effect_and_costs_nothing(self, error: Error, fine: int):
        t = after(error, false_knock_penalty=fine)
        first, second = sorted({P1, P2, P3, P4} - {error.seat})[:2]
        t.upheld(first, error.seat, error.offence, rule=error.rule)
        penalties = t.penalties
        assert t.dismissed(second, error.seat, error.offence, reason="again").rule == "B-O5"
        assert t.penalties == penalties

    def test_two_errors_of_one_kind_are_two_offences(self):
        t = fresh()
        t.do(Cut(seat=P2))
        t.do(Cut(seat=P2))
        t.upheld(P1, P2, "wrong_cut", rule="B17")
        t.upheld(P1, P2, "wrong_cut", rule="B17")
        t.dismissed(P1, P2, "wrong_cut", reason="again")
        assert t.penalties == (0, 10, 0, 0)


@pytest.mark.rule("B-O32")
class TestKnocksFurther:
    """Too late or for nothing costs the fine, again does not; of several errors the one named, or the oldest."""

    def test_too_late_is_fined(self):
        t = to_the_end(after(ERRORS[0], false_knock_penalty=5))
        t.score()
        t.dismissed(P1, P2, reason="late")
        assert t.penalties == (5, 0, 0, 0)

    def test_of_two_in_one_event_the_question_comes_first(self):
        t = fresh().dealt("3 1 2 3 | 3 1").declares(P3, 2)
        t.tricks(4).card()
        t.upheld(P1, P3, rule="B54")
        t.upheld(P1, P3, rule="B68")

    def test_the_oldest_counts_when_none_is_named(self):
        t = fresh()
        t.do(Cut(seat=P2))
        early_pick_up(t)
        t.upheld(P1, P2, rule="B17")
        t.upheld(P1, P2, rule="B24")
        t.dismissed(P1, P2, reason="again")

    def test_the_one_named_counts_before_older_ones(self):
        t = fresh()
        t.do(Cut(seat=P2))
        early_pick_up(t)
        t.upheld(P1, P2, "early_pick_up", rule="B24")
        t.upheld(P1, P2, "wrong_cut", rule="B17")

    def test_an_error_of_another_does_not_count(self):
        t = after(ERRORS[0])
        t.dismissed(P1, P3, reason="nothing")
        t.upheld(P1, P2, rule="B17")

    def test_nor_does_one_of_another_name(self):
        after(ERRORS[0]).dismissed(P1, P2, "revoke", reason="nothing")

    def test_where_errors_are_refused_there_is_nothing_to_knock_for(self):
        t = table(dealer=P1)
        t.refused(Cut(seat=P2), rule="B16")
        assert t.dismissed(P1, P2, "wrong_cut", reason="enforced").rule == "B-O32"
        assert t.penalties == (0, 0, 0, 0)

    @pytest.mark.parametrize("revoked", [False, True])
    def test_again_names_what_was_punished_and_nothing_that_has_lapsed_since(self, revoked: bool):
        t = fresh(knock_window="next_trick")
        early_pick_up(t)
        t.do(PickUp(seat=P3))
        picked_up = t.version
        t.upheld(P1, P3, "early_pick_up", rule="B24")
        while t.phase != "playing":
            go_on(t)
        if revoked:
            revokes(t)
        while tricks_done(t) < 4:
            go_on(t)
        assert "revoke" not in {breach["offence"] for breach in t.seen().breaches or ()}
        ruling = t.dismissed(P1, P3, reason="again")
        assert (ruling.offence, ruling.rests_on) == ("early_pick_up", (picked_up,))

    @pytest.mark.parametrize("revoked", [False, True])
    def test_what_has_lapsed_in_this_deal_does_not_come_before_what_everybody_knows(self, revoked: bool):
        t = table(dealer=P1, enforcement="penalise", knock_window="next_trick").dealt("2 2 1 2 | 2 2").declares(P2, 1)
        revokes(t)
        told = t.version
        to_the_end(t).score()
        while t.phase != "playing":
            go_on(t)
        if revoked:
            revokes(t)
        while tricks_done(t) < 4:
            go_on(t)
        ruling = t.dismissed(P1, P3, "revoke", reason="late")
        assert (ruling.offence, ruling.rests_on, ruling.within_deal) == ("revoke", (told,), False)

    def test_twenty_dismissed_knocks_in_a_deal_are_enough(self):
        t = fresh()
        for _ in range(DISMISSED_MAX):
            t.dismissed(P1, P2, reason="nothing")
        t.do(Cut(seat=P2))
        t.refused(Knock(seat=P1, accused=P2), rule=None, kind=WrongPhase, code="too_many_knocks")
        t.upheld(P3, P2, rule="B17")
        t.dealt("1 2 3 4 | 1 2").do(Void())
        t.refused(Knock(seat=P1, accused=P2), rule=None, kind=WrongPhase, code="too_many_knocks")
        to_the_end(t).score()
        t.dismissed(P1, P4, "revoke", reason="nothing")

    def test_where_errors_are_refused_too(self):
        t = table(dealer=P1)
        for _ in range(DISMISSED_MAX):
            t.dismissed(P1, P2, reason="enforced")
        t.refused(Knock(seat=P1, accused=P2), rule=None, kind=WrongPhase, code="too_many_knocks")
        t.dismissed(P2, P1, reason="enforced")

    def test_right_ones_are_not_counted(self):
        t = fresh()
        for _ in range(DISMISSED_MAX + 1):
            t.do(Cut(seat=P2))
            t.upheld(P1, P2, rule="B17")

    def test_a_knock_has_a_place_in_every_phase_but_the_last(self):
        t = table(dealer=None, enforcement="penalise")
        phases = {t.phase}
        t.dismissed(P1, P2, reason="nothing")
        t = fresh()
        while t.phase != "over" and len(phases) < 6:
            if t.phase not in phases:
                t.dismissed(P1, P2, "revoke", reason="nothing")
            phases.add(t.phase)
            t.score() if t.phase == "played" else go_on(t)
        assert phases == {"drawing", "undealt", "picking_up", "auction", "playing", "played"}


@pytest.mark.rule("B-O28")
class TestScoring:
    """By itself where errors are refused; where they stand, when a seat in the deal writes it down."""

    def test_any_seat_in_the_deal_may_write_it(self):
        for seat in range(4):
            t = to_the_end(fresh())
            assert Score(seat=seat) in t.legal(seat)
            t.do(Score(seat=seat))

    def test_who_is_out_may_not(self):
        to_the_end(without_p4()).refused(Score(seat=P4), rule="B63", kind=NotInPlay)

    def test_not_before_the_play_has_ended(self):
        t = fresh()
        t.refused(Score(seat=P1), rule="B-O28", kind=WrongPhase)
        t.dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(3)
        t.refused(Score(seat=P1), rule="B-O28", kind=WrongPhase)

    def test_nor_twice(self):
        t = to_the_end(fresh())
        t.score()
        t.refused(Score(seat=P1), rule="B-O28", kind=WrongPhase)

    def test_the_next_deal_waits_for_it(self):
        t = to_the_end(fresh())
        t.refused(Deal(seat=P2), rule="B-O28", kind=WrongPhase)

    def test_where_errors_are_refused_it_comes_with_the_last_card(self):
        t = table(dealer=P1).dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(4).asks(P2, "fold fold").tricks(2)
        assert t.line.deal == 1
        assert t.phase == "undealt"


@pytest.mark.rule("B11", "B-O26", "B-O33")
class TestReports:
    """What only the table sees is reported: it stands as seen, and a knock makes it count."""

    def test_an_early_player(self):
        t = fresh()
        t.do(Deal(seat=P1, counts=(6, 6, 6, 6)))
        t.do(Report(seat=P1, accused=P2, fault="early_pick_up"))
        t.upheld(P3, P2, "early_pick_up", rule="B24")

    @pytest.mark.rule("B-O5")
    def test_what_stands_already_is_not_reported_again(self):
        t = fresh()
        t.do(Deal(seat=P1, counts=(6, 6, 6, 6)))
        t.do(Report(seat=P1, accused=P2, fault="early_pick_up"))
        t.refused(Report(seat=P3, accused=P2, fault="early_pick_up"), rule="B-O5", kind=AgainstTheRules)

    @pytest.mark.rule("B-O5", "B24")
    def test_what_was_reported_is_not_done_again_by_the_act(self):
        t = fresh()
        t.do(Deal(seat=P1, counts=(6, 6, 6, 6)))
        t.do(Report(seat=P1, accused=P2, fault="early_pick_up"))
        t.do(PickUp(seat=P2))
        t.upheld(P1, P2, "early_pick_up", rule="B24")
        t.dismissed(P3, P2, "early_pick_up", reason="again")

    @pytest.mark.rule("B-O5", "B-O38")
    def test_what_was_punished_in_a_deal_that_was_voided_is_not_punished_again(self):
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

    def test_no_report_says_otherwise_than_the_acts(self):
        """The formula is said, so who takes up his cards now is not early, whoever may say so."""
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

    def test_nobody_who_is_out_is_reported_or_reports(self):
        t = without_p4().dealt("2 2 1 2 | 2 2")
        t.refused(Report(seat=P1, accused=P4, fault="exposed_card"), rule="B63", kind=AgainstTheRules)
        t.refused(Report(seat=P4, accused=P1, fault="exposed_card"), rule="B63", kind=NotInPlay)

    def test_at_the_house_nothing_is_reported(self):
        t = fresh(dealing="house").dealt()
        t.refused(Report(seat=P3, accused=P2, fault="exposed_card"), rule=None, kind=AgainstTheRules)


@pytest.mark.rule("B-O38", "B-O2")
def test_a_voided_deal_ends_the_time_for_its_knocks():
    t = after(ERRORS[3])
    t.do(Void())
    t.dismissed(P1, P2, "fold_question", reason="late")
