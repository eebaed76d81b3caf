"""Limits on the size and the time of requests on a connection, tested byte by byte on the real service."""

import asyncio
import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.http import protocol
from api.http.headers import POLICY, SECURE
from tests.conformance.description_check import Description
from tests.support.match_client import Table
from tests.support.running_service import Process, running, served, sse

PATIENCE = 20
"""Seconds to wait for changes that are immediate on an idle machine."""
LIVE = b"GET /health/live HTTP/1.1\r\nHost: x\r\n"
OPENING = b"POST /v1/matches HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
LARGE = 20_000_000

description = cache(Description)


class Answer:
    """An answer as received from the connection."""

    def __init__(self, head: bytes, body: bytes) -> None:
        first, *lines = head.decode("ascii").split("\r\n")
        self.status = int(first.split()[1])
        self.headers = {name: value for name, _, value in (line.partition(": ") for line in lines)}
        self.body = body

    def problem(self, status: int, code: str) -> dict[str, Any]:
        """Return the problem. Assert that it is this one, complete, as described, and the last answer of its
        connection."""
        assert (self.status, self.headers["content-type"]) == (status, "application/problem+json"), self.body
        for name, value in [*SECURE, POLICY]:
            assert self.headers[name.decode()] == value.decode()
        assert self.headers["connection"] == "close"
        document: dict[str, Any] = json.loads(self.body)
        assert (document["status"], document["type"]) == (status, f"/problems/{code}")
        description().shape("Problem", document)
        return document


class Wire:
    """A connection on which a test can send any bytes."""

    def __init__(self, address: str, **options: int) -> None:
        host, port = address.removeprefix("http://").split(":")
        self.socket = socket.socket()
        for name, value in options.items():
            self.socket.setsockopt(socket.SOL_SOCKET, getattr(socket, name), value)
        self.socket.connect((host, int(port)))
        self.socket.settimeout(PATIENCE)
        self.came = b""

    def send(self, data: bytes, times: int = 1) -> int:
        """Send the data this many times, or until the service closes the connection. Return the number of sent
        bytes."""
        sent = 0
        try:
            for _ in range(times):
                self.socket.sendall(data)
                sent += len(data)
        except OSError:
            pass
        return sent

    def answer(self) -> Answer:
        """Read the next answer."""
        while b"\r\n\r\n" not in self.came:
            self._more()
        head, _, self.came = self.came.partition(b"\r\n\r\n")
        length = int((re.search(rb"content-length: (\d+)", head) or [b"", b"0"])[1])
        while len(self.came) < length:
            self._more()
        body, self.came = self.came[:length], self.came[length:]
        return Answer(head, body)

    def _more(self) -> None:
        came = self.socket.recv(65536)
        assert came, f"the connection ended after {self.came!r}"
        self.came += came

    def ended(self) -> bool:
        """Return whether the service closes the connection without a further byte."""
        try:
            return self.came + self.socket.recv(65536) == b""
        except ConnectionResetError:
            return True


