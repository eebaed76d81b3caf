"""All attackers at once beside eight honest clients: ``python -m tests.benchmarks.attackers [--seconds N]``.

Each attacker is a process with an address of its own on this machine. It ends after its time, and yields the
processor to the service. The service has the limits of a public one. The honest clients play a match each, ten acts a
second, first alone and then beside the attackers. The health of the service is asked for twenty times a second.

Bounds: the 95th percentile of the honest acts is at most three times as high beside the attackers, every honest act
succeeds, every answer about the health is 200, and every attack is answered as :data:`ATTACKS` says.
"""

import argparse
import asyncio
import json
import os
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any, NamedTuple
from uuid import uuid4

import httpx
import uvloop

from api.settings import Settings
from tests.benchmarks.http import served
from tests.benchmarks.load import OPENING, Client, made, post, script
from tests.benchmarks.long_match import LIVE, entry, fill
from tests.benchmarks.measure import floor, table
from tests.support.club_client import ClubTable, in_days

SECONDS = 60.0
ALONE_SHARE = 4
"""The honest clients play alone for a quarter of the time."""
HONEST = 8
PACE_SECONDS = 0.1
"""The time from one act of an honest client to its next one."""
HEALTH_SECONDS = 0.05
P95_TIMES_MAX = 3.0
DEALS = 1500
"""Deals of the long match, of some twelve events each."""
SLACK_SECONDS = 5.0
"""The time by which an attack may end late."""
PATIENCE_SECONDS = 60.0
"""The time after which a request has failed."""
READY_SECONDS_MAX = 300.0
KEYS = 40
PLANS = 40
"""Requests for a plan that one club makes at the same time."""
MEMBERS = 24
"""Members of the club whose plan is asked for."""
IDLE = 300
"""Connections of one address: more than ``address_connections``."""
IDLE_TIMES = 20
"""Times the attacker tries a request beside its idle connections before it opens them again."""
BODY_BYTES = 63_000
CONNECTIONS = 4
"""Connections of an attacker, if nothing else is said."""

Statuses = Counter[int]
_COUNTING = threading.Lock()
CUT = 0
"""Stands for a connection that the service closed without an answer."""


