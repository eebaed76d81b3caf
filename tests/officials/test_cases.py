"""Cases: questions that events cannot decide, statements, and agreement (J1-J3, J9)."""

from datetime import timedelta

import pytest

from referee.actors import actor_at
from referee.acts import AnswerEntered, Bid, BidEntered, Deal, Knock, PickUp, Play, Report, Result
from referee.events import Adjudication, KnockDismissed, KnockUpheld, PenaltyImposed, Reported
from referee.games import RULESETS
from referee.games._rodskagg.facts import MisdealFound
from referee.games.rams_english.states import FaultLifted
from referee.officials.events.cases import CaseOpened, CaseRuled, CaseStated
from referee.requests import Appeal, OpenCase, Withdrawal
from referee.value import EVENTS_MAX
from referee.visibility import as_seen_by
from tests.officials.hearing import Hearing
from tests.support.match_driver import NOON, deal

BERIT, CESAR, DAG, ANNA = range(4)
SHEET = Result(
    bids=(
        BidEntered(seat=BERIT, bid="2"),
        BidEntered(seat=CESAR, bid="pass"),
        BidEntered(seat=DAG, bid="3"),
        BidEntered(seat=ANNA, bid="pass"),
    ),
    tricks=(DAG, BERIT, DAG, DAG, CESAR, DAG),
    answers=(AnswerEntered(seat=ANNA, answer="fold"), AnswerEntered(seat=CESAR, answer="play")),
)
"""A possible first deal (B-X1)."""


