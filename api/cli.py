"""The command ``knacka``. :mod:`api.commands` has its further commands."""

import argparse
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from textwrap import fill
from uuid import UUID

from api import VERSION
from api.app import create_app
from api.commands import backups, clubs, erasing, keys, logs
from api.commands.operator_store import NotDone
from api.docs import reference
from api.http.problems import STORE_FAILURES
from api.log_lines import survive_any_clock
from api.maintenance import verify as verification
from api.maintenance.doctor import doctor
from api.maintenance.files import files_open_to_others, hide_new_files
from api.runtime.projections import Projections
from api.server import Server, config_of
from api.settings import Settings, SettingsError, all_settings, from_environment
from api.startup import await_store, store_error
from projections.follow.engine import DamagedCell
from projections.follow.locks import RebuildRunning
from referee.store.clock import ClockWrong, utc_now
from referee.store.damaged import DamagedRow, NotInstalled
from referee.store.rows import OlderStore
from referee.store.store import construct

ALL = "all"
VERIFY = (
    "Checks everything that is stored; changes nothing. Reads each match and club from its first row, decides each "
    "act again, and compares rows, snapshots and projections with the result. Prints one line for each difference. "
    "Exits with 0 without differences, with 1 otherwise, and with 2 for an unknown id."
)
DOCTOR = (
    "Finds faults in the settings, the store, its projections and the disk, and changes nothing. Prints one line for "
    "each fault, with its remedy. Exits with 0 without faults, else with 1."
)
UNUSABLE: tuple[type[Exception], ...] = (*STORE_FAILURES, OSError)
"""Errors of a store that cannot be used."""
NOT_STARTED, INTERRUPTED = 3, 130
"""Exit codes. Others: 0: success, 1: faults found or not done, 2: a wrong command or setting."""

HELP_WIDTH = 80
LOCAL_HOST = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses at which this machine reaches a service that listens on all addresses."""

log = logging.getLogger(__name__)


def serve(settings: Settings) -> int:
    """Serve until a signal, and return the exit code. Raises ``ClockWrong``, and errors of the store."""
    utc_now()
    with ended_by_interrupts():
        await_store(settings.database_url, settings.start_wait_seconds)
        server = Server(config_of(create_app(settings), settings.host, settings.port))
    host = LOCAL_HOST.get(settings.host, settings.host)
    if settings.port:  # because a free port (0) is not yet known
        log.info("reference of the API: http://%s:%d/docs", f"[{host}]" if ":" in host else host, settings.port)
    server.run()
    return 0 if server.started else NOT_STARTED


@contextmanager
def ended_by_interrupts() -> Iterator[None]:
    """Let SIGINT end the process at once, because Python ignores a ``KeyboardInterrupt`` in a finalizer."""
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def print_openapi() -> int:
    sys.stdout.write(reference.description(create_app(Settings())))
    return 0


def rebuild(settings: Settings, name: str) -> int:
    """Rebuild a projection, or all. Return 1 if it cannot apply a match, 2 for an unknown name, otherwise 0."""
    with construct(settings.database_url) as referee:
        projections = Projections(referee, settings.database_url)
        try:
            if name not in (ALL, *projections.by_name):
                print(f"unknown projection {name!r}: name one of {', '.join(projections.by_name)}", file=sys.stderr)
                return 2
            names = list(projections.by_name) if name == ALL else [name]
            print(f"{', '.join(names)} rebuilt to position {projections.rebuild(*names)}")
            set_aside = [one for one in projections.matches_set_aside() if one.projection in names]
            for one in set_aside:
                print(
                    f"{one.projection}: match {one.match} is set aside at event {one.event}: {one.error}",
                    file=sys.stderr,
                )
            return 1 if set_aside else 0
        finally:
            projections.close()


def verify(settings: Settings, match: str | None) -> int:
    """Verify a match or club; None: the whole store. Return the exit code."""
    try:
        match = None if match is None else str(UUID(match))
    except ValueError:
        print(f"{match!r} is not the id of a match or club: give a UUID", file=sys.stderr)
        return 2
    return verification.verify(settings.database_url, match, print, partial(print, file=sys.stderr))


def _settings_text() -> str:
    lines = ["settings (environment variables) with their defaults:"]
    for one in all_settings():
        meaning = fill(one.meaning.replace("`", ""), HELP_WIDTH, initial_indent=" " * 6, subsequent_indent=" " * 6)
        lines += [f"  {one.variable}={one.default}", meaning]
    return "\n".join(lines)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="knacka",
        description="A referee for Swedish card games. The settings are environment variables: KNACKA_….",
    )
    parser.add_argument("--version", action="version", version=f"knacka {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser(
        "serve",
        help="serve the REST interface",
        description="Serves the REST interface until a signal ends the process.",
        epilog=_settings_text(),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands.add_parser("openapi", help="print the OpenAPI description")
    commands.add_parser("rebuild", help="build projections again from the first event").add_argument(
        "projection", nargs="?", default=ALL, help="its name; all projections in one pass without a name"
    )
    commands.add_parser("verify", help="check everything that is stored", description=VERIFY).add_argument(
        "match", nargs="?", help="the id of a match or club; without one the whole store is checked"
    )
    commands.add_parser("doctor", help="find faults in settings, store and projections", description=DOCTOR)
    for more in (clubs, keys, logs, erasing, backups):
        more.add_commands(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    options = _parser().parse_args(arguments)
    if options.command == "openapi":
        return print_openapi()
    if options.command == "doctor":
        return doctor(os.environ, print)
    try:
        settings = from_environment(os.environ)
    except SettingsError as error:
        print(error, file=sys.stderr)
        return 2
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s %(message)s", stream=sys.stderr
    )
    survive_any_clock()
    hide_new_files()
    return _with_exit_codes(settings, options)


def _run_command(settings: Settings, options: argparse.Namespace) -> int:
    for file in files_open_to_others(settings.database_url):
        log.warning("%s can be opened by other users of this machine: chmod 600 %s", file, file)
    if options.command == "serve":
        return serve(settings)
    if options.command == "rebuild":
        return rebuild(settings, options.projection)
    if options.command == "verify":
        return verify(settings, options.match)
    run: Callable[[Settings, argparse.Namespace], int] = options.run
    return run(settings, options)


def _with_exit_codes(settings: Settings, options: argparse.Namespace) -> int:
    """Run a command that needs the store. Print an error as a line. Return the exit code."""
    try:
        return _run_command(settings, options)
    except (NotDone, RebuildRunning) as why:
        print(why, file=sys.stderr)
        return 1
    except (ClockWrong, NotInstalled, OlderStore) as wrong:
        print(wrong, file=sys.stderr)
        return NOT_STARTED
    except DamagedCell as cell:
        print(f"a projection cannot be read ({cell}): `knacka rebuild` builds all projections again", file=sys.stderr)
        return NOT_STARTED
    except DamagedRow as damaged:
        print(f"{damaged}: `knacka doctor` names the remedy", file=sys.stderr)
        return NOT_STARTED
    except KeyboardInterrupt:
        return INTERRUPTED
    except UNUSABLE as error:
        print(store_error(settings.database_url, error), file=sys.stderr)
        return NOT_STARTED
