"""SIE 4I files for Swedish accounting programs, read by a strict reader of our own."""

from collections import Counter
from decimal import Decimal

import pytest
from hypothesis import given
from msgspec.structs import replace

from projections.exports import sie
from projections.journal import Journal, in_currency, member_of
from referee.clubs.facts import SieAccounts
from tests.exports.journals import EMPTY, EXAMPLE, UUID, entry, journals
from tests.exports.sie_reader import NotSie, read

FILE = f"""\
#FLAGGA 0
#PROGRAM "Knacka" 1
#FORMAT PC8
#GEN 20260201
#SIETYP 4
#FNAMN "Kortklubben \\"Åttan\\""
#VALUTA SEK
#KONTO 1910 "Kassa"
#KONTO 1930 "Bank"
#KONTO 2061 "Ingående saldon"
#KONTO 2890 "Medlemmar, Pott"
#KONTO 3990 "Avgifter"
#DIM 20 "Medlem"
#OBJEKT 20 "5" "Anna Ek"
#OBJEKT 20 "7" "Medlem 7"
#VER "K" 12 20260103 "Match, kväll 3, {UUID}/12"
{{
#TRANS 2890 {{20 "5"}} 4.50
#TRANS 2890 {{20 "7"}} -4.00
#TRANS 2890 {{}} -0.50
}}
#VER "K" 13 20260103 "Insättning, {UUID}/13, Swish; ref: 77 [jan]"
{{
#TRANS 1930 {{}} 200.00
#TRANS 2890 {{20 "7"}} -200.00
}}
#VER "K" 14 20260131 "Avgift, {UUID}/14"
{{
#TRANS 2890 {{20 "5"}} 25.00
#TRANS 3990 {{}} -25.00
}}
"""


def test_a_file_as_it_stands():
    assert sie.write(EXAMPLE).decode("cp437") == FILE.replace("\n", "\r\n")
    read(sie.write(EXAMPLE))


@given(journals())
def test_each_entry_is_a_voucher_with_its_amounts(journal: Journal):
    for currency in journal.currencies:
        part = in_currency(journal, currency)
        file = read(sie.write(part))
        assert file.head["#VALUTA"] == [currency]
        assert [(one.series, one.number, one.date) for one in file.vouchers] == [
            ("K", one.number, one.date) for one in part.entries
        ]
        for voucher, written in zip(file.vouchers, part.entries, strict=True):
            assert [(row.member, row.amount) for row in voucher.rows] == [
                (str(member) if (member := member_of(one.account)) else None, Decimal(one.amount) / 100)
                for one in written.postings
            ]
            assert written.cause in voucher.text
        sums = Counter[str]()
        for row in (row for voucher in file.vouchers for row in voucher.rows):
            sums[row.account] += row.amount
        assert sum(sums.values()) == 0


def test_an_empty_span_is_a_file_without_vouchers():
    file = read(sie.write(EMPTY))
    assert (file.vouchers, file.objects) == ([], {})


def test_the_treasurer_sets_the_accounts():
    file = read(sie.write(replace(EXAMPLE, sie=SieAccounts(pot="2891", cash="1911"))))
    assert file.accounts["1911"] == "Kassa"
    assert file.accounts["2891"] == "Pott"
    assert [row.account for row in file.vouchers[0].rows] == ["2890", "2890", "2891"]


def test_a_file_has_one_currency():
    with pytest.raises(ValueError, match="one currency"):
        sie.write(replace(EXAMPLE, currencies=("SEK", "EUR")))


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("Åsa Öberg-Ærø", "Åsa Öberg-Æro"),
        ("A\u030asa", "Åsa"),
        ("Søren Þórsson", "Soren Thórsson"),
        ("Łukasz Żółw", "Lukasz Zólw"),
        ("Zoë d’Été", "Zoë d'Été"),
        ("李明", "??"),
        ('Kalle "Kula" \\ Ek', 'Kalle "Kula" / Ek'),
        ("{20} #VER\r\n#TRANS", "{20} #VER #TRANS"),
        ("5 € – 10 €", "5 EUR - 10 EUR"),
        ("\x00\x1b\u200b", "Medlem 5"),
    ],
)
def test_a_name_is_written_in_the_letters_of_cp437(name: str, written: str):
    file = read(sie.write(replace(EXAMPLE, names={5: name})))
    assert file.objects["20", "5"] == written


def test_an_entry_that_takes_another_back_says_so():
    back = replace(entry(15, 31, "reverse", {"member:5": -450, "pot": 450}), reverses=12)
    file = read(sie.write(replace(EXAMPLE, entries=(back,))))
    assert file.vouchers[0].text == f"Rättelse, rättar 12, {UUID}/15"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('#TRANS 2890 {20 "5"} 4.50', '#TRANS 2890 {20 "5"} 4.51'),
        ('#TRANS 2890 {20 "5"} 4.50', '#TRANS 2890 {20 "6"} 4.50'),
        ('#TRANS 2890 {20 "5"} 4.50', '#TRANS 2891 {20 "5"} 4.50'),
        ("-4.00", "-4,00"),
        ("-4.00", "-4.0"),
        ("20260131", "20260132"),
        ("20260131", "20260101"),
        ('#VER "K" 14', '#VER "K" 13'),
        ("#SIETYP 4\r\n", ""),
        ("#SIETYP 4", "#SIETYP 1"),
        ("#DIM 20", "#DIM 6"),
        ('}\r\n#VER "K" 13', '#VER "K" 13'),
        ("\r\n", "\n"),
        ("Anna Ek", 'Anna "Ek'),
        ("Anna Ek", "Anna\tEk"),
        ("#DIM", "#IB 0 1910 100.00\r\n#DIM"),
    ],
)
def test_the_reader_is_strict(right: str, wrong: str):
    text = sie.write(EXAMPLE).decode("cp437")
    assert right in text
    with pytest.raises(NotSie):
        read(text.replace(right, wrong, 1).encode("cp437"))
