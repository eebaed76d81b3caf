"""Rulings on lines of the protocol: a new result for the deal (J2, J8-J10)."""

import pytest

from referee.acts import Act, Close, Deal, Score, Void
from referee.officials.events.cases import CaseRuled
from referee.refusals import Refused
from referee.requests import Appeal, OpenCase, RemedySent
from tests.officials.hearing import Hearing
from tests.officials.line_corrections import (
    ANNA,
    BERIT,
    CESAR,
    CORRECTED,
    DAG,
    OUT_BY_FIVE,
    all_agree,
    appeal,
    correction,
    entered,
    folds,
    lines,
    points,
    result,
    tally,
    topics,
    wrong,
)
from tests.officials.wrong_and_right_sheets import SHEETS, X1
from tests.support.match_driver import NOON, seats_and

GAMES = tuple(SHEETS)


class TestAWrongLine:
    """A deal of a tally was entered wrongly."""

    @pytest.mark.rule("J2", "J9")
    @pytest.mark.parametrize("ruleset", GAMES)
    def test_all_others_agree_and_it_counts_as_if_it_had_been_entered_so(self, ruleset: str) -> None:
        sheets = SHEETS[ruleset]
        hearing = entered(ruleset, sheets.wrong)
        was, before = lines(hearing), list(hearing.history)
        wrong(hearing, sheets.right)
        assert lines(hearing) == was, "saying so changes nothing"
        all_agree(hearing)
        assert topics(hearing) == ["case/stated", *CORRECTED]
        ruled, event = hearing.said[1], correction(hearing)
        assert isinstance(ruled, CaseRuled)
        assert (ruled.rule, ruled.standard, ruled.remedy.result) == ("J2", "agreed_facts", result(sheets.right))
        assert (event.case, event.deal, event.why.rule, event.points) == (1, 1, "J2", sheets.points)
        assert points(hearing) == sheets.points
        assert lines(hearing) == lines(entered(ruleset, sheets.right)) != was
        assert hearing.history[: len(before)] == before
        folds(hearing)

    @pytest.mark.rule("J9")
    @pytest.mark.parametrize("ruleset", GAMES)
    def test_later_deals_hang_on_it(self, ruleset: str) -> None:
        """A second deal has the same sheet, with the words in the order of its own forehand."""
        sheets = SHEETS[ruleset]

        def second(hearing: Hearing) -> None:
            body = dict(sheets.right)
            if "bids" in body:
                body["bids"] = [
                    *body["bids"][1:],
                    {"seat": 0, "bid": "join" if ruleset == "rams-english" else "pass"},
                ]
                if ruleset == "rodskagg-catsatcards":
                    body["bids"] = seats_and("bid", [1, "0"], [2, "2"], [3, "1"], [0, "1"])
                    body["answers"] = [{"seat": 3, "answer": "fold"}]
            hearing.ask(result(body), "official")

        hearing, at_once = entered(ruleset, sheets.wrong), entered(ruleset, sheets.right)
        second(hearing)
        second(at_once)
        wrong(hearing, sheets.right)
        all_agree(hearing)
        assert lines(hearing) == lines(at_once)
        assert points(hearing) == points(at_once)
        assert hearing.match.play.table.dealer == at_once.match.play.table.dealer

    @pytest.mark.rule("J9")
    @pytest.mark.parametrize("ruleset", GAMES)
    def test_an_impossible_result_gets_the_refusal_of_the_act(self, ruleset: str) -> None:
        """The opener of a case and the official both get the refusal of the act."""
        sheets = SHEETS[ruleset]
        hearing = entered(ruleset, sheets.wrong)
        cannot_be = result(sheets.cannot_be)
        by_act = tally(ruleset)
        with pytest.raises(Refused) as caught:
            by_act.ask(cannot_be, "official")
        code, rule = caught.value.code, caught.value.rule
        opening = OpenCase(kind="entry", seat=0, deal=1, result=cannot_be)
        assert hearing.refused(opening, code, rule).facts["at"] == sheets.at
        wrong(hearing, sheets.right)
        before = len(hearing.history)
        ruling = hearing.ruling("upheld", rule="J9", remedy=RemedySent(result=cannot_be))
        assert hearing.refused(ruling, code, rule, "official").facts["at"] == sheets.at
        assert (len(hearing.history), hearing.status()) == (before, "pending")

    def test_a_result_of_another_game_is_refused(self) -> None:
        hearing = entered("kalabrias", SHEETS["kalabrias"].wrong)
        refusal = hearing.refused(
            OpenCase(kind="entry", seat=0, deal=1, result=result(X1)), "not_in_the_result", None
        )
        assert refusal.facts["at"] == "/bids"

    @pytest.mark.rule("J2", "J9")
    def test_while_a_deal_is_under_way_it_waits_and_is_then_ruled_by_itself(self) -> None:
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing = entered("rodskagg-kortoxen", sheets.wrong)
        wrong(hearing, sheets.right)
        hearing.ask(Deal(seat=BERIT))
        all_agree(hearing)
        assert topics(hearing) == ["case/stated"]
        assert hearing.status() == "pending"
        hearing.refused(hearing.ruling("upheld", rule="J9"), "deal_under_way", "J9", "official")
        hearing.ask(Void(), "official")
        assert topics(hearing) == ["deal/voided", *CORRECTED]
        assert points(hearing) == sheets.points
        folds(hearing)

    @pytest.mark.rule("J2", "J9")
    def test_with_the_score_of_the_deal_under_way(self) -> None:
        """The score has the effect of the ruling."""
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing, at_once = (entered("rodskagg-kortoxen", one) for one in (sheets.wrong, sheets.right))
        wrong(hearing, sheets.right)
        for one in (hearing, at_once):
            one.ask(Deal(seat=BERIT))
            while one.match.play.__struct_config__.tag != "played":
                one.play(acts=1)
        all_agree(hearing)
        for one in (hearing, at_once):
            one.ask(Score(seat=BERIT))
        assert topics(hearing)[-2:] == CORRECTED
        assert lines(hearing) == lines(at_once)

    @pytest.mark.rule("J3", "J9")
    def test_an_official_may_find_what_neither_said(self) -> None:
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing = entered("rodskagg-kortoxen", sheets.wrong)
        wrong(hearing, sheets.right)
        found = {**X1, "tricks": [2, 0, 2, 2, 2, 1]}
        hearing.rule("upheld", rule="B58", reason="Counted again", remedy=RemedySent(result=result(found)))
        assert lines(hearing) == lines(entered("rodskagg-kortoxen", found))
        assert (correction(hearing).why.rule, correction(hearing).why.reason) == ("B58", "Counted again")

    def test_upheld_with_no_more_said_who_opened_it_is_right(self) -> None:
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing = entered("rodskagg-kortoxen", sheets.wrong)
        wrong(hearing, sheets.right)
        hearing.rule("upheld", rule="J9")
        assert points(hearing) == sheets.points

    @pytest.mark.rule("J7", "J9")
    @pytest.mark.parametrize("ruleset", GAMES)
    def test_an_appeal_undoes_it_or_changes_it(self, ruleset: str) -> None:
        sheets = SHEETS[ruleset]
        for verdict, more, then in (
            ("dismissed", {}, sheets.wrong),
            ("upheld", {"remedy": RemedySent(result=result(sheets.wrong))}, sheets.wrong),
            ("upheld", {}, sheets.right),
        ):
            hearing = entered(ruleset, sheets.wrong)
            was = lines(hearing)
            wrong(hearing, sheets.right)
            all_agree(hearing)
            first = len(hearing.history)
            appeal(hearing)
            hearing.rule(verdict, by="official:2", rule="J9", **more)
            if then is sheets.right:
                assert topics(hearing) == ["case/ruled"], "nothing changes"
                continue
            assert topics(hearing) == CORRECTED
            assert correction(hearing).replaces == first
            assert lines(hearing) == was
            folds(hearing)

    @pytest.mark.rule("J9")
    def test_one_case_is_undone_and_the_other_stands(self) -> None:
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing = entered("rodskagg-kortoxen", sheets.wrong)
        other = {**X1, "tricks": [2, 0, 2, 2, 1, 0]}
        for number, body in enumerate((sheets.right, other), 1):
            wrong(hearing, body)
            hearing.rule("upheld", case=number, rule="J9")
        now = lines(hearing)
        appeal(hearing)
        hearing.rule("dismissed", case=1, by="official:2", rule="J9")
        assert lines(hearing) == now
        appeal(hearing, 2)
        hearing.rule("dismissed", case=2, by="official:2", rule="J9")
        assert lines(hearing) == lines(entered("rodskagg-kortoxen", sheets.wrong))

    @pytest.mark.rule("J9")
    def test_a_result_holds_all_that_came_before_its_cards(self) -> None:
        """A misdeal, and the knock for it, were entered by mistake."""
        right = SHEETS["rodskagg-kortoxen"].right
        knock = {"seat": CESAR, "accused": ANNA, "offence": "misdeal"}
        hearing = entered("rodskagg-kortoxen", {**right, "knocks": [knock]}, deal_ritual=True)
        assert points(hearing)[ANNA] == 17
        wrong(hearing, right)
        all_agree(hearing, case=2)
        assert lines(hearing) == lines(entered("rodskagg-kortoxen", right, deal_ritual=True))
        folds(hearing)

    @pytest.mark.rule("B78", "J9")
    def test_an_appeal_is_refused_if_a_later_deal_depends_on_the_line(self) -> None:
        """DAG had five points at the exit; after the correction there were six."""
        three = {**X1, "tricks": [2, 0, 2, 2, 1, 1]}
        hearing = entered("rodskagg-kortoxen", three, points=(12, 12, 9, 12), exact_zero=False)
        wrong(hearing, X1)
        hearing.rule("upheld", rule="J9")
        hearing.ask(result(OUT_BY_FIVE), "official")
        hearing.ask(Appeal(case=1, seat=CESAR))
        ruling = hearing.ruling("dismissed", rule="J9")
        assert hearing.refused(ruling, "line_hangs", "J9", "official:2").facts == {"deals": (2,)}
        hearing.rule("dismissed", by="official:2", rule="J9", remedy=RemedySent(strike=(2,)))
        assert points(hearing)[DAG] == 6
        folds(hearing)


