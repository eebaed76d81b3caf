"""The score sheet of a deal with cards, entered as a remedy, gives the same line."""

from collections import Counter
from collections.abc import Iterator
from itertools import count
from random import Random
from typing import Any

import pytest

from referee.acts import Result
from referee.events import DealScored, MatchOpened
from referee.games import RULESETS
from referee.officials import remedies
from referee.officials.rescoring import rescore
from referee.ruleset import Moment
from referee.visibility import Event, Recorded
from tests.officials import test_tally_kalabrias_at_random as kalabrias
from tests.officials import test_tally_rams_at_random as rams
from tests.officials.random_corrections import unordered
from tests.support.random_deals import MATCH, NOON, RETOLD
from tests.support.random_openings import some_match
from tests.support.random_tallies import deals_of, played_with_cards, sheet_of

DEALS = RETOLD // 4
"""Deals of each ruleset."""
OTHERS: dict[str, tuple[Any, Any]] = {
    "rams-english": (rams.Careless, rams.written_down),
    "kalabrias": (kalabrias.Talkative, kalabrias.written_down),
}

Played = Iterator[tuple[MatchOpened, list[Event], list[Result]]]
"""Yields an opening, the events after it, and the score sheets of the deals."""


def of_the_sisters(key: str) -> Played:
    for opened, events in played_with_cards(key, DEALS, seed=7):
        yield opened, events[1:], [sheet_of(deal, RULESETS[key]) for deal, _ in deals_of(events)]


def of_others(key: str) -> Played:
    kind, writes = OTHERS[key]

    class Written(kind):
        """A match whose score sheets are kept."""

        def write(self, line: DealScored) -> None:
            sheets.append(writes(self.opened, [*self.of_the_deal, (0, line)]))

    many = 0
    for number in count():
        sheets: list[Result] = []
        chance = Random(f"remedies {key} {number}")
        opened = some_match(chance, RULESETS[key])
        closed = False if key == "kalabrias" else None
        match = Written(RULESETS[key], chance, Counter(), keep=True, opened=opened, closed=closed, writes=writes)
        while not match.over and len(sheets) < 8:
            match.step()
        many += len(sheets)
        yield opened, [one.event for one in match.kept[1:]], sheets
        if many >= DEALS:
            return


def recorded(events: list[Event]) -> list[Recorded]:
    return [Recorded(MATCH, number, NOON, "official", "", "", "", one) for number, one in enumerate(events, 1)]


@pytest.mark.rule("J9")
@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_right_sheet_of_a_deal_gives_the_same_line(ruleset: str) -> None:
    done = enforced = 0
    for opened, events, sheets in (of_others if ruleset in OTHERS else of_the_sisters)(ruleset):
        history, rules = recorded([opened, *events]), RULESETS[ruleset]
        rescored, number = rescore(rules, history), len(history)
        lines = [line for line in rescored.lines.values() if isinstance(line, DealScored)]
        for line, sheet in zip(lines, sheets, strict=False):
            script = remedies.script_of_result(rules, rescored, line.deal, sheet, Moment(number, NOON, ""))
            again = rescore(rules, history, [script])
            assert again.dependent == (), (line.deal, sheet)
            assert [unordered(one) for one in again.lines.values()] == [
                unordered(one) for one in rescored.lines.values()
            ], (opened, line.deal, sheet)
            assert remedies.same_lines_and_outcome(rules, again, rescored), (opened, line.deal, sheet)
            table, was = again.state.table, rescored.state.table
            assert (table.points, table.pot, table.active, table.dealer) == (
                was.points,
                was.pot,
                was.active,
                was.dealer,
            )
            assert (table.house, table.tally, table.penalise) == (was.house, was.tally, was.penalise)
            done += 1
            enforced += opened.enforcement == "refuse"
    assert done > DEALS * 0.9
    assert enforced > done // 10
