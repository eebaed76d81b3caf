"""One rebuild at a time, over all threads and processes that use the same store."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Engine, text

LOCK = text("SELECT pg_try_advisory_lock(hashtextextended(current_schema() || '.book_places', 0))")


class RebuildRunning(Exception):
    """Another rebuild has not ended."""

    def __init__(self) -> None:
        super().__init__("a rebuild is running: wait until it has ended")


@contextmanager
def only_rebuild(engine: Engine) -> Iterator[None]:
    """Keep all other rebuilds out of this block. Raises :class:`RebuildRunning` if one runs already.

    The lock ends with its process, or with its connection, whatever happens to them.
    """
    if engine.dialect.name == "postgresql":
        yield from _by_session(engine)
    else:
        yield from _by_file(engine)


def _by_session(engine: Engine) -> Iterator[None]:
    with engine.connect() as connection:
        connection.detach()  # closing it then ends the session, and the lock with it
        held = connection.scalar(LOCK)
        connection.commit()
        if not held:
            raise RebuildRunning
        yield


def _by_file(engine: Engine) -> Iterator[None]:
    # A file of its own: SQLite loses its locks if its file is closed elsewhere in the process.
    with open(f"{engine.url.database}.rebuild", "ab") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RebuildRunning from None
        yield
