"""Each answer has security headers for browsers: on every route, in every problem, on pages and streams.

``test_protocol`` tests answers of the HTTP server itself.
"""

import re
from collections.abc import Iterator

import httpx
import pytest
from litestar.routes import HTTPRoute

from api.docs.reference import SCRIPTS, page_policy
from api.http.headers import POLICY, SECURE
from tests.support.match_client import KORTOXEN, Table
from tests.support.service_in_memory import Client


def secure(answer: httpx.Response, policy: str = POLICY[1].decode()) -> None:
    """Assert that the answer has each security header exactly once."""
    for name, value in SECURE:
        assert answer.headers.get_list(name.decode()) == [value.decode()], answer.request.url
    assert answer.headers.get_list("content-security-policy") == [policy], answer.request.url


def requests(client: Client, table: Table) -> Iterator[tuple[str, str]]:
    """Yield a method and path for each call."""
    values = {
        "match": table.id,
        "club": table.id,
        "ruleset": KORTOXEN,
        "rule_id": "B1",
        "deal": "1",
        "case": "1",
        "event": "1",
        "name": "stale",
    }
    for route in client.app.routes:
        assert isinstance(route, HTTPRoute)
        path = re.sub(r"\{(\w+)(:\w+)?\}", lambda found: values.get(found[1], "1"), route.path)
        yield from ((method, path) for method in route.methods)


def test_all_routes(client: Client, table: Table) -> None:
    asked = set(requests(client, table))
    assert {"/openapi.json", "/docs/page.js", "/health/live", f"{table.path}/events/stream"} <= {
        path for _, path in asked
    }
    statuses, pages = set(), set()
    for method, path in sorted(asked):
        if path.endswith("/stream"):
            continue
        answer = client.request(method, path)
        statuses.add(answer.status_code)
        if answer.headers.get("content-type", "").startswith("text/html"):
            pages.add(path)
            secure(answer, page_policy())
        else:
            secure(answer)
    assert {200, 204, 400, 401, 404} <= statuses
    assert pages == {"/docs"}


def test_a_stream(client: Client) -> None:
    table = Table(client, dealing="house", opening={"points": [2, 2, 2]})
    table.finish()  # so that the stream ends
    answer = table.get("/events/stream")
    assert answer.status_code == 200
    secure(answer)
    secure(table.get("/events", Accept="application/x-ndjson"))


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/docs/nowhere", 404),
        ("DELETE", "/v1/matches", 405),
        ("GET", "/v1/matches/x", 404),
        ("GET", "/v1/matches?limit=x", 400),
        ("POST", "/v1/matches", 415),
    ],
)
def test_problems(client: Client, method: str, path: str, status: int) -> None:
    answer = client.request(method, path, content=b"x" if method == "POST" else None)
    assert answer.status_code == status
    secure(answer)


def test_a_304_has_the_security_headers(dealt: Table) -> None:
    answer = dealt.get(**{"If-None-Match": dealt.get().headers["etag"]})
    assert answer.status_code == 304
    secure(answer)


def test_the_page_may_load_what_it_needs_and_nothing_else(client: Client) -> None:
    """The page's policy allows scripts and data from the service, its one style by hash, and no inline code."""
    page = client.get("/docs")
    secure(page, page_policy())
    assert re.findall(r"<style", page.text) == ["<style"]
    assert re.findall(r"<script[^>]*>", page.text) == ['<script type="module" src="/docs/page.js">']
    assert not re.search(r"\sstyle=|\son\w+=|javascript:", page.text)
    for name in SCRIPTS:
        script = client.get(f"/docs/{name}").text
        assert not re.search(r"\beval\(|new Function|innerHTML|\.style\b|setAttribute\(.style", script)
