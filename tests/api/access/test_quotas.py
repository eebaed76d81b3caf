"""Quotas on simultaneous streams and matches, and on openings per hour and foundings per day."""

import time
from typing import Any

import httpx
import pytest

from api.access.addresses import Addresses
from api.access.quotas import Quotas
from api.http.problems import Problem
from tests.support.match_client import Table
from tests.support.running_service import served
from tests.support.service_in_memory import client_of

ANNA, BO = ({"X-Forwarded-For": f"192.0.2.{last}"} for last in (1, 2))
OPENING = {"ruleset": "kalabrias", "players": [{"name": "Anna"}, {"name": "Bo"}]}


def quotas(**more: Any) -> Quotas:
    usual: dict[str, Any] = {
        "loopback": False,
        "anybody_opens": True,
        "matches_per_hour": 2,
        "clubs_per_day": 2,
        "club_matches": 2,
        "streams": 2,
    }
    return Quotas(Addresses("127.0.0.0/8"), **(usual | more))


class Asked:
    """The parts of a request that a quota reads."""

    def __init__(self, address: str) -> None:
        self.scope = {"client": (address, 4711), "headers": []}


def asked(address: str) -> Any:
    return Asked(address)


def reached(problem: httpx.Response, what: str, most: int) -> bool:
    body = problem.json()
    return (problem.status_code, body["type"], body["facts"]) == (
        403,
        "/problems/quota-reached",
        {"what": what, "most": most},
    )


class TestMatches:
    def test_an_address_opens_so_many_an_hour(self, sqlite_url: str) -> None:
        with client_of(sqlite_url, matches_per_hour=2) as client:
            for _ in range(2):
                assert client.post("/v1/matches", json=OPENING, headers=ANNA).status_code == 201
            assert reached(client.post("/v1/matches", json=OPENING, headers=ANNA), "matches_per_hour", 2)
            assert client.post("/v1/matches", json=OPENING, headers=BO).status_code == 201
            for _ in range(3):
                assert client.post("/v1/matches", json=OPENING).status_code == 201, "this machine is not limited"

    def test_refused_and_repeated_openings_do_not_count(self, sqlite_url: str) -> None:
        with client_of(sqlite_url, matches_per_hour=1) as client:
            assert client.post("/v1/matches", json=OPENING | {"players": []}, headers=ANNA).status_code == 422
            keyed = ANNA | {"Idempotency-Key": "7d1c3a52-5f0e-4f5b-9c76-0a4f7f2f6b1d"}
            opened = client.post("/v1/matches", json=OPENING, headers=keyed)
            assert opened.status_code == 201
            assert reached(client.post("/v1/matches", json=OPENING, headers=ANNA), "matches_per_hour", 1)
            again = client.post("/v1/matches", json=OPENING, headers=keyed)
            assert again.status_code == 201
            assert again.json() == opened.json(), "a lost answer loses no match"

    def test_only_with_a_key_if_the_operator_says_so(self, sqlite_url: str) -> None:
        with client_of(sqlite_url, anybody_opens=False) as client:
            answer = client.post("/v1/matches", json=OPENING)
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"].startswith("Bearer ")
            assert answer.json()["type"] == "/problems/opening-needs-key"
            assert client.get("/v1/matches").json()["items"] == []

    def test_a_club_has_so_many_open(self) -> None:
        some = quotas()
        some.must_allow_opening_in_club(1)
        with pytest.raises(Problem) as refused:
            some.must_allow_opening_in_club(2)
        assert (refused.value.status, refused.value.facts) == (403, {"what": "open_matches", "most": 2})


class TestClubs:
    def test_an_address_founds_so_many_a_day(self) -> None:
        some = quotas()
        for address in ("192.0.2.1", "192.0.2.1", "192.0.2.2", "127.0.0.1", "127.0.0.1", "127.0.0.1"):
            some.count_founding(asked(address))
        with pytest.raises(Problem) as refused:
            some.count_founding(asked("192.0.2.1"))
        assert (refused.value.status, refused.value.facts) == (403, {"what": "clubs_per_day", "most": 2})


class TestStreams:
    def test_a_token_and_an_address_follow_so_many(self, sqlite_url: str) -> None:
        with served(sqlite_url, streams=1) as address, httpx.Client(base_url=address, timeout=30) as client:
            table = Table(client)
            stream, by = f"{table.path}/events/stream", {"Authorization": f"Bearer {table.tokens[0]}"}
            with client.stream("GET", stream, headers=ANNA) as first:
                assert first.status_code == 200
                assert reached(client.get(stream, headers=ANNA), "streams", 1)
                assert client.head(stream, headers=BO).status_code == 200
                with client.stream("GET", stream, headers=ANNA | by) as own, client.stream("GET", stream) as here:
                    assert (own.status_code, here.status_code) == (200, 200)
                    assert reached(client.get(stream, headers=BO | by), "streams", 1), "one token, wherever it is"
                    with client.stream("GET", stream) as another:
                        assert another.status_code == 200, "this machine is not limited"
                table.done("abandon", None, reason="rain")
                first.read()
            other, until = f"{Table(client).path}/events/stream", time.monotonic() + 10
            while (status := client.head(other, headers=ANNA).status_code) == 403:
                assert time.monotonic() < until, "what has ended does not count"
            assert status == 200

    def test_the_end_of_a_stream_frees_one_place(self) -> None:
        some = quotas()
        ends = [some.count_stream(asked("192.0.2.1"), None) for _ in range(2)]
        with pytest.raises(Problem):
            some.count_stream(asked("192.0.2.1"), None)
        some.count_stream(asked("192.0.2.1"), "a token")
        ends.pop()()
        some.count_stream(asked("192.0.2.1"), None)
