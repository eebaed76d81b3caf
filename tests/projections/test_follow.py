"""Each event counts once in each projection, despite crashes, errors, repeats and concurrency."""

import random
import threading
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Self
from uuid import UUID, uuid4

import pytest
from eventsourcing.persistence import StoredEvent
from sqlalchemy import Column, Connection, Engine, Integer, MetaData, Table, insert, text, update

from api.runtime.projections import log_of
from projections.cases import Cases
from projections.follow.follow import Follower, Projection, engine_for, prepare
from projections.follow.page import Page, Row, topics
from projections.follow.projection import LIVE
from projections.matches import Matches
from projections.pots import Pots
from projections.protocols import Protocol, Protocols
from referee.events import CardPlayed, TrickTaken
from referee.store.desk import Desk
from referee.store.store import Referee, construct
from referee.visibility import Recorded
from tests.projections.filled_log import Said, all_books, append, content, head, last_versions, reader, waited
from tests.projections.follower_driver import SOON, at_the_head, following, until
from tests.support.random_matches import opened, play_out


def part(page: Page, first: int, last: int) -> Page:
    return Page(page.rows[first:last], page.decode)


class Tally:
    """A projection that counts, so that an event applied twice shows."""

    name = key = "tally"
    takes = None

    def __init__(self, prefix: str = LIVE) -> None:
        self.metadata = MetaData()
        self.table = Table(f"{prefix}tally", self.metadata, Column("events", Integer))

    def with_prefix(self, prefix: str) -> Self:
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Page) -> None:
        if connection.execute(update(self.table).values(events=self.table.c.events + len(page))).rowcount == 0:
            connection.execute(insert(self.table).values(events=len(page)))

    def version(self, connection: Connection, match_id: UUID) -> int:
        return 1_000_000


