"""A reader of a book learns its progress at once, and does not delay other readers."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from uuid import UUID

import httpx
import pytest
from sqlalchemy import text

from api.runtime.metrics import exposition
from projections.follow.engine import engine_for, engine_for_writes
from referee.store.store import construct
from tests.projections.damaged_rows import broken
from tests.support.match_client import Table
from tests.support.running_service import served
from tests.support.service_in_memory import Client, client_of

AT_ONCE = 4.0
"""Seconds that count as at once: less than the five that a reader would wait, but enough for a busy machine."""


@contextmanager
def books_held(url: str) -> Iterator[None]:
    """Hold a lock on the books, so that the service cannot write into them."""
    engine = engine_for(url)
    with engine_for_writes(engine).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(text("LOCK TABLE book_places IN EXCLUSIVE MODE"))
        yield
    engine.dispose()


@contextmanager
def at_once() -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < AT_ONCE


def test_a_match_that_a_projection_has_set_aside_is_reported_at_once(own_client: Client, store_url: str) -> None:
    one, other = Table(own_client), Table(own_client)
    for table in (one, other):
        table.deal()
        table.bid("2", "pass")
        table.finish_deal(seed=1)
    books, metrics = own_client.app.state.service.projections, own_client.app.state.service.metrics
    one_id = UUID(one.id)
    with construct(store_url) as referee:
        number = next(e.originator_version for e in referee.history(one_id) if e.event.TOPIC == "deal/scored")
        log = books._log.read(0, 10_000)
        [place] = [position for position, match_id, at, *_ in log.rows if (UUID(match_id), at) == (one_id, number)]
        [row] = referee.rows(one_id, after=number - 1, to=number)
        with broken(referee, "undecodable", row, place):
            books.rebuild(*books.by_name)
            with at_once():
                answer = one.get("/protocol")
            assert (answer.status_code, answer.json()["type"]) == (503, "/problems/book-set-aside")
            assert answer.json()["facts"] == {"book": "protocols", "event": number}
            assert int(answer.headers["retry-after"]) > 0
            assert other.get("/protocol").status_code == 200
            listed = own_client.get("/v1/matches?fresh=true").json()["items"]
            assert [entry["version"] for entry in listed] == [number - 1, other.version()]
            assert {(str(aside.match), aside.event) for aside in books.matches_set_aside()} == {(one.id, number)}
            said = exposition(metrics, own_client.app.state.service.health.gauges())
            assert f"knacka_books_set_aside {len(books.matches_set_aside())}\n" in said
            assert f'knacka_book_set_aside_at{{book="protocols",match="{one.id}"}} {number}\n' in said
        books.rebuild(*books.by_name)
        assert one.get("/protocol").status_code == 200
        assert "knacka_books_set_aside 0\n" in exposition(metrics, own_client.app.state.service.health.gauges())


def test_a_list_answers_at_once_with_what_it_has(own_client: Client, store_url: str) -> None:
    first = Table(own_client)
    page = own_client.get("/v1/matches?fresh=true").json()
    assert ([one["id"] for one in page["items"]], page["behind"]) == ([first.id], 0)
    with books_held(store_url):
        Table(own_client)
        with at_once():
            page = own_client.get("/v1/matches").json()
        assert ([one["id"] for one in page["items"]], page["behind"]) == ([first.id], 1)
    page = own_client.get("/v1/matches?fresh=true").json()
    assert (len(page["items"]), page["behind"]) == (2, 0)


def test_a_book_that_is_far_behind_says_at_once_about_how_long(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("projections.follow.follow.PACE", 0.05)  # events per second, as if measured
    with client_of(store_url) as client:
        assert client.get("/v1/matches").json()["behind"] == 0
        with books_held(store_url):
            table = Table(client)
            books = client.app.state.service.projections
            deadline = time.monotonic() + AT_ONCE
            while books.follower.seconds_behind(books.protocols) == 0:
                assert time.monotonic() < deadline
                time.sleep(0.01)
            with at_once():
                answer = table.get("/protocol")
            assert (answer.status_code, answer.json()["type"]) == (503, "/problems/books-behind")
            assert int(answer.headers["retry-after"]) >= 20
            with at_once():
                assert client.get("/v1/matches?fresh=true").json()["behind"] == 1


def test_readers_that_wait_for_a_projection_do_not_block_readers_of_events(store_url: str) -> None:
    """More readers wait than the service has threads."""
    with (
        served(store_url) as address,
        httpx.Client(base_url=address, timeout=30, limits=httpx.Limits(max_connections=60)) as client,
        ThreadPoolExecutor(40) as readers,
    ):
        table = Table(client)
        assert table.get("/protocol").status_code == 200
        with books_held(store_url):
            table.deal()
            waiting = [readers.submit(table.get, "/protocol") for _ in range(40)]
            time.sleep(0.5)  # by then the service has received most of them
            with at_once():
                assert table.get("/events").status_code == 200
        assert {one.result(30).status_code for one in waiting} == {200}
