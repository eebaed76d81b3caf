"""Stores the last signed checkpoint in a file, which shows if the store was restored to an older state."""

import fcntl
import os
from pathlib import Path

from sqlalchemy import Connection

from projections.log import Log
from referee.log.notes import Checkpoint, checkpoint_in
from referee.store.connection import SqliteFile, parse_store_url


def file_for(url: str, path: str) -> Path | None:
    """Return ``path``. If it is empty: one beside the SQLite file; None for PostgreSQL or a store in memory."""
    if path:
        return Path(path)
    store = parse_store_url(url)
    if isinstance(store, SqliteFile) and store.path != ":memory:":
        events = Path(store.path)
        return events.with_name(f"{events.stem}-log.note")
    return None


class CheckpointFile:
    """Without a path its methods do nothing."""

    def __init__(self, file: Path | None) -> None:
        self.file = file

    def read(self) -> Checkpoint | None:
        """Return the checkpoint, or None without a file. Raises ``ValueError`` for bad content, or ``OSError``."""
        if self.file is None:
            return None
        try:
            return checkpoint_in(self.file.read_bytes().decode())
        except FileNotFoundError:
            return None

    def write(self, note: str) -> None:
        """Replace the file atomically and flush it to disk, unless its checkpoint covers all rows of ``note``.

        Raises ``ValueError`` for bad content, or ``OSError``.
        """
        if self.file is None:
            return
        lock_file = self.file.with_name(f"{self.file.name}.lock")
        with lock_file.open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # because another process may write the file
            known = self.read()
            if known is not None and known.size >= checkpoint_in(note).size:
                return
            with self.file.with_name(f"{self.file.name}.part").open("wb") as part:
                part.write(note.encode())
                part.flush()
                os.fsync(part.fileno())
            os.replace(part.name, self.file)
            directory = os.open(self.file.parent, os.O_RDONLY)
            try:
                os.fsync(directory)
            finally:
                os.close(directory)


def extends_checkpoint(connection: Connection, tree: Log, size: int, signed: Checkpoint) -> bool:
    """Return whether the first ``size`` rows of ``tree`` extend a signed checkpoint."""
    return signed.size <= size and tree.tree(connection, signed.size).root() == signed.root
