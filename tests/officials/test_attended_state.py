"""An attended match has the same events as its game, until a request concerns the officials."""

from contextlib import closing
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from referee.actors import Actor
from referee.acts import Act, Knock
from referee.events import Adjudication, KnockDismissed, KnockUpheld
from referee.games import RULESETS
from referee.officials.state import Attended, Docket
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.desk import Desk
from referee.store.match import Match
from referee.store.store import construct
from referee.visibility import Event, Recorded
from tests.support.growing_history import Folded
from tests.support.match_driver import MATCH, NOON
from tests.support.random_matches import opened, opening, play_out

OFFICIALS = Adjudication(officials=("Maja",))


class Sides:
    """Two equal matches: one with officials and one without."""

    def __init__(self, ruleset: str) -> None:
        self.attended, self.alone = (
            opening(ruleset=ruleset, players=4, adjudication=adjudication) for adjudication in (OFFICIALS, None)
        )
        self.history: dict[str, list[Recorded]] = {"attended": [], "alone": []}
        self._folded = {side: Folded() for side in self.history}
        self.record("attended", (self.attended,))
        self.record("alone", (self.alone,))
        for side in self.history:
            match = self.match(side)
            self.record(side, match.procedure.begin(match.state, Moment(1, NOON, "begin")))

    def match(self, side: str) -> Match:
        return self._folded[side].match_of(self.history[side])

    def record(self, side: str, events: tuple[Event, ...], actor: Actor = "official") -> None:
        history = self.history[side]
        for event in events:
            history.append(Recorded(MATCH, len(history) + 1, NOON, actor, "", "", "", event))

    def do(self, act: Act | Knock, seed: str) -> tuple[Any, ...]:
        """Do an act in both matches; return the two outcomes."""
        came: list[Any] = []
        for side in self.history:
            match = self.match(side)
            try:
                events, state = match.procedure.take(match.state, act, Moment(match.version, NOON, seed))
            except Refused as refusal:
                came.append((type(refusal), refusal.code, refusal.rule))
                continue
            self.record(side, events)
            assert self.match(side).state == state, "what take gives is what folding gives"
            came.append(tuple(map(without_officials, events)))
        return tuple(came)


def without_officials(event: Event) -> Event:
    """Return a ruling without the fields that only matches with officials have: the time for appeals and the hidden
    note."""
    return (
        replace(event, appeal_until=None, note_kept=False)
        if isinstance(event, KnockUpheld | KnockDismissed)
        else event
    )


@pytest.mark.parametrize("ruleset", RULESETS)
def test_the_game_goes_on_as_it_would_without_them(ruleset: str) -> None:
    sides, chance = Sides(ruleset), Random(7)
    for turn in range(150):
        match = sides.match("alone")
        if not (acts := [act for seat in range(4) for act in match.rules.legal(match.play, seat)]):
            break
        act = chance.choice(acts) if turn % 5 else Knock(seat=chance.randrange(4), accused=chance.randrange(4))
        attended, alone = sides.do(act, f"seed {turn}")
        assert attended == alone
    attended_match, alone_match = sides.match("attended"), sides.match("alone")
    assert attended_match.play == alone_match.play
    assert type(attended_match.docket) is Docket
    assert {case.status for case in attended_match.docket.cases} <= {"ruled"}
    assert alone_match.docket is None
    assert type(alone_match.state) is not Attended, "a match without officials is its game's alone"


def test_a_snapshot_keeps_the_docket(store_url: str) -> None:
    with construct(store_url) as referee, closing(Desk(referee)) as desk:
        match_id = opened(desk, ruleset="rams-english", adjudication=OFFICIALS)
        for _ in play_out(desk, match_id, 40):
            pass
        kept = desk.get(match_id)
        referee.take_snapshots([referee.load(match_id)])
        loaded = referee.load(match_id)
    assert loaded.kept == kept.version, "the snapshot is used as it is"
    assert loaded.aggregate == kept
    assert type(loaded.aggregate.state) is Attended
