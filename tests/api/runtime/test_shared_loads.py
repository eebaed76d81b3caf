"""A match is read from the store once for all requests that wait for it."""

import asyncio

from api.http.threads import count_calls_for, in_thread
from api.runtime.aggregate_reader import AggregateReader
from api.runtime.metrics import Metrics
from api.runtime.wakeups import Hub
from referee.store.command import Busy
from referee.store.desk import Desk
from referee.store.store import Referee, settings_for
from tests.api.http.test_fair_pools import Gate, asked, ended
from tests.support.random_matches import opened


def test_a_load_that_is_refused_to_one_caller_is_not_refused_to_the_others(sqlite_url: str) -> None:
    referee = Referee(settings_for(sqlite_url))
    desk = Desk(referee)
    match = opened(desk)
    desk.close()
    desk, gate = Desk(referee), Gate()

    async def all_of_it() -> None:
        reader = AggregateReader(referee, desk, Hub(asyncio.get_running_loop()), Metrics(), 1.0)

        async def load(holder: str) -> int:
            count_calls_for(holder)
            return (await reader.match(match)).version

        busy = await asked(in_thread, gate, "many", in_thread.places - 1)
        await gate.until(5)
        first = asyncio.create_task(load("many"))  # the newest call of the holder with the most calls
        await asyncio.sleep(0)
        second = asyncio.create_task(load("few"))
        await asyncio.sleep(0)
        other = await asked(in_thread, gate, "other", 1)  # it takes the place of the load
        gate.let_through(in_thread.places)
        found = await ended([first, second])
        assert isinstance(found[0], Busy)
        assert found[1] == 1
        await ended([*busy, *other])

    try:
        asyncio.run(all_of_it())
    finally:
        desk.close()
        referee.close()
