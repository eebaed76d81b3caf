"""The service in memory, without a process or a port."""

from typing import Any

from litestar import Litestar
from litestar.testing import TestClient

from api.app import create_app
from api.settings import Settings

WAIT_SECONDS = 0.3
"""Seconds a read waits for the requested version: enough for real changes, and short when none comes."""


def client_of(url: str, **settings: Any) -> TestClient[Litestar]:
    """Return a client of a service over this store."""
    app = create_app(Settings(database_url=url, **settings), wait_seconds=WAIT_SECONDS)
    return TestClient(app, raise_server_exceptions=False)
