"""A row that cannot be applied stops one match only; a different log is not mixed with the present one."""

import os
import time
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest
from eventsourcing.persistence import StoredEvent
from sqlalchemy import Connection, Engine, text

from api import cli
from api.runtime.projections import log_of
from projections.cases import Cases
from projections.follow import follow
from projections.follow.engine import engine_for_writes
from projections.follow.follow import Follower, Projection, engine_for, rebuild
from projections.follow.page import Page
from projections.matches import Matches
from projections.pots import Pots
from projections.protocols import Protocols
from referee.events import DealScored
from referee.store.store import Referee, construct
from tests.projections.damaged_rows import BROKEN, broken, change
from tests.projections.filled_log import Said, all_books, append, content, head, last_versions, reader, waited
from tests.projections.follower_driver import SOON, at_the_head, following, until

SOON_AGAIN = 0.02


@pytest.fixture
def place(rows: Sequence[StoredEvent]) -> int:
    """Return the position of a row that all projections use, with later rows of its match."""
    last = last_versions(rows)
    return next(
        position
        for position, row in enumerate(rows, 1)
        if row.topic == DealScored.TOPIC and position > 200 and last[row.originator_id] > row.originator_version + 10
    )


def without(said: Said, match_id: UUID) -> Said:
    return {table: [row for row in found if match_id not in row] for table, found in said.items()}


def versions(engine: Engine, books: Sequence[Projection], match_id: UUID) -> list[int]:
    with engine.connect() as connection:
        return [projection.version(connection, match_id) for projection in books]


@pytest.mark.parametrize("how", BROKEN)
def test_a_damaged_row_stops_one_match_until_it_is_repaired(
    referee: Referee,
    engine: Engine,
    rows: Sequence[StoredEvent],
    whole: Said,
    place: int,
    how: str,
    caplog: pytest.LogCaptureFixture,
):
    append(referee, rows)
    books, row = all_books(), rows[place - 1]
    match_id, number, last = row.originator_id, row.originator_version, last_versions(rows)[row.originator_id]
    with broken(referee, how, row, place):
        with following(referee, engine, books, page=150, again_seconds=SOON_AGAIN) as follower:
            at_the_head(follower, referee)
            until(lambda: len(follower.matches_set_aside()) == len(books))
            assert {(one.match, one.event) for one in follower.matches_set_aside()} == {(match_id, number)}
            assert {one.projection for one in follower.matches_set_aside()} == {
                projection.name for projection in books
            }
            assert follower.faults == {}
            begun = time.monotonic()
            assert not any(waited(follower, match_id, last, 10 * SOON, projection) for projection in books)
            assert time.monotonic() - begun < SOON, "no request waits for it"
            for other, version in last_versions(rows).items():
                assert other == match_id or waited(follower, other, version, SOON)
        assert without(content(engine, books), match_id) == without(whole, match_id)
        assert versions(engine, books, match_id) == [number - 1] * len(books)
        assert f"protocols: match {match_id} is set aside at event {number}" in caplog.text
    with following(referee, engine, books, again_seconds=60) as follower:  # after a restart, too
        until(lambda: follower.matches_set_aside() == ())
        assert waited(follower, match_id, last, SOON)
    assert content(engine, books) == whole


def test_a_repaired_row_is_applied_while_the_log_is_followed(
    referee: Referee, engine: Engine, store_url: str, rows: Sequence[StoredEvent], whole: Said, place: int
):
    other = engine_for(store_url)
    books, row = all_books(), rows[place - 1]
    append(referee, rows[:-50])
    quickly: dict[str, Any] = {"page": 90, "poll_seconds": 0.01, "again_seconds": SOON_AGAIN}
    with broken(referee, "gone", row, place):
        one, two = (Follower(log_of(referee), each, all_books(), **quickly) for each in (engine, other))
        for follower in (one, two):
            follower.start()
        for follower in (one, two):
            at_the_head(follower, referee)
            until(lambda follower=follower: len(follower.matches_set_aside()) == len(books))
        assert sorted(one.matches_set_aside(), key=repr) == sorted(two.matches_set_aside(), key=repr), "of one table"
        append(referee, rows[-50:])
        at_the_head(one, referee)
    for follower in (one, two):
        until(lambda follower=follower: follower.matches_set_aside() == ())
        assert follower.faults == {}
        follower.close()
    assert content(engine, books) == whole
    other.dispose()


def test_a_match_that_a_book_itself_cannot_take(
    referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said, place: int
):
    """The error does not say which match it was."""
    row = rows[place - 1]

    class Picky(Cases):
        ill = True

        def apply(self, connection: Connection, page: Page) -> None:
            super().apply(connection, page)
            if self.ill and any(one[0] == place for one in page.rows):
                raise ValueError("I do not like it")

    append(referee, rows)
    picky = Picky()
    books = Protocols(), picky, Matches(), Pots()
    with following(referee, engine, books, again_seconds=SOON_AGAIN) as follower:
        at_the_head(follower, referee)
        [aside] = follower.matches_set_aside()
        assert (aside.projection, aside.match, aside.event) == ("cases", row.originator_id, row.originator_version)
        assert aside.error == "ValueError: I do not like it"
        picky.ill = False
        follower.wake()
        until(lambda: follower.matches_set_aside() == ())
    assert content(engine, books) == whole


