"""Reports by game, dealing, phase and fault: no player undoes a deal by a late report, or by one of what the referee
sees.

Matches are played at random. In some of their states every seat in the deal reports every fault of every seat.
"""

from collections import Counter, defaultdict
from functools import cache
from random import Random
from typing import Any, get_args

import pytest

from referee.acts import Fault, Report
from referee.games import RULESETS
from referee.refusals import Refused
from tests.games.rodskagg import Table, table
from tests.support.match_driver import P1, P2, P3, P4
from tests.support.random_deals import Playout
from tests.support.random_openings import some_match
from tests.support.world_pairs import CARD_DEALING_MODES, CardDealingMode

MATCHES, ACTS = 12, 110
EVERY = 4
"""Steps between two states that are examined."""
TABLE = """
rodskagg-alga         undealt     house wrong_phase       hands wrong_phase       counts wrong_phase
                      exchanging  house house_sees        hands hands_known       counts own other
                      auction     house house_sees        hands hands_known       counts own other
                      not_led     house house_sees        hands hands_known       counts own other
                      playing     house house_sees        hands hands_known       counts own only_who_holds_it late
                      played      house house_sees        hands late              counts late

rodskagg-catsatcards  drawing     house -                 hands wrong_phase       counts wrong_phase
                      undealt     house house_sees        hands nothing_dealt     counts nothing_dealt
                      picking_up  house house_sees        hands hands_known       counts own other
                      found       house -                 hands nothing_dealt     counts nothing_dealt
                      auction     house house_sees        hands hands_known       counts own other
                      not_led     house house_sees        hands hands_known       counts own other
                      playing     house house_sees        hands hands_known       counts own only_who_holds_it late
                      played      house house_sees        hands late              counts late

rodskagg-kortoxen     drawing     house -                 hands wrong_phase       counts wrong_phase
                      undealt     house house_sees        hands nothing_dealt     counts nothing_dealt
                      picking_up  house house_sees        hands hands_known       counts own other
                      found       house -                 hands nothing_dealt     counts nothing_dealt
                      exchanging  house house_sees        hands hands_known       counts own other
                      auction     house house_sees        hands hands_known       counts own other
                      not_led     house house_sees        hands hands_known       counts own other
                      playing     house house_sees        hands hands_known       counts own only_who_holds_it late
                      played      house house_sees        hands late              counts late

rams-english          drawing     house -                 hands wrong_phase       counts wrong_phase
                      undealt     house nothing_dealt     hands nothing_dealt     counts nothing_dealt
                      unspoken    house house_sees        hands own other         counts own other
                      declaring   house house_sees        hands hands_known       counts own other
                      not_led     house house_sees        hands hands_known       counts own other
                      playing     house house_sees        hands late              counts late
                      played      house house_sees        hands late              counts late

kalabrias             any         house not_in_this_game  hands not_in_this_game  counts not_in_this_game
"""
"""Outcome of a misdeal report in each phase: the deal is undone by a report of the player's ``own`` number or of an
``other`` one, or the code of the refusal. ``found``: the misdeal is known already. In Rams the misdeal is always the
dealer's, and the first word and the first lead divide the phases."""
MISDEALS = {"rams-english": ("misdeal",)}
"""Faults that are misdeals, if a wrong number of cards is not one of them."""
LATE = "misdeal_too_late"


def expected() -> dict[tuple[str, str, str], set[str]]:
    """Return the outcomes of ``TABLE`` by game, dealing and phase."""
    table: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    game = ""
    for line in filter(None, TABLE.splitlines()):
        words = line.split()
        if not line.startswith(" "):
            game, *words = words
        phase, *words = words
        dealing = ""
        for word in words:
            dealing = word if word in CARD_DEALING_MODES else dealing
            if word not in (*CARD_DEALING_MODES, "-"):
                table[game, dealing, phase].add(LATE if word == "late" else word)
    return dict(table)


def phase_of(match: Playout) -> str:
    """Return the name of the phase in ``TABLE``."""
    state, phase = match.state, str(match.state.__struct_config__.tag)
    if match.rules.key == "kalabrias":
        return "any"
    if phase == "picking_up" and state.found:
        return "found"
    if phase == "playing" and not state.trick and not state.won:
        return "not_led"
    if phase == "declaring" and not state.said.calls:
        return "unspoken"
    return phase