class TestTheEnd:
    """DAG has four points and takes four tricks."""

    def won(self) -> Hearing:
        hearing = entered("rodskagg-kortoxen", {**X1, "exits": [{"seat": DAG, "after": 6}]}, points=(12, 12, 4, 12))
        assert [event.TOPIC for event in hearing.said][-1] == "match/won"
        wrong(hearing, {**X1, "tricks": [2, 0, 2, 2, 1, 1]})
        return hearing

    @pytest.mark.rule("J8", "J9")
    def test_a_corrected_line_reopens_the_match_that_it_won(self) -> None:
        hearing = self.won()
        hearing.rule("upheld", rule="J9")
        assert correction(hearing).won is None
        assert hearing.match.play.table.points[DAG] != 0
        assert hearing.match.rules.between_deals(hearing.match.play)
        assert not hearing.match.is_provisional(hearing.at)
        hearing.ask(Deal(seat=BERIT))
        folds(hearing)

    @pytest.mark.rule("J7", "J8")
    def test_a_match_that_was_open_again_is_won_again_on_appeal(self) -> None:
        hearing = self.won()
        hearing.rule("upheld", rule="J9")
        hearing.ask(Appeal(case=1, seat=DAG))
        hearing.wait(5).rule("dismissed", by="official:2", rule="J9")
        won = correction(hearing).won
        assert won is not None
        assert (won.by, won.seat) == ("zero", DAG)
        assert hearing.match.is_provisional(hearing.wait(29).at), "it ended with that"
        assert not hearing.match.is_provisional(hearing.wait(1).at)
        folds(hearing)

    @pytest.mark.rule("J8")
    def test_won_by_a_correction_it_is_provisional_from_then_on(self) -> None:
        hearing = entered("rodskagg-kortoxen", {**X1, "tricks": [2, 0, 2, 2, 1, 1]}, points=(12, 12, 4, 12))
        hearing.wait(100)
        wrong(hearing, {**X1, "exits": [{"seat": DAG, "after": 6}]})
        hearing.rule("upheld", rule="J9")
        assert correction(hearing).won is not None
        assert hearing.match.is_provisional(hearing.wait(29).at)
        hearing.ask(Appeal(case=1, seat=ANNA))
        hearing.wait(1)
        hearing.refused(hearing.ruling("dismissed", rule="J9"), "window_closed", "J8", "official:2")

    @pytest.mark.rule("J7")
    def test_a_line_is_appealed_by_a_seat_that_it_did_not_help(self) -> None:
        """DAG has won by the correction, and BERIT had opened the case."""
        hearing = entered("rodskagg-kortoxen", {**X1, "tricks": [2, 0, 2, 2, 1, 1]}, points=(12, 12, 4, 12))
        wrong(hearing, {**X1, "exits": [{"seat": DAG, "after": 6}]})
        hearing.rule("upheld", rule="J9")
        for seat in (DAG, BERIT):
            hearing.refused(Appeal(case=1, seat=seat), "not_against_you", "J7")
        hearing.ask(Appeal(case=1, seat=ANNA))
        assert hearing.status() == "appealed"

    @pytest.mark.rule("J7")
    @pytest.mark.parametrize("ruleset", ["rams-english", "kalabrias"])
    def test_in_games_where_more_is_better_too(self, ruleset: str) -> None:
        sheets = SHEETS[ruleset]
        hearing = entered(ruleset, sheets.wrong)
        before = points(hearing)
        hearing.ask(OpenCase(kind="entry", deal=1, result=result(sheets.right)), "official")
        hearing.rule("upheld", rule="J9")
        change = [now - was for was, now in zip(before, points(hearing), strict=True)]
        helped, hurt = change.index(max(change)), change.index(min(change))
        assert change[helped] > 0 > change[hurt]
        hearing.refused(Appeal(case=1, seat=helped), "not_against_you", "J7")
        hearing.ask(Appeal(case=1, seat=hurt))

    @pytest.mark.rule("J7")
    def test_a_dismissed_line_is_appealed_by_a_seat_that_asked_for_another(self) -> None:
        """A seat that made no statement may have gained by the dismissal: its appeal would use up the only one."""
        sheets = SHEETS["rodskagg-kortoxen"]
        hearing = entered("rodskagg-kortoxen", sheets.wrong)
        wrong(hearing, sheets.right)
        hearing.says(CESAR, False)
        hearing.says(DAG, True)
        hearing.rule("dismissed", rule="J4")
        for seat in (ANNA, CESAR):
            hearing.refused(Appeal(case=1, seat=seat), "not_against_you", "J7")
        hearing.ask(Appeal(case=1, seat=DAG))

    @pytest.mark.rule("J7")
    def test_a_seat_that_gained_by_a_line_has_no_appeal_though_it_denied_it(self) -> None:
        hearing = entered("rodskagg-kortoxen", {**X1, "tricks": [2, 0, 2, 2, 1, 1]}, points=(12, 12, 4, 12))
        wrong(hearing, {**X1, "exits": [{"seat": DAG, "after": 6}]})
        hearing.says(DAG, False)
        hearing.rule("upheld", rule="J9")
        hearing.refused(Appeal(case=1, seat=DAG), "not_against_you", "J7")

    @pytest.mark.rule("J8")
    def test_in_time_or_beyond_doubt(self) -> None:
        hearing = self.won()
        hearing.wait(30)
        hearing.refused(hearing.ruling("upheld", rule="J9"), "window_closed", "J8", "official")
        all_agree(hearing)
        assert hearing.status() == "pending", "that all agree is too late, too"
        hearing.rule("upheld", rule="J9", standard="beyond_reasonable_doubt")
        assert topics(hearing) == CORRECTED

    @pytest.mark.rule("J8")
    def test_a_second_before_it(self) -> None:
        hearing = self.won()
        hearing.wait(30 - 1 / 60).rule("upheld", rule="J9")
        assert topics(hearing) == CORRECTED

    @pytest.mark.rule("J10")
    def test_an_official_may_reopen_their_own_ruling_on_a_line(self) -> None:
        hearing = self.won()
        hearing.rule("upheld", rule="J9")
        hearing.ask(Appeal(case=1), "official")
        hearing.rule("dismissed", rule="J9")
        assert correction(hearing).won is not None


