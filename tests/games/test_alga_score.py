"""Rödskägg (alga): the score, duels and the end (A7, A27-A28, A40-A60), with the worked examples."""

import pytest

from referee.acts import Ask, Bid, Deal, Play, Score, Void
from referee.events import DealScored, MatchWon, PlayerEliminated
from referee.games._rodskagg.facts import DuelCalled
from referee.refusals import NotInPlay, WrongPhase
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4


def alga(points: tuple[int, ...] = (12, 12, 12, 12), **match: object) -> Table:
    return table("rodskagg-alga", points=points, **match)


def entries(line: DealScored, seat: int) -> list[tuple[int, str]]:
    return [(entry.points, entry.rule) for entry in line.entries if entry.seat == seat]


def duel(tricks: str, bids: str, before: str = "1 4 2 1 | 4 1", **match: object) -> Table:
    """Return the match of A-X9 before its duel between P1 and P4, and the line of that duel."""
    first = alga((3, 9, 11, 2), dealer=P2, **match).play_deal("pass pass 3 pass", before)
    assert first.points == (0, 8, 11, 0)
    return first.play_deal(bids, tricks)


class TestOrdinaryDeals:
    @pytest.mark.rule("A-X1", "A40", "A41", "A25")
    def test_an_ordinary_deal(self):
        match = alga().play_deal("2 pass 3 pass", "3 1 3 3 | 2 3", join="P2")
        assert match.points == (11, 10, 8, 12)
        assert match.line.answers == ("in", "play", None, "fold")
        assert (match.line.detail["joined"], match.line.detail["folded"]) == ([P2], [P4])
        assert entries(match.line, P2) == [(-2, "A41")]
        assert match.seen(P1).dealer == P1

    @pytest.mark.rule("A-X3", "A44", "A35")
    def test_joined_without_a_trick(self):
        match = alga((6, 9, 8), dealer=P3).play_deal("pass 4 pass", "2 2 1 2 | 2 2", join="P3")
        assert match.points == (5, 4, 14)
        assert entries(match.line, P3) == [(6, "A44")]

    @pytest.mark.rule("A-X4", "A41")
    def test_joined_and_took_both_of_the_last(self):
        match = alga((10, 5, 9, 6)).play_deal("3 pass pass pass", "1 1 1 2 | 3 3", join="P3")
        assert match.points == (7, 4, 5, 6)

    @pytest.mark.rule("A27", "A42", "A43")
    def test_a_failed_contract_goes_up_six_and_subtracts(self):
        match = alga((9, 9, 9, 9)).play_deal("5 pass pass pass", "1 1 2 3 | 1 4", join="P4")
        assert entries(match.line, P1) == [(6, "A42"), (-3, "A43")]
        assert match.points == (12, 8, 8, 7)

    @pytest.mark.rule("A27")
    def test_more_than_promised_is_as_good(self):
        assert alga().play_deal("1 pass pass pass", "1 1 1 1 | 1 1").points[P1] == 6

    @pytest.mark.rule("A-X15", "A28", "A-O22")
    def test_six_is_not_rodskagg(self):
        match = alga((9, 12, 12, 12)).play_deal("6 pass pass pass", "1 1 1 1 | 1 1", join="P2")
        assert (match.points[P1], match.won_by) == (3, None)
        assert alga((6, 12, 12, 12)).play_deal("6 pass pass pass", "1 1 1 1 | 1 1").won_by == (P1, "zero")

    @pytest.mark.rule("A-X17", "A53", "A-O12")
    def test_everyone_folds(self):
        match = alga((4, 12, 12, 12)).play_deal("4 pass pass pass", "1 1 1 1 | 1 1")
        assert match.points == (-2, 12, 12, 12)

    @pytest.mark.rule("A-O20")
    def test_a_bid_above_the_own_points(self):
        assert alga((2, 12, 12, 12)).play_deal("5 pass pass pass", "1 1 2 2 | 1 1").points[P1] == 2 + 6 - 4

    @pytest.mark.rule("A-O28")
    def test_under_penalise_it_is_written_by_any_seat(self):
        match = alga(enforcement="penalise").dealt("1 1 1 2 | 1 1").bid("2 pass pass pass").tricks(4).ask().tricks(2)
        assert match.phase == "played"
        assert match.legal(P3) == (Score(seat=P3),)
        assert match.seen(P1).to_act == (P1, P2, P3, P4)
        match.refused(Deal(seat=P1, counts=(6, 6, 6, 6)), rule="A-O28", code="deal_not_scored")
        match.do(Score(seat=P3))
        match.refused(Score(seat=P3), rule="A-O28", code="wrong_phase", kind=WrongPhase)

    @pytest.mark.rule("A-O23")
    def test_under_refuse_it_is_scored_by_itself(self):
        match = alga().dealt().bid("2 pass pass pass").tricks(3)
        match.refused(Score(seat=P1), rule="A-O28", code="wrong_phase", kind=WrongPhase)

    @pytest.mark.rule("A51")
    def test_a_deal_is_played_out_though_someone_has_reached_zero(self):
        match = alga((12, 2, 12, 12)).play_deal("2 pass pass pass", "2 2 2 1 | 1 1")
        assert match.points[P2] == -1


