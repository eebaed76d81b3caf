"""Deals are played with random cards and options and then entered as a tally, with the same lines."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from referee.events import DealScored
from referee.refusals import Refused
from referee.visibility import Event
from tests.support.random_deals import RETOLD
from tests.support.random_tallies import Tally, acts_of, deals_of, line_of, played_with_cards, sheet_of

SISTERS = ("rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen")
MET = {
    "rodskagg-alga": {"number", "rodskagg_failed", "rodskagg_made", "passed_out", "counts"},
    "rodskagg-catsatcards": {"ordinary", "redbeard_failed", "redbeard_made", "zero_at_once", "duel", "knocks", "C55"},
    "rodskagg-kortoxen": {
        *("number", "rodskagg_failed", "rodskagg_made", "passed_out", "knocked_out"),
        *("counts", "exits", "in vain", "knocks", "B56", "B67", "B68", "B77", "B-O12"),
    },
}
"""Rare things that the play-outs must meet."""


def by_counts(match: Tally, deal: Sequence[Event]) -> tuple[Any, ...] | Refused:
    """Return the outcome of a deal entered by the number of tricks only."""
    try:
        return line_of(match.decide(sheet_of(deal, match.rules, counts=True))[0])
    except Refused as refused:
        return refused


@pytest.mark.rule("A-O31", "B-O40", "C-O36")
@pytest.mark.parametrize("key", SISTERS)
def test_whole_or_act_by_act_it_is_the_line_of_the_cards(key: str):
    """A deal is played with cards, and entered as a whole, by counts if no order decides, and act by act.

    Each way has a match of its own, which continues with the next deal.
    """
    met: Counter[str] = Counter()
    for opened, events in played_with_cards(key, RETOLD, seed=9):
        deals = list(deals_of(events))
        if not deals:
            continue
        first = deals[0][0][-1]
        assert isinstance(first, DealScored)
        whole, stepwise = Tally(opened, first.dealer), Tally(opened, first.dealer)
        for deal, after in deals:
            line = line_of((deal[-1], *after))
            sheet, counted = sheet_of(deal, whole.rules), by_counts(whole, deal)
            if isinstance(counted, Refused):
                assert (counted.code, counted.facts["at"]) == ("order_needed", "/taken"), (sheet, counted.facts)
                met[str(counted.rule)] += 1
            else:
                assert counted == line, sheet
                met["counts"] += 1
            assert line_of(whole.do(sheet)) == line, sheet
            assert line_of(stepwise.act_by_act(acts_of(deal, whole.rules))) == line, sheet
            knocks = sheet.knocks or ()
            met.update((line[0].kind,), deals=1, exits=len(sheet.exits or ()), knocks=len(knocks))
            met["in vain"] += sum(knock.seat == knock.accused for knock in knocks)
    assert met["deals"] >= RETOLD * 0.95
    assert {name for name in MET[key] if not met[name]} == set(), met
