"""Secrecy over HTTP: two worlds differ only in cards that a seat has not seen, and in texts and names that it may not
read. Callers with that seat's view, or with a smaller one, get the same answer to every call in both.

The worlds come from :mod:`tests.support.world_pairs` and :mod:`tests.support.world_pairs_with_officials` in turn, at
a random moment. They are in the store when the service starts (:mod:`tests.support.stored_world_pairs`).
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from litestar import Litestar

from api.app import create_app
from api.http.params import WAIT_MAX
from api.personal_data.names import Names
from api.settings import Settings
from referee.acts import Knock
from referee.events import DealScored
from referee.officials.events.shuffle import ShuffleCommitted
from referee.requests import Appeal, AppealSent, Proceeding, Request, Statement, StatementSent, Withdrawal, act_name
from referee.store.store import construct
from tests.support.stored_world_pairs import PAIRS, PARTS, Held, Kept, Worlds, token
from tests.support.twin_services import PATHS
from tests.support.world_pairs import Pair
from tests.support.world_pairs_with_officials import AttendedPair

ROOT = Path(__file__).parents[3]
CALLS = 6
"""Random calls for each pair. All pairs together make every call often, by every caller."""
TRIED = 2
"""Refused acts of the watcher for each pair, and the same number of knocks."""
MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
REF = re.compile(r"hmac:[0-9a-f]{64}")
CHAIN = re.compile(r'"(prev|hash)":"[0-9a-f]{64}"')
"""Hashes of the rows of a finished deal in an auditor's answers. They differ in every match."""
ETAG = re.compile(r"\(b'etag', b'[^']*'\)")
BOOKS_SECONDS = 60
"""Seconds within which the books apply the events in the store."""


async def ask(app: Litestar, method: str, path: str, held: Held, body: bytes = b"", accept: str = "*/*") -> str:
    """Return the status, headers and body of an answer without the values that differ between any two matches: ids,
    times and references of texts. A stream is read up to its first state."""
    path, _, query = path.partition("?")
    headers = [(b"host", b"test"), (b"accept", accept.encode()), (b"content-type", b"application/json")]
    headers.append((b"x-request-id", b"the-same-id"))
    headers += [(b"content-length", str(len(body)).encode())]
    if held is not None:
        headers.append((b"authorization", f"Bearer {held}".encode()))
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
            if answer[-1].startswith('data: {"topic":"state"'):
                enough.set()

    await app(scope, receive, send)
    assert not answer[0].startswith("5"), answer
    match_id = path.split("/")[3]
    text = REF.sub("REF", MOMENT.sub("TIME", " ".join(answer).replace(match_id, "ID")))
    return ETAG.sub("", text) if "/file" in path else text  # the ETag of a file depends on its ids, too


def calls(pair: Pair) -> Iterator[tuple[int | None, str, str]]:
    """Yield every read of a match, by the watcher and by a spectator, as seat or None, path, and accepted media type.

    ``test_hidden.py`` reads events as lines, which have the same contents as the list.
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
        yield who, f"/legal-acts?seat={pair.watcher}", "*/*"
    yield pair.watcher, "/legal-acts", "*/*"
    if deals:
        yield pair.watcher, "/deals/1", "*/*"
        yield None, "/deals/1", "text/plain"
    yield pair.watcher, "/knocks/1", "*/*"
    yield None, f"/replay?at={last + 1}", "*/*"
    if isinstance(pair, AttendedPair):
        for who in (pair.watcher, None):
            yield from ((who, f"/knocks/{case + 1}", "*/*") for case in range(pair.heard))
            yield from ((who, f"/knocks/{case + 1}/file", "*/*") for case in range(pair.heard))
            yield who, f"/deals/{deals + 1}", "text/plain"
            yield who, "/attempts", "*/*"


def test_every_read_of_a_match_is_compared() -> None:
    """A new read belongs into :func:`calls` or, if it needs a served store, into ``PATHS`` of ``twin_services``."""
    compared = set(PATHS)
    for seed in range(6):
        pair = AttendedPair("rodskagg-kortoxen", "house", "penalise", seed)
        pair.play()
        compared |= {path for _, path, _ in calls(pair)}
    paths = {path.partition("?")[0] for path in compared}
    of_match = "/v1/matches/{match}"
    contract = msgspec.json.decode((ROOT / "openapi" / "openapi.json").read_bytes())
    reads = [
        re.compile(re.sub(r"\{\w+\}", "[^/]+", path.removeprefix(of_match)))
        for path, operations in contract["paths"].items()
        if path.startswith(of_match) and "get" in operations
    ]
    assert reads
    assert [one.pattern for one in reads if not any(map(one.fullmatch, paths))] == []


def hearings(pair: Pair) -> Iterator[tuple[str, Proceeding]]:
    """Yield the watcher's acts in the existing cases, allowed or not."""
    for act in pair.attempts():
        match act:
            case Statement(case=case):
                yield f"/knocks/{case}/statements", StatementSent(seat=act.seat, agrees=act.agrees, text="It was not")
            case Withdrawal(case=case):
                yield f"/knocks/{case}/withdrawal", act
            case Appeal(case=case):
                yield f"/knocks/{case}/appeal", AppealSent(seat=act.seat, text="It was")


def attempts(pair: Pair) -> Iterator[tuple[str, Request]]:
    """Yield the watcher's acts that are refused in both worlds, then knocks that are dismissed in both."""
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
    """Return the commitments of the house in each world, in order."""
    return tuple(
        [one.event.commitment for one in history if isinstance(one.event, ShuffleCommitted)]
        for history in pair.histories
    )


