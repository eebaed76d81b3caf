"""J12: refused attempts are stored, on both stores: bounded, chained, proved, and without delay for other
requests."""

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import pairwise
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest

from api.maintenance.doctor import problems
from api.runtime.projections import Projections
from referee.actors import Actor
from referee.acts import Bid, Deal
from referee.store import attempts as module
from referee.store.attempts import Attempt, AttemptRefused, Attempts
from referee.store.connection import SqliteFile, parse_store_url
from referee.store.desk import Desk
from referee.store.rows import HASH_BEFORE_FIRST, from_row, row_hash
from referee.store.store import Referee, construct
from tests.support.edited_stores import Editor, differences, said
from tests.support.match_driver import NOON
from tests.support.random_matches import opened, send

pytestmark = [pytest.mark.rule("J12")]

SETTLE_SECONDS = 30


def tried(match_id: UUID, place: tuple[int, str], *, actor: Actor = "seat:1", code: str = "out_of_turn") -> Attempt:
    return Attempt(match_id, actor, "bid", code, "B13", NOON, *place)


def settled(attempts: Attempts) -> None:
    done = threading.Event()
    attempts.call_when_written(done.set)
    assert done.wait(SETTLE_SECONDS)


def events_of(referee: Referee, match_id: UUID) -> list[AttemptRefused]:
    """Return the attempts of a match; check that its rows are numbered and chained."""
    rows = referee.attempts_recorder.select_events(match_id)
    prev, events = HASH_BEFORE_FIRST, []
    for number, row in enumerate(rows, 1):
        recorded = from_row(row)
        assert (recorded.originator_version, recorded.prev) == (number, prev)
        assert isinstance(recorded.event, AttemptRefused)
        prev = row_hash(row)
        events.append(recorded.event)
    return events


@pytest.fixture
def store(store_url: str) -> Iterator[tuple[Referee, Desk, UUID]]:
    """Yield a store with a match in which seat 2 bids next."""
    with construct(store_url) as referee, closing(Desk(referee)) as desk:
        match_id = opened(desk, deal_ritual=False)
        send(desk, match_id, Deal(seat=0))
        send(desk, match_id, Bid(seat=1, bid="2"))
        yield referee, desk, match_id


def place_of_match(desk: Desk, match_id: UUID) -> tuple[int, str]:
    place = desk.cached_head(match_id)
    assert place is not None
    return place


def test_it_names_the_event_after_which_it_came(store: tuple[Referee, Desk, UUID]) -> None:
    referee, desk, match_id = store
    (*_, last) = referee.rows(match_id)
    assert desk.cached_head(match_id) == (3, row_hash(last))
    assert desk.cached_head(uuid4()) is None


def test_a_hundred_thousand_attempts(store: tuple[Referee, Desk, UUID], store_url: str) -> None:
    referee, desk, match_id = store
    place, version = place_of_match(desk, match_id), desk.get(match_id).version
    with closing(Attempts(referee.attempts_recorder)) as attempts:
        for number in range(100_000):
            attempts.put(tried(match_id, place, actor=("seat:1", "official")[number % 2]))
            if number % 5000 == 0:
                settled(attempts)
        settled(attempts)
        assert attempts.counts["dropped"] == 0
        kept = events_of(referee, match_id)
    counts = [*range(1, 21), *(20 * 2**power for power in range(1, 12))]
    assert sorted(event.count for event in kept) == sorted(counts * 2)
    assert attempts.counts == {"stored": 62, "counted": 99_938}
    assert desk.get(match_id).version == version == referee.load(match_id).aggregate.version
    assert differences(store_url, match_id) == ()


def test_each_actor_and_each_reason_has_its_own_rows(store: tuple[Referee, Desk, UUID]) -> None:
    referee, desk, match_id = store
    place = place_of_match(desk, match_id)
    with closing(Attempts(referee.attempts_recorder)) as attempts:
        for actor in ("seat:0", "seat:1", "official"):
            for code in ("out_of_turn", "bid_too_low"):
                for _ in range(25):
                    attempts.put(tried(match_id, place, actor=actor, code=code))
    assert [event.count for event in events_of(referee, match_id)] == [*range(1, 21)] * 6, (
        "all was written at its end"
    )


