"""J9: a line is corrected to another line, never to itself."""

import pytest

from referee.acts import Deal
from referee.requests import OpenCase, RemedySent
from tests.officials.line_corrections import (
    BERIT,
    CORRECTED,
    all_agree,
    appeal,
    entered,
    lines,
    result,
    topics,
    wrong,
)
from tests.officials.wrong_and_right_sheets import SHEETS

SAYS_SO = ("line_says_so", "J9")


@pytest.mark.rule("J9")
@pytest.mark.parametrize("ruleset", SHEETS)
def test_a_result_that_equals_the_line_opens_no_case(ruleset: str) -> None:
    """Otherwise a case would be upheld that changes nothing, and the line would name other events as its proof."""
    right = SHEETS[ruleset].right
    hearing = entered(ruleset, right)
    before = len(hearing.history)
    same = OpenCase(kind="entry", seat=BERIT, deal=1, result=result(right))
    assert hearing.refused(same, *SAYS_SO).facts == {"deal": 1}
    hearing.refused(OpenCase(kind="entry", deal=1, result=result(right)), *SAYS_SO, "official")
    assert len(hearing.history) == before


@pytest.mark.rule("J9")
@pytest.mark.parametrize("ruleset", SHEETS)
def test_a_case_cannot_be_upheld_if_the_line_already_says_so(ruleset: str) -> None:
    """Two cases are about one deal, and the first correction satisfies the second."""
    sheets = SHEETS[ruleset]
    hearing = entered(ruleset, sheets.wrong)
    wrong(hearing, sheets.right)
    wrong(hearing, sheets.right, by=1)
    hearing.rule("upheld", case=1, rule="J9")
    now = lines(hearing)
    hearing.refused(hearing.ruling("upheld", case=2, rule="J9"), *SAYS_SO, "official")
    all_agree(hearing, case=2, by=1)
    assert (hearing.status(2), lines(hearing)) == ("pending", now), "the referee does not rule so either"
    hearing.rule("dismissed", case=2, rule="J9")
    assert topics(hearing) == ["case/ruled"]


@pytest.mark.rule("J9")
def test_an_official_cannot_find_what_the_line_already_says() -> None:
    sheets = SHEETS["rodskagg-kortoxen"]
    hearing = entered("rodskagg-kortoxen", sheets.wrong)
    wrong(hearing, sheets.right)
    same = RemedySent(result=result(sheets.wrong))
    hearing.refused(hearing.ruling("upheld", rule="J9", remedy=same), *SAYS_SO, "official")
    hearing.rule("upheld", rule="J9")
    appeal(hearing)
    hearing.rule("upheld", by="official:2", rule="J9", remedy=same)
    assert topics(hearing) == CORRECTED, "it is another line than the one that counts now"


@pytest.mark.rule("J9")
def test_a_line_that_was_corrected_can_be_put_back() -> None:
    sheets = SHEETS["rodskagg-kortoxen"]
    hearing = entered("rodskagg-kortoxen", sheets.wrong)
    was = lines(hearing)
    wrong(hearing, sheets.right)
    all_agree(hearing)
    hearing.refused(OpenCase(kind="entry", seat=1, deal=1, result=result(sheets.right)), *SAYS_SO)
    hearing.ask(Deal(seat=0))
    wrong(hearing, sheets.wrong)
    hearing.play()
    all_agree(hearing, case=2)
    assert lines(hearing)[:1] == was
