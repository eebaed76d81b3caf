"""The store that a URL names, and connections on which no answer arrives."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from eventsourcing.persistence import OperationalError

from projections.follow.engine import engine_for
from referee.acts import Deal
from referee.store.acts import means_unsent
from referee.store.command import InDoubt
from referee.store.connection import Postgres, SqliteFile, parse_store_url
from referee.store.desk import Desk
from referee.store.pool import Pool
from referee.store.postgres import Factory
from referee.store.postgres_connection import REST_SECONDS, Away, Opener
from referee.store.store import construct, settings_for
from tests.support.failing_proxy import Proxy, target_of
from tests.support.random_matches import opened, send


def parameters_of(url: str) -> dict[str, Any]:
    place = parse_store_url(url)
    assert isinstance(place, Postgres)
    return place.parameters


@pytest.mark.parametrize(
    ("url", "told"),
    [
        (
            "postgresql://user:p%40ss@db.example:6543/club",
            {"host": "db.example", "port": "6543", "user": "user", "password": "p@ss", "dbname": "club"},
        ),
        ("postgresql://u@/club?host=%2Frun%2Fpg&port=5433", {"host": "/run/pg", "port": "5433", "dbname": "club"}),
        ("postgres://", {"host": "127.0.0.1", "user": "postgres", "dbname": "knacka"}),
        ("postgresql://u@one:5432,two:5433/db", {"host": "one,two", "port": "5432,5433"}),
        ("postgresql://u@/db?host=one,two&port=5432,5433", {"host": "one,two", "port": "5432,5433"}),
        (
            "postgresql://u@h/db?sslmode=verify-full&target_session_attrs=read-write&connect_timeout=9&schema=a%20b",
            {"sslmode": "verify-full", "target_session_attrs": "read-write", "connect_timeout": "9", "host": "h"},
        ),
    ],
)
def test_whatever_libpq_takes_reaches_every_connection(
    url: str, told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both events and projections are covered."""
    assert told.items() <= parameters_of(url).items()
    asked: list[dict[str, Any]] = []

    def connect(**parameters: Any) -> None:
        asked.append(parameters)
        raise psycopg.OperationalError("no")

    monkeypatch.setattr("referee.store.postgres_connection.Connection.connect", connect)
    with pytest.raises(Away), Factory(settings_for(url)).pool.connection():
        pass
    with pytest.raises(Exception, match="no"):
        engine_for(url).connect()
    assert len(asked) == 2
    assert all(told.items() <= parameters.items() for parameters in asked)
    assert all("schema" not in parameters for parameters in asked)


def test_a_schema_is_our_own_parameter() -> None:
    assert parse_store_url("postgresql://h/db?sslmode=require&schema=The%20%22club%22")[1] == 'The "club"'
    assert parse_store_url("postgresql://h/db")[1] == "public"
    assert settings_for("postgresql://h/db?schema=a")["POSTGRES_SCHEMA"] == "a"


