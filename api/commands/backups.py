"""``knacka backup`` and ``knacka restore``."""

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from api.commands.operator_store import NotDone
from api.maintenance.archive import Archive, Damaged, Manifest
from api.maintenance.backup import NoStore, write_backup
from api.maintenance.restore import NotEmpty, install, is_proved, refuse_unless_empty, staged
from api.settings import Settings
from referee.store.clock import utc_now
from referee.store.connection import SqliteFile, place_of
from referee.store.rows import OlderStore

SUFFIX = ".knacka"
PARTIAL = ".part"
"""How the name of a backup ends that is being written, or was broken off."""
BACKUP = (
    "Copies events, books and names into one file as they stood at one moment, while services go on. Changes nothing "
    "in the store. The file has its name when it is whole and on the disk, and is its owner's alone: it holds all "
    "cards, the hashes of tokens and keys, and the names and texts of members. What is erased later stays in it: "
    "delete backups that are older than an erasure when you can, and erase again after restoring one. Prints the "
    "name of the file."
)
RESTORE = (
    "Restores a backup where nothing is stored: KNACKA_DATABASE_URL names the place, on either kind of store, "
    "whatever kind it was taken of. Stop the service first. All is proved before any of it is put there, as by "
    "`knacka verify`; nothing is restored where something is wrong or something is there. Who was erased by the "
    "backup's own record is erased again; who was erased later has to be erased by you. --check proves, says what "
    "would be restored, and changes nothing. Both need room for the whole store: beside it (SQLite), or in TMPDIR."
)


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """The commands."""
    backing = commands.add_parser("backup", help="copy the store while it is used", description=BACKUP)
    backing.add_argument(
        "to",
        type=Path,
        metavar="FILE_OR_DIR",
        help="a file that is not there yet, or a folder, which names it itself",
    )
    backing.set_defaults(run=backup)
    restoring = commands.add_parser("restore", help="prove a backup, and restore it", description=RESTORE)
    restoring.add_argument("--check", action="store_true", help="only prove it, and change nothing")
    restoring.add_argument("file", type=Path, metavar="FILE", help="as `knacka backup` has written it")
    restoring.set_defaults(run=restore)


def backup(settings: Settings, arguments: argparse.Namespace) -> int:
    """Copies the store into a file."""
    goal: Path = arguments.to
    if goal.is_dir():
        goal /= f"knacka-{utc_now():%Y%m%dT%H%M%S}Z{SUFFIX}"
    if goal.exists():
        raise NotDone(f"there is {goal} already: name another file, or a folder")
    if not goal.absolute().parent.is_dir():
        raise NotDone(f"there is no folder {goal.absolute().parent}: make it, or name another")
    # Nobody else's, whatever the mask.
    with NamedTemporaryFile(dir=goal.parent, prefix=f"{goal.name}.", suffix=PARTIAL, delete=False) as file:
        partial = Path(file.name)
        try:
            manifest = write_backup(settings.database_url, file)
            partial.rename(goal)
        except NoStore as why:
            raise NotDone(str(why)) from None
        finally:
            with suppress(FileNotFoundError):
                partial.unlink()
    folder = os.open(goal.absolute().parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
    print(summary(manifest), file=sys.stderr)
    print(goal)
    return 0


def summary(manifest: Manifest) -> str:
    """What is in a backup, in a line."""
    rows = {part.name: part.rows for part in manifest.parts}
    return (
        f"as of {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC, of {manifest.store}, by Knacka {manifest.knacka}: "
        f"{rows['events']} events to position {manifest.head}, {manifest.matches} matches, {manifest.clubs} clubs, "
        f"{rows.get('names', 0)} names and texts, {len(manifest.keys)} books"
    )


def restore(settings: Settings, arguments: argparse.Namespace) -> int:
    """Proves a backup, and puts it in its place."""
    url, check = settings.database_url, arguments.check
    try:
        if not check:
            refuse_unless_empty(url)
        with Archive(arguments.file) as archive:
            print(summary(archive.manifest))
            with staged(archive, None if check else _beside(url), print) as store:
                if not is_proved(store, print, _progress):
                    raise NotDone("nothing is restored: take another backup" if not check else "it is not whole")
                if not check:
                    install(url, store)
    except OlderStore as older:
        raise NotDone(f"nothing is restored: {older}") from None
    except (Damaged, NotEmpty, FileNotFoundError, IsADirectoryError) as why:
        raise NotDone(str(why)) from None
    taken_at = f"{archive.manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC"
    print("it is whole" if check else "restored: next `knacka rebuild`, or start the service")
    print(f"whoever was erased after {taken_at} has to be erased again: knacka erase CLUB MEMBER")
    return 0


def _beside(url: str) -> Path | None:
    """In the folder of a SQLite store, whose files are then only moved."""
    target = place_of(url)
    return Path(target.path).absolute().parent if isinstance(target, SqliteFile) else None


def _progress(line: str) -> None:
    print(line, file=sys.stderr)
