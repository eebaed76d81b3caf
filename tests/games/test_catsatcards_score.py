"""Rödskägg (CatsAtCards): the score, duels, the end, and Exact Tricks (C33-C56), with the worked examples."""

import pytest

from referee.acts import Ask, Bid, Deal, Draw, KeepCards, Play, Remind, Score, Void
from referee.events import CardDrawn, DealScored, MatchWon, PlayerEliminated
from referee.games._rodskagg.facts import DuelCalled, LeadDrawn
from referee.refusals import NotInPlay, WrongPhase
from tests.games.rodskagg import Table, cats
from tests.support.match_driver import P1, P2, P3, P4


def entries(line: DealScored, seat: int) -> list[tuple[int, str]]:
    return [(entry.points, entry.rule) for entry in line.entries if entry.seat == seat]


class TestOrdinaryHands:
    @pytest.mark.rule("C-X1", "C38", "C21")
    def test_an_ordinary_hand(self):
        match = cats().play_deal("2 0 2 1", "3 1 2 3 | 1 3")
        assert match.points == (10, 11, 9, 12)
        assert match.line.kind == "ordinary"
        assert match.line.answers == (None, "in", "in", "fold")
        assert entries(match.line, P1) == [(-2, "C38")]

    @pytest.mark.rule("C-X3", "C39", "C40", "C-O22")
    def test_one_too_few(self):
        match = cats().play_deal("4 0 0 0", "1 1 1 2 | 3 3", join="P3")
        assert match.points[P1] == 14
        assert entries(match.line, P1) == [(5, "C39"), (-3, "C40")]

    @pytest.mark.rule("C39")
    def test_one_too_many(self):
        assert cats().play_deal("2 0 0 0", "1 1 1 2 | 3 3", join="P3").points[P1] == 12 + 5 - 3

    @pytest.mark.rule("C34", "C35", "C-O1", "C-X17")
    def test_playing_on(self):
        match = cats((12, 12, 12, 2)).play_deal("2 0 0 0", "1 1 2 3 | 4 1", join="P4")
        assert match.won_by == (P4, "zero"), "2 - 2"
        match = cats().play_deal("3 0 0 0", "1 1 1 2 | 2 2", join="P3 P4")
        assert match.points == (9, 9, 18, 18)
        assert entries(match.line, P3) == [(6, "C35")]

    @pytest.mark.rule("C-X5", "C37", "C-O14", "C-O15")
    @pytest.mark.parametrize(("last", "after"), [("4", 11), ("1", 12)])
    def test_a_forgotten_question_leaves_normal_values(self, last: str, after: int):
        match = cats(enforcement="penalise").play_deal("3 0 0 0", f"1 1 2 3 | {last} 1", ask=False)
        assert match.points[P4] == after
        assert match.line.detail["forgotten"] is True

    @pytest.mark.rule("C-X7", "C-O2", "C-O3", "C36")
    @pytest.mark.parametrize(("tricks", "applies", "after"), [("0", False, 12), ("0", True, 18), ("1", False, 16)])
    def test_all_declare_nothing(self, tricks: str, applies: bool, after: int):
        match = cats(play_on_applies_to_declarer=applies)
        match.play_deal("0 0 0 0", f"2 2 3 4 | {'1' if tricks == '1' else '2'} 2")
        assert match.points[P1] == after

    @pytest.mark.rule("C-O2", "C-O29")
    def test_the_declarer_may_be_treated_as_the_others(self):
        match = cats(play_on_applies_to_declarer=True).play_deal("1 0 0 0", "2 2 3 4 | 1 2")
        assert match.points[P1] == 10, "a late trick, and no seat had to be asked"
        match = cats(play_on_applies_to_declarer=True).play_deal("1 0 0 0", "2 2 2 2 | 2 2", join="P2")
        assert match.points[P1] == 12 + 5 + 6

    @pytest.mark.rule("C-O1", "C-O29")
    def test_late_tricks_may_count_double_for_all_but_the_declarer(self):
        match = cats(play_on_double_for_all=True).play_deal("1 0 0 0", "1 2 3 4 | 2 1")
        assert match.points == (12 + 5 - 2, 12 - 3, 11, 11)
        both = cats(play_on_double_for_all=True, play_on_applies_to_declarer=True)
        assert both.play_deal("2 0 0 0", "1 2 3 4 | 2 1").points[P1] == 12 - 3

    @pytest.mark.rule("C50", "C51", "C-X11")
    def test_below_zero_and_back(self):
        match = cats((12, 1, 12, 12)).play_deal("1 0 0 0", "2 2 2 1 | 3 3", join="P3")
        assert (match.points[P2], match.won_by) == (-2, None)
        match.play_deal("4 0 0 0", "2 2 2 1 | 3 3", join="P3")
        assert match.won_by == (P2, "zero")

    @pytest.mark.rule("C43")
    def test_exactly_zero_wins(self):
        match = cats((3, 12, 12, 12)).play_deal("3 0 0 0", "1 1 1 2 | 3 3", join="P3")
        assert match.happened(MatchWon)[0].rule == "C43"

    @pytest.mark.rule("C-O23")
    def test_any_seat_enters_the_score_and_only_once(self):
        match = cats(enforcement="penalise").dealt("1 2 3 4 | 1 1").bid("3 0 0 0").tricks(6)
        assert match.legal(P2) == (Score(seat=P2),)
        match.do(Score(seat=P2))
        match.refused(Score(seat=P2), rule="C-O23", code="wrong_phase", kind=WrongPhase)