def test_a_file_is_named_in_a_url() -> None:
    assert parse_store_url("sqlite:///data/all%20matches.db") == SqliteFile("data/all matches.db")
    assert parse_store_url("sqlite:////var/knacka.db") == SqliteFile("/var/knacka.db")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("mysql://h/db", "unknown store 'mysql'"),
        ("sqlite://", "names a file"),
        ("postgresql://h/db?colour=red", 'invalid URI query parameter: "colour"'),
        ("postgresql://u:p%ss@h/db", "% is written %25"),
    ],
)
def test_a_url_that_cannot_be_is_refused(url: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parse_store_url(url)


def test_a_host_that_is_not_there_is_passed_over_for_the_next(postgres_url: str) -> None:
    with Proxy(target_of(postgres_url)) as away, Proxy(target_of(postgres_url)) as there:
        away.refuse()
        one, two = f"{away.address[0]}:{away.address[1]}", f"{there.address[0]}:{there.address[1]}"
        url = there.url(postgres_url).replace(two, f"{one},{two}")
        with construct(url) as referee:
            assert referee.recorder.max_notification_id() is None
        engine = engine_for(url)
        with engine.connect() as connection:
            assert connection.exec_driver_sql("SELECT 1").scalar() == 1
        engine.dispose()


def test_a_connection_on_which_nothing_comes_back_is_given_up(postgres_url: str) -> None:
    with Proxy(target_of(postgres_url)) as proxy:
        connection = Opener(parameters_of(proxy.url(postgres_url)))(0.3)
        assert connection.execute("SELECT pg_sleep(0.1)").fetchone() is not None
        proxy.drop()
        began = time.monotonic()
        with pytest.raises(psycopg.OperationalError, match="said nothing"):
            connection.execute("SELECT 1")
        assert time.monotonic() - began < 5
        assert connection.closed


def test_long_answers_are_no_silence(postgres_url: str) -> None:
    connection = Opener(parameters_of(postgres_url))(0.3)
    slow = "SELECT repeat('x', 9000), pg_sleep(0.1) FROM generate_series(1, 8)"
    assert len(connection.execute(slow).fetchall()) == 8
    connection.close()


def test_a_statement_that_takes_long_to_send_arrives(postgres_url: str) -> None:
    """A batch over a slow network is sent on after the first look at the clock."""
    with Proxy(target_of(postgres_url)) as proxy:
        connection = Opener(parameters_of(proxy.url(postgres_url)))(6.0)
        proxy.hold()
        threading.Timer(3.0, proxy.forward).start()
        assert connection.execute("SELECT length(%s)", ["x" * 20_000_000]).fetchone() == (20_000_000,)
        connection.close()


def test_a_failed_connection_is_not_retried_at_once_by_others(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = 0

    def refused(**_: Any) -> None:
        nonlocal opened
        opened += 1
        raise psycopg.OperationalError("refused")

    monkeypatch.setattr("referee.store.postgres_connection.Connection.connect", refused)
    opener = Opener({})
    for _ in range(1000):
        with pytest.raises(Away, match="refused"):
            opener()
    assert opened < 100
    before = opened
    time.sleep(REST_SECONDS)
    with pytest.raises(Away):
        opener()
    assert opened == before + 1


def test_an_error_of_a_call_shows_whether_anything_was_sent(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("referee.store.pool.RETRY_SECONDS", 1)
    with Proxy(target_of(postgres_url)) as proxy, construct(proxy.url(postgres_url)) as referee:
        referee.recorder.insert_events([])
        proxy.refuse()
        with pytest.raises(OperationalError) as lost:
            referee.recorder.insert_events([])
        assert not means_unsent(lost.value), "it went out on a connection that was open"
        with pytest.raises(OperationalError) as away:
            referee.recorder.insert_events([])
        assert means_unsent(away.value)
        proxy.forward()
        referee.recorder.insert_events([])


def test_a_lost_connection_is_replaced_at_once(postgres_url: str) -> None:
    with Proxy(target_of(postgres_url)) as proxy, construct(proxy.url(postgres_url)) as referee:
        with ThreadPoolExecutor(4) as threads:
            list(threads.map(lambda _: referee.recorder.insert_events([]), range(8)))
        proxy.cut()
        assert referee.recorder.max_notification_id() is None


def test_connections_are_bounded_and_used_again(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.store.pool.WAIT_SECONDS", 0.01)
    pool = Pool(Opener(parameters_of(postgres_url)), 1, None)
    with pool.connection() as first, pytest.raises(Away, match="all connections"), pool.connection():
        pass
    with pool.connection() as second:
        assert second is first
        second.execute("BEGIN")
    assert second.closed, "with a transaction open it is of no more use"
    with pool.connection() as third:
        pool.close()
    assert third.closed


def test_a_late_transaction_is_found_by_its_key(postgres_url: str) -> None:
    """A network that hung delivers in the end a transaction that was given up long ago."""
    with Proxy(target_of(postgres_url)) as proxy, construct(proxy.url(postgres_url)) as referee:
        desk = Desk(referee)
        for key in ("first", "second"):  # so that the server knows the statement already
            send(desk, opened(desk, deal_ritual=False), Deal(seat=0), key=key)
        match_id = opened(desk, deal_ritual=False)
        referee.factory.pool._idle[-1].silence = 0.3
        proxy.hold()
        with pytest.raises(InDoubt):
            send(desk, match_id, Deal(seat=0), key="once")
        assert desk.failed is not None
        proxy.forward()
        until = time.monotonic() + 30
        while len(referee.rows(match_id)) == 1:
            assert time.monotonic() < until
            time.sleep(0.01)
        outcome = send(desk, match_id, Deal(seat=0), key="once")
        assert outcome.repeated
        assert outcome.aggregate.version == 2
        desk.close()
