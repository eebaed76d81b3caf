"""The faults of the service during play, their numbers, and their effects."""

import asyncio
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import cycle, islice
from tempfile import TemporaryDirectory

import msgspec

from tests.faults.http_client import LOST, Client
from tests.faults.play import Listener
from tests.faults.service_under_load import Field
from tests.faults.stores import Store
from tests.support.failing_proxy import Proxy
from tests.support.paths import ROOT

HOLE_SECONDS = 10.0
ACT_SECONDS, READY_SECONDS, FIRST_SECONDS = 5.0, 2.0, 2.0
"""While the store is in a black hole: until an act is answered, and the question whether the service is ready; and
from its return to the first act."""
SLACK_SECONDS = 1.5
"""Seconds of tolerance, since the machine has more to do."""
LISTENERS = 16
ERROR_MAX = 5000
"""Characters shown of a process's last output."""
CUT_BYTES_MAX = 2000
"""Most bytes of a stream that a client reads before it hangs up: some events, or part of the first."""


class Line(msgspec.Struct):
    """A kind of fault: how many times it happened, the counts, and the longest time until all players were
    answered."""

    store: str
    what: str
    times: int = 0
    counts: Counter[str] = msgspec.field(default_factory=Counter)
    seconds: float = 0.0


class Report:
    """All lines, and the faults that were found."""

    def __init__(self, say: Callable[[str], None] = lambda what: None) -> None:
        """``say`` is called with the name of the next fault."""
        self._say = say
        self.lines: list[Line] = []
        self.wrong: list[str] = []

    def begin(self, line: Line) -> None:
        """Begin the next fault."""
        self._say(f"{line.store}: {line.what}")
        self.lines.append(line)

    @contextmanager
    def counting(self, field: Field, what: str) -> Iterator[Line]:
        """Yield the line of the present fault; it includes findings since the line before."""
        found = [line for line in self.lines if (line.store, line.what) == (field.store.name, what)]
        line = found[0] if found else Line(field.store.name, what)
        if not found:
            self.begin(line)
        try:
            yield line
        finally:
            ledger = field.ledger
            line.counts += ledger.counts - ledger.told_counts
            self.wrong += [f"{line.store}, {what}: {how}" for how in ledger.wrong[ledger.told_wrong :]]
            ledger.told_counts, ledger.told_wrong = ledger.counts.copy(), len(ledger.wrong)


async def kills(field: Field, times: int, report: Report) -> None:
    """Kill the service during play, and start it again."""
    for _ in range(times):
        with report.counting(field, "kill -9") as line:
            await field.play(field.chance.uniform(0.3, 1.5))
            await field.kill()
            await field.start()
            await _well_again(field, line)


async def _well_again(field: Field, line: Line) -> None:
    line.times += 1
    line.seconds = max(line.seconds, await field.answered())
    await field.check()


