"""The library's PostgreSQL store, with a few things of our own.

A batch is one statement. The library stores it by a pipeline of six, whose answers the writer takes one by one, each
time asking anew for the interpreter's lock, and it writes each row as text in Python: twice the time for one row,
five times the work for forty. Its own functions in the database (``POSTGRES_ENABLE_DB_FUNCTIONS``) do not wait for
one another, so that a follower can pass over an event that is committed late; ours does. It takes an advisory
lock, ``hashtextextended('public.referee_events', 0)`` (schema and table), for a lock on the table itself would wait
for each VACUUM of it, and one against wraparound does not step aside.

Beside the events, and in the same statement, it keeps the keyed acts.

And tables are created by one process at a time, so that several can be started at once.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any
from uuid import UUID

from eventsourcing.persistence import (
    AggregateRecorder,
    ApplicationRecorder,
    StoredEvent,
)
from eventsourcing.postgres import PostgresAggregateRecorder, PostgresApplicationRecorder, PostgresFactory
from psycopg import Cursor
from psycopg.rows import DictRow, dict_row, tuple_row
from psycopg.sql import SQL, Identifier
from psycopg.types.numeric import Int8

from referee.store.acts import SECRET_BYTES, KeyedAct, keyed_acts
from referee.store.connection import SILENCE_SECONDS, Opener, Postgres, place_of
from referee.store.pool import Pool, again

CREATING = 0x6B6E61636B65
"""The advisory lock of those who create the tables of events."""
PAGE = 5000
"""Rows, or acts, at a time where the keyed acts are made from the events."""
NEWER = (
    "SELECT newer.* FROM unnest({asked}) AS asked (id, version),"
    " LATERAL (SELECT originator_id, originator_version, topic, state FROM {table}"
    " WHERE originator_id = asked.id AND originator_version > asked.version"
    " ORDER BY originator_version OFFSET 0) AS newer"  # an offset, so that it looks into the index for each
)
"""The rows of aggregates after versions, those of each together and in order."""


def _untried(call: Any) -> Any:
    """A method of the library as it is without its own ``retry``."""
    return call.__wrapped__


class Recorder(PostgresApplicationRecorder):
    """Stores a batch in one statement, which is its own transaction."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        schema = self.datastore.schema
        self._events = Identifier(schema, self.events_table_name)
        self._acts = Identifier(schema, f"{self.events_table_name.removesuffix('events')}acts")
        self._turn = SQL("hashtextextended({}, 0)").format(f"{schema}.{self.events_table_name}")
        self.sql_create_statements.append(
            SQL(
                "CREATE TABLE IF NOT EXISTS {acts} (originator_id uuid, key bytea, first bigint NOT NULL,"
                " last bigint NOT NULL, PRIMARY KEY (originator_id, key))"
            ).format(acts=self._acts)
        )
        self._secret = Identifier(schema, f"{self.events_table_name.removesuffix('events')}secret")
        self.sql_create_statements.append(
            SQL(
                "CREATE TABLE IF NOT EXISTS {secret} (one boolean PRIMARY KEY DEFAULT true CHECK (one),"
                " secret bytea NOT NULL)"
            ).format(secret=self._secret)
        )
        function = Identifier(schema, f"{self.events_table_name}_store")
        create = SQL(
            "CREATE OR REPLACE FUNCTION {function}(ids uuid[], versions bigint[], topics text[], states bytea[],"
            " actors uuid[] DEFAULT '{{}}', keys bytea[] DEFAULT '{{}}',"
            " firsts bigint[] DEFAULT '{{}}', lasts bigint[] DEFAULT '{{}}',"
            " known uuid[] DEFAULT '{{}}', at bigint[] DEFAULT '{{}}')"
            " RETURNS TABLE (id uuid, number bigint, name text, bytes bytea) LANGUAGE plpgsql AS $knacka$ BEGIN"
            " SET LOCAL lock_timeout = '{seconds}s';"
            " PERFORM pg_advisory_xact_lock({key});"  # so that positions are given in the order of the commits
            " NOTIFY {channel};"
            " INSERT INTO {table} (originator_id, originator_version, topic, state)"
            " SELECT * FROM unnest(ids, versions, topics, states);"
            " IF cardinality(keys) > 0 THEN"
            " INSERT INTO {acts} SELECT * FROM unnest(actors, keys, firsts, lasts);"
            " END IF;"
            " IF cardinality(known) > 0 THEN"
            " RETURN QUERY {newer};"
            " END IF;"
            " END $knacka$"
        )
        self.sql_create_statements.append(
            create.format(
                function=function,
                table=self._events,
                acts=self._acts,
                newer=SQL(NEWER).format(asked=SQL("known, at"), table=self._events),
                channel=Identifier(self.channel_name),
                key=self._turn,
                seconds=self.datastore.lock_timeout,
            )
        )
        self._take_turn = (
            SQL("SET lock_timeout = '{seconds}s'; SELECT pg_advisory_xact_lock_shared({key}); RESET lock_timeout")
            .format(key=self._turn, seconds=self.datastore.lock_timeout)
            .as_bytes()
        )
        rows = "%b::uuid[], %b::bigint[], %b::text[], %b::bytea[]"
        acts = "%b::uuid[], %b::bytea[], %b::bigint[], %b::bigint[]"
        newer = "%b::uuid[], %b::bigint[]"
        self._store_rows = SQL(f"SELECT {{}}({rows})").format(function).as_bytes()
        self._store_all = SQL(f"SELECT * FROM {{}}({rows}, {acts}, {newer})").format(function).as_bytes()
        asked = SQL("%b::uuid[], %b::bigint[]")
        self._select_newer = SQL(NEWER).format(asked=asked, table=self._events).as_bytes()

    def _create_table(self, curs: Cursor[DictRow]) -> None:
        """Where there are events and no acts, as in a store restored without them, acts are made from events."""
        known = curs.execute("SELECT to_regclass(%s) AS known", [self._acts.as_string()]).fetchone()
        super()._create_table(curs)
        make_secret = SQL("INSERT INTO {} (secret) VALUES (%b) ON CONFLICT DO NOTHING").format(self._secret)
        curs.execute(make_secret, [secrets.token_bytes(SECRET_BYTES)])
        if known == {"known": None}:
            curs.execute(SQL("SELECT pg_advisory_xact_lock({})").format(self._turn))
            insert = SQL(
                "INSERT INTO {} SELECT * FROM unnest(%b::uuid[], %b::bytea[], %b::bigint[], %b::bigint[])"
                " ON CONFLICT DO NOTHING"
            ).format(self._acts)
            rows = SQL("SELECT originator_id, originator_version, state FROM {} ORDER BY notification_id")
            with curs.connection.cursor("rows", row_factory=tuple_row) as every:
                every.itersize = PAGE
                acts = keyed_acts(every.execute(rows.format(self._events)))
                while page := list(islice(acts, PAGE)):
                    curs.execute(insert, _columns(page))

    def insert_events(self, stored_events: Sequence[StoredEvent], **_: Any) -> None:
        """Stores all rows or none. Raises the library's ``IntegrityError`` where one of them is there."""
        self.store(stored_events, (), {})

    @again
    def store(
        self, rows: Sequence[StoredEvent], acts: Sequence[KeyedAct], versions: Mapping[UUID, int]
    ) -> Sequence[StoredEvent]:
        """Stores all rows and acts or none; then the rows of other aggregates after these versions. Raises the
        library's ``IntegrityError`` where one of the rows is there."""
        columns = (
            [row.originator_id for row in rows],
            [Int8(row.originator_version) for row in rows],
            [row.topic for row in rows],
            [row.state for row in rows],
        )
        if not acts and not versions:  # nothing comes back, and not even a cursor is needed
            with self.datastore.get_connection() as connection:
                connection.execute(self._store_rows, columns, prepare=True)
            return ()
        with self._tuples() as cursor:
            cursor.execute(self._store_all, columns + _columns(acts) + _asked(versions), prepare=True)
            return [StoredEvent(*row) for row in cursor.fetchall()]

    @again
    def settle(self) -> None:
        """Waits its turn among those who store: one whose connection was lost keeps it until all can see what it
        stored, or nobody ever will."""
        with self.datastore.get_connection() as connection:
            connection.execute(self._take_turn)

    @again
    def select_acts(self, keys: Iterable[tuple[UUID, bytes]]) -> list[KeyedAct]:
        """Those of the acts that are stored."""
        statement = SQL(
            "SELECT act.* FROM unnest(%b::uuid[], %b::bytea[]) AS asked (id, name),"
            " LATERAL (SELECT * FROM {} WHERE originator_id = asked.id AND key = asked.name OFFSET 0) AS act"
        ).format(self._acts)
        with self._tuples() as cursor:
            cursor.execute(statement, [list(column) for column in zip(*keys, strict=True)], prepare=True)
            return [KeyedAct(*row) for row in cursor.fetchall()]

    @again
    def select_secret(self) -> bytes:
        """What only this store knows."""
        with self._tuples() as cursor:
            ((secret,),) = cursor.execute(SQL("SELECT secret FROM {}").format(self._secret)).fetchall()
        return bytes(secret)

    @again
    def select_newer(self, versions: Mapping[UUID, int]) -> list[StoredEvent]:
        """The rows of these aggregates after these versions, those of each together and in order."""
        with self._tuples() as cursor:
            cursor.execute(self._select_newer, _asked(versions), prepare=True)
            return [StoredEvent(*row) for row in cursor.fetchall()]

    @contextmanager
    def _tuples(self) -> Iterator[Cursor[Any]]:
        with (
            self.datastore.get_connection() as connection,
            connection.cursor(row_factory=tuple_row, binary=True) as cursor,
        ):
            yield cursor

    select_events = again(_untried(PostgresApplicationRecorder.select_events))
    select_notifications = again(_untried(PostgresApplicationRecorder.select_notifications))
    max_notification_id = again(_untried(PostgresApplicationRecorder.max_notification_id))


