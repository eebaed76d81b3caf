"""The event loop's work on a request grows no faster than the request. It is counted in steps, not timed."""

import asyncio
import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import httpx
import pytest
from litestar import Litestar

from api.app import create_app
from api.http.protocol import HEADERS_MAX, URL_MAX, VALUE_MAX
from api.server import Server, config_of
from api.settings import Settings
from referee.store.desk import Desk
from tests.support.club_client import ClubTable
from tests.support.match_client import KORTOXEN, Table
from tests.support.paths import ROOT
from tests.support.step_counter import Steps

DESCRIPTION = json.loads((ROOT / "openapi" / "openapi.json").read_bytes())
BODY_MAX = Settings().body_limit_bytes
LITTLE, HALF, WHOLE = 0.02, 0.5, 1.0
"""Shares of the largest input that are sent."""
GROWTH_MAX = 2.2
"""Largest factor of the steps for twice the input: two, and 10 % more."""
NOISE = 400
"""Steps allowed for work outside the request."""
ATTEMPTS = 3
"""Number of tries. The first may do one-time work, and sometimes the thread does other work during a request."""
NOT_THE_WHOLE_ANSWER = ("/events/stream",)
"""Paths whose answer does not end."""
CALLS = [
    (method, path) for path, calls in DESCRIPTION["paths"].items() for method in calls if method in ("get", "post")
]
WRITES = [(method, path) for method, path in CALLS if "requestBody" in DESCRIPTION["paths"][path][method]]

Headers = list[tuple[str, str]]


def _call_and_set(
    loop: asyncio.AbstractEventLoop, turns: int, call: Callable[[], object], done: threading.Event
) -> None:
    """Call a function after some turns of the event loop."""
    if turns:
        loop.call_soon(_call_and_set, loop, turns - 1, call, done)
    else:
        call()
        done.set()


