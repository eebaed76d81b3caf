"""Limits on requests per minute, by valid key or token, otherwise by address."""

import asyncio
import select
import socket
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from api.access import limits
from api.access.limits import SECOND, Pace
from api.http import throttle
from api.http.throttle import Turns
from tests.conformance.description_check import Description
from tests.support.match_client import Table
from tests.support.running_service import served
from tests.support.service_in_memory import Client, client_of

ANNA, BO, GUESSER = ({"X-Forwarded-For": f"192.0.2.{last}"} for last in (1, 2, 66))
RULESET = "/v1/rulesets/kalabrias"


class Clock:
    """A clock that a test sets."""

    now = 1000 * SECOND

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def few(sqlite_url: str) -> Iterator[Client]:
    """Yield a client of a service that allows six acts and thirty reads per minute, also from this machine."""
    with client_of(sqlite_url, acts_per_minute=6, reads_per_minute=30, limit_loopback=True) as client:
        yield client


def left(answer: httpx.Response) -> int:
    """Return the number of requests left according to the answer."""
    _, rest, _ = answer.headers["RateLimit"].split(";")
    return int(rest.removeprefix("r="))


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class Guesses:
    """A client that sends unknown tokens, each only once."""

    def __init__(self, client: Any, path: str) -> None:
        self.client, self.path, self.sent = client, path, 0

    def one(self) -> httpx.Response:
        self.sent += 1
        answer: httpx.Response = self.client.get(self.path, headers=GUESSER | bearer(f"guess-{self.sent}"))
        return answer


class TestHeaders:
    def test_the_headers_show_the_policy_and_the_remaining_requests(self, few: Client) -> None:
        answer = few.get(RULESET, headers=ANNA)
        assert answer.headers["RateLimit-Policy"] == '"read";q=30;w=60'
        assert answer.headers["RateLimit"] == '"read";r=29;t=2'
        answer = few.post("/v1/matches", headers=ANNA, json={})
        assert answer.status_code == 400
        assert answer.headers["RateLimit-Policy"] == '"act";q=6;w=60'
        assert answer.headers["RateLimit"] == '"act";r=5;t=10'

    def test_one_too_many_is_a_problem_with_a_time(self, few: Client) -> None:
        for rest in range(5, -1, -1):
            answer = few.post("/v1/matches", headers=ANNA, content=b"{")
            assert (answer.status_code, left(answer)) == (415, rest), "a problem costs as much"
        answer = few.post("/v1/matches", headers=ANNA | {"Accept-Language": "sv"}, json={})
        assert answer.status_code == 429
        problem = answer.json()
        assert problem["type"] == "/problems/slow-down"
        assert problem["title"] == "För många förfrågningar"
        assert problem["facts"] == {"policy": "act", "per_minute": 6}
        assert 1 <= int(answer.headers["Retry-After"]) <= 10
        assert answer.headers["RateLimit"].startswith('"act";r=0;t=')
        assert few.get(RULESET, headers=ANNA).status_code == 200, "reading is another matter"
        assert few.post("/v1/matches", headers=BO, json={}).status_code == 400, "and so is another address"

    def test_a_request_for_a_missing_page_counts(self, few: Client) -> None:
        assert left(few.get("/v1/nothing", headers=ANNA)) == 29
        assert left(few.get(RULESET, headers=ANNA)) == 28

    def test_every_caller_can_read_the_health(self, few: Client) -> None:
        for _ in range(40):
            answer = few.get("/health/live", headers=ANNA)
        assert answer.status_code == 200
        assert "RateLimit" not in answer.headers

    def test_this_machine_is_not_limited(self, sqlite_url: str) -> None:
        with client_of(sqlite_url, reads_per_minute=1) as client:
            assert [client.get(RULESET).status_code for _ in range(3)] == [200] * 3
            assert "RateLimit" not in client.get(RULESET).headers
            assert [client.get(RULESET, headers=ANNA).status_code for _ in range(2)] == [200, 429]

    def test_nought_is_no_limit(self, sqlite_url: str) -> None:
        with client_of(sqlite_url, acts_per_minute=0, reads_per_minute=1, limit_loopback=True) as client:
            assert "RateLimit" not in client.post("/v1/matches", json={}).headers
            assert left(client.get(RULESET)) == 0