def test_after_a_restart_it_goes_on_counting(store: tuple[Referee, Desk, UUID]) -> None:
    referee, desk, match_id = store
    place = place_of_match(desk, match_id)
    for many in (15, 10, 20):
        with closing(Attempts(referee.attempts_recorder)) as attempts:
            for _ in range(many):
                attempts.put(tried(match_id, place))
    assert [event.count for event in events_of(referee, match_id)] == [*range(1, 21), 40]


def test_two_processes_write_one_stream(store: tuple[Referee, Desk, UUID], store_url: str) -> None:
    """Each process has an old copy of the stream: it reads the other's rows, and no row is written twice."""
    referee, desk, match_id = store
    place = place_of_match(desk, match_id)
    with (
        construct(store_url) as again,
        closing(Attempts(referee.attempts_recorder)) as one,
        closing(Attempts(again.attempts_recorder)) as other,
    ):
        for turn in range(200):
            (one, other)[turn % 2].put(tried(match_id, place))
            if turn % 10 < 2:
                settled((one, other)[turn % 2])
        for attempts in (one, other):
            settled(attempts)
            assert attempts.counts["dropped"] == 0
        kept = [event.count for event in events_of(referee, match_id)]
    assert kept[:20] == list(range(1, 21))
    assert all(later >= 2 * count for count, later in pairwise(kept[19:]))
    assert 80 <= kept[-1] <= 200
    assert differences(store_url, match_id) == ()