def test_a_database_that_fails_is_no_bad_row(referee: Referee, engine: Engine, rows: Sequence[StoredEvent]):
    books = all_books()
    with following(referee, engine, books) as follower:
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE book_cases_4_entries RENAME TO entries_lost"))
        append(referee, rows)
        follower.wake()
        until(lambda: "cases" in follower.faults)
        assert follower.matches_set_aside() == ()
        with engine.begin() as connection:
            connection.execute(text("ALTER TABLE entries_lost RENAME TO book_cases_4_entries"))
        at_the_head(follower, referee)
        until(lambda: follower.faults == {})


def test_a_rebuild_gets_past_a_bad_row_and_says_so(
    referee: Referee,
    engine: Engine,
    store_url: str,
    rows: Sequence[StoredEvent],
    whole: Said,
    place: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    append(referee, rows)
    row = rows[place - 1]
    books = all_books()
    monkeypatch.setattr(os, "environ", {"KNACKA_DATABASE_URL": store_url})
    with broken(referee, "undecodable", row, place):
        assert rebuild(reader(referee), engine, *books, page=300) == head(referee)
        assert without(content(engine, books), row.originator_id) == without(whole, row.originator_id)
        assert cli.main(["rebuild"]) == 1
        said = capsys.readouterr()
        assert f"rebuilt to position {head(referee)}" in said.out
        for projection in books:
            assert (
                f"{projection.name}: match {row.originator_id} is set aside at event {row.originator_version}"
                in said.err
            )
    assert cli.main(["rebuild"]) == 0
    assert content(engine, books) == whole
    with engine.connect() as connection:
        assert connection.scalar(text("SELECT count(*) FROM book_aside")) == 0


def test_a_listener_that_fails_at_one_match_hears_of_the_others(
    referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
):
    heard: set[UUID] = set()
    deaf_to = rows[0].originator_id

    def listen(page: Page) -> None:
        if deaf_to in page.histories:
            raise ValueError("what?")
        heard.update(page.histories)

    with following(referee, engine, all_books(), seen=listen) as follower:
        append(referee, rows)
        follower.wake()
        at_the_head(follower, referee)
        assert follower.faults["seen"].error == "ValueError: what?"
    assert heard == last_versions(rows).keys() - {deaf_to}


def test_a_row_of_no_one_keeps_no_one_waiting(
    sqlite_url: str, rows: Sequence[StoredEvent], place: int, caplog: pytest.LogCaptureFixture
):
    """PostgreSQL accepts only ids in an id column."""
    row, books, engine = rows[place - 1], all_books(), engine_for(sqlite_url)
    with construct(sqlite_url) as referee:
        append(referee, rows)
        change(referee, f"UPDATE {{table}} SET originator_id = 'nobody' WHERE {{place}} = {place}")
        with following(referee, engine, books) as follower:
            at_the_head(follower, referee)
            until(lambda: follower.faults == {})
            assert {aside.match for aside in follower.matches_set_aside()} == {row.originator_id}
    assert f"position {place}: 'nobody' is no id" in caplog.text
    engine.dispose()


def test_a_row_that_is_no_text_keeps_no_one_waiting(
    sqlite_url: str, rows: Sequence[StoredEvent], place: int, whole: Said
):
    """PostgreSQL takes no such text."""
    books, engine = all_books(), engine_for(sqlite_url)
    with construct(sqlite_url) as referee:
        append(referee, rows)
        change(referee, f"UPDATE {{table}} SET topic = CAST(X'FF' AS TEXT) WHERE {{place}} = {place}")
        with following(referee, engine, books) as follower:
            at_the_head(follower, referee)
    match_id = rows[place - 1].originator_id
    assert without(content(engine, books), match_id) == without(whole, match_id)
    engine.dispose()


def test_projections_of_another_history_are_rebuilt(
    referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said, caplog: pytest.LogCaptureFixture
):
    """A failed restore: the log is longer than the projections' positions, with different events there."""
    other = sorted(rows, key=lambda row: (str(row.originator_id), row.originator_version))
    assert other[599] != rows[599]
    books = all_books()
    append(referee, rows[:600])
    with following(referee, engine, books) as follower:
        at_the_head(follower, referee)
    if "postgres" in type(referee.recorder).__module__:
        change(referee, "TRUNCATE {table} RESTART IDENTITY")
    else:
        change(referee, "DELETE FROM {table}")
    append(referee, other)
    with following(referee, engine, books) as follower:
        at_the_head(follower, referee)
        assert (follower.faults, follower.matches_set_aside()) == ({}, ())
    assert content(engine, books) == whole
    assert [record.message.count("starts again") for record in caplog.records].count(1) == len(books)
    caplog.clear()
    with following(referee, engine, books) as follower:
        at_the_head(follower, referee)
    assert "starts again" not in caplog.text


def test_a_log_that_becomes_shorter_while_it_is_followed(
    referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
):
    books = all_books()
    append(referee, rows)
    with following(referee, engine, books, poll_seconds=0.01, again_seconds=SOON_AGAIN) as follower:
        at_the_head(follower, referee)
        change(referee, "DELETE FROM {table} WHERE {place} > 100")
        until(lambda: set(follower.positions().values()) == {100})
        for match_id, version in last_versions(rows[:100]).items():
            assert versions(engine, books, match_id) == [version] * len(books)


class TestStandingStill:
    """A failure that lasts is reported, and no reader waits for it."""

    @pytest.fixture(autouse=True)
    def soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(follow, "STILL_SECONDS", 0.05)

    def test_a_book_that_fails(self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]):
        class Stuck(Cases):
            def apply(self, connection: Connection, page: Page) -> None:
                raise OSError("the ink ran out")

        append(referee, rows)
        match_id, version = next(iter(last_versions(rows).items()))
        books = protocols, stuck = Protocols(), Stuck()
        with following(referee, engine, books) as follower:
            assert waited(follower, match_id, version, SOON, protocols)
            until(lambda: follower.standing_still().keys() == {"cases"})
            assert follower.standing_still()["cases"].error == "OSError: the ink ran out"
            begun = time.monotonic()
            assert not waited(follower, match_id, version, 10 * SOON, stuck)
            assert time.monotonic() - begun < SOON

    def test_a_database_that_does_not_answer(self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]):
        books = all_books()
        with following(referee, engine, books, poll_seconds=0.01) as follower:
            assert waited(follower, rows[0].originator_id, 0, SOON)
            with engine_for_writes(engine).begin() as connection:
                if connection.dialect.name == "postgresql":
                    connection.execute(text("LOCK TABLE book_places IN EXCLUSIVE MODE"))
                append(referee, rows)
                until(lambda: follower.standing_still().keys() == {projection.name for projection in books})
                assert {fault.how for fault in follower.standing_still().values()} == {"unanswered"}
                assert follower.faults == {}
            until(lambda: follower.standing_still() == {})
            at_the_head(follower, referee)

    def test_a_follower_that_has_ended(self, referee: Referee, engine: Engine):
        with following(referee, engine, all_books()) as follower:
            assert follower.standing_still() == {}
        assert {fault.how for fault in follower.standing_still().values()} == {"ended"}


