"""Real programs accept the files: hledger, ledger and beancount, for many journals each.

JOURNALS=10000 sets their number; `make soak` uses that.
"""

import os

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec.structs import replace

from projections.exports import EXPORTS
from projections.journal import Balance, Journal
from tests.exports.accounting_programs import JUDGES
from tests.exports.journals import EMPTY, EXAMPLE, journals

PARTS = 8
"""Test cases among which the journals are divided, so that processes share them."""
EXAMPLES = -(-int(os.environ.get("JOURNALS", "200")) // PARTS)
judges = pytest.mark.parametrize(
    "judge",
    [pytest.param(name, marks=[] if name == "beancount" else pytest.mark.program(name)) for name in JUDGES],
)


def judged(judge: str, journal: Journal) -> str:
    export, judge_of = JUDGES[judge]
    return judge_of(EXPORTS[export].write(journal))


@pytest.mark.parametrize("part", range(PARTS))
@judges
@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.too_slow])
@given(journal=journals())
def test_each_journal_is_accepted(journal: Journal, judge: str, part: int):
    assert judged(judge, journal) == ""


@judges
@pytest.mark.parametrize("journal", [EXAMPLE, EMPTY])
def test_an_empty_span_and_a_full_one_are_accepted(judge: str, journal: Journal):
    assert judged(judge, journal) == ""


@judges
@pytest.mark.parametrize("journal", [EXAMPLE, EMPTY])
def test_a_balance_that_is_wrong_by_one_minor_unit_is_found(judge: str, journal: Journal):
    closing = {(one.account, one.currency): one.amount for one in journal.closing}
    wrong = Balance(account="cash", currency="SEK", amount=closing.pop(("cash", "SEK"), 0) + 1)
    others = tuple(one for one in journal.closing if (one.account, one.currency) in closing)
    assert judged(judge, replace(journal, closing=(wrong, *others))) != ""


@judges
def test_an_entry_that_is_not_even_is_found(judge: str):
    first, *others = EXAMPLE.entries
    postings = (replace(first.postings[0], amount=first.postings[0].amount + 1), *first.postings[1:])
    assert judged(judge, replace(EXAMPLE, entries=(replace(first, postings=postings), *others))) != ""
