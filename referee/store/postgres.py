"""The library's PostgreSQL store, with two things of our own.

A batch is one statement. The library stores it by a pipeline of six, whose answers the writer takes one by one, each
time asking anew for the interpreter's lock, and it writes each row as text in Python: twice the time for one row,
five times the work for forty. Its own functions in the database (``POSTGRES_ENABLE_DB_FUNCTIONS``) do not wait for
one another, so that a follower can pass over an event that is committed late; ours does. It takes an advisory
lock, ``hashtextextended('public.referee_events', 0)`` (schema and table), for a lock on the table itself would wait
for each VACUUM of it, and one against wraparound does not step aside.

And tables are created by one process at a time, so that several can be started at once.

Connections are opened by those who need one, and what a lost one has broken is tried again only for a moment: the
library's pool tries by itself, after a while only each minute or two, and each of its calls tries ten times however
long that takes.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, Self

from eventsourcing.persistence import (
    AggregateRecorder,
    ApplicationRecorder,
    InterfaceError,
    OperationalError,
    StoredEvent,
)
from eventsourcing.postgres import PostgresAggregateRecorder, PostgresApplicationRecorder, PostgresFactory
from psycopg import pq
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier
from psycopg.types.numeric import Int8

from referee.store.reach import SILENCE_SECONDS, Away, Connection, Opener, Postgres, place_of, unsent

CREATING = 0x6B6E61636B65
"""The advisory lock of those who create the tables of events."""
AGAIN_SECONDS = 2.0
"""How long a call is tried again: so that a server may be restarted, and nobody waits long for one that is away."""
AGAIN_AFTER = 0.1
TAKEN_SECONDS = 2.0
"""How long one waits where all connections are taken."""


def again(call: Callable[..., Any]) -> Any:
    """The call, tried again for a moment where a connection was lost. It tells of the last try that was sent."""

    @wraps(call)
    def tried(*args: Any, **kwargs: Any) -> Any:
        deadline, broken = time.monotonic() + AGAIN_SECONDS, None
        while True:
            try:
                return call(*args, **kwargs)
            except (InterfaceError, OperationalError) as error:
                if broken is None or not unsent(error):
                    broken = error
                if time.monotonic() > deadline:
                    raise broken from broken.__cause__
            time.sleep(AGAIN_AFTER)

    return tried


def _untried(call: Any) -> Any:
    """A method of the library as it is without its own ``retry``."""
    return call.__wrapped__


class Pool:
    """Connections at hand, in the place of the library's pool."""

    def __init__(self, opened: Callable[[float | None], Connection], size: int, silence: float | None) -> None:
        self._opened, self._silence = opened, silence
        self._free, self._lock = threading.BoundedSemaphore(size), threading.Lock()
        self._idle: list[Connection] = []
        self._closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def open(self, *_: Any) -> None:
        """Is done when the first one is needed."""

    def close(self) -> None:
        """Closes all, those in use when they are given back."""
        self._closed = True
        self._clear()

    @contextmanager
    def patient(self) -> Iterator[None]:
        """Connections that wait for ever, for those who alone use this meanwhile."""
        silence, self._silence = self._silence, None
        self._clear()
        try:
            yield
        finally:
            self._silence = silence
            self._clear()

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """One for the caller alone."""
        if not self._free.acquire(timeout=TAKEN_SECONDS):
            raise Away("all connections to the store are taken")
        try:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                connection = self._opened(self._silence)
            try:
                yield connection
            finally:
                self._give_back(connection)
        finally:
            self._free.release()

    def _give_back(self, connection: Connection) -> None:
        if connection.closed:
            self._clear()  # what has befallen one has befallen all
        elif self._closed or connection.info.transaction_status != pq.TransactionStatus.IDLE:
            connection.close()
        else:
            with self._lock:
                self._idle.append(connection)

    def _clear(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


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

    @again
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

    select_events = again(_untried(PostgresApplicationRecorder.select_events))
    select_notifications = again(_untried(PostgresApplicationRecorder.select_notifications))
    max_notification_id = again(_untried(PostgresApplicationRecorder.max_notification_id))


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
        self.datastore.pool = self.pool  # type: ignore[assignment]

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
