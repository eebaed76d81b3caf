"""An act is answered without the layers of Litestar, and as Litestar would answer it.

A match id in upper case is as good as one in lower case, but goes through Litestar. The tests take the address from
the description, so they fail if the call gets an address that `api.direct_acts` does not know.
"""

import asyncio
import json
from typing import Any

import httpx
import pytest
from litestar import Litestar

from tests.support.match_client import Table
from tests.support.paths import ROOT
from tests.support.service_in_memory import ORIGIN, Client, scope_of

CALLS = json.loads((ROOT / "openapi" / "openapi.json").read_text(encoding="utf-8"))["paths"]
JSON = {"Content-Type": "application/json"}
BID = b'{"act": "bid", "seat": 1, "bid": "2"}'
REFUSED: dict[str, tuple[str, dict[str, str], bytes]] = {
    "no token": ("", {"Authorization": ""}, BID),
    "a token that is none": ("", {"Authorization": "Basic x"}, BID),
    "an unknown token": ("", {"Authorization": "Bearer unknown"}, BID),
    "an unknown parameter": ("?at=1", {}, BID),
    "an Accept that it cannot satisfy": ("", {"Accept": "text/html"}, BID),
    "no JSON": ("", {}, b"{"),
    "the wrong media type": ("", {"Content-Type": "text/plain"}, BID),
    "too large a body": ("", {}, b" " * 70_000),
    "an unknown act": ("", {}, b'{"act": "sing"}'),
    "a repeated key": ("", {}, b'{"act": "bid", "seat": 1, "seat": 1, "bid": "2"}'),
    "the seat of another player": ("", {}, b'{"act": "bid", "seat": 2, "bid": "2"}'),
    "a different phase": ("", {}, b'{"act": "play", "seat": 1, "card": "SA"}'),
    "an old version": ("", {"If-Match": '"1"'}, BID),
    "a malformed version": ("", {"If-Match": "1"}, BID),
    "a malformed key": ("", {"Idempotency-Key": "~key"}, BID),
    "an act against the rules": ("", {}, b'{"act": "bid", "seat": 1, "bid": "7"}'),
}


@pytest.fixture
def table(client: Client) -> Table:
    table = Table(client, dealing="table", enforcement="refuse")
    table.deal()
    return table


def answers(table: Table, query: str, headers: dict[str, str], body: bytes) -> list[tuple[Any, ...]]:
    """Return status, headers and body of the answers without and through Litestar."""
    found = []
    for match_id in (table.id, table.id.upper()):
        path = f"/v1/matches/{match_id}/acts{query}"
        answer = table.client.post(path, content=body, headers=table.bearer(1) | JSON | headers)
        text = answer.text.replace(match_id, table.id)
        found.append((answer.status_code, sorted(answer.headers.multi_items()), text))
    return found


@pytest.mark.parametrize("case", REFUSED)
def test_a_refusal_is_the_same(table: Table, case: str) -> None:
    directly, through_litestar = answers(table, *REFUSED[case])
    assert directly == through_litestar
    assert directly[0] >= 400


def test_an_accepted_act_and_its_repeat_are_the_same(table: Table) -> None:
    key = {"Idempotency-Key": "an-act-of-this-test"}
    directly, through_litestar = answers(table, "", key, BID)
    assert directly[0] == through_litestar[0] == 201
    assert json.loads(directly[2]) == json.loads(through_litestar[2])
    names = [[name for name, _ in one[1] if name != "idempotency-replayed"] for one in (directly, through_litestar)]
    assert names[0] == names[1]


def path_of_acts(match_id: str) -> str:
    """Return the address at which the description has the call ``send_act``."""
    (path,) = (path for path, calls in CALLS.items() if calls.get("post", {}).get("operationId") == "send_act")
    return path.format(match=match_id)


def test_an_act_does_not_reach_litestar(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    async def unreached(*_: Any) -> None:
        raise AssertionError("Litestar got the request")

    monkeypatch.setattr(Litestar, "__call__", unreached)
    headers = table.bearer(1) | JSON
    answer = table.client.post(path_of_acts(table.id), content=BID, headers=headers)
    assert answer.status_code == 201
    with pytest.raises(AssertionError, match="Litestar got the request"):
        table.client.post(path_of_acts(table.id.upper()), content=BID, headers=headers)


def test_an_act_at_its_described_address_is_answered_directly(table: Table) -> None:
    app: Any = table.client.app
    url = ORIGIN + path_of_acts(table.id)
    scope = scope_of(httpx.Request("POST", url, content=BID, headers=table.bearer(1) | JSON)) | {"state": {}}
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": BID, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    assert table.client.result_of(app.direct_acts.answer(scope, receive, send)) is True
    assert sent[0]["status"] == 201


def test_only_acts_are_answered_directly(table: Table) -> None:
    app: Any = table.client.app

    async def nothing(*_: Any) -> Any:
        raise AssertionError("a request that is not an act is not read or answered here")

    for method, path in (
        ("GET", f"{table.path}/acts"),
        ("POST", f"/v1/matches/{table.id.upper()}/acts"),
        ("POST", f"{table.path}/acts/"),
        ("POST", f"{table.path}/acts/batch"),
        ("POST", "/v1/matches/x/acts"),
    ):
        scope = {"type": "http", "method": method, "path": path, "headers": [], "query_string": b"", "state": {}}
        assert asyncio.run(app.direct_acts.answer(scope, nothing, nothing)) is False, path
