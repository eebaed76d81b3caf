"""An overturned ruling leaves no trace: winner, rule, points and payments are the same as without the ruling."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from referee.events import Adjudication, PlayEnded, TrickTaken
from referee.games import RULESETS
from referee.games._rodskagg.facts import KnockedOut
from referee.refusals import Refused
from referee.requests import Appeal, OpenCase, Request, Ruling
from tests.officials.random_corrections import Match, ask, of_kind
from tests.officials.random_sheets import some_acts, some_tally
from tests.officials.test_corrected_sheets_at_random import stands
from tests.support.random_deals import RETOLD

MATCHES = RETOLD * 3 // 10
"""Matches of each ruleset."""
TWO = Adjudication(officials=("Maja", "Nils"))
PENALTIES: dict[str, dict[str, Any]] = {"rodskagg-kortoxen": {}, "rodskagg-catsatcards": {"fem_opp": True}}
"""Rulesets in which a ruling imposes points, with their options."""


def played(match: Match, requests: list[Request], overturned: tuple[int, int, int, str] | None) -> bool:
    """Do the requests of a tally; return whether all were accepted.

    ``overturned``: the acts before which a case is upheld and dismissed, the accused, and the offence.
    """
    try:
        for place in range(len(requests) + 1):
            if overturned is not None:
                upheld, dismissed, accused, offence = overturned
                if place == upheld:
                    ask(match, OpenCase(kind="offence", accused=accused, offence=offence))
                    ask(match, ruling(match, "upheld"))
                if place == dismissed:
                    ask(match, Appeal(case=match.state.table.ledger.cases, seat=accused))
                    ask(match, ruling(match, "dismissed"), actor="official:2")
            if place < len(requests):
                ask(match, requests[place])
    except Refused:
        return False
    return True


def play_of(match: Match) -> list[Any]:
    """Return the events of play, without their breaches."""
    play = [one.event for one in of_kind(match.history, TrickTaken, KnockedOut, PlayEnded)]
    return [replace(event, breaches=()) if isinstance(event, TrickTaken) else event for event in play]


def ruling(match: Match, verdict: Any) -> Ruling:
    """Return a ruling on the last case."""
    standard = "beyond_reasonable_doubt" if verdict == "upheld" else "undetermined"
    return Ruling(case=match.state.table.ledger.cases, verdict=verdict, standard=standard, rule="J4")


@pytest.mark.rule("B71", "B-O12", "J7", "J9")
@pytest.mark.parametrize("ruleset", PENALTIES)
def test_the_match_is_as_if_there_had_been_no_case(ruleset: str) -> None:
    met, rules = Counter[str](), RULESETS[ruleset]
    for number in range(MATCHES):
        chance = Random(f"overturned {ruleset} {number}")
        opened = replace(some_tally(chance, rules), adjudication=TWO)
        opened = replace(opened, options={**opened.options, **PENALTIES[ruleset]})
        without, match = (Match(rules, chance, opened) for _ in range(2))
        requests = some_acts(chance, rules, without.state)
        first, last = sorted(chance.sample(range(1, len(requests) + 1), 2))
        last = chance.choice((last, len(requests)))
        accused = chance.choice(without.state.table.playing)
        assert played(without, requests, None)
        done = played(match, requests, (first, last, accused, "revoke"))
        if not done or play_of(match) != play_of(without):  # an exit knock was in vain, or zero ended nothing
            met["could not go on so"] += 1
            continue
        (_, *so), (_, *was) = stands(match), stands(without)
        assert so == was, (number, opened, requests, first, last, accused)
        met["after the score" if last == len(requests) else "in the deal"] += 1
        met["won"] += match.over
    assert min(met["in the deal"], met["after the score"], met["won"]) > MATCHES / 10, met
