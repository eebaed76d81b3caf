"""The conformance matches, through decide and evolve."""

from typing import Any

import pytest

from tests.conformance.replay import Direct, matches, play

RULESETS = ("kalabrias", "rams-english", "rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen")
GIVEN = [given for ruleset in RULESETS for given in matches(ruleset)]


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: f"{given['ruleset']}-{given['seed']}")
def test_every_step_agrees(given: dict[str, Any]) -> None:
    assert play(Direct(given), given) == []
