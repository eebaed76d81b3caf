"""Locks across all processes of a store: for rebuilding projections and for following the log.

A lock ends at the latest with its process or connection. On SQLite each has a file.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import DBAPIError

REBUILD, FOLLOW = "rebuild", "follow"
KEY = "hashtextextended(current_schema() || '.book_places.' || {}, 0)"
TRY = text(f"SELECT pg_try_advisory_lock({KEY.format(':lock')})")
RELEASE = text(f"SELECT pg_advisory_unlock({KEY.format(':lock')})")


class RebuildRunning(Exception):
    def __init__(self) -> None:
        super().__init__("a rebuild is running: wait until it has ended")


@contextmanager
def only_rebuild(engine: Engine) -> Iterator[None]:
    """Exclude other rebuilds during this block. Raises :class:`RebuildRunning` if one is running."""
    if engine.dialect.name == "postgresql":
        with engine.connect() as connection:
            connection.detach()  # so that the lock ends even if releasing it fails
            if not _try_lock(connection, REBUILD):
                raise RebuildRunning
            try:
                yield
            finally:
                with suppress(DBAPIError):  # released here, because PostgreSQL ends a closed session a little later
                    connection.execute(RELEASE, {"lock": REBUILD})
    else:
        with _open_file(Path(str(engine.url.database)), REBUILD) as file:
            if not _try_file(file):
                raise RebuildRunning
            yield


def hold_follow(database: Path) -> IO[bytes]:
    """Show on SQLite that a follower runs, until the returned file is closed."""
    file = _open_file(database, FOLLOW)
    fcntl.flock(file, fcntl.LOCK_SH)
    return file


def is_followed(engine: Engine, database: Path | None) -> bool:
    """Return whether a follower runs in any process. ``database``: SQLite file; ``None`` on PostgreSQL."""
    if database is not None:
        if not _lock_file(database, FOLLOW).exists():
            return False
        with _open_file(database, FOLLOW) as file:
            return not _try_file(file)
    with engine.connect() as connection:
        if not _try_lock(connection, FOLLOW):
            return True
        connection.execute(RELEASE, {"lock": FOLLOW})
        return False


def _try_lock(connection: Connection, lock: str) -> bool:
    held = bool(connection.scalar(TRY, {"lock": lock}))
    connection.commit()  # so that no transaction stays open
    return held


def _try_file(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open_file(database: Path, lock: str) -> IO[bytes]:
    return _lock_file(database, lock).open("ab")


def _lock_file(database: Path, lock: str) -> Path:
    return database.with_name(f"{database.name}.{lock}")
