"""Followers on PostgreSQL are notified of other processes' commits; a lost connection loses no event."""

import threading
import time
from collections.abc import Iterator, Sequence

import psycopg
import pytest
from eventsourcing.persistence import StoredEvent
from sqlalchemy import Connection, Engine, text

from api.runtime.projections import log_of
from projections.cases import Cases
from projections.follow.engine import engine_for
from projections.follow.follow import Follower, rebuild
from projections.follow.listen import CHANNEL, Listener
from projections.follow.page import Page
from projections.matches import Matches
from projections.protocols import Protocols
from referee.store.connection import Postgres, parse_store_url
from referee.store.store import Referee, construct
from tests.projections.filled_log import all_books, append, content, last_versions, reader, waited

END_LISTENERS = f"""
    SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity
    WHERE datname = current_database() AND query = 'LISTEN "{CHANNEL}"'
"""


@pytest.fixture
def store_url(postgres_url: str) -> str:
    """Return the URL of a PostgreSQL store: only there are notifications."""
    return postgres_url


@pytest.fixture
def woken(store_url: str) -> Iterator[threading.Semaphore]:
    """Count the times that a listener wakes."""
    place = parse_store_url(store_url)
    assert isinstance(place, Postgres)
    counted = threading.Semaphore(0)
    listener = Listener(place, counted.release)
    assert counted.acquire(timeout=5), "it wakes when it begins to listen"
    assert listener.listening
    yield counted
    started = time.monotonic()
    listener.close()
    assert time.monotonic() - started < 0.5


def end_listeners(store_url: str) -> int:
    with psycopg.connect(store_url, autocommit=True) as admin:
        (count,) = admin.execute(END_LISTENERS).fetchone() or (0,)
    return int(count)


def test_rows_stored_by_another_process_wake_the_listener(
    woken: threading.Semaphore, referee: Referee, rows: Sequence[StoredEvent]
):
    for number in range(3):
        append(referee, rows[number : number + 1])
        assert woken.acquire(timeout=5)
    assert not woken.acquire(timeout=0.02), "and nothing else is"


def test_a_connection_that_was_cut_is_opened_again_and_wakes(
    woken: threading.Semaphore, store_url: str, referee: Referee, rows: Sequence[StoredEvent]
):
    for number in range(2):
        assert end_listeners(store_url) == 1
        assert woken.acquire(timeout=5), "for notifications before it listened"
        append(referee, rows[number : number + 1])
        assert woken.acquire(timeout=5)


def test_a_server_that_is_not_there_is_tried_again_until_the_end():
    listener = Listener(Postgres({"host": "/nowhere", "port": 1}, "public"), lambda: None)
    time.sleep(0.05)
    assert not listener.listening
    listener.close()


def test_followers_lose_nothing_while_their_connections_are_cut(
    referee: Referee, engine: Engine, store_url: str, rows: Sequence[StoredEvent]
):
    # Polling is slow, so an event that arrives in time was notified.
    other = engine_for(store_url)
    followers = [
        Follower(log_of(referee), books, all_books(), poll_seconds=600, listen=store_url) for books in (engine, other)
    ]
    with construct(store_url) as writer:
        for follower in followers:
            follower.start()
        for first in range(0, 300, 50):
            if first % 100:
                end_listeners(store_url)
            append(writer, rows[first : first + 50])
            for match_id, version in last_versions(rows[: first + 50]).items():
                assert all(waited(follower, match_id, version, 10) for follower in followers)
    for follower in followers:
        assert follower.faults == {}
        follower.close()
    other.dispose()


def test_a_connection_to_the_books_that_was_cut_in_the_middle_of_a_page(
    referee: Referee, engine: Engine, rows: Sequence[StoredEvent]
):
    class Cut(Matches):
        """Loses its connection once, in the middle of a page."""

        left = 1

        def apply(self, connection: Connection, page: Page) -> None:
            super().apply(connection, page)
            if self.left:
                self.left = 0
                connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    append(referee, rows)
    books, uncut = (Protocols(), Cases(), Cut()), Matches("book_uncut_")
    follower = Follower(log_of(referee), engine, books, page=200, poll_seconds=600)
    follower.start()
    for match_id, version in last_versions(rows).items():
        assert waited(follower, match_id, version, 10)
    assert follower.faults == {}
    follower.close()
    uncut.key = "uncut"
    rebuild(reader(referee), engine, uncut)
    assert list(content(engine, [books[2]]).values()) == list(content(engine, [uncut]).values())


def test_a_follower_on_sqlite_needs_no_listener(tmp_path: object, rows: Sequence[StoredEvent]):
    url = f"sqlite:///{tmp_path}/knacka.db"
    engine = engine_for(url)
    with construct(url) as referee:
        follower = Follower(log_of(referee), engine, all_books(), poll_seconds=600, listen=url)
        follower.start()
        append(referee, rows[:10])
        follower.wake()
        assert waited(follower, rows[0].originator_id, 1, 5)
        follower.close()
    engine.dispose()
