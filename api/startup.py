"""Checks before the service starts that the store can be used, and waits if the obstacle may pass."""

import logging
import sqlite3
import time
from contextlib import closing

import psycopg
from sqlalchemy.exc import DBAPIError

from api.http.problems import REASON_MAX, STORE_FAILURES
from api.personal_data.names import Names, names_file
from api.runtime.projections import Projections
from projections.follow.engine import books_file
from referee.store.connection import SqliteFile, parse_store_url
from referee.store.store import construct

TRY_SECONDS = 0.5
"""Seconds between two tries."""
LOG_SECONDS = 5.0
"""Seconds between two log lines about them."""
PERMANENT = (
    "authentication failed",
    "no password supplied",
    "does not exist",
    "pg_hba.conf",
    "not permitted",
    "denied",
)
"""Parts of PostgreSQL's messages for errors that a retry cannot change. While connecting it sends no error code."""

log = logging.getLogger(__name__)


def await_store(url: str, seconds: float) -> None:
    """Wait, at most ``seconds``, until the store can be used.

    Raises the database's error after that time, or at once if a retry cannot change it.
    """
    began, logged = time.monotonic(), 0.0
    while True:
        try:
            open_once(url)
            return
        except STORE_FAILURES as error:
            waited = time.monotonic() - began
            if waited >= seconds or _is_permanent(_driver_error(error)):
                raise
            if logged <= waited:
                log.warning("waited %.0f of %g s for the store: %s", waited, seconds, store_error(url, error))
                logged = waited + LOG_SECONDS
        time.sleep(TRY_SECONDS)


def open_once(url: str) -> None:
    """Open the store, check that it can be written, and create missing tables. Raises database errors."""
    place = parse_store_url(url)
    if isinstance(place, SqliteFile):
        for file in (place.path, books_file(url), names_file(url)):
            with closing(sqlite3.connect(file)) as connection:
                # Existing tables need no write, and a transaction begins even on a read-only file: so write.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("PRAGMA user_version = 0")
                connection.rollback()
    with construct(url) as referee:
        projections = Projections(referee, url)
        names = Names(url, projections.engine)
        try:
            projections.prepare()
            names.prepare()
        finally:
            names.close()
            projections.close()


def store_error(url: str, error: BaseException) -> str:
    """Return an error of the database as one line that names the store."""
    place = parse_store_url(url)
    name = place.path if isinstance(place, SqliteFile) else "PostgreSQL"
    return f"the store ({name}) cannot be used: {' '.join(str(_driver_error(error)).split())[:REASON_MAX]}"


def _driver_error(error: BaseException) -> BaseException:
    """Return the driver's error behind SQLAlchemy's."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        error = error.orig
    while isinstance(error.__cause__, sqlite3.Error | psycopg.Error):
        error = error.__cause__
    return error


def _is_permanent(error: BaseException) -> bool:
    """Return whether a retry cannot change the error."""
    if isinstance(error, psycopg.OperationalError):
        return any(words in str(error) for words in PERMANENT)
    return "locked" not in str(error)
