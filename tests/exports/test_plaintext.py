"""The exact files for hledger and ledger, and for beancount."""

import pytest
from hypothesis import given
from msgspec.structs import replace

from projections.exports import EXPORTS
from projections.journal import Journal, accounts, in_currency, name_of
from tests.exports.journals import EMPTY, EXAMPLE, UUID, balance, journals

HLEDGER = f"""\
; Kortklubben Åttan
; 2026-01-01 to 2026-01-31, made 2026-02-01 by Knacka

commodity SEK
    format 1000.00 SEK

account Assets:Cash
account Assets:Bank
account Liabilities:Pot
account Income:Fees
account Equity:Opening
account Liabilities:Member:5
    note Anna Ek
account Liabilities:Member:7

2026-01-01 * opening balances
    Assets:Cash  100.00 SEK
    Liabilities:Member:5  -100.00 SEK

2026-01-03 * (12) match, evening 3
    ; {UUID}/12, by key k3
    Liabilities:Member:5  4.50 SEK
    Liabilities:Member:7  -4.00 SEK
    Liabilities:Pot  -0.50 SEK

2026-01-03 * (13) deposit
    ; {UUID}/13, by key k3
    ; Swish ref 77 jan
    Assets:Bank  200.00 SEK
    Liabilities:Member:7  -200.00 SEK

2026-01-31 * (14) fee
    ; {UUID}/14, by key k3
    Liabilities:Member:5  25.00 SEK
    Income:Fees  -25.00 SEK

2026-01-31 * closing balances
    Assets:Cash  0.00 SEK = 100.00 SEK
    Assets:Bank  0.00 SEK = 200.00 SEK
    Liabilities:Pot  0.00 SEK = -0.50 SEK
    Income:Fees  0.00 SEK = -25.00 SEK
    Equity:Opening  0.00 SEK = 0.00 SEK
    Liabilities:Member:5  0.00 SEK = -70.50 SEK
    Liabilities:Member:7  0.00 SEK = -204.00 SEK
"""

BEANCOUNT = f"""\
; 2026-01-01 to 2026-01-31, made 2026-02-01 by Knacka
option "title" "Kortklubben \\"Åttan\\""
option "operating_currency" "SEK"

2026-01-01 open Assets:Cash  SEK
2026-01-01 open Assets:Bank  SEK
2026-01-01 open Liabilities:Pot  SEK
2026-01-01 open Income:Fees  SEK
2026-01-01 open Equity:Opening  SEK
2026-01-01 open Liabilities:Member:5  SEK
  name: "Anna Ek"
2026-01-01 open Liabilities:Member:7  SEK

2026-01-01 * "opening balances"
  Assets:Cash  100.00 SEK
  Liabilities:Member:5  -100.00 SEK

2026-01-03 * "match, evening 3"
  number: 12
  cause: "{UUID}/12"
  by: "key k3"
  Liabilities:Member:5  4.50 SEK
  Liabilities:Member:7  -4.00 SEK
  Liabilities:Pot  -0.50 SEK

2026-01-03 * "deposit"
  number: 13
  cause: "{UUID}/13"
  by: "key k3"
  text: "Swish; ref: 77 [jan]"
  Assets:Bank  200.00 SEK
  Liabilities:Member:7  -200.00 SEK

2026-01-31 * "fee"
  number: 14
  cause: "{UUID}/14"
  by: "key k3"
  Liabilities:Member:5  25.00 SEK
  Income:Fees  -25.00 SEK

2026-02-01 balance Assets:Cash  100.00 ~ 0.00 SEK
2026-02-01 balance Assets:Bank  200.00 ~ 0.00 SEK
2026-02-01 balance Liabilities:Pot  -0.50 ~ 0.00 SEK
2026-02-01 balance Income:Fees  -25.00 ~ 0.00 SEK
2026-02-01 balance Equity:Opening  0.00 ~ 0.00 SEK
2026-02-01 balance Liabilities:Member:5  -70.50 ~ 0.00 SEK
2026-02-01 balance Liabilities:Member:7  -204.00 ~ 0.00 SEK
"""


@pytest.mark.parametrize(("export", "file"), [("hledger", HLEDGER), ("beancount", BEANCOUNT)])
def test_a_file_as_it_stands(export: str, file: str):
    assert EXPORTS[export].write(EXAMPLE).decode() == file


@given(journals())
def test_no_comment_has_a_tag_or_a_date_in_it(journal: Journal):
    lines = EXPORTS["hledger"].write(journal).decode().splitlines()
    comments = [line for line in lines if line.strip().startswith((";", "note "))]
    assert not any(set(line.partition(";")[2]) & set(":[];") for line in comments)


@given(journals())
def test_a_line_is_what_was_meant_to_be_one(journal: Journal):
    """A text cannot begin a line of its own, so it cannot begin a transaction or a directive."""
    begun = ("; ", "commodity ", "account ", "2026-", "option ", " ")
    for export in ("hledger", "beancount"):
        lines = EXPORTS[export].write(journal).decode().split("\n")
        assert all(line == "" or line == ";" or line.startswith(begun) for line in lines)


@pytest.mark.parametrize("export", list(EXPORTS))
def test_without_names_no_file_has_one(export: str):
    write = EXPORTS[export].write
    assert b"Anna" in write(EXAMPLE)
    assert b"Anna" not in write(replace(EXAMPLE, names={}))


def test_an_empty_span_asserts_that_the_clubs_accounts_are_empty():
    said = EXPORTS["hledger"].write(EMPTY).decode()
    assert said.count("= 0.00 SEK") == 5
    assert said.count("2026-01") == 3  # the span, and the closing


def test_the_part_in_a_currency_has_the_accounts_that_it_is_about():
    other = replace(balance("member:9", -5), currency="EUR")
    both = replace(EXAMPLE, currencies=("SEK", "EUR"), opening=(*EXAMPLE.opening, other))
    assert in_currency(both, "SEK") == EXAMPLE
    assert accounts(in_currency(both, "EUR"))[-1] == "member:9"
    assert accounts(both)[-3:] == ("member:5", "member:7", "member:9")
    assert name_of(both, "member:9") is None
