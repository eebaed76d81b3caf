"""Rulings on cases, appeals and their time limits (J4-J8, J10)."""

from datetime import timedelta

import pytest

from api.access.caller import Caller
from api.cases.case import entries_of, status_of
from referee.acts import Abandon, Close, Report
from referee.events import Adjudication, DealVoided, PenaltyImposed
from referee.officials.events.cases import CaseOpened, CaseRuled
from referee.officials.state import status_at
from referee.requests import Appeal, OpenCase, RemedySent, Withdrawal
from tests.officials.hearing import TWO, Hearing
from tests.support.match_driver import NOON

BERIT, CESAR, DAG, ANNA = range(4)


class TestRulings:
    @pytest.mark.rule("J3")
    def test_the_official_finds_and_the_game_prices(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        ruled, imposed = dealt.rule("upheld", by="official:2", rule="B42", events=(1, 2), reason="Seen by Dag")
        assert isinstance(ruled, CaseRuled)
        assert (ruled.official, ruled.payer, ruled.penalty, ruled.rests_on) == ("official:2", CESAR, 5, (1, 2))
        assert imposed == PenaltyImposed(seat=CESAR, points=5, rule="B42", case=1)

    @pytest.mark.rule("J4")
    def test_an_undetermined_case_can_only_be_dismissed(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        undetermined = dealt.ruling("upheld", standard="undetermined")
        dealt.refused(undetermined, "undetermined_dismisses", "J4", "official")
        assert len(dealt.rule("dismissed", standard="undetermined")) == 1
        assert dealt.up == (0, 0, 0, 0)

    def test_a_dismissal_has_no_remedy(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        ruling = dealt.ruling("dismissed", remedy=RemedySent(void=True))
        dealt.refused(ruling, "remedy_for_nothing", "J3", "official")

    def test_the_deal_may_be_voided(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        _, imposed, voided = dealt.rule("upheld", remedy=RemedySent(void=True))
        assert isinstance(imposed, PenaltyImposed)
        assert isinstance(voided, DealVoided)

    def test_a_deal_that_is_voided_is_entered_with_the_penalty(self) -> None:
        """C-O23: the cost of a voided deal is entered at once, and so is the penalty."""
        hearing = Hearing("rodskagg-catsatcards", fem_opp=True, deal_ritual=False).deal()
        hearing.knock(BERIT, CESAR, "revoke")
        *_, voided = hearing.rule("upheld", rule="C60", remedy=RemedySent(void=True))
        assert isinstance(voided, DealVoided)
        assert voided.points == (12, 17, 12, 12)

    def test_a_ruling_voids_no_other_deal(self, dealt: Hearing) -> None:
        dealt.ask(OpenCase(kind="offence", accused=CESAR, offence="revoke"), "official")
        dealt.play().deal()
        voiding = dealt.ruling("upheld", remedy=RemedySent(void=True))
        dealt.refused(voiding, "deal_is_over", "J9", "official")

    @pytest.mark.rule("J10")
    def test_an_official_knocks_without_a_seat(self, dealt: Hearing) -> None:
        dealt.ask(OpenCase(kind="offence", accused=CESAR, offence="exposed_card", note="Seen"), "official:2")
        (opened,) = dealt.said
        assert isinstance(opened, CaseOpened)
        assert (opened.by, opened.payer) == ("official:2", CESAR)
        assert dealt.case.parties == (CESAR,)
        dealt.says(CESAR, True)
        assert dealt.up == (0, 5, 0, 0)

    def test_another_offence_than_the_knock_named_may_be_found(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        _, imposed = dealt.rule("upheld", offence="exposed_card")
        assert isinstance(imposed, PenaltyImposed)
        assert imposed.rule == "B11"

    @pytest.mark.rule("J9")
    def test_a_line_that_stands_is_not_changed_in_passing(self, dealt: Hearing) -> None:
        """While a later deal is under way the line does not change; a dismissal changes no number."""
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.play().deal()
        dealt.refused(dealt.ruling("upheld"), "deal_under_way", "J9", "official")
        dealt.rule("dismissed")
        assert dealt.status() == "ruled"


class TestAppeals:
    @pytest.mark.rule("J7")
    def test_another_official_rules_and_that_is_final(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.rule("upheld")
        dealt.ask(Appeal(case=1, seat=CESAR))
        dealt.refused(dealt.ruling("dismissed"), "ruled_by_you", "J7", "official")
        ruled, lifted = dealt.rule("dismissed", by="official:2")
        assert isinstance(ruled, CaseRuled)
        assert (ruled.instance, ruled.appeal_until) == (2, None)
        assert lifted == PenaltyImposed(seat=CESAR, points=-5, rule="B42", case=1)
        assert (dealt.status(), dealt.up) == ("final", (0, 0, 0, 0))
        dealt.refused(Appeal(case=1, seat=BERIT), "appealed_already", "J7")
        third = dealt.refused(dealt.ruling("upheld"), "case_decided", "J7", "official:3")
        assert third.facts == {"status": "final"}, "the seat missed no time limit"

    @pytest.mark.rule("J7")
    @pytest.mark.parametrize(("seconds", "status"), [(-1, "ruled"), (0, "final"), (1, "final")])
    def test_the_window_is_to_the_second(self, dealt: Hearing, seconds: int, status: str) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.rule("dismissed")
        dealt.wait(30 + seconds / 60)
        assert dealt.status() == status
        if status == "ruled":
            dealt.ask(Appeal(case=1, seat=BERIT))
            assert dealt.status() == "appealed"
        else:
            dealt.refused(Appeal(case=1, seat=BERIT), "window_closed", "J7")
            dealt.refused(dealt.ruling("upheld"), "window_closed", "J7", "official:2")

    def test_without_minutes_there_is_no_appeal(self) -> None:
        hearing = Hearing(terms=Adjudication(officials=("Maja", "Nils"), appeal_minutes=0)).deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("dismissed")
        assert hearing.status() == "final"
        hearing.refused(Appeal(case=1, seat=BERIT), "window_closed", "J7")

    @pytest.mark.rule("J7")
    def test_only_a_party_appeals(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.refused(Appeal(case=1, seat=BERIT), "not_ruled_yet", "J7")
        dealt.rule("dismissed")
        dealt.refused(Appeal(case=1, seat=DAG), "not_a_party", "J7")
        dealt.refused(Appeal(case=1, seat=7), "no_such_seat", None)

    @pytest.mark.rule("J7")
    @pytest.mark.parametrize(("verdict", "gained", "lost"), [("upheld", BERIT, CESAR), ("dismissed", CESAR, BERIT)])
    def test_only_against_a_ruling_that_went_against_the_party(
        self, dealt: Hearing, verdict: str, gained: int, lost: int
    ) -> None:
        """Otherwise the player who gained could use up the only appeal."""
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.rule(verdict)
        dealt.refused(Appeal(case=1, seat=gained), "not_against_you", "J7")
        dealt.ask(Appeal(case=1, seat=lost))
        assert dealt.status() == "appealed"

    @pytest.mark.rule("J7")
    def test_a_ruling_of_the_referee_is_appealed_only_by_the_party_that_lost(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "fold_question")
        dealt.refused(Appeal(case=1, seat=CESAR), "not_against_you", "J7")
        dealt.ask(Report(seat=CESAR, accused=CESAR, fault="exposed_card"))
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.refused(Appeal(case=2, seat=BERIT), "not_against_you", "J7")

    @pytest.mark.rule("J7", "B17")
    def test_the_accused_and_the_payer_may_each_appeal(self) -> None:
        for seat in (CESAR, ANNA):
            hearing = Hearing(deal_ritual=True, wrong_cut_penalty_to="dealer")
            hearing.knock(BERIT, CESAR, "wrong_cut")
            hearing.rule("upheld", rule="B17")
            hearing.ask(Appeal(case=1, seat=seat))
            assert hearing.status() == "appealed"

    @pytest.mark.rule("J7")
    def test_the_knocker_may_appeal_against_a_remedy_beyond_the_price(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.rule("upheld", remedy=RemedySent(void=True))
        dealt.ask(Appeal(case=1, seat=BERIT))
        assert dealt.status() == "appealed"

    def test_there_must_be_another_official(self) -> None:
        hearing = Hearing(terms=Adjudication(officials=("Maja",))).deal()
        hearing.knock(BERIT, CESAR, "revoke")
        hearing.rule("dismissed")
        hearing.refused(Appeal(case=1, seat=BERIT), "no_other_official", "J7")

    def test_an_appeal_against_the_referee_goes_to_the_only_official(self) -> None:
        hearing = Hearing(terms=Adjudication(officials=("Maja",))).deal()
        hearing.knock(BERIT, CESAR, "fold_question")
        hearing.ask(Appeal(case=1, seat=BERIT, text="He never asked aloud"))
        _, imposed = hearing.rule("upheld")
        assert imposed == PenaltyImposed(seat=CESAR, points=5, rule="B54", case=1)

    def test_a_knock_upheld_on_appeal_is_not_fined(self) -> None:
        hearing = Hearing(false_knock_penalty=5).deal()
        hearing.knock(BERIT, CESAR, "fold_question")
        assert hearing.up == (5, 0, 0, 0)
        hearing.ask(Appeal(case=1, seat=BERIT))
        hearing.rule("upheld")
        assert hearing.up == (0, 5, 0, 0)

    def test_a_knock_that_named_nothing_needs_a_name(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR)
        dealt.ask(Appeal(case=1, seat=BERIT))
        dealt.refused(dealt.ruling("upheld"), "no_such_offence", "J3", "official")
        dealt.rule("upheld", offence="revoke")
        assert dealt.up == (0, 5, 0, 0)

    def test_the_referee_s_penalty_is_lifted_as_it_was_imposed(self, dealt: Hearing) -> None:
        dealt.ask(Report(seat=CESAR, accused=CESAR, fault="exposed_card"))
        dealt.knock(BERIT, CESAR)
        dealt.ask(Appeal(case=1, seat=CESAR))
        dealt.rule("dismissed")
        assert dealt.up == (0, 0, 0, 0)

    def test_it_is_ruled_on_once_without_an_appeal(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.rule("dismissed")
        dealt.refused(dealt.ruling("upheld"), "ruled_by_you", "J7", "official")
        dealt.refused(dealt.ruling("upheld"), "not_appealed", "J7", "official:2")

    @pytest.mark.rule("J10")
    def test_an_official_may_reopen_a_case_that_they_ruled_on(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.rule("upheld")
        dealt.refused(Appeal(case=1), "not_your_ruling", "J10", "official:2")
        dealt.wait(1000)
        dealt.ask(Appeal(case=1, text="It was another trick"), "official")
        assert dealt.status() == "appealed"
        dealt.rule("dismissed")
        assert (dealt.up, dealt.status()) == ((0, 0, 0, 0), "final")


class TestWithdrawing:
    @pytest.mark.rule("J1")
    def test_only_the_opener_withdraws_a_case_and_only_before_a_ruling(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.refused(Withdrawal(case=1, seat=CESAR), "not_the_opener", "J1")
        dealt.refused(Withdrawal(case=1), "not_the_opener", "J1", "official")
        dealt.ask(Withdrawal(case=1, seat=BERIT))
        assert dealt.status() == "withdrawn"
        dealt.refused(Withdrawal(case=1, seat=BERIT), "case_decided", "J7")
        dealt.refused(Appeal(case=1, seat=BERIT), "case_decided", "J7")
        dealt.refused(dealt.ruling("upheld"), "case_decided", "J7", "official")
        with pytest.raises(Exception, match="case_decided"):
            dealt.says(CESAR, True)


@pytest.mark.rule("J8")
def test_after_the_end_a_score_is_corrected_in_time_or_beyond_doubt() -> None:
    hearing = Hearing(terms=TWO).deal().play()
    hearing.ask(Abandon())
    hearing.ask(OpenCase(kind="offence", accused=CESAR, offence="revoke", deal=1), "official")
    hearing.wait(30)
    hearing.refused(hearing.ruling("upheld"), "window_closed", "J8", "official")
    beyond = hearing.ruling("upheld", standard="beyond_reasonable_doubt")
    hearing.ask(beyond, "official")
    assert [event.TOPIC for event in hearing.said] == ["case/ruled", "protocol/corrected"]


@pytest.mark.rule("J8")
def test_the_final_result_is_provisional_to_the_second() -> None:
    hearing = Hearing("rams-english")
    assert not hearing.match.is_provisional(NOON)
    hearing.ask(Close(), "official")
    end = NOON + timedelta(minutes=30)
    assert hearing.match.is_provisional(end - timedelta(seconds=1))
    assert not hearing.match.is_provisional(end)


@pytest.mark.rule("J7")
def test_a_case_file_shows_the_status_of_the_docket() -> None:
    hearing = Hearing().deal()
    hearing.knock(BERIT, CESAR, "revoke")
    hearing.rule("dismissed")
    entries = entries_of(hearing.history, 1, Caller(viewer="official"))
    for minutes in (0, 29, 30, 31):
        at = NOON + timedelta(minutes=minutes)
        assert status_of(entries, at) == status_at(hearing.case, at)
