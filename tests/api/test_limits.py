"""What one address may ask, where a limit is set."""

import pytest

from api.access import limits
from api.access.limits import Limits
from tests.api.conftest import client_of


class Clock:
    """A clock that is set by hand."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_the_last_is_refused_with_a_time_and_told_before(sqlite_url: str) -> None:
    with client_of(sqlite_url, requests_per_minute=3) as client:
        for left in (2, 1, 0):
            answer = client.get("/v1/rulesets/kalabrias")
            assert answer.status_code == 200
            assert answer.headers["RateLimit-Policy"] == '"requests";q=3;w=60'
            assert answer.headers["RateLimit"].startswith(f'"requests";r={left};t=')
        answer = client.get("/v1/matches", headers={"Accept-Language": "sv"})
        assert answer.status_code == 429
        problem = answer.json()
        assert problem["type"] == "/problems/slow-down"
        assert problem["title"] == "Ta det lugnare"
        assert 1 <= int(answer.headers["Retry-After"]) <= 21
        assert answer.headers["RateLimit"].startswith('"requests";r=0;t=')


def test_a_problem_costs_as_much(sqlite_url: str) -> None:
    with client_of(sqlite_url, requests_per_minute=1) as client:
        assert client.post("/v1/matches", content=b"{").status_code == 415
        assert client.post("/v1/matches", content=b"{").status_code == 429


def test_without_a_limit_nothing_is_told(sqlite_url: str) -> None:
    with client_of(sqlite_url) as client:
        assert "RateLimit" not in client.get("/health/live").headers


def test_what_is_used_comes_back_one_by_one() -> None:
    clock = Clock()
    allowance = Limits(60, clock)
    assert [int(allowance.take("192.0.2.1")[0]) for _ in range(60)] == [*range(59, -1, -1)]
    left, seconds = allowance.take("192.0.2.1")
    assert left < 0
    assert seconds == pytest.approx(1)
    clock.now += 2
    assert [allowance.take("192.0.2.1")[0] >= 0 for _ in range(3)] == [True, True, False]
    clock.now += 60
    assert allowance.take("192.0.2.1")[0] == 59


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("2001:db8:0:1::1", "2001:db8:0:1:ffff::2", True),
        ("2001:db8:0:1::1", "2001:db8:0:2::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("::ffff:192.0.2.1", "::ffff:192.0.2.2", False),
    ],
)
def test_whose_it_is(one: str, other: str, same: bool) -> None:
    allowance = Limits(1, Clock())
    allowance.take(one)
    assert (allowance.take(other)[0] < 0) is same


def test_no_more_addresses_are_remembered_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "ADDRESSES_MAX", 2)
    allowance = Limits(1, Clock())
    for address in ("192.0.2.1", "192.0.2.2", "192.0.2.1", "192.0.2.3"):
        allowance.take(address)
    assert allowance.take("192.0.2.2")[0] == 0, "it has asked nothing for the longest time"
    assert allowance.take("192.0.2.3")[0] < 0
