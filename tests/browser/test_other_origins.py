"""A page of a different origin calls the service from Chromium: only if the setting names its origin."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.support.match_client import HANDS, KORTOXEN
from tests.support.running_service import Process

PLAYS = """async ([api, body, hands]) => {
    const sent = (path, body, token, headers) => fetch(api + path, {
        method: "POST",
        headers: {"Content-Type": "application/json", ...(token && {Authorization: `Bearer ${token}`}), ...headers},
        body: body && JSON.stringify(body),
    });
    const answer = await sent("/v1/matches", body);
    const match = await answer.json();
    const path = `/v1/matches/${match.id}`;
    const token = match.seats[0].token;
    const ticket = (await (await sent(`${path}/tickets`, null, token)).json()).ticket;
    const seen = [];
    const stream = new EventSource(`${api}${path}/events/stream?ticket=${ticket}`);
    const dealt = new Promise((resolve, reject) => {
        stream.onmessage = ({data}) => {
            const message = JSON.parse(data);
            if (message.topic !== "state") seen.push(message.topic);
            if (message.topic === "deal/dealt") resolve(message);
        };
        stream.onerror = () => reject(new Error("the stream broke"));
    });
    const done = await sent(`${path}/acts`, {act: "deal", seat: 0, hands}, token, {"Idempotency-Key": "k"});
    const {event} = await dealt;
    stream.close();
    const read = await fetch(api + path, {headers: {"If-None-Match": done.headers.get("ETag")}, cache: "no-store"});
    const refused = await sent(`${path}/acts`, {act: "deal", seat: 0, hands}, "x".repeat(43));
    return {
        statuses: [answer.status, done.status, read.status, refused.status],
        location: answer.headers.get("Location"), id: match.id, etag: done.headers.get("ETag"), seen, event,
        problem: (await refused.json()).type,
    };
}"""


class Blank(BaseHTTPRequestHandler):
    """Serves an empty page."""

    def do_GET(self) -> None:
        page = b"<!doctype html><title>Elsewhere</title><link rel=icon href=data:,>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Yield the port of the empty page."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Blank) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def named(port: int, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Yield the address of a service that allows the origin 127.0.0.1, but not localhost."""
    path: Path = tmp_path_factory.mktemp("named")
    process = Process(f"sqlite:///{path}/knacka.db", KNACKA_CORS_ORIGINS=f"http://127.0.0.1:{port}")
    yield process.address
    process.process.kill()
    process.process.wait()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    yield page
    page.close()


def test_a_page_plays_and_follows_with_a_ticket(page: Page, port: int, named: str) -> None:
    page.goto(f"http://127.0.0.1:{port}/")
    body = {
        "ruleset": KORTOXEN,
        "players": [{"name": name} for name in ("Anna", "Berit", "Cesar")],
        "first_dealer": 0,
        "options": {"deal_ritual": False},
        "dealing": "table",
    }
    result = page.evaluate(PLAYS, [named, body, HANDS])
    assert result["statuses"] == [201, 201, 304, 401]
    assert result["location"] == f"/v1/matches/{result['id']}"
    assert result["etag"]
    assert result["seen"] == ["match/opened", "deal/dealt"]
    assert result["event"]["hands"][0] == HANDS[0]
    assert not result["event"]["hands"][1], "the ticket is of seat 0"
    assert result["problem"] == "/problems/token-unknown"


def test_a_page_that_is_not_named_learns_nothing(page: Page, port: int, named: str) -> None:
    asks = "(url) => fetch(url).then((answer) => answer.status, (error) => error.name)"
    page.goto(f"http://127.0.0.1:{port}/")
    assert page.evaluate(asks, f"{named}/v1/rulesets") == 200
    page.goto(f"http://localhost:{port}/")
    assert page.evaluate(asks, f"{named}/v1/rulesets") == "TypeError"