class TestKnocksThatOpenCases:
    @pytest.mark.rule("J1", "J6")
    def test_a_revoke_in_closed_hands_waits_for_an_official(self, dealt: Hearing) -> None:
        case = dealt.knock(BERIT, CESAR, "revoke", "He had a heart")
        (opened,) = dealt.said
        assert opened == CaseOpened(
            case=1,
            by=actor_at(BERIT),
            kind="offence",
            deal=1,
            offence="revoke",
            accused=CESAR,
            payer=CESAR,
            text="He had a heart",
            within_deal=True,
        )
        assert (case.status, case.parties) == ("pending", (BERIT, CESAR))
        assert dealt.up == (0, 0, 0, 0)

    @pytest.mark.rule("J6")
    def test_it_costs_nothing_if_a_knock_for_nothing_does(self) -> None:
        hearing = Hearing(false_knock_penalty=5).deal()
        hearing.knock(BERIT, CESAR, "revoke")
        assert hearing.up == (0, 0, 0, 0)
        hearing.knock(BERIT, CESAR, "fold_question")
        assert hearing.up == (5, 0, 0, 0), "the acts show the question"
        hearing.rule("dismissed", case=1)
        assert hearing.up == (5, 0, 0, 0)

    @pytest.mark.rule("J1")
    @pytest.mark.parametrize("offence", ["revoke", "fold_question"])
    def test_the_note_of_a_knock_is_hidden_whether_or_not_it_opens_a_case(self, dealt: Hearing, offence: str) -> None:
        """The note is hidden whether the knock opens a case or is ruled at once, for the writer cannot know that."""
        dealt.knock(BERIT, CESAR, offence, "He had a heart")
        (event,) = dealt.said
        found = {
            viewer: str(as_seen_by(event, viewer, False)).count("He had a heart")
            for viewer in (*range(4), "official")
        }
        assert found == {BERIT: 1, CESAR: 0, DAG: 0, ANNA: 0, "official": 1}
        assert "He had a heart" in str(as_seen_by(event, "spectator", True)), "the deal is over"

    @pytest.mark.rule("J1")
    def test_between_two_deals_the_note_is_shown_at_once(self, dealt: Hearing) -> None:
        dealt.play().knock(CESAR, BERIT, "fold_question", "Nobody asked")
        assert "Nobody asked" in str(as_seen_by(dealt.said[0], "spectator", False))

    @pytest.mark.parametrize("offence", ["fold_question", "exit_knock", None])
    def test_a_knock_that_the_acts_decide_is_ruled_on_at_once(self, dealt: Hearing, offence: str | None) -> None:
        dealt.knock(BERIT, CESAR, offence)
        (ruling,) = dealt.said
        assert isinstance(ruling, KnockDismissed)
        assert ruling.appeal_until == NOON + timedelta(minutes=30)
        assert (dealt.case.status, dealt.case.ruled_by) == ("ruled", (None,))

    def test_open_hands_decide_a_knock_for_a_revoke(self) -> None:
        hands = tuple(tuple(f"{suit}{rank}" for rank in "AKQJT9") for suit in "SHDC")
        hearing = Hearing().deal(hands=hands)
        hearing.knock(BERIT, CESAR, "revoke")
        assert isinstance(hearing.said[0], KnockDismissed)
        hearing.knock(BERIT, CESAR, "exposed_card")
        assert isinstance(hearing.said[0], CaseOpened)

    @pytest.mark.rule("J1")
    def test_one_seat_alone_puts_nothing_on_anyone(self, dealt: Hearing) -> None:
        dealt.ask(Report(seat=BERIT, accused=CESAR, fault="exposed_card"))
        reported = len(dealt.history)
        case = dealt.knock(BERIT, CESAR, "exposed_card")
        assert (case.status, case.events) == ("pending", (reported,))
        assert dealt.up == (0, 0, 0, 0)

    def test_two_seats_do_not_either(self, dealt: Hearing) -> None:
        dealt.ask(Report(seat=BERIT, accused=CESAR, fault="exposed_card"))
        assert dealt.knock(DAG, CESAR, "exposed_card").status == "pending"

    def test_a_player_who_reports_their_own_error_has_agreed(self, dealt: Hearing) -> None:
        dealt.ask(Report(seat=CESAR, accused=CESAR, fault="exposed_card"))
        dealt.knock(BERIT, CESAR, "exposed_card")
        assert isinstance(dealt.said[0], KnockUpheld)
        assert dealt.up == (0, 5, 0, 0)

    def test_a_report_is_the_officials_once_it_is_knocked_for(self, dealt: Hearing) -> None:
        dealt.ask(Report(seat=BERIT, accused=CESAR, fault="exposed_card"))
        dealt.knock(BERIT, CESAR)
        dealt.knock(DAG, CESAR)
        (joined,) = dealt.said
        assert isinstance(joined, CaseStated)
        assert joined.knocked

    def test_a_report_can_be_knocked_for_again_after_a_withdrawal(self, dealt: Hearing) -> None:
        dealt.ask(Report(seat=BERIT, accused=CESAR, fault="exposed_card"))
        dealt.knock(BERIT, CESAR)
        dealt.ask(Withdrawal(case=1, seat=BERIT))
        assert dealt.knock(DAG, CESAR).status == "pending"

    def test_a_misdeal_that_another_reports_is_one_too(self) -> None:
        hearing = Hearing(deal_ritual=True).deal()
        hearing.ask(PickUp(seat=ANNA))
        _, found = hearing.ask(Report(seat=BERIT, accused=BERIT, fault="misdeal"))
        assert isinstance(found, MisdealFound)
        assert found.breaches, "the dealer has not said the formula"
        case = hearing.knock(DAG, ANNA, "misdeal")
        assert (case.status, case.events[-1]) == ("pending", len(hearing.history) - 1)

    def test_too_late_looks_as_it_does_for_nothing(self) -> None:
        """Otherwise a case would show that there was no breach, and a dismissal that there was one."""
        hearing = Hearing(knock_window="next_trick").deal()
        hearing.play(until="auction/won")
        hearing.ask(Report(seat=CESAR, accused=CESAR, fault="exposed_card"))
        hearing.play(20, until="trick/taken")
        hearing.play(20, until="trick/taken")
        assert hearing.knock(BERIT, CESAR, "exposed_card").status == "pending"

    @pytest.mark.rule("J7")
    def test_an_appeal_does_not_reveal_that_a_knock_was_too_late(self) -> None:
        """A knock that named no offence came too late for a revoke, and an official finds no offence either."""
        hands = deal("SA SK SQ SJ ST S8 | S9 HK HQ HJ HT H9 | DA DK DQ DJ DT D9 | CA CK CQ CJ CT C9")
        hearing = Hearing(knock_window="next_trick", enforcement="penalise").deal(hands=hands)
        hearing.ask(Bid(seat=BERIT, bid="3"))
        for seat in (CESAR, DAG, ANNA):
            hearing.ask(Bid(seat=seat, bid="pass"))
        for cards in ("SA H9 D9 C9", "SK S9 DT CT"):
            for seat, card in enumerate(cards.split()):
                hearing.ask(Play(seat=seat, card=card))
        hearing.knock(BERIT, CESAR)
        (ruling,) = hearing.said
        assert isinstance(ruling, KnockDismissed)
        assert ruling.reason == "late"
        hearing.ask(Appeal(case=1, seat=BERIT))
        (ruled,) = hearing.rule("dismissed")
        assert isinstance(ruled, CaseRuled)
        assert ruled.offence is None

    @pytest.mark.parametrize("ruleset", ["rodskagg-alga", "kalabrias"])
    def test_a_game_without_offences_has_none_that_events_hide(self, ruleset: str) -> None:
        assert RULESETS[ruleset].unseen is None
        assert RULESETS[ruleset].priced is None
        Hearing(ruleset, enforcement="penalise").refused(
            OpenCase(kind="offence", accused=1, offence="revoke"), "not_in_this_game", "J3", "official"
        )


