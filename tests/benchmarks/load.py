"""Clients that play over HTTP as fast as they are answered: ``python -m tests.benchmarks.load PORT CLIENTS SECONDS``.

Each client has a connection and a match at a real table, and sends its next act when the last is answered. Words
after the seconds change this. ``bare``: no match is opened. ``keyed``: each act has an Idempotency-Key. ``tally``:
each act is the ``result`` of a whole deal. ``club``: it is a club's match, and its players act with their keys.
Prints one line of JSON: acts a second, median, 95th and 99th percentile of the response time, and errors.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import Coroutine, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import msgspec
import uvloop

from referee.acts import Deal
from referee.events import DealScored
from referee.games import RULESETS
from referee.ruleset import Moment
from referee.visibility import Event
from tests.benchmarks.playouts import NOW
from tests.support.random_matches import KORTOXEN, opening
from tests.support.random_tallies import deals_of, sheet_of

ACTS = 6000
PLAYERS = 4
REPEATS_MAX = 200
START_SECONDS_MAX = 30
"""Time in which all clients open their matches."""
POINTS = 90_000
"""Points at the start: enough that no player reaches zero and the matches continue."""


def game() -> Iterator[tuple[int, bytes, tuple[Event, ...]]]:
    """Return a long match: its opening, and then seat, body and events of each act."""
    rules, chance = RULESETS[KORTOXEN], random.Random(7)
    opened = opening(
        players=PLAYERS, dealing="table", enforcement="refuse", points=(POINTS,) * PLAYERS, deal_ritual=False
    )
    yield 0, msgspec.json.encode(opened), (opened,)
    state = rules.start(opened)
    version = 1
    while True:
        seat = rules.to_act(state)[0]
        choice = [act for act in rules.legal(state, seat) if getattr(act, "bid", None) != "rodskagg"]
        act: Any = chance.choice(choice)
        if isinstance(act, Deal):
            cards = chance.sample(rules.pack, 6 * PLAYERS)
            act = Deal(seat=seat, hands=tuple(tuple(cards[6 * n : 6 * n + 6]) for n in range(PLAYERS)))
        events = rules.decide(state, act, Moment(version, NOW, ""))
        for event in events:
            version += 1
            state = rules.evolve(state, event, version)
        yield seat, msgspec.json.encode(act), events


def script() -> list[tuple[int, bytes]]:
    """Return seat and body of the acts of a long match."""
    return [(seat, body) for seat, body, _ in islice(game(), 1, 1 + ACTS)]


def sheets() -> list[tuple[int, bytes]]:
    """Yield the seat that writes and the body of a result for each deal of that match, without end: the dealer after
    the last is the dealer of the first."""
    rules = RULESETS[KORTOXEN]
    deals = [deal for deal, _ in deals_of([event for *_, events in islice(game(), 1, 1 + ACTS) for event in events])]
    while _dealer(deals[-1]) != PLAYERS - 1:
        deals.pop()
    written = [(0, msgspec.json.encode(sheet_of(deal, rules))) for deal in deals]
    return written * (ACTS // len(written))


def _dealer(deal: list[Event]) -> int:
    line = deal[-1]
    assert isinstance(line, DealScored)
    return line.dealer


class Client(asyncio.Protocol):
    """A connection that sends a request and reads its answer."""

    def __init__(self) -> None:
        self._buffer = b""
        self._answer: asyncio.Future[tuple[int, bytes]] | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(exc or ConnectionError("closed"))

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        place = head.index(b"content-length:") + 15
        length = int(head[place : (head + b"\r").index(b"\r", place)])
        if len(self._buffer) >= end + 4 + length and self._answer is not None:
            body, self._buffer = self._buffer[end + 4 : end + 4 + length], self._buffer[end + 4 + length :]
            self._answer.set_result((int(head[9:12]), body))

    async def send(self, request: bytes) -> tuple[int, bytes]:
        """Send a request. Return status and body of the answer."""
        self._answer = asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return await self._answer


def post(path: str, body: bytes, token: str = "") -> bytes:
    """Return a request as bytes."""
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"{authorization}Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


OPENING = {
    "ruleset": KORTOXEN,
    "options": {"deal_ritual": False},
    "players": [{"name": f"P{seat + 1}"} for seat in range(PLAYERS)],
    "first_dealer": 0,
    "dealing": "table",
    "adjudication": None,
    "opening": {"points": [POINTS] * PLAYERS},
}
FOUNDING = {"name": "Knackarna", "currencies": ["SEK"], "timezone": "Europe/Stockholm", "founder": {"name": "P1"}}


async def made(client: Client, path: str, asked: Any, shown: str = "") -> Any:
    """Send a creating request and return its answer. Repeat it while the service is busy."""
    for _ in range(REPEATS_MAX):
        status, body = await client.send(post(path, json.dumps(asked).encode(), shown))
        if status != 503:
            break
        await asyncio.sleep(0.05)
    assert status == 201, body
    return json.loads(body)


async def founded(client: Client) -> tuple[str, str, list[str]]:
    """Found a club with an evening. Return its id, its founder's key, and by seat the key of a member to play
    with."""
    club = await made(client, "/v1/clubs", FOUNDING)
    acts, founder = f"/v1/clubs/{club['id']}/acts", club["key"]["secret"]
    until, keys = (datetime.now(UTC) + timedelta(days=1)).isoformat(), []
    for member in range(1, PLAYERS + 1):
        if member > 1:
            await made(client, acts, {"act": "join", "name": f"P{member}"}, founder)
        asked = {"act": "issue_key", "member": member, "scopes": ["play"], "expires_at": until}
        done = await made(client, acts, asked, founder)
        if "invitation" in done:
            done = await made(client, f"/v1/invitations/{done['invitation']['code']}", None)
        keys.append(done["key"]["secret"])
    await made(client, acts, {"act": "open_evening", "on": "2026-11-22", "season": "2026/27"}, founder)
    return club["id"], founder, keys


class Turn:
    """A common start of all clients, and an end after ``seconds`` or on request."""

    def __init__(self, clients: int, seconds: float) -> None:
        self.seconds, self.begin, self.ended = seconds, asyncio.Barrier(clients + 1), False


async def one(port: int, acts: list[tuple[int, bytes]], turn: Turn, how: str) -> Any:
    """Play a match. Return the response times and the number of errors."""
    loop = asyncio.get_running_loop()
    _, client = await loop.create_connection(Client, "127.0.0.1", port)
    tokens, match = [""] * PLAYERS, "00000000-0000-0000-0000-000000000000"
    if how != "bare":
        asked, founder, keys = OPENING | ({"dealing": "tally"} if how == "tally" else {}), "", list[str]()
        if how == "club":
            club, founder, keys = await founded(client)
            asked |= {"club": club, "evening": 1, "table": 1}
            asked |= {"players": [{"member": member} for member in range(1, PLAYERS + 1)]}
        opened = await made(client, "/v1/matches", asked, founder)
        tokens, match = keys or [seat["token"] for seat in opened["seats"]], opened["id"]
    path = f"/v1/matches/{match}/acts"
    heads = [post(path, b"", token).removesuffix(b"Content-Length: 0\r\n\r\n") for token in tokens]
    await turn.begin.wait()
    times, errors, until = [], 0, time.perf_counter() + turn.seconds
    for place, (seat, act) in enumerate(acts):
        sent = time.perf_counter()
        if sent >= until or turn.ended:
            break
        key = b"Idempotency-Key: %032x\r\n" % place if how == "keyed" else b""
        status, _ = await client.send(heads[seat] + key + b"Content-Length: %d\r\n\r\n" % len(act) + act)
        times.append(time.perf_counter() - sent)
        errors += status != 201
    client.transport.close()
    return times, errors


async def run(
    port: int, clients: int, seconds: float, how: str, meanwhile: Coroutine[Any, Any, Any] | None = None
) -> dict[str, float]:
    """Run all clients at once for ``seconds``, or until ``meanwhile`` is done."""
    acts, turn = sheets() if how == "tally" else script(), Turn(clients, seconds)
    playing = [asyncio.create_task(one(port, acts, turn, how)) for _ in range(clients)]
    await asyncio.wait_for(turn.begin.wait(), START_SECONDS_MAX)
    started = time.perf_counter()
    if meanwhile is not None:
        await meanwhile
        turn.ended = True
    results = await asyncio.gather(*playing)
    spent = time.perf_counter() - started
    times = sorted(took for taken, _ in results for took in taken)
    return {
        "acts": len(times) / spent,
        "p50_ms": 1000 * times[len(times) // 2],
        "p95_ms": 1000 * times[len(times) * 95 // 100],
        "p99_ms": 1000 * times[len(times) * 99 // 100],
        "errors": sum(errors for _, errors in results),
    }


if __name__ == "__main__":
    _, port, clients, seconds, *rest = sys.argv
    how = rest[0] if rest else ""
    uvloop.install()
    print(json.dumps(asyncio.run(run(int(port), int(clients), float(seconds), how))))
