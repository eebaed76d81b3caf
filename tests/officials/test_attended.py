"""Attended matches are folded once: the game's own state is used, and the docket is the same as by the fold."""

import pytest

from referee.acts import AnswerEntered, BidEntered, Knock, KnockEntered, Result
from referee.events import Adjudication, DealScored, KnockUpheld
from tests.officials.hearing import Hearing
from tests.officials.line_corrections import ANNA, BERIT, CESAR, DAG

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


@pytest.mark.rule("J1", "J7")
@pytest.mark.parametrize("appeal_minutes", [0, 60])
def test_a_knock_that_is_upheld_in_the_act_that_ends_the_deal_is_a_case_of_that_deal(appeal_minutes: int) -> None:
    terms = Adjudication(officials=("Maja",), appeal_minutes=appeal_minutes)
    hearing = Hearing(terms=terms, dealing="tally")
    events = hearing.ask(SHEET, "official")
    kinds = [type(event) for event in events]
    assert kinds.index(KnockUpheld) < kinds.index(DealScored), "one act rules and ends the deal"
    assert hearing.match.play.table.deal == 2
    assert (hearing.case.deal, hearing.case.during, hearing.case.verdict) == (1, 1, "upheld")
    assert hearing.case.entered is not None, "its penalty is in the line of the first deal"
    assert hearing.case.entered.points == 5


@pytest.mark.rule("J1")
def test_a_knock_in_play_is_a_case_of_the_deal_under_way(dealt: Hearing) -> None:
    dealt.ask(Knock(seat=BERIT, accused=CESAR))
    dealt.play()
    assert dealt.match.play.table.deal == 2
    assert (dealt.case.deal, dealt.case.verdict) == (1, "dismissed")
