"""Correct clients: each repeats an act under the same key until it is answered, and resumes its stream after a cut.

Their answers are recorded for the comparison with the store.
"""

import asyncio
import time
from collections import Counter
from functools import cache
from itertools import count
from random import Random
from typing import Any

import msgspec

from api.http.headers import version_of
from referee.actors import Actor, actor_at
from referee.games import RULESETS
from tests.benchmarks.load import OPENING, script
from tests.conformance.replay import matches
from tests.faults.http_client import LOST, Answer, Client

PROBLEM = "application/problem+json"
NEVER = ("lost", "twice", "gaps", "books", "answers", "late")
"""Counts that must be 0: acts lost, acts applied twice, gaps in a history or a stream, projections that differ from
the events, answers that are neither success nor problem or are untrue, and answers that are late or missing."""
WRONG_MAX = 20
PAUSE_SECONDS = 0.1
"""Seconds before an act is sent again, or a stream is resumed."""
PATIENCE_SECONDS = (1.0, 5.0, 30.0)
"""Seconds, drawn by lot, that a client waits for an answer before it retries on a new connection."""
READS = ("", "/protocol", "/events?after={after}", "/replay?at={at}", "/knocks", "/pot")
LISTS = ("/v1/matches", "/health/ready")
LISTS_SHARE = 0.2
READER_PAUSE_SECONDS = 0.05
LATEST = 16
"""Matches that are looked at."""


class Enough(Exception):
    """Too much is wrong to continue."""


class Acknowledged(msgspec.Struct, frozen=True):
    """An answered act: its first event, if the answer showed that, and its last."""

    first: int | None
    last: int


class Ledger:
    """All answers to clients, and the faults in them."""

    def __init__(self) -> None:
        self.acts: dict[tuple[str, Actor, str], Acknowledged] = {}
        """Acts by match, actor and key."""
        self.versions: dict[str, int] = {}
        """Latest known version by match."""
        self.over: dict[str, int] = {}
        """The last version of each match that is played no more."""
        self.counts = Counter[str]()
        self.wrong: list[str] = []
        """Descriptions of faults; ``counts`` has their number by kind, of :data:`NEVER`."""
        self.told_counts, self.told_wrong = Counter[str](), 0
        """The part of both that has been reported."""
        self.asked: list[tuple[float, float, int]] = []
        """Times at which acts were sent and answered, and the statuses."""

    def found(self, kind: str, how: str) -> None:
        """Count a fault once, however often it is seen. Raises :class:`Enough`."""
        if (wrong := f"{kind}: {how}") not in self.wrong:
            self.counts[kind] += 1
            self.wrong.append(wrong)
        if len(self.wrong) >= WRONG_MAX:
            raise Enough(f"{WRONG_MAX} things were found that may not be")

    def judge(self, what: str, answer: Answer) -> None:
        """Check that an answer is a success or a problem, and no problem of the service itself."""
        if answer.status < 400:
            return
        form = answer.headers.get("content-type")
        self.counts[f"{answer.status}"] += 1
        ours = answer.status >= 500 and answer.status != 503
        if ours or form != PROBLEM or answer.said["status"] != answer.status:
            self.found("answers", f"{what}: {answer.status} as {form}: {answer.body[:200]!r}")

    def lost(self, loss: Exception, cut: str) -> None:
        """Count an unanswered request; ``cut``: its kind if there was a connection."""
        if isinstance(loss, ConnectionRefusedError):
            return
        self.counts["given up" if isinstance(loss, TimeoutError) else cut] += 1

    def told(self, match: str, version: int) -> None:
        """Record that a match has reached a version."""
        self.versions[match] = max(version, self.versions.get(match, 0))


class Script(msgspec.Struct, frozen=True):
    """The opening of a match, and the requests after it: call, actor, body, and whether it may be refused."""

    opening: dict[str, Any]
    steps: list[tuple[str, int | str, Any, bool]]


@cache
def scripts() -> list[Script]:
    """Return the conformance matches: all games, with knocks and refused acts."""
    return [_conforming(given) for ruleset in RULESETS for given in matches(ruleset)]


