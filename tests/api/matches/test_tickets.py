"""Tickets for streams: each is valid once, briefly, for one match and with the rights of its caller. They stay
secret."""

import json
import logging
import re
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import httpx
import pytest

from api.access import tickets
from tests.api.http.test_problems import problem
from tests.support.match_client import HANDS, Table
from tests.support.paths import ROOT
from tests.support.running_service import served, sse

MANY = 8


@pytest.fixture
def dealt(http: httpx.Client) -> Table:
    table = Table(http)
    table.deal()
    return table


def ticket_of(table: Table, who: int | str) -> str:
    """Make a ticket for the match with this token; return it."""
    answer = table.post("/tickets", None, who)
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    ticket: str = answer.json()["ticket"]
    return ticket


def asked_with(client: httpx.Client, table: Table, ticket: str, **headers: str) -> httpx.Response:
    """Open a stream with a ticket; return the answer without reading the stream."""
    with client.stream("GET", f"{table.path}/events/stream?ticket={ticket}", headers=headers) as response:
        if response.status_code != 200:
            response.read()
        return response


@pytest.mark.parametrize(("who", "hands"), [(0, [HANDS[0], [], []]), ("official", HANDS)])
def test_it_shows_what_the_token_shows(dealt: Table, who: int | str, hands: list[list[str]]) -> None:
    page = f"{dealt.path}/events/stream?after=1&ticket={ticket_of(dealt, who)}"
    with dealt.client.stream("GET", page) as response:
        assert response.headers["cache-control"] == "no-store"
        _, event, state = islice(sse(response), 3)
    assert json.loads(event["data"])["event"]["hands"] == hands
    assert state["topic"] == "state"


def test_it_is_good_once(dealt: Table, http: httpx.Client) -> None:
    ticket = ticket_of(dealt, 0)
    assert asked_with(http, dealt, ticket).status_code == 200
    for headers in ({}, {"Last-Event-ID": "2"}):  # as an EventSource sends after a lost connection
        answer = asked_with(http, dealt, ticket, **headers)
        problem(answer, 401, "ticket-unknown")
        assert answer.headers["www-authenticate"].startswith("Bearer")
    assert asked_with(http, dealt, ticket_of(dealt, 0)).status_code == 200


def test_an_event_source_gets_the_problem_as_a_message(dealt: Table, http: httpx.Client) -> None:
    """A browser shows no answer to a page but a stream. A private match is answered as a missing one."""
    url, accept = f"{dealt.path}/events/stream?ticket={ticket_of(dealt, 0)}", {"Accept": "text/event-stream"}
    with http.stream("GET", url, headers=accept) as response:
        assert next(sse(response)) == {"retry": "1000"}
    for page, code in (
        (url, "ticket-unknown"),
        (url.replace(dealt.id, "00000000-0000-4000-8000-000000000000"), "no-such-match"),
    ):
        answer = http.get(page, headers=accept)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        retry, message = answer.text.removesuffix("\n\n").split("\n\n")
        assert retry == "retry: 86400000", "an EventSource that is not closed does not try again soon"
        data = json.loads(message.removeprefix("data: "))
        assert (data["topic"], data["reason"], data["problem"]["type"]) == ("end", "refused", f"/problems/{code}")
    assert http.get(f"{url}&names=topic", headers=accept).text.split("\n")[2] == "event: end"


def test_looking_does_not_use_it_up(store_url: str) -> None:
    """A HEAD request of a proxy or a reader has the headers of GET, and does not use the ticket up."""
    with served(store_url) as address, httpx.Client(base_url=address, timeout=30) as client:
        table = Table(client)
        ticket, other = ticket_of(table, 0), Table(client)
        page = f"{table.path}/events/stream?ticket={ticket}"
        for _ in range(2):
            response = client.head(page)
            assert (response.status_code, response.content) == (200, b"")
            assert response.headers["content-type"].startswith("text/event-stream")
        assert client.head(page.replace(table.id, other.id)).status_code == 401
        assert asked_with(client, table, ticket).status_code == 200
        assert client.head(page).status_code == 401
        assert asked_with(client, table, ticket).status_code == 401


def test_only_one_of_many_simultaneous_uses_of_a_ticket_is_accepted(store_url: str) -> None:
    with served(store_url) as address, httpx.Client(base_url=address, timeout=30) as client:
        table = Table(client)
        for _ in range(3):
            ticket = ticket_of(table, 0)
            with ThreadPoolExecutor(MANY) as pool:
                asked = [pool.submit(asked_with, client, table, ticket) for _ in range(MANY)]
                assert sorted(one.result().status_code for one in asked) == [200, *[401] * (MANY - 1)]