def test_attempts_beyond_the_limit_are_dropped_and_counted(
    store: tuple[Referee, Desk, UUID], store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    referee, desk, match_id = store
    place = place_of_match(desk, match_id)
    monkeypatch.setattr(module, "WAITING_MAX", 5)
    with closing(Attempts(referee.attempts_recorder)) as attempts:
        stopped, go_on = threading.Event(), threading.Event()

        def stop() -> None:
            stopped.set()
            go_on.wait(SETTLE_SECONDS)

        attempts.call_when_written(stop)
        assert stopped.wait(SETTLE_SECONDS)
        for _ in range(12):
            attempts.put(tried(match_id, place))
        assert (attempts.waiting, attempts.counts["dropped"]) == (5, 7)
        go_on.set()
        settled(attempts)
    assert len(events_of(referee, match_id)) == 5


@contextmanager
def taking_none(url: str) -> Iterator[None]:
    """Let every insert of an attempt fail."""
    place = parse_store_url(url)
    if isinstance(place, SqliteFile):
        with closing(sqlite3.connect(place.path, timeout=10, isolation_level=None)) as other:
            other.execute("CREATE TRIGGER full BEFORE INSERT ON stored_attempts BEGIN SELECT json('no JSON'); END")
            yield
            other.execute("DROP TRIGGER full")
        return
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("ALTER TABLE referee_attempts ADD CONSTRAINT no_room CHECK (originator_version < 0) NOT VALID")
        yield
        admin.execute("ALTER TABLE referee_attempts DROP CONSTRAINT no_room")


def test_a_store_that_takes_none_fails_no_act(store: tuple[Referee, Desk, UUID], store_url: str) -> None:
    referee, desk, match_id = store
    place = place_of_match(desk, match_id)
    with closing(Attempts(referee.attempts_recorder)) as attempts:
        attempts.put(tried(match_id, place))
        settled(attempts)
        with taking_none(store_url):
            for _ in range(3):
                attempts.put(tried(match_id, place))
            settled(attempts)
            assert attempts.counts == {"stored": 1, "counted": 0, "dropped": 3}
            assert send(desk, match_id, Bid(seat=2, bid="3")).aggregate.version == 4
        attempts.put(tried(match_id, place))
        settled(attempts)
        assert [event.count for event in events_of(referee, match_id)] == [1, 2]


def test_a_lock_on_the_table_of_attempts_does_not_delay_acts(postgres_url: str) -> None:
    with construct(postgres_url) as referee, closing(Desk(referee)) as desk:
        match_id = opened(desk, deal_ritual=False)
        send(desk, match_id, Deal(seat=0))
        with closing(Attempts(referee.attempts_recorder)) as attempts:
            with psycopg.connect(postgres_url) as other:
                other.execute("LOCK TABLE referee_attempts")
                attempts.put(tried(match_id, place_of_match(desk, match_id)))
                for seat, bid in ((1, "2"), (2, "3"), (0, "pass")):
                    send(desk, match_id, Bid(seat=seat, bid=bid))
                assert attempts.counts == {}, "it is not written yet"
            settled(attempts)
        assert sum(attempts.counts.values()) == 1


# Verification


@pytest.fixture
def edited(store: tuple[Referee, Desk, UUID], store_url: str) -> tuple[Editor, UUID]:
    """Return a store with three correct attempts, after events 3, 3 and 4."""
    referee, desk, match_id = store
    with closing(Attempts(referee.attempts_recorder)) as attempts:
        for _ in range(2):
            attempts.put(tried(match_id, place_of_match(desk, match_id)))
        send(desk, match_id, Bid(seat=2, bid="3"))
        attempts.put(tried(match_id, place_of_match(desk, match_id)))
    assert said(store_url)[0] == 0
    return Editor(store_url), match_id


def event(**fields: Any) -> Any:
    def changed(state: bytes) -> bytes:
        row = json.loads(state)
        row["event"] |= fields
        return json.dumps(row, separators=(",", ":")).encode()

    return changed


class TestVerify:
    def names(self, edited: tuple[Editor, UUID], what: str) -> None:
        editor, match_id = edited
        code, lines = said(editor.url)
        assert code == 1
        assert [line for line in lines if line.startswith(f"match {match_id}: ") and what in line], lines

    def test_a_row_changed(self, edited: tuple[Editor, UUID]) -> None:
        editor, match_id = edited
        editor.edit(match_id, 1, event(code="bid_too_low"), "{attempts}")
        self.names(edited, "attempt 2: the chain is broken before it")

    def test_the_last_row_moved_to_another_time(self, edited: tuple[Editor, UUID]) -> None:
        editor, match_id = edited
        editor.edit(match_id, 3, event(version=2), "{attempts}")
        self.names(edited, "event 2: attempt 3 names a hash that is not that of the row")
        editor.edit(match_id, 3, event(version=9), "{attempts}")
        self.names(edited, "attempt 3 names event 9, which does not exist")

    def test_rows_taken_out(self, edited: tuple[Editor, UUID]) -> None:
        editor, match_id = edited
        editor.delete(match_id, 1, 1, "{attempts}")
        self.names(edited, "attempt 2 follows attempt 0: those between are missing")

    def test_an_unreadable_attempt_is_named(self, edited: tuple[Editor, UUID]) -> None:
        editor, match_id = edited
        editor.edit(match_id, 3, lambda state: state[:-1], "{attempts}")
        self.names(edited, "attempt 3 cannot be read")

    def test_a_row_of_another_kind(self, edited: tuple[Editor, UUID]) -> None:
        edited[0].run("UPDATE {attempts} SET topic = 'match/token-ended' WHERE originator_version = 3")
        self.names(edited, "attempt 3")

    def test_attempts_of_no_match(self, edited: tuple[Editor, UUID]) -> None:
        editor, other = edited[0], uuid4()
        editor.run("UPDATE {attempts} SET originator_id = ?", other)
        self.names((editor, other), "attempt 1 names event 3, which does not exist")


def test_books_and_doctor_are_not_disturbed(edited: tuple[Editor, UUID]) -> None:
    editor, _ = edited
    with construct(editor.url) as referee:
        books = Projections(referee, editor.url)
        try:
            assert books.rebuild(*books.by_name) == books.head() == 4, "they are in no log"
        finally:
            books.close()
    found = [
        problem
        for problem in problems({"KNACKA_DATABASE_URL": editor.url})
        if "can be read by all users" not in problem
    ]
    assert found == []
    assert said(editor.url)[0] == 0


def test_a_store_of_before_is_proved_without_them(edited: tuple[Editor, UUID]) -> None:
    editor, match_id = edited
    editor.run("DROP TABLE {attempts}")
    assert said(editor.url)[0] == 0
    with construct(editor.url) as referee:
        assert referee.attempts_recorder.select_events(match_id) == []
