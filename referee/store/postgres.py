"""The library's PostgreSQL store, with two things of our own.

A batch is one statement. The library stores it by a pipeline of six, whose answers the writer takes one by one, each
time asking anew for the interpreter's lock, and it writes each row as text in Python: twice the time for one row,
five times the work for forty. Its own functions in the database (``POSTGRES_ENABLE_DB_FUNCTIONS``) do not wait for
one another, so that a follower can pass over an event that is committed late; ours does. It takes an advisory
lock, ``hashtextextended('public.referee_events', 0)`` (schema and table), for a lock on the table itself would wait
for each VACUUM of it, and one against wraparound does not step aside.

And tables are created by one process at a time, so that several can be started at once.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from eventsourcing.persistence import (
    AggregateRecorder,
    ApplicationRecorder,
    InterfaceError,
    OperationalError,
    StoredEvent,
)
from eventsourcing.postgres import PostgresApplicationRecorder, PostgresFactory
from eventsourcing.utils import retry
from psycopg.sql import SQL, Identifier
from psycopg.types.numeric import Int8

CREATING = 0x6B6E61636B65
"""The advisory lock of those who create the tables of events."""


class Recorder(PostgresApplicationRecorder):
    """Stores a batch in one statement, which is its own transaction."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        schema = self.datastore.schema
        function = Identifier(schema, f"{self.events_table_name}_insert")
        create = SQL(
            "CREATE OR REPLACE FUNCTION {function}(ids uuid[], versions bigint[], topics text[], states bytea[])"
            " RETURNS void LANGUAGE plpgsql AS $knacka$ BEGIN"
            " SET LOCAL lock_timeout = '{seconds}s';"
            " PERFORM pg_advisory_xact_lock({key});"  # so that positions are given in the order of the commits
            " NOTIFY {channel};"
            " INSERT INTO {table} (originator_id, originator_version, topic, state)"
            " SELECT * FROM unnest(ids, versions, topics, states);"
            " END $knacka$"
        )
        self.sql_create_statements.append(
            create.format(
                function=function,
                table=Identifier(schema, self.events_table_name),
                channel=Identifier(self.channel_name),
                key=SQL("hashtextextended({}, 0)").format(f"{schema}.{self.events_table_name}"),
                seconds=self.datastore.lock_timeout,
            )
        )
        call = SQL("SELECT {function}(%b::uuid[], %b::bigint[], %b::text[], %b::bytea[])")
        self.insert_batch = call.format(function=function).as_bytes()

    @retry((InterfaceError, OperationalError), max_attempts=10, wait=0.2)
    def insert_events(self, stored_events: Sequence[StoredEvent], **_: Any) -> None:
        """Stores all rows or none. Raises the library's ``IntegrityError`` where one of them is there already."""
        columns = (
            [row.originator_id for row in stored_events],
            [Int8(row.originator_version) for row in stored_events],
            [row.topic for row in stored_events],
            [row.state for row in stored_events],
        )
        with self.datastore.get_connection() as connection:
            connection.execute(self.insert_batch, columns, prepare=True)


class Factory(PostgresFactory):
    """The library's, with the recorder above, and one creator of tables at a time."""

    application_recorder_class = Recorder

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
        with self.datastore.transaction(commit=True) as cursor:
            # Idle until the tables are there, and who creates them may have to wait.
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CREATING])
            yield
