"""Other aggregates than matches are stored in the same way: a tally with rows, snapshots, replay and a projection."""

from collections.abc import Callable
from typing import Any, ClassVar
from uuid import UUID, uuid4

import msgspec
import pytest
from msgspec.structs import replace

from projections.follow.follow import engine_for, rebuild
from projections.follow.sheets import Sheets
from referee.acts import Act
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.aggregate import KINDS, Aggregate, fold
from referee.store.command import Command, Full, KeyReused, Outcome, Stale
from referee.store.desk import Desk
from referee.store.match import Match
from referee.store.rows import from_row, to_row
from referee.store.store import Referee
from referee.value import Value
from referee.visibility import Event, Recorded
from tests.projections.filled_log import reader
from tests.support.edited_stores import differences
from tests.support.random_matches import opened


class Opened(Event):
    TOPIC: ClassVar[str] = "tally/opened"
    most: int


class Counted(Event):
    TOPIC: ClassVar[str] = "tally/counted"
    by: int


class Filled(Event):
    TOPIC: ClassVar[str] = "tally/filled"


class Count(Act, tag="count"):
    by: int


class TooMany(Refused):
    pass


class TallyState(Value):
    most: int
    count: int = 0


class TallyRules:
    """Counts up to the opening's number, and reports when that is reached."""

    state = TallyState

    def start(self, opened: Opened) -> TallyState:
        return TallyState(most=opened.most)

    def begin(self, state: TallyState, moment: Moment) -> tuple[Event, ...]:
        return ()

    def take(self, state: TallyState, request: Count, moment: Moment) -> tuple[tuple[Event, ...], TallyState]:
        count = state.count + request.by
        if count > state.most:
            raise TooMany("pack", "T1", card="")
        after = TallyState(most=state.most, count=count)
        return ((Counted(by=request.by), Filled()) if count == state.most else (Counted(by=request.by),)), after

    def evolve(self, state: TallyState, event: Event, number: int) -> TallyState:
        by = event.by if isinstance(event, Counted) else 0
        return TallyState(most=state.most, count=state.count + by)


class Tally(Aggregate):
    opened: Opened

    OPENING: ClassVar[type[Event]] = Opened
    FACTS: ClassVar[tuple[type[Event], ...]] = (Opened, Counted, Filled)
    SNAPSHOT_AFTER: ClassVar[frozenset[type[Event]]] = frozenset((Counted,))
    REQUEST_OF: ClassVar[Callable[[bytes], Count]] = msgspec.json.Decoder(Count).decode

    @classmethod
    def rules_for(cls, opened: Opened) -> TallyRules:
        return TallyRules()


class Line(Value):
    event: int
    by: int


class Sheet(Value):
    version: int
    total: int
    lines: tuple[Line, ...] = ()


class Totals(Sheets[Sheet]):
    """The projection of counts and their sum."""

    name, key, kind, line = "totals", "totals", Sheet, Line

    @staticmethod
    def after_event(sheet: Sheet | None, recorded: Recorded) -> Sheet:
        before, number, event = sheet or Sheet(version=0, total=0), recorded.originator_version, recorded.event
        if not isinstance(event, Counted):
            return replace(before, version=number)
        lines = (*before.lines, Line(event=number, by=event.by))
        return Sheet(version=number, total=before.total + event.by, lines=lines)


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(KINDS, Opened.TOPIC, Tally)


@pytest.fixture
def tally(desk: Desk) -> UUID:
    """Return a tally that counts to nine."""
    tally_id = uuid4()
    desk.submit(Command(id=tally_id, actor="official", request=Opened(most=9))).result(30)
    return tally_id


def count(desk: Desk, tally: UUID, by: int, **command: Any) -> Outcome:
    return desk.submit(Command(id=tally, actor="scribe", request=Count(by=by), **command)).result(30)


def test_it_is_opened_acted_on_and_read_again(store_url: str, desk: Desk, referee: Referee, tally: UUID) -> None:
    outcome = count(desk, tally, 4)
    assert [one.event for one in outcome.events] == [Counted(by=4)]
    outcome = count(desk, tally, 5)
    assert [one.event for one in outcome.events] == [Counted(by=5), Filled()]
    assert isinstance(outcome.aggregate, Tally)
    assert outcome.aggregate.state == TallyState(most=9, count=9)
    assert outcome.aggregate == referee.load(tally).aggregate == fold(None, referee.history(tally))
    assert [one.actor for one in referee.history(tally)] == ["official", *["scribe"] * 3]
    assert differences(store_url, tally) == ()


def test_a_refused_request_stores_no_row(desk: Desk, referee: Referee, tally: UUID) -> None:
    with pytest.raises(TooMany):
        count(desk, tally, 10)
    assert len(referee.rows(tally)) == 1


