"""An incident is punished once, even if several players allege it several times (B-O5, J1, J3)."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from referee.acts import AnswerEntered, Bid, BidEntered, Knock, KnockEntered, Play, Report, Result
from referee.events import KnockDismissed, KnockUpheld
from referee.games.rams_english.payment import fault_events_by_seat
from referee.officials.events.cases import CaseOpened, CaseStated
from referee.requests import Appeal, OpenCase, Withdrawal
from tests.officials.hearing import Hearing

BERIT, CESAR, DAG, ANNA = range(4)
CLOSED = {"enforcement": "penalise"}


def play(hearing: Hearing, cards: str) -> None:
    """Play these cards, each by its seat: ``"0SA 1HK"``."""
    for card in cards.split():
        hearing.ask(Play(seat=int(card[0]), card=card[1:]))


def in_play() -> Hearing:
    """Return a match of Kortoxen with closed hands: BERIT declares three, and CESAR plays a heart on the first
    spade."""
    hearing = Hearing(**CLOSED).deal()
    hearing.ask(Bid(seat=BERIT, bid="3"))
    for seat in (CESAR, DAG, ANNA):
        hearing.ask(Bid(seat=seat, bid="pass"))
    play(hearing, "0SA 1HK 2S8 3S7")
    return hearing


def show_revoke(hearing: Hearing) -> None:
    """Let CESAR play a spade, which shows the revoke."""
    play(hearing, "0SK 1S9 2SJ 3SQ")


def by_ruling(hearing: Hearing) -> None:
    hearing.rule("upheld")


def by_agreement(hearing: Hearing) -> None:
    hearing.says(CESAR, True)


UPHOLDS = pytest.mark.parametrize("uphold", [by_ruling, by_agreement])


class TestAKnockForWhatACaseIsAbout:
    @pytest.mark.rule("B-O5", "J3")
    @UPHOLDS
    def test_a_revoke_alleged_then_shown_costs_once(self, uphold: Callable[[Hearing], None]) -> None:
        hearing = in_play()
        hearing.knock(DAG, CESAR, "revoke", "He has spades")
        show_revoke(hearing)
        hearing.knock(ANNA, CESAR, "revoke")
        uphold(hearing)
        assert hearing.up == (0, 5, 0, 0)
        assert len(hearing.cases) == 1

    @pytest.mark.rule("B-O5", "J3")
    @UPHOLDS
    def test_a_later_knock_for_the_same_revoke_costs_nothing(self, uphold: Callable[[Hearing], None]) -> None:
        hearing = in_play()
        hearing.knock(DAG, CESAR, "revoke")
        uphold(hearing)
        show_revoke(hearing)
        hearing.knock(ANNA, CESAR)
        (again,) = hearing.said
        assert isinstance(again, KnockDismissed)
        assert (again.reason, again.of) == ("again", 1)
        assert hearing.up == (0, 5, 0, 0)

    @pytest.mark.rule("B-O5", "J1")
    @UPHOLDS
    def test_one_allegation_is_one_case(self, uphold: Callable[[Hearing], None]) -> None:
        hearing = Hearing(**CLOSED).deal()
        for seat in (BERIT, DAG, ANNA, BERIT):
            hearing.knock(seat, CESAR, "exposed_card")
        uphold(hearing)
        assert len(hearing.cases) == 1
        assert hearing.up == (0, 5, 0, 0)

    @pytest.mark.rule("J1")
    def test_the_knock_is_recorded_in_the_case(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.ask(Knock(seat=DAG, accused=CESAR, offence="exposed_card", note="The king"))
        joined = CaseStated(case=1, seat=DAG, agrees=True, text="The king", within_deal=True, knocked=True)
        assert dealt.said == (joined,)
        assert dealt.case.parties == (BERIT, CESAR, DAG)

    @pytest.mark.rule("J1")
    def test_a_player_who_joined_keeps_the_case_open_and_may_appeal(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.knock(DAG, CESAR, "exposed_card")
        dealt.refused(Withdrawal(case=1, seat=BERIT), "others_knocked", "J1")
        dealt.rule("dismissed")
        dealt.ask(Appeal(case=1, seat=DAG))
        assert dealt.status() == "appealed"

    def test_the_opener_may_withdraw_a_case_that_only_the_opener_joined(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.ask(Withdrawal(case=1, seat=BERIT))
        assert dealt.knock(DAG, CESAR, "exposed_card").case == 2

    def test_a_report_by_the_accused_joins_it_by_a_knock(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.ask(Report(seat=CESAR, accused=CESAR, fault="exposed_card"))
        dealt.knock(DAG, CESAR)
        assert isinstance(dealt.said[0], CaseStated)
        by_agreement(dealt)
        assert dealt.up == (0, 5, 0, 0)

    def test_another_offence_or_player_is_another_case(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        assert dealt.knock(DAG, CESAR, "revoke").case == 2
        assert dealt.knock(BERIT, ANNA, "revoke").case == 3

    def test_a_second_report_of_another_error_is_another_case(self, dealt: Hearing) -> None:
        hearing = in_play()
        show_revoke(hearing)
        for another in (False, True):
            hearing.ask(Report(seat=CESAR, accused=CESAR, fault="exposed_card", another=another))
            hearing.knock(DAG, CESAR, "exposed_card")
            assert isinstance(hearing.said[0], KnockUpheld)
        assert hearing.up == (0, 10, 0, 0)

    def test_an_error_in_a_later_trick_is_another_case(self) -> None:
        hearing = in_play()
        for expected in (1, 2):
            assert hearing.knock(DAG, CESAR, "exposed_card").case == expected
            assert isinstance(hearing.said[0], CaseOpened)
            hearing.rule("dismissed", case=expected)
            if expected == 1:
                show_revoke(hearing)

    def test_a_revoke_after_the_knock_is_another_one(self) -> None:
        hearing = Hearing(**CLOSED).deal()
        hearing.knock(DAG, CESAR, "revoke")
        by_agreement(hearing)
        hearing.ask(Bid(seat=BERIT, bid="3"))
        for seat in (CESAR, DAG, ANNA):
            hearing.ask(Bid(seat=seat, bid="pass"))
        play(hearing, "0SA 1HK 2S8 3S7")
        show_revoke(hearing)
        hearing.knock(ANNA, CESAR, "revoke")
        assert hearing.up == (0, 10, 0, 0)

    @pytest.mark.rule("B17", "J3")
    def test_a_wrong_cut_costs_once_whether_the_cutter_or_the_dealer_is_accused(self) -> None:
        hearing = Hearing(enforcement="penalise", deal_ritual=True, wrong_cut_penalty_to="dealer")
        hearing.ask(Report(seat=ANNA, accused=DAG, fault="wrong_cut"))
        hearing.knock(BERIT, ANNA, "wrong_cut")
        hearing.ask(OpenCase(kind="offence", accused=DAG, offence="wrong_cut"), "official")
        hearing.refused(hearing.ruling("upheld", 2), "punished_already", "J3", "official")
        assert hearing.up == (0, 0, 0, 5)

    @pytest.mark.rule("J1")
    def test_an_official_rules_on_the_case_that_there_is(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        refusal = dealt.refused(
            OpenCase(kind="offence", accused=CESAR, offence="exposed_card"), "case_waits", "J1", "official"
        )
        assert refusal.facts == {"case": 1}


class TestDecidedCases:
    @pytest.mark.rule("B-O5")
    def test_a_dismissed_allegation_is_not_shown_as_a_fact(self, dealt: Hearing) -> None:
        dealt.ask(Report(seat=BERIT, accused=CESAR, fault="exposed_card"))
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.rule("dismissed")
        dealt.knock(DAG, CESAR, "exposed_card")
        (again,) = dealt.said
        assert isinstance(again, KnockDismissed)
        assert (again.reason, again.of, again.offence, again.rests_on) == ("again", 1, None, ())

    def test_a_case_without_events_neither(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.rule("dismissed")
        dealt.knock(DAG, CESAR, "exposed_card")
        (again,) = dealt.said
        assert isinstance(again, KnockDismissed)
        assert (again.reason, again.of, again.offence) == ("again", 1, None)

    @pytest.mark.rule("J3")
    def test_a_ruling_is_refused_and_names_the_case(self) -> None:
        hearing = in_play()
        show_revoke(hearing)
        hearing.knock(DAG, CESAR, "revoke")
        assert hearing.up == (0, 5, 0, 0)
        hearing.ask(OpenCase(kind="offence", accused=CESAR, offence="revoke"), "official")
        refusal = hearing.refused(hearing.ruling("upheld", 2), "punished_already", "J3", "official")
        assert refusal.facts == {"case": 1}
        hearing.rule("dismissed", case=2)
        assert hearing.up == (0, 5, 0, 0)

    @pytest.mark.rule("J2", "J3")
    def test_an_agreement_on_a_punished_error_is_refused(self) -> None:
        hearing = in_play()
        show_revoke(hearing)
        hearing.knock(DAG, CESAR, "revoke")
        hearing.ask(OpenCase(kind="offence", accused=CESAR, offence="revoke"), "official")
        with pytest.raises(Exception, match="punished_already"):
            hearing.says(CESAR, True, case=2)
        hearing.says(CESAR, False, case=2)

    @pytest.mark.rule("J3")
    def test_another_offence_that_the_official_finds_is_refused_if_it_is_punished(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.rule("upheld")
        dealt.knock(BERIT, CESAR, "revoke")
        ruling = dealt.ruling("upheld", 2, offence="exposed_card")
        assert dealt.refused(ruling, "punished_already", "J3", "official").facts == {"case": 1}

    def test_a_later_error_is_punished_by_the_events_that_show_it(self) -> None:
        hearing = in_play()
        hearing.knock(DAG, CESAR, "exposed_card")
        hearing.rule("upheld")
        show_revoke(hearing)
        hearing.knock(DAG, CESAR, "exposed_card")
        hearing.refused(hearing.ruling("upheld", 2), "punished_already", "J3", "official")
        hearing.rule("upheld", case=2, events=(len(hearing.history) - 1,))
        assert hearing.up == (0, 10, 0, 0)

    @pytest.mark.rule("J7")
    def test_an_error_whose_penalty_was_lifted_can_be_punished_again(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.rule("upheld")
        dealt.ask(OpenCase(kind="offence", accused=CESAR, offence="exposed_card"), "official")
        dealt.refused(dealt.ruling("upheld", 2), "punished_already", "J3", "official:2")
        dealt.ask(Appeal(case=1, seat=CESAR))
        dealt.rule("dismissed", case=1, by="official:2")
        dealt.rule("upheld", case=2)
        assert dealt.up == (0, 5, 0, 0)

    @pytest.mark.rule("J7")
    def test_upheld_on_appeal_it_is_the_same_punishment(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.rule("upheld")
        dealt.ask(Appeal(case=1, seat=CESAR))
        dealt.rule("upheld", case=1, by="official:2")
        assert dealt.up == (0, 5, 0, 0)

    @pytest.mark.rule("J9")
    def test_after_the_score_it_is_the_same(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "exposed_card")
        dealt.rule("upheld")
        dealt.play()
        dealt.ask(OpenCase(kind="offence", accused=CESAR, offence="exposed_card", deal=1), "official")
        assert dealt.refused(dealt.ruling("upheld", 2), "punished_already", "J3", "official").facts == {"case": 1}


class TestASheet:
    """A knock on a sheet stands until it is appealed, so a case about the same error must not cost again."""

    SHEET = Result(
        bids=(
            BidEntered(seat=BERIT, bid="2"),
            BidEntered(seat=CESAR, bid="pass"),
            BidEntered(seat=DAG, bid="3"),
            BidEntered(seat=ANNA, bid="pass"),
        ),
        tricks=(DAG, BERIT, DAG, DAG, CESAR, DAG),
        answers=(AnswerEntered(seat=ANNA, answer="fold"), AnswerEntered(seat=CESAR, answer="play")),
        knocks=(KnockEntered(seat=DAG, accused=CESAR, offence="exposed_card"),),
    )

    @pytest.mark.rule("B-O5", "J3")
    def test_its_knock_is_refused_when_a_case_has_punished_it(self) -> None:
        hearing = Hearing(dealing="tally")
        hearing.ask(OpenCase(kind="offence", accused=CESAR, offence="exposed_card"), "official")
        by_agreement(hearing)
        assert hearing.refused(self.SHEET, "punished_already", "J3", "official").facts == {"case": 1}

    @pytest.mark.rule("B-O5", "J3")
    def test_a_case_is_refused_when_a_sheet_has_punished_its_error(self) -> None:
        hearing = Hearing(dealing="tally")
        hearing.ask(OpenCase(kind="offence", accused=CESAR, offence="exposed_card"), "official")
        hearing.ask(self.SHEET, "official")
        assert hearing.refused(hearing.ruling("upheld"), "punished_already", "J3", "official").facts == {"case": 2}

    @pytest.mark.rule("J9")
    def test_a_corrected_sheet_without_the_knock_frees_the_error(self) -> None:
        hearing = Hearing(dealing="tally")
        hearing.ask(self.SHEET, "official")
        hearing.ask(OpenCase(kind="entry", seat=BERIT, deal=1, result=replace(self.SHEET, knocks=())))
        for seat in (CESAR, DAG, ANNA):
            hearing.says(seat, True, case=2)
        hearing.ask(OpenCase(kind="offence", accused=CESAR, offence="exposed_card", deal=1), "official")
        before = hearing.match.play.table.points
        hearing.rule("upheld", case=3)
        assert hearing.match.play.table.points[CESAR] == before[CESAR] + 5


class TestRams:
    """A fault is paid for without a knock (D-O24)."""

    @pytest.mark.rule("D68", "J1")
    def test_a_second_report_joins_the_case(self) -> None:
        hearing = playing_rams()
        hearing.ask(Report(seat=BERIT, accused=CESAR, fault="led_out_of_turn"))
        hearing.ask(Report(seat=DAG, accused=CESAR, fault="led_out_of_turn"))
        assert isinstance(hearing.said[0], CaseStated)
        hearing.ask(Report(seat=CESAR, accused=CESAR, fault="led_out_of_turn"))
        assert faults(hearing) == 1
        assert len(hearing.cases) == 1

    @pytest.mark.rule("D68", "J3")
    def test_an_error_that_its_player_reported_is_punished_once(self) -> None:
        hearing = playing_rams()
        hearing.ask(Report(seat=CESAR, accused=CESAR, fault="led_out_of_turn"))
        hearing.ask(Report(seat=BERIT, accused=CESAR, fault="led_out_of_turn"))
        hearing.refused(hearing.ruling("upheld", rule="D68"), "punished_already", "J3", "official")
        assert faults(hearing) == 1

    @pytest.mark.rule("D-O24", "J3", "J7")
    def test_a_revoke_that_an_official_found_costs_nothing_when_it_is_shown(self) -> None:
        hearing = revoked_in_rams()
        hearing.knock(DAG, CESAR, "revoke")
        hearing.rule("upheld", rule="D50")
        play(hearing, "0SK 1SQ 2ST 3SJ")
        assert faults(hearing) == 1
        hearing.ask(Appeal(case=1, seat=CESAR))
        hearing.rule("dismissed", rule="D50", by="official:2")
        assert faults(hearing) == 1, "the cards show it still"

    @pytest.mark.rule("D-O24", "J3")
    def test_an_official_cannot_punish_a_revoke_that_the_cards_show(self) -> None:
        hearing = revoked_in_rams()
        hearing.knock(DAG, CESAR, "revoke")
        play(hearing, "0SK 1SQ 2ST 3SJ")
        hearing.refused(hearing.ruling("upheld", rule="D50"), "punished_already", "J3", "official")
        assert faults(hearing) == 1


def revoked_in_rams() -> Hearing:
    """Return a match of English Rams with closed hands: CESAR has a spade, and plays a diamond on the first spade."""
    hearing = Hearing("rams-english", **CLOSED, fault_per_incident=True)
    hearing.deal(counts=(5,) * 4, turn_up="H7").play(until="declarations/closed")
    play(hearing, "0SA 1DK 2S8 3S9")
    return hearing


def playing_rams() -> Hearing:
    """Return a match of English Rams in play, with closed hands."""
    return Hearing("rams-english", **CLOSED).deal(counts=(5,) * 4, turn_up="S7").play(until="card/played")


def faults(hearing: Hearing) -> int:
    """Return the number of faults of the deal that will be paid for."""
    return sum(map(len, fault_events_by_seat(hearing.match.play.table).values()))
