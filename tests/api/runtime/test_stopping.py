"""A service that gets a signal to stop answers all received requests, and then the process ends."""

import os
import resource
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import closing, contextmanager
from http.client import parse_headers
from pathlib import Path
from threading import Thread

import httpx
import pytest

from tests.api.matches.test_long_matches import LONG_DEALS, tallied
from tests.support.match_client import Table
from tests.support.running_service import Process, limited, running
from tests.support.stopped_process import stop

END_SECONDS = 20
LIVE = b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n"
PARTS = (LIVE[:20], b"POST /v1/matches HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{")
DEAL = '{"act": "deal", "seat": 0}'
ENDED = (130, -signal.SIGTERM)
LAST_CHUNK = b"0\r\n"
OPEN, CLOSED = (200, None), (200, "close")


class Peer:
    """A client that sees each byte of its connection."""

    def __init__(self, process: Process) -> None:
        self._connection = socket.create_connection(("127.0.0.1", process.port), timeout=END_SECONDS)
        self._connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send = self._connection.sendall
        self._file = self._connection.makefile("rb")

    def reads_to(self, line: bytes) -> bool:
        """Read to the end of this line; return whether the line came."""
        return line in self._file

    def rest(self) -> bytes:
        """Read to the end of the connection."""
        rest = self._file.read()
        self._connection.close()
        return rest

    def answer(self) -> tuple[int, str | None]:
        """Read an answer; return its status and its Connection header."""
        status = int(self._file.readline().split()[1])
        headers = parse_headers(self._file)
        assert len(self._file.read(int(headers["Content-Length"]))) == int(headers["Content-Length"])
        return status, headers["Connection"]

    def answers(self) -> list[tuple[int, str | None]]:
        """Read answers until the connection ends. Assert that it ends in order."""
        found = []
        while self._file.peek(1):
            found.append(self.answer())
        self._connection.close()
        return found


@contextmanager
def paused(process: Process) -> Iterator[None]:
    """Pause the process within this block. The kernel keeps its input and its signals."""
    stop(process.process.pid)
    try:
        yield
        time.sleep(0.2)  # then the server sees the signal before it reads
    finally:
        os.kill(process.process.pid, signal.SIGCONT)


class TestReceivedRequestsAreAnswered:
    @pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
    def test_on_a_connection_that_was_idle(self, sqlite_url: str, how: signal.Signals) -> None:
        with running(sqlite_url) as process:
            peer = Peer(process)
            peer.send(LIVE)
            assert peer.answer() == OPEN
            with paused(process):
                peer.send(LIVE)
                process.process.send_signal(how)
            assert peer.answers() == [CLOSED]

    def test_on_connections_that_were_not_accepted_yet(self, sqlite_url: str) -> None:
        with running(sqlite_url) as process:
            with paused(process):
                peers = [Peer(process) for _ in range(50)]
                for peer in peers:
                    peer.send(LIVE)
                process.process.send_signal(signal.SIGTERM)
            assert [peer.answers() for peer in peers] == [[CLOSED]] * 50

    @pytest.mark.parametrize("pieces", [[LIVE * 5], [LIVE] * 5, [LIVE[:9], LIVE[9:] + LIVE * 4]])
    def test_each_of_several_on_one_connection(self, sqlite_url: str, pieces: list[bytes]) -> None:
        with running(sqlite_url) as process:
            peer = Peer(process)
            with paused(process):
                for piece in pieces:
                    peer.send(piece)
                process.process.send_signal(signal.SIGTERM)
            assert peer.answers() == [OPEN, OPEN, OPEN, OPEN, CLOSED]

    def test_a_request_whose_rest_comes_soon_is_answered(self, sqlite_url: str) -> None:
        with running(sqlite_url) as process:
            peer = Peer(process)
            with paused(process):
                peer.send(LIVE + LIVE[:20])
                process.process.send_signal(signal.SIGTERM)
            assert peer.answer() == OPEN
            time.sleep(0.5)
            peer.send(LIVE[20:])
            assert peer.answers() == [CLOSED]

    def test_a_request_whose_rest_never_comes_is_refused(self, sqlite_url: str) -> None:
        with running(sqlite_url) as process:
            peers = [Peer(process) for _ in PARTS]
            with paused(process):
                for peer, part in zip(peers, PARTS, strict=True):
                    peer.send(LIVE + part)
                process.process.send_signal(signal.SIGTERM)
            assert [peer.answers() for peer in peers] == [[OPEN, (503, "close")]] * len(PARTS)
            assert process.process.wait(END_SECONDS) in ENDED

    @pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
    def test_however_often_the_signal_comes(self, tmp_path: Path, how: signal.Signals) -> None:
        """An act waits for the store. After a second Ctrl-C the act still gets its answer."""
        file = tmp_path / "knacka.db"
        with (
            running(f"sqlite:///{file}") as process,
            httpx.Client(base_url=process.address) as client,
            closing(sqlite3.connect(file, isolation_level=None)) as other,
        ):
            table, peer = Table(client, dealing="house"), Peer(process)
            other.execute("BEGIN IMMEDIATE")
            bearer = f"Authorization: {table.bearer(0)['Authorization']}"
            head = [f"POST {table.path}/acts HTTP/1.1", "Host: localhost", bearer, "Content-Type: application/json"]
            peer.send("\r\n".join([*head, f"Content-Length: {len(DEAL)}", "", DEAL]).encode())
            time.sleep(0.5)
            for _ in range(3):
                process.process.send_signal(how)
                time.sleep(0.2)
            other.execute("ROLLBACK")
            assert peer.answers() == [(201, "close")]
            assert process.process.wait(END_SECONDS) in ENDED