@pytest.mark.rule("A45", "A46", "A47", "A-O8", "A-O9", "A-O10", "A-O27")
class TestForgottenQuestion:
    def forgotten(self, tricks: str, **options: object) -> Table:
        match = alga((9, 6, 7, 12), enforcement="penalise", **options)
        return match.play_deal("3 pass pass pass", tricks, ask=False)

    @pytest.mark.parametrize("last", ["1 1", "3 1", "3 3"])
    def test_the_trickless_go_down_two_whatever_they_take(self, last: str):
        match = self.forgotten(f"1 1 2 1 | {last}")
        assert match.points[P3] == 7 - 2
        assert match.points[P4] == 12 - 2
        assert entries(match.line, P3) == [(-2, "A46")]
        assert match.points[P2] == 5
        assert match.points[P1] == 9 - match.line.tricks[P1], "the declarer goes down by the tricks taken"

    def test_with_normal_values_the_trickless_score_their_tricks_without_risk(self):
        match = self.forgotten("1 1 2 1 | 3 1", forgotten_question_effect="normal_value")
        assert match.points == (5, 5, 6, 12)
        assert entries(match.line, P3) == [(-1, "A-O9")]

    @pytest.mark.parametrize("fine", [0, 5, 6])
    def test_the_declarer_pays_the_agreed_penalty_for_the_forgotten_question(self, fine: int):
        match = self.forgotten("1 1 2 1 | 1 1", forgotten_question_penalty=fine)
        assert match.points[P1] == 9 + fine - 5
        assert ((fine, "A-O10") in entries(match.line, P1)) == bool(fine)

    def test_a_trickless_declarer_is_not_deemed_to_have_one(self):
        assert self.forgotten("2 2 2 2 | 2 2").points[P1] == 9 + 6


