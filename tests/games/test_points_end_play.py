"""The points can end the play of a deal only in matches for which the game says so.

Corrections rely on this: in other matches, corrected points never change which trick is the last (J9).
"""

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from referee.events import PlayEnded, TrickTaken
from referee.games import RULESETS
from referee.ruleset import Moment, Ruleset
from tests.officials.random_corrections import some_play
from tests.support.random_openings import some_match

MATCHES = 30


def ends_play(rules: Ruleset, state: Any, moment: Moment, points: tuple[int, ...]) -> bool:
    """Return whether the play of the deal would end automatically now with these points."""
    follows = rules.follows(replace(state, table=replace(state.table, points=points)), moment)
    return bool(follows) and isinstance(follows[0], PlayEnded)


@pytest.mark.parametrize("key", sorted(RULESETS))
def test_other_points_end_the_play_only_where_the_game_says_so(key: str) -> None:
    rules, differed = RULESETS[key], set[bool]()
    for seed in range(MATCHES):
        chance = Random(f"points end play {key} {seed}")
        opened = some_match(chance, rules)
        match = some_play(key, chance, 4, opened)
        state = rules.start(opened)
        can_end = rules.points_end_play is not None and rules.points_end_play(state)
        for one in match.history[1:]:
            state = rules.evolve(state, one.event, one.originator_version)
            if not isinstance(one.event, TrickTaken):
                continue
            moment = Moment(one.originator_version - 1, one.at, "")
            # with some of these points the tricks bring a seat to zero
            at_zero = [tuple([factor * tricks for tricks in tricks_of(state)]) for factor in range(3)]
            ends = {ends_play(rules, state, moment, points) for points in (state.table.points, *at_zero)}
            assert can_end or len(ends) == 1, (seed, one)
            if len(ends) > 1:
                differed.add(can_end)
    assert differed == ({True} if rules.points_end_play is not None else set())


def tricks_of(state: Any) -> list[int]:
    """Return the number of tricks of each seat."""
    won = [one.seat if hasattr(one, "seat") else one[0] for one in state.won]
    return [won.count(seat) for seat in range(state.table.seats)]
