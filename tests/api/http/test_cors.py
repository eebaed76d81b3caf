"""Pages of other origins: the headers of each answer for their browsers, only if a setting allows their origin."""

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from api.http.cors import Cors
from api.settings import SettingsError, from_environment
from tests.api.http.test_protocol import wire
from tests.conformance.description_check import resolved
from tests.support.match_client import Table
from tests.support.paths import ROOT
from tests.support.running_service import served
from tests.support.service_in_memory import Client, client_of

HOME, OTHER, STRANGER = "https://cards.example", "http://localhost:5173", "https://stranger.example"
BOTH = f"{HOME}, {OTHER}"
PREFLIGHT = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Yield a client of a service that allows two origins."""
    with client_of(f"sqlite:///{tmp_path_factory.mktemp('named')}/knacka.db", cors_origins=BOTH) as client:
        yield client


@pytest.fixture(scope="module")
def open_to_all(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with client_of(f"sqlite:///{tmp_path_factory.mktemp('any')}/knacka.db", cors_origins="*") as client:
        yield client


def cors_headers(answer: httpx.Response) -> dict[str, str]:
    """Return the CORS headers of the answer."""
    prefix = "access-control-"
    assert not answer.headers.get("access-control-allow-credentials")
    return {name.removeprefix(prefix): value for name, value in answer.headers.items() if name.startswith(prefix)}


def names(header: str) -> set[str]:
    return {name.strip().lower() for name in header.split(",")}


def some_answers(client: Client, **headers: str) -> Iterator[httpx.Response]:
    """Yield answers of every kind: 200, 304, problems, lines, streams and pages."""
    table = Table(client, dealing="house", opening={"points": [2, 2, 2]})
    yield table.get("", 0, **headers)
    yield table.get("", **headers, **{"If-None-Match": table.get().headers["etag"]})
    yield table.get("/events", **headers, Accept="application/x-ndjson")
    yield table.post("/acts", {"act": "play", "seat": 0, "card": "SA"}, 0, **headers)
    yield table.post("/acts", {}, None, **headers)
    yield client.get("/nowhere", headers=headers)
    yield client.delete("/v1/matches", headers=headers)
    yield client.get("/docs", headers=headers)
    yield client.get("/openapi.json", headers=headers)
    table.finish()
    yield table.get("/events/stream", **headers)


def test_every_answer_allows_an_origin_that_is_named(named: Client) -> None:
    statuses = set()
    for answer in some_answers(named, Origin=OTHER):
        statuses.add(answer.status_code)
        assert cors_headers(answer)["allow-origin"] == OTHER, answer.request.url
        assert {"etag", "retry-after", "link"} <= names(cors_headers(answer)["expose-headers"])
        assert "origin" in names(answer.headers["vary"])
    assert statuses == {200, 304, 401, 404, 405, 409}


def test_cors_keeps_the_vary_header_of_the_answer(named: Client) -> None:
    table = Table(named)
    assert names(table.get("", 0, Origin=HOME).headers["vary"]) == {"authorization", "origin"}


@pytest.mark.parametrize(
    "origin", [STRANGER, "null", "https://cards.example.stranger.example", "http://cards.example"]
)
def test_no_answer_allows_another(named: Client, origin: str) -> None:
    for answer in some_answers(named, Origin=origin):
        assert cors_headers(answer) == {}
        assert "origin" in names(answer.headers["vary"]), "a cache must not give it to one that is named"
    assert cors_headers(named.options("/v1/matches", headers={"Origin": origin, **PREFLIGHT})) == {}


def test_without_an_origin_nothing_is_said_but_that_it_matters(named: Client) -> None:
    answer = named.get("/v1/matches")
    assert cors_headers(answer) == {}
    assert "origin" in names(answer.headers["vary"])


def test_all_may_be_allowed(open_to_all: Client) -> None:
    for answer in some_answers(open_to_all, Origin=STRANGER):
        assert cors_headers(answer)["allow-origin"] == "*"
        assert "origin" not in names(answer.headers.get("vary", ""))


def test_none_is_allowed_by_itself(client: Client) -> None:
    for answer in some_answers(client, Origin=HOME):
        assert cors_headers(answer) == {}
    assert cors_headers(client.options("/v1/matches", headers={"Origin": HOME, **PREFLIGHT})) == {}
    assert client.options("/nowhere", headers={"Origin": HOME, **PREFLIGHT}).status_code == 404


def test_a_preflight_lists_the_allowed_requests(named: Client, open_to_all: Client) -> None:
    """Unknown paths answer a preflight too. Otherwise the page would see a network failure instead of the problem."""
    table = Table(named)
    for path in ("/v1/matches", f"{table.path}/acts", f"{table.path}/events/stream", "/v1/matches/x", "/nowhere"):
        for client, allowed in ((named, HOME), (open_to_all, "*")):
            answer = client.options(path, headers={"Origin": HOME, **PREFLIGHT})
            assert answer.status_code == 204, path
            assert cors_headers(answer)["allow-origin"] == allowed
            assert int(cors_headers(answer)["max-age"]) > 600


def test_all_that_is_described_may_be_sent_and_read(named: Client) -> None:
    description = json.loads((ROOT / "openapi" / "openapi.json").read_text(encoding="utf-8"))
    sent, read, methods = set[str](), set[str](), set[str]()
    for path in description["paths"].values():
        for method, operation in path.items():
            methods.add(method)
            parameters = [resolved(description, one) for one in operation.get("parameters", ())]
            sent |= {one["name"].lower() for one in parameters if one["in"] == "header"}
            for answer in operation["responses"].values():
                read |= {name.lower() for name in resolved(description, answer).get("headers", ())}
    preflight = cors_headers(named.options("/v1/matches", headers={"Origin": HOME, **PREFLIGHT}))
    assert methods <= names(preflight["allow-methods"])
    assert sent - {"accept"} | {"authorization", "content-type"} <= names(preflight["allow-headers"])
    safe = {"cache-control", "content-language", "content-length", "content-type", "expires", "last-modified"}
    exposed = names(cors_headers(named.get("/v1/matches", headers={"Origin": HOME}))["expose-headers"])
    not_for_a_page = {"access-control-allow-origin", "x-accel-buffering"}  # for the browser and for proxies only
    assert read - safe - not_for_a_page <= exposed


def test_a_refusal_of_the_protocol_has_cors_headers(sqlite_url: str) -> None:
    head = f"GET /health/live HTTP/1.1\r\nHost: x\r\nOrigin: {HOME}\r\nX-Long: ".encode()
    with served(sqlite_url, cors_origins=BOTH) as address, wire(address) as connection:
        connection.send(head + b"x" * 10_000 + b"\r\n\r\n")
        answer = connection.answer()
    answer.problem(431, "headers-too-large")
    assert answer.headers["access-control-allow-origin"] == HOME


class TestTheSetting:
    @pytest.mark.parametrize("value", ["https://a.example", "http://localhost:5173,https://a.example", "*", "", " "])
    def test_the_setting_accepts_origins_and_a_star(self, value: str) -> None:
        assert from_environment({"KNACKA_CORS_ORIGINS": value}).cors_origins == value

    @pytest.mark.parametrize(
        "value",
        [
            "a.example",
            "https://a.example/",
            "https://a.example/page",
            "https://*.example",
            "*,https://a.example",
            "a,",
        ],
    )
    def test_the_setting_refuses_an_invalid_origin(self, value: str) -> None:
        with pytest.raises(SettingsError, match=r"^KNACKA_CORS_ORIGINS: .* is no origin, such as https://"):
            from_environment({"KNACKA_CORS_ORIGINS": value})

    def test_an_address_of_numbers_is_an_origin(self) -> None:
        asked: Any = [(b"origin", b"http://[::1]:8080")]
        assert (b"access-control-allow-origin", b"http://[::1]:8080") in Cors("http://[::1]:8080").headers(asked)