class TestRodskagg:
    @pytest.mark.rule("A-X7", "A48", "A23")
    def test_made_it_wins_the_game(self):
        match = alga((12, 17, 12, 12)).play_deal("pass rodskagg", "2 2 2 2 | 2 2")
        assert match.won_by == (P2, "rodskagg")
        assert match.points == (12, 17, 12, 12)
        assert match.happened(MatchWon)[0].rule == "A48"
        assert match.line.kind == "rodskagg_made"

    @pytest.mark.rule("A49", "A50", "A39", "A-O1", "A-O2", "A-O19", "A-O29", "A51")
    def test_failed_it_eliminates_and_is_played_out(self):
        match = alga((4, 12, 1, 12)).play_deal("rodskagg", "1 3 1 1 | 1 1")
        assert match.line.kind == "rodskagg_failed"
        assert match.line.tricks == (5, 0, 1, 0)
        assert match.points == (4, 12, 1, 12)
        assert match.happened(PlayerEliminated)[0].rule == "A49"
        view = match.seen(P2)
        assert (view.active, view.dealer) == ((P2, P3, P4), P2)
        match.refused(Deal(seat=P1, counts=(6, 6, 6, 6)), rule="A49", code="eliminated", kind=NotInPlay)
        match.play_deal("pass pass 2", "2 2 3 4 | 2 2")
        assert match.line.eliminated == (P1,)

    @pytest.mark.rule("A-O1")
    def test_the_others_may_score_their_tricks(self):
        match = alga((4, 12, 1, 12), rodskagg_defenders_score="one_per_trick")
        match.play_deal("rodskagg", "1 3 1 2 | 1 1")
        assert match.points == (4, 11, 0, 12)
        assert match.won_by == (P3, "zero")

    @pytest.mark.rule("A-O2")
    def test_it_may_stop_at_the_first_loss(self):
        match = alga(rodskagg_stop_at_first_loss=True, rodskagg_defenders_score="one_per_trick")
        match.play_deal("rodskagg", "1 3 1 1 | 1 1")
        assert match.line.tricks == (1, 0, 1, 0)
        assert match.points == (12, 12, 11, 12)

    @pytest.mark.rule("A-O18")
    def test_the_last_player_in_the_match_wins(self):
        match = alga((9, 6), dealer=P1).play_deal("rodskagg", "1 2 2 2 | 2 2")
        assert match.won_by == (P1, "last_standing")


class TestBelowZero:
    @pytest.mark.rule("A7", "A52")
    def test_exactly_zero_wins(self):
        match = alga((3, 12, 12, 12)).play_deal("3 pass pass pass", "1 1 1 2 | 3 3", join="P3")
        assert match.won_by == (P1, "zero")
        assert match.happened(MatchWon)[0].rule == "A52"

    @pytest.mark.rule("A-X13", "A54", "A-O11")
    @pytest.mark.parametrize(("before", "after", "won"), [(-2, 4, None), (-6, 0, (P1, "zero"))])
    def test_the_six_are_earned(self, before: int, after: int, won: object):
        match = alga((before, 12, 12, 12)).play_deal("pass 4 pass pass", "2 2 2 3 | 2 2", join="P1")
        assert (match.points[P1], match.won_by) == (after, won)

    @pytest.mark.rule("A-X13", "A53", "A54")
    def test_a_failed_contract_may_lead_back(self):
        match = alga((-2, 12, 12, 12)).play_deal("6 pass pass pass", "1 1 2 1 | 1 2")
        assert match.won_by == (P1, "zero")