def _conforming(given: dict[str, Any]) -> Script:
    names = ("ruleset", "options", "first_dealer", "dealing", "enforcement", "stakes", "opening")
    players = [{"name": f"P{seat + 1}"} for seat in range(given["players"])]
    steps = [
        (step["call"], step["as"], step["body"], step["expect"] != "ok" or step.get("optional", False))
        for step in given["steps"]
        if step["call"] != "legal-acts"
    ]
    return Script({name: given[name] for name in names} | {"players": players, "adjudication": None}, steps)


@cache
def long_script() -> Script:
    """Return a match of thousands of acts, so that there is always one with a long history."""
    return Script(OPENING, [("acts", seat, msgspec.Raw(body), False) for seat, body in script()])


class Player:
    """Plays matches one after the other, an act at a time."""

    def __init__(
        self, number: int, port: int, ledger: Ledger, seed: str, go: asyncio.Event, follow: Any, thinks: float
    ) -> None:
        """``go``: while it is cleared, the player rests after the present act. ``follow`` is called with each match.

        ``thinks``: seconds before each act.
        """
        self.number, self._ledger, self._go, self._follow, self._thinks = number, ledger, go, follow, thinks
        self._client, self._chance = Client(port), Random(f"{seed} {number}")
        self._path, self._tokens = "", dict[int | str, str]()
        self.resting = False
        self.timed = True
        """Response times are recorded."""
        self.answered_at = 0.0
        self.patience: tuple[float, ...] = PATIENCE_SECONDS

    async def play(self) -> None:
        """Play until cancelled."""
        with self._client:
            for turn in count():
                await self._match(long_script() if self.number == 0 else self._chance.choice(scripts()), turn)

    async def _match(self, script: Script, turn: int) -> None:
        opened = await self._done("POST", "/v1/matches", {}, script.opening)
        made = opened.said
        match = made["id"]
        self._path = f"/v1/matches/{match}"
        self._tokens = {seat["seat"]: seat["token"] for seat in made["seats"]} | {"official": made["official_token"]}
        self._ledger.told(match, made["version"])
        self._follow(match)
        for number, (call, actor, body, may_refuse) in enumerate(script.steps):
            await self._rest()
            key = f"{self.number}-{turn}-{number}"
            headers = {"Authorization": f"Bearer {self._tokens[actor]}", "Idempotency-Key": key}
            answer = await self._done("POST", f"{self._path}/{call}", headers, body, may_refuse)
            if answer.status == 201:
                self._acknowledged(match, actor_at(actor) if isinstance(actor, int) else actor, key, answer)
        self._ledger.over[match] = self._ledger.versions[match]

    def _acknowledged(self, match: str, actor: Actor, key: str, answer: Answer) -> None:
        said, ledger = answer.said, self._ledger
        first = said["events"][0]["number"] if "events" in said else None
        ledger.acts[match, actor, key] = Acknowledged(first, said["version"])
        ledger.counts["acts"] += 1
        ledger.counts["replayed"] += "idempotency-replayed" in answer.headers
        if (version := said["version"]) <= (before := ledger.versions[match]):
            ledger.found("answers", f"{self._path}: act {key} answered {version} after {before}")
        ledger.told(match, version)
        self.answered_at = time.monotonic()

    async def _done(
        self, method: str, path: str, headers: dict[str, str], body: Any, may_refuse: bool = False
    ) -> Answer:
        """Send a request until it is answered, with any status."""
        content = msgspec.json.encode(body)
        while True:
            sent = time.monotonic()
            answer = await self._ask(method, path, {**headers, "Content-Type": "application/json"}, content)
            if answer is not None and self.timed:
                self._ledger.asked.append((sent, time.monotonic(), answer.status))
            if answer is not None and answer.status < 500:
                if answer.status >= 400 and not may_refuse:
                    self._ledger.found("answers", f"{path} {content[:80]!r}: {answer.status} {answer.body[:200]!r}")
                return answer
            await asyncio.sleep(PAUSE_SECONDS)

    async def _ask(self, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> Answer | None:
        try:
            answer = await self._client.ask(method, path, headers, body, seconds=self._chance.choice(self.patience))
        except LOST as loss:
            self._ledger.lost(loss, "cut")
            return None
        self._ledger.judge(f"{method} {path}", answer)
        return answer

    async def _rest(self) -> None:
        if self._thinks:
            await asyncio.sleep(self._thinks)
        if not self._go.is_set():
            self.resting = True
            await self._go.wait()


class Reader:
    """Reads the matches in play. A read may fail, but it must not be older than an answer."""

    def __init__(self, number: int, port: int, ledger: Ledger, seed: str) -> None:
        self._ledger, self._client, self._chance = ledger, Client(port), Random(f"{seed} reader {number}")

    async def read(self) -> None:
        """Read until cancelled."""
        with self._client:
            while True:
                try:
                    await self._look()
                except LOST as loss:
                    self._ledger.lost(loss, "reads cut")
                await asyncio.sleep(READER_PAUSE_SECONDS)

    async def _look(self) -> None:
        ledger, chance = self._ledger, self._chance
        match, version = chance.choice([*ledger.versions.items()][-LATEST:] or [("", 0)])
        if not match or chance.random() < LISTS_SHARE:
            path, version = chance.choice(LISTS), 0
        else:
            read = chance.choice(READS).format(after=chance.randrange(version), at=version)
            path = f"/v1/matches/{match}{read}"
        answer = await self._client.ask("GET", path, {}, seconds=chance.choice(PATIENCE_SECONDS))
        ledger.judge(f"GET {path}", answer)
        ledger.counts["reads"] += answer.status == 200
        if answer.status not in (200, 503) and not (answer.status == 404 and path.endswith("/pot")):
            if answer.status < 500:  # else it is judged
                ledger.found("answers", f"GET {path}: {answer.status} {answer.body[:200]!r}")
        elif answer.status == 200 and (version_of(answer.headers.get("etag", "")) or 0) < version:
            ledger.found("answers", f"GET {path}: {answer.headers['etag']}, and {version} was answered")


class Listener:
    """Follows a match by its stream across lost connections."""

    def __init__(self, match: str, port: int, ledger: Ledger, cut_after: Any = lambda: None) -> None:
        """``cut_after`` gives after how many bytes to hang up, for each connection; ``None`` for never."""
        self.match, self._ledger, self._cut_after = match, ledger, cut_after
        self._client = Client(port)
        self.topics: list[str] = []
        """Topics of the received events, from event 1."""

    def whole(self) -> None:
        """Stop hanging up unasked."""
        self._cut_after = lambda: None

    @property
    def at(self) -> int:
        """The number of the last event received."""
        return len(self.topics)

    @property
    def heard_all(self) -> bool:
        """All events have arrived."""
        return self.at >= self._ledger.over.get(self.match, self.at + 1)

    async def listen(self) -> None:
        """Listen until all events have arrived."""
        while not self.heard_all:
            try:
                if await self._connection():
                    return
            except LOST as loss:
                self._ledger.lost(loss, "streams cut")
            await asyncio.sleep(PAUSE_SECONDS)

    async def _connection(self) -> bool:
        """Read the events of one connection. Return whether the stream is complete."""
        headers = {"Last-Event-ID": str(self.at)} if self.at else {}
        path, unread, left = f"/v1/matches/{self.match}/events/stream", b"", self._cut_after()
        stream: Any = self._client.stream(path, headers)
        try:
            async for part in stream:
                if part.status != 200:
                    self._ledger.judge(f"GET {path}", part)
                    return bool(part.status == 204)
                *frames, unread = (unread + part.body[:left]).split(b"\n\n")
                for frame in frames:
                    self._frame(frame)
                if left is not None and (left := left - len(part.body)) <= 0:
                    raise EOFError("cut off by its own client")
                if self.heard_all:
                    return True
        finally:
            await stream.aclose()
        return False

    def _frame(self, frame: bytes) -> None:
        fields = dict(line.split(": ", 1) for line in frame.decode().splitlines() if not line.startswith(":"))
        if "id" not in fields:
            return
        if (number := int(fields["id"])) == self.at + 1:
            self.topics.append(msgspec.json.decode(fields["data"])["topic"])
        else:
            self._ledger.found("gaps", f"the stream of {self.match}: event {number} came after {self.at}")