def _asked(versions: Mapping[UUID, int]) -> tuple[list[Any], ...]:
    return list(versions), [Int8(version) for version in versions.values()]


def _columns(acts: Sequence[KeyedAct]) -> tuple[list[Any], ...]:
    return (
        [act.aggregate_id for act in acts],
        [act.key for act in acts],
        [Int8(act.first) for act in acts],
        [Int8(act.last) for act in acts],
    )


class Snapshots(PostgresAggregateRecorder):
    """The library's, tried again only for a moment."""

    insert_events = again(_untried(PostgresAggregateRecorder.insert_events))
    select_events = again(_untried(PostgresAggregateRecorder.select_events))


class Factory(PostgresFactory):
    """The library's, with the recorders and the pool above, and one creator of tables at a time."""

    application_recorder_class = Recorder
    aggregate_recorder_class = Snapshots

    def __init__(self, env: Any) -> None:
        super().__init__(env)
        place = place_of(self.env["POSTGRES_URL"])
        assert isinstance(place, Postgres)
        opener, begin = Opener(place.parameters, row_factory=dict_row), self.datastore.after_connect_func()
        self.pool = Pool(lambda silence: opener(silence, begin), self.datastore.pool.max_size, SILENCE_SECONDS)
        self.datastore.pool = self.pool  # type: ignore[assignment]  # as far as it is used, as theirs

    def application_recorder(self) -> ApplicationRecorder:
        """Of the events."""
        with self._alone():
            return super().application_recorder()

    def aggregate_recorder(self, purpose: str = "events") -> AggregateRecorder:
        """Of the snapshots."""
        with self._alone():
            return super().aggregate_recorder(purpose)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with self.pool.patient(), self.datastore.transaction(commit=True) as cursor:
            # Idle until the tables are there, and who creates them may have to wait.
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CREATING])
            yield