class TestRedbeard:
    @pytest.mark.rule("C41", "C-O24")
    def test_made_it_wins_at_once_whatever_the_score(self):
        match = cats((17, 12, 12, 12)).play_deal("rodskagg 0 0 0", "1 1 1 1 | 1 1", join="P2")
        assert match.won_by == (P1, "redbeard")
        assert match.line.kind == "redbeard_made"
        assert match.points == (17, 12, 12, 12)

    @pytest.mark.rule("C-O6", "C-O34")
    def test_with_everyone_folded_it_is_made(self):
        assert cats().play_deal("rodskagg 0 0 0", "1 1 1 1 | 1 1").won_by == (P1, "redbeard")

    @pytest.mark.rule("C42", "C-O7", "C-O27", "C-O28")
    def test_failed_it_is_played_out_and_the_others_score(self):
        match = cats().play_deal("rodskagg 0 0 0", "1 1 1 2 | 3 1", join="P3 P4")
        assert match.line.kind == "redbeard_failed"
        assert match.points == (12, 11, 10, 18)
        assert match.happened(PlayerEliminated)[0].rule == "C42"
        assert match.seen(P2).active == (P2, P3, P4)
        match.refused(Bid(seat=P1, bid="1"), rule="C42", code="eliminated", kind=NotInPlay)

    @pytest.mark.rule("C-O7", "C38")
    def test_the_others_may_score_nothing(self):
        match = cats(rodskagg_defenders_score="none").play_deal("rodskagg 0 0 0", "1 1 1 2 | 3 1", join="P3 P4")
        assert match.points == (12, 12, 12, 18)

    @pytest.mark.rule("C-O5", "C41", "C42")
    def test_two_redbeards(self):
        match = cats().play_deal("rodskagg rodskagg 0 0", "1 1 1 1 | 1 2", join="P2")
        assert match.line.eliminated == (P1, P2)
        second = cats().play_deal("rodskagg rodskagg 0 0", "2 2 2 2 | 2 2")
        assert second.won_by == (P2, "redbeard")

    @pytest.mark.rule("C-O6")
    def test_a_redbeard_who_folds_is_out(self):
        match = cats().play_deal("rodskagg rodskagg 0 0", "1 1 1 3 | 1 3")
        assert match.line.answers[P2] == "fold"
        assert match.line.eliminated == (P1, P2)

    @pytest.mark.rule("C-O7")
    def test_it_may_stop_when_none_can_be_made_any_more(self):
        match = cats(rodskagg_stop_at_first_loss=True).play_deal("rodskagg 0 0 0", "1 2 1 1 | 1 1")
        assert match.line.tricks == (1, 1, 0, 0)
        two = cats(rodskagg_stop_at_first_loss=True).play_deal("rodskagg rodskagg 0 0", "2 2 3 1 | 1 1")
        assert two.line.tricks == (0, 2, 1, 0), "the second could still be made"

    @pytest.mark.rule("C-O21")
    def test_a_player_who_folded_does_not_win_at_zero(self):
        match = cats((3, 12, 12, 12)).play_deal("rodskagg 0 0 0", "1 1 1 2 | 3 4", join="P3 P4")
        assert match.points[P1] == 3
        assert match.won_by is None

    @pytest.mark.rule("C-O23")
    def test_the_last_player_in_the_match_wins(self):
        match = cats((12, 12, 12), dealer=P3).play_deal("rodskagg rodskagg 0", "1 1 3 1 | 3 3", join="P2")
        assert match.won_by == (P3, "last_standing")

    @pytest.mark.rule("C-O34")
    def test_no_one_may_be_left(self):
        match = cats((12, 12, 12), dealer=P3).play_deal("rodskagg rodskagg rodskagg", "1 2 3 1 | 2 3")
        assert match.won_by == (None, "nobody_left")
        assert match.seen(P1).winner is None
        assert match.phase == "over"