class TestLimits:
    @pytest.mark.rule("J1")
    def test_three_cases_of_a_seat_wait_at_once(self, dealt: Hearing) -> None:
        for offence in ("revoke", "exposed_card", "led_out_of_turn"):
            dealt.knock(BERIT, CESAR, offence)
        refusal = dealt.refused(Knock(seat=BERIT, accused=DAG, offence="revoke"), "too_many_cases", "J1")
        assert refusal.facts == {"limit": 3}
        dealt.knock(DAG, ANNA, "revoke")
        dealt.rule("dismissed", case=2)
        assert dealt.knock(BERIT, DAG, "revoke").case == 5

    def test_a_seat_cannot_open_and_withdraw_for_ever(self, dealt: Hearing) -> None:
        for number in range(1, 21):
            dealt.knock(BERIT, CESAR, "revoke")
            dealt.ask(Withdrawal(case=number, seat=BERIT))
        dealt.refused(Knock(seat=BERIT, accused=CESAR, offence="revoke"), "too_many_knocks", None)

    def test_the_statements_of_a_seat_are_limited(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        for _ in range(20):
            dealt.says(CESAR, False)
        with pytest.raises(Exception, match="too_many_statements"):
            dealt.says(CESAR, False)
        dealt.says(DAG, True)

    def test_events_to_come_show_nothing(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        with pytest.raises(Exception, match="event_to_come"):
            dealt.says(CESAR, False, events=(EVENTS_MAX,))


class TestAgreement:
    @pytest.mark.rule("J2")
    def test_the_referee_rules_when_who_pays_agrees(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        stated, ruled, imposed = dealt.says(CESAR, True)
        assert isinstance(stated, CaseStated)
        assert ruled == CaseRuled(
            case=1,
            instance=1,
            verdict="upheld",
            standard="agreed_facts",
            rule="B42",
            offence="revoke",
            payer=CESAR,
            penalty=5,
            appeal_until=NOON + timedelta(minutes=30),
            within_deal=True,
        )
        assert imposed == PenaltyImposed(seat=CESAR, points=5, rule="B42", case=1)
        assert dealt.up == (0, 5, 0, 0)

    @pytest.mark.parametrize(("seat", "agrees"), [(BERIT, True), (DAG, True), (CESAR, False)])
    def test_no_other_seat_agrees_for_the_payer(self, dealt: Hearing, seat: int, agrees: bool) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        assert len(dealt.says(seat, agrees)) == 1
        assert dealt.status() == "pending"

    @pytest.mark.rule("J2", "B17")
    def test_the_payer_may_be_a_different_player_than_the_accused(self) -> None:
        hearing = Hearing(deal_ritual=True, wrong_cut_penalty_to="dealer")
        case = hearing.knock(BERIT, CESAR, "wrong_cut")
        assert (case.accused, case.payer, case.parties) == (CESAR, 3, (BERIT, CESAR, 3))
        assert len(hearing.says(CESAR, True)) == 1, "agreement costs this seat nothing"
        assert len(hearing.says(3, True)) == 3
        assert hearing.up == (0, 0, 0, 5)

    def test_a_payer_who_knocks_has_agreed(self) -> None:
        hearing = Hearing(deal_ritual=True, wrong_cut_penalty_to="dealer")
        hearing.knock(3, CESAR, "wrong_cut")
        assert hearing.status() == "ruled"
        assert hearing.up == (0, 0, 0, 5)

    def test_an_agreement_does_not_decide_the_appeal(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.says(CESAR, True)
        dealt.ask(Appeal(case=1, seat=CESAR, text="I was asked too fast"))
        assert dealt.status() == "appealed"
        dealt.rule("dismissed")
        assert dealt.up == (0, 0, 0, 0)
        assert dealt.status() == "final"

    @pytest.mark.rule("J2")
    def test_an_official_takes_facts_for_agreed_only_if_both_say_so(self) -> None:
        hearing = Hearing(deal_ritual=True, wrong_cut_penalty_to="dealer")
        hearing.knock(BERIT, CESAR, "wrong_cut")
        agreed = {"standard": "agreed_facts"}
        hearing.refused(hearing.ruling("upheld", **agreed), "facts_not_agreed", "J2", "official")
        hearing.refused(hearing.ruling("dismissed", **agreed), "facts_not_agreed", "J2", "official")
        hearing.says(CESAR, True)
        hearing.refused(hearing.ruling("dismissed", **agreed), "facts_not_agreed", "J2", "official")
        hearing.rule("upheld", **agreed)
        assert hearing.up == (0, 0, 0, 5)


class TestHeld:
    @pytest.mark.rule("J5")
    def test_play_goes_on_or_is_held(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.play(1)
        hearing = Hearing(terms=Adjudication(officials=("Maja",), pending="hold")).deal()
        hearing.knock(BERIT, CESAR, "revoke")
        refusal = hearing.refused(Bid(seat=BERIT, bid="1"), "held", "J5")
        assert refusal.facts == {"cases": (1,)}
        hearing.knock(DAG, CESAR, "exposed_card")
        hearing.rule("dismissed", case=1)
        hearing.refused(Bid(seat=BERIT, bid="1"), "held", "J5")
        assert hearing.match.legal(BERIT) == ()
        assert hearing.match.legal("official")
        hearing.rule("dismissed", case=2)
        assert hearing.match.legal(BERIT)
        hearing.ask(Bid(seat=BERIT, bid="1"))

    def test_the_next_deal_is_held_too(self) -> None:
        hearing = Hearing(terms=Adjudication(officials=("Maja",), pending="hold")).deal().play()
        hearing.ask(OpenCase(kind="entry", seat=BERIT, deal=1, result=SHEET))
        hearing.refused(Deal(seat=0, counts=(6,) * 4), "held", "J5")


class TestRams:
    """A game in which a fault costs points without a knock."""

    @pytest.fixture
    def rams(self) -> Hearing:
        hearing = Hearing("rams-english").deal(counts=(5,) * 4, turn_up="H7")
        return hearing.play(until="declarations/closed")

    @pytest.mark.rule("J1", "D68")
    def test_a_report_by_another_opens_a_case(self, rams: Hearing) -> None:
        accused = rams.match.play.order[0]
        other = rams.match.play.order[1]
        rams.ask(Report(seat=other, accused=accused, fault="exposed_card"))
        assert isinstance(rams.said[0], CaseOpened)
        assert rams.match.play.table.ledger.breaches == ()
        *_, reported = rams.rule("upheld", rule="D68")
        assert isinstance(reported, Reported)
        assert (reported.seat, reported.breaches[0].points) == (accused, 5)
        rams.ask(Appeal(case=1, seat=accused))
        *_, lifted = rams.rule("dismissed", by="official:2", rule="D68")
        assert lifted == FaultLifted(accused=accused, fault="exposed_card")
        assert rams.match.play.table.ledger.breaches == ()

    def test_one_s_own_stands(self, rams: Hearing) -> None:
        accused = rams.match.play.order[0]
        rams.ask(Report(seat=accused, accused=accused, fault="exposed_card"))
        assert isinstance(rams.said[0], Reported)

    @pytest.mark.rule("D-O24")
    def test_a_knock_is_only_for_faults_that_events_cannot_show(self, rams: Hearing) -> None:
        one, other = rams.match.play.order[:2]
        rams.refused(Knock(seat=one, accused=other), "no_knocking", "D-O24")
        assert rams.knock(one, other, "revoke").status == "pending"


class TestEntries:
    @pytest.mark.rule("J9")
    def test_only_of_a_deal_that_is_written(self, dealt: Hearing) -> None:
        early = dealt.refused(OpenCase(kind="entry", seat=BERIT, deal=1, result=SHEET), "deal_not_scored", "J9")
        assert early.facts == {"deal": 1}
        dealt.refused(OpenCase(kind="entry", seat=BERIT, deal=2, result=SHEET), "deal_to_come", "J1")
        dealt.play()
        dealt.ask(OpenCase(kind="entry", seat=BERIT, deal=1, result=SHEET))
        assert (dealt.case.kind, dealt.case.deal, dealt.case.result) == ("entry", 1, SHEET)

    @pytest.mark.rule("J2")
    def test_all_others_agree_or_an_official_rules(self, dealt: Hearing) -> None:
        dealt.play()
        dealt.ask(OpenCase(kind="entry", seat=BERIT, deal=1, result=SHEET))
        dealt.says(CESAR, True)
        dealt.says(DAG, True)
        dealt.says(ANNA, False)
        assert dealt.status() == "pending"
        dealt.rule("dismissed", rule="J9")
        dealt.ask(Appeal(case=1, seat=DAG))


class TestVisibilityOfTexts:
    @pytest.mark.rule("J1")
    def test_texts_of_a_case_are_visible_only_to_writer_and_officials_until_the_deal_is_over(
        self, dealt: Hearing
    ) -> None:
        dealt.knock(BERIT, CESAR, "revoke", "in trick two")
        dealt.says(CESAR, False, text="not so")
        dealt.rule("dismissed", reason="nobody saw")
        opened, stated, ruled = (one.event for one in dealt.history[-3:])
        assert isinstance(opened, CaseOpened)
        assert isinstance(stated, CaseStated)
        assert isinstance(ruled, CaseRuled)
        for viewer in (BERIT, CESAR, DAG, "spectator", "official"):
            shown = [as_seen_by(event, viewer, False) for event in (opened, stated, ruled)]
            texts = (shown[0].text, shown[1].text, shown[2].reason)
            official = viewer == "official"
            assert texts == (
                "in trick two" if viewer == BERIT or official else "",
                "not so" if viewer == CESAR or official else "",
                "nobody saw" if official else "",
            )
        assert as_seen_by(stated, DAG, True).text == "not so"

    def test_between_deals_there_is_nothing_to_wait_for(self, dealt: Hearing) -> None:
        dealt.knock(BERIT, CESAR, "revoke")
        dealt.play()
        dealt.says(DAG, True, text="I saw it")
        stated = dealt.said[0]
        assert isinstance(stated, CaseStated)
        assert as_seen_by(stated, "spectator", False).text == "I saw it"
