"""A store on SQLite is a file that several may open at once."""

import sqlite3
import threading
from contextlib import closing

from referee.store.acts import SECRET_BYTES
from referee.store.sqlite import SECRET
from referee.store.store import construct


def test_who_makes_a_store_waits_for_who_writes_in_the_file(sqlite_url: str) -> None:
    """As the service does, started where the books lie in the same file already."""
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