class TestZeros:
    @pytest.mark.rule("C45", "C-X9", "C-O8")
    def test_the_declarer_among_several_wins(self):
        match = cats((3, 2, 12, 12)).play_deal("3 0 0 0", "1 2 2 1 | 1 3", join="P3")
        assert match.points[:2] == (0, 0)
        assert match.won_by == (P1, "zero")
        assert match.happened(MatchWon)[0].rule == "C45"


class TestDuel:
    def zeros(self, **match: object) -> Table:
        """Return a table where P4 dealt, P1 declared, and P2 and P4 are at zero."""
        at = cats((12, 2, 12, 1), **match).play_deal("3 0 0 0", "2 2 4 1 | 1 3", join="P3")
        assert (at.points[P2], at.points[P4]) == (0, 0)
        return at

    @pytest.mark.rule("C46", "C48", "C-O8", "C-O9", "C-O31")
    def test_cards_are_drawn_for_the_lead_before_the_deal(self):
        match = self.zeros()
        called = match.happened(DuelCalled)[0]
        assert (called.seats, called.dealer) == ((P2, P4), P1), "the deal moves on as usual"
        assert match.phase == "drawing"
        match.refused(Draw(seat=P1, card="SA"), rule="C46", code="not_in_duel")
        match.refused(Deal(seat=P1, counts=(0, 6, 0, 6)), rule="C9", code="wrong_phase")
        match.refused(Draw(seat=P4, card="SA"), rule="C48", code="out_of_turn")
        match.do(
            Draw(seat=P2, card="S9"), Draw(seat=P4, card="H9"), Draw(seat=P2, card="C2"), Draw(seat=P4, card="CA")
        )
        assert match.happened(LeadDrawn)[0].seat == P4
        match.refused(Deal(seat=P1, counts=(6, 6, 6, 6)), rule="C12", code="six_cards_each")
        match.dealt("2 2 2 4 | 4 4")
        assert match.seen(P1).more["lead"] == P4
        assert match.seen(P1).to_act == (P4,)

    @pytest.mark.rule("C47", "C-O9", "C-O24", "C-O31")
    def test_no_bidding_no_question_most_tricks_win(self):
        match = self.zeros().after(Draw(seat=P2, card="SK"), Draw(seat=P4, card="SA")).dealt("2 2 2 4 | 2 4")
        match.refused(Bid(seat=P2, bid="1"), rule="C16", code="wrong_phase")
        match.refused(Play(seat=P2, card=match.plan.cards[0][P2]), rule="C48", code="not_on_lead")
        match.refused(Play(seat=P1, card="SA"), rule="C46", code="not_in_duel")
        assert not match.due("announce")
        match.tricks(6)
        assert match.won_by == (P2, "duel")
        assert match.line.kind == "duel"
        assert (match.line.declarer, match.line.contract, match.line.detail["bids"]) == (None, None, [])
        assert match.points == match.line.before

    @pytest.mark.rule("C-O9")
    def test_those_level_play_another(self):
        match = (
            self.zeros().after(Draw(seat=P2, card="SK"), Draw(seat=P4, card="SA")).dealt("2 2 2 4 | 4 4").tricks(6)
        )
        assert match.won_by is None
        assert [called.rule for called in match.happened(DuelCalled)] == ["C46", "C-O9"]
        assert match.seen(P1).dealer == P2
        match.do(Draw(seat=P2, card="SK"), Draw(seat=P4, card="SA"))

    @pytest.mark.rule("C-O31")
    def test_there_is_neither_ritual_nor_question_nor_replacement(self):
        match = self.zeros(enforcement="penalise", fem_opp=True, deal_ritual=False)
        match.do(Draw(seat=P2, card="SK"), Draw(seat=P4, card="SA"))
        match.refused(Deal(seat=P1, counts=(0, 7, 0, 6)), rule="C12", code="six_cards_each")
        match.dealt("2 2 2 4 | 4 4").tricks(4)
        match.refused(Ask(seat=P2), rule="C-O9", code="no_question_in_duel")
        match.refused(Remind(seat=P2), rule="C-O9", code="no_question_in_duel")
        match.refused(KeepCards(seat=P2), rule="C13", code="wrong_phase")

    def test_the_house_draws_by_itself(self):
        for luck in range(200):
            match = cats((1, 1, 1, 12), dealing="house", seed=f"{luck} ")
            while not match.happened(DealScored):
                choice = [act for seat in range(4) for act in match.legal(seat)]
                match.do(choice[(luck + len(match.events)) % len(choice)])
            if match.happened(DuelCalled):
                break
        assert match.happened(CardDrawn)
        assert match.happened(LeadDrawn)
        assert match.phase == "undealt"

    def test_void_keeps_the_duel_and_its_lead(self):
        match = self.zeros().after(Draw(seat=P2, card="SK"), Draw(seat=P4, card="SA")).dealt("2 2 2 4 | 4 4")
        match.do(Void())
        assert match.seen(P1).more == {"duel": [P2, P4], "lead": P4}
        match.dealt("2 2 2 4 | 2 4").tricks(6)
        assert match.won_by == (P2, "duel")


