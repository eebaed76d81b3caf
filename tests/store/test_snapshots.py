"""Snapshots: every scored deal leaves one, and only one that is of the match's history is used."""

import msgspec
import pytest
from msgspec.structs import replace

from referee.actors import actor_at
from referee.acts import Knock
from referee.events import DealScored
from referee.games import RULESETS
from referee.store import desk as at_the_desk
from referee.store.aggregate import fold
from referee.store.command import Command
from referee.store.desk import Desk
from referee.store.store import Loaded, Referee, settings_for, shape_of
from tests.store.counting_store import Counting
from tests.support.random_matches import opened, play_out


def kept(referee: Referee, match_id: object) -> list[int]:
    """Return the versions that have snapshots."""
    assert referee.snapshots is not None
    rows = referee.snapshots.recorder.select_events(match_id)
    return [row.originator_version for row in rows]


@pytest.mark.parametrize("ruleset", sorted(RULESETS))
@pytest.mark.parametrize("enforcement", ["refuse", "penalise"])
def test_a_replay_is_the_fold_from_the_first_event_and_reads_what_came_after_a_snapshot(
    sqlite_url: str, ruleset: str, enforcement: str
) -> None:
    with Counting(env=settings_for(sqlite_url)) as referee:
        desk = Desk(referee)
        match_id = opened(desk, ruleset=ruleset, players=3, enforcement=enforcement)
        outcomes = list(play_out(desk, match_id, 150, seed=len(ruleset)))
        desk.close()
        versions = kept(referee, match_id)
        scored = [o for o in outcomes if any(isinstance(one.event, DealScored) for one in o.events)]
        assert versions == [outcome.aggregate.version for outcome in scored]
        assert versions
        history = referee.history(match_id)
        state = None
        for recorded in history:
            at = recorded.originator_version
            state = fold(state, [recorded])
            referee.rows_read = 0
            assert referee.replay(match_id, at) == state
            last = max((version for version in versions if version <= at), default=1)
            assert referee.rows_read == at - last + 1
        assert referee.load(match_id).aggregate == state


def test_many_acts_without_a_scored_deal_leave_one_now_and_then(
    desk: Desk, referee: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(at_the_desk, "SNAPSHOT_EVERY", 10)
    match_id = opened(desk, deal_ritual=False)
    knocks = [
        Command(id=match_id, actor=actor_at(seat), request=Knock(seat=seat, accused=(seat + 1) % 3))
        for seat in range(3)
    ]
    for future in [desk.submit(knock) for knock in knocks * 15]:
        future.result(30)
    desk.close()
    assert kept(referee, match_id) == [10, 20, 30, 40]


class TestAnothers:
    """A snapshot that is not of the rows that are there."""

    @pytest.fixture
    def played(self, desk: Desk, referee: Counting) -> Loaded:
        """Return a match, with a correct snapshot of it and two wrong ones: of a different event and of no event."""
        match_id = opened(desk, deal_ritual=False)
        for _ in range(20):
            desk.submit(Command(id=match_id, actor="seat:1", request=Knock(seat=1, accused=0))).result(30)
        now = referee.load(match_id)
        tenth = Loaded(referee.replay(match_id, 10), referee.history(match_id, after=10, to=11)[0].prev)
        referee.take_snapshots([tenth])
        wrong = replace(referee.replay(match_id, 5), public_to=5)
        referee.take_snapshots([Loaded(replace(wrong, version=number), now.head) for number in (20, 30)])
        return now

    def test_is_passed_over_for_the_one_before_it(self, played: Loaded, referee: Counting) -> None:
        match_id = played.aggregate.id
        referee.rows_read = 0
        assert referee.load(match_id) == replace(played, kept=10)
        assert referee.rows_read <= 2 + 12, "those after each wrong one, and those after the right one"
        assert referee.replay(match_id, 20) == fold(None, referee.history(match_id, to=20))

    def test_is_not_looked_for_for_ever(self, played: Loaded, referee: Counting) -> None:
        match_id = played.aggregate.id
        referee.take_snapshots([Loaded(replace(played.aggregate, version=15), "0" * 64)])
        assert referee.load(match_id) == replace(played, kept=0)

    def test_is_passed_over_when_a_row_was_changed_afterwards(self, sqlite_url: str) -> None:
        with Referee(env=settings_for(sqlite_url)) as referee:
            desk = Desk(referee)
            match_id = opened(desk, enforcement="refuse", deal_ritual=False)
            list(play_out(desk, match_id, 100))
            desk.close()
            version = kept(referee, match_id)[-1]
            assert referee.load(match_id).kept == version
            with referee.factory.datastore.transaction(commit=True) as cursor:
                cursor.execute(
                    'UPDATE stored_events SET state = CAST(replace(CAST(state AS TEXT), \'"at":"20\', \'"at":"19\')'
                    " AS BLOB) WHERE originator_id = ? AND originator_version = ?",
                    (match_id.hex, version),
                )
            assert referee.load(match_id).kept < version
            assert referee.load(match_id).aggregate == fold(None, referee.history(match_id))


class TestShape:
    """A snapshot is readable if the type of its state has the shape that it had."""

    def test_is_the_same_when_only_a_docstring_changed(self) -> None:
        before = msgspec.defstruct("State", [("points", int)], namespace={"__doc__": "The state of a match."})
        after = msgspec.defstruct("State", [("points", int)], namespace={"__doc__": "The points of a match."})
        assert shape_of(before) == shape_of(after)

    def test_is_different_when_a_field_is_new(self) -> None:
        before = msgspec.defstruct("State", [("points", int)])
        after = msgspec.defstruct("State", [("points", int), ("description", str)])
        assert shape_of(before) != shape_of(after)
