"""Two services on one PostgreSQL: each shows and streams the other's events, and adds to them."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

import httpx
import pytest

from tests.support.match_client import Table
from tests.support.running_service import served, sse


@pytest.fixture
def two(empty_postgres_url: str) -> Iterator[tuple[httpx.Client, httpx.Client]]:
    with (
        served(empty_postgres_url) as one,
        served(empty_postgres_url) as other,
        httpx.Client(base_url=one, timeout=10) as first,
        httpx.Client(base_url=other, timeout=10) as second,
    ):
        yield first, second


def test_seats_play_through_different_services(two: tuple[httpx.Client, httpx.Client]) -> None:
    first, second = two
    table = Table(first)
    table.deal()
    for place, bid in enumerate(("2", "pass", "3")):
        table.client = two[place % 2]
        table.bid(bid, first=1 + place)
    table.client = second
    assert table.get("?min_version=6").json()["phase"] == "playing"
    assert table.get("/protocol?min_version=6").json()["version"] == 6
    table.client = first
    assert table.get("?min_version=6").json()["phase"] == "playing"


def test_a_stream_of_one_carries_what_came_through_the_other(two: tuple[httpx.Client, httpx.Client]) -> None:
    first, second = two
    table = Table(first)
    table.deal()
    with second.stream("GET", f"{table.path}/events/stream?after=2") as response:
        events = (event for event in sse(response) if "id" in event)
        table.bid("2")
        table.bid("pass", first=2)
        assert [event["id"] for event in islice(events, 2)] == ["3", "4"]


def test_a_long_poll_at_one_process_returns_acts_sent_to_the_other(two: tuple[httpx.Client, httpx.Client]) -> None:
    first, second = two
    table = Table(first)
    table.deal()
    after, tag = table.version(), table.get().headers["etag"]
    asked = (
        lambda: second.get(f"{table.path}/events?after={after}&wait=25", timeout=40).json()["version"],
        lambda: second.get(f"{table.path}?wait=25", headers={"If-None-Match": tag}, timeout=40).json()["version"],
    )
    assert second.get(table.path).json()["version"] == after, "it has the match cached"
    with ThreadPoolExecutor() as pool:
        waiting = [pool.submit(one) for one in asked]
        table.bid("2")
        assert [one.result() for one in waiting] == [after + 1] * 2


def test_a_repeat_through_the_other_is_recognised(two: tuple[httpx.Client, httpx.Client]) -> None:
    first, second = two
    table = Table(first)
    table.deal()
    body, key = {"act": "bid", "seat": 1, "bid": "2"}, {"Idempotency-Key": "once"}
    answer = table.post("/acts", body, 1, **key)
    table.client = second
    again = table.post("/acts", body, 1, **key)
    assert answer.content == again.content
    assert again.headers["idempotency-replayed"] == "true"


def test_a_case_that_came_through_the_other_has_its_file(two: tuple[httpx.Client, httpx.Client]) -> None:
    """The books may have a case before this process knows of the new event of the match."""
    first, second = two
    for _ in range(5):
        table = Table(first, adjudication={})
        table.deal()
        assert second.get(table.path).json()["version"] == table.version(), "it has the match cached"
        knock = {"seat": 0, "accused": 1, "offence": "early_pick_up"}
        assert table.post("/knocks", knock, 0).status_code == 201
        assert table.get("/knocks/1").status_code == 200, "the books have it"
        answer = second.get(f"{table.path}/knocks/1/file", headers=table.bearer("official"))
        assert answer.status_code == 200, answer.text
