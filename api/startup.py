"""Before the service starts: what stands in the way is told in a line, and what may pass is waited for."""

import logging
import sqlite3
import time
from contextlib import closing

import psycopg
from sqlalchemy.exc import DBAPIError

from api.http.problems import REASON_MAX, STORE_FAILURES
from api.personal_data.names import Names, names_file
from api.runtime.projections import Books
from projections.follow.engine import books_file
from referee.store.connection import SqliteFile, place_of
from referee.store.store import construct

TRY_SECONDS = 0.5
"""Between two tries."""
LOG_SECONDS = 5.0
"""Between two lines about them."""
PERMANENT = (
    "authentication failed",
    "no password supplied",
    "does not exist",
    "pg_hba.conf",
    "not permitted",
    "denied",
)
"""What PostgreSQL says to a client who will hear the same the next time: while connecting it gives no code."""

log = logging.getLogger(__name__)


def await_store(url: str, seconds: float) -> None:
    """Waits so long for the store to be there. Raises what stands in the way, at once if waiting is of no use."""
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
                log.warning("waited %.0f of %g s: %s", waited, seconds, store_error(url, error))
                logged = waited + LOG_SECONDS
        time.sleep(TRY_SECONDS)


def open_once(url: str) -> None:
    """All that a start needs of a store: that it can be opened and written, and has its tables."""
    place = place_of(url)
    if isinstance(place, SqliteFile):
        for file in (place.path, books_file(url), names_file(url)):
            with closing(sqlite3.connect(file)) as connection:
                # Tables that are there already need no writing, and a transaction begins on what may only be read.
                connection.execute("BEGIN IMMEDIATE")
                connection.execute("PRAGMA user_version = 0")
                connection.rollback()
    with construct(url) as referee:
        books = Books(referee, url)
        names = Names(url, books.engine)
        try:
            books.prepare()
            names.prepare()
        finally:
            names.close()
            books.close()


def store_error(url: str, error: BaseException) -> str:
    """What a database says that it cannot do, in one line."""
    place = place_of(url)
    name = place.path if isinstance(place, SqliteFile) else "PostgreSQL"
    return f"the store ({name}) cannot be used: {' '.join(str(_driver_error(error)).split())[:REASON_MAX]}"


def _driver_error(error: BaseException) -> BaseException:
    """What the driver has raised."""
    if isinstance(error, DBAPIError) and error.orig is not None:
        error = error.orig
    while isinstance(error.__cause__, sqlite3.Error | psycopg.Error):
        error = error.__cause__
    return error


def _is_permanent(error: BaseException) -> bool:
    """Whether it will be the same the next time."""
    if isinstance(error, psycopg.OperationalError):
        return any(words in str(error) for words in PERMANENT)
    return "locked" not in str(error)
