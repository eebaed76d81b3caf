"""The order of refusals is the same in every game and phase, for every act and seat.

Matches are played at random. In some of their states every act of the vocabulary, and a knock, is tried by every
seat, and by seats that do not exist. The tests of each game cover the refusals of its own decisions.
"""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from random import Random
from typing import Any, get_args

import pytest

from referee.acts import (
    Abandon,
    AgreeStakes,
    AnyAct,
    Close,
    Cut,
    Deal,
    Entropy,
    Knock,
    Report,
    Result,
    TakeBack,
    Void,
)
from referee.games import RULESETS
from referee.refusals import MatchOver, NotInPlay, Refused, WrongPhase
from referee.requests import Request
from referee.ruleset import Moment, Ruleset
from referee.visibility import Event
from tests.support.random_deals import MATCHES, Playout

KEYS = sorted(RULESETS)
ACTS = 250
EVERY = 12
"""Steps between two states that are examined."""
SAID: dict[str, Any] = {
    "bid": "pass",
    "card": "S9",
    "answer": "enough",
    "what": "thanks",
    "fault": "misdeal",
    "cards": ("S9",),
    "agree": True,
    "accused": 0,
    "hex": "0" * 32,
}
"""A value for each field that an act requires."""
KNOCKED_IN = {"kalabrias", "rodskagg-catsatcards", "rodskagg-kortoxen"}
BESIDE_THE_DUEL = {"rodskagg-catsatcards": {Deal, Report, Cut}}
MET: dict[str, set[str]] = {
    "kalabrias": {"match_over", "no_such_seat", "not_in_this_game", "wrong_phase", "nothing_dealt"},
    "rams-english": {"match_over", "no_such_seat", "no_knocking", "not_in_this_game", "wrong_phase", "nothing_dealt"},
    "rodskagg-alga": {"eliminated", "not_in_duel", "no_knocking"},
    "rodskagg-catsatcards": {"eliminated", "not_in_duel"},
    "rodskagg-kortoxen": {"eliminated"},
}
"""Refusals that the play-outs must meet, so that the test is not empty."""


@cache
def of(kind: Any, seat: int) -> Request:
    """Return an act of this kind with arbitrary content."""
    needed = [name for name in kind.__struct_fields__ if name in SAID and (kind.__name__, name) not in OPTIONAL]
    said = {name: SAID[name] for name in needed}
    if kind.__name__ == "Answer":
        said["answer"] = "play"
    act: Request = kind(**said) if kind in (Abandon, Close, Result, Void) else kind(seat=seat, **said)
    return act


OPTIONAL = {("Draw", "card"), ("RequestCards", "cards"), ("Declare", "cards")}
KINDS = (*get_args(AnyAct), Knock)


@cache
def decisions_of(rules: str) -> Mapping[type, Any]:
    """Return the decisions of a game by phase."""
    decisions: Mapping[type, Any] = import_module(f"referee.games.{rules.replace('-', '_')}").DECIDE
    return decisions


Expected = tuple[type[Refused], str] | None
"""The class and the code of a refusal, or ``None`` if the decision itself judges the act."""


def first(rules: Ruleset, state: Any, act: Any) -> Expected:
    """Return the refusal that comes before the decision's own; ``None`` if none does."""
    kind, table = type(act), state.table
    if kind is AgreeStakes:  # not part of the play
        return (NotInPlay, "no_such_seat") if act.seat >= table.seats else (WrongPhase, "no_stakes_to_agree")
    if type(state) not in decisions_of(rules.key):
        return MatchOver, "match_over"
    if kind in (Void, Abandon, Close, Result):
        return first_without_seat(rules, state, kind)
    if act.seat >= table.seats:
        return NotInPlay, "no_such_seat"
    if act.seat not in table.active:
        return NotInPlay, "eliminated"
    return first_of_seat(rules, state, act)


def first_without_seat(rules: Ruleset, state: Any, kind: type) -> Expected:
    """Return the first refusal of an act that has no seat, in a match that is not over."""
    if kind is Void:
        return None if Void() in rules.legal(state, "official") else (WrongPhase, "nothing_dealt")
    if kind is Close:
        return None if Close in rules.acts else (WrongPhase, "not_in_this_game")
    if kind is Result:
        return WrongPhase, "not_tallied" if Result in rules.acts else "not_in_this_game"
    return None


def first_of_seat(rules: Ruleset, state: Any, act: Any) -> Expected:
    """Return the first refusal of an act by a seat that is still in the match."""
    kind = type(act)
    if kind is TakeBack:  # seats outside a duel agree as well
        return WrongPhase, "no_taking_back"
    if kind is Knock and rules.key in KNOCKED_IN:
        return None
    if act.seat not in state.table.playing and kind not in BESIDE_THE_DUEL.get(rules.key, ()):
        return NotInPlay, "not_in_duel"
    if kind is Knock:
        return WrongPhase, "no_knocking"
    if kind is Entropy:
        return WrongPhase, "no_entropy"
    if kind not in rules.acts:
        return WrongPhase, "not_in_this_game"
    return None if kind in decisions_of(rules.key)[type(state)] else (WrongPhase, "wrong_phase")


def refusal(match: Playout, act: Request) -> Refused | tuple[Event, ...]:
    """Return the refusal of an act, or the events that follow from it."""
    try:
        return match.rules.decide(match.state, act, Moment(match.version, match.at, "any"))
    except Refused as refused:
        return refused


def look(match: Playout, met: set[str]) -> None:
    """Try every act by every seat in this state."""
    for kind in KINDS:
        for seat in (*match.seats, len(match.seats), 7):
            act = of(kind, seat)
            came, expected = refusal(match, act), first(match.rules, match.state, act)
            if expected is None:
                assert not isinstance(came, MatchOver), act
                continue
            assert isinstance(came, Refused), (act, came)
            assert (type(came), came.code) == expected, (act, type(match.state))
            met.add(came.code)


@pytest.mark.parametrize("key", KEYS)
def test_the_refusals_come_in_one_order(key: str):
    met: set[str] = set()
    for number in range(MATCHES // 2):
        match = Playout(RULESETS[key], Random(f"precedence {key} {number}"), Counter(), keep=False)
        for step in range(ACTS):
            if step % EVERY == 0:
                look(match, met)
            if match.over:
                break
            match.step()
        match.close()
        look(match, met)
    assert met >= MET[key]


def test_all_games_are_looked_at():
    assert set(MET) == set(RULESETS)
    assert {kind.__name__ for kind in KINDS} >= {"Knock", "Close", "Draw", "Bella", "Discard"}
