"""Protects the files of a SQLite store, which hold cards and hashes of tokens, from other users of the machine."""

import os
from pathlib import Path

from api.personal_data.names import names_file
from projections.follow.engine import books_file
from referee.store.connection import SqliteFile, parse_store_url

OWNER_ALONE = 0o077
"""The permission bits that users other than the owner must not have."""


def hide_new_files() -> None:
    """Make files that this process creates from now on accessible to their owner only.

    SQLite itself creates the database files, and those beside them (``-wal``, ``-shm``).
    """
    os.umask(OWNER_ALONE)


def files_open_to_others(url: str) -> list[Path]:
    """Return the existing files of this store that users other than their owner can open."""
    place = parse_store_url(url)
    if not isinstance(place, SqliteFile):
        return []
    files = (Path(place.path), books_file(url), names_file(url))
    return [file for file in files if file.exists() and file.stat().st_mode & OWNER_ALONE]
