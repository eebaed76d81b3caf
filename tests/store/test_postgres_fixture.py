"""The PostgreSQL that the store tests run on is a real one, and each test has a database to itself."""

import os

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.support.databases import Postgres, empty_database


def test_the_server_is_a_real_postgresql(postgres: Postgres):
    with psycopg.connect(postgres.url) as connection:
        (version,) = connection.execute("SELECT version()").fetchone()
    assert version.startswith("PostgreSQL 18")


def test_the_parameters_lead_where_the_url_does(postgres: Postgres):
    parts = conninfo_to_dict(postgres.url)
    assert parts.pop("port") == str(postgres.port)
    assert parts == {name: getattr(postgres, name) for name in ("host", "user", "password", "dbname")}


@pytest.mark.parametrize("time", ["first", "second"])
def test_a_database_is_empty_when_a_test_gets_it(postgres_url: str, time: str):
    with psycopg.connect(postgres_url) as connection:
        connection.execute("CREATE SCHEMA beside")
        connection.execute("CREATE TABLE left_behind (id int)")


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