class TestTokens:
    def test_a_good_token_counts_for_itself(self, few: Client) -> None:
        table = Table(few)  # the opening counts as one act of this machine
        by = bearer(table.tokens[0])
        assert left(few.get(table.path, headers=ANNA | by)) == 29, "until it is found good, for its address"
        assert left(few.get(table.path, headers=ANNA | by)) == 29
        assert left(few.get(table.path, headers=BO | by)) == 28, "from wherever"
        assert left(few.get(table.path, headers=ANNA)) == 28

    def test_it_is_not_refused_where_its_address_is(self, few: Client) -> None:
        table = Table(few)
        by = bearer(table.tokens[0])
        assert few.get(table.path, headers=GUESSER | by).status_code == 200
        guesses = Guesses(few, table.path)
        while guesses.one().status_code != 429:
            pass
        assert few.get(table.path, headers=GUESSER | by).status_code == 200
        assert few.get(table.path, headers=GUESSER).status_code == 429

    def test_another_token_is_no_fresh_allowance(self, few: Client) -> None:
        """The call does not check the token, and counts for the address."""
        allowed = [left(few.get(RULESET, headers=ANNA | bearer(f"any-{n}"))) for n in range(3)]
        assert allowed == [29, 28, 27]


class TestWrongTokens:
    def test_each_costs_its_address_ten(self, few: Client) -> None:
        guesses = Guesses(few, Table(few).path)
        answers = [guesses.one() for _ in range(3)]
        assert [(answer.status_code, left(answer)) for answer in answers] == [(401, 20), (401, 10), (401, 0)]
        refused = guesses.one()
        assert refused.status_code == 429
        assert refused.json()["facts"] == {"policy": "read", "per_minute": 30}

    def test_a_good_token_of_another_match_is_wrong_too(self, few: Client) -> None:
        one, other = Table(few), Table(few)
        by = bearer(one.tokens[0])
        assert left(few.get(one.path, headers=ANNA | by)) == 29
        answer = few.get(other.path, headers=ANNA | by)
        assert (answer.status_code, left(answer)) == (401, 19), "and its address pays, not what it may itself"
        assert left(few.get(one.path, headers=BO | by)) == 28

    def test_few_of_many_guesses_are_checked_and_other_callers_are_not_limited(self, few: Client) -> None:
        table = Table(few)
        by, guesses, seen = ANNA | bearer(table.tokens[0]), Guesses(few, table.path), []
        assert few.get(table.path, headers=by).status_code == 200
        for turn in range(1000):
            seen.append(guesses.one().status_code)
            if turn % 50 == 0:
                assert left(few.get(table.path, headers=by)) >= 9
        assert seen.count(401) <= 10, "three, and one more each twenty seconds"
        assert seen.count(401) + seen.count(429) == 1000

    def test_few_of_ten_thousand_guesses_in_a_second_are_checked(self) -> None:
        """Ten thousand guesses arrive in one second."""
        pace, looked_at = Pace(600, 60, Clock()), 0
        for _ in range(10_000):
            if pace.take("192.0.2.66")[0] >= 0:
                looked_at += 1
                pace.charge("192.0.2.66", limits.INVALID_CREDENTIAL_COST - 1)
        assert looked_at == 60
        assert pace.take("192.0.2.1") == (599, SECOND // 10)


def read_often(client: httpx.Client, times: int, seconds: float = 20) -> None:
    for _ in range(times):
        assert client.get(RULESET, timeout=seconds).status_code == 200


BUSY: dict[str, Any] = {"reads_per_minute": 60, "limit_loopback": True}
"""Settings of a service whose readers are soon busy."""


class TestTurns:
    def test_callers_take_turns(self) -> None:
        async def served_in_order() -> list[str]:
            loop, turns, done = asyncio.get_running_loop(), Turns(), list[str]()
            ended = asyncio.Event()
            for caller, connection in [("Anna", 1), ("Anna", 2), ("Anna", 3), ("Bo", 4), ("Cecilia", 5), ("Anna", 6)]:
                turns.wait(loop, caller, connection, partial(done.append, f"{caller} {connection}"))
            for gone in (5, 2, 7):  # the last one does not wait
                turns.forget(gone)
            assert done == [], "not at once"
            turns.wait(loop, "David", 8, ended.set)
            await asyncio.wait_for(ended.wait(), 20)
            turns.wait(loop, "Anna", 1, ended.clear)
            while ended.is_set():
                await asyncio.sleep(0.01)
            return done

        assert asyncio.run(served_in_order()) == ["Anna 1", "Bo 4", "Anna 3", "Anna 6"]

    def test_at_the_end_no_work_waits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(throttle, "TURN_SECONDS", 3600)

        async def ended() -> list[str]:
            loop, turns, done = asyncio.get_running_loop(), Turns(), list[str]()
            turns.wait(loop, "Anna", 1, partial(done.append, "before"))
            turns.wait(loop, "Anna", 2, partial(done.append, "before"))
            turns.end()
            turns.wait(loop, "Anna", 3, partial(done.append, "after"))
            await asyncio.sleep(0)
            return done

        assert asyncio.run(ended()) == ["before", "before", "after"]

    def test_every_refused_request_of_a_connection_is_answered(self, sqlite_url: str) -> None:
        few: dict[str, Any] = {"reads_per_minute": 1, "limit_loopback": True}
        with served(sqlite_url, **few) as address, httpx.Client(base_url=address) as client:
            answers = [client.get(RULESET) for _ in range(9)]
        assert [answer.status_code for answer in answers] == [200] + [429] * 8
        assert {answer.json()["type"] for answer in answers[1:]} == {"/problems/slow-down"}

    def test_only_a_refused_caller_waits(self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(throttle, "TURN_SECONDS", 3600)
        few: dict[str, Any] = {"reads_per_minute": 1, "limit_loopback": True}
        with served(sqlite_url, **few) as address, httpx.Client(base_url=address) as client:
            assert client.get(RULESET).status_code == 200
            with pytest.raises(httpx.ReadTimeout):
                client.get(RULESET, timeout=0.5)
            assert client.post("/v1/matches", json={}).status_code == 400

    def test_only_a_busy_caller_waits(self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(throttle, "TURN_SECONDS", 3600)
        with served(sqlite_url, **BUSY) as address, httpx.Client(base_url=address) as client:
            read_often(client, limits.BUSY_MIN)
            with pytest.raises(httpx.ReadTimeout):
                read_often(client, limits.BUSY_MIN, 0.5)  # some of the allowance has come back meanwhile
            assert client.post("/v1/matches", json={}).status_code == 400

    def test_every_request_of_a_busy_caller_is_answered(self, sqlite_url: str) -> None:
        with served(sqlite_url, **BUSY) as address, httpx.Client(base_url=address) as client:
            answers = [client.get(RULESET) for _ in range(2 * limits.BUSY_MIN)]
        assert {answer.status_code for answer in answers} == {200}

    def test_a_waiting_request_is_answered_when_the_service_stops(
        self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(throttle, "TURN_SECONDS", 3600)
        with httpx.Client() as client:
            with served(sqlite_url, **BUSY) as address:
                client.base_url = httpx.URL(address)
                read_often(client, limits.BUSY_MIN)
                host, port = address.removeprefix("http://").split(":")
                waiting = socket.create_connection((host, int(port)), 20)
                waiting.sendall((b"GET " + RULESET.encode() + b" HTTP/1.1\r\nHost: x\r\n\r\n") * 2)
                assert select.select([waiting], [], [], 0.5)[0] == [], "it waits"
            with waiting, waiting.makefile("rb") as answers:
                assert answers.read().count(b"HTTP/1.1 200") == 2

    def test_a_withdrawn_request_does_not_start(self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(throttle, "TURN_SECONDS", 0.3)
        started = list[str]()
        start = HttpToolsProtocol._start_asgi_task

        def noted(protocol: HttpToolsProtocol, cycle: RequestResponseCycle, app: Any) -> None:
            started.append(cycle.scope["query_string"].decode())
            start(protocol, cycle, app)

        monkeypatch.setattr(HttpToolsProtocol, "_start_asgi_task", noted)
        with served(sqlite_url, **BUSY) as address, httpx.Client(base_url=address, timeout=20) as client:
            read_often(client, limits.BUSY_MIN)
            host, port = address.removeprefix("http://").split(":")
            with socket.create_connection((host, int(port)), 20) as withdrawn:
                head = f"GET {RULESET}?withdrawn HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                withdrawn.sendall(head.encode() + b"no chunk\r\n")
                assert withdrawn.recv(12) == b"HTTP/1.1 400"
                assert client.get(RULESET).status_code == 200, "its turn comes later"
        assert started == [""] * (limits.BUSY_MIN + 1)


class TestPace:
    def test_used_requests_become_available_again_one_by_one(self) -> None:
        clock = Clock()
        pace = Pace(60, 60, clock)
        assert [pace.take("Anna")[0] for _ in range(60)] == [*range(59, -1, -1)]
        assert pace.take("Anna") == (-1, SECOND)
        clock.now += 2 * SECOND
        assert [pace.take("Anna")[0] for _ in range(3)] == [1, 0, -1]
        clock.now += 60 * SECOND
        assert pace.take("Anna") == (59, SECOND)

    def test_a_charge_beyond_the_limit_is_paid_off_first(self) -> None:
        clock = Clock()
        pace = Pace(60, 60, clock)
        assert pace.charge("Anna", 70) == (0, 70 * SECOND)
        clock.now += 10 * SECOND
        assert pace.take("Anna") == (-1, SECOND)
        clock.now += SECOND
        assert pace.take("Anna") == (0, 60 * SECOND)

    def test_only_a_caller_with_all_requests_available_is_forgotten(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "REMEMBERED_MAX", 3)
        clock = Clock()
        pace = Pace(2, 60, clock)
        for who in ("Anna", "Bo"):
            pace.take(who)
        clock.now += 30 * SECOND
        for who in ("Cecilia", "Cecilia"):
            pace.take(who)
        assert pace.take("David") == (1, 30 * SECOND), "Anna has all again, so David replaces her"
        assert pace.take("Cecilia")[0] == -1
        assert pace.take("Anna") == (1, 30 * SECOND)

    def test_callers_without_a_place_share_one(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(limits, "REMEMBERED_MAX", 2)
        pace = Pace(2, 60, Clock())
        for who in ("Anna", "Bo"):
            assert pace.take(who)[0] == 1
        assert [pace.take(who)[0] for who in ("Cecilia", "David", "Erik")] == [1, 0, -1]
        assert pace.take("Anna")[0] == 0, "a caller with a place is not slowed by them"
        assert pace.take("Anna")[0] == -1, "Anna gains nothing from the others"

    def test_a_token_is_forgotten_but_not_what_it_used(
        self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with client_of(sqlite_url, limit_loopback=True) as client:
            table = Table(client)
            one, *others = (ANNA | bearer(token) for token in table.tokens.values())
            for _ in range(3):
                used = left(client.get(table.path, headers=one))
            monkeypatch.setattr(limits, "REMEMBERED_MAX", 3)
            for other in others:
                assert client.get(table.path, headers=other).status_code == 200
            address = left(client.get(table.path, headers=ANNA))
            assert left(client.get(table.path, headers=one)) == address - 1, "it counts for its address again"
            assert left(client.get(table.path, headers=one)) <= used


def test_limited_answers_match_the_description(few: Client) -> None:
    described, table = Description(), Table(few)
    guesses = Guesses(few, table.path)
    for _ in range(4):
        answer = guesses.one()
        described.answered("GET", table.path, answer.status_code, answer.headers, answer.content)
    assert answer.status_code == 429
    for who in (ANNA, ANNA | bearer(table.tokens[0])):
        for path in (table.path, f"{table.path}/events", "/v1/matches", RULESET):
            answer = few.get(path, headers=who)
            assert "RateLimit" in answer.headers
            described.answered("GET", path, answer.status_code, answer.headers, answer.content)


def test_a_page_of_another_origin_reads_it_too(sqlite_url: str) -> None:
    with client_of(sqlite_url, reads_per_minute=1, limit_loopback=True, cors_origins="*") as client:
        for status in (200, 429):
            answer = client.get(RULESET, headers={"Origin": "https://cards.example"})
            assert answer.status_code == status
            assert answer.headers["Access-Control-Allow-Origin"] == "*"
            assert "RateLimit" in answer.headers["Access-Control-Expose-Headers"]
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "Connection" not in answer.headers, "it may ask again over the same"
