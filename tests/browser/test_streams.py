"""A browser's own EventSource follows a match to its end, and learns why a used ticket opens no stream."""

from typing import Any

import httpx

from tests.browser.conftest import OpenPage
from tests.support.match_client import Table

OPEN = """([url, topics]) => {
    const stream = window.stream = new EventSource(url);
    window.heard = [];
    const hear = (event) => {
        const message = JSON.parse(event.data);
        window.heard.push({name: event.type, ...message});
        if (message.topic === "end") stream.close();
    };
    stream.onmessage = hear;
    for (const topic of topics) stream.addEventListener(topic, hear);
}"""
CLOSED = "() => window.stream.readyState === EventSource.CLOSED"
HEARD = "() => window.heard"


def address(table: Table, query: str = "") -> str:
    """Return the address of a stream with a new ticket of seat 0."""
    ticket = table.post("/tickets", None, 0).json()["ticket"]
    return f"{table.path}/events/stream?ticket={ticket}{query}"


def test_it_follows_a_match_to_its_end(open_page: OpenPage, http: httpx.Client) -> None:
    table, page = Table(http, dealing="house", opening={"points": [2, 2, 2]}), open_page()
    url = address(table)
    page.evaluate(OPEN, [url, []])
    page.wait_for_function("() => window.heard.some((message) => message.topic === 'state')")
    table.finish()
    page.wait_for_function(CLOSED)
    heard: list[dict[str, Any]] = page.evaluate(HEARD)
    assert {one["name"] for one in heard} == {"message"}
    numbers = [one["number"] for one in heard if "number" in one]
    assert numbers == list(range(1, table.version() + 1))
    state, end = heard[-2:]
    protocol = table.get("/protocol").json()
    assert (state["points"], state["line"]) == (protocol["points"], protocol["lines"][-1]["deal"])
    assert (end["topic"], end["reason"]) == ("end", "match_over")

    page.evaluate(OPEN, [url, []])
    page.wait_for_function(CLOSED)
    (refused,) = page.evaluate(HEARD)
    assert (refused["reason"], refused["problem"]["type"]) == ("refused", "/problems/ticket-unknown")


def test_each_topic_has_its_own_listener_on_request(open_page: OpenPage, http: httpx.Client) -> None:
    table, page = Table(http, dealing="house", opening={"points": [2, 2, 2]}), open_page()
    page.evaluate(OPEN, [address(table, "&names=topic"), ["state", "deal/scored", "end"]])
    page.wait_for_function("() => window.heard.length")
    table.finish()
    page.wait_for_function(CLOSED)
    heard: list[dict[str, Any]] = page.evaluate(HEARD)
    assert all(one["name"] == one["topic"] for one in heard)
    assert {one["name"] for one in heard} == {"state", "deal/scored", "end"}
