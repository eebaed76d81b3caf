"""Rödskägg (Kortoxen): errors, the seats that may knock for them, and the price (B11-B12, B-O1, B-O3 to B-O5,
B-O32)."""

import pytest

from referee.acts import Cut, Deal, Knock, PickUp, Report, Score, Void
from referee.events import KnockUpheld, PenaltyImposed
from referee.offences import DISMISSED_MAX
from referee.refusals import AgainstTheRules, NotInPlay, WrongPhase
from referee.visibility import as_seen_by
from tests.games.kortoxen_errors import (
    ERRORS,
    EVERY_ERROR,
    Error,
    after,
    early_pick_up,
    fresh,
    go_on,
    other,
    revokes,
    to_the_end,
    tricks_done,
    without_p4,
)
from tests.games.rodskagg import table
from tests.support.match_driver import P1, P2, P3, P4, P8


@pytest.mark.rule("B11", "B12", "B-O1")
class TestFiveUp:
    """A player who makes an error adds five points when a different player knocks and names it."""

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
                assert not getattr(as_seen_by(recorded.event, viewer, False), "breaches", ())


@pytest.mark.rule("B-O3")
class TestFalseKnock:
    """A knock for nothing has no effect; with false_knock_penalty it costs the knocker."""

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
class TestKnockingSeats:
    """Every player in the match may knock, except the player who made the error."""

    @EVERY_ERROR
    def test_all_others_may(self, error: Error):
        for seat in {P1, P2, P3, P4} - {error.seat}:
            after(error).upheld(seat, error.seat, error.offence, rule=error.rule)

    @EVERY_ERROR
    def test_the_offender_may_not(self, error: Error):
        knock = Knock(seat=error.seat, accused=error.seat)
        after(error).refused(knock, rule="B12", kind=AgainstTheRules)

    @EVERY_ERROR
    def test_an_eliminated_player_may_not_knock(self, error: Error):
        t = without_p4()
        error.make(t)
        t.refused(Knock(seat=P4, accused=error.seat), rule="B12", kind=NotInPlay)
        t.upheld(other(error.seat), error.seat, error.offence, rule=error.rule)

    def test_a_player_who_has_folded_may_knock(self):
        t = fresh().dealt("2 2 1 2 | 2 2")
        t.declares(P2, 1).tricks(4).asks(P2, "fold fold")
        t.do(Report(seat=P1, accused=P2, fault="exposed_card"))
        t.upheld(P3, P2, rule="B11")

    def test_no_one_knocks_for_a_seat_that_does_not_exist(self):
        t = fresh().dealt("2 2 1 2 | 2 2")
        t.refused(Knock(seat=P1, accused=P8), rule=None, kind=NotInPlay)
        t.refused(Knock(seat=P8, accused=P1), rule=None, kind=NotInPlay)


@pytest.mark.rule("B-O5")
class TestAgain:
    """An offence has one penalty."""

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
    """A late or wrong knock costs the fine, a repeated one does not. Of several errors the one named counts, or the
    oldest."""

    def test_too_late_is_fined(self):
        t = to_the_end(after(ERRORS[0], false_knock_penalty=5))
        t.score()
        t.dismissed(P1, P2, reason="late")
        assert t.penalties == (5, 0, 0, 0)

    def test_a_knock_hits_the_question_before_the_exit_knock_of_the_same_event(self):
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

    def test_if_errors_are_refused_there_is_nothing_to_knock_for(self):
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
    def test_a_lapsed_error_does_not_come_before_a_public_one(self, revoked: bool):
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

    def test_if_errors_are_refused_too(self):
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
    """The deal is scored automatically if errors are refused, otherwise on the act of a seat in the deal."""

    def test_any_seat_in_the_deal_may_write_it(self):
        for seat in range(4):
            t = to_the_end(fresh())
            assert Score(seat=seat) in t.legal(seat)
            t.do(Score(seat=seat))

    def test_an_eliminated_player_may_not_score(self):
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

    def test_if_errors_are_refused_it_comes_with_the_last_card(self):
        t = table(dealer=P1).dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(4).asks(P2, "fold fold").tricks(2)
        assert t.line.deal == 1
        assert t.phase == "undealt"
