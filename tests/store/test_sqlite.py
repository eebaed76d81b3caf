"""A store on SQLite is a file that several may open at once."""

import resource
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from uuid import UUID

import pytest
from eventsourcing.persistence import InterfaceError, StoredEvent
from eventsourcing.sqlite import SQLiteApplicationRecorder

from referee.store.acts import SECRET_BYTES
from referee.store.sqlite import SECRET
from referee.store.store import construct


def test_creating_a_store_waits_for_another_writer_of_the_file(sqlite_url: str) -> None:
    """The service may start on a file that has the projections already."""
    with closing(
        sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False)
    ) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE book_of_another (line TEXT)")
        done = threading.Timer(0.3, other.execute, ["COMMIT"])
        done.start()
        with construct(sqlite_url) as referee:
            assert len(referee.recorder.select_secret()) == SECRET_BYTES
        done.join()
        assert other.execute(f"SELECT count(*) FROM {SECRET}").fetchone() == (1,)


@contextmanager
def no_file_can_be_opened() -> Iterator[None]:
    """Let this process open no further file."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_writer_that_gets_no_connection_keeps_no_other_waiting(sqlite_url: str) -> None:
    """The turn to write ends with the attempt: when files can be opened again, the next writer writes."""
    row = StoredEvent(UUID(int=1), 1, "topic", b"{}")
    with construct(sqlite_url) as referee:
        recorder = referee.recorder
        assert isinstance(recorder, SQLiteApplicationRecorder)
        with ExitStack() as readers:
            for _ in range(recorder.datastore.pool.num_in_pool):
                readers.enter_context(recorder.datastore.get_connection(commit=False))
            with no_file_can_be_opened(), pytest.raises(InterfaceError, match="unable to open"):
                recorder.insert_events([row])
        recorder.insert_events([row])
        assert recorder.select_events(row.originator_id) == [row]
