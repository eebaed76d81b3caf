"""Shared threads are divided fairly: no club, and no address without a club, blocks the others."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from api.http.threads import Threads, count_calls_for, in_long_thread
from referee.store.command import Busy
from tests.support.club_client import ClubTable
from tests.support.match_client import Table
from tests.support.running_service import served

SECONDS_MAX = 20


class Gate:
    """Calls that occupy a thread until a test lets them end, counted by holder."""

    def __init__(self) -> None:
        self.running: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.ended = 0
        self._steps = threading.Semaphore(0)
        self._lock = threading.Lock()

    def __call__(self, holder: str) -> str:
        """Occupy the thread until the test lets the call end."""
        with self._lock:
            self.running[holder] += 1
            self.most[holder] = max(self.most[holder], self.running[holder])
        assert self._steps.acquire(timeout=SECONDS_MAX)
        with self._lock:
            self.running[holder] -= 1
            self.ended += 1
        return holder

    def let_through(self, calls: int) -> None:
        """Let this number of calls end."""
        self._steps.release(calls)

    async def until(self, running: int) -> None:
        """Wait until this number of calls occupy a thread."""
        async with asyncio.timeout(SECONDS_MAX):
            while self.running.total() < running:
                await asyncio.sleep(0.001)

    async def until_ended(self, calls: int) -> None:
        """Wait until this number of calls have ended."""
        async with asyncio.timeout(SECONDS_MAX):
            while self.ended < calls:
                await asyncio.sleep(0.001)


async def asked(threads: Threads, gate: Gate, holder: str, calls: int) -> list[asyncio.Task[str]]:
    """Start this number of calls for a holder; return them when they wait."""

    async def call() -> str:
        count_calls_for(holder)
        return await threads(gate, holder)

    tasks = [asyncio.create_task(call()) for _ in range(calls)]
    await asyncio.sleep(0)
    return tasks


async def ended(tasks: Sequence[asyncio.Task[Any]]) -> list[Any]:
    async with asyncio.timeout(SECONDS_MAX):
        return await asyncio.gather(*tasks, return_exceptions=True)


def test_no_one_has_more_than_half_of_the_threads_while_others_wait() -> None:
    threads, gate = Threads("fair", 4, waiting=60), Gate()

    async def all_of_it() -> None:
        many = await asked(threads, gate, "many", 30)
        await gate.until(4)
        assert gate.running == {"many": 4}, "no other holder waits"
        few = await asked(threads, gate, "few", 30)
        gate.let_through(4)
        await gate.until_ended(4)
        await gate.until(4)
        gate.most.clear()
        for done in range(5, 9):  # the holder "few" has waiting calls
            gate.let_through(1)
            await gate.until_ended(done)
            await gate.until(4)
        assert gate.most["many"] <= 2
        assert gate.most["few"] >= 2
        gate.let_through(100)
        assert set(await ended([*many, *few])) == {"many", "few"}

    asyncio.run(all_of_it())


def test_a_call_that_raises_stop_iteration_ends_with_an_error() -> None:
    threads = Threads("ends", 1, waiting=1)

    async def call() -> None:
        async with asyncio.timeout(SECONDS_MAX):
            await threads(next, iter(()))

    with pytest.raises(RuntimeError, match="StopIteration"):
        asyncio.run(call())


def test_no_one_has_more_than_half_of_the_places_while_others_wait() -> None:
    threads, gate = Threads("fair", 2, waiting=10), Gate()

    async def all_of_it() -> None:
        many = await asked(threads, gate, "many", 20)
        assert [one.done() for one in many].count(True) == 8, "12 have a place"
        few = await asked(threads, gate, "few", 10)
        await gate.until(2)
        await asyncio.sleep(0)
        gate.let_through(100)
        done = [*await ended(many), *await ended(few)]
        assert Counter(one for one in done if isinstance(one, str)) == {"many": 6, "few": 6}
        assert all(isinstance(one, Busy | str) for one in done)

    asyncio.run(all_of_it())


def test_a_call_that_is_not_awaited_any_more_takes_no_place() -> None:
    threads, gate = Threads("fair", 1, waiting=1), Gate()

    async def all_of_it() -> None:
        first = await asked(threads, gate, "one", 1)
        await gate.until(1)
        (gone,) = await asked(threads, gate, "one", 1)
        gone.cancel()
        await ended([gone])
        second = await asked(threads, gate, "one", 1)
        gate.let_through(2)
        assert await ended([*first, *second]) == ["one", "one"]

    asyncio.run(all_of_it())


@contextmanager
def all_places_taken(holder: str) -> Iterator[list[Any]]:
    """Fill all places for long answers with calls of one holder until one is refused. Yield a list that gets the
    results of its calls when they end."""
    gate, results, ready, over = Gate(), list[Any](), threading.Event(), threading.Event()

    async def take() -> None:
        tasks = await asked(in_long_thread, gate, holder, in_long_thread.places)
        await gate.until(1)
        ready.set()
        while not (over.is_set() or any(one.done() for one in tasks)):
            await asyncio.sleep(0.01)
        gate.let_through(in_long_thread.places)
        results.extend(await ended(tasks))

    thread = threading.Thread(target=asyncio.run, args=(take(),))
    thread.start()
    assert ready.wait(SECONDS_MAX)
    try:
        yield results
    finally:
        over.set()
        thread.join()


def test_a_club_that_asks_much_is_refused_and_no_one_else(sqlite_url: str) -> None:
    with served(sqlite_url) as address, httpx.Client(base_url=address, timeout=SECONDS_MAX) as client:
        club, table = ClubTable(client), Table(client)
        table.deal()
        replay = f"{table.path}/replay?at=1"
        with all_places_taken(f"club {club.id}") as results:
            refused = client.get(f"{table.path}/replay?at=2", headers=club.bearer("founder"))
            assert refused.status_code == 503, refused.text
            assert client.get(replay).status_code == 200
        assert [isinstance(one, Busy) for one in results].count(True) == 1, "its newest call made room"


def test_an_address_that_asks_much_is_refused_and_no_club(sqlite_url: str) -> None:
    with served(sqlite_url) as address, httpx.Client(base_url=address, timeout=SECONDS_MAX) as client:
        club, table = ClubTable(client), Table(client)
        table.deal()
        with all_places_taken("127.0.0.1"):
            assert client.get(f"{table.path}/replay?at=1").status_code == 503
            plan = client.get(f"{club.path}/plan?currency=SEK", headers=club.bearer("founder"))
            assert plan.status_code == 200, plan.text
