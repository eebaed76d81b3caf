"""The service in memory: one for all tests, or with a store of its own.

What is about a store runs on SQLite and on PostgreSQL (``store_url``, ``own_client``). What only goes through one
runs on either, half of the tests on each; ``STORES=both`` has it run on both, as ``make soak`` does.
"""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import httpx
import psycopg
import pytest
from litestar import Litestar
from litestar.testing import TestClient

from api.app import create_app
from api.settings import Settings
from tests.api.serving import served
from tests.api.table import Table
from tests.edited import Editor, Matches, fill, played
from tests.stores import Postgres, empty_database

WAIT_SECONDS = 0.3
"""Long enough for what happens anyway, short enough to wait for what does not."""

STORES = ["sqlite", "postgresql"]


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient[Litestar]]:
    """One service for all tests that need none to themselves: their matches do not know of each other."""
    path: Path = tmp_path_factory.mktemp("service")
    with client_of(f"sqlite:///{path}/knacka.db") as client:
        yield client


@pytest.fixture(scope="session")
def postgres_client(postgres: Postgres) -> Iterator[TestClient[Litestar]]:
    """The same on PostgreSQL."""
    with empty_database(postgres) as url, client_of(url) as client:
        yield client


@pytest.fixture(params=STORES if os.environ.get("STORES") == "both" else None)
def either_store(request: pytest.FixtureRequest) -> str:
    """One of the two databases, as the name of the test has it."""
    store: str = getattr(request, "param", STORES[crc32(request.node.name.encode()) % len(STORES)])
    return store


@pytest.fixture
def either_client(request: pytest.FixtureRequest, either_store: str) -> TestClient[Litestar]:
    """The service for all tests on one of the two databases."""
    name = {"sqlite": "client", "postgresql": "postgres_client"}[either_store]
    client: TestClient[Litestar] = request.getfixturevalue(name)
    return client


@pytest.fixture
def either_url(request: pytest.FixtureRequest, either_store: str) -> str:
    """The URL of a store with nothing in it, on one of the two databases."""
    url: str = request.getfixturevalue({"sqlite": "sqlite_url", "postgresql": "postgres_url"}[either_store])
    return url


@pytest.fixture
def lone_client(either_url: str) -> Iterator[TestClient[Litestar]]:
    """A service over such a store."""
    with client_of(either_url) as client:
        yield client


@pytest.fixture(scope="module")
def http(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A service on a port, for streams cannot be read from one in memory."""
    path: Path = tmp_path_factory.mktemp("served")
    with served(f"sqlite:///{path}/knacka.db") as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


@pytest.fixture(scope="session")
def all_games(tmp_path_factory: pytest.TempPathFactory) -> Matches:
    """The rows of a match of each game."""
    return played(f"sqlite:///{tmp_path_factory.mktemp('played')}/knacka.db")


@pytest.fixture(scope="session")
def matches(all_games: Matches) -> Matches:
    """Two of them: to be edited, the first one, and another."""
    return all_games.first(2)


@pytest.fixture(scope="session")
def sqlite_original(tmp_path_factory: pytest.TempPathFactory, matches: Matches) -> Path:
    """The directory of a store of these two matches, with its books."""
    path = tmp_path_factory.mktemp("original")
    fill(f"sqlite:///{path}/knacka.db", matches)
    for file in path.iterdir():
        file.chmod(0o600)
    return path


@pytest.fixture(scope="session")
def postgres_original(postgres: Postgres, matches: Matches) -> str:
    """The name of a database that holds the same."""
    with psycopg.connect(postgres.url, autocommit=True) as admin:
        admin.execute("CREATE DATABASE original TEMPLATE template0")
    fill(postgres.url_of("original"), matches)
    return "original"


@pytest.fixture
def sqlite_editor(sqlite_original: Path, tmp_path: Path) -> Editor:
    """Over a copy of that store on SQLite."""
    shutil.copytree(sqlite_original, tmp_path, dirs_exist_ok=True)
    return Editor(f"sqlite:///{tmp_path}/knacka.db")


@pytest.fixture
def postgres_editor(postgres: Postgres, postgres_original: str) -> Iterator[Editor]:
    """Over a copy of that store on PostgreSQL."""
    with psycopg.connect(postgres.url, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE edited TEMPLATE {postgres_original} STRATEGY file_copy".encode())
        yield Editor(postgres.url_of("edited"))
        admin.execute("DROP DATABASE edited WITH (FORCE)")


@pytest.fixture(params=["sqlite", "postgres"])
def editor(request: pytest.FixtureRequest) -> Editor:
    """Over a store of two matches with its books, on each of the two databases; nothing is wrong with it."""
    found: Editor = request.getfixturevalue(f"{request.param}_editor")
    return found


@pytest.fixture
def own_client(store_url: str) -> Iterator[TestClient[Litestar]]:
    """A service over a store with nothing in it, on SQLite and on PostgreSQL."""
    with client_of(store_url) as client:
        yield client


def client_of(url: str, **settings: Any) -> TestClient[Litestar]:
    app = create_app(Settings(database_url=url, **settings), wait_seconds=WAIT_SECONDS)
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture
def table(client: TestClient[Litestar]) -> Table:
    """A match at a real table in which offences stand."""
    return Table(client)


@pytest.fixture
def dealt(table: Table) -> Table:
    """The same, with the cards dealt: seat 1 is to bid."""
    table.deal()
    return table