def step_by_step(store: Store, report: Report, every: int = 1) -> None:
    """Kill the service after each step in turn, or after one in ``every`` steps."""
    line = Line(store.name, "kill -9, step by step")
    report.begin(line)
    with TemporaryDirectory(prefix="knacka-notes-") as folder:
        command = [sys.executable, "-m", "tests.faults.steps", store.url, f"{folder}/knacka-log.note", str(every)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    *said, last = done.stdout.splitlines() or [""]
    if killed := re.fullmatch(r"killed at (\d+) steps", last):
        line.times = int(killed[1])
    else:
        report.wrong += [f"{line.store}, {line.what}: {how}" for how in (*said, last, done.stderr[-ERROR_MAX:])]


async def faults(field: Field, times: int, report: Report) -> None:
    """Run each fault of the store in turn."""
    for fault in islice(cycle(field.store.faults()), times):
        with report.counting(field, fault.name) as line:
            await field.play(field.chance.uniform(0.1, 0.5))
            assert field.service is not None
            await asyncio.to_thread(fault.happens, field.service)
            if fault.until_start:
                await field.kill()
                await field.start()
            await _well_again(field, line)


def _has_lost_more(proxy: Proxy, before: int) -> bool:
    return proxy.answers_lost > before


async def lost_answers(field: Field, times: int, report: Report) -> None:
    """Let commits reach the store, and drop their acknowledgements."""
    assert field.proxy is not None
    for _ in range(times):
        with report.counting(field, "acknowledgement lost") as line:
            await field.play(field.chance.uniform(0.05, 0.3))
            lost = partial(_has_lost_more, field.proxy, field.proxy.answers_lost)
            field.proxy.lose_answer()
            if not await field.until(lost):
                field.ledger.found("late", "nothing is stored any more")
            await _well_again(field, line)


async def black_hole(field: Field, report: Report, seconds: float = HOLE_SECONDS, *, kept: bool = False) -> None:
    """Drop all traffic to the store without an error. ``kept``: it is delivered afterwards."""
    assert field.proxy is not None
    with report.counting(field, "network held up" if kept else "black hole") as line:
        for player in field.players:
            player.patience = (30.0,)
        ledger = field.ledger
        ledger.asked.clear()
        began = time.monotonic()
        if kept:
            field.proxy.hold()
        else:
            field.proxy.drop()
        asking = asyncio.create_task(_ask_readiness(field, began))
        await field.play(seconds)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        ended = time.monotonic()
        field.proxy.forward()
        line.times += 1
        line.seconds = await field.answered()
        meanwhile = [(answered - sent, status) for sent, answered, status in ledger.asked if began < answered < ended]
        for took, status in meanwhile:
            if took > ACT_SECONDS + SLACK_SECONDS:
                ledger.found("late", f"an act was answered {status} after {took:.1f} s")
        if sum(status == 503 for _, status in meanwhile) < len(field.players):
            ledger.found("late", f"of {len(field.players)} acts not all were answered within {seconds} s")
        acts = [answered for _, answered, status in ledger.asked if answered > ended and status == 201]
        first = min(acts, default=float("inf")) - ended
        if first > FIRST_SECONDS + SLACK_SECONDS:
            ledger.found("late", f"the first act came {first:.1f} s after the return")
        await field.check()


async def _ask_readiness(field: Field, began: float) -> None:
    limit = READY_SECONDS + SLACK_SECONDS
    with Client(field.port) as client:
        while True:
            asked = time.monotonic()
            try:
                status = (await client.ask("GET", "/health/ready", {}, seconds=limit)).status
            except LOST as loss:
                field.ledger.found("late", f"no answer whether it is ready within {limit} s: {loss!r}")
            else:
                if status != 503 and asked - began > limit:
                    field.ledger.found("late", f"it says that it is ready, {asked - began:.1f} s without its store")
            await asyncio.sleep(0.2)


async def cut_streams(field: Field, times: int, report: Report) -> None:
    """Cut streams anywhere: half of them by their clients, half by a proxy before the service."""
    ledger, chance = field.ledger, field.chance
    with report.counting(field, "streams cut") as line, Proxy(("127.0.0.1", field.port)) as proxy:

        def another() -> Listener:
            match = chance.choice([*ledger.versions][-LISTENERS:])
            if len(listeners) % 2:
                return field.follow(match, proxy.address[1])
            return field.follow(match, cut_after=lambda: chance.randrange(1, CUT_BYTES_MAX))

        listeners: list[Listener] = []
        goal, deadline = ledger.counts["streams cut"] + times, time.monotonic() + times
        while ledger.counts["streams cut"] < goal:
            while sum(not listener.heard_all for listener in listeners) < LISTENERS:
                listeners.append(another())
            await field.play(chance.uniform(0.02, 0.2))
            proxy.cut()
            if time.monotonic() > deadline:
                ledger.found("late", "nothing comes by the streams any more")
                break
        line.times += times
        for listener in listeners:
            listener.whole()
        line.seconds = await field.answered()
        await field.check()
        for listener in listeners:
            field.leave(listener)
