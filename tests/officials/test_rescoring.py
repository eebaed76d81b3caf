"""A replay without corrections is equal to the match, to the byte."""

from random import Random

import msgspec
import pytest

from referee.events import DealScored, DealVoided
from referee.games import RULESETS
from referee.officials.rescoring import rescore
from tests.officials.random_corrections import of_kind, some_play
from tests.support.random_deals import RETOLD, RETOLD_PARTS


@pytest.mark.parametrize("part", range(RETOLD_PARTS))
@pytest.mark.parametrize("ruleset", RULESETS)
def test_without_scripts_nothing_changes(ruleset: str, part: int) -> None:
    done = number = 0
    while done < RETOLD // RETOLD_PARTS:
        chance = Random(f"recast {ruleset} {part} {number}")
        match = some_play(ruleset, chance, min(chance.choice((1, 5, 20)), RETOLD // RETOLD_PARTS - done))
        if not match.over and chance.random() < 0.3:
            match.close()
        again = rescore(match.rules, match.history)
        lines = {
            one.originator_version: one.event
            for one in of_kind(match.history, DealScored, DealVoided)
            if isinstance(one.event, DealScored) or one.event.points
        }
        assert msgspec.json.encode(list(again.lines.items())) == msgspec.json.encode(list(lines.items())), number
        assert (again.struck, again.dependent) == ((), ()), number
        assert again.state == match.state, number
        assert (again.end is not None) == match.over
        done, number = done + match.deals, number + 1


@pytest.mark.parametrize("ruleset", RULESETS)
def test_before_the_first_deal_there_is_nothing_to_change(ruleset: str) -> None:
    for number in range(50):
        match = some_play(ruleset, Random(f"begun {ruleset} {number}"), 0)
        assert rescore(match.rules, match.history).state == match.state, number
