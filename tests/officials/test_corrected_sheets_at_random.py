"""A sheet that is entered wrongly and then corrected has the same outcome as one that is entered correctly."""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from referee.acts import Result
from referee.events import Adjudication, Dealt, DealVoided, MatchOpened, MatchWon, PenaltyImposed
from referee.games import RULESETS
from referee.officials.events.corrections import Ended, ProtocolCorrected, lines_as_corrected
from referee.refusals import WrongPhase
from referee.requests import OpenCase, Request, Ruling, Statement
from referee.ruleset import Ruleset
from tests.officials.random_corrections import Match, ask, bare, of_kind, unordered
from tests.officials.random_sheets import order_decides, some_acts, some_sheet, some_tally
from tests.support.random_deals import play_deal

SHEETS = int(os.environ.get("SHEETS", "40"))
"""Sheets of each ruleset. ``make soak`` has 20,000."""
PART = 2000
PARTS = -(-SHEETS // PART)
"""The parts into which the sheets are divided for several test processes."""
DEALS_MAX = 3
"""The most deals in a match."""
WITH_CARDS_ONLY = ("announced", "lead")
"""Values carried to the next deal that no tally has: announcements, and the card drawn for the lead in a duel."""
TERMS = Adjudication(officials=("Maja",))


def stands(match: Match, line: Callable[[Any], Any] = bare) -> Any:
    """Return the outcome of a match: the lines that count, its end, and the values that the next deal takes over."""
    struck: tuple[int, ...] = ()
    end: MatchWon | Ended | None = None
    for recorded in of_kind(match.history, MatchWon, ProtocolCorrected):
        event = recorded.event
        if isinstance(event, ProtocolCorrected):
            end, struck = event.won, event.struck
        else:
            end = event
    assert struck == ()
    lines = [line(one) for one in lines_as_corrected(match.history).values()]
    table, names = match.state.table, ("points", "pot", "active", *match.rules.carries)
    to_come = () if end else (table.deal, table.dealer, table.playing)
    return (
        lines,
        end and (end.seat, end.seats, end.by, end.rule, end.settlement, end.payments),
        {name: getattr(table, name) for name in names if name not in WITH_CARDS_ONLY},
        to_come,
    )


def tally(opened: MatchOpened, chance: Random) -> Match:
    """Open a tally for whole sheets."""
    return Match(RULESETS[opened.ruleset], chance, opened)


class ActByAct(Match):
    """A tally that is entered act by act."""


def act_by_act(opened: MatchOpened, chance: Random) -> Match:
    """Open a tally for deals act by act."""
    return ActByAct(RULESETS[opened.ruleset], chance, opened)


def with_cards(opened: MatchOpened, chance: Random) -> Match:
    """Open the same match with cards."""
    enforcement: Any = chance.choice(("penalise", "refuse"))
    return tally(replace(opened, dealing=chance.choice(("table", "house")), enforcement=enforcement), chance)


def some_sheets(chance: Random, rules: Ruleset, state: Any) -> list[Request]:
    """Draw a sheet that is entered whole."""
    return [some_sheet(chance, rules, state)]


def some_deal(match: Match, chance: Random) -> bool:
    """Enter a wrong sheet or play a deal; return whether its line is free of events from before its cards."""
    if match.opened.dealing == "tally":
        drawn = some_acts if isinstance(match, ActByAct) else some_sheets
        for request in drawn(chance, match.rules, match.state):
            ask(match, request)
        return True
    begun = len(match.history)
    play_deal(match, False)
    events = [one.event for one in match.history[begun:]]
    dealt = [place for place, event in enumerate(events) if isinstance(event, Dealt)]
    if len(dealt) != 1 or any(isinstance(event, DealVoided) for event in events):
        return False
    return not any(isinstance(event, PenaltyImposed) for event in events[: dealt[0]])


def by_agreement(match: Match, deal: int, right: Result) -> None:
    """Correct a line by the agreement of all other seats (J2)."""
    ask(match, OpenCase(kind="entry", seat=0, deal=deal, result=right))
    for seat in range(1, match.state.table.seats):
        ask(match, Statement(case=match.state.table.ledger.cases, seat=seat, agrees=True))


def by_ruling(match: Match, deal: int, right: Result) -> None:
    """Correct a line by an official's ruling (J9)."""
    ask(match, OpenCase(kind="entry", seat=0, deal=deal, result=right))
    case = match.state.table.ledger.cases
    ask(match, Ruling(case=case, verdict="upheld", standard="balance_of_probabilities", rule="J9"))


OPENED = (tally, act_by_act, with_cards)
WAYS = [(open_match, correct) for open_match in OPENED for correct in (by_agreement, by_ruling)]


def corrected(match: Match, deal: int, right: Result, correct: Callable[[Match, int, Result], None]) -> bool:
    """Correct a line; return false if it already had the right result (J9)."""
    try:
        correct(match, deal, right)
    except WrongPhase as refused:
        if refused.code != "line_says_so":
            raise
        return False
    return True


def rests_on_the_correction(match: Match, deal: int) -> None:
    """Check that the line of a corrected deal names the correction as its evidence."""
    last = of_kind(match.history, ProtocolCorrected)[-1].originator_version
    for line in lines_as_corrected(match.history).values():
        if line.deal == deal:
            shown = {number for entry in line.entries for number in entry.events}
            assert shown <= {last - 1, last}, "the ruling and the correction"


def sheets(ruleset: str, part: int) -> Iterator[tuple[int, Random, Any]]:
    """Draw matches until their sheets are enough."""
    number = 0
    while True:
        yield number, Random(f"sheets {ruleset} {part} {number}"), RULESETS[ruleset]
        number += 1


@pytest.mark.rule("J2", "J9", "B71", "B77", "B-O12", "C55", "D71", "E20")
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("ruleset", RULESETS)
def test_corrected_or_entered_correctly_the_outcome_is_the_same(ruleset: str, part: int) -> None:
    """The outcome and the following deals are equal in a tally, whole or act by act, and in a match with cards, and
    for corrections by agreement and by ruling."""
    many, met = min(PART, SHEETS), Counter[str]()
    for number, chance, rules in sheets(ruleset, part):
        if met["sheets"] >= many:
            break
        opened = replace(some_tally(chance, rules), adjudication=TERMS)
        at_once, others = tally(opened, chance), [(correct, match(opened, chance)) for match, correct in WAYS]
        for deal in range(1, chance.choice((1, 1, DEALS_MAX)) + 1):
            if at_once.over:
                break
            right = some_sheet(chance, rules, at_once.state)
            met["sheets"] += 1
            met["order decides"] += order_decides(chance, rules, at_once.state, right)
            ask(at_once, right)
            others = [(correct, match) for correct, match in others if some_deal(match, chance)]
            for correct, match in tuple(others):
                try:
                    if corrected(match, deal, right, correct):
                        assert stands(match) == stands(at_once)
                        rests_on_the_correction(match, deal)
                    else:
                        assert stands(match, unordered) == stands(at_once, unordered)
                        others.remove((correct, match))  # its line keeps its own order
                except Exception as error:
                    error.add_note(f"match {number} of {ruleset}, {correct.__name__}: {opened}, {right}")
                    raise
                met[f"{type(match).__name__} {match.opened.dealing} {correct.__name__}"] += 1
    assert met["order decides"] >= met["sheets"] / 4, met
    dealt = ("Match tally", "ActByAct tally", "Match table", "Match house")
    ways = {f"{dealing} {correct.__name__}" for dealing in dealt for _, correct in WAYS}
    assert all(met[way] > met["sheets"] / 8 for way in ways), met