@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT], [signal.SIGINT, signal.SIGINT]])
def test_streams_end_in_order(sqlite_url: str, signals: list[signal.Signals]) -> None:
    with running(sqlite_url) as process, httpx.Client(base_url=process.address) as client:
        peers, path = [Peer(process) for _ in range(5)], Table(client).path
        for peer in peers:
            peer.send(f"GET {path}/events/stream?names=topic HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert peer.reads_to(b"event: state\n")
        for how in signals:
            process.process.send_signal(how)
        assert [(peer.reads_to(LAST_CHUNK), peer.rest()) for peer in peers] == [(True, b"\r\n")] * 5
        assert process.process.wait(END_SECONDS) in ENDED


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_without_memory_it_ends_as_well(sqlite_url: str, how: signal.Signals) -> None:
    """The process cannot start a thread, so the thread that ends it must already exist."""
    with running(sqlite_url) as process, httpx.Client(base_url=process.address) as client:
        Table(client)
        size = int(Path(f"/proc/{process.process.pid}/statm").read_text().split()[0]) * resource.getpagesize()
        with limited(process, resource.RLIMIT_AS, size):
            assert process.end(how, END_SECONDS) in ENDED


def worker_of(process: Process) -> int:
    """Return the id of the process for long matches."""
    tasks = Path(f"/proc/{process.process.pid}/task").iterdir()
    (pid,) = [int(one) for task in tasks for one in (task / "children").read_text().split()]
    return pid


class TestWorkOnALongMatch:
    """A separate process reads the match. Here that process is paused."""

    @staticmethod
    def asked(process: Process) -> tuple[int, Future[httpx.Response]]:
        """Return the id of that process, and the future of the answer that waits for it."""
        with httpx.Client(base_url=process.address, timeout=END_SECONDS) as client:
            table = tallied(client, LONG_DEALS, stakes={"currency": "SEK", "unit": 100})
            assert table.get("/settlement").status_code == 200
        pid, answer = worker_of(process), Future[httpx.Response]()
        stop(pid)

        def ask() -> None:
            try:
                answer.set_result(httpx.get(process.address + table.path + "/settlement", timeout=END_SECONDS))
            except httpx.TransportError as error:
                answer.set_exception(error)

        Thread(target=ask, daemon=True).start()
        time.sleep(0.5)
        assert not answer.done()
        return pid, answer

    def test_is_given_up_in_time_to_say_so(self, sqlite_url: str) -> None:
        with running(sqlite_url) as process:
            pid, answer = self.asked(process)
            assert process.end(signal.SIGTERM, END_SECONDS) in ENDED
            assert answer.result(END_SECONDS).status_code == 503
            assert not Path(f"/proc/{pid}").exists()

    def test_ends_with_a_service_that_is_killed(self, sqlite_url: str) -> None:
        with running(sqlite_url) as process:
            pid, _ = self.asked(process)
            os.kill(pid, signal.SIGCONT)
            process.end(signal.SIGKILL, END_SECONDS)
            deadline = time.monotonic() + END_SECONDS
            while Path(f"/proc/{pid}").exists() and ") Z " not in Path(f"/proc/{pid}/stat").read_text():
                assert time.monotonic() < deadline
                time.sleep(0.05)