class TestCards:
    """A result may be entered for a deal with cards, too: it is read as in a tally."""

    @pytest.mark.rule("J9")
    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    @pytest.mark.parametrize("dealing", ["house", "table"])
    def test_in_kortoxen(self, dealing: str, enforcement: str) -> None:
        hearing = Hearing(dealing=dealing, enforcement=enforcement, points=(50,) * 4)
        hearing.deal(**({} if dealing == "table" else {"hands": None})).play()
        wrong(hearing, X1)
        all_agree(hearing)
        assert points(hearing) == (49, 49, 46, 50)
        table = hearing.match.play.table
        assert (table.house, table.tally, table.penalise) == (dealing == "house", False, enforcement == "penalise")
        hearing.deal(**({} if dealing == "table" else {"hands": None})).play()
        assert hearing.match.play.table.deal == 3
        folds(hearing)

    @pytest.mark.rule("D-X1", "J9")
    @pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
    def test_in_rams(self, enforcement: str) -> None:
        hearing = Hearing("rams-english", enforcement=enforcement).deal(counts=(5,) * 4, turn_up="H7").play()
        wrong(hearing, SHEETS["rams-english"].right)
        all_agree(hearing)
        assert points(hearing) == (2, 1, 2, -10)
        assert hearing.match.play.table.pot == 5
        folds(hearing)

    @pytest.mark.rule("E-X1", "J9")
    def test_in_kalabrias(self) -> None:
        hearing = Hearing("kalabrias", players=2, first_dealer=1, dealing="house")
        hearing.ask(Deal(seat=1))
        for _ in range(100):
            acts: list[Act] = [act for seat in (0, 1) for act in hearing.match.rules.legal(hearing.match.play, seat)]
            if "deal/scored" in {event.TOPIC for event in hearing.ask(acts[0])}:
                break
        wrong(hearing, SHEETS["kalabrias"].right)
        all_agree(hearing)
        assert points(hearing) == (78, 41)
        folds(hearing)


@pytest.mark.rule("J8")
def test_a_session_that_is_closed() -> None:
    """The pot is shared again."""
    sheets = SHEETS["rams-english"]
    hearing, at_once = (entered("rams-english", body) for body in (sheets.wrong, sheets.right))
    for one in (hearing, at_once):
        one.ask(Close(), "official")
    wrong(hearing, sheets.right)
    all_agree(hearing)
    assert correction(hearing).points == points(at_once)
    assert hearing.match.is_provisional(NOON)
