"""Rödskägg (Kortoxen): the time limit of a knock for an error (B-O2)."""

import pytest

from referee.acts import Cut, Knock, Report, Void
from referee.events import KnockDismissed
from referee.refusals import MatchOver
from referee.visibility import as_seen_by
from tests.games.kortoxen_errors import (
    ERRORS,
    EVERY_ERROR,
    Error,
    after,
    fresh,
    go_on,
    other,
    revokes,
    to_the_end,
    tricks_done,
)
from tests.support.match_driver import P1, P2, P3, P4


@pytest.mark.rule("B-O2")
class TestWindow:
    """A knock is in time until the deal is scored; with knock_window next_trick, until the next trick is complete."""

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
        """The window is the trick after that of the error, or after the pause in which it was made."""
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

    def test_an_error_reported_between_two_tricks_lapses_with_the_next(self):
        t = fresh(knock_window="next_trick").dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(1)
        t.do(Report(seat=P1, accused=P4, fault="exposed_card"))
        t.tricks(1)
        t.dismissed(P1, P4, reason="late")

    def test_an_error_reported_in_a_trick_lapses_with_the_one_after(self):
        t = fresh(knock_window="next_trick").dealt("2 2 1 2 | 2 2").declares(P2, 1).tricks(1)
        t.card()
        t.do(Report(seat=P1, accused=P4, fault="exposed_card"))
        t.tricks(1)
        t.upheld(P1, P4, rule="B11")

    def test_an_error_reported_before_the_first_trick_lapses_with_it(self):
        t = after(ERRORS[6], knock_window="next_trick").tricks(1)
        t.dismissed(P1, P2, reason="late")

    def test_an_omission_after_the_fifth_trick_lapses_with_the_sixth(self):
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
            told = as_seen_by(ruling, viewer, False)
            assert isinstance(told, KnockDismissed)
            assert (told.reason, told.offence, told.rests_on) == ("nothing", None, ())
            assert told.rule == for_nothing.rule
            assert told.within_deal == for_nothing.within_deal
            assert as_seen_by(ruling, viewer, True) == ruling
        assert as_seen_by(ruling, "official", False) == ruling


@pytest.mark.rule("B-O38", "B-O2")
def test_a_voided_deal_ends_the_time_for_its_knocks():
    t = after(ERRORS[3])
    t.do(Void())
    t.dismissed(P1, P2, "fold_question", reason="late")
