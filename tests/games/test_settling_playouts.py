"""Random matches for money with random options: every one is settled, to the last öre."""

from collections import Counter
from itertools import count
from random import Random

import pytest
from msgspec.structs import replace

from referee.acts import Abandon
from referee.events import Adjudication, MatchOpened, Stakes
from referee.games import RULESETS
from referee.officials.events.corrections import ProtocolCorrected
from referee.refusals import Refused
from tests.officials.random_corrections import correction, scored_deals, some_play, some_script, with_strikes
from tests.support.random_deals import RETOLD, RETOLD_PARTS, Playout, play_deal
from tests.support.random_openings import some_match
from tests.support.settlement_checks import check

MONEY = {"rodskagg-alga": "points_left", "rodskagg-catsatcards": "points_left", "kalabrias": "difference"}
UNITS = (1, 7, 50, 100)


def for_money(chance: Random, key: str) -> MatchOpened:
    """Return a match with stakes that the game accepts."""
    rules = RULESETS[key]
    tempting = {"money": MONEY[key]} if key in MONEY else {}
    while True:
        opened = some_match(chance, rules, tempting=tempting)
        opened = replace(opened, stakes=Stakes(currency="SEK", unit=chance.choice(UNITS)))
        try:
            rules.opening(opened)
        except Refused:  # half points at an odd unit
            continue
        return opened


CORRECTED = RETOLD // 20
"""Number of matches of each ruleset with corrections."""


@pytest.mark.rule("B74", "D-O18", "A-O32", "C-O37", "E-O42")
@pytest.mark.parametrize("part", range(RETOLD_PARTS))
@pytest.mark.parametrize("key", RULESETS)
def test_every_match_is_settled(key: str, part: int) -> None:
    """The match is settled in the middle of it, at its end, and after it was abandoned."""
    met, done = Counter[str](), 0
    for number in count():
        chance = Random(f"money {key} {part} {number}")
        match = Playout(RULESETS[key], chance, Counter(), True, for_money(chance, key))
        assert match.kept is not None
        many = min(chance.choice((1, 20, 60)), RETOLD // RETOLD_PARTS - done)
        try:
            while match.deals < many and not match.over:
                play_deal(match, False)
            met[check(match.kept).status] += 1
            if not match.over:
                match.close()
            if not match.over:
                match.stand(match.rules.decide(match.state, Abandon(), match.moment()))
            found = check(match.kept)
        except Exception as error:
            error.add_note(f"in match {number} of {key}, part {part}")
            raise
        met[found.status] += 1
        met["paid"] += any(seat.amount for seat in found.seats)
        met["pays nothing"] += any(line.rule == "B-O21" for seat in found.seats for line in seat.lines)
        done += match.deals
        if done >= RETOLD // RETOLD_PARTS:
            break
    expected = {"open", "final", "paid"} | ({"pays nothing"} if key == "rodskagg-kortoxen" else set())
    assert {what for what in expected if not met[what]} == set()


@pytest.mark.rule("J9")
@pytest.mark.parametrize("key", RULESETS)
def test_a_corrected_match_is_settled_by_its_corrected_lines(key: str) -> None:
    """Corrections rescore lines, strike deals, reopen matches, or change the winner."""
    met = Counter[str]()
    for number in range(CORRECTED):
        chance = Random(f"money corrected {key} {number}")
        opened = replace(for_money(chance, key), adjudication=Adjudication(officials=("Maja",)))
        match = some_play(key, chance, chance.choice((1, 3, 8)), opened)
        if chance.random() < 0.5:
            match.close()
        for _ in range(2):
            if not (lines := scored_deals(match)):
                break
            was = check(match.history)
            try:
                one = some_script(match, chance, chance.choice(lines).deal)
                if one is None:
                    continue
                (event, *_) = with_strikes(match, correction(one))
                assert isinstance(event, ProtocolCorrected)
                found = check(match.history)
                if event.won is not None:
                    assert event.won.settlement == tuple(seat.amount for seat in found.seats)
            except Exception as error:
                error.add_note(f"in match {number} of {key}")
                raise
            met["changed"] += found != was
            met["open again"] += (was.status, found.status) == ("final", "open")
            met["struck"] += bool(event.struck)
    never = {"open again", "struck"} if key == "rams-english" else set()  # a session has no winner
    assert {what for what in ("changed", "open again", "struck") if not met[what]} == never
