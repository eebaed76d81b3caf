"""Rulings on lines of the protocol: the price of an offence (J3, J8-J10)."""

from typing import ClassVar

import pytest

from referee.events import DealScored
from referee.games.rams_english.states import FaultLifted
from referee.officials.events.cases import CaseRuled
from referee.officials.events.corrections import ProtocolCorrected
from referee.requests import Appeal, OpenCase, RemedySent
from tests.officials.hearing import Hearing
from tests.officials.line_corrections import (
    BERIT,
    CESAR,
    CORRECTED,
    DAG,
    OUT_BY_FIVE,
    all_agree,
    correction,
    entered,
    folds,
    lines,
    points,
    result,
    topics,
    wrong,
)
from tests.officials.wrong_and_right_sheets import SHEETS, X1, Body


class TestAnOffence:
    """Kortoxen with closed hands: CESAR is said to have revoked."""

    @pytest.fixture
    def scored(self) -> Hearing:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        return hearing.play()

    def change(self, hearing: Hearing) -> tuple[int, ...]:
        """Return the change of the points by corrections, by seat."""
        written = [one.event for one in hearing.history if isinstance(one.event, DealScored)]
        now = points(hearing)
        return tuple(after - before for before, after in zip(written[-1].points, now, strict=True))

    @pytest.mark.rule("J3", "J9")
    def test_upheld_after_the_score(self, scored: Hearing) -> None:
        ruled, event = scored.rule("upheld", rule="B42", reason="Seen by Dag")
        assert isinstance(ruled, CaseRuled)
        assert isinstance(event, ProtocolCorrected)
        assert (ruled.payer, ruled.penalty) == (CESAR, 5)
        assert (event.case, event.why.rule, event.why.reason) == (1, "B42", "Seen by Dag")
        assert self.change(scored) == (0, 5, 0, 0)
        (line,) = event.lines
        assert line.score is not None
        number = len(scored.history)
        assert [(one.seat, one.points, one.events) for one in line.score.entries if one.rule == "B42"] == [
            (CESAR, 5, (number - 1, number))
        ]
        folds(scored)

    @pytest.mark.rule("J2", "J9")
    def test_the_payer_may_agree_after_the_score(self, scored: Hearing) -> None:
        scored.says(CESAR, True)
        assert topics(scored) == ["case/stated", *CORRECTED]
        assert self.change(scored) == (0, 5, 0, 0)
        ruled = scored.said[1]
        assert isinstance(ruled, CaseRuled)
        assert (ruled.rule, ruled.payer, ruled.penalty) == ("B42", CESAR, 5)

    @pytest.mark.rule("J7", "J9")
    def test_dismissed_on_appeal_again(self, scored: Hearing) -> None:
        was = lines(scored)
        scored.rule("upheld", rule="B42")
        scored.ask(Appeal(case=1, seat=CESAR))
        scored.rule("dismissed", by="official:2", rule="J4")
        assert topics(scored) == CORRECTED
        assert lines(scored) == was
        scored.ask(Appeal(case=1), "official:2")
        scored.rule("upheld", by="official:2", rule="B42")
        assert self.change(scored) == (0, 5, 0, 0)
        folds(scored)

    @pytest.mark.rule("J7", "J9")
    def test_a_penalty_that_is_written_is_lifted(self) -> None:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("upheld", rule="B42")
        hearing.play().ask(Appeal(case=1, seat=CESAR))
        hearing.rule("dismissed", by="official:2", rule="J4")
        assert self.change(hearing) == (0, -5, 0, 0)
        assert correction(hearing).scripts[0].events[0].event["points"] == -5
        hearing.ask(Appeal(case=1), "official:2")
        hearing.rule("upheld", by="official:2", rule="B42")
        assert self.change(hearing) == (0, 0, 0, 0)
        folds(hearing)

    def test_a_ruling_that_confirms_an_earlier_one_makes_no_correction(self) -> None:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("upheld", rule="B42")
        hearing.play().ask(Appeal(case=1, seat=CESAR))
        hearing.rule("upheld", by="official:2", rule="B42")
        assert topics(hearing) == ["case/ruled"]

    @pytest.mark.rule("J7", "J9")
    def test_another_offence_is_found_on_appeal(self, scored: Hearing) -> None:
        scored.rule("upheld", rule="B42")
        scored.ask(Appeal(case=1, seat=CESAR))
        scored.rule("upheld", by="official:2", offence="exposed_card", rule="B11")
        assert self.change(scored) == (0, 5, 0, 0)
        scripted = correction(scored).scripts[0].events
        assert [one.event["rule"] for one in scripted] == ["B11"]

    @pytest.mark.rule("J6", "J9")
    def test_the_fine_for_the_knock_is_lifted_with_it(self) -> None:
        hearing = Hearing(false_knock_penalty=5).deal()
        hearing.knock(BERIT, CESAR, "fold_question")
        hearing.play().ask(Appeal(case=1, seat=BERIT))
        hearing.rule("upheld", offence="revoke", rule="B42")
        assert self.change(hearing) == (-5, 5, 0, 0)
        hearing.ask(Appeal(case=1), "official")
        hearing.rule("dismissed", rule="J4")
        assert self.change(hearing) == (0, 0, 0, 0), "and is due again"

    @pytest.mark.rule("J10")
    def test_an_official_knocks_for_a_deal_that_is_over(self, scored: Hearing) -> None:
        scored.ask(OpenCase(kind="offence", accused=DAG, offence="exposed_card", deal=1), "official")
        assert scored.case.payer == DAG
        scored.rule("upheld", case=2)
        assert self.change(scored) == (0, 0, 5, 0)

    @pytest.mark.rule("J9")
    def test_a_result_stands_in_place_of_what_was_knocked_in_the_deal(self) -> None:
        """The line has the tricks of the result, and the price once."""
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("upheld", rule="B42")
        hearing.play().ask(Appeal(case=1, seat=CESAR))
        hearing.rule("upheld", by="official:2", rule="B42", remedy=RemedySent(result=result(X1)))
        assert points(hearing) == (11, 16, 8, 12)

    @pytest.mark.rule("B17", "J9")
    def test_a_result_does_not_replace_a_knock_before_the_cards(self) -> None:
        hearing = Hearing(deal_ritual=True)
        hearing.knock(BERIT, CESAR, "wrong_cut")
        hearing.rule("upheld", rule="B17")
        hearing.deal()
        for _ in range(4):
            hearing.play(acts=1)
        hearing.play().ask(Appeal(case=1, seat=CESAR))
        hearing.rule("upheld", by="official:2", rule="B17", remedy=RemedySent(result=result(X1)))
        assert points(hearing) == (11, 16, 8, 12)
        assert len(correction(hearing).scripts) == 1, "it is paid for"

    @pytest.mark.rule("J9")
    def test_a_penalty_in_the_result_of_another_case_is_not_lifted(self) -> None:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("upheld", rule="B42")
        wrong(hearing.play(), X1)
        all_agree(hearing, case=2)
        assert points(hearing) == (11, 11, 8, 12), "a result includes the knocks"
        hearing.ask(Appeal(case=1, seat=CESAR))
        hearing.rule("dismissed", by="official:2", rule="J4")
        assert topics(hearing) == ["case/ruled"]
        assert points(hearing) == (11, 11, 8, 12)

    @pytest.mark.rule("J9")
    def test_a_line_is_struck_and_the_price_stays_as_it_is(self) -> None:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("upheld", rule="B42")
        hearing.play().deal().play().ask(Appeal(case=1, seat=CESAR))
        hearing.rule("upheld", by="official:2", rule="B42", remedy=RemedySent(strike=(2,)))
        event = correction(hearing)
        assert (event.scripts, event.struck) == ((), (2,))

    @pytest.mark.rule("B78", "J9")
    def test_a_dependent_later_deal_is_struck_only_by_name(self) -> None:
        hearing = entered("rodskagg-kortoxen", X1, points=(12, 12, 9, 12), exact_zero=False)
        hearing.ask(result(OUT_BY_FIVE), "official")
        assert topics(hearing)[-1] == "match/won"
        hearing.ask(OpenCase(kind="offence", accused=DAG, offence="revoke", deal=1), "official")
        ruling = hearing.ruling("upheld")
        assert hearing.refused(ruling, "line_hangs", "J9", "official").facts == {"deals": (2,)}
        hearing.says(DAG, True)
        assert hearing.status() == "pending", "only an official strikes a line"
        hearing.ask(OpenCase(kind="offence", accused=DAG, offence="exposed_card", deal=2), "official")
        hearing.rule("upheld", remedy=RemedySent(strike=(2,)))
        assert (correction(hearing).struck, points(hearing)[DAG]) == ((2,), 10)
        refused = OpenCase(kind="entry", seat=BERIT, deal=2, result=result(OUT_BY_FIVE))
        assert hearing.refused(refused, "line_struck", "J9").facts == {"deal": 2}
        hearing.refused(hearing.ruling("upheld", case=2), "line_struck", "J9", "official")
        hearing.rule("dismissed", case=2, rule="J4")
        assert topics(hearing) == ["case/ruled"]
        hearing.ask(Appeal(case=1, seat=DAG))
        hearing.rule("dismissed", case=1, by="official:2", rule="J4")
        assert correction(hearing).struck == ()
        assert correction(hearing).won is not None
        folds(hearing)

    def test_a_remedy_for_a_deal_that_is_not_written(self) -> None:
        hearing = Hearing().deal()
        hearing.knock(BERIT, CESAR, "revoke")
        for remedy in (RemedySent(result=result(X1)), RemedySent(strike=(1,))):
            hearing.refused(hearing.ruling("upheld", remedy=remedy), "deal_not_scored", "J9", "official")


