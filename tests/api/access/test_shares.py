"""Limits on all keys, tokens and connections of one address together, and a hall of 60 phones behind one address."""

import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import httpx
import pytest

from api.access.addresses import Addresses
from api.access.limits import SECOND, Limits
from api.access.tokens import hash_of
from api.http import protocol
from api.http.notes import notes_in
from api.settings import Settings
from tests.api.access.test_limits import ANNA, BO, RULESET, Clock, bearer, left
from tests.api.http.test_protocol import LIVE, wire
from tests.support.club_client import ClubTable, in_days
from tests.support.match_client import Table
from tests.support.running_service import served
from tests.support.service_in_memory import client_of

PHONES = 60
READS, ACTS = 30, 10
"""Requests of each phone per minute: a read every two seconds, a card every six seconds."""
OF_EACH = 4
"""Connections of each phone."""


class Requests:
    """Requests of several tokens from one address, counted with the limits of the default settings."""

    def __init__(self, tokens: int) -> None:
        self.clock, settings = Clock(), Settings()
        self._limits = Limits(
            Addresses(settings.trusted_proxies),
            acts_per_minute=settings.acts_per_minute,
            reads_per_minute=settings.reads_per_minute,
            address_times=settings.address_times,
            loopback=False,
            clock=self.clock,
        )
        for token in range(tokens):
            self._limits.mark_valid(hash_of(f"token {token}"))
        self.address = ""
        """The name under which the address is counted."""
        self.refused = 0
        self.waits_as: Counter[str | None] = Counter()

    def send(self, method: str, token: int) -> None:
        scope: Any = {
            "method": method,
            "path": "/v1/matches",
            "client": ("192.0.2.1", 1),
            "headers": [(b"authorization", f"Bearer token {token}".encode())],
            "state": {},
        }
        self.refused += self._limits.count_request(scope) is not None
        counted = notes_in(scope).counted
        self.address = counted.address.limit_key
        self.waits_as[counted.waits_as] += 1


class TestClubs:
    def test_the_keys_of_a_club_share_what_one_may(self, sqlite_url: str) -> None:
        with client_of(sqlite_url, reads_per_minute=30) as client:
            club = ClubTable(client)
            keys = [club.keys["founder"]]
            for _ in range(4):
                made = club.done("issue_key", scopes=["read"], expires_at=in_days(9), app="Board")
                keys.append(made["key"]["secret"])
            for key in keys:  # a key counts for its address until it is known to be valid
                assert client.get(club.path, headers=ANNA | bearer(key)).status_code == 200
            answers = [client.get(club.path, headers=ANNA | bearer(keys[n % 5])) for n in range(40)]
            assert [answer.status_code for answer in answers] == [200] * 29 + [429] * 11, "one was read above"
            other = ClubTable(client)
            for _ in range(2):
                answer = client.get(other.path, headers=BO | bearer(other.keys["founder"]))
            assert (answer.status_code, left(answer)) == (200, 29), "another club is another matter"


class TestAddresses:
    def test_all_tokens_of_an_address_share_some_times_what_one_may(self, sqlite_url: str) -> None:
        with client_of(sqlite_url, reads_per_minute=10, address_times=2) as client:
            tables = [Table(client) for _ in range(4)]
            by = [(table.path, bearer(table.tokens[seat])) for table in tables for seat in range(3)]
            for path, token in by:
                assert (
                    client.get(path, headers=token).status_code == 200
                )  # without limits on this machine: the key becomes known
            asked = [client.get(path, headers=ANNA | token).status_code for _ in range(3) for path, token in by]
            assert (asked.count(200), asked.count(429)) == (20, 16)
            path, token = by[0]
            assert client.get(path, headers=BO | token).status_code == 200, "from elsewhere it may go on"
            assert client.get(RULESET, headers=ANNA).status_code == 200, "and so may who shows nothing"

    def test_a_hall_of_sixty_phones_behind_one(self) -> None:
        """Even if all requests of a minute come at once, none is refused. Spread over the minute, none waits."""
        for seconds in (0, 60):
            requests = Requests(PHONES)
            for method, each in (("GET", READS), ("POST", ACTS)):
                for _ in range(each):
                    for phone in range(PHONES):
                        requests.send(method, phone)
                        requests.clock.now += seconds * SECOND // (PHONES * each)
            assert requests.refused == 0
            assert seconds == 0 or [*requests.waits_as] == [None]

    def test_many_tokens_of_an_address_wait_as_one(self) -> None:
        """A token may use 60 acts before it is busy, its address 300."""
        tokens, each = 10, 60
        requests = Requests(tokens)
        for phone in range(tokens):
            for _ in range(each):
                requests.send("POST", phone)
        assert requests.refused == 0
        assert requests.waits_as == Counter({None: 300, requests.address: 300})

    def test_a_token_that_is_busy_does_not_make_its_address_wait(self) -> None:
        requests = Requests(2)
        for _ in range(61):
            requests.send("POST", 0)
        requests.send("POST", 1)
        assert requests.waits_as == Counter({None: 61, hash_of("token 0"): 1})


