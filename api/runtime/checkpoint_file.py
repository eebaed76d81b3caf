"""The last checkpoint that was signed, in a file beside the data: a store that was put back to an older state says
nothing of it, and the file does."""

import fcntl
import os
from pathlib import Path

from sqlalchemy import Connection

from projections.log import Log
from referee.log.notes import Checkpoint, checkpoint_in
from referee.store.connection import SqliteFile, place_of


def file_for(url: str, named: str) -> Path | None:
    """Where it lies: where that is ``named``, else beside a SQLite file (``knacka-log.note`` for ``knacka.db``), and
    for PostgreSQL nowhere."""
    if named:
        return Path(named)
    place = place_of(url)
    if isinstance(place, SqliteFile) and place.path != ":memory:":
        events = Path(place.path)
        return events.with_name(f"{events.stem}-log.note")
    return None


class CheckpointFile:
    """The file; without one nothing is kept."""

    def __init__(self, file: Path | None) -> None:
        self.file = file

    def read(self) -> Checkpoint | None:
        """What was signed last; ``None`` where nothing is known of that. Raises ``ValueError`` and ``OSError`` where
        it cannot be read."""
        if self.file is None:
            return None
        try:
            return checkpoint_in(self.file.read_bytes().decode())
        except FileNotFoundError:
            return None

    def write(self, note: str) -> None:
        """Keeps a note, unless a later one is there: whole, and for certain before this returns. Raises as
        :meth:`read`."""
        if self.file is None:
            return
        lock_file = self.file.with_name(f"{self.file.name}.lock")
        with lock_file.open("ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be at it
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


def extends(connection: Connection, tree: Log, size: int, signed: Checkpoint) -> bool:
    """Whether the tree over so many rows is what was signed, and more."""
    return signed.size <= size and tree.tree(connection, signed.size).root() == signed.root
