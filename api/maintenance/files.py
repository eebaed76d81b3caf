"""The files of a SQLite store: what is played and who may act lies in them, so they are their owner's alone."""

import os
from pathlib import Path

from api.personal_data.names import names_file
from projections.follow.engine import books_file
from referee.store.connection import SqliteFile, place_of

OWNER_ALONE = 0o077
"""The mask of what others may not do."""


def hide_new_files() -> None:
    """From now on. SQLite itself makes the files, and those beside them as they go (``-wal``, ``-shm``)."""
    os.umask(OWNER_ALONE)


def files_open_to_others(url: str) -> list[Path]:
    """The files of this store that are there already and that others than their owner may open."""
    place = place_of(url)
    if not isinstance(place, SqliteFile):
        return []
    files = (Path(place.path), books_file(url), names_file(url))
    return [file for file in files if file.exists() and file.stat().st_mode & OWNER_ALONE]
