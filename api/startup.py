"""Waits until the store can be used, before the service starts."""

import logging
import sqlite3
import time
from contextlib import closing

from eventsourcing.persistence import OperationalError as StoreError
from sqlalchemy.exc import DBAPIError, OperationalError

from api.http.problems import REASON_MAX, STORE_FAILURES
from api.personal_data.names import Names, names_file
from api.runtime.projections import Projections
from projections.follow.engine import books_file
from referee.store.connection import Postgres, SqliteFile, parse_store_url
from referee.store.match import check_installed
from referee.store.store import construct

TRY_SECONDS = 0.5
LOG_SECONDS = 5.0
"""Seconds between two log lines about tries."""
PERMANENT = (
    "authentication failed",
    "no password supplied",
    "does not exist",
    "pg_hba.conf",
    "not permitted",
    "denied",
)
"""Parts of PostgreSQL's messages about permanent errors. Errors while connecting have no code."""

log = logging.getLogger(__name__)


def await_store(url: str, seconds: float) -> None:
    """Wait until the store can be used. Raises the store's error after ``seconds``, or at once if it is permanent."""
    began, logged = time.monotonic(), 0.0
    while True:
        try:
            open_once(url)
            return
        except STORE_FAILURES as error:
            waited = time.monotonic() - began
            if waited >= seconds or _is_permanent(url, error):
                raise
            if logged <= waited:
                log.warning("waited %.0f of %g s for the store: %s", waited, seconds, store_error(url, error))
                logged = waited + LOG_SECONDS
        time.sleep(TRY_SECONDS)


def open_once(url: str) -> None:
    """Check that SQLite files can be written, and create missing tables.

    Raises database errors, and ``NotInstalled`` if the game of a stored match is not installed.
    """
    place = parse_store_url(url)
    if isinstance(place, SqliteFile):
        for file in (place.path, books_file(url), names_file(url)):
            with closing(sqlite3.connect(file)) as connection:
                # Try a write, because nothing below notices a read-only file if all tables exist.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("PRAGMA user_version = 0")
                connection.rollback()
    with construct(url) as referee:
        projections = Projections(referee, url)
        names = Names(url, projections.engine)
        try:
            projections.prepare()
            names.prepare()
            with projections.engine.connect() as connection:
                check_installed(projections.matches.rulesets(connection))
        finally:
            names.close()
            projections.close()


def store_error(url: str, error: BaseException) -> str:
    place = parse_store_url(url)
    name = place.path if isinstance(place, SqliteFile) else "PostgreSQL"
    return f"the store ({name}) cannot be used: {' '.join(_driver_message(error).split())[:REASON_MAX]}"


def _driver_message(error: BaseException) -> str:
    """Return the database driver's message if there is one, because errors of SQLAlchemy add to it."""
    return str(error.orig) if isinstance(error, DBAPIError) and error.orig is not None else str(error)


def _is_permanent(url: str, error: BaseException) -> bool:
    """Return False for a locked file, and operational errors of PostgreSQL without :data:`PERMANENT`."""
    message = _driver_message(error)
    if isinstance(parse_store_url(url), Postgres) and isinstance(error, StoreError | OperationalError):
        return any(part in message for part in PERMANENT)
    return "locked" not in message