@contextmanager
def connected(address: str, count: int, source: str = "127.0.0.1") -> Iterator[list[socket.socket]]:
    """Open this number of connections, and send nothing on them."""
    host, port = address.removeprefix("http://").split(":")
    with ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection((host, int(port)), 20, source_address=(source, 0)))
            for _ in range(count)
        ]


def ended(connection: socket.socket) -> bool:
    """Return whether the service has closed a connection after its last byte."""
    try:
        return connection.recv(65536) == b""
    except OSError:
        return True


class TestConnections:
    def test_an_address_has_so_many(self, sqlite_url: str) -> None:
        with (
            served(sqlite_url, limit_loopback=True, address_connections=5) as address,
            connected(address, 5),
            wire(address) as client,
        ):
            document = client.answer().problem(403, "quota-reached")
            assert document["facts"] == {"what": "connections", "most": 5}
            assert client.ended()
            with connected(address, 1, "127.0.0.2") as (other,):
                other.sendall(LIVE + b"\r\n")
                assert other.recv(12) == b"HTTP/1.1 200", "another address is another matter"

    def test_closed_connections_do_not_count(self, sqlite_url: str) -> None:
        with served(sqlite_url, limit_loopback=True, address_connections=1) as address:
            for _ in range(20):
                status = 403
                while status == 403:
                    with httpx.Client(base_url=address) as client:
                        status = client.get("/health/live").status_code
                assert status == 200

    def test_behind_a_proxy_it_is_the_address_that_the_proxy_names(self, sqlite_url: str) -> None:
        with (
            served(sqlite_url, address_connections=2) as address,
            httpx.Client(base_url=address, timeout=30) as client,
        ):
            stream = f"{Table(client).path}/events/stream"
            with client.stream("GET", stream, headers=ANNA) as one, client.stream("GET", stream, headers=ANNA) as two:
                assert (one.status_code, two.status_code) == (200, 200)
                answer = client.get(RULESET, headers=ANNA)
                assert (answer.status_code, answer.json()["facts"]) == (403, {"what": "connections", "most": 2})
                assert client.get(RULESET, headers=BO).status_code == 200
                assert client.get("/health/live", headers=ANNA).status_code == 200

    def test_a_hall_of_sixty_phones_behind_one(self, sqlite_url: str) -> None:
        with (
            served(sqlite_url, limit_loopback=True) as address,
            connected(address, PHONES * OF_EACH) as phones,
        ):
            for phone in phones:
                phone.sendall(b"GET " + RULESET.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            assert {phone.recv(12) for phone in phones} == {b"HTTP/1.1 200"}


class TestHealth:
    @pytest.fixture
    def full(self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
        """Yield the address of a service with the maximum of connections, all idle."""
        with served(sqlite_url) as address:
            most = protocol.RESERVED_CONNECTIONS + 10
            monkeypatch.setattr(protocol, "connections_max", lambda: most)
            with connected(address, most + 30):
                yield address

    def test_a_health_check_is_answered_when_there_are_too_many_connections(self, full: str) -> None:
        for _ in range(20):
            with wire(full) as client:
                client.send(LIVE + b"\r\n")
                answer = client.answer()
                assert (answer.status, answer.headers["connection"]) == (200, "close")

    def test_other_calls_are_refused_when_there_are_too_many_connections(self, full: str) -> None:
        with wire(full) as client:
            client.send(b"GET " + RULESET.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = client.answer()
            answer.problem(503, "busy")
            assert answer.headers["retry-after"] == "1"

    def test_a_reserved_connection_that_sends_nothing_is_soon_closed(self, full: str) -> None:
        with connected(full, protocol.RESERVED_CONNECTIONS + 1) as (first, *_):
            assert ended(first)
