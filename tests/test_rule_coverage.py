"""Every rule has a test that shows it, and every rule that is cited exists."""

import ast
import re
from pathlib import Path

import pytest

from referee.games import RULESETS
from referee.rulebook import PROCEDURE, load

ROOT = Path(__file__).parents[1]
UNSEEN = {
    "A2": "another name of the game",
    "A3": "where the rules come from",
    "B2": "another name of the game",
    "B3": "where the rules come from",
    "B31": "another word for to pass",
}
"""Rules that no test can show, and why."""

EXAMPLES = {
    "kalabrias": {f"E-X{number}" for number in range(1, 18, 2)},
    "rams-english": {f"D-X{number}" for number in range(1, 16, 2)},
    "rodskagg-alga": {f"A-X{number}" for number in (1, 3, 4, 7, 9, 11, 13, 15, 17)},
    "rodskagg-catsatcards": {f"C-X{number}" for number in range(1, 18, 2)},
    "rodskagg-kortoxen": {f"B-X{number}" for number in (1, 3, 5, 6, 9, 11, 13, 15, 17)},
}
"""The worked examples of each ruleset: deals with known scores."""

RULES = {key: {entry.id for entry in load(key).entries} for key in (*RULESETS, PROCEDURE)}
LETTERS = {key: min(rules)[0] for key, rules in RULES.items()}
ID = re.compile(r"\b[A-Z](?:-O)?[1-9][0-9]*\b")
CODE = sorted(
    path for part in ("games/**/*.py", "officials/*.py", "offences.py") for path in ROOT.glob(f"referee/{part}")
)


def marked(source: str) -> set[str]:
    """Yield the ids in ``pytest.mark.rule(...)``."""
    ids = set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(ast.Attribute(ast.Attribute(ast.Name("pytest"), "mark"), "rule"), arguments):
                ids |= {ast.literal_eval(argument) for argument in arguments}
    return ids


@pytest.fixture(scope="module")
def tested() -> set[str]:
    """Return the ids on all tests."""
    return set().union(*(marked(path.read_text(encoding="utf-8")) for path in ROOT.glob("tests/**/test_*.py")))


@pytest.mark.parametrize("ruleset", RULES)
def test_every_rule_has_a_test_or_a_reason_to_have_none(ruleset: str, tested: set[str]):
    assert RULES[ruleset] - tested - set(UNSEEN) == set(), "mark their tests with @pytest.mark.rule"


@pytest.mark.parametrize("ruleset", EXAMPLES)
def test_every_worked_example_has_a_test(ruleset: str, tested: set[str]):
    assert EXAMPLES[ruleset] - tested == set()


def test_rules_that_no_test_can_show_have_no_test(tested: set[str]):
    assert tested & set(UNSEEN) == set()


def test_only_rules_that_exist_are_tested_or_excused(tested: set[str]):
    known = set().union(*RULES.values(), *EXAMPLES.values())
    assert (tested | set(UNSEEN)) - known == set(), "write them in referee/rulebook/, or correct the marks"


@pytest.mark.parametrize("path", CODE, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_only_rules_that_exist_are_cited(path: Path):
    """A text like a rule id that begins with another letter is a card."""
    cited = {id for id in ID.findall(path.read_text(encoding="utf-8")) if id[0] in LETTERS.values()}
    assert cited - set().union(*RULES.values()) == set(), "write them in referee/rulebook/, or correct the ids"


@pytest.mark.parametrize(
    ("source", "ids"),
    [
        (
            '@pytest.mark.rule("B1", "B-O2")\nclass T:\n    @pytest.mark.rule("B3")\n    def t(): ...',
            {"B1", "B-O2", "B3"},
        ),
        ('pytestmark = [pytest.mark.rule("B1")]', {"B1"}),
        ('pytest.mark.parametrize("B1", [])', set()),
    ],
)
def test_marks_are_found(source: str, ids: set[str]):
    assert marked(source) == ids
