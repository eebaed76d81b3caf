"""The PostgreSQL that the store tests run on is a real one, and each test has a database to itself."""

import os

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.support.databases import Postgres, empty_database
from tests.support.databases_without_rows import database_without_rows
from tests.support.match_client import Table
from tests.support.service_in_memory import client_of


def test_the_server_is_a_real_postgresql(postgres: Postgres):
    with psycopg.connect(postgres.url) as connection:
        (version,) = connection.execute("SELECT version()").fetchone()
    assert version.startswith("PostgreSQL 18")


def test_the_parameters_lead_where_the_url_does(postgres: Postgres):
    parts = conninfo_to_dict(postgres.url)
    assert parts.pop("port") == str(postgres.port)
    assert parts == {name: getattr(postgres, name) for name in ("host", "user", "password", "dbname")}


@pytest.mark.parametrize("time", ["first", "second"])
def test_a_database_is_empty_when_a_test_gets_it(empty_postgres_url: str, time: str):
    with psycopg.connect(empty_postgres_url) as connection:
        connection.execute("CREATE SCHEMA beside")
        connection.execute("CREATE TABLE left_behind (id int)")


@pytest.mark.parametrize(
    "change",
    [
        "CREATE SCHEMA beside",
        "CREATE TABLE left_behind (id int)",
        "CREATE SEQUENCE left_behind",
        "CREATE VIEW left_behind AS SELECT 1",
        "CREATE INDEX ON names (kind)",
        "CREATE FUNCTION left_behind() RETURNS int RETURN 1",
        "CREATE FUNCTION left_behind() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END';"
        "CREATE TRIGGER late BEFORE UPDATE ON names FOR EACH ROW EXECUTE FUNCTION left_behind()",
        "ALTER TABLE names ADD COLUMN left_behind int",
        "ALTER TABLE names ALTER COLUMN kind DROP NOT NULL",
        "ALTER TABLE names ALTER COLUMN kind SET DEFAULT 'x'",
        "ALTER TABLE names ADD CHECK (kind <> 'x')",
    ],
)
def test_what_no_service_makes_is_dropped_with_all_else(postgres: Postgres, change: str):
    with database_without_rows(postgres) as url, client_of(url):
        pass
    with psycopg.connect(url) as connection:
        connection.execute(change)
    with database_without_rows(postgres) as again:
        assert again == url
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT FROM pg_tables WHERE schemaname = 'public'").fetchall() == []


def test_the_tables_of_a_service_are_kept_without_their_rows(postgres: Postgres):
    counts = set()
    for _ in range(2):
        with database_without_rows(postgres) as url, client_of(url) as client:
            with psycopg.connect(url) as connection:
                counts.add(connection.execute("SELECT count(*), max(oid) FROM pg_class").fetchone())
            assert client.get("/v1/matches").json()["items"] == []
            Table(client).deal()
            with psycopg.connect(url) as connection:
                first, count = connection.execute(
                    "SELECT min(notification_id), count(*) FROM referee_events"
                ).fetchone()
            assert (first, count > 1) == (1, True)
    assert len(counts) == 1, "the second service found the tables of the first"


def test_a_session_left_open_does_not_keep_its_database(postgres: Postgres):
    with empty_database(postgres) as url:
        holder = psycopg.connect(url)
        holder.execute("CREATE TABLE left_behind (id int)")
    with pytest.raises(psycopg.OperationalError):
        holder.execute("SELECT 1")


def test_two_databases_at_once_are_not_the_same(postgres: Postgres):
    with empty_database(postgres) as one, empty_database(postgres) as other:
        assert one != other


def test_a_store_url_names_one_of_the_two_databases(store_url: str):
    scheme, _, rest = store_url.partition("://")
    assert scheme in ("sqlite", "postgresql")
    assert scheme != "sqlite" or os.path.isabs(rest[1:])