def possible(worlds: Worlds, held: Held, path: str) -> tuple[str, ...]:
    """Return the statuses that an act of :func:`attempts` may have."""
    if worlds.hides_all:
        return ("401", "403", "404")
    if held == worlds.scribe and worlds.pair.left.opened.dealing == "house":
        return ("403",)  # the answer would reveal hidden hands
    return ("201",) if path == "/knocks" else ("409", "422")


async def compare(app: Litestar, worlds: Worlds, clubs: Sequence[str]) -> int:
    """Send the same requests about both matches of a pair and compare the answers. Return the number of requests."""
    pair, asked = worlds.pair, 0
    said, chance = commitments(pair), pair.chance

    async def same(held: Held, method: str, path: str, accept: str = "*/*", body: bytes = b"") -> str:
        left, right = await asyncio.gather(
            *[ask(app, method, f"/v1/matches/{match_id}{path}", held, body, accept) for match_id in worlds.ids]
        )
        for number, (one, other) in enumerate(zip(*said, strict=True)):  # only the commitments may differ
            left, right = left.replace(one, f"COMMITMENT {number}"), right.replace(other, f"COMMITMENT {number}")
        for club in clubs:
            left, right = left.replace(club, "CLUB"), right.replace(club, "CLUB")
        if held in worlds.auditors:
            left, right = CHAIN.sub("CHAIN", left), CHAIN.sub("CHAIN", right)
        assert left == right, f"{held} {method} {path} {body!r} {pair!r}"
        return left

    def one_of(who: int | None) -> Held:
        """Return a random credential with the watcher's view, or of a spectator."""
        return chance.choice(worlds.spectators if who is None else worlds.seat)

    for who, path, accept in chance.sample(list(calls(pair)), CALLS):
        await same(one_of(who), "GET", path, accept)
        asked += 1
    news = f"/events?after={len(pair.histories[0]) + 2}&wait={WAIT_MAX}"
    waiting = asyncio.gather(*[same(one_of(who), "GET", news) for who in (pair.watcher, None)])
    for path, act in attempts(pair):
        body = msgspec.json.encode({**msgspec.to_builtins(act), "act": act_name(act)})
        held = one_of(pair.watcher) if chance.random() < 0.7 else worlds.scribe
        answer = await same(held, "POST", path, body=body)
        mine = possible(worlds, held, path)
        assert answer[:3] in mine, answer
        asked += 1
        if mine == ("201",):
            await waiting
    heard = list(hearings(pair))
    for path, sent in chance.sample(heard, min(TRIED, len(heard))):
        fields = msgspec.to_builtins(sent)
        body = msgspec.json.encode({name: fields[name] for name in fields if name not in ("act", "case")})
        answer = await same(one_of(pair.watcher), "POST", path, body=body)
        assert answer[:3] in (("401", "403", "404") if worlds.hides_all else ("201", "403", "409", "422")), answer
        asked += 1
    waiting.cancel()  # nothing has happened
    for who in (pair.watcher, None):
        await same(one_of(who), "GET", "/knocks")
        await same(one_of(who), "GET", "/events?limit=1000")
    return asked


async def audit(app: Litestar, worlds: Worlds) -> int:
    """Assert that an auditor sees an unfinished deal as a spectator, and a finished deal as the official. Return the
    number of events of both kinds."""
    match_id, (auditor, *_) = worlds.ids[0], worlds.auditors
    match = await app.state.service.reader.match(match_id)
    over = match.public_to
    under_way = match.version - over

    async def body(held: Held, path: str) -> str:
        answer = await ask(app, "GET", f"/v1/matches/{match_id}{path}", held)
        assert answer.startswith("200"), answer
        return answer[answer.index("] ") + 2 :]

    for path in ("", f"/events?after={over}&limit=1000", f"/replay?at={over + 1}", f"/replay?at={match.version}"):
        assert await body(auditor, path) == await body(worlds.spectator, path), path
    if over:
        cases = isinstance(worlds.pair, AttendedPair)  # a case may continue during the next deal
        scored = {one.event.deal for one in worlds.pair.histories[0] if isinstance(one.event, DealScored)}
        record = [] if cases else [f"/deals/{deal}" for deal in sorted(scored)]
        for path in (f"/events?limit={over}", f"/replay?at={over}", *record):
            assert await body(auditor, path) == await body(token("official"), path), path
    return int(min(over, under_way))


async def compare_all(path: Path, part: int) -> tuple[int, int]:
    """Compare all pairs of a part in a service with a store of its own. Return the number of requests, and of events
    that auditors saw."""
    url = f"sqlite:///{path}/knacka.db"
    referee, names = construct(url), Names(url)
    try:
        names.prepare()
        kept = Kept(referee, names)
        worlds = list(kept.some_worlds(part))
    finally:
        names.close()
        referee.close()
    app = create_app(Settings(database_url=url))
    async with app.lifespan(), asyncio.timeout(BOOKS_SECONDS):
        while app.state.service.projections.lag():  # otherwise both answers could be that a book is behind
            await asyncio.sleep(0.01)
        audited = sum([await audit(app, one) for one in worlds if one.auditors])
        return sum([await compare(app, one, kept.clubs) for one in worlds]), audited


@pytest.mark.parametrize("part", range(PARTS))
def test_every_call_answers_alike(tmp_path: Path, part: int) -> None:
    asked, audited = asyncio.run(compare_all(tmp_path, part))
    assert asked > PAIRS // PARTS * CALLS
    assert audited
