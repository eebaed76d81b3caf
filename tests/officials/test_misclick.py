"""J2, J11: a misclick becomes a case if the table does not agree at once."""

from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from referee.acts import Bid, Close, Deal, Score, TakeBack, Trick, Void
from referee.admission import IssueToken
from referee.events import Adjudication
from referee.history import UNAVAILABLE
from referee.officials.events.cases import CaseWithdrawn
from referee.officials.events.takeback import ActTakenBack
from referee.officials.state import Case
from referee.phases import Over
from referee.requests import Appeal, OpenCase, RemedySent, Ruling, Statement, Withdrawal
from tests.officials.attended_match import Attending
from tests.support.match_driver import NOON

pytestmark = [pytest.mark.rule("J11")]

TERMS = Adjudication(officials=("Maja", "Nils"), take_back=True)


@pytest.fixture
def table() -> Attending:
    """Return a match in which seat 1 has bid two, and seat 2 bids next."""
    table = Attending(TERMS, ruleset="rodskagg-kortoxen", deal_ritual=False)
    table.do(Deal(seat=0), Bid(seat=1, bid="2"))
    return table


def misclick(seat: int | None = 1) -> OpenCase:
    return OpenCase(kind="misclick", seat=seat, note="My finger slipped")


def ruling(verdict: Any, **fields: Any) -> Ruling:
    fields = {"standard": "balance_of_probabilities", "rule": "J11", **fields}
    return Ruling(case=1, verdict=verdict, **fields)


def case_of(table: Attending) -> Case:
    docket = table.match.docket
    assert docket is not None
    return docket.case(1)


def agree(table: Attending, *seats: int, agrees: bool = True) -> None:
    table.do(*(Statement(case=1, seat=seat, agrees=agrees) for seat in seats))


@pytest.mark.rule("J2")
def test_when_all_others_agree_the_referee_rules(table: Attending) -> None:
    (opened,) = table.do(misclick())
    assert (opened.kind, opened.by, opened.events, opened.accused) == ("misclick", "seat:1", (3,), None)
    agree(table, 2, 0)
    assert table.match.play.to_speak[0] == 2, "the act counts until all seats have agreed"
    agree(table, 3)
    *_, ruled, done = table.events
    assert (ruled.official, ruled.standard, ruled.appeal_until) == (None, "agreed_facts", None)
    assert done == ActTakenBack(case=1, first=3, last=3)
    assert (table.match.play.to_speak[0], table.match.play.table.ledger.cases) == (1, 1)
    assert len(table.match.docket.cases) == 1, "that case, and no other"


def test_an_official_rules_if_a_seat_does_not_agree(table: Attending) -> None:
    table.do(misclick())
    agree(table, 0, 2)
    agree(table, 3, agrees=False)
    ruled, done = table.do(ruling("upheld"))
    assert (ruled.verdict, ruled.payer, ruled.penalty) == ("upheld", None, 0)
    assert isinstance(done, ActTakenBack)
    assert table.match.play.to_speak[0] == 1


def test_it_is_final_when_the_act_is_taken_back(table: Attending) -> None:
    """Play continues at once, so neither an appeal nor an official's own error can change it."""
    table.do(misclick(), ruling("upheld"))
    assert case_of(table).appeal_until is None
    table.refused(Appeal(case=1, seat=3), "taken_back_already")
    table.refused(Appeal(case=1), "taken_back_already")


@pytest.mark.rule("J7")
def test_dismissed_it_may_be_appealed_while_the_act_is_the_last(table: Attending) -> None:
    table.do(misclick(), ruling("dismissed"), Appeal(case=1, seat=1))
    assert table.match.play.to_speak[0] == 2
    table.do(ruling("upheld"), actor="official:2")
    assert table.match.play.to_speak[0] == 1


@pytest.mark.rule("J7")
def test_a_seat_that_did_not_want_the_act_back_has_no_appeal(table: Attending) -> None:
    table.do(misclick())
    agree(table, 3, agrees=False)
    table.do(ruling("dismissed"))
    for seat in (0, 3):
        table.refused(Appeal(case=1, seat=seat), "not_against_you", "J7")
    table.do(Appeal(case=1, seat=1))


