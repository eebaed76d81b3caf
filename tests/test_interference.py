"""Secrets of the deal: two worlds that differ only in cards that a seat has not seen look equal to it.

Covers every ruleset, dealing and enforcement; ``make soak`` plays twenty times as many pairs. See
:mod:`tests.support.world_pairs`.
"""

import pytest

from referee.events import Enforcement
from tests.support.world_pairs import COMBINATIONS, NOTHING_HIDDEN, TALLIES, WITH_CARDS, DealingMode, Pair
from tests.support.world_pairs_with_officials import AttendedPair

PAIRS = 2000
IN_EACH = PAIRS // 2 // len({*COMBINATIONS} - NOTHING_HIDDEN)
"""Without officials, and with them."""
ALIKE = 5
"""Pairs if nothing is hidden."""


@pytest.mark.parametrize(("key", "mode", "enforcement"), WITH_CARDS, ids=map(" ".join, WITH_CARDS))
def test_a_seat_cannot_distinguish_worlds_that_differ_in_unseen_cards(
    key: str, mode: DealingMode, enforcement: Enforcement
) -> None:
    hidden = (key, mode, enforcement) not in NOTHING_HIDDEN
    pairs = [Pair(key, mode, enforcement, number).play() for number in range(IN_EACH if hidden else ALIKE)]
    assert sum(pair.looked for pair in pairs) > len(pairs), "the watcher has tried what it could"
    different = sum(pair.differed > 0 for pair in pairs)
    assert different >= (len(pairs) // 10 if hidden else 0), "the two worlds are two"
    assert hidden or not different


SILENT = {
    one for one in COMBINATIONS if one[0] == "rodskagg-alga" or (one[0] == "rams-english" and one[2] == "refuse")
}
"""Games without knocking: no case in which to write can arise during a deal."""


@pytest.mark.rule("J1")
@pytest.mark.parametrize(("key", "mode", "enforcement"), COMBINATIONS, ids=map(" ".join, COMBINATIONS))
def test_a_seat_cannot_distinguish_worlds_that_differ_in_hidden_texts_or_commitments(
    key: str, mode: DealingMode, enforcement: Enforcement
) -> None:
    one = key, mode, enforcement
    hidden = one not in NOTHING_HIDDEN
    many = IN_EACH if hidden or one in TALLIES else ALIKE
    pairs = [AttendedPair(*one, number).play() for number in range(many)]
    assert sum(pair.looked for pair in pairs) > len(pairs) // 2, "the watcher has tried what it could"
    different = sum(pair.differed > 0 for pair in pairs)
    assert different >= (len(pairs) // 10 if hidden else 0), "the two worlds are two"
    assert any(pair.written for pair in pairs) == (one not in SILENT), "other texts were written"
