"""Payloads for bank apps, of Swish and of a SEPA credit transfer, and the picture of each."""

import re
from decimal import Decimal
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
import segno.helpers
from hypothesis import given, settings
from hypothesis import strategies as st

from projections.payable import (
    EPC_AMOUNT_MAX,
    EPC_BYTES_MAX,
    SWISH_AMOUNT_MAX,
    SWISH_SIGNS,
    epc,
    iban,
    svg,
    swish,
    swish_number,
)
from tests.support.qr_codes import SVG, drawn, scanned

SWEDISH = "SE4550000000058398257466"


def test_a_payment_by_swish():
    assert swish("1231181189", 500, "Kväll 3: Anna Ek") == "C1231181189;5,00;Kv%C3%A4ll%203%3A%20Anna%20Ek;0"
    assert swish("070-123 45 67", 123_456, "") == "C0701234567;1234,56;;0"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("123 118 11 89", "1231181189"),
        ("0701234567", "0701234567"),
        ("+46 70-123 45 67", "0701234567"),
        ("0046701234567", "0701234567"),
        ("46701234567", "0701234567"),
        ("+46 (0)70-123 45 67", "0701234567"),
        ("070\u2013123\u00a045\u00a067", "0701234567"),
        ("070.123.45.67", "0701234567"),
    ],
)
def test_a_swish_number_is_read_as_people_write_it(written: str, meant: str):
    assert swish_number(written) == meant


@pytest.mark.parametrize(
    "number", ["", "070123456", "07012345678", "08123456", "1241181189", "070123456x", "٠٧٠١٢٣٤٥٦٧"]
)
def test_an_invalid_swish_number_is_refused(number: str):
    with pytest.raises(ValueError, match="0701234567"):
        swish(number, 500, "")


@given(st.text())
def test_a_text_by_swish_has_signs_that_swish_takes(text: str):
    number, amount, said, mask = swish("1231181189", 1, text).split(";")
    assert (number, amount, mask) == ("C1231181189", "0,01", "0")
    assert set(unquote(said)) <= SWISH_SIGNS
    assert len(unquote(said)) <= 50


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Zoë & Łukasz", "Zoe Lukasz"),
        ("Skål\n\tAnna;  5 €", "Skål Anna; 5 EUR"),
        ("A\u030asa", "Åsa"),
        ("x" * 49 + " yz", "x" * 49),
    ],
)
def test_a_text_by_swish_is_made_to_fit(text: str, said: str):
    assert unquote(swish("1231181189", 1, text).split(";", 2)[2].removesuffix(";0")) == said


def test_a_payment_by_sepa():
    assert epc("Kortklubben Åttan", "se45 5000 0000 0583 9825 7466", 500, "Evening 3: Anna Ek").split("\n") == [
        *("BCD", "002", "1", "SCT", "", "Kortklubben Åttan", SWEDISH, "EUR5.00", "", "", "Evening 3: Anna Ek"),
    ]


def test_a_payment_by_sepa_without_a_text_ends_with_its_amount():
    assert epc("Klubben", SWEDISH, 1, " ").endswith(f"\n{SWEDISH}\nEUR0.01")


@given(st.text(), st.text())
def test_a_payment_by_sepa_is_as_long_as_it_may_be(name: str, text: str):
    said = epc(f"K{name}", SWEDISH, EPC_AMOUNT_MAX, text)
    assert len(said.encode()) <= EPC_BYTES_MAX
    lines = said.split("\n")
    assert lines[7] == "EUR999999999.99"
    assert len(lines) in (8, 11)
    assert 1 <= len(lines[5]) <= 70
    assert not re.search(r"[\x00-\x1f\x7f]", "".join(lines))


def test_a_text_by_sepa_is_cut_before_the_name_is():
    lines = epc("李" * 70, SWEDISH, 1, "明" * 140).split("\n")
    assert lines[5] == "李" * 70
    assert 0 < len(lines[10]) < 140


