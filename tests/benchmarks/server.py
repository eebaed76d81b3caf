"""The service under load, complete or with one part left out: ``… -m tests.benchmarks.server VARIANT URL PORT``.

``knacka``: complete. ``nothing``: the same app and route, but the store stores nothing. ``save``: no queue; each
request decides in a thread and stores with one ``save()`` of the library. ``route``: the same route, answered at
once, without the referee. ``limited``: complete, with limits that apply on this machine too and are never reached;
``guarded``: with limits that a client guessing tokens reaches; ``public``: with the limits of a public service.
"""

import logging
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from secrets import token_bytes
from threading import Lock
from typing import Any
from uuid import UUID

from eventsourcing.postgres import PostgresApplicationRecorder
from litestar import Litestar, Request, post
from litestar.response.base import ASGIResponse

import api.app
from api.server import Server, config_of
from api.settings import Settings
from referee.store.answer import Answer
from referee.store.command import Command
from referee.store.desk import Desk, _Job, _Work
from referee.store.postgres import Factory, Recorder
from referee.store.store import Referee, construct, settings_for
from referee.visibility import SALT_BYTES

THREADS = 40
PLENTY = {"matches_per_hour": 1_000_000, "clubs_per_day": 1_000_000}
LIMITED: dict[str, dict[str, Any]] = {
    "limited": {"limit_loopback": True, "acts_per_minute": 1_000_000, **PLENTY},
    "public": {"limit_loopback": True},
    "guarded": {"limit_loopback": True, "acts_per_minute": 5_000, **PLENTY},
}


def keeping_nothing(url: str, **settings: Any) -> Referee:
    """Return a store that accepts everything and stores nothing: no row, no keyed act, no snapshot."""
    referee = construct(url, **settings)

    def insert_nothing(*args: Any, **kwargs: Any) -> Sequence[int]:
        return ()

    recorder: Any = referee.recorder
    recorder.store = recorder.insert_events = insert_nothing
    assert referee.snapshots is not None
    snapshots: Any = referee.snapshots.recorder
    snapshots.insert_events = insert_nothing
    return referee


class SavingDesk(Desk):
    """Decides each request alone in a thread and stores it with the library's ``save()``."""

    def __init__(self, referee: Referee, **kwargs: Any) -> None:
        super().__init__(referee, **kwargs)
        self._salts = iter(partial(token_bytes, SALT_BYTES), b"")  # those of the desk are for one thread
        self._threads = ThreadPoolExecutor(THREADS)
        self._locks: dict[UUID, Lock] = {}

    def submit(self, command: Command) -> Answer:
        answer = Answer()
        self._threads.submit(self._decide_and_save, command, answer)
        return answer

    def _decide_and_save(self, command: Command, answer: Answer) -> None:
        try:
            with self._locks.setdefault(command.id, Lock()):
                work = _Work()
                outcome = self._decide(_Job(command, command.key or "~", None, answer), work)
                self.referee.save(*outcome.events)
                self._cache.keep(work.aggregates.values())
        except Exception as error:
            answer.set(error)
        else:
            answer.set(outcome)


class LibraryRecorder(Recorder):
    """Stores rows on PostgreSQL with the library's own statement."""

    insert_events = PostgresApplicationRecorder.insert_events


class LibraryFactory(Factory):
    application_recorder_class = LibraryRecorder


def construct_for_threads(url: str, **settings: Any) -> Referee:
    """Return a store with a pool so large that no thread waits for a connection."""
    env = settings_for(url)
    if "POSTGRES_URL" in env:
        env["PERSISTENCE_MODULE"] = f"tests.benchmarks.server:{LibraryFactory.__name__}"
    return Referee(env={**env, "POSTGRES_POOL_SIZE": "10", "POSTGRES_MAX_OVERFLOW": str(THREADS), **settings})


@post("/v1/matches/{match:uuid}/acts")
async def answer_at_once(request: Request[Any, Any, Any], match: UUID) -> ASGIResponse:
    """Read the body and answer: the cost of a route alone."""
    await request.body()
    return ASGIResponse(body=b'{"version":1,"events":[]}', status_code=201, media_type="application/json")


def app_of(variant: str, url: str) -> Litestar:
    """Return the app of a variant."""
    parts: Any = api.app
    if variant == "nothing":
        parts.construct = keeping_nothing
    if variant == "save":
        parts.construct, parts.Desk = construct_for_threads, SavingDesk
    app = api.app.create_app(Settings(database_url=url, **LIMITED.get(variant, {})))
    if variant == "route":
        return Litestar([answer_at_once])
    return app


if __name__ == "__main__":
    _, variant, url, port = sys.argv
    logging.disable(logging.WARNING)
    Server(config_of(app_of(variant, url), "127.0.0.1", int(port))).run()
