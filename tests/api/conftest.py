"""The service in memory: one for all tests, or with a store of its own.

Tests of a store run on SQLite and PostgreSQL (``store_url``, ``own_client``). Other tests run on one of the two, half
of them on each; ``STORES=both`` runs them on both, as ``make soak`` does.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import httpx
import psycopg
import pytest

from tests.support.databases import Postgres, empty_database
from tests.support.edited_stores import Editor, Matches, fill, played
from tests.support.match_client import Table
from tests.support.running_service import served
from tests.support.service_in_memory import Client, client_of

REQUEST_ID = "the-same-id"
"""The id of each request, because many tests compare whole answers."""

STORES = ["sqlite", "postgresql"]


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Yield a client of the service that tests share, each with matches of its own."""
    path: Path = tmp_path_factory.mktemp("service")
    with client_of(f"sqlite:///{path}/knacka.db") as client:
        yield client


@pytest.fixture(scope="session")
def postgres_client(postgres: Postgres) -> Iterator[Client]:
    """Yield a client of the service on PostgreSQL that tests share."""
    with empty_database(postgres) as url, client_of(url) as client:
        yield client


@pytest.fixture(params=STORES if os.environ.get("STORES") == "both" else None)
def either_store(request: pytest.FixtureRequest) -> str:
    """Return the database of this test, chosen by the test's name."""
    store: str = getattr(request, "param", STORES[crc32(request.node.name.encode()) % len(STORES)])
    return store


@pytest.fixture
def either_client(request: pytest.FixtureRequest, either_store: str) -> Client:
    """Return the shared client on the database of this test."""
    name = {"sqlite": "client", "postgresql": "postgres_client"}[either_store]
    client: Client = request.getfixturevalue(name)
    return client


@pytest.fixture
def either_url(request: pytest.FixtureRequest, either_store: str) -> str:
    """Return the URL of an empty store on the database of this test."""
    url: str = request.getfixturevalue({"sqlite": "sqlite_url", "postgresql": "postgres_url"}[either_store])
    return url


@pytest.fixture
def lone_client(either_url: str) -> Iterator[Client]:
    """Yield a client of a service with an empty store of its own."""
    with client_of(either_url) as client:
        yield client


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """Yield a client of a service on a port. The client in memory cannot read streams."""
    path: Path = tmp_path_factory.mktemp("served")
    with served(f"sqlite:///{path}/knacka.db") as address, httpx.Client(base_url=address, timeout=30) as client:
        client.headers["X-Request-Id"] = REQUEST_ID
        yield client


@pytest.fixture(scope="session")
def all_games(tmp_path_factory: pytest.TempPathFactory) -> Matches:
    """Return the rows of a match of each game."""
    return played(f"sqlite:///{tmp_path_factory.mktemp('played')}/knacka.db")


@pytest.fixture(scope="session")
def matches(all_games: Matches) -> Matches:
    """Return the rows of two matches. Tests edit the first."""
    return all_games.first(2)


@pytest.fixture(scope="session")
def sqlite_original(tmp_path_factory: pytest.TempPathFactory, matches: Matches) -> Path:
    """Return the directory of a store with these two matches and its books."""
    path = tmp_path_factory.mktemp("original")
    fill(f"sqlite:///{path}/knacka.db", matches)
    for file in path.iterdir():
        file.chmod(0o600)
    return path


@pytest.fixture(scope="session")
def postgres_original(postgres: Postgres, matches: Matches) -> str:
    """Return the name of a PostgreSQL database with these two matches and its books."""
    with psycopg.connect(postgres.url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE original TEMPLATE template0")
    fill(postgres.url_of("original"), matches)
    return "original"


@pytest.fixture
def sqlite_editor(sqlite_original: Path, tmp_path: Path) -> Editor:
    """Return an editor of a copy of the SQLite store."""
    shutil.copytree(sqlite_original, tmp_path, dirs_exist_ok=True)
    return Editor(f"sqlite:///{tmp_path}/knacka.db")


@pytest.fixture
def postgres_editor(postgres: Postgres, postgres_original: str) -> Iterator[Editor]:
    """Yield an editor of a copy of the PostgreSQL store."""
    with psycopg.connect(postgres.url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE edited TEMPLATE {postgres_original} STRATEGY file_copy".encode())
        yield Editor(postgres.url_of("edited"))
        admin.execute("DROP DATABASE edited WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def editor(request: pytest.FixtureRequest) -> Editor:
    """Return an editor of an undamaged store with two matches and its books, on each of the two databases."""
    found: Editor = request.getfixturevalue(f"{request.param}_editor")
    return found


@pytest.fixture
def own_client(store_url: str) -> Iterator[Client]:
    """Yield a client of a service with an empty store, on SQLite and on PostgreSQL."""
    with client_of(store_url) as client:
        yield client


@pytest.fixture
def table(client: Client) -> Table:
    """Return a match at a real table in which errors are punished only after a knock."""
    return Table(client)


@pytest.fixture
def dealt(table: Table) -> Table:
    """Return that match after the deal: seat 1 bids next."""
    table.deal()
    return table