class Attacker:
    """An address that sends requests until its time is over, and counts the answers by status."""

    def __init__(self, port: int, address: str, deals: int) -> None:
        self.port, self.address, self.deals = port, address, deals
        self.answers, self.until = Statuses(), 0.0

    def client(self) -> httpx.Client:
        """Return a client for what is prepared before the attack."""
        transport = httpx.HTTPTransport(local_address=self.address)
        return httpx.Client(base_url=f"http://127.0.0.1:{self.port}", timeout=PATIENCE_SECONDS, transport=transport)

    def connection(self) -> HTTPConnection:
        """Return a new connection from the address."""
        return HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS, source_address=(self.address, 0))

    @property
    def goes_on(self) -> bool:
        """Return whether the attack still runs."""
        return time.monotonic() < self.until

    def count(self, status: int) -> None:
        """Count an answer."""
        with _COUNTING:
            self.answers[status] += 1

    def repeat(self, requests: Iterator["Sent"], connections: int = CONNECTIONS) -> None:
        """Send requests on this many connections at once, each as soon as the one before is answered."""
        lock = threading.Lock()

        def send_all() -> None:
            connection = self.connection()
            while self.goes_on:
                with lock:
                    method, path, body, headers = next(requests)
                try:
                    connection.request(method, path, body, headers)
                    answer = connection.getresponse()
                    answer.read()
                    self.count(answer.status)
                except (OSError, HTTPException):
                    self.count(CUT)
                    connection.close()
                    connection = self.connection()
                    time.sleep(0.05)
            connection.close()

        threads = [threading.Thread(target=send_all) for _ in range(connections)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


Sent = tuple[str, str, bytes | None, dict[str, str]]
"""Method, path, body and headers."""
Attack = Callable[[], None]


def bearer(key: str) -> dict[str, str]:
    """Return the header that shows a key."""
    return {"Authorization": f"Bearer {key}"}


def written(path: str, body: Any, **headers: str) -> Sent:
    """Return a POST of JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return "POST", path, content, {"Content-Type": "application/json", **headers}


# The attacks: each prepares what it needs, and returns the function that attacks once all attackers are ready


def ugly_bodies() -> list[bytes]:
    """Return bodies of the largest size, each in a bad shape."""
    half = BODY_BYTES // 2
    return [
        b"{%s}" % b",".join(b'"a%d":0' % number for number in range(BODY_BYTES // 10)),
        b'{"a":0%s}' % (b',"a":0' * (BODY_BYTES // 6 - 2)),
        b"[" * half + b"]" * half,
        b'{"a":' * (BODY_BYTES // 6) + b"0" + b"}" * (BODY_BYTES // 6),
        b'{"%s":0}' % (b"a" * (BODY_BYTES - 6)),
        b'{"players":[%s]}' % b",".join([b'{"name":"A"}'] * (BODY_BYTES // 13)),
        b'{"acts":[%s]}' % b",".join([b'{"act":"score"}'] * (BODY_BYTES // 16 - 1)),
        b'{"act":"deal","seat":0,"hands":[[%s]]}' % b",".join([b'"SA"'] * (BODY_BYTES // 5 - 10)),
        b'"' + b"\\u0041" * (BODY_BYTES // 6) + b'"',
        b"[" + b"1e9," * (BODY_BYTES // 4 - 1) + b"0]",
    ]


def bodies(attacker: Attacker) -> Attack:
    """Send large bodies, long query strings and many headers without a credential."""
    unknown = f"/v1/matches/{uuid4()}"
    paths = ["/v1/matches", "/v1/clubs", f"{unknown}/acts", f"{unknown}/acts/batch", f"{unknown}/knocks"]
    requests: list[Sent] = [written(path, body) for body in ugly_bodies() for path in paths]
    requests.append(("GET", "/v1/matches?" + "&".join(f"a{number}=1" for number in range(900)), None, {}))
    requests.append(("GET", "/v1/rulesets", None, {f"X-{number}": "a" for number in range(90)}))
    return lambda: attacker.repeat(cycle(requests))


def long_match(attacker: Attacker) -> Attack:
    """Have an entry decided and a ruling previewed again and again in a match of many events."""
    with attacker.client() as client:
        match = fill(client, attacker.deals)
    ruling = {"verdict": "upheld", "standard": "beyond_reasonable_doubt", "rule": "J9"}
    requests = [
        written(f"{match.path}/knocks", entry(2, 1, 0), **match.bearer(2)),
        written(f"{match.path}/knocks/1/ruling?preview=true", ruling, **match.bearer("official")),
    ]
    return lambda: attacker.repeat(cycle(requests), 2)


def many_keys(attacker: Attacker) -> Attack:
    """Read with forty keys of one club."""
    with attacker.client() as client:
        club, keys = ClubTable(client), []
        for _ in range(KEYS):
            done = club.done("issue_key", scopes=["read"], expires_at=in_days(9), app="Board")
            keys.append(done["key"]["secret"])
    paths = [club.path, f"{club.path}/members", "/v1/key", "/v1/matches"]
    # Until a key has been answered once it counts by its address. So no key is sent twice at the same time.
    requests: list[Sent] = [("GET", path, None, bearer(key)) for path in paths for key in keys]
    return lambda: attacker.repeat(cycle(requests), 8)


def idle_connections(attacker: Attacker) -> Attack:
    """Open more connections than an address may have, and send nothing on them."""

    def open_all(stack: ExitStack) -> None:
        for _ in range(IDLE):
            place = ("127.0.0.1", attacker.port)
            one = socket.create_connection(place, PATIENCE_SECONDS, source_address=(attacker.address, 0))
            stack.enter_context(closing(one))

    def hold() -> None:
        while attacker.goes_on:
            with ExitStack() as stack:
                open_all(stack)
                for _ in range(IDLE_TIMES):
                    time.sleep(0.1)
                    with suppress(OSError, HTTPException), closing(attacker.connection()) as connection:
                        connection.request("GET", "/v1/rulesets")
                        attacker.count(connection.getresponse().status)

    return hold


def plans(attacker: Attacker) -> Attack:
    """Ask for the plan of one club forty times at once."""
    with attacker.client() as client:
        club = ClubTable(client)
        for number in range(MEMBERS):
            member = club.join(f"Member {number}")
            club.done("fee", member=member, amount=100 + 37 * number * number, currency="SEK")
        key = club.keys["founder"]
    return lambda: attacker.repeat(cycle([("GET", f"{club.path}/plan?currency=SEK", None, bearer(key))]), PLANS)


def erasing(attacker: Attacker) -> Attack:
    """Have members join, leave and be erased, again and again."""
    with attacker.client() as client:
        club = ClubTable(client)

    def loop() -> None:
        with attacker.client() as client:
            club.client = client
            while attacker.goes_on:
                joined = club.act("join", name="Soon gone")
                attacker.count(joined.status_code)
                if joined.status_code == 201:
                    for act in ("leave", "erase"):
                        attacker.count(club.act(act, member=joined.json()["member"]).status_code)

    return loop


def key_of_another(attacker: Attacker) -> Attack:
    """Send the Idempotency-Key of an opening by a different caller."""
    key = str(uuid4())
    body = {"ruleset": "rodskagg-kortoxen", "players": [{"name": name} for name in ("Anna", "Berit", "Cesar")]}
    with attacker.client() as client:
        club = ClubTable(client)
        club.done("open_evening", on="2026-11-22", season="2026/27")
        members = [{"member": 1}, *({"member": club.join(name)} for name in ("Bo", "Cecilia"))]
        opening = body | {"club": club.id, "evening": 1, "players": members}
        answer = client.post("/v1/matches", json=opening, headers=club.bearer("founder") | {"Idempotency-Key": key})
        assert answer.status_code == 201, answer.text
    return lambda: attacker.repeat(cycle([written("/v1/matches", body, **{"Idempotency-Key": key})]))


def without_host(attacker: Attacker) -> Attack:
    """Send requests with no Host, and with two."""
    heads = (b"GET /v1/rulesets HTTP/1.1\r\n\r\n", b"GET /v1/rulesets HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")

    def loop() -> None:
        for head in cycle(heads):
            if not attacker.goes_on:
                return
            with suppress(OSError), closing(attacker.connection()) as connection:
                connection.connect()
                connection.sock.sendall(head)
                attacker.count(int(connection.sock.recv(12)[9:12] or CUT))
            time.sleep(0.01)

    return loop


class AttackScenario(NamedTuple):
    """An attack, and the statuses of its answers."""

    prepare: Callable[[Attacker], Attack]
    allowed_statuses: frozenset[int]
    required_statuses: frozenset[int]
    """The attack must meet one of these statuses. An empty set requires none."""


REFUSED = frozenset({429, 503})
ATTACKS: dict[str, AttackScenario] = {
    "bodies": AttackScenario(
        bodies, frozenset({400, 401, 404, 413, 414, 415, 422, 431}) | REFUSED, frozenset({400, 422})
    ),
    "long match": AttackScenario(long_match, frozenset({200, 201, 409, 422}) | REFUSED, frozenset()),
    "many keys": AttackScenario(many_keys, frozenset({200}) | REFUSED, frozenset()),
    "idle connections": AttackScenario(idle_connections, frozenset({200, 403, CUT}) | REFUSED, frozenset({403})),
    "plans": AttackScenario(plans, frozenset({200}) | REFUSED, frozenset()),
    "erasing": AttackScenario(erasing, frozenset({201, 409}) | REFUSED, frozenset()),
    "key of another": AttackScenario(key_of_another, frozenset({409}) | REFUSED, frozenset({409})),
    "without Host": AttackScenario(without_host, frozenset({400}) | REFUSED, frozenset({400})),
}
OF_ONE_CLUB = ("many keys", "plans")
"""Attacks with keys of one club: together these may read what one key may, and once each before they are known."""


def attack(name: str, attacker: Attacker, seconds: float, line: Connection) -> None:
    """Prepare an attack, and say so. When an answer comes, attack for this time, and say how it was answered."""
    run = ATTACKS[name].prepare(attacker)
    line.send("ready")
    line.recv()
    os.nice(19)
    attacker.until = time.monotonic() + seconds
    run()
    line.send(attacker.answers)


@contextmanager
def ready(port: int, seconds: float, deals: int) -> Iterator[dict[str, Connection]]:
    """Start all attackers, and give the line to each when they are ready. They are gone afterwards."""
    start = get_context("forkserver")
    start.set_forkserver_preload([attack.__module__])
    processes, lines = [], dict[str, Connection]()
    try:
        for place, name in enumerate(ATTACKS):
            lines[name], theirs = start.Pipe()
            how = (name, Attacker(port, f"127.0.2.{place + 1}", deals), seconds, theirs)
            processes.append(start.Process(target=attack, args=how, daemon=True))
            processes[-1].start()
            theirs.close()
        for name, line in lines.items():
            assert line.poll(READY_SECONDS_MAX), f"{name} is not ready"
            assert line.recv() == "ready"
        yield lines
    finally:
        for process in processes:
            process.kill()
            process.join()


# The honest clients


class Honest(NamedTuple):
    """The measurements of the honest clients."""

    seconds: list[float]
    """Seconds that each act took."""
    statuses: Statuses
    health_seconds: list[float]
    health: Statuses

    @property
    def p95(self) -> float:
        """The 95th percentile of the acts, in milliseconds."""
        return 1000 * sorted(self.seconds)[len(self.seconds) * 95 // 100]

    @property
    def health_p95(self) -> float:
        """The 95th percentile of the answers about the health, in milliseconds."""
        return 1000 * sorted(self.health_seconds)[len(self.health_seconds) * 95 // 100]


async def _connected(port: int, address: str) -> Client:
    create = asyncio.get_running_loop().create_connection
    _, client = await create(Client, "127.0.0.1", port, local_addr=(address, 0))
    return client


async def _play(port: int, number: int, ended: asyncio.Event, met: Honest) -> None:
    client = await _connected(port, f"127.0.1.{number + 1}")
    opened = await made(client, "/v1/matches", OPENING)
    tokens, path = [seat["token"] for seat in opened["seats"]], f"/v1/matches/{opened['id']}/acts"
    await asyncio.sleep(PACE_SECONDS * number / HONEST)
    for seat, act in script():
        if ended.is_set():
            break
        sent = time.perf_counter()
        async with asyncio.timeout(PATIENCE_SECONDS):
            status, _ = await client.send(post(path, act, tokens[seat]))
        took = time.perf_counter() - sent
        met.seconds.append(took)
        met.statuses[status] += 1
        await asyncio.sleep(max(0.0, PACE_SECONDS - took))
    client.transport.close()


async def _watch_health(port: int, ended: asyncio.Event, met: Honest) -> None:
    while not ended.is_set():
        sent = time.perf_counter()
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                client = await _connected(port, "127.0.1.200")
                status, _ = await client.send(LIVE)
            client.transport.close()
        except OSError:
            status = CUT
        met.health[status] += 1
        met.health_seconds.append(time.perf_counter() - sent)
        await asyncio.sleep(HEALTH_SECONDS)


async def play(port: int, seconds: float) -> Honest:
    """Have the honest clients play for this time."""
    met, ended = Honest([], Statuses(), [], Statuses()), asyncio.Event()
    playing = [asyncio.create_task(_play(port, number, ended, met)) for number in range(HONEST)]
    watching = asyncio.create_task(_watch_health(port, ended, met))
    await asyncio.sleep(seconds)
    ended.set()
    await asyncio.gather(*playing, watching)
    return met


class Outcome(NamedTuple):
    """Honest clients alone and beside the attackers, and how the attacks were answered."""

    alone: Honest
    beside: Honest
    answers: dict[str, Statuses]


def attacked(port: int, seconds: float, deals: int = DEALS) -> Outcome:
    """Let all attackers loose on a service for this time."""
    with ready(port, seconds, deals) as attackers:
        alone = asyncio.run(play(port, seconds / ALONE_SHARE))
        for line in attackers.values():
            line.send("go")
        beside = asyncio.run(play(port, seconds))
        answers = {}
        for name, line in attackers.items():
            assert line.poll(READY_SECONDS_MAX), f"{name} does not end"
            answers[name] = line.recv()
    return Outcome(alone, beside, answers)


def wrong(outcome: Outcome, seconds: float, reads_per_minute: int) -> list[str]:
    """Return what was not answered as it should have been in this time, under this limit."""
    found, most = [], int(reads_per_minute * (1 + (seconds + SLACK_SECONDS) / 60)) + KEYS
    for name in OF_ONE_CLUB:
        if (read := outcome.answers[name][200]) > most:
            found.append(f"{name}: {read} reads, where the club may have {most}")
    for name, scenario in ATTACKS.items():
        answers = outcome.answers[name]
        if strange := set(answers) - scenario.allowed_statuses:
            found.append(f"{name}: answered with {sorted(strange)}: {dict(answers)}")
        if not answers or (scenario.required_statuses and not scenario.required_statuses & set(answers)):
            found.append(f"{name}: no answer was one of {sorted(scenario.required_statuses)}: {dict(answers)}")
    for name, honest in (("alone", outcome.alone), ("beside", outcome.beside)):
        if set(honest.statuses) != {201}:
            found.append(f"honest acts, {name}: {dict(honest.statuses)}")
        if set(honest.health) != {200}:
            found.append(f"health, {name}: {dict(honest.health)}")
    return found


def main(seconds: float = SECONDS) -> bool:
    """Print the figures. Return whether all bounds hold."""
    with tempfile.TemporaryDirectory() as place, served("public", f"sqlite:///{place}/attacked.db") as port:
        outcome = attacked(port, seconds)
    rows: list[tuple[object, ...]] = [
        (name, len(one.seconds), f"{one.p95:.1f}", f"{one.health_p95:.1f}")
        for name, one in (("alone", outcome.alone), ("beside the attackers", outcome.beside))
    ]
    table(f"{HONEST} honest clients, {seconds:.0f} s", ("", "acts", "p95 ms", "health p95 ms"), rows)
    answered: list[tuple[object, ...]] = [
        (name, sum(answers.values()), ", ".join(f"{status}: {many:,}" for status, many in sorted(answers.items())))
        for name, answers in outcome.answers.items()
    ]
    table("Attacks", ("", "answers", "by status"), answered)
    found = wrong(outcome, seconds, Settings().reads_per_minute)
    for one in found:
        print(f"  WRONG    {one}")
    times = outcome.beside.p95 / outcome.alone.p95
    return (
        floor(f"p95 that is allowed ({P95_TIMES_MAX:g} times alone), beside the one met", P95_TIMES_MAX / times, 1.0)
        and not found
    )


if __name__ == "__main__":
    uvloop.install()
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.attackers", description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long the attackers attack")
    sys.exit(0 if main(parser.parse_args().seconds) else 1)