class TestCatchingUp:
    """A follower that is far behind uses the pages of a rebuild, and reports its lag."""

    @pytest.fixture
    def limits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(follow, "PAGE", 50)
        monkeypatch.setattr(follow, "REBUILD_PAGE", 400)

    def test_it_takes_large_pages_and_reads_each_once_for_all_books(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said, limits: None
    ):
        append(referee, rows[:30])
        with following(referee, engine, [Protocols()]) as follower:  # this one is a little ahead
            at_the_head(follower, referee)
        append(referee, rows[30:])
        log, reads = log_of(referee), list[tuple[int, int]]()

        def counted(after: int, limit: int) -> Page:
            reads.append((after, limit))
            return log.read(after, limit)

        books = all_books()
        follower = Follower(log._replace(read=counted), engine, books)
        follower.start()
        at_the_head(follower, referee)
        follower.close()
        turns = [(after, limit) for after, limit in reads if after < len(rows) and limit > 1]
        assert turns == [(0, 50), *((after, 400) for after in range(50, len(rows), 400))]
        assert content(engine, books) == whole

    def test_no_one_waits_for_a_book_that_is_far_behind_and_it_says_about_how_long(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(follow, "PACE", 5.0)  # a second, as if that had been measured
        log, held = log_of(referee), list[bool]()

        def never(after: int, limit: int) -> Page:
            held.append(True)
            return Page([], log.read(0, 1).decode)

        append(referee, rows[:500])
        match_id, version = next(iter(last_versions(rows[:500]).items()))
        protocols = Protocols()
        follower = Follower(log._replace(read=never), engine, [protocols], poll_seconds=0.01)
        follower.start()
        until(lambda: len(held) > 2)
        assert follower.seconds_behind(protocols) == 100
        begun = time.monotonic()
        assert not waited(follower, match_id, version, 60, protocols)
        assert time.monotonic() - begun < SOON
        follower.close()

    def test_a_pace_is_measured(self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]):
        append(referee, rows)
        with following(referee, engine, all_books(), page=100) as follower:
            at_the_head(follower, referee)
            assert follower.seconds_behind(follower.projections[0]) == 0
            assert follower._pace != follow.PACE