class TestOvertaken:
    """An act that is no longer the last cannot be taken back, so its case is withdrawn."""

    def test_the_next_act_withdraws_it(self, table: Attending) -> None:
        table.do(misclick())
        _, withdrawn = table.do(Bid(seat=2, bid="pass"))
        assert withdrawn == CaseWithdrawn(case=1, overtaken=True)
        assert case_of(table).status == "withdrawn"
        table.refused(ruling("upheld"), "case_decided", "J7")
        stated = Statement(case=1, seat=0, agrees=True)
        assert table.refused(stated, "case_decided", "J7").facts == {"status": "withdrawn"}

    def test_whatever_comes_after_it(self, table: Attending) -> None:
        table.do(misclick())
        *_, withdrawn = table.do(Void())
        assert withdrawn == CaseWithdrawn(case=1, overtaken=True)

    def test_a_token_or_a_statement_does_not_overtake_it(self, table: Attending) -> None:
        table.do(misclick(), IssueToken(seat=2, hash="ab" * 32))
        agree(table, 0)
        assert case_of(table).status == "pending"
        table.do(ruling("upheld"))
        assert table.match.play.to_speak[0] == 1

    def test_that_the_table_takes_the_act_back_withdraws_it_too(self, table: Attending) -> None:
        table.do(misclick(), *(TakeBack(seat=seat) for seat in (1, 0, 2, 3)))
        assert table.events[-1] == CaseWithdrawn(case=1, overtaken=True)
        assert [case.status for case in table.match.docket.cases] == ["withdrawn", "ruled"]

    @pytest.mark.rule("J7")
    def test_after_an_appeal_the_ruling_stands(self, table: Attending) -> None:
        table.do(misclick(), ruling("dismissed"), Appeal(case=1, seat=1), Bid(seat=2, bid="pass"))
        assert table.events[-1] == CaseWithdrawn(case=1, overtaken=True)
        assert (case_of(table).status, case_of(table).verdict) == ("withdrawn", "dismissed")

    @pytest.mark.rule("J8")
    def test_it_does_not_keep_the_win_provisional(self) -> None:
        terms = replace(TERMS, correction_minutes=0)
        table = Attending(terms, ruleset="rams-english", dealing="tally", enforcement="penalise")
        table.do(Deal(seat=0), Bid(seat=1, bid="join"), misclick(), Void(), Close())
        assert isinstance(table.match.play, Over)
        assert not table.match.is_provisional(NOON + timedelta(days=1))


@pytest.mark.rule("B63", "J2")
def test_an_eliminated_seat_that_did_not_agree_does_not_keep_the_win_provisional() -> None:
    """The last seat that has to agree is eliminated when the deal is scored."""
    table = Attending(TERMS, dealing="tally", enforcement="penalise", ruleset="rodskagg-kortoxen", deal_ritual=False)
    table.do(Deal(seat=0), Bid(seat=1, bid="1"), misclick())
    agree(table, 0, 2)
    table.do(Bid(seat=2, bid="pass"), Bid(seat=3, bid="rodskagg"), Trick(seat=0), Score(seat=0))
    assert table.match.play.table.active == (0, 1, 2)
    assert case_of(table).status == "withdrawn"
    moment = replace(
        table.moment(1), history=UNAVAILABLE
    )  # the case can never be ruled on, so no history is read for it
    assert table.match.procedure.take(table.match.state, Deal(seat=1), moment)


def test_an_official_may_open_a_case_of_a_misclick(table: Attending) -> None:
    (opened,) = table.do(misclick(None))
    assert (opened.by, opened.events) == ("official", (3,))
    agree(table, 0, 2, 3)
    assert case_of(table).status == "pending", "who did it is asked, too"
    agree(table, 1)
    assert table.match.play.to_speak[0] == 1


def test_only_of_one_s_own_act(table: Attending) -> None:
    assert table.refused(misclick(2), "not_your_act").facts == {"seat": 1}


def test_a_misclick_is_refused_if_no_act_can_be_taken_back() -> None:
    table = Attending(TERMS, ruleset="rodskagg-kortoxen", deal_ritual=False)
    table.refused(misclick(0), "nothing_to_take_back")
    table.do(Deal(seat=0))
    table.refused(misclick(0), "seen_already")
    without = Attending(Adjudication(officials=("Maja",)), ruleset="rodskagg-kortoxen", deal_ritual=False)
    without.do(Deal(seat=0), Bid(seat=1, bid="2"))
    without.refused(misclick(), "no_taking_back")


def test_nothing_else_follows_from_it(table: Attending) -> None:
    table.do(misclick())
    table.refused(ruling("upheld", remedy=RemedySent(void=True)), "remedy_for_misclick")


def test_withdrawn_it_leaves_the_act_to_the_table(table: Attending) -> None:
    table.do(misclick(), Withdrawal(case=1, seat=1))
    table.do(*(TakeBack(seat=seat) for seat in (1, 0, 2, 3)))
    assert table.events[-1] == ActTakenBack(case=2, first=3, last=3, seat=1)
    assert table.match.play.to_speak[0] == 1
