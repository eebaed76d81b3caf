"""A service as a separate process, clients that play through it, and checks while they rest."""

import asyncio
import random
import signal
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from referee.log.notes import SigningKey
from tests.demo.ports import free_port
from tests.faults.audit import audit, protocol_of
from tests.faults.books_check import Seen, look
from tests.faults.http_client import LOST, Client
from tests.faults.play import Enough, Ledger, Listener, Player, Reader
from tests.faults.stores import Store
from tests.faults.treasurer import Treasurer
from tests.support.failing_proxy import Proxy, target_of
from tests.support.running_service import Process

PLAYERS, READERS = 8, 2
RETURN_SECONDS = 30
"""Seconds after the end of a fault in which each client must be answered."""
LOOK_SECONDS = 0.02
LOG_KEY = SigningKey("faults.example/log", bytes(range(32)))
LOG_BYTES = 5000
"""Bytes shown of the service's output before it ended unasked."""


class Field:
    """The service, its store and its players. The ledger has all counts."""

    def __init__(self, store: Store, proxy: Proxy | None, seed: str) -> None:
        """``proxy``: through which the service reaches the store, if not directly."""
        self.store, self.proxy, self.seed = store, proxy, seed
        self.chance = random.Random(seed)
        self.ledger, self.port = Ledger(), free_port()
        self.log = TemporaryFile()  # noqa: SIM115  # closed with the field
        self.service: Process | None = None
        self.players: list[Player] = []
        self.treasurer: Treasurer | None = None
        """The treasurer, which never plays. The books of its club and the log are checked too."""
        self.seen, self._notes = Seen(), TemporaryDirectory(prefix="knacka-notes-")
        self._listeners = defaultdict[str, list[Listener]](list)
        self._tasks: dict[object, asyncio.Task[None]] = {}
        self._going = asyncio.Event()
        self._checked: dict[str, int] = {}

    # The service

    async def start(self) -> None:
        """Start the service."""
        url = self.store.url if self.proxy is None else self.proxy.url(self.store.url)
        try:
            self.service = await asyncio.to_thread(
                lambda: Process(
                    url,
                    self.port,
                    self.log,
                    KNACKA_LOG_KEY=LOG_KEY.private_text,
                    KNACKA_LOG_SECONDS="1",
                    KNACKA_LOG_FILE=str(self._note),
                )
            )
        except AssertionError as error:
            self._ended(str(error))

    @property
    def _note(self) -> Path:
        """The last checkpoint: a file that outlives the service, on either store."""
        return Path(self._notes.name) / "knacka-log.note"

    def _ended(self, how: str) -> None:
        self.service = None
        self.ledger.found("late", how)
        self.log.seek(max(0, self.log.tell() - LOG_BYTES))
        raise Enough(f"{how}; it wrote last:\n{self.log.read().decode(errors='replace')}")

    async def kill(self) -> None:
        """Kill the service without warning."""
        await self.end(signal.SIGKILL, 10)

    async def end(self, how: signal.Signals, seconds: float) -> None:
        """End the service by a signal. Raises ``TimeoutExpired`` if it does not end in time."""
        assert self.service is not None
        service, self.service = self.service, None
        await asyncio.to_thread(service.end, how, seconds)

    # The clients

    def begin(self, thinks: float) -> None:
        """Start the players, who play until all is over."""
        for number in range(PLAYERS):
            player = Player(number, self.port, self.ledger, self.seed, self._going, self.follow, thinks)
            self.players.append(player)
            self._tasks[player] = asyncio.create_task(player.play())
        self.treasurer = Treasurer(self.port, self.ledger, self.seed, self._going, self.follow, self.seen)
        self._tasks[self.treasurer] = asyncio.create_task(self.treasurer.play())
        for number in range(READERS):
            reader = Reader(number, self.port, self.ledger, self.seed)
            self._tasks[reader] = asyncio.create_task(reader.read())
        self.go()

    def go(self) -> None:
        """Let the players continue."""
        for player in self._active:
            player.resting = False
        self._going.set()

    @property
    def _active(self) -> list[Player]:
        return self.players if self.treasurer is None else [*self.players, self.treasurer]

    def follow(self, match: str, port: int = 0, **how: Any) -> Listener:
        """Follow a match by its stream; ``port``: a proxy's."""
        listener = Listener(match, port or self.port, self.ledger, **how)
        self._listeners[match].append(listener)
        self._tasks[listener] = asyncio.create_task(listener.listen())
        return listener

    def leave(self, listener: Listener) -> None:
        """Stop following."""
        self._listeners[listener.match].remove(listener)
        self._tasks.pop(listener).cancel()

    async def until(self, holds: Callable[[], bool], seconds: float = RETURN_SECONDS) -> bool:
        """Return whether a condition becomes true in time. Raises the error of a client, which would be a fault of
        the harness."""
        deadline = time.monotonic() + seconds
        while not holds():
            if self.service is not None and (code := self.service.process.poll()) is not None:
                self._ended(f"the service has ended by itself, with {code}")
            for task in self._tasks.values():
                if task.done():
                    task.result()
            if time.monotonic() > deadline:
                return False
            await asyncio.sleep(LOOK_SECONDS)
        return True

    async def play(self, seconds: float) -> None:
        """Let the players play for this long."""
        await self.until(lambda: False, seconds)

    async def answered(self) -> float:
        """Wait until each player has had an act answered. Return the longest time."""
        since = time.monotonic()
        if not await self.until(lambda: all(player.answered_at > since for player in self._active)):
            self.ledger.found("late", f"some are not answered for {RETURN_SECONDS} s after all is well again")
        return time.monotonic() - since

    async def stop(self) -> None:
        """Stop all players and listeners, and end all processes, in any state."""
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        if self.service is not None and self.service.process.poll() is None:
            self.service.process.kill()
            self.service.process.wait()
        self.log.close()
        self._notes.cleanup()

    # Checks

    async def rest(self) -> None:
        """Have all rest when their acts are answered."""
        self._going.clear()
        if not await self.until(lambda: all(player.resting for player in self._active)):
            self.ledger.found("late", f"some act is not answered for {RETURN_SECONDS} s")

    async def check(self) -> None:
        """While all rest, check that each answered act is in the store, in the match, in its protocol and in its
        streams. First let the treasurer make an act in the club: a short fault can fall into a match for money."""
        ledger = self.ledger
        if not await self.until(lambda: ledger.counts["money"] > ledger.told_counts["money"]):
            ledger.found("late", f"the treasurer made no act in the club for {RETURN_SECONDS} s")
        await self.rest()
        rows = await asyncio.to_thread(self.store.rows)
        by_match = await asyncio.to_thread(audit, rows, self.ledger)
        changed = [match for match in self.ledger.versions if self._checked.get(match) != len(by_match[match])]
        with Client(self.port) as client:
            for match in changed:
                history = by_match[match]
                self._checked[match] = len(history)
                await self._books(client, match, history)
                for listener in self._listeners[match]:
                    await self._heard(listener, [row.topic for row in history])
        entries, signed = await asyncio.to_thread(look, self.store.url, self._note, self.seen, self.ledger.found)
        self.ledger.counts["entries"], self.ledger.counts["checkpoints"] = entries, signed
        self.go()

    async def _books(self, client: Client, match: str, history: list[Any]) -> None:
        shown = await self._shown(client, f"/v1/matches/{match}")
        sheet = await self._shown(client, f"/v1/matches/{match}/protocol")
        if shown["version"] != len(history):
            self.ledger.found("lost", f"{match} is shown at {shown['version']} and stored to {len(history)}")
        if sheet != await asyncio.to_thread(protocol_of, history) or sheet["points"] != shown["points"]:
            self.ledger.found("books", f"the protocol of {match} is not what its events make")

    async def _heard(self, listener: Listener, topics: list[str]) -> None:
        if not await self.until(lambda: listener.at >= len(topics)):
            self.ledger.found("gaps", f"the stream of {listener.match} stays at {listener.at} of {len(topics)}")
        if listener.topics != topics[: listener.at]:
            self.ledger.found("gaps", f"the stream of {listener.match} is not what is stored")

    async def _shown(self, client: Client, path: str) -> Any:
        """Return the final answer: projections may have to catch up first."""
        deadline = time.monotonic() + RETURN_SECONDS
        while time.monotonic() < deadline:
            try:
                answer = await client.ask("GET", path, {})
                self.ledger.judge(f"GET {path}", answer)
                if answer.status == 200:
                    return answer.said
            except LOST:
                pass
            await asyncio.sleep(0.2)
        self.ledger.found("late", f"{path} is not shown within {RETURN_SECONDS} s")
        return {"version": None, "points": None}


@asynccontextmanager
async def playing(store: Store, seed: str, *, proxied: bool = False, thinks: float = 0.0) -> AsyncIterator[Field]:
    """Yield a field with players. ``proxied``: the service reaches its store through a proxy.

    ``thinks``: seconds of each player before an act.
    """
    with Proxy(target_of(store.url)) if proxied else nullcontext() as proxy:
        field = Field(store, proxy, seed)
        try:
            await field.start()
            field.begin(thinks)
            await field.answered()
            yield field
        finally:
            await field.stop()
