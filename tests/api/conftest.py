"""The service in memory, with a store of its own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from api.app import create_app
from api.settings import Settings
from tests.api.table import Table
from tests.edited import Matches, played

WAIT_SECONDS = 0.3
"""Long enough for what happens anyway, short enough to wait for what does not."""


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient[Litestar]]:
    """One service for all tests that need none to themselves: their matches do not know of each other."""
    path: Path = tmp_path_factory.mktemp("service")
    with client_of(f"sqlite:///{path}/knacka.db") as client:
        yield client


@pytest.fixture(scope="session")
def all_games(tmp_path_factory: pytest.TempPathFactory) -> Matches:
    """The rows of a match of each game."""
    return played(f"sqlite:///{tmp_path_factory.mktemp('played')}/knacka.db")


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
