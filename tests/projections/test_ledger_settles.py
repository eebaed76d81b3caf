"""The ledger's entry of a match equals its settlement, calculated again from the rows (books.md, 2)."""

from collections import Counter
from collections.abc import Sequence
from random import Random
from uuid import uuid4

import pytest
from msgspec.structs import replace
from sqlalchemy import create_engine

from projections.ledger import Ledger
from referee.clubs.facts import account_of
from referee.events import Adjudication, DealScored, MatchAbandoned, MatchClosed, MatchOpened, MatchWon, Stakes
from referee.games import RULESETS
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.seating import StakesAgreed
from referee.officials.events.takeback import ActTakenBack
from referee.visibility import Recorded
from tests.benchmarks.statements import founding
from tests.games.test_kortoxen_money import p2_goes_home
from tests.games.test_settling_playouts import for_money
from tests.officials.random_corrections import Match, correction, play_on, scored_deals, some_script, with_strikes
from tests.projections.filled_log import page_of
from tests.support.agreed_stakes import agreed_by_all
from tests.support.settlement_checks import settled

MATCHES = 12
"""Matches of each ruleset."""
TELLING = MatchWon | MatchClosed | MatchAbandoned | ProtocolCorrected | ActTakenBack


def entered(history: Sequence[Recorded]) -> Counter[str]:
    """Have a ledger apply a club's match, and compare its entry after each event that may change it. Return how often
    each case occurred."""
    club, ledger, met = uuid4(), Ledger(), Counter[str]()
    opened = history[0].event
    assert isinstance(opened, MatchOpened)
    members = tuple(range(1, len(opened.players) + 1))
    first = replace(history[0], event=replace(opened, club=club, evening=1, members=members))
    before = replace(first, originator_id=club, event=founding(club))
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        ledger.metadata.create_all(connection)
        ledger.apply(connection, page_of([before]))
        begun = 0
        rows = [first, *history[1:]]
        for number, one in enumerate(rows, 1):
            if not isinstance(one.event, TELLING) and number < len(rows):
                continue
            ledger.apply(connection, page_of(rows[begun:number], first=begun + 2))
            begun = number
            entries = list(ledger.read(connection, club))
            taken_back = {entry.reverses for entry in entries}
            stand = [entry for entry in entries if entry.kind == "match" and entry.number not in taken_back]
            found = settled(history[:number], members=members)
            expected = {} if found.status == "open" else {account_of(at.member): -at.amount for at in found.seats}
            if found.status != "open":
                expected["pot"] = -found.pot
            expected = {account: amount for account, amount in expected.items() if amount}
            assert [{at.account: at.amount for at in entry.postings} for entry in stand] == [expected] * bool(
                expected
            )
            met["stands"] += bool(stand)
            met["taken back"] += len(entries) > 1
            met["open again"] += bool(entries) and found.status == "open"
    engine.dispose()
    return met


def begun(key: str, chance: Random, opened: MatchOpened) -> Match:
    """Return a match to whose stakes all seats have agreed."""
    match = Match(RULESETS[key], chance, opened)
    match.version += 1
    match.history.append(match.recorded(StakesAgreed(seats=tuple(range(len(opened.players))), how="secretary")))
    return match


@pytest.mark.parametrize("key", RULESETS)
def test_an_entry_is_the_settlement_of_the_rows(key: str) -> None:
    """Matches are won, closed, corrected and so reopened, or won by a different player."""
    met = Counter[str]()
    for number in range(MATCHES):
        chance = Random(f"entered {key} {number}")
        opened = replace(for_money(chance, key), adjudication=Adjudication(officials=("Maja",)))
        match = begun(key, chance, opened)
        play_on(match, chance.choice((3, 8, 20)))
        if chance.random() < 0.5:
            match.close()
        for _ in range(2):
            if (lines := scored_deals(match)) and (one := some_script(match, chance, chance.choice(lines).deal)):
                with_strikes(match, correction(one))
        met += entered(match.history)
    never = {"open again"} if key == "rams-english" else set()  # a session has no winner
    assert {what for what in ("stands", "taken back", "open again") if not met[what]} == never


@pytest.mark.rule("J11")
def test_if_the_act_that_won_is_taken_back_nothing_stands() -> None:
    """P2's exit, with the score that resulted."""
    history = p2_goes_home((9, 1, 8, 8), stakes=Stakes(currency="SEK", unit=2)).history
    last = history[-1]
    assert isinstance(last.event, MatchWon)
    first = max(one.originator_version for one in history if isinstance(one.event, DealScored))
    number = last.originator_version
    back = replace(
        last, originator_version=number + 1, event=ActTakenBack(case=1, first=first, last=number), act_id="back"
    )
    assert entered(agreed_by_all([*history, back])) == {"stands": 1, "taken back": 1, "open again": 1}
