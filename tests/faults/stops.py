"""The service is stopped at random moments after it has reported ``follower_lag`` 0.

Then each projection has applied all events stored before the request, and equals a rebuild up to its position. Events
stored after the answer it may lack until the next start.
"""

import asyncio
import signal
import time
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from api.http.problems import STORE_FAILURES
from api.maintenance.raw_store import StoreReader
from api.runtime.projections import all_projections, log_of
from projections.follow.engine import engine_for
from projections.follow.page import Page, Read
from projections.follow.projection import rebuild
from referee.store.store import construct
from tests.faults.fault_kinds import Report
from tests.faults.http_client import LOST, Client
from tests.faults.service_under_load import Field
from tests.projections.filled_log import content

LAG_SECONDS = 30.0
"""The lag is 0 so soon after all rest."""
PLAYING_SECONDS = 3.0
"""Seconds of requests for the lag during play, when a new act may always come first."""
ACKNOWLEDGEMENTS = (b'"prev":', b"COMMIT")
"""Acknowledgements to a service that stores events, and to one that commits projections."""
END_SECONDS = 20


async def stops(field: Field, times: int, report: Report) -> None:
    """Stop it so often, in order or by SIGKILL, while it is played and while all rest."""
    chance = field.chance
    for _ in range(times):
        with report.counting(field, "stopped at lag 0") as line:
            await field.play(chance.uniform(0.05, 0.5))
            if field.proxy is not None:
                for answered in ACKNOWLEDGEMENTS:
                    field.proxy.lose_answer(answered)
                    await field.play(chance.uniform(0.05, 0.3))
            resting = chance.random() < 0.5
            head = None if resting else await _taken_in(field, PLAYING_SECONDS)
            if head is None:
                resting = True
                await field.rest()
                head = await _taken_in(field, LAG_SECONDS)
            if head is None:
                field.ledger.found("late", f"the books are behind for {LAG_SECONDS:g} s")
                head = 0
            await asyncio.sleep(chance.uniform(0, 0.3))
            await field.end(chance.choice((signal.SIGKILL, signal.SIGTERM)), END_SECONDS)
            wrong, lacking = await asyncio.to_thread(compared, field.store.url, head)
            for how in wrong:
                field.ledger.found("books", how)
            field.ledger.counts["behind"] += lacking
            await field.start()
            if resting:
                field.go()
            line.times += 1
            line.seconds = max(line.seconds, await field.answered())


async def _taken_in(field: Field, seconds: float) -> int | None:
    """Return the position of the last event stored before the service reported no lag, ``None`` if it did not in
    this time."""
    deadline = time.monotonic() + seconds
    with Client(field.port) as client:
        while time.monotonic() < deadline:
            with suppress(*LOST, *STORE_FAILURES):  # the machine may be too busy to let us in
                head = await asyncio.to_thread(_head, field.store.url)
                answer = await client.ask("GET", "/health/ready", {}, seconds=5)
                if answer.status == 200 and answer.said["follower_lag"] == 0:
                    return head
            await asyncio.sleep(0.01)
    return None


def _head(url: str) -> int:
    stored = StoreReader(url)
    try:
        return stored.last_position()
    finally:
        stored.close()


def compared(url: str, head: int) -> tuple[list[str], bool]:
    """Compare the projections of a store with rebuilt ones. No service is running.

    Return the faults, and whether a projection lacks events that were stored later.
    """
    wrong: list[str] = []
    stored = StoreReader(url)
    try:
        places, last = stored.positions(), stored.last_position()
    finally:
        stored.close()
    with construct(url) as referee, TemporaryDirectory(prefix="knacka-fresh-") as folder:
        kept, read = engine_for(url), log_of(referee).read
        try:
            for projection in all_projections(lambda: referee.secret):
                place = places[projection.key]
                if place < head:
                    wrong.append(f"lag was 0 at {head}, and {projection.name} stands at {place}")
                fresh = engine_for(f"sqlite:///{Path(folder)}/{projection.name}.db")
                try:
                    rebuild(_up_to(read, place), fresh, projection)
                    if content(kept, [projection]) != content(fresh, [projection]):
                        wrong.append(f"{projection.name} at {place} is not what the events to there make")
                finally:
                    fresh.dispose()
        finally:
            kept.dispose()
    return wrong, min(places[projection.key] for projection in all_projections()) < last


def _up_to(read: Read, position: int) -> Read:
    def limited(after: int, limit: int) -> Page:
        page = read(after, limit)
        return Page([row for row in page.rows if row[0] <= position], page.decode)

    return limited
