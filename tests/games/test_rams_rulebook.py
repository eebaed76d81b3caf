"""The rulebook of Rams is tied to the code and to the tests."""

import re
from pathlib import Path

import msgspec
import pytest

from referee.games import rams_english
from referee.games.rams_english import RULESET
from referee.games.rams_english.states import Options
from referee.rulebook import Rulebook, load

HERE = Path(__file__).parent
TESTS = [*HERE.glob("test_rams_*.py"), *HERE.parent.glob("officials/test_tally_rams*.py")]
SOURCES = sorted(Path(rams_english.__file__).parent.glob("*.py"))
CITED = re.compile(r"\bD-O\d+\b|\bD\d+\b")
RANGE = re.compile(r"\b(D(?:-O)?)(\d+)(?:-| to )\1?(\d+)\b")


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return load("rams-english")


def options_in(text: str) -> set[str]:
    return {name for name in Options.__struct_fields__ if name in text}


def test_the_options_named_are_the_options_there_are(book: Rulebook):
    assert {name for entry in book.entries for name in entry.options} == set(Options.__struct_fields__)
    for entry in book.entries:
        assert options_in(entry.en) == options_in(entry.sv) == set(entry.options), entry.id


def test_every_option_says_which_rule_it_answers(book: Rulebook):
    for field in msgspec.json.schema(Options)["$defs"]["Options"]["properties"].values():
        ids = CITED.findall(field["description"].partition(":")[0])
        assert ids
        assert all(book.rule(id) for id in ids)


def cited(text: str) -> set[str]:
    """Return the ids in a text, with every id of a range."""
    ids = set(CITED.findall(text))
    for prefix, first, last in RANGE.findall(text):
        ids |= {f"{prefix}{number}" for number in range(int(first), int(last) + 1)}
    return ids


def test_the_code_cites_rules_that_there_are(book: Rulebook):
    known = {entry.id for entry in book.entries}
    for path in SOURCES:
        assert cited(path.read_text(encoding="utf-8")) <= known, path.name


def test_every_rule_and_reading_has_a_test(book: Rulebook):
    marked: set[str] = set()
    for path in TESTS:
        for mark in re.findall(r"mark\.rule\(([^)]*)\)", path.read_text(encoding="utf-8")):
            marked |= set(CITED.findall(mark))
    assert {entry.id for entry in book.entries} - marked == set()


def test_every_refusal_has_a_test():
    tests = "".join(path.read_text(encoding="utf-8") for path in TESTS)
    raised = re.compile(r"(?:AgainstTheRules|NoSuchCard|NotInPlay|OutOfTurn|WrongPhase|MatchOver)\(([^,]*),")
    for path in SOURCES:
        for codes in raised.findall(path.read_text(encoding="utf-8")):
            for code in re.findall(r'"(\w+)"', codes):
                assert f'"{code}"' in tests, code


def test_the_ruleset_says_what_it_is():
    assert RULESET.key == "rams-english"
    assert RULESET.start_points == 0
    assert len(RULESET.pack) == 32
