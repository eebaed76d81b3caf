"""Random corrections: their outcome does not depend on when they are made, nor on where the fold begins."""

from random import Random
from typing import Any

import msgspec
import pytest

from referee.events import DealScored, PenaltyImposed
from referee.games import RULESETS
from referee.officials.events.corrections import ProtocolCorrected, lines_as_corrected
from referee.officials.rescoring import rescore, script
from referee.refusals import Refused
from referee.store.aggregate import fold
from tests.officials.random_corrections import (
    ask,
    attended_match,
    bare,
    correction,
    of_kind,
    played_so,
    scored_deals,
    some_other_play,
    some_play,
    some_script,
    with_strikes,
    without_ledger,
)
from tests.support.random_deals import RETOLD, play_deal

MATCHES = RETOLD // 12
"""Matches of each ruleset."""
PENALTIES = ("rodskagg-catsatcards", "rodskagg-kortoxen")
"""Rulesets with penalties."""


def checked(match: Any) -> None:
    """Check that a match is equal to its replay and its fold, and that no money is lost."""
    again = rescore(match.rules, match.history)
    lines = lines_as_corrected(match.history)
    assert again.dependent == ()
    assert {place: lines[place] for place in again.lines} == again.lines
    assert without_ledger(again.state) == without_ledger(match.state)
    corrections = [one.event for one in of_kind(match.history, ProtocolCorrected)]
    assert again.struck == (corrections[-1].struck if corrections else ())
    if match.rules.has_pot:
        assert sum(match.state.table.points) + match.state.table.pot == match.worth
        for line in again.lines.values():
            assert sum(line.points) + line.pot == match.worth


def counting(match: Any, last: Any) -> list[Any]:
    """Return the lines that count after the last correction."""
    return [bare(line) for line in lines_as_corrected(match.history).values() if line.deal not in last.struck]


@pytest.mark.parametrize("ruleset", RULESETS)
def test_played_on_and_corrected_again(ruleset: str) -> None:
    met = dict.fromkeys(("corrections", "reopened", "won earlier", "struck", "played on"), 0)
    for number in range(MATCHES):
        chance = Random(f"corrected {ruleset} {number}")
        match = some_play(ruleset, chance, chance.choice((1, 3, 8)), attended_match(ruleset, chance))
        for _ in range(3):
            if not (lines := scored_deals(match)):
                break
            deal = chance.choice(lines).deal
            was_over = match.over
            try:
                one = some_script(match, chance, deal)
                if one is None:
                    continue
                (event, *_) = with_strikes(match, correction(one))
            except Exception as error:
                error.add_note(f"in match {number} of {ruleset}, deal {deal}")
                raise
            assert isinstance(event, ProtocolCorrected)
            met["corrections"] += 1
            met["struck"] += bool(event.struck)
            met["reopened"] += was_over and not match.over
            met["won earlier"] += match.over and not was_over
            try:
                checked(match)
                if not match.over and chance.random() < 0.7:
                    play_deal(match, False)
                    met["played on"] += 1
                    checked(match)
            except Exception as error:
                error.add_note(f"in match {number} of {ruleset}, deal {deal}, {event}")
                raise
        cut = chance.randrange(1, len(match.history))
        head: Any = fold(None, match.history[:cut])
        stored = msgspec.json.decode(msgspec.json.encode(head.state), type=head.procedure.state)
        assert stored == head.state
        assert fold(msgspec.structs.replace(head, state=stored), match.history[cut:]) == fold(None, match.history)
    never = {"reopened", "won earlier", "struck"} if ruleset == "rams-english" else set()  # a session has no winner
    assert {what for what, many in met.items() if not many} == never


@pytest.mark.parametrize("ruleset", RULESETS)
def test_one_by_one_is_all_at_once(ruleset: str) -> None:
    done = 0
    for number in range(MATCHES):
        chance = Random(f"at once {ruleset} {number}")
        match = some_play(ruleset, chance, chance.choice((2, 3, 8)), attended_match(ruleset, chance))
        lines = scored_deals(match)
        scripts = [one for _ in range(3) if lines and (one := some_script(match, chance, chance.choice(lines).deal))]
        if not scripts:
            continue
        begun = len(match.history)
        try:
            for one in scripts:
                (last, *_) = ask(match, correction(one))
            one_by_one = counting(match, last)
            del match.history[begun:]
            match.version = begun
            (whole, *_) = ask(match, correction(*scripts))
        except Refused as refused:
            if refused.code != "line_hangs":
                raise
            continue
        assert one_by_one == counting(match, whole), number
        names = ("points", "eliminated", "dealer", "next_deal", "pot", "duel", "carried", "won", "struck")
        assert [getattr(last, name) for name in names] == [getattr(whole, name) for name in names], number
        done += 1
    assert done > MATCHES // 2


@pytest.mark.parametrize("ruleset", RULESETS)
def test_it_is_as_if_it_had_been_played_so(ruleset: str) -> None:
    same = later = 0
    for number in range(MATCHES):
        chance = Random(f"played so {ruleset} {number}")
        match = some_play(ruleset, chance, chance.choice((2, 3, 5)), attended_match(ruleset, chance))
        if not (lines := scored_deals(match)):
            continue
        deal, penalty, other = chance.choice(lines).deal, None, None
        before = rescore(match.rules, match.history).before[deal]
        if ruleset in PENALTIES and match.opened.enforcement == "penalise" and chance.random() < 0.5:
            penalty = PenaltyImposed(seat=chance.choice(before.table.playing), points=5, rule="B11")
        elif (other := some_other_play(match, chance, before)) is None:
            continue
        facts = [penalty] if penalty else [one.event for one in other.history]
        so = played_so(match, deal, other, penalty)
        if so is None:
            continue
        again = rescore(match.rules, match.history, [script(deal, facts, whole=penalty is None)])
        if again.dependent:
            continue
        assert [bare(line) for line in again.lines.values() if isinstance(line, DealScored)] == [*map(bare, so[0])], (
            number
        )
        if not again.duel:
            assert without_ledger(again.state) == without_ledger(so[1]), number
        same += 1
        later += len(so[0]) > deal
    assert same > MATCHES // 3, "it was seen"
    assert later > MATCHES // 12, "with deals after it"
