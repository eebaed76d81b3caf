"""The client that most tests use gives the answers of Litestar's."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from litestar.testing import TestClient

from tests.support.match_client import Table
from tests.support.service_in_memory import Client

REQUESTS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "", {}),
    ("GET", "", {"headers": {"Accept": "text/html"}}),
    ("GET", "/events?limit=2", {}),
    ("GET", "/events", {"params": {"limit": 2, "after": 1}}),
    ("GET", "/events", {"params": {"limit": "många"}, "headers": {"Accept-Language": "sv"}}),
    ("GET", "/events?fråga=1 2", {}),
    ("GET", "/n%C3%A5got/annat", {}),
    ("GET", "/any/../other", {}),
    ("HEAD", "", {}),
    ("OPTIONS", "/acts", {}),
    ("DELETE", "", {}),
    ("POST", "/acts", {"json": {"act": "deal", "seat": 1, "reason": "två"}}),
    ("POST", "/acts", {"content": b"{"}),
    ("POST", "/acts", {"content": "{", "headers": {"Content-Type": "application/json"}}),
    ("POST", "/acts", {}),
    ("GET", "", {"headers": {"If-None-Match": '"1"'}}),
    ("GET", "", {"headers": {"Authorization": "Bearer unknown"}}),
]


class Portal:
    """Runs the calls of Litestar's client in the event loop of ours, in which the service runs."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def call(self, called: Callable[..., Any], *given: Any) -> Any:
        async def result() -> Any:
            found = called(*given)
            return await found if asyncio.iscoroutine(found) else found

        return self._client.result_of(result())


def lasting(headers: httpx.Headers) -> list[tuple[str, str]]:
    """Return the headers that do not depend on the time or on earlier requests."""
    return [(name, value) for name, value in headers.multi_items() if name not in ("date", "ratelimit")]


@pytest.mark.parametrize("asked", REQUESTS)
def test_an_answer_is_that_of_litestars_client(client: Client, table: Table, asked: tuple[str, str, Any]) -> None:
    method, path, more = asked
    real = TestClient(client.app)
    real.blocking_portal = Portal(client)  # type: ignore[assignment]
    real.headers["accept-encoding"] = "gzip, deflate"  # not what happens to be installed
    real.headers["x-request-id"] = "the-same-id"
    ours, theirs = (one.request(method, table.path + path, **more) for one in (client, real))
    assert ours.status_code == theirs.status_code
    assert lasting(ours.headers) == lasting(theirs.headers)
    assert ours.content == theirs.content
    assert ours.request.url == theirs.request.url
    del ours.request.headers["host"]  # which Litestar's client removes from the request when it has sent it
    assert ours.request.headers == theirs.request.headers