def test_it_is_good_at_any_process_and_once_in_all(postgres_url: str) -> None:
    with (
        served(postgres_url) as one,
        served(postgres_url) as other,
        httpx.Client(base_url=one, timeout=30) as first,
        httpx.Client(base_url=other, timeout=30) as second,
    ):
        table = Table(first)
        ticket = ticket_of(table, 1)
        assert asked_with(second, table, ticket).status_code == 200
        assert asked_with(first, table, ticket).status_code == 401


def test_it_is_not_good_for_long(dealt: Table, http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    expires = datetime.fromisoformat(dealt.post("/tickets", None, 0).json()["expires"])
    assert timedelta(0) < expires - datetime.now(UTC) <= timedelta(seconds=tickets.TICKET_SECONDS)
    monkeypatch.setattr(tickets, "TICKET_SECONDS", 0)
    ticket = ticket_of(dealt, 0)
    assert http.head(f"{dealt.path}/events/stream?ticket={ticket}").status_code == 401
    problem(asked_with(http, dealt, ticket), 401, "ticket-unknown")


def test_it_is_for_one_match_and_is_not_used_up_by_another(dealt: Table, http: httpx.Client) -> None:
    other, ticket = Table(http), ticket_of(dealt, 0)
    problem(asked_with(http, other, ticket), 401, "ticket-unknown")
    assert asked_with(http, dealt, ticket).status_code == 200


def test_a_token_is_no_ticket_nor_a_ticket_a_token(dealt: Table, http: httpx.Client) -> None:
    problem(asked_with(http, dealt, dealt.tokens[0]), 401, "ticket-unknown")
    ticket = ticket_of(dealt, 0)
    answer = http.get(dealt.path, headers={"Authorization": f"Bearer {ticket}"})
    problem(answer, 401, "token-unknown")
    assert asked_with(http, dealt, ticket).status_code == 200, "it is good still"


@pytest.mark.parametrize("ticket", ["", "null", "x", "x" * 44])
def test_a_malformed_ticket_is_refused(dealt: Table, http: httpx.Client, ticket: str) -> None:
    """A malformed ticket does not count as a missing one, which would show a spectator's view."""
    problem(asked_with(http, dealt, ticket), 400, "bad-parameter")


def test_it_is_given_to_a_token_of_the_match_alone(dealt: Table, http: httpx.Client) -> None:
    problem(dealt.post("/tickets", None, None), 401, "token-missing")
    answer = http.post(f"{dealt.path}/tickets", headers=Table(http).bearer(0))
    problem(answer, 401, "token-unknown")
    answer = http.post("/v1/matches/00000000-0000-0000-0000-000000000000/tickets", headers=dealt.bearer(0))
    problem(answer, 404, "no-such-match")


def test_it_is_neither_logged_nor_kept(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The service stores only the SHA-256 of a ticket, and that of an unused ticket only briefly."""
    caplog.set_level(logging.DEBUG)
    with served(f"sqlite:///{tmp_path}/knacka.db") as address, httpx.Client(base_url=address, timeout=30) as client:
        table = Table(client)
        used, unused = ticket_of(table, 0), ticket_of(table, 0)
        statuses = [asked_with(client, table, used).status_code for _ in range(2)]
    assert statuses == [200, 401]
    said = [one.getMessage() for one in caplog.records if not one.name.startswith(("httpx", "httpcore"))]
    assert not [one for one in said if used in one or unused in one]
    with sqlite3.connect(tmp_path / "knacka-books.db") as books:
        kept = books.execute("SELECT * FROM book_tickets").fetchall()
    assert len(kept) == 1, "all tickets except the used one"
    assert unused not in str(kept)


def test_those_that_have_expired_are_thrown_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tickets, "TICKET_SECONDS", 0)
    with served(f"sqlite:///{tmp_path}/knacka.db") as address, httpx.Client(base_url=address, timeout=30) as client:
        table = Table(client)
        for _ in range(5):
            ticket_of(table, 0)
    with sqlite3.connect(tmp_path / "knacka-books.db") as books:
        assert books.execute("SELECT count(*) FROM book_tickets").fetchone() == (1,)


def test_the_proxy_in_deploy_does_not_log_it() -> None:
    conf = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    (stream,) = re.findall(r"location ~ [^{]*/events/stream\$ \{(.*?)\n    \}", conf, re.DOTALL)
    assert "access_log off;" in stream


def test_a_stream_by_ticket_ends_with_the_token_that_it_stands_for(dealt: Table, http: httpx.Client) -> None:
    """A ticket that was made earlier does not open a stream after that either."""
    ticket, kept = (ticket_of(dealt, 0) for _ in range(2))
    with http.stream("GET", f"{dealt.path}/events/stream", params={"ticket": ticket}, timeout=30) as stream:
        events = sse(stream)
        assert "data" in next(event for event in events if event.get("topic") == "state")
        assert dealt.post("/tokens", {"seat": 0}, "official").status_code == 201
        assert [event for event in events if event.get("topic") == "deal/dealt"] == []
    problem(asked_with(http, dealt, kept), 401, "ticket-unknown")