class TestDuels:
    @pytest.mark.rule("A-X9", "A55", "A56", "A57", "A58", "A-O3", "A-O4")
    def test_two_at_zero(self):
        match = alga((3, 9, 11, 2), dealer=P2).play_deal("pass pass 3 pass", "1 4 2 1 | 4 1")
        assert match.points == (0, 8, 11, 0)
        called = match.happened(DuelCalled)[0]
        assert (called.seats, called.dealer, called.rule) == ((P1, P4), P4, "A55")
        assert match.seen(P2).more == {"duel": [P1, P4]}
        match.dealt("1 4 4 1 | 4 4").keep()
        assert match.seen(P1).to_act == (P1,)
        match.refused(Bid(seat=P2, bid="4"), rule="A55", code="not_in_duel", kind=NotInPlay)
        match.bid("3 pass").tricks(4)
        assert not match.due("ask")
        match.refused(Ask(seat=P1), rule="A-O4", code="no_question_in_duel")
        match.tricks(2)
        assert match.won_by == (P4, "duel")
        assert match.points == (0, 8, 11, 0)
        assert match.line.detail["duel"] == [P1, P4]
        assert match.happened(MatchWon)[0].rule == "A58"

    @pytest.mark.rule("A-X11", "A60", "A-O5", "A-O21")
    def test_a_duel_tied_and_one_passed_out(self):
        match = duel("1 1 1 4 | 4 4", "3 pass")
        assert [called.dealer for called in match.happened(DuelCalled)] == [P4, P1]
        match.play_deal("pass pass", "1 1 1 1 | 1 1")
        assert match.line.kind == "passed_out"
        assert [(called.dealer, called.rule) for called in match.happened(DuelCalled)[1:]] == [
            (P1, "A60"),
            (P4, "A-O5"),
        ]

    @pytest.mark.rule("A59")
    def test_a_contract_made_leaves_it_to_most_tricks(self):
        match = duel("1 4 4 4 | 4 4", "1 pass")
        assert match.won_by == (P4, "duel")
        assert match.happened(MatchWon)[0].rule == "A59"

    @pytest.mark.rule("A48", "A-O6")
    def test_rodskagg_made_in_a_duel(self):
        assert duel("1 1 1 1 | 1 1", "rodskagg").won_by == (P1, "rodskagg")

    @pytest.mark.rule("A-O6", "A58")
    def test_rodskagg_failed_in_a_duel(self):
        match = duel("1 1 1 1 | 1 4", "rodskagg")
        assert match.won_by == (P4, "duel")
        assert match.happened(PlayerEliminated)[0].seat == P1

    @pytest.mark.rule("A58", "A-O3", "A60")
    def test_opponents_who_are_level_duel_without_the_declarer(self):
        match = alga((2, 2, 2, 12)).play_deal("2 pass pass pass", "1 1 2 2 | 3 3", join="P3")
        assert match.points == (0, 0, -2, 12)
        match = alga((2, 2, 4, 12)).play_deal("2 pass pass pass", "1 1 2 2 | 3 3", join="P3")
        assert match.happened(DuelCalled)[0].seats == (P1, P2, P3)
        match.play_deal("pass 4 pass", "1 1 2 2 | 3 3")
        assert match.happened(DuelCalled)[1].seats == (P1, P2), "two each, but P3 has failed"

    @pytest.mark.rule("A-O4", "A-O25")
    def test_the_question_may_be_put_in_a_duel(self):
        match = alga((3, 9, 11, 2), dealer=P2, duel_fold_question=True)
        match.play_deal("pass pass 3 pass", "1 4 2 1 | 4 1")
        match.dealt("1 1 1 1 | 1 1").bid("1 pass").tricks(4)
        assert match.due("ask")
        match.ask()
        assert match.won_by == (P1, "duel")
        assert match.line.detail["folded"] == [P4]

    @pytest.mark.rule("A-O25")
    def test_forgetting_it_there_has_no_effect(self):
        match = alga((3, 9, 11, 2), dealer=P2, duel_fold_question=True, enforcement="penalise")
        match.play_deal("pass pass 3 pass", "1 4 2 1 | 4 1").play_deal("1 pass", "1 1 1 1 | 1 1", ask=False)
        assert match.won_by == (P1, "duel")
        assert match.points == (0, 8, 11, 0)

    @pytest.mark.rule("A-O25", "A-O24")
    def test_new_cards_may_be_asked_for_and_the_cap_does_not_apply(self):
        match = alga((3, 9, 11, 2), dealer=P2, bid_cap_by_score=True)
        match.play_deal("pass pass 3 pass", "1 4 2 1 | 4 1").dealt("1 1 1 1 | 1 1")
        assert match.phase == "exchanging"
        match.bid("6")
        assert match.seen(P1).contract is None

    def test_void_keeps_the_duel(self):
        match = alga((3, 9, 11, 2), dealer=P2).play_deal("pass pass 3 pass", "1 4 2 1 | 4 1").dealt("1 1 1 1 | 1 1")
        match.do(Void())
        assert match.seen(P1).more == {"duel": [P1, P4]}
        assert match.seen(P1).to_act == (P4,)


def test_a_card_has_no_place_after_the_last_trick():
    match = alga(enforcement="penalise").dealt("1 2 3 4 | 1 1").bid("2 pass pass pass").tricks(6)
    match.refused(Play(seat=P1, card="S2"), rule="A-O28", code="deal_not_scored")
