"""What nobody may know, over HTTP: two worlds that differ only in cards that a seat has not seen, call by call.

The worlds are those of :mod:`tests.interference` and :mod:`tests.hearings` in turn, at a random moment; they lie in
the store when the service starts.
"""

import asyncio
import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest
from litestar import Litestar
from msgspec.structs import replace

from api.app import create_app
from api.http.params import WAIT_MAX
from api.settings import Settings
from referee.actors import officials
from referee.acts import (
    Appeal,
    AppealSent,
    Knock,
    Proceeding,
    Request,
    Statement,
    StatementSent,
    Withdrawal,
    act_name,
)
from referee.events import Recorded
from referee.proceedings.shuffle import ShuffleCommitted
from referee.store.rows import FIRST, row_hash, to_row
from referee.store.store import Referee, construct
from tests.hearings import AttendedPair
from tests.interference import COMBINATIONS, NOTHING_HIDDEN, Pair

PAIRS, PARTS = 200, 4
HIDING = [combination for combination in COMBINATIONS if combination not in NOTHING_HIDDEN]
CALLS = 6
"""So many calls of each pair, drawn by lot; with all pairs together every call is made often."""
TRIED = 2
"""So many attempts of the watcher that are refused, and as many knocks."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
BOOKS_SECONDS = 60
"""Within so long the books have taken in what lay in the store."""


class Worlds(NamedTuple):
    """A pair as it lies in the store."""

    pair: Pair
    ids: tuple[UUID, UUID]


def token(seat: int | str | None) -> str:
    """The token of a seat, or of the official, in every match here."""
    return f"token of seat {seat}"


def stored(referee: Referee, match_id: UUID, history: list[Recorded]) -> None:
    """Writes a history into the store as a match of this id."""
    opened: Any = history[0].event
    tokens = tuple(sha256(token(seat).encode()).hexdigest() for seat, _ in enumerate(opened.players))
    prev, rows = FIRST, []
    for recorded in history:
        event = recorded.event
        if recorded is history[0]:
            names = officials(1 if opened.adjudication is None else len(opened.adjudication.officials))
            official, *others = (sha256(token(name).encode()).hexdigest() for name in names)
            event = replace(opened, tokens=tokens, official=official, officials=tuple(others))
        row = to_row(replace(recorded, originator_id=match_id, prev=prev, event=event))
        prev = row_hash(row)
        rows.append(row)
    referee.recorder.insert_events(rows)


def some_worlds(referee: Referee, part: int) -> Iterator[Worlds]:
    """Pairs of every kind, each at a moment of its own."""
    for number in range(part, PAIRS, PARTS):
        kind = AttendedPair if number // len(HIDING) % 2 else Pair
        pair = kind(*HIDING[number % len(HIDING)], f"over HTTP {number}")
        pair.play(pair.chance.randint(1, 30))
        ids = UUID(int=2 * number + 10), UUID(int=2 * number + 11)
        for match_id, history in zip(ids, pair.histories, strict=True):
            stored(referee, match_id, history)
        yield Worlds(pair, ids)


async def ask(
    app: Litestar, method: str, path: str, who: int | str | None, body: bytes = b"", accept: str = "*/*"
) -> str:
    """Status, headers and body of an answer, without what differs between any two matches: ids and times. Of a stream
    up to the first that it tells of whose turn it is."""
    path, _, query = path.partition("?")
    headers = [(b"host", b"test"), (b"accept", accept.encode()), (b"content-type", b"application/json")]
    headers += [(b"content-length", str(len(body)).encode())]
    if who is not None:
        headers.append((b"authorization", f"Bearer {token(who)}".encode()))
    scope: Any = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": headers,
        "client": ("test", 1),
        "server": ("test", 80),
        "extensions": {},
        "state": {},
    }
    answer: list[str] = []
    asked, enough = iter(({"type": "http.request", "body": body, "more_body": False},)), asyncio.Event()

    async def receive() -> Any:
        if (message := next(asked, None)) is None:
            await enough.wait()
            return {"type": "http.disconnect"}
        return message

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            shown = [(name, value) for name, value in message["headers"] if name not in (b"date", b"content-length")]
            answer.append(f"{message['status']} {sorted(shown)}")
        else:
            answer.append(message.get("body", b"").decode())
            if answer[-1].startswith("event: state"):
                enough.set()

    await app(scope, receive, send)
    assert not answer[0].startswith("503"), answer
    match_id = path.split("/")[3]
    return MOMENT.sub("TIME", " ".join(answer).replace(match_id, "ID"))


def calls(pair: Pair) -> Iterator[tuple[int | None, str, str]]:
    """Who asks for what: everything that can be read of a match, by the watcher and by a spectator.

    Lines of events, which hold the same as the list, are for ``test_hidden.py``.
    """
    last = len(pair.histories[0])
    deals = pair.left.deals
    some = pair.chance.randint(1, last)
    for who in (pair.watcher, None):
        yield who, "", "*/*"
        yield who, "/events?limit=1000", "*/*"
        yield who, f"/events/stream?after={some}", "*/*"
        yield who, f"/replay?at={last}", "*/*"
        yield who, f"/replay?at={some}", "*/*"
        yield who, "/protocol", "*/*"
        yield who, "/knocks", "*/*"
        yield who, "/pot", "*/*"
        yield who, "/settlement", "*/*"
        yield who, f"/deals/{deals + 1}", "*/*"
    yield pair.watcher, "/legal-acts", "*/*"
    if deals:
        yield pair.watcher, "/deals/1", "*/*"
        yield None, "/deals/1", "text/plain"
    yield pair.watcher, "/knocks/1", "*/*"
    yield None, f"/replay?at={last + 1}", "*/*"
    if isinstance(pair, AttendedPair):
        for who in (pair.watcher, None):
            yield from ((who, f"/knocks/{case + 1}", "*/*") for case in range(pair.heard))
            yield who, f"/deals/{deals + 1}", "text/plain"
            yield who, "/attempts", "*/*"


def hearings(pair: Pair) -> Iterator[tuple[str, Proceeding]]:
    """What the watcher says in the cases that there are, right or wrong."""
    for act in pair.attempts():
        match act:
            case Statement(case=case):
                yield f"/knocks/{case}/statements", StatementSent(seat=act.seat, agrees=act.agrees, text="It was not")
            case Withdrawal(case=case):
                yield f"/knocks/{case}/withdrawal", act
            case Appeal(case=case):
                yield f"/knocks/{case}/appeal", AppealSent(seat=act.seat, text="It was")


def attempts(pair: Pair) -> Iterator[tuple[str, Request]]:
    """What the watcher sends: acts that are refused in both worlds, then knocks that are dismissed in both."""
    acts, knocks = [], []
    for act in pair.attempts():
        left, right = pair.tried(act)
        if isinstance(act, Knock):
            events = (*left.events, *right.events)
            if events and all(event.TOPIC != "knock/upheld" for event in events):
                knocks.append(act)
        elif left.refused is not None and not isinstance(act, Proceeding):
            acts.append(act)
    for act in pair.chance.sample(acts, min(TRIED, len(acts))):
        yield "/acts", act
    for knock in pair.chance.sample(knocks, min(TRIED, len(knocks))):
        yield "/knocks", knock


def commitments(pair: Pair) -> tuple[list[str], ...]:
    """What the house committed to in either world, in order."""
    return tuple(
        [one.event.commitment for one in history if isinstance(one.event, ShuffleCommitted)]
        for history in pair.histories
    )


async def compare(app: Litestar, worlds: Worlds) -> int:
    """Asks both matches of a pair the same, for as long as there is something to ask; how often."""
    pair, asked = worlds.pair, 0
    said = commitments(pair)

    async def same(who: int | None, method: str, path: str, accept: str = "*/*", body: bytes = b"") -> str:
        left, right = await asyncio.gather(
            *[ask(app, method, f"/v1/matches/{match_id}{path}", who, body, accept) for match_id in worlds.ids]
        )
        for number, (one, other) in enumerate(zip(*said, strict=True)):  # these have to differ, and nothing else
            left, right = left.replace(one, f"COMMITMENT {number}"), right.replace(other, f"COMMITMENT {number}")
        assert left == right, f"{who} {method} {path} {body!r}"
        return left

    for who, path, accept in pair.chance.sample(list(calls(pair)), CALLS):
        await same(who, "GET", path, accept)
        asked += 1
    news = f"/events?after={len(pair.histories[0])}&wait={WAIT_MAX}"
    waiting = asyncio.gather(*[same(who, "GET", news) for who in (pair.watcher, None)])
    for path, act in attempts(pair):
        body = msgspec.json.encode({**msgspec.to_builtins(act), "act": act_name(act)})
        answer = await same(pair.watcher, "POST", path, body=body)
        assert answer[:3] in ("201" if path == "/knocks" else "409", "422"), answer
        asked += 1
        if path == "/knocks":
            await waiting
    heard = list(hearings(pair))
    for path, sent in pair.chance.sample(heard, min(TRIED, len(heard))):
        told = msgspec.to_builtins(sent)
        body = msgspec.json.encode({name: told[name] for name in told if name not in ("act", "case")})
        answer = await same(pair.watcher, "POST", path, body=body)
        assert answer[:3] in ("201", "403", "409", "422"), answer
        asked += 1
    waiting.cancel()  # where nothing has happened
    for who in (pair.watcher, None):
        await same(who, "GET", "/knocks")
        await same(who, "GET", "/events?limit=1000")
    return asked


async def compare_all(path: Path, part: int) -> int:
    """Over a service with a store of its own; how much was asked."""
    url = f"sqlite:///{path}/knacka.db"
    referee = construct(url)
    try:
        worlds = list(some_worlds(referee, part))
    finally:
        referee.close()
    app = create_app(Settings(database_url=url))
    async with app.lifespan(), asyncio.timeout(BOOKS_SECONDS):
        while app.state.service.books.lag():  # or two answers that a book is behind would be alike
            await asyncio.sleep(0.01)
        return sum([await compare(app, one) for one in worlds])


@pytest.mark.parametrize("part", range(PARTS))
def test_every_call_answers_alike(tmp_path: Path, part: int) -> None:
    assert asyncio.run(compare_all(tmp_path, part)) > PAIRS // PARTS * CALLS
