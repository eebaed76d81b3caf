"""What nobody may know: two worlds that differ only in cards that a seat has not seen are one to it.

Every ruleset, dealing and enforcement; ``make soak`` plays twenty times as many pairs. See :mod:`tests.interference`.
"""

import pytest

from tests.interference import COMBINATIONS, NOTHING_HIDDEN, Pair, Told

PAIRS = 2000
IN_EACH = PAIRS // (len(COMBINATIONS) - len(NOTHING_HIDDEN))
ALIKE = 5
"""So many where nothing is hidden at all."""


@pytest.mark.parametrize(("key", "told", "enforcement"), COMBINATIONS, ids=map(" ".join, COMBINATIONS))
def test_a_seat_cannot_tell_what_it_has_not_seen(key: str, told: Told, enforcement: str) -> None:
    hidden = (key, told, enforcement) not in NOTHING_HIDDEN
    pairs = [Pair(key, told, enforcement, number).play() for number in range(IN_EACH if hidden else ALIKE)]
    assert sum(pair.looked for pair in pairs) > len(pairs), "the watcher has tried what it could"
    different = sum(pair.differed > 0 for pair in pairs)
    assert different >= (len(pairs) // 10 if hidden else 0), "the two worlds are two"
    assert hidden or not different
