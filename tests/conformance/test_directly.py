"""The conformance matches, through decide and evolve."""

from typing import Any

import pytest

from tests.conformance.replay import Direct, matches, play

GIVEN = [
    given for ruleset in ("rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen") for given in matches(ruleset)
]


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: f"{given['ruleset']}-{given['seed']}")
def test_every_step_agrees(given: dict[str, Any]) -> None:
    assert play(Direct(given), given) == []
