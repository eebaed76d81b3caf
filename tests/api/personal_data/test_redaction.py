"""A name in a text: the words that are replaced in every spelling, and the words that are not."""

from unicodedata import normalize

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from api.personal_data.redaction import PLACEHOLDER, Redactor


def redacted(text: str, *names: str, numbers: tuple[str, ...] = ()) -> str:
    return Redactor(names, numbers).redact(text)[0]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Bo lade det på bordet", "█ lade det på bordet"),
        ("BO bo bO", "█ bo bO"),
        ("(Bo), “Bo” och 'Bo'; Bo/Bo, Bo—Bo: _Bo_.", "(█), “█” och '█'; █/█, █—█: _█_."),
        ("Bos kort, Bo's kort, Bo’s kort", "█s kort, █'s kort, █’s kort"),
        ("Bosse, Bobo, Ambo, bordet, Bo2, 2Bo", "Bosse, Bobo, Ambo, bordet, Bo2, 2Bo"),
        ("Bo-Erik, Karl-Bo, Bo\u2010Erik, O'Bo, Bo'ar", "Bo-Erik, Karl-Bo, Bo\u2010Erik, O'Bo, Bo'ar"),
        ("Bö, Bo\u0308, B\u030ao", "Bö, Bo\u0308, B\u030ao"),
        ("Ｂｏ, B\u00ado, B\u200bo", "█, █, █"),
        ("", ""),
    ],
)
def test_a_name_is_a_word_of_its_own(text: str, after: str) -> None:
    assert redacted(text, "Bo") == after


@pytest.mark.parametrize(
    ("name", "text", "after"),
    [
        ("Straße", "STRASSE, Strasse, strasse, Strassen", "█, █, strasse, Strassen"),
        ("Ångström", "A\u030angstro\u0308m ÅNGSTRÖM ångström Angstrom", "█ █ ångström Angstrom"),
        ("Anna Ek", "anna\u2003 EK, Anna  Eks kort, Anna Ekström, Anna", "█, █s kort, Anna Ekström, Anna"),
        ("  Anna   Ek ", "Anna Ek", "█"),
        (
            "Anna-Karin",
            "Anna-Karin, Anna\u2011karin, ANNA-KARIN, anna-karin, Anna Karin",
            "█, █, █, anna-karin, Anna Karin",
        ),
        ("Zoë!", "Zoë! Zoë", "█ Zoë"),
        ("<& 'Co\"", "ask <& 'Co\", please", "ask █, please"),
        ("😀", "It was 😀!", "It was █!"),
    ],
)
def test_a_name_is_known_in_any_form(name: str, text: str, after: str) -> None:
    assert redacted(text, name) == after


@pytest.mark.parametrize(
    ("name", "text", "after"),
    [
        ("e", "Bo e sen; E såg det; Es", "Bo e sen; █ såg det; Es"),
        ("A", "A took a card, as A said", "█ took a card, as █ said"),
        ("å", "å Å a\u030a", "å █ a\u030a"),
        ("7", "trick 7, 17, 7s", "trick █, 17, 7s"),
    ],
)
def test_a_name_of_one_letter_has_no_genitive(name: str, text: str, after: str) -> None:
    assert redacted(text, name) == after


@pytest.mark.parametrize(
    ("name", "text", "after"),
    [
        ("Hans", "Hans tog hans kort, HANS kort, Hans' kort", "█ tog hans kort, █ kort, █' kort"),
        ("Per", "Per: so many points per deal", "█: so many points per deal"),
        ("Max", "MAX plays max 5, and Max's hand", "█ plays max 5, and █'s hand"),
        ("färg", "ingen färg, Färg sa, FÄRGS kort", "ingen färg, █ sa, █S kort"),
        ("färg ek", "färg, färg ek, FÄRG EK", "färg, █, █"),
        ("ﬁa", "Fia ﬁa FIA", "█ ﬁa █"),
    ],
)
def test_a_name_of_one_word_begins_with_a_capital(name: str, text: str, after: str) -> None:
    """Many names are also ordinary words, and a member may take any word as a name."""
    assert redacted(text, name) == after


def test_the_longest_name_is_replaced_whole() -> None:
    assert redacted("Anna Ek, Anna Eklund, Anna", "Anna", "Anna Ek") == "█, █ Eklund, █"
    assert Redactor(["Anna", "Anna Ek"]).redact("Anna Ek and Anna") == ("█ and █", 2)


@pytest.mark.parametrize(
    ("number", "text", "after"),
    [
        ("0701740605", "0701740605 070-174 06 05 +46 70 174 06 05 0046(0)701740605", "█ █ █ █"),
        ("0701740605", "0701740606 10701740605 07017406051", "0701740606 10701740605 07017406051"),
        ("1231234567", "123 123 45 67, 123-1234567", "█, █"),
        ("SE4550000000058398257466", "SE45 5000 0000 0583 9825 7466, se4550000000058398257466", "█, █"),
    ],
)
def test_a_number_is_known_with_what_people_write_in_it(number: str, text: str, after: str) -> None:
    assert redacted(text, numbers=(number,)) == after


WORDS = st.text(st.sampled_from("aAåÅoßBﬁ\u0301\u030a\u00ad '-s2_ é´"), max_size=12)


@given(WORDS, WORDS)
def test_a_text_never_gets_longer_and_nothing_else_in_it_changes(text: str, name: str) -> None:
    after, places = Redactor([name]).redact(text)
    assert len(after) <= len(text)
    assert after.count(PLACEHOLDER) == places
    rest = text
    for part in after.split(PLACEHOLDER):
        assert part in rest
        rest = rest[rest.index(part) + len(part) :]


@given(WORDS)
def test_a_name_in_capitals_that_stands_alone_is_replaced_in_every_form(name: str) -> None:
    name = name.strip()
    assume(sum(map(str.isalnum, name)) > 1 and name.strip("\u00ad ")[0] not in "\u0301\u030a")
    capitals = name.upper()
    for text in (capitals, *(normalize(form, capitals) for form in ("NFC", "NFD", "NFKD"))):
        assert Redactor([name]).redact(f"({text})")[1] == 1
