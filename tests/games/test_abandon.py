"""A match that will not be finished is ended by the official, in every game and at any time."""

from collections import Counter
from random import Random

import pytest

from referee.acts import Abandon, Act, Close, Deal
from referee.events import MatchAbandoned
from referee.games import RULESETS
from referee.phases import Over
from referee.refusals import MatchOver, Refused
from tests.games.rams_table import Table
from tests.support.match_driver import P1, P4
from tests.support.random_deals import Playout

MATCHES = 25


@pytest.mark.parametrize("key", sorted(RULESETS))
def test_at_any_moment_it_is_over_and_no_one_has_won(key: str) -> None:
    phases: set[type] = set()
    for number in range(MATCHES):
        chance = Random(f"abandoned {key} {number}")
        match = Playout(RULESETS[key], chance, Counter(), keep=False)
        for _ in range(chance.randrange(40)):
            if not match.over:
                match.step()
        if match.over:
            continue
        before, act = match.state, Abandon(reason="the cake has come")
        phases.add(type(before))
        assert act.reason not in str(match.rules.legal(before, 0)), "no seat does it"
        events, state = match.rules.take(before, act, match.moment())
        (event,) = events
        assert isinstance(event, MatchAbandoned)
        assert (event.reason, event.deal) == (act.reason, before.table.deal)
        assert isinstance(state, Over)
        assert (state.winner, state.winners, state.by) == (None, (), "abandoned")
        shown = match.rules.view(state, "spectator")
        assert (shown.phase, shown.to_act, shown.winner) == ("over", (), None)
        if not RULESETS[key].has_pot:
            assert (event.shares, event.points, event.settlement) == ((), (), None), "nothing is owed"
            assert state.table.points == before.table.points
        for viewer in (*match.seats, "official", "spectator"):
            assert match.rules.legal(state, viewer) == ()
        with pytest.raises(MatchOver):
            match.rules.decide(state, act, match.moment())
    assert len(phases) > 2, "at several moments"


@pytest.mark.rule("D-O18", "D-O28")
@pytest.mark.parametrize("unit", [None, 7])
def test_rams_shares_the_pot_as_at_the_end_of_a_session(unit: int | None) -> None:
    """An unfinished deal pays no stake, as if it were voided and the session closed."""
    between = Table(dealer=P4, points=(-15, 0, 0, 0), pot=15, unit=unit)
    closed = between.close()
    between = Table(dealer=P4, points=(-15, 0, 0, 0), pot=15, unit=unit)
    within = Table(dealer=P4, points=(-15, 0, 0, 0), pot=15, unit=unit)
    within.deal()
    within.say("join join join")
    with pytest.raises(Refused):
        within.decide(Close())
    for t in (between, within):
        (event,) = t.do(Abandon())
        assert isinstance(event, MatchAbandoned)
        for name in ("rule", "pot_before", "shares", "pot", "before", "points", "settlement"):
            assert getattr(event, name) == getattr(closed, name), name
        assert t.points == closed.points
        t.refused(Deal(seat=P4), code="match_over", rule=None, kind=MatchOver)
        assert t.legal(P1) == t.legal("official") == ()


def test_an_abandoned_match_keeps_the_pot() -> None:
    (event,) = Table(dealer=P4, points=(-15, 0, 0, 0), pot=15, final_pot="keep").do(Abandon())
    assert isinstance(event, MatchAbandoned)
    assert (event.shares, event.pot, event.points) == ((0, 0, 0, 0), 15, (-15, 0, 0, 0))


def test_the_act_is_every_game_s() -> None:
    acts: list[tuple[type[Act], ...]] = [rules.acts for rules in RULESETS.values()]
    assert all(Abandon in known for known in acts)
