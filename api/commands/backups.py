"""``knacka backup`` and ``knacka restore``."""

import argparse
import sys
from contextlib import suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

from api.commands.operator_store import NotDone
from api.maintenance.archive import Archive, Damaged, Manifest
from api.maintenance.backup import NoStore, write_backup
from api.maintenance.files import flush_to_disk, store_files
from api.maintenance.restore import NotEmpty, install, refuse_unless_empty, staged_store
from api.maintenance.verify import verify
from api.settings import Settings
from referee.store.clock import utc_now
from referee.store.damaged import NotInstalled
from referee.store.rows import OlderStore

SUFFIX = ".knacka"
PARTIAL = ".part"
BACKUP = (
    "Copies the events, projections and names of one moment into a file, while services run. Changes nothing in the "
    "store. The file gets its name when it is complete and on the disk. Only its owner can read it: it holds cards, "
    "the hashes of tokens and keys, and the names and texts of members. Later erasures do not change it: delete "
    "backups that are older than an erasure, and erase again after you restore one. Prints the name of the file."
)
RESTORE = (
    "Restores a backup into the empty store that KNACKA_DATABASE_URL names, of either kind. Stop the service first. "
    "First checks everything, as `knacka verify` does; restores nothing if it finds a difference or the store is not "
    "empty. Erases again the members whose erasure the backup records; erase again yourself those who were erased "
    "later. --check only checks, also if the store is not empty, prints what would be restored, and changes nothing. "
    "Restoring needs space for the whole store beside it (SQLite) or in TMPDIR (PostgreSQL); --check, in TMPDIR."
)


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    backing = commands.add_parser("backup", help="copy the store while services run", description=BACKUP)
    backing.add_argument(
        "to",
        type=Path,
        metavar="FILE_OR_DIR",
        help="a new file, or a folder: the file is then named after the time",
    )
    backing.set_defaults(run=backup)
    restoring = commands.add_parser("restore", help="check a backup and restore it", description=RESTORE)
    restoring.add_argument("--check", action="store_true", help="only check it, and change nothing")
    restoring.add_argument("file", type=Path, metavar="FILE", help="a file written by `knacka backup`")
    restoring.set_defaults(run=restore)


def backup(settings: Settings, arguments: argparse.Namespace) -> int:
    """Write a backup to a new file, and print its name."""
    target: Path = arguments.to
    if target.is_dir():
        target /= f"knacka-{utc_now():%Y%m%dT%H%M%S}Z{SUFFIX}"
    if target.exists():
        raise NotDone(f"{target} exists already: name a new file, or a folder")
    if not target.absolute().parent.is_dir():
        raise NotDone(f"there is no folder {target.absolute().parent}: create it, or name an existing one")
    # This is a temporary file, because only its owner can read it.
    with NamedTemporaryFile(dir=target.parent, prefix=f"{target.name}.", suffix=PARTIAL, delete=False) as file:
        partial = Path(file.name)
        try:
            manifest = write_backup(settings.database_url, file)
            partial.rename(target)
        except NoStore as why:
            raise NotDone(str(why)) from None
        finally:
            with suppress(FileNotFoundError):
                partial.unlink()
    flush_to_disk(target.absolute().parent)
    print(summary(manifest), file=sys.stderr)
    print(target)
    return 0


def summary(manifest: Manifest) -> str:
    rows = {part.name: part.rows for part in manifest.parts}
    return (
        f"backup of {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC, from {manifest.store}, by Knacka {manifest.knacka}: "
        f"{rows['events']} events to position {manifest.head}, {manifest.matches} matches, {manifest.clubs} clubs, "
        f"{rows.get('names', 0)} names and texts, {len(manifest.keys)} projections"
    )


def restore(settings: Settings, arguments: argparse.Namespace) -> int:
    """Check a backup, and install it unless ``--check`` is given."""
    url, check = settings.database_url, arguments.check
    try:
        if not check:
            refuse_unless_empty(url)
        with Archive(arguments.file) as archive:
            print(summary(archive.manifest))
            # The folder is beside a SQLite store, so that files are only moved.
            files = () if check else store_files(url)
            with staged_store(archive, files[-1].absolute().parent if files else None, print) as store:
                if verify(store, None, print, _print_error_line) != 0:
                    raise NotDone("the backup is damaged" if check else "nothing is restored: take another backup")
                if not check:
                    install(url, store)
    except (NotInstalled, OlderStore) as unreadable:
        raise NotDone(f"nothing is restored: {unreadable}") from None
    except (Damaged, NotEmpty, FileNotFoundError, IsADirectoryError) as why:
        raise NotDone(str(why)) from None
    taken_at = f"{archive.manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC"
    print("the backup is intact" if check else "restored: next run `knacka rebuild`, or start the service")
    print(f"erase again the members who were erased after {taken_at}: knacka erase CLUB MEMBER")
    return 0


def _print_error_line(line: str) -> None:
    print(line, file=sys.stderr)