def test_a_sepa_payment_needs_the_name_of_the_payee():
    with pytest.raises(ValueError, match="named"):
        epc(" \n", SWEDISH, 1, "")


@pytest.mark.parametrize(
    "account",
    [
        "SE4550000000058398257466",
        "DE89370400440532013000",
        "FI2112345600000785",
        "NO9386011117947",
        "DK5000400440116243",
        "GB29NWBK60161331926819",
        "FR1420041010050500013M02606",
        "MT84MALT011000012345MTLCAST001S",
    ],
)
def test_an_iban_is_taken(account: str):
    groups = [account[place : place + 4] for place in range(0, len(account), 4)]
    assert iban(" ".join(groups).lower()) == iban("-".join(groups)) == account


@pytest.mark.parametrize(
    ("account", "why"),
    [
        ("SE4550000000058398257467", "check digits"),
        ("SE5450000000058398257466", "check digits"),
        ("SE4550000000085398257466", "check digits"),
        ("SE0050000000058398257500", "check digits"),
        ("SE0150000000058398257482", "check digits"),
        ("SE9950000000058398257561", "check digits"),
        ("SE455000000005839825746", "24 characters, and this has 23"),
        ("US4550000000058398257466", "US can be reached"),
        ("", "two letters"),
        ("5000-0583 98 257466", "two letters"),
        ("ＳＥ4550000000058398257466", "two letters"),
        ("SE٤٥50000000058398257466", "two letters"),
    ],
)
def test_an_invalid_iban_is_refused_with_the_reason(account: str, why: str):
    with pytest.raises(ValueError, match=why):
        epc("Klubben", account, 1, "")


@pytest.mark.parametrize("amount", [0, -1, SWISH_AMOUNT_MAX + 1])
def test_an_amount_that_cannot_be_sent_is_refused(amount: int):
    with pytest.raises(ValueError, match=r"from 0\.01 to 999999999999\.99 SEK"):
        swish("1231181189", amount, "")
    with pytest.raises(ValueError, match=r"from 0\.01 to 999999999\.99 EUR"):
        epc("Klubben", SWEDISH, amount, "")


PAYLOADS = st.one_of(
    st.builds(swish, st.just("1231181189"), st.integers(1, SWISH_AMOUNT_MAX), st.text()),
    st.builds(epc, st.text(min_size=1).map("K".__add__), st.just(SWEDISH), st.integers(1, EPC_AMOUNT_MAX), st.text()),
)


@pytest.mark.program("zbarimg")
@settings(max_examples=-(-settings.default.max_examples // 2))
@given(PAYLOADS)
def test_a_scanner_reads_the_payload(payload: str):
    assert scanned(svg(payload, "Payment")) == payload.encode()


@pytest.mark.program("zbarimg")
def test_a_scanner_reads_the_longest_payload():
    payload = epc("李" * 70, SWEDISH, EPC_AMOUNT_MAX, "明" * 140)
    assert len(payload.encode()) > EPC_BYTES_MAX - 3
    assert scanned(svg(payload, "Payment")) == payload.encode()


@pytest.mark.parametrize("text", ["Evening 3: Anna Ek", "Kväll 3: Åsa, 5 €"])
def test_the_code_is_as_segno_makes_it_of_the_parts(text: str):
    made = segno.helpers.make_epc_qr("Klubben", SWEDISH, Decimal("12.34"), text, encoding="utf-8")
    assert drawn(svg(epc("Klubben", SWEDISH, 1234, text), "")) == [
        [bool(module) for module in row] for row in made.matrix_iter(border=4)
    ]


def test_the_picture_says_what_it_is_and_holds_nothing_else():
    root = ElementTree.fromstring(svg("C1231181189;5,00;;0", '<b>5 "kr"\ufffe& more</b>'))  # which no XML may hold
    assert root.findtext(f"{SVG}title") == '<b>5 "kr" & more</b>'
    assert [part.tag for part in root.iter()] == [f"{SVG}{tag}" for tag in ("svg", "title", "g", "path", "path")]