class TestRams:
    """A game in which a fault costs points without a knock: it is noted late, or lifted, and no money is lost."""

    def worth(self, hearing: Hearing) -> int:
        return sum(points(hearing)) + int(hearing.match.play.table.pot)

    @pytest.mark.rule("D70", "J9")
    def test_late_and_lifted_again(self) -> None:
        hearing = Hearing("rams-english").deal(counts=(5,) * 4, turn_up="H7").play()
        was, before = lines(hearing), points(hearing)
        accused = next(seat for seat in range(4) if hearing.match.docket is not None)
        hearing.ask(OpenCase(kind="offence", accused=accused, offence="exposed_card", deal=1), "official")
        hearing.rule("upheld", rule="D68")
        assert points(hearing) != before
        assert self.worth(hearing) == 0
        line = correction(hearing).lines[0].score
        assert line is not None
        assert "D70" in {one.rule for one in line.entries}
        hearing.ask(Appeal(case=1, seat=accused))
        hearing.rule("dismissed", by="official:2", rule="D68")
        assert lines(hearing) == was
        folds(hearing)

    @pytest.mark.rule("D70", "J9")
    def test_one_that_is_written_is_lifted(self) -> None:
        hearing = Hearing("rams-english").deal(counts=(5,) * 4, turn_up="H7").play(until="declarations/closed")
        one, accused = hearing.match.play.order[:2]
        hearing.knock(one, accused, "exposed_card")
        hearing.rule("upheld", rule="D68")
        hearing.play().ask(Appeal(case=1, seat=accused))
        hearing.rule("dismissed", by="official:2", rule="D68")
        (scripted,) = correction(hearing).scripts[0].events
        assert scripted.topic == FaultLifted.TOPIC
        line = correction(hearing).lines[0].score
        assert line is not None
        assert "D70" not in {one.rule for one in line.entries}
        assert self.worth(hearing) == 0


