"""Faults of a store in use, caused in a real one from another connection."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

import psycopg

from projections.follow.engine import books_file
from referee.store.connection import SqliteFile, parse_store_url

REFUSES = """
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'no space left on device' USING ERRCODE = 'disk_full', DETAIL = 'Failing row ("SA")'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON referee_events EXECUTE FUNCTION refuse()
"""


@contextmanager
def taking_nothing(url: str) -> Iterator[None]:
    """Let every insert of an event fail; reading continues."""
    place = parse_store_url(url)
    if isinstance(place, SqliteFile):
        with closing(sqlite3.connect(place.path, timeout=10, isolation_level=None)) as other:
            other.execute("CREATE TRIGGER full_disk BEFORE INSERT ON stored_events BEGIN SELECT json('no JSON'); END")
            yield
            other.execute("DROP TRIGGER full_disk")
        return
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(REFUSES)
        yield
        admin.execute("DROP TRIGGER full_disk ON referee_events; DROP FUNCTION refuse")


@contextmanager
def held(url: str) -> Iterator[None]:
    """Lock a table that a writer of events needs."""
    place = parse_store_url(url)
    if isinstance(place, SqliteFile):
        with closing(sqlite3.connect(place.path, timeout=10, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
        return
    with psycopg.connect(url) as other:
        other.execute("SELECT pg_advisory_xact_lock(hashtextextended('public.referee_events', 0))")
        yield


@contextmanager
def without(url: str, table: str) -> Iterator[None]:
    """Rename a table of the projections, so that it is missing within the context."""
    there, gone = f"ALTER TABLE was_{table} RENAME TO {table}", f"ALTER TABLE {table} RENAME TO was_{table}"
    if isinstance(parse_store_url(url), SqliteFile):
        with closing(sqlite3.connect(books_file(url), timeout=10, isolation_level=None)) as other:
            other.execute(gone)
            yield
            other.execute(there)
        return
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute(gone)
        yield
        admin.execute(there)
