"""Long polls: answers wait for an event, for a limited time, in a limited number, and only for connected clients."""

import asyncio
import re
import shutil
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from litestar import Litestar

from api.app import create_app
from api.http.params import WAIT_MAX
from api.runtime import wakeups
from api.settings import Settings
from tests.api.http.test_problems import problem
from tests.api.http.test_protocol import PATIENCE, Wire, wire
from tests.api.http.test_readers import come_true
from tests.support.match_client import Table
from tests.support.paths import ROOT
from tests.support.running_service import running, served
from tests.support.service_in_memory import Client, client_of

Ask = Callable[..., Awaitable[httpx.Response]]
WAIT = WAIT_MAX


@asynccontextmanager
async def waiting(url: str, table: Table) -> AsyncIterator[tuple[Litestar, Ask]]:
    """Yield a service within this loop, on a store with the match, and a function that sends requests about the
    match."""
    app = create_app(Settings(database_url=url))
    async with (
        app.lifespan(),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as client,
    ):

        async def ask(path: str, who: int | str | None = None, body: Any = None, **headers: str) -> httpx.Response:
            headers |= table.bearer(who)
            async with asyncio.timeout(WAIT + PATIENCE):
                if body is None:
                    return await client.get(table.path + path, headers=headers)
                return await client.post(table.path + path, json=body, headers=headers)

        yield app, ask


def stored(url: str) -> Table:
    """Store a match in which seat 1 bids next; return it."""
    with client_of(url) as client:
        table = Table(client)
        table.deal()
        return table


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Table]:
    """Return the folder of a SQLite store, and such a match in it."""
    place = tmp_path_factory.mktemp("dealt")
    return place, stored(f"sqlite:///{place}/knacka.db")


@pytest.fixture
def dealt(original: tuple[Path, Table], tmp_path: Path) -> Table:
    """Return this match in a copy of that store."""
    shutil.copytree(original[0], tmp_path, dirs_exist_ok=True)
    return original[1]


def asked(path: str, version: int) -> tuple[str, dict[str, str]]:
    """Return the path and headers of a request that waits for a change after a version, for each of the two calls."""
    if path == "/events":
        return f"/events?after={version}", {}
    return "?", {"If-None-Match": f'"{version}"'}


def with_wait(path: str, seconds: int) -> str:
    return f"{path}&wait={seconds}"


@pytest.mark.parametrize("path", ["/events", ""])
@pytest.mark.parametrize("who", [None, 0, "official"])
def test_an_answer_waits_until_something_happens(sqlite_url: str, dealt: Table, path: str, who: int | None) -> None:
    async def ask() -> None:
        async with waiting(sqlite_url, dealt) as (app, call):
            page, headers = asked(path, 2)
            poll = asyncio.create_task(call(with_wait(page, WAIT), who, **headers))
            await come_true(lambda: app.state.service.hub.polls == 1)
            refused = await call("/acts", 2, {"act": "bid", "seat": 2, "bid": "2"})
            assert refused.status_code == 422, "nothing has happened"
            assert not poll.done()
            assert (await call("/acts", 1, {"act": "bid", "seat": 1, "bid": "2"})).status_code == 201
            answer = await poll
            again = await call(page, who, **headers)
            assert (answer.status_code, answer.content) == (200, again.content)
            assert answer.headers["etag"] == '"3"'
            assert app.state.service.hub.polls == 0

    asyncio.run(ask())


@pytest.mark.parametrize("path", ["/events", ""])
def test_it_does_not_wait_for_ever(client: Client, path: str) -> None:
    table = Table(client)
    page, headers = asked(path, table.version())
    began = time.monotonic()
    answer = table.get(with_wait(page, 1), **headers)
    assert time.monotonic() - began > 0.9
    if path:
        assert answer.json() == {"events": [], "acts": [], "next": None, "version": table.version()}
    else:
        assert answer.status_code == 304