class Served:
    """A service in a thread, whose event loop is counted. ``values`` has the values of path parameters."""

    def __init__(self, url: str) -> None:
        self.steps, self.writer = Steps(), Steps()
        self._server = Server(config_of(create_app(Settings(database_url=url)), "127.0.0.1", 0))
        self._thread = threading.Thread(target=self._server.run, daemon=True)
        with self.writer.counted_in("desk"):
            self._thread.start()
            while not self._server.started:
                assert self._thread.is_alive(), "the service did not start"
                self._thread.join(0.01)
        self.place = self._server.servers[0].sockets[0].getsockname()[:2]
        self._loop = self._server.servers[0].get_loop()
        with httpx.Client(base_url=f"http://{self.place[0]}:{self.place[1]}") as client:
            table, club = Table(client, adjudication={}), ClubTable(client)
            table.post("/knocks", {"offence": "other", "seat": 0, "accused": 1, "deal": 1}, 0)
        self.keys = {"match": table.tokens["official"], "club": club.keys["founder"], None: club.keys["founder"]}
        self.values = {
            "match": table.id,
            "club": club.id,
            "ruleset": KORTOXEN,
            "rule_id": "B1",
            "kind": "journal.csv",
            "invitation": "x" * 43,
        }

    @property
    def desk(self) -> Desk:
        """Desk of the service."""
        app = self._server.config.app
        assert isinstance(app, Litestar)
        desk: Desk = app.state.service.desk
        return desk

    def close(self) -> None:
        """Stop the service."""
        self._server.should_exit = True
        self._thread.join(60)
        assert not self._thread.is_alive(), "the service did not stop"

    def steps_of(
        self, method: str, path: str, query: str = "", headers: Headers | None = None, body: Any = None
    ) -> int:
        """Return the number of steps of the event loop for a request. ``body``: its pieces, or bytes."""
        target = "/".join(
            self.values.get(part.strip("{}"), "1") if part.startswith("{") else part for part in path.split("/")
        )
        sent: Headers = [("Host", "localhost"), ("Connection", "close"), *(headers or [])]
        if not any(name == "Authorization" for name, _ in sent):
            owner = next((one for one in ("match", "club") if f"{{{one}}}" in path), None)
            sent += [] if path in ("/v1/matches", "/v1/clubs") else [("Authorization", f"Bearer {self.keys[owner]}")]
        if isinstance(body, bytes):
            assert len(body) <= BODY_MAX, "more than may be sent"
            sent += [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        elif body is not None:
            sent += [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")]
            body = b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in body) + b"0\r\n\r\n"
        head = "".join(f"{name}: {value}\r\n" for name, value in sent)
        before = self.steps.taken
        with self.counted(), socket.create_connection(self.place, timeout=60) as connection:
            connection.sendall(f"{method.upper()} {target}{query} HTTP/1.1\r\n{head}\r\n".encode() + (body or b""))
            answer = b""
            while (piece := connection.recv(65536)) and not (path.endswith(NOT_THE_WHOLE_ANSWER) and answer):
                answer += piece
        assert answer.startswith(b"HTTP/1.1 "), answer
        assert not answer.startswith(b"HTTP/1.1 50"), answer[:2000]
        return self.steps.taken - before

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the steps of the event loop within this block."""
        self._on_loop(self.steps.begin)
        try:
            yield
        finally:
            self._on_loop(self.steps.end)

    def _on_loop(self, call: Callable[[], None]) -> None:
        """Let the event loop call a function after its present work and the work that follows from it."""
        done = threading.Event()
        self._loop.call_soon_threadsafe(_call_and_set, self._loop, 2, call, done)
        assert done.wait(60)

    def must_grow_evenly(self, what: str, send: Callable[[float], int]) -> None:
        """Fail if twice the input takes more than twice the steps.

        Half the input comes last, because one-time work must not count for it: it would hide a growth.
        """
        for _ in range(ATTEMPTS):
            little, whole, half = send(LITTLE), send(WHOLE), send(HALF)
            if whole - little <= GROWTH_MAX * max(half - little, 0) + NOISE:
                return
        pytest.fail(f"{what}: {little} steps for little, {half} for half of the most, {whole} for the most")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(f"sqlite:///{tmp_path_factory.mktemp('steps')}/knacka.db")
    yield served
    served.close()


# Values in their worst shapes, of at most ``size`` bytes


def names_of(size: int) -> list[str]:
    return [f"k{number:07d}" for number in range(size // 13)]


def repeated_keys(size: int) -> bytes:
    """Return an object whose keys all differ, except the last."""
    names = names_of(size - 15)
    return ("{" + ",".join(f'"{name}":0' for name in [*names, *names[-1:]]) + "}").encode()


def other_keys(size: int) -> bytes:
    return ("{" + ",".join(f'"{name}":0' for name in names_of(size)) + "}").encode()


def nested(size: int) -> bytes:
    return b"[" * (size // 2) + b"]" * (size // 2)


def nested_objects(size: int) -> bytes:
    return b'{"a":' * (size // 6) + b"0" + b"}" * (size // 6)


def wide_and_deep(size: int) -> bytes:
    """Return a value of the maximum depth, with a long list at the bottom."""
    depth = size // 430
    return b'{"a":' * depth + b"[" + b",".join([b'"\xc3\xa5"'] * (size // 5 - 2 * depth)) + b"]" + b"}" * depth


def long_name(size: int) -> bytes:
    """Return an object with a long name and a long list."""
    return json.dumps({"n" * (size // 2): ["\u00e5"] * (size // 14)}, ensure_ascii=False).encode()


def long_text(size: int) -> bytes:
    return b'"%s"' % (b"\xc3\xa5" * (size // 2 - 1))


def marks(size: int) -> bytes:
    """Return a text with combining marks in the wrong order."""
    return b'"%s"' % (b"\xcc\xa7\xcc\x81" * (size // 4 - 1))


def escaped(size: int) -> bytes:
    return b'"%s"' % (b"\\u00e5" * (size // 6 - 1))


def long_number(size: int) -> bytes:
    return b"9" * size


def long_list(size: int) -> bytes:
    return b"[" + b",".join([b'"SA"'] * (size // 5)) + b"]"


SHAPES = [
    repeated_keys,
    other_keys,
    nested,
    nested_objects,
    wide_and_deep,
    long_name,
    long_text,
    marks,
    escaped,
    long_number,
    long_list,
]
ROOM = 2000
"""Bytes of a body that are kept for its other parts."""


def bodies(example: dict[str, Any], shape: Callable[[int], bytes]) -> dict[str, Callable[[float], bytes]]:
    """Return by name functions that make a body for a share of the largest size. The whole body, or one field, has
    the shape."""

    def in_place_of(name: str, share: float) -> bytes:
        fields = {one: json.dumps(value).encode() for one, value in example.items()}
        fields[name] = shape(max(int(share * (BODY_MAX - ROOM)), 40))
        return b"{" + b",".join(json.dumps(one).encode() + b":" + value for one, value in fields.items()) + b"}"

    def whole(share: float) -> bytes:
        return shape(max(int(share * (BODY_MAX - ROOM)), 40))

    fields = {name: partial(in_place_of, name) for name in (*example, "unknown")}
    return {"all of it": whole, **fields}


def lengthened(example: Any, size: int) -> bytes:
    """Return a valid body whose lists (cards, acts, players) have the maximum length."""
    lists = max(1, json.dumps(example).count("["))

    def longer(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: longer(inner) for name, inner in value.items()}
        if isinstance(value, list):
            items = value or [0]
            return items * max(1, size // (2 * lists * (len(json.dumps(items)) + 1)))
        return value

    return json.dumps(longer(example)).encode()[:BODY_MAX]


def example_of(method: str, path: str) -> dict[str, Any]:
    """Return the longest example of the body of a call."""
    content = DESCRIPTION["paths"][path][method]["requestBody"]["content"]["application/json"]
    examples = [one["value"] for one in content.get("examples", {}).values()] or [content.get("example", {})]
    found: dict[str, Any] = max(examples, key=lambda one: len(json.dumps(one)))
    return found


def _steps_of_share(service: Served, method: str, path: str, made: Callable[[float], bytes], share: float) -> int:
    return service.steps_of(method, path, body=made(share))


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.__name__)
@pytest.mark.parametrize(("method", "path"), WRITES, ids=lambda part: str(part))
def test_the_largest_body(service: Served, method: str, path: str, shape: Callable[[int], bytes]) -> None:
    for place, made in bodies(example_of(method, path), shape).items():
        service.must_grow_evenly(
            f"{method} {path} with {shape.__name__} as {place}",
            partial(_steps_of_share, service, method, path, made),
        )


@pytest.mark.parametrize(("method", "path"), WRITES, ids=lambda part: str(part))
def test_the_longest_lists(service: Served, method: str, path: str) -> None:
    example = example_of(method, path)
    service.must_grow_evenly(
        f"{method} {path}",
        lambda share: service.steps_of(method, path, body=lengthened(example, int(share * (BODY_MAX - ROOM)))),
    )


@pytest.mark.parametrize(("method", "path"), WRITES, ids=lambda part: str(part))
def test_a_body_in_the_smallest_pieces(service: Served, method: str, path: str) -> None:
    example = json.dumps(example_of(method, path)).encode()
    service.must_grow_evenly(
        f"{method} {path}",
        lambda share: service.steps_of(method, path, body=[b" "] * int(share * (BODY_MAX - ROOM)) + [example]),
    )


# Headers, of a given share of the maximum

LISTED = {
    "Accept": "text/html",
    "Accept-Encoding": "br",
    "Accept-Language": "fi",
    "Cookie": "a=b",
    "Forwarded": "for=127.0.0.1",
    "If-Match": '"1"',
    "If-None-Match": '"1"',
    "X-Forwarded-For": "127.0.0.1",
}


def listed(name: str) -> Callable[[float], Headers]:
    return lambda share: [(name, ",".join([LISTED[name]] * int(share * VALUE_MAX / (len(LISTED[name]) + 1))))]


def with_parameters(name: str) -> Callable[[float], Headers]:
    return lambda share: [(name, LISTED[name] + ";q=0" * int(share * (VALUE_MAX - 99) / 4))]


def long(name: str) -> Callable[[float], Headers]:
    return lambda share: [(name, "9" * int(share * VALUE_MAX))]


def many(name: str, value: str) -> Callable[[float], Headers]:
    return lambda share: [(name, value)] * int(share * (HEADERS_MAX - 6))


HEADERS: dict[str, Callable[[float], Headers]] = {
    **{f"a list in {name}": listed(name) for name in LISTED},
    **{f"parameters in {name}": with_parameters(name) for name in ("Accept", "Accept-Encoding", "Accept-Language")},
    **{f"a long {name}": long(name) for name in ("Authorization", "Idempotency-Key", "If-Match", "Last-Event-ID")},
    "many of one name": many("X-Forwarded-For", "127.0.0.1, " * 20),
    "many languages": many("Accept-Language", "sv"),
    "many others": lambda share: [(f"X-{place}", "x" * 200) for place in range(int(share * (HEADERS_MAX - 6)))],
}


@pytest.mark.parametrize("made", HEADERS.values(), ids=HEADERS.keys())
@pytest.mark.parametrize(("method", "path"), CALLS, ids=lambda part: str(part))
def test_the_longest_headers(service: Served, method: str, path: str, made: Callable[[float], Headers]) -> None:
    service.must_grow_evenly(
        f"{method} {path}", lambda share: service.steps_of(method, path, headers=made(share), body=b"{}")
    )


QUERIES: dict[str, Callable[[int], str]] = {
    "one parameter again and again": lambda size: "&".join(["{known}=1"] * (size // 12)),
    "others": lambda size: "&".join(f"p{place:04d}=1" for place in range(size // 8)),
    "a long value": lambda size: "{known}=" + "9" * size,
    "escapes": lambda size: "{known}=" + "%C3%A5" * (size // 6),
    "signs": lambda size: "&=;" * (size // 3),
}


@pytest.mark.parametrize("made", QUERIES.values(), ids=QUERIES.keys())
@pytest.mark.parametrize(("method", "path"), CALLS, ids=lambda part: str(part))
def test_the_longest_query(service: Served, method: str, path: str, made: Callable[[int], str]) -> None:
    known = [
        one["name"] for one in DESCRIPTION["paths"][path][method].get("parameters", []) if one.get("in") == "query"
    ]
    room = URL_MAX - 200

    def query(share: float) -> str:
        return "?" + made(int(share * room)).replace("{known}", known[0] if known else "limit")[:room]

    service.must_grow_evenly(
        f"{method} {path}", lambda share: service.steps_of(method, path, query=query(share), body=b"{}")
    )


@pytest.mark.parametrize("piece", ["a", "/", "9", "%C3%A5", "../", "v1/matches/"])
@pytest.mark.parametrize("top", ["/", "/v1/matches/", "/v1/clubs/", "/v1/rulesets/", "/v1/invitations/"])
def test_the_longest_path(service: Served, top: str, piece: str) -> None:
    service.must_grow_evenly(
        top, lambda share: service.steps_of("get", top + piece * int(share * (URL_MAX - 99) / len(piece)))
    )


def _compare_all(size: int) -> None:
    for one in range(size):
        for other in range(size):
            _ = one == other


def _collect(names: list[str], seen: set[str]) -> None:
    for name in names:
        seen.add(name)


class TestTheCounter:
    def test_it_sees_a_walk_in_c_within_a_walk(self) -> None:
        """Code that once blocked the event loop for seconds: it counted each name in a list of names."""

        def counted(size: int) -> int:
            names, steps = [*map(str, range(size))], Steps()
            with steps.counted():
                assert next((name for name in names if names.count(name) > 1), None) is None
            return steps.taken

        assert counted(2000) > 3.9 * counted(1000)

    def test_it_sees_a_loop_without_a_call(self) -> None:
        def counted(size: int) -> int:
            steps = Steps()
            with steps.counted():
                _compare_all(size)
            return steps.taken

        assert counted(200) > 3.9 * counted(100)

    def test_it_counts_what_is_linear_as_such(self) -> None:
        def counted(size: int) -> int:
            names, seen, steps = [*map(str, range(size))], set[str](), Steps()
            with steps.counted():
                _collect(names, seen)
            return steps.taken

        assert counted(2000) <= 2.01 * counted(1000)
        assert sys.gettrace() is None