def test_a_game_without_a_price_has_none() -> None:
    hearing = entered("rodskagg-alga", X1)
    hearing.refused(
        OpenCase(kind="offence", accused=DAG, offence="revoke", deal=1), "not_in_this_game", "J3", "official"
    )


@pytest.mark.rule("J7", "B-O40")
class TestAKnockOfTheSheet:
    """A knock on a sheet counts as agreed until a party contests it."""

    REVOKE: ClassVar[Body] = {"seat": 0, "accused": 1, "offence": "revoke", "after": 5}

    def test_an_appeal_of_the_payer_lifts_a_penalty_of_the_sheet(self) -> None:
        hearing = entered("rodskagg-kortoxen", {**X1, "knocks": [self.REVOKE]})
        assert (hearing.status(), points(hearing)) == ("ruled", (11, 16, 8, 12))
        hearing.ask(Appeal(case=1, seat=1, text="We never agreed on that"))
        hearing.rule("dismissed")
        assert topics(hearing) == CORRECTED
        assert points(hearing) == SHEETS["rodskagg-kortoxen"].points
        folds(hearing)

    def test_an_appeal_of_the_knocker_moves_the_penalty_to_the_accused(self) -> None:
        sheet = {**X1, "knocks": [{**self.REVOKE, "upheld": False}]}
        hearing = entered("rodskagg-kortoxen", sheet, false_knock_penalty=5)
        assert points(hearing) == (16, 11, 8, 12)
        hearing.ask(Appeal(case=1, seat=0))
        hearing.rule("upheld", rule="B42")
        assert points(hearing) == (11, 16, 8, 12)
        folds(hearing)

    def test_in_time(self) -> None:
        hearing = entered("rodskagg-kortoxen", {**X1, "knocks": [self.REVOKE]})
        hearing.wait(30)
        assert hearing.status() == "final"
        hearing.refused(Appeal(case=1, seat=1), "window_closed", "J7")
