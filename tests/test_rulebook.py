"""The rulebooks are complete, bilingual and name only options that exist."""

from __future__ import annotations

import msgspec
import pytest

from referee.events import Adjudication
from referee.games import RULESETS
from referee.rulebook import PROCEDURE, Reading, Rule, Rulebook, Title, load

TEXT_LENGTH_MAX = 400
"""A text is one or two sentences; a longer one belongs in two rules."""

KORTOXEN = "rodskagg-kortoxen"
LETTERS = {
    "rodskagg-alga": "A",
    "rodskagg-catsatcards": "C",
    KORTOXEN: "B",
    "rams-english": "D",
    "kalabrias": "E",
    PROCEDURE: "J",
}
"""The letter of the rule ids in each rulebook."""


@pytest.fixture(params=LETTERS)
def book(request: pytest.FixtureRequest) -> Rulebook:
    return load(request.param)


@pytest.fixture
def options(book: Rulebook) -> set[str]:
    if book.ruleset == PROCEDURE:
        return set(Adjudication.__struct_fields__) - {"officials"}  # their names
    return set(RULESETS[book.ruleset].options.__struct_fields__)


def test_every_game_has_a_rulebook_and_so_have_the_officials() -> None:
    assert set(LETTERS) == {*RULESETS, PROCEDURE}


def test_rules_and_readings_are_numbered_without_gaps(book: Rulebook) -> None:
    letter = LETTERS[book.ruleset]
    assert [rule.id for rule in book.rules] == [f"{letter}{n + 1}" for n in range(len(book.rules))]
    assert [reading.id for reading in book.readings] == [f"{letter}-O{n + 1}" for n in range(len(book.readings))]


def test_every_text_is_in_both_languages(book: Rulebook) -> None:
    texts = [(book.ruleset, book.title.en, book.title.sv)]
    texts += [(entry.id, entry.en, entry.sv) for entry in book.entries]
    for id, en, sv in texts:
        assert en.strip() == en != "", id
        assert sv.strip() == sv != "", id
        assert en != sv, id


def test_no_text_is_used_twice(book: Rulebook) -> None:
    assert len({entry.en for entry in book.entries}) == len(book.entries)
    assert len({entry.sv for entry in book.entries}) == len(book.entries)


def test_every_text_is_short(book: Rulebook) -> None:
    long = [e.id for e in book.entries if max(len(e.en), len(e.sv)) > TEXT_LENGTH_MAX]
    assert long == []


def test_every_option_named_exists_and_is_named_once(book: Rulebook, options: set[str]) -> None:
    for entry in book.entries:
        assert set(entry.options) - options == set(), f"{entry.id}: add them to the class Options of the game"
        assert len(set(entry.options)) == len(entry.options), entry.id


def test_every_option_has_a_rule_that_names_it(book: Rulebook, options: set[str]) -> None:
    named = {name for entry in book.entries for name in entry.options}
    assert options - named == set(), f"list them in options of a rule in referee/rulebook/{book.ruleset}.toml"


def test_an_option_named_in_a_text_is_listed_with_it(book: Rulebook, options: set[str]) -> None:
    for entry in book.entries:
        for text in (entry.en, entry.sv):
            named = {name for name in options if name in text}
            assert named <= set(entry.options), entry.id


def test_both_languages_name_the_same_options(book: Rulebook, options: set[str]) -> None:
    for entry in book.entries:
        in_en = {name for name in options if name in entry.en}
        in_sv = {name for name in options if name in entry.sv}
        assert in_en == in_sv, entry.id


def test_every_variant_names_its_option(book: Rulebook) -> None:
    assert [rule.id for rule in book.rules if rule.kind == "variant" and not rule.options] == []


def test_a_rule_is_found_by_its_id() -> None:
    book = load(KORTOXEN)
    follow_suit, window = book.rule("B42"), book.rule("B-O2")
    assert isinstance(follow_suit, Rule)
    assert follow_suit.kind == "play"
    assert isinstance(window, Reading)
    assert window.options == ("knock_window",)


@pytest.mark.parametrize("id", ["B0", "B81", "B-O42", "b42", "B-X1", ""])
def test_an_unknown_rule_is_a_key_error(id: str) -> None:
    with pytest.raises(KeyError):
        load(KORTOXEN).rule(id)


@pytest.mark.parametrize("ruleset", ["whist", "", "../rulebook/rodskagg-kortoxen", "__init__"])
def test_an_unknown_ruleset_is_a_key_error(ruleset: str) -> None:
    with pytest.raises(KeyError):
        load(ruleset)


def test_a_rulebook_is_read_once() -> None:
    assert load(KORTOXEN) is load(KORTOXEN)


def test_an_id_used_twice_is_an_error() -> None:
    rule = Rule(id="B1", kind="setup", en="One.", sv="Ett.", options=())
    reading = Reading(id="B1", en="Two.", sv="Två.", options=())
    for rules, readings in (((rule, rule), ()), ((rule,), (reading,))):
        with pytest.raises(ValueError, match="B1"):
            Rulebook(
                ruleset="whist",
                source="",
                title=Title(en="Whist", sv="Vist"),
                rules=rules,
                readings=readings,
            )


WHIST = """
ruleset = "whist"
source = "Hoyle"
title = {en = "Whist", sv = "Vist"}
readings = []
[[rules]]
id = "W1"
kind = "play"
en = "Follow suit."
sv = "Följ färg."
options = []
"""


def test_the_form_of_a_file_is_strict() -> None:
    msgspec.toml.decode(WHIST, type=Rulebook)
    unknown_field = WHIST + 'de = "Farbe bekennen."\n'
    unknown_kind = WHIST.replace('"play"', '"ritual"')
    missing_text = WHIST.replace('sv = "Följ färg."\n', "")
    used_twice = WHIST + WHIST[WHIST.index("[[rules]]") :]
    for text in (unknown_field, unknown_kind, missing_text, used_twice):
        with pytest.raises(msgspec.ValidationError):
            msgspec.toml.decode(text, type=Rulebook)