class TestAtOnce:
    """Answers without a wait. The requested wait is so long that a test would notice it."""

    @pytest.fixture(autouse=True)
    def _no_place(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the service refuse every request that would wait."""
        monkeypatch.setattr(wakeups, "POLLS_MAX", 0)

    def test_events_that_are_already_stored_are_returned_at_once(self, table: Table) -> None:
        table.deal()
        assert [event["number"] for event in table.get(f"/events?after=1&wait={WAIT}").json()["events"]] == [2]
        assert table.get(f"?wait={WAIT}", **{"If-None-Match": '"1"'}).json()["version"] == 2

    def test_a_wait_without_a_version_returns_the_state_at_once(self, table: Table) -> None:
        assert table.get(f"?wait={WAIT}").status_code == 200

    def test_a_request_without_wait_does_not_wait(self, table: Table) -> None:
        assert table.get("/events?after=1").json()["events"] == []
        assert table.get(**{"If-None-Match": '"1"'}).status_code == 304

    def test_a_wrong_token_is_refused(self, client: Client, table: Table) -> None:
        headers = Table(client).bearer(0) | {"If-None-Match": '"1"'}
        for page in (f"/events?after=1&wait={WAIT}", f"?wait={WAIT}"):
            problem(client.get(table.path + page, headers=headers), 401, "token-unknown")

    @pytest.mark.parametrize("seconds", ["26", "-1", "x", "1.5"])
    def test_how_long_is_bounded(self, table: Table, seconds: str) -> None:
        for page in (f"/events?wait={seconds}", f"?wait={seconds}"):
            problem(table.get(page), 400, "bad-parameter")


def test_a_match_that_is_over_is_not_waited_for(client: Client) -> None:
    table = Table(client, dealing="house", opening={"points": [2, 2, 2]})
    table.finish()
    began, version = time.monotonic(), table.version()
    assert table.get(f"/events?after={version}&wait={WAIT}").json()["events"] == []
    assert table.get(f"?wait={WAIT}", **{"If-None-Match": f'"{version}"'}).status_code == 304
    assert time.monotonic() - began < WAIT


def test_the_proxy_in_deploy_waits_longer() -> None:
    conf = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    assert min(map(int, re.findall(r"proxy_read_timeout (\d+)s", conf))) > WAIT_MAX


@pytest.fixture
def with_one_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the address of a service in which one request may wait."""
    monkeypatch.setattr(wakeups, "POLLS_MAX", 1)
    with served(f"sqlite:///{tmp_path}/knacka.db") as address:
        yield address


def send(connection: Wire, page: str, **headers: str) -> None:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    connection.send(f"GET {page} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode())


def refused_in_time(client: httpx.Client, page: str) -> httpx.Response:
    """Send requests until one is refused because all places are taken; return the refusal."""
    until = time.monotonic() + PATIENCE
    while (answer := client.get(page)).status_code != 503:
        assert time.monotonic() < until
    return answer


def test_the_number_of_waiting_callers_is_limited_and_a_caller_who_leaves_makes_room(with_one_place: str) -> None:
    with wire(with_one_place) as gone, httpx.Client(base_url=with_one_place, timeout=60) as client:
        table = Table(client)
        send(gone, f"{table.path}/events?after=1&wait={WAIT}")
        answer = refused_in_time(client, f"{table.path}/events?after=1&wait=1")
        problem(answer, 503, "busy")
        assert answer.headers["retry-after"] == "1"
        assert client.get(table.path).status_code == 200, "a request without `wait` is answered"
        gone.socket.close()
        until = time.monotonic() + PATIENCE  # shorter than the wait of the other request
        while client.get(f"{table.path}/events?after=1&wait=1").status_code == 503:
            assert time.monotonic() < until


def test_a_service_that_is_terminated_answers_its_long_polls_at_once(sqlite_url: str) -> None:
    with running(sqlite_url) as process, httpx.Client(base_url=process.address) as client, ExitStack() as open_wires:
        path = Table(client).path
        pages = [asked("/events", 1), asked("", 1)]
        polls = [open_wires.enter_context(wire(process.address)) for _ in pages]
        for poll, (page, headers) in zip(polls, pages, strict=True):
            send(poll, path)
            assert poll.answer().status == 200
            send(poll, path + with_wait(page, WAIT), **headers)
        assert client.get("/health/live").status_code == 200, "it has read what came before this"
        assert process.end(signal.SIGTERM, 10) in (0, -signal.SIGTERM)
        statuses = [poll.answer().status for poll in polls]
    assert statuses == [200, 304]
