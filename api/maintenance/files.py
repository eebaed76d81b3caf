"""Handles the files of a SQLite store, and protects them from other users of the machine."""

import os
from pathlib import Path

from api.personal_data.names import names_file
from projections.follow.engine import books_file
from referee.store.connection import SqliteFile, parse_store_url

OWNER_ALONE = 0o077
"""Permission bits of users other than the owner."""


def hide_new_files() -> None:
    """Let only the owner access the files that this process creates from now on."""
    os.umask(OWNER_ALONE)


def store_files(url: str) -> tuple[Path, ...]:
    """Return the files of the names, the projections and the events; empty on PostgreSQL."""
    place = parse_store_url(url)
    return (names_file(url), books_file(url), Path(place.path)) if isinstance(place, SqliteFile) else ()


def files_open_to_others(url: str) -> list[Path]:
    """Return the existing files of this store that users other than their owner can open."""
    return [file for file in store_files(url) if file.exists() and file.stat().st_mode & OWNER_ALONE]


def flush_to_disk(path: Path) -> None:
    """``path``: a file or a folder."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