def test_a_repeat_gets_the_first_answer(desk: Desk, referee: Referee, tally: UUID) -> None:
    first = count(desk, tally, 4, key="a")
    other = Desk(referee)
    for again in (count(desk, tally, 4, key="a"), count(other, tally, 4, key="a")):
        assert again.repeated
        assert again.events == first.events
    other.close()
    with pytest.raises(KeyReused):
        count(desk, tally, 5, key="a")


def test_a_version_that_has_passed_is_stale(desk: Desk, tally: UUID) -> None:
    count(desk, tally, 4, expected=1)
    with pytest.raises(Stale):
        count(desk, tally, 4, expected=1)


def test_a_desk_counts_the_rows_of_another_process(desk: Desk, referee: Referee, tally: UUID) -> None:
    other = Desk(referee)
    other.get(tally)
    count(desk, tally, 4)  # unknown to the other desk
    assert count(other, tally, 5).aggregate.state.count == 9
    with pytest.raises(TooMany):
        count(desk, tally, 1)
    other.close()


def test_a_snapshot_spares_the_beginning_of_the_history(desk: Desk, referee: Referee, tally: UUID) -> None:
    for _ in range(3):
        count(desk, tally, 2)
    desk.close()
    assert referee.snapshots is not None
    assert referee.snapshots.recorder.select_events(tally)
    assert next(referee._snapshots(tally, None)) == referee.load(tally)
    assert referee.load(tally).aggregate.state.count == 6


def test_a_row_round_trips_and_a_replay_stops_at_the_given_version(desk: Desk, referee: Referee, tally: UUID) -> None:
    count(desk, tally, 4)
    count(desk, tally, 5)
    assert [to_row(from_row(row)).state for row in referee.rows(tally)] == [row.state for row in referee.rows(tally)]
    assert [referee.replay(tally, at).state.count for at in (1, 2, 3)] == [0, 4, 9]


def test_a_book_takes_it_in(desk: Desk, referee: Referee, tally: UUID, store_url: str) -> None:
    count(desk, tally, 4)
    count(desk, tally, 5)
    engine, projection = engine_for(store_url), Totals()
    rebuild(reader(referee), engine, projection)
    with engine.connect() as connection:
        answer = projection.answer(connection, tally)
    engine.dispose()
    assert answer == Sheet(version=4, total=9, lines=(Line(event=2, by=4), Line(event=3, by=5)))


def test_a_match_in_the_same_store_is_a_match(desk: Desk, referee: Referee, tally: UUID) -> None:
    match_id = opened(desk)
    count(desk, tally, 4)
    assert [type(referee.load(one).aggregate) for one in (match_id, tally)] == [Match, Tally]


def test_each_of_many_in_one_transaction_leaves_a_snapshot(desk: Desk, referee: Referee, tally: UUID) -> None:
    counts = [desk.submit(Command(id=tally, actor="key:k3", request=Count(by=1))) for _ in range(8)]
    assert counts[-1].result(30).aggregate.version == 9
    desk.close()
    assert referee.snapshots is not None
    kept = referee.snapshots.recorder.select_events(tally)
    assert [row.originator_version for row in kept] == list(range(2, 10))


class Small(Tally):
    EVENTS_MAX: ClassVar[int] = 4


class TestFull:
    @pytest.fixture(autouse=True)
    def small(self, known: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(KINDS, Opened.TOPIC, Small)

    def test_an_act_that_would_make_it_too_long_is_refused_and_nothing_is_stored(
        self, desk: Desk, referee: Referee, tally: UUID
    ) -> None:
        for key in ("a", "b"):
            count(desk, tally, 1, key=key)
        with pytest.raises(Full) as full:
            count(desk, tally, 7, key="c")  # it would be filled too: two events
        assert full.value.most == 4
        count(desk, tally, 1, key="d")
        with pytest.raises(Full):
            count(desk, tally, 1)
        assert len(referee.rows(tally)) == 4
        assert desk.get(tally).version == 4
        assert referee.replay(tally, 3).state.count == 2

    def test_a_repeat_is_answered_as_ever(self, desk: Desk, referee: Referee, tally: UUID) -> None:
        first = [count(desk, tally, 1, key=f"{place}") for place in range(3)]
        other = Desk(referee)
        for at in (desk, other):
            assert [count(at, tally, 1, key=f"{place}").events for place in range(3)] == [one.events for one in first]
        other.close()

    def test_an_official_may_still_end_what_is_full(self, desk: Desk, tally: UUID) -> None:
        for _ in range(3):
            count(desk, tally, 1)
        end = Command(id=tally, actor="official:2", request=Count(by=6))
        assert desk.submit(end).result(30).aggregate.version == 6
