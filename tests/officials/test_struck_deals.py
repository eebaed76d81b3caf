"""J9: a deal whose line is struck counts as not dealt; later deals keep their lines."""

from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from referee.acts import Result
from referee.events import DealScored
from referee.games import RULESETS
from referee.officials.events.corrections import ProtocolCorrected, lines_as_corrected
from referee.refusals import Refused
from tests.officials.random_corrections import Match, ask, attended_match, bare, correction, some_play
from tests.officials.random_sheets import some_sheet, some_tally
from tests.officials.test_corrected_sheets_at_random import TERMS, tally
from tests.support.random_deals import play_deal

MATCHES = 30
"""Matches of each ruleset."""
pytestmark = [pytest.mark.rule("J9")]


def some_tally_of(ruleset: str, chance: Random, *, long: bool) -> Match:
    """Open a tally; a ``long`` one is not soon over."""
    rules = RULESETS[ruleset]
    opened = replace(some_tally(chance, rules), adjudication=TERMS)
    if long and not rules.has_pot:
        opened = replace(opened, points=(rules.start_points,) * len(opened.players))
    return tally(opened, chance)


def enter(match: Match, chance: Random, many: int) -> list[Result]:
    """Enter this many deals, or until the match is over; return their sheets."""
    sheets: list[Result] = []
    while len(sheets) < many and not match.over:
        sheets.append(some_sheet(chance, match.rules, match.state))
        ask(match, sheets[-1])
    return sheets


def strike(match: Match, deal: int) -> ProtocolCorrected:
    """Let an official strike the line of a deal."""
    event = ask(match, correction(strike=(deal,)))[0]
    assert isinstance(event, ProtocolCorrected)
    return event


def to_come(match: Match) -> Any:
    """Return the state with which the next deal begins, without its number."""
    table = match.state.table
    names = ("points", "pot", "active", "playing", "dealer", *match.rules.carries)
    return {name: getattr(table, name) for name in names if name not in ("announced", "lead")}


def counting(match: Match, *struck: int) -> list[Any]:
    """Return the lines that count, without the numbers of their deals."""
    lines = [bare(line) for line in lines_as_corrected(match.history).values() if line.deal not in struck]
    return [{name: value for name, value in line.items() if name != "deal"} for line in lines]


def line_of(match: Match, deal: int) -> Any:
    """Return the line of a deal that counts; ``None`` if the deal has no line."""
    return next((line for line in lines_as_corrected(match.history).values() if line.deal == deal), None)


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_same_dealer_deals_again_as_if_it_had_not_been_dealt(ruleset: str) -> None:
    won = 0
    for number in range(MATCHES):
        chance = Random(f"struck {ruleset} {number}")
        match, without = (
            some_tally_of(ruleset, Random(f"struck {ruleset} {number}"), long=number % 2 == 0) for _ in range(2)
        )
        sheets = enter(match, chance, 3)
        for sheet in sheets[:-1]:
            ask(without, sheet)
        deal = len(sheets)
        won += match.over
        assert strike(match, deal).struck == (deal,)
        assert counting(match, deal) == counting(without)
        assert to_come(match) == to_come(without), number
        assert match.state.table.deal == deal + 1, "it has a number of its own"
        for again in (match, without):
            ask(again, sheets[-1])
        assert counting(match, deal) == counting(without), number
        assert to_come(match) == to_come(without), number
    assert won or ruleset == "rams-english"


@pytest.mark.parametrize("ruleset", RULESETS)
def test_later_deals_keep_their_lines(ruleset: str) -> None:
    kept = 0
    for number in range(MATCHES):
        chance = Random(f"kept {ruleset} {number}")
        match = some_tally_of(ruleset, chance, long=True)
        if len(enter(match, chance, 3)) < 3:
            continue
        was = {deal: line_of(match, deal) for deal in (1, 3)}
        try:
            struck = strike(match, 2).struck
        except Refused as refused:
            if refused.code != "line_hangs":
                raise
            continue
        if struck != (2,):
            assert match.over, "a later deal is struck only if the match was won before it"
            continue
        now = {deal: line_of(match, deal) for deal in (1, 3)}
        for deal, line in now.items():
            assert (line.dealer, line.tricks, line.answers) == (was[deal].dealer, was[deal].tricks, was[deal].answers)
        assert now[3].before == now[1].points, number
        kept += 1
    assert kept > MATCHES / 3


@pytest.mark.parametrize("ruleset", RULESETS)
def test_with_cards_the_same_dealer_deals_again(ruleset: str) -> None:
    """Draws and cuts for the deal are done again."""
    struck = 0
    for number in range(MATCHES):
        chance = Random(f"cards {ruleset} {number}")
        match = some_play(ruleset, chance, 1, attended_match(ruleset, chance))
        if match.over:
            continue
        before, deal = to_come(match), match.state.table.deal
        play_deal(match, False)
        if not isinstance(line_of(match, deal), DealScored):
            continue  # the deal was voided
        assert strike(match, deal).struck == (deal,)
        assert to_come(match) == before, number
        play_deal(match, False)
        struck += 1
    assert struck > MATCHES / 3