class TestFollowing:
    """A follower starts at each projection's position, and continues after the end of the log."""

    def test_books_follow_what_is_played(self, referee: Referee, engine: Engine):
        books: tuple[Projection, ...] = all_books()
        seen: list[Row] = []
        with following(referee, engine, books, seen=lambda page: seen.extend(page.rows)) as follower:
            desk = Desk(referee, committed=lambda recorded: follower.wake())
            try:
                match_id = opened(desk, deal_ritual=False)
                for outcome in play_out(desk, match_id, 60):
                    version = outcome.aggregate.version
                    assert waited(follower, match_id, version, SOON)
                    with engine.connect() as connection:
                        assert [projection.version(connection, match_id) for projection in books] == [version] * len(
                            books
                        )
            finally:
                desk.close()
            assert set(follower.positions().values()) == {head(referee)}
            assert follower.lag(head(referee)) == 0
            assert follower.lag(head(referee) + 5) == 5
            assert follower.faults == {}
        assert seen == reader(referee)(0, 1000).rows, "each event once and in order"

    @pytest.mark.parametrize("seed", range(3))
    def test_stopped_anywhere_it_goes_on_from_there(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said, seed: int
    ):
        chance, books = random.Random(seed), all_books()
        stops = sorted(chance.sample(range(len(rows)), 4))
        for first, last in zip([0, *stops], [*stops, len(rows)], strict=True):
            append(referee, rows[first:last])
            with following(referee, engine, books, page=chance.choice([10, 30, 100])) as follower:
                if chance.random() < 0.5:
                    at_the_head(follower, referee)  # else it is stopped in the middle
        with following(referee, engine, books) as follower:
            at_the_head(follower, referee)
        assert content(engine, books) == whole

    def test_closed_it_takes_in_what_was_stored_last(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        append(referee, rows[:-1])
        books = all_books()
        with following(referee, engine, books, rest_seconds=60) as follower:
            at_the_head(follower, referee)
            append(referee, rows[-1:])
        assert follower.lag(head(referee)) == 0
        assert content(engine, books) == whole

    def test_a_page_that_comes_again_changes_nothing(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        append(referee, rows)
        page = reader(referee)(0, 100_000)
        for projection in (books := all_books()):
            prepare(engine, [projection])
            for first in (0, 0, 300, 100, 500, 0):
                with engine.begin() as connection:
                    projection.apply(connection, part(page, first, first + 700))
            with engine.begin() as connection:
                projection.apply(connection, page)
        assert content(engine, books) == whole

    def test_a_book_never_skips_an_event(self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]):
        append(referee, rows)
        page = reader(referee)(0, 400)
        for projection in all_books():
            prepare(engine, [projection])
            with pytest.raises(AssertionError, match="is missing"), engine.begin() as connection:
                projection.apply(connection, Page([*page.rows[:100], *page.rows[150:]], page.decode))
            with engine.begin() as connection:
                projection.apply(connection, part(page, 0, 100))
            with pytest.raises(AssertionError, match="is missing"), engine.begin() as connection:
                projection.apply(connection, part(page, 150, 400))

    def test_two_followers_of_one_log_apply_each_event_once(
        self, referee: Referee, store_url: str, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        other = engine_for(store_url)
        one_side, other_side = (*all_books(), Tally()), (*all_books(), Tally())
        seen: tuple[list[Page], list[Page]] = [], []
        with (
            following(referee, engine, one_side, page=17, poll_seconds=0.01, seen=seen[0].append) as one,
            following(referee, other, other_side, page=40, poll_seconds=0.01, seen=seen[1].append) as two,
        ):
            append(referee, rows)
            at_the_head(one, referee)
            at_the_head(two, referee)
            for match_id, version in last_versions(rows).items():
                assert waited(one, match_id, version, SOON)
                assert waited(two, match_id, version, SOON)
            assert (one.faults, two.faults) == ({}, {})
        assert [sum(map(len, one)) for one in seen] == [len(rows), len(rows)]
        assert content(engine, one_side) == {**whole, "book_tally": [(len(rows),)]}
        other.dispose()

    def test_a_book_that_was_added_later_starts_at_the_first_event(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        append(referee, rows)
        with following(referee, engine, [Protocols()]) as follower:
            at_the_head(follower, referee)
        books = all_books()
        with following(referee, engine, books, page=100) as follower:
            at_the_head(follower, referee)
        assert content(engine, books) == whole

    def test_a_book_of_another_shape_fills_beside_the_one_of_an_earlier_process(
        self, referee: Referee, engine: Engine, store_url: str, rows: Sequence[StoredEvent], whole: Said
    ):
        """A common position would make each skip the rows that the other has applied."""

        class Earlier(Cases):
            key = "cases_earlier"

        other, before = engine_for(store_url), (Protocols(), Earlier(), Matches(), Pots())
        append(referee, rows[:400])
        with following(referee, other, before, page=17, poll_seconds=0.01) as earlier:
            at_the_head(earlier, referee)
            with following(referee, engine, all_books(), page=40, poll_seconds=0.01) as later:
                append(referee, rows[400:])
                at_the_head(earlier, referee)
                at_the_head(later, referee)
        assert content(engine, all_books()) == whole
        assert list(content(other, before).values()) == list(whole.values())
        other.dispose()

    def test_a_projection_whose_tables_were_dropped_is_rebuilt(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        append(referee, rows)
        books = all_books()
        for _ in range(2):
            with following(referee, engine, books) as follower:
                at_the_head(follower, referee)
            assert content(engine, books) == whole
            with engine.begin() as connection:
                connection.execute(text("DROP TABLE book_cases_4_entries"))

    def test_projections_that_are_ahead_of_a_restored_log_are_rebuilt(
        self, store_url: str, engine: Engine, rows: Sequence[StoredEvent], caplog: pytest.LogCaptureFixture
    ):
        books = all_books()
        with construct(store_url) as referee:
            append(referee, rows)
            with following(referee, engine, books) as follower:
                at_the_head(follower, referee)
            table = "stored_events" if store_url.startswith("sqlite") else "referee_events"
            place = "rowid" if table == "stored_events" else "notification_id"
            with referee.recorder.datastore.transaction(commit=True) as cursor:
                cursor.execute(f"DELETE FROM {table} WHERE {place} > 100")
            with following(referee, engine, books) as follower:
                until(lambda: set(follower.positions().values()) == {100})
        assert "starts again" in caplog.text
        with engine.connect() as connection:
            for match_id, version in last_versions(rows[:100]).items():
                assert [projection.version(connection, match_id) for projection in books] == [version] * len(books)


class TestTaking:
    """A projection applies the events it uses, and still knows its position."""

    def test_rows_that_no_projection_uses_are_not_decoded(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
    ):
        append(referee, rows)
        page, met = reader(referee)(0, 100_000), []

        def decode(match_id: UUID, number: int, topic: str, state: bytes) -> Recorded:
            met.append((match_id, number, topic))
            return page.decode(match_id, number, topic, state)

        watched = Page(page.rows, decode)
        books = Protocols(), Pots(), Cases()
        prepare(engine, books)
        with engine.begin() as connection:
            for projection in books:
                projection.apply(connection, watched)
                for match_id, version in last_versions(rows).items():
                    assert projection.version(connection, match_id) == version
        assert len(met) == len(set(met)), "nothing is decoded twice"
        taken = Protocols.takes | Pots.takes | Cases.takes
        assert {topic for *_, topic in met} == taken & {row.topic for row in rows}
        assert not taken & topics(CardPlayed, TrickTaken)
        assert len(met) < len(rows) / 2

    @pytest.mark.parametrize("size", [3, 100_000])
    def test_aggregates_of_another_kind_are_passed_over(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said, size: int
    ):
        """The clubs' events are between those of matches, and may be undecodable here."""
        append(referee, rows)
        page, club = reader(referee)(0, 100_000), uuid4()
        mixed: list[Row] = []
        for row in page.rows:
            mixed.append((len(mixed) + 1, *row[1:]))
            if len(mixed) % 5 == 0:
                number = len(mixed) // 5
                topic = "club/founded" if number == 1 else "club/joined"
                mixed.append((len(mixed) + 1, str(club), number, topic, b"?"))

        class Members(Protocols):
            """A sheet for each club, and none for a match."""

            key = "members"
            takes = frozenset({"club/founded", "club/joined"})
            after_event = staticmethod(lambda sheet, recorded: sheet or of_club(recorded))

        def of_club(recorded: Recorded) -> Protocol:
            club, version = str(recorded.originator_id), recorded.originator_version
            return Protocol(
                match=club, version=version, ruleset="", players=(), opening=(), taken_over=False, points=()
            )

        def decode(aggregate: UUID, number: int, topic: str, state: bytes) -> Recorded:
            if aggregate != club:
                return page.decode(aggregate, number, topic, state)
            return Recorded(aggregate, number, datetime.now(UTC), 0, "", "", "", CardPlayed(seat=0, card="SA"))

        books, members = all_books(), Members()
        prepare(engine, [*books, members])
        with engine.begin() as connection:
            for first in range(0, len(mixed), size):
                for projection in (*books, members):
                    projection.apply(connection, Page(mixed[first : first + size], decode))
            assert members.version(connection, club) == len(mixed) // 5
            assert [projection.version(connection, club) for projection in books] == [0] * len(books)
            assert all(members.version(connection, match_id) == 0 for match_id in last_versions(rows))
        assert content(engine, books) == whole

    def test_a_reader_waits_only_for_the_requested_projection(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
    ):
        class Stuck(Cases):
            def apply(self, connection: Connection, page: Page) -> None:
                raise OSError("the ink ran out")

        append(referee, rows)
        match_id, version = next(iter(last_versions(rows).items()))
        protocols, stuck = Protocols(), Stuck()
        for _ in range(2):  # the second time nothing of the match is read
            with following(referee, engine, [protocols, stuck]) as follower:
                assert waited(follower, match_id, version, SOON, protocols)
                assert not waited(follower, match_id, version, 0.01, stuck)
                assert not waited(follower, match_id, version, 0.01)
                until(lambda: follower.lag(head(referee), protocols) == 0)
                assert follower.lag(head(referee)) == follower.lag(head(referee), stuck) == head(referee)


class TestWaiting:
    """A client reads its own writes."""

    def test_it_ends_as_soon_as_the_event_is_in_the_books(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
    ):
        with following(referee, engine, all_books()) as follower:
            match_id = rows[0].originator_id
            moments: list[float] = []

            def wait() -> None:
                assert waited(follower, match_id, 1, SOON)
                moments.append(time.monotonic())

            waiting = threading.Thread(target=wait)
            waiting.start()
            time.sleep(0.05)
            append(referee, rows[:1])
            stored = time.monotonic()
            follower.wake()
            waiting.join()
            assert moments[0] - stored < 0.5
            assert not waited(follower, match_id, 2, 0)
            assert not waited(follower, match_id, 2, 0.01)
            assert not waited(follower, uuid4(), 1, 0.01)

    def test_without_a_waking_the_event_is_found_at_the_next_look(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
    ):
        with following(referee, engine, all_books(), poll_seconds=0.05) as follower:
            time.sleep(0.02)
            append(referee, rows[:10])
            assert waited(follower, rows[0].originator_id, 1, 1)

    def test_events_applied_before_the_start_are_known(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
    ):
        append(referee, rows)
        with following(referee, engine, all_books()) as follower:
            at_the_head(follower, referee)
        with following(referee, engine, all_books()) as follower:
            for match_id, version in last_versions(rows).items():
                assert waited(follower, match_id, version, 0)
                assert not waited(follower, match_id, version + 1, 0)

    def test_waiting_callers_get_their_answers_at_the_end(self, referee: Referee, engine: Engine):
        answers: list[bool] = []
        with following(referee, engine, all_books()) as follower:
            waiting = threading.Thread(target=lambda: answers.append(waited(follower, uuid4(), 1, SOON)))
            waiting.start()
            time.sleep(0.05)
        waiting.join(1)
        assert answers == [False]

    def test_a_follower_that_never_started_can_be_closed(self, referee: Referee, engine: Engine):
        Follower(log_of(referee), engine, all_books()).close()


class TestFailing:
    """A failure is reported and retried later; the others continue."""

    def test_a_book_that_fails_is_tried_again_and_loses_nothing(
        self,
        referee: Referee,
        engine: Engine,
        rows: Sequence[StoredEvent],
        whole: Said,
        caplog: pytest.LogCaptureFixture,
    ):
        class Clumsy(Cases):
            """Fails twice, when it has already written."""

            left = 2

            def apply(self, connection: Connection, page: Page) -> None:
                super().apply(connection, page)
                if page.position > 300 and self.left:
                    self.left -= 1
                    raise OSError("the ink ran out")

        append(referee, rows)
        books = (Protocols(), Clumsy(), Matches(), Pots())
        with following(referee, engine, books, page=100) as follower:
            until(lambda: "cases" in follower.faults)
            fault = follower.faults["cases"]
            assert (fault.position, fault.error) == (300, "OSError: the ink ran out")
            until(lambda: follower.positions()["protocols"] == head(referee))
            at_the_head(follower, referee)
            assert follower.faults == {}
            assert follower.alive
        assert content(engine, books) == whole
        assert "cases: failed after position 300 (1): OSError: the ink ran out" in caplog.text

    def test_a_log_that_cannot_be_read_for_a_while(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        append(referee, rows)
        read, calls = reader(referee), iter(range(10_000))

        def sometimes(after: int, limit: int) -> Page:
            if next(calls) in (1, 4):
                raise ConnectionError("no answer")
            return read(after, limit)

        books = all_books()
        follower = Follower(log_of(referee)._replace(read=sometimes), engine, books, page=400, poll_seconds=60)
        follower.start()
        until(lambda: "read" in follower.faults)
        at_the_head(follower, referee)
        assert follower.faults == {}
        follower.close()
        assert content(engine, books) == whole

    def test_while_the_log_cannot_be_read_a_failing_projection_is_not_retried_without_pause(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
    ):
        class Failing(Cases):
            def apply(self, connection: Connection, page: Page) -> None:
                raise OSError("the ink ran out")

        def unless_lost(after: int, limit: int) -> Page:
            if lost.is_set():
                raise ConnectionError("no answer")
            return reader(referee)(after, limit)

        append(referee, rows)
        lost = threading.Event()
        follower = Follower(log_of(referee)._replace(read=unless_lost), engine, (Failing(),), poll_seconds=60)
        follower.start()
        until(lambda: "cases" in follower.faults)
        lost.set()
        until(lambda: follower.faults["read"].times >= 4 if "read" in follower.faults else False)
        assert follower._retry_at["cases"] < time.monotonic() < follower._retry_at["read"]
        assert follower._seconds_to_next_task() > 0
        follower.close()

    def test_a_listener_that_fails_keeps_no_one_from_reading(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], whole: Said
    ):
        def deaf(page: Page) -> None:
            raise ValueError("what?")

        books = all_books()
        with following(referee, engine, books, seen=deaf) as follower:
            append(referee, rows)
            follower.wake()
            at_the_head(follower, referee)
            assert follower.faults["seen"].error == "ValueError: what?"
        assert content(engine, books) == whole
