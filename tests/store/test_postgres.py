"""PostgreSQL beyond the library: positions in the order of commits, and several simultaneous starts."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from eventsourcing.persistence import StoredEvent

from referee.store.desk import Desk
from referee.store.store import construct
from tests.support.random_matches import opened

WAITING = "SELECT count(*) FROM pg_locks WHERE NOT granted AND locktype = 'advisory'"
INSERT = "SELECT referee_events_store(%s::uuid[], %s::bigint[], %s::text[], %s::bytea[])"


def row() -> StoredEvent:
    """Return the first row of a match."""
    return StoredEvent(uuid4(), 1, "card/played", b"{}")


def columns(row: StoredEvent) -> tuple[list[Any], ...]:
    """Return the parameters for the database function."""
    return [row.originator_id], [row.originator_version], [row.topic], [row.state]


def test_a_batch_waits_for_the_one_before_so_that_no_position_appears_late(postgres_url: str) -> None:
    """Otherwise a follower that has read position 2 would never see position 1."""
    first, second = row(), row()
    with construct(postgres_url) as referee, ThreadPoolExecutor(1) as thread:
        with psycopg.connect(postgres_url) as slow, psycopg.connect(postgres_url, autocommit=True) as look:
            slow.execute(INSERT, columns(first))
            storing = thread.submit(referee.recorder.insert_events, [second])
            while not storing.done() and look.execute(WAITING).fetchone() == (0,):
                time.sleep(0.001)
            assert list(referee.recorder.select_notifications(None, 10)) == []
        storing.result()
        log = referee.recorder.select_notifications(None, 10)
        assert [row.originator_id for row in log] == [first.originator_id, second.originator_id]


def test_a_batch_does_not_wait_for_ever(postgres_url: str) -> None:
    """An operator can compute the lock's key to find it in ``pg_locks``."""
    construct(postgres_url, POSTGRES_LOCK_TIMEOUT=1).close()
    with psycopg.connect(postgres_url) as holder, psycopg.connect(postgres_url) as waiting:
        holder.execute("SELECT pg_advisory_xact_lock(hashtextextended('public.referee_events', 0))")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            waiting.execute(INSERT, columns(row()))


def test_a_batch_does_not_wait_for_a_vacuum(postgres_url: str) -> None:
    """A running VACUUM locks the table, and one against wraparound does not yield."""
    stored = row()
    with construct(postgres_url) as referee, ThreadPoolExecutor(1) as thread:
        with psycopg.connect(postgres_url) as vacuum:
            vacuum.execute("LOCK TABLE referee_events IN SHARE UPDATE EXCLUSIVE MODE")
            thread.submit(referee.recorder.insert_events, [stored]).result(10)
        (found,) = referee.recorder.select_notifications(None, 10)
        assert found.originator_id == stored.originator_id


def test_a_start_waits_for_the_holder_of_a_table_lock(postgres_url: str) -> None:
    """A VACUUM holds such a lock; the library by default ends idle transactions after five seconds."""
    construct(postgres_url).close()
    with psycopg.connect(postgres_url) as vacuum, ThreadPoolExecutor(1) as thread:
        vacuum.execute("LOCK TABLE referee_events IN SHARE UPDATE EXCLUSIVE MODE")
        starting = thread.submit(construct, postgres_url, POSTGRES_IDLE_IN_TRANSACTION_SESSION_TIMEOUT=1)
        time.sleep(2)
        vacuum.rollback()
        starting.result().close()


def test_events_may_have_a_schema_of_their_own(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute("CREATE SCHEMA club")
    with construct(f"{postgres_url}&schema=club") as referee:
        desk = Desk(referee)
        match_id = opened(desk)
        desk.close()
        assert referee.load(match_id).aggregate.version == 1
    with psycopg.connect(postgres_url) as look:
        assert look.execute("SELECT count(*) FROM club.referee_events").fetchone() == (1,)


def test_several_processes_may_be_started_at_once_on_an_empty_database(postgres_url: str) -> None:
    def start(_: int) -> None:
        construct(postgres_url).close()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(start, range(8)))