class TestExactTricks:
    def exact(self, points: tuple[int, ...] = (12, 12, 12, 12), **options: object) -> Table:
        return cats(points, exact_tricks_for_all=True, **options)

    @pytest.mark.rule("C52", "C53", "C56", "C-O16")
    @pytest.mark.parametrize("penalty", [6, 5])
    def test_every_player_who_misses_pays_once_the_declarer_too(self, penalty: int):
        match = self.exact(exact_tricks_penalty=penalty).play_deal("3 1 1 0", "1 1 2 3 | 3 2")
        assert match.points == (12 + penalty - 2, 12 + penalty - 2, 12 + penalty - 2, 12)
        assert entries(match.line, P1) == [(penalty, "C52"), (-2, "C53")]

    def test_without_it_only_the_declarer_does(self):
        match = cats().play_deal("3 1 1 0", "1 1 2 3 | 3 2")
        assert match.points == (12 + 5 - 2, 10, 10, 12)

    @pytest.mark.rule("C54", "C-O17", "C-O35")
    def test_folding_and_playing_on(self):
        match = self.exact(exact_tricks_penalty=5).play_deal("4 1 0 1", "1 1 1 1 | 1 1", join="P4")
        assert match.line.answers == (None, "fold", "fold", "play")
        assert match.points[P2] == 12 + 5, "folded, but had said 1"
        assert match.points[P3] == 12, "folded and had said 0"
        assert match.points[P4] == 12 + 5, "missed and played on in vain: once"
        zero = self.exact().play_deal("5 0 0 1", "1 1 1 1 | 1 4", join="P2 P4")
        assert zero.points[P2] == 12 + 6, "hit, but played on in vain"

    @pytest.mark.rule("C55", "C-X13", "C-O18")
    def test_zero_in_mid_hand_wins_at_once(self):
        match = self.exact((12, 12, 2, 12)).dealt("3 3 1 1 | 1 1").bid("0 0 3 0").trick()
        match.announce().trick()
        assert match.won_by == (P3, "zero_at_once")
        assert match.line.kind == "zero_at_once"
        assert match.points == (12, 12, 0, 12), "the missed bid does not count"
        assert match.happened(MatchWon)[0].rule == "C55"

    @pytest.mark.rule("C55", "C-O18")
    def test_it_is_at_once_under_penalise_too(self):
        match = self.exact((12, 12, 1, 12), enforcement="penalise").dealt("3 3 1 1 | 1 1").bid("0 0 3 0")
        assert match.trick().won_by == (P3, "zero_at_once")

    @pytest.mark.rule("C-O35")
    def test_a_credited_trick_wins(self):
        match = self.exact((5, 12, 12, 12)).dealt("1 1 1 1 | 1 1").bid("4 0 0 0").tricks(4).announce().ask()
        assert match.won_by == (P1, "zero_at_once")
        assert match.line.tricks == (5, 0, 0, 0)

    @pytest.mark.rule("C-O35")
    def test_it_holds_for_the_others_in_a_redbeard_hand(self):
        match = self.exact().play_deal("rodskagg 1 0 0", "1 1 1 3 | 2 1", join="P2")
        assert match.line.kind == "redbeard_failed"
        assert match.points == (12, 12 - 2, 12 + 6 - 1, 12)

    @pytest.mark.rule("C55", "C42", "C-O21")
    @pytest.mark.parametrize(("redbeards", "won"), [("rodskagg 0 0 0", None), ("1 0 0 0", (P1, "zero_at_once"))])
    def test_a_redbeard_who_has_lost_a_trick_does_not_win_at_zero(self, redbeards: str, won: object):
        match = self.exact((2, 12, 12, 12), rodskagg_stop_at_first_loss=False)
        match.dealt("1 2 1 3 | 2 3").bid(redbeards).trick().announce().tricks(2)
        assert match.won_by == won

    @pytest.mark.rule("C55", "C42", "C-O21")
    def test_the_game_goes_on_without_a_redbeard_who_came_to_zero(self):
        match = self.exact((2, 12, 12, 12), rodskagg_stop_at_first_loss=False)
        match.play_deal("rodskagg 0 0 0", "1 2 1 3 | 2 3")
        assert (match.line.kind, match.line.eliminated) == ("redbeard_failed", (P1,))
        assert (match.won, match.in_deal) == (None, (P2, P3, P4))
        match.play_deal("2 0 0", "2 3 4 2 | 3 4")
        assert match.line.kind == "ordinary"

    @pytest.mark.rule("C55", "C-O18")
    def test_a_redbeard_who_is_unbeaten_wins_at_zero(self):
        match = self.exact((2, 12, 12, 12)).dealt("1 1 1 3 | 2 3").bid("rodskagg 0 0 0").trick().announce()
        assert match.won_by is None
        assert match.trick().won_by == (P1, "zero_at_once")
        assert match.points == (0, 12, 12, 12)

    def test_all_six_in_redbeard_stay_a_redbeard(self):
        match = self.exact((6, 12, 12, 12)).play_deal("rodskagg 0 0 0", "1 1 1 1 | 1 1", join="P2")
        assert match.won_by == (P1, "redbeard")

    @pytest.mark.rule("C-O35")
    def test_zero_without_the_option_waits_for_the_end(self):
        match = cats((12, 12, 2, 12)).dealt("3 3 1 1 | 1 1").bid("0 0 3 0").trick()
        match.announce().trick()
        assert match.won_by is None
