"""A store on SQLite is a file that several may open at once."""

import sqlite3
import threading

from referee.store.sqlite import SECRET
from referee.store.store import construct


def test_who_opens_a_store_waits_for_who_writes_in_it(sqlite_url: str) -> None:
    """As ``knacka verify`` does beside the service, whose books lie in the same file."""
    with construct(sqlite_url) as referee:
        secret = referee.recorder.select_secret()
    with sqlite3.connect(
        sqlite_url.removeprefix("sqlite:///"), isolation_level=None, check_same_thread=False
    ) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE book_of_another (line TEXT)")
        done = threading.Timer(0.3, other.execute, ["COMMIT"])
        done.start()
        with construct(sqlite_url) as referee:
            assert referee.recorder.select_secret() == secret
        done.join()
        assert other.execute(f"SELECT count(*) FROM {SECRET}").fetchone() == (1,)
    other.close()
