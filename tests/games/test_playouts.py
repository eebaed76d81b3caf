"""What holds in every deal of every ruleset, shown on deals played at random under random options."""

import pytest

from referee.games import RULESETS
from tests.playouts import play_out

DEALS, PARTS = 20_000, 10
"""Of each ruleset; and in how many parts, so that test processes share them."""

RARE = {
    "kalabrias": {"sequence/shown"},
    "rodskagg-alga": {"duel/called"},
    "rodskagg-catsatcards": {"duel/called", "duel/lead-drawn"},
}
"""Facts that a part may do without: with closed hands nobody shows a sequence here, and duels are few."""


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("ruleset", RULESETS)
def test_deals_at_random(ruleset: str, part: int) -> None:
    met = play_out(ruleset, DEALS // PARTS, part)
    assert met["deals"] == DEALS // PARTS
    facts = {kind.TOPIC for kind in RULESETS[ruleset].events} - RARE.get(ruleset, set())
    assert {topic for topic in facts if not met[topic]} == set(), "without this the checks show little"