@contextmanager
def wire(address: str, **options: int) -> Iterator[Wire]:
    one = Wire(address, **options)
    try:
        yield one
    finally:
        one.socket.close()


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Process]:
    with running(f"sqlite:///{tmp_path_factory.mktemp('process')}/knacka.db") as process:
        yield process
        assert httpx.get(f"{process.address}/health/live").status_code == 200, "it lives"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a service in a thread. Tests may lower its limits."""
    with served(f"sqlite:///{tmp_path_factory.mktemp('thread')}/knacka.db") as address:
        yield address


def memory_peak(process: Process) -> int:
    """Return the peak memory of the process in bytes."""
    status = Path(f"/proc/{process.process.pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) * 1024


HOSTS_GOOD = ("x", "x:8000", "cards.example", "127.0.0.1:8000", "[::1]:8000", "xn--rdskgg-bua5l.example", "x ", "x:")
HOSTS_BAD = ("a b", "a/b", "u@x", "x:80a", "x:1:2", "[::1", "::1", "x?y", "x#y", "räv", '"x"', "a%2", "x\ty", "<x>")


class TestHost:
    """RFC 9112, section 3.2: a request has one Host, which can be one."""

    @pytest.mark.parametrize("value", HOSTS_GOOD)
    def test_one_that_can_be_one(self, process: Process, value: str) -> None:
        with wire(process.address) as client:
            client.send(b"GET /health/live HTTP/1.1\r\nHost: %s\r\n\r\n" % value.encode())
            assert client.answer().status == 200

    @pytest.mark.parametrize("value", HOSTS_BAD)
    def test_one_that_can_be_none(self, process: Process, value: str) -> None:
        with wire(process.address) as client:
            client.send(b"GET /health/live HTTP/1.1\r\nHost: %s\r\n\r\n" % value.encode())
            client.answer().problem(400, "bad-host")
            assert client.ended()

    @pytest.mark.parametrize("target", [b"/health/live", b"http://x/health/live"])
    def test_none(self, process: Process, target: bytes) -> None:
        with wire(process.address) as client:
            client.send(b"GET %s HTTP/1.1\r\nHosts: x\r\n\r\n" % target)
            client.answer().problem(400, "bad-host")
            assert client.ended()

    @pytest.mark.parametrize("version", [b"1.0", b"1.1"])
    @pytest.mark.parametrize("second", [b"x", b"y"])
    def test_two(self, process: Process, version: bytes, second: bytes) -> None:
        with wire(process.address) as client:
            client.send(b"GET /health/live HTTP/%s\r\nHost: x\r\nhOST: %s\r\n\r\n" % (version, second))
            client.answer().problem(400, "bad-host")
            assert client.ended()

    def test_none_in_http_1_0(self, process: Process) -> None:
        with wire(process.address) as client:
            client.send(b"GET /health/live HTTP/1.0\r\n\r\n")
            assert client.answer().status == 200
            assert client.ended()

    def test_none_after_a_request_that_had_one(self, process: Process) -> None:
        with wire(process.address) as client:
            client.send(LIVE + b"\r\nGET /health/live HTTP/1.1\r\n\r\n")
            assert client.answer().status == 200
            client.answer().problem(400, "bad-host")
            assert client.ended()


class TestHeaders:
    @pytest.mark.parametrize(
        ("begin", "block"),
        [
            (LIVE, b"".join(b"h%04d: v\r\n" % number for number in range(1000))),
            (LIVE + b"a: ", b"x" * 10_000),
            (LIVE, b"x" * 10_000),
            (OPENING + CHUNKED + b"0\r\na: ", b"x" * 10_000),
            (OPENING + CHUNKED, b"1;" + b"x" * 9_996 + b"\r\n"),
        ],
        ids=["small ones", "one value", "one name", "a trailer", "a chunk's extension"],
    )
    def test_an_endless_request_takes_no_memory(self, process: Process, begin: bytes, block: bytes) -> None:
        before = memory_peak(process)
        with wire(process.address) as client:
            client.send(begin)
            client.send(block, LARGE // len(block))
            answer = client.answer()
            assert answer.status in (400, 413, 431)
            assert answer.headers["content-type"] == "application/problem+json"
            assert client.ended()
        assert memory_peak(process) - before < LARGE / 2

    @pytest.mark.parametrize(
        "headers",
        [
            b"".join(b"h%d: v\r\n" % number for number in range(protocol.HEADERS_MAX)),
            b"a: %s\r\n" % (b"x" * (protocol.VALUE_MAX + 1)),
            b"%s: a\r\n" % (b"x" * (protocol.NAME_MAX + 1)),
            b"".join(b"h%d: %s\r\n" % (number, b"x" * 8000) for number in range(3)),
        ],
        ids=["number", "value", "name", "total"],
    )
    def test_each_limit(self, process: Process, headers: bytes) -> None:
        with wire(process.address) as client:
            client.send(LIVE + headers + b"\r\n")
            facts = client.answer().problem(431, "headers-too-large")["facts"]
            assert facts == {"headers_max": 64, "value_bytes": 8192, "limit_bytes": 16384}
            assert client.ended()

    def test_up_to_the_limit_all_is_well(self, process: Process) -> None:
        headers = b"".join(b"h%d: v\r\n" % number for number in range(protocol.HEADERS_MAX - 2))
        with wire(process.address) as client:
            client.send(LIVE + headers + b"a: %s\r\n\r\n" % (b"x" * protocol.VALUE_MAX))
            assert client.answer().status == 200

    def test_an_address(self, process: Process) -> None:
        with wire(process.address) as client:
            client.send(b"GET /" + b"x" * protocol.URL_MAX + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.answer().problem(414, "uri-too-long")["facts"] == {"limit_bytes": 4096}
            assert client.ended()

    def test_a_refusal_is_in_the_readers_language(self, process: Process) -> None:
        with wire(process.address) as client:
            client.send(LIVE + b"Accept-Language: sv\r\na: " + b"x" * 9000 + b"\r\n\r\n")
            assert client.answer().problem(431, "headers-too-large")["title"] == "Huvudfälten är för stora"

    def test_a_trailer_does_not_pass_for_a_header(self, address: str) -> None:
        with httpx.Client(base_url=address) as client:
            table = Table(client)
        body = b'{"act":"cut","seat":0}'
        with wire(address) as client:
            token = table.bearer(0)["Authorization"].encode()
            client.send(
                b"POST %s/acts HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" % table.path.encode()
                + CHUNKED
                + b"%x\r\n%s\r\n0\r\nAuthorization: %s\r\n\r\n" % (len(body), body, token)
            )
            assert client.answer().status == 401
            client.send(LIVE + b"\r\n")
            assert client.answer().status == 200, "the connection goes on"


class TestBodies:
    def test_a_length_that_is_too_large_is_refused_before_the_body_comes(self, process: Process) -> None:
        with wire(process.address) as client:
            client.send(OPENING + b"Content-Length: 65537\r\n\r\n")
            answer = client.answer()
            document = answer.problem(413, "too-large")
            assert document["facts"] == {"limit_bytes": 65_536}
            assert document["instance"] == f"/v1/matches#request={answer.headers['x-request-id']}"
            assert client.ended()

    def test_its_instance_is_the_path_as_it_was_sent(self, process: Process) -> None:
        with wire(process.address) as client:
            client.send(b"POST /v1/p%C3%A4rm%20x HTTP/1.1\r\nHost: x\r\nContent-Length: 65537\r\n\r\n")
            answer = client.answer()
            document = answer.problem(413, "too-large")
            assert document["instance"] == f"/v1/p%C3%A4rm%20x#request={answer.headers['x-request-id']}"

    @pytest.mark.parametrize("path", [b"POST /v1/matches", b"GET /health/live", b"PUT /nowhere"])
    def test_an_endless_one_is_cut_off(self, process: Process, path: bytes) -> None:
        before = memory_peak(process)
        with wire(process.address) as client:
            client.send(path + b" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + CHUNKED)
            client.send(b"2710\r\n" + b"x" * 10_000 + b"\r\n", LARGE // 10_000)
            assert client.answer().status in (200, 404, 413)
            assert client.ended()
        assert memory_peak(process) - before < LARGE / 2

    def test_an_endless_one_ends_a_stream(self, address: str) -> None:
        with httpx.Client(base_url=address) as client:
            path = Table(client).path.encode()
        with wire(address) as client:
            client.send(b"GET %s/events/stream HTTP/1.1\r\nHost: x\r\n" % path + CHUNKED)
            client.send(b"2710\r\n" + b"x" * 10_000 + b"\r\n", LARGE // 10_000)
            until = time.monotonic() + PATIENCE
            while not client.ended():
                client.came = b""
                assert time.monotonic() < until


class TestTime:
    @pytest.fixture(autouse=True)
    def _short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("HEAD_SECONDS", "BODY_SECONDS", "STALLED_SECONDS"):
            monkeypatch.setattr(protocol, name, 0.3)

    @pytest.mark.parametrize("sent", [b"G", b"GET / HTTP/1.1\r\n", LIVE + b"a: x"])
    def test_headers_that_do_not_come_to_an_end(self, address: str, sent: bytes) -> None:
        with wire(address) as client:
            client.send(sent)
            client.answer().problem(408, "too-slow")
            assert client.ended()

    @pytest.mark.parametrize("sent", [b"", b"\r\n", b"\r\n\r\n"])
    def test_a_connection_on_which_nothing_comes(self, address: str, sent: bytes) -> None:
        with wire(address) as client:
            client.send(sent)
            assert client.ended()

    def test_headers_that_come_drop_by_drop(self, address: str) -> None:
        with wire(address) as client:
            stop = threading.Event()

            def drip() -> None:
                client.send(LIVE)
                while not stop.wait(0.02):
                    client.send(b"a: x\r\n")

            dripping = threading.Thread(target=drip)
            dripping.start()
            try:
                assert client.answer().status in (408, 431)
            finally:
                stop.set()
                dripping.join()

    @pytest.mark.parametrize(
        "rest", [b"Content-Length: 10\r\n\r\n{", CHUNKED + b"1\r\n{\r\n", CHUNKED + b"0\r\na: b"]
    )
    def test_a_body_that_does_not_come_to_an_end(self, address: str, rest: bytes) -> None:
        with wire(address) as client:
            client.send(OPENING + rest)
            client.answer().problem(408, "too-slow")
            assert client.ended()

    def test_a_body_that_does_not_come_and_is_not_waited_for(self, address: str) -> None:
        with wire(address) as client:
            client.send(LIVE + b"Content-Length: 10\r\n\r\n{")
            assert client.answer().status == 200
            assert client.ended()

    def test_a_slow_request_within_the_limit_is_answered(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(protocol, "HEAD_SECONDS", PATIENCE)
        monkeypatch.setattr(protocol, "BODY_SECONDS", PATIENCE)
        with wire(address) as client:
            for piece in (LIVE[:7], LIVE[7:], b"Content-Length: 2\r\n", b"\r\n", b"{", b"}", LIVE + b"\r\n"):
                client.send(piece)
                time.sleep(0.01)
            assert [client.answer().status, client.answer().status] == [200, 200]

    def test_an_idle_connection_is_closed(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("api.server.IDLE_SECONDS", 0.3)
        with served(f"sqlite:///{tmp_path}/knacka.db") as address, wire(address) as client:
            client.send(LIVE + b"\r\n")
            assert client.answer().status == 200
            assert client.ended()

    def test_no_limit_is_on_a_stream(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("api.server.IDLE_SECONDS", 0.3)
        monkeypatch.setattr("api.matches.events.KEEP_ALIVE_SECONDS", 0.2)
        with (
            served(f"sqlite:///{tmp_path}/knacka.db") as address,
            httpx.Client(base_url=address, timeout=PATIENCE) as client,
        ):
            table, comments = Table(client), 0
            assert table.get().status_code == 200
            with client.stream("GET", f"{table.path}/events/stream") as response:
                for event in sse(response):
                    comments += "" in event
                    if comments == 6:
                        break

    def test_the_service_does_not_wait_for_a_client_that_reads_nothing(self, address: str) -> None:
        with wire(address, SO_RCVBUF=4096) as client:
            client.send(b"GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 60)
            sizes, until = [-1, -2], time.monotonic() + PATIENCE
            while sizes[-1] != sizes[-2]:  # until the buffers of the connection are full
                assert time.monotonic() < until
                time.sleep(0.5)
                sizes.append(len(client.socket.recv(1 << 26, socket.MSG_PEEK)))
            with pytest.raises((ConnectionResetError, AssertionError)):
                _ = [client.answer() for _ in range(60)]


class TestConnections:
    def test_requests_one_behind_the_other(self, process: Process) -> None:
        paths = [b"/health/live", b"/v1/rulesets/kalabrias", b"/nowhere", b"/health/live"]
        with wire(process.address) as client:
            client.send(b"".join(b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % path for path in paths))
            assert [client.answer().status for _ in paths] == [200, 200, 404, 200]

    def test_bytes_that_are_not_http_are_refused(self, process: Process) -> None:
        whole = LIVE.replace(b" /", b" http://x/")
        for data in (b"\x16\x03\x01\x02\x00", b"GET", LIVE + b"a b: c", b"GET * X", whole + b"a b: c"):
            with wire(process.address) as client:
                client.send(data + b"\r\n\r\n")
                client.answer().problem(400, "malformed")
                assert client.ended()

    def test_requests_before_a_malformed_one_are_answered_first(self, process: Process) -> None:
        with wire(process.address) as client:
            client.send((LIVE + b"\r\n") * 3 + b"nonsense\r\n\r\n")
            assert [client.answer().status for _ in range(3)] == [200] * 3
            client.answer().problem(400, "malformed")
            assert client.ended()

    def test_too_many_requests_at_once(self, process: Process) -> None:
        with wire(process.address) as client:
            client.send((LIVE + b"\r\n") * 1000)
            statuses = [client.answer().status for _ in range(protocol.PIPELINE_MAX + 1)]
            assert statuses == [200] * len(statuses)
            answer = client.answer()
            answer.problem(503, "busy")
            assert answer.headers["retry-after"] == "1"
            assert client.ended()

    def test_too_many_connections(self, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(protocol, "connections_max", lambda: 0)
        with wire(address) as client:
            answer = client.answer()
            answer.problem(503, "busy")
            assert answer.headers["retry-after"] == "1"
            assert client.ended()

    def test_there_are_files_left_for_the_store(self) -> None:
        assert 1 <= protocol.connections_max() <= protocol.CONNECTIONS_MAX

    def test_an_upgrade_is_not_taken_up(self, process: Process) -> None:
        body = b'{"ruleset": "none"}'
        asked = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n"
        asked += b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
        with wire(process.address) as client:
            client.send(b"POST /v1/matches HTTP/1.1\r\nHost: x\r\n" + asked + body + LIVE + b"\r\n")
            answer = client.answer()
            assert (answer.status, b"unreadable" in answer.body) == (400, True), "the body was read"
            assert client.answer().status == 200, "and it goes on"

    def test_refusals_are_counted(self, process: Process) -> None:
        with wire(process.address) as client:
            client.send(b"GET /" + b"x" * 5000 + b" HTTP/1.1\r\n\r\n")
            client.answer().problem(414, "uri-too-long")
        assert 'knacka_problems_total{code="uri_too_long"}' in httpx.get(process.metrics).text


@pytest.mark.parametrize(
    ("error", "status", "code"), [(asyncio.CancelledError, 503, "busy"), (RecursionError, 500, "internal")]
)
def test_an_exception_that_escapes_the_app_is_answered_with_a_problem(
    address: str, monkeypatch: pytest.MonkeyPatch, error: type[BaseException], status: int, code: str
) -> None:
    """An exception escapes the app. uvicorn alone would answer with the text Internal Server Error."""

    async def fails(*_: Any) -> None:
        raise error

    monkeypatch.setattr("litestar.Litestar.__call__", fails)
    with wire(address) as client:
        client.send(LIVE + b"\r\n")
        client.answer().problem(status, code)
        assert client.ended()
