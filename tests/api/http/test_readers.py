"""Many readers that hang: the service refuses them in time, and other requests do not wait."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pytest
from psycopg.sql import SQL, Identifier

from api.app import create_app
from api.http.threads import Threads
from api.settings import Settings
from referee.store.command import Busy
from tests.support.match_client import HANDS, Table
from tests.support.running_service import served

Client = httpx.AsyncClient
MANY = 120
"""Number of simultaneous readers, more than the service has places for."""
IN_TIME_SECONDS = 20
"""Seconds that count as immediate on a busy machine."""


@contextmanager
def locked(url: str, table: str) -> Iterator[None]:
    """Lock this table against all readers within the block."""
    with psycopg.connect(url) as connection:
        connection.execute(SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(Identifier(table)))
        yield
        connection.rollback()


async def come_true(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(IN_TIME_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


def assert_refused(answer: httpx.Response) -> None:
    assert answer.status_code == 503, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["retry-after"] == "1"
    assert answer.json()["type"] == "/problems/busy"


@asynccontextmanager
async def hanging(url: str, client: Client, page: str, table: str) -> AsyncIterator[None]:
    """Start more readers of a page than the service has places for. A locked table blocks them within the block."""
    with locked(url, table):
        asking = [asyncio.create_task(client.get(page)) for _ in range(MANY)]
        await come_true(lambda: any(one.done() for one in asking))
        async with asyncio.timeout(IN_TIME_SECONDS):
            yield
        refused = [one.result() for one in asking if one.done()]
        assert len(refused) < MANY, "no request waited"
    for answer in refused:
        assert_refused(answer)
    await asyncio.gather(*asking)  # the readers that waited
    assert (await client.get(page)).status_code == 200, "there is room again"


async def answered(client: Client, *pages: str) -> None:
    for page in pages:
        answer = await client.get(page)
        assert answer.status_code == 200, f"{page}: {answer.text}"


@pytest.fixture
def serving(postgres_url: str) -> Iterator[tuple[str, Table]]:
    """Yield the address of a service, and a match with current books."""
    with served(postgres_url) as address, httpx.Client(base_url=address) as client:
        table = Table(client)
        table.deal()
        for page in ("/knocks", "/protocol"):
            assert table.get(page).status_code == 200
        yield address, table


def asking(address: str) -> Client:
    return Client(base_url=address, timeout=60, limits=httpx.Limits(max_connections=2 * MANY))


def test_when_all_readers_hang_more_are_refused_and_probes_are_answered(
    postgres_url: str, serving: tuple[str, Table]
) -> None:
    address, table = serving

    async def ask() -> None:
        async with (
            asking(address) as client,
            hanging(postgres_url, client, f"{table.path}/knocks", "book_cases_4_entries"),
        ):
            await answered(client, "/health/live", "/health/ready", table.path)
            for accept in ("application/json", "application/x-ndjson"):
                assert_refused(await client.get(f"{table.path}/events", headers={"Accept": accept}))

    asyncio.run(ask())


def test_short_answers_do_not_wait_for_long_answers(postgres_url: str, serving: tuple[str, Table]) -> None:
    address, table = serving

    async def ask() -> None:
        async with (
            asking(address) as client,
            hanging(postgres_url, client, f"{table.path}/replay?at=1", "referee_events"),
        ):
            await answered(client, "/health/live", *(table.path + page for page in ("", "/protocol", "/knocks")))

    asyncio.run(ask())


# Within the service


def test_a_place_is_free_again_when_a_call_ends_or_its_caller_has_gone() -> None:
    async def ask() -> None:
        in_one_thread, go_on = Threads("one", 1, waiting=1), threading.Event()
        for _ in range(3):
            running = asyncio.create_task(in_one_thread(go_on.wait, IN_TIME_SECONDS))
            waiting = asyncio.create_task(in_one_thread(int, 7))
            await asyncio.sleep(0)
            with pytest.raises(Busy):
                await in_one_thread(int, 8)
            waiting.cancel()
            with suppress(asyncio.CancelledError):
                await waiting
            waiting = asyncio.create_task(in_one_thread(int, 9))
            go_on.set()
            assert await running
            assert await waiting == 9
            with pytest.raises(ZeroDivisionError):
                await in_one_thread(divmod, 1, 0)
            go_on.clear()

    asyncio.run(ask())


@asynccontextmanager
async def loading(url: str) -> AsyncIterator[tuple[Client, list[UUID], threading.Event]]:
    """Yield a client of a service within this loop, the ids that it has loaded, and the event for which loads
    wait."""
    app = create_app(Settings(database_url=url), wait_seconds=IN_TIME_SECONDS)
    loads, go_on = list[UUID](), threading.Event()
    async with app.lifespan(), Client(transport=httpx.ASGITransport(app), base_url="http://here") as client:
        referee = app.state.service.referee
        load = referee.load

        def counted(match_id: UUID) -> Any:
            loads.append(match_id)
            assert go_on.wait(IN_TIME_SECONDS)
            return load(match_id)

        referee.load = counted
        yield client, loads, go_on


def test_a_match_outside_the_cache_is_loaded_once_for_simultaneous_readers(sqlite_url: str) -> None:
    with served(sqlite_url) as address, httpx.Client(base_url=address) as client:
        table = Table(client)

    async def ask() -> None:
        async with loading(sqlite_url) as (client, loads, go_on):
            asked = [asyncio.create_task(client.get(table.path)) for _ in range(30)]
            await come_true(lambda: bool(loads))
            gone = asked.pop(0)
            gone.cancel()  # the first request may leave
            await asyncio.sleep(0.1)
            go_on.set()
            assert {(await one).status_code for one in asked} == {200}
            assert loads == [UUID(table.id)]
            assert (await client.get(f"/v1/matches/{UUID(int=1)}")).status_code == 404

    asyncio.run(ask())


def test_a_reader_that_waits_for_a_version_does_not_load_the_match_at_each_event(sqlite_url: str) -> None:
    with served(sqlite_url) as address, httpx.Client(base_url=address) as client:
        table = Table(client)

    async def ask() -> None:
        async with loading(sqlite_url) as (client, loads, go_on):
            go_on.set()
            waiting = asyncio.create_task(client.get(f"{table.path}?min_version=5"))
            await come_true(lambda: len(loads) == 1)  # to identify the caller
            acts: list[dict[str, Any]] = [
                {"act": "deal", "seat": 0, "hands": HANDS},
                *({"act": "bid", "seat": seat, "bid": bid} for seat, bid in ((1, "2"), (2, "pass"), (0, "3"))),
            ]
            for act in acts:
                assert not waiting.done()
                done = await client.post(f"{table.path}/acts", json=act, headers=table.bearer(act["seat"]))
                assert done.status_code == 201
            assert (await waiting).json()["version"] >= 5
            assert len(loads) == 1

    asyncio.run(ask())