def outcome(match: Playout, report: Report) -> str:
    """Return the outcome of a report."""
    try:
        events = match.rules.decide(match.state, report, match.moment())
    except Refused as refused:
        return refused.code
    undone = any(event.TOPIC == "deal/misdeal-found" or getattr(event, "kind", "") == "misdeal" for event in events)
    if not undone:
        return "stands"
    return "own" if report.seat == report.accused else "other"


@cache
def met(key: str, mode: CardDealingMode) -> tuple[dict[str, set[str]], dict[str, set[str]]]:
    """Return by phase the outcomes of misdeal reports, and of reports of other faults."""
    misdeals: dict[str, set[str]] = defaultdict(set)
    others: dict[str, set[str]] = defaultdict(set)
    rules = RULESETS[key]
    for number in range(MATCHES):
        chance = Random(f"reports {key} {mode} {number}")
        opened = some_match(
            chance,
            rules,
            dealing="house" if mode == "house" else "table",
            enforcement=("refuse", "penalise")[number % 2],
            tempting={"fem_opp": True, "deal_ritual": True, "honour_redeal": number % 3 == 0},
        )
        match = Playout(rules, chance, Counter(), keep=False, opened=opened, closed=mode == "counts")
        for step in range(ACTS):
            if match.over:
                break
            if step % EVERY == 0:
                look(match, misdeals, others)
            match.step()
    return dict(misdeals), dict(others)


def look(match: Playout, misdeals: dict[str, set[str]], others: dict[str, set[str]]) -> None:
    """Try the reports of every seat about every seat in the deal."""
    rams, table = match.rules.key == "rams-english", match.state.table
    for seat in table.playing:
        for accused in (table.dealer,) if rams else table.playing:
            for fault in get_args(Fault):
                found = misdeals if fault in MISDEALS.get(match.rules.key, ("misdeal", "wrong_count")) else others
                found[phase_of(match)].add(outcome(match, Report(seat=seat, accused=accused, fault=fault)))


@pytest.mark.rule("A-O17", "B-O33", "C-O23", "D-O26")
@pytest.mark.parametrize("mode", CARD_DEALING_MODES)
@pytest.mark.parametrize("key", sorted(RULESETS))
def test_a_misdeal_is_reported_if_the_table_says(key: str, mode: CardDealingMode):
    misdeals, _ = met(key, mode)
    wanted = {phase: codes for (game, how, phase), codes in expected().items() if (game, how) == (key, mode)}
    rare = {"exchanging", "picking_up", "found", "drawing"}  # depend on an option
    assert misdeals.keys() <= wanted.keys()
    assert wanted.keys() - rare <= misdeals.keys()
    for phase, codes in misdeals.items():
        assert codes == wanted[phase], phase


@pytest.mark.parametrize("mode", CARD_DEALING_MODES)
@pytest.mark.parametrize("key", sorted(RULESETS))
def test_no_other_fault_undoes_a_deal(key: str, mode: CardDealingMode):
    _, others = met(key, mode)
    assert others
    for phase, codes in others.items():
        assert not codes & {"own", "other"}, phase


SISTERS = ("rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen")


@pytest.mark.rule("A-O17", "B-O33", "C-O23")
@pytest.mark.parametrize("key", SISTERS)
def test_a_player_who_has_played_the_last_card_has_the_right_number(key: str):
    t: Table = table(key, enforcement="penalise").dealt("1 1 1 1 | 1 1", closed=True)
    t.bid("1 0 0 0" if key == "rodskagg-catsatcards" else "1 pass pass pass")
    t.tricks(5)
    t.card()
    for accused in (P2, P3, P4):
        assert t.accepted(Report(seat=accused, accused=accused, fault="misdeal"))
    settled: dict[str, Any] = {"code": LATE, "rule": t.refused(own(P1), rule=RULE[key]).rule}
    t.card()
    t.refused(own(P2), **settled)
    assert t.accepted(own(P3))
    t.card(), t.card()
    assert t.phase == "played"
    for seat in (P1, P2, P3, P4):
        t.refused(own(seat), **settled)


RULE = {"rodskagg-alga": "A-O17", "rodskagg-catsatcards": "C12", "rodskagg-kortoxen": "B27"}


def own(seat: int) -> Report:
    """Return a report of the player's own wrong number of cards."""
    return Report(seat=seat, accused=seat, fault="wrong_count")
