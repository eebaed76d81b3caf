"""The conformance matches in memory, through decide and evolve. Matches for money are also settled."""

from typing import Any

import pytest

from tests.conformance.replay import Direct, matches, play
from tests.support.settlement_checks import check

RULESETS = ("kalabrias", "rams-english", "rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen")
GIVEN = [given for ruleset in RULESETS for given in matches(ruleset)]


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: f"{given['ruleset']}-{given['seed']}")
def test_every_step_agrees(given: dict[str, Any]) -> None:
    match = Direct(given)
    assert play(match, given) == []
    if given["stakes"] is not None:
        check(match.history)
