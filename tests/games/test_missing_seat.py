"""A seat number beyond the last seat: no acts are listed for it, and its acts are refused."""

from random import Random

import pytest

from referee.acts import Deal
from referee.games import RULESETS
from referee.refusals import NotInPlay
from tests.support.match_driver import Table
from tests.support.random_deals import every_act
from tests.support.random_matches import opening

PLAYERS = NOBODY = 4
MATCHES, ACTS = 3, 120


@pytest.mark.parametrize("ruleset", RULESETS)
def test_a_caller_without_a_seat_cannot_act_in_any_phase(ruleset: str) -> None:
    chance, looked_at = Random(ruleset), set()
    for _ in range(MATCHES):
        t = Table(opening(ruleset=ruleset, players=PLAYERS))
        for _ in range(ACTS):
            if t.phase == "over":
                break
            if t.phase not in looked_at:
                looked_at.add(t.phase)
                assert t.legal(NOBODY) == ()
                for act in (Deal(seat=NOBODY), *every_act(ruleset, NOBODY)):
                    t.refused(act, rule=None, kind=NotInPlay, code="no_such_seat")
            t.do(chance.choice([act for seat in range(PLAYERS) for act in t.legal(seat)]))
    assert {"undealt", "playing", "played"} <= looked_at
