"""Each answer, each problem and each log line of a request has its id, and its place in a trace."""

import logging

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from api.http.problems import problem_of_unexpected
from api.http.request_ids import request_ids
from tests.api.http.test_protocol import wire
from tests.support.running_service import served
from tests.support.service_in_memory import client_of

Client = TestClient[Litestar]
OWN = "my-Request_0001"
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
PATHS = ("/v1/matches", "/v1/matches/x", "/nowhere", "/docs", "/health/live", "/problems/busy")


def test_every_answer_repeats_the_id_of_its_request(client: Client) -> None:
    for path in PATHS:
        for method in ("GET", "HEAD", "OPTIONS", "DELETE"):
            assert client.request(method, path, headers={"X-Request-Id": OWN}).headers["x-request-id"] == OWN, path


def test_an_answer_that_has_not_changed_has_an_id_of_its_own(client: Client) -> None:
    path = "/v1/matches?fresh=true&player=a-name-that-no-player-has"
    tag = client.get(path).headers["etag"]
    ids = set()
    for _ in range(2):
        answer = client.get(path, headers={"If-None-Match": tag, "X-Request-Id": ""})
        assert answer.status_code == 304
        ids.add(answer.headers["x-request-id"])
    assert len(ids) == 2


@pytest.mark.parametrize("given", ["short-7", "x" * 65, "eight ch", "angle<br>", "åäöåäöåä", ""])
def test_an_unusable_id_is_replaced(given: str) -> None:
    made = request_ids([(b"x-request-id", given.encode())]).request
    assert made != given.encode()
    assert len(made) == 24


def test_made_ids_differ() -> None:
    assert len({request_ids([]).request for _ in range(5000)}) == 5000


@pytest.mark.parametrize(
    "given",
    [
        TRACE.upper(),
        TRACE[:-1],
        f"{TRACE}-00",
        f"ff{TRACE[2:]}",
        TRACE.replace("4bf92f3577b34da6a3ce929d0e0e4736", "0" * 32),
    ],
)
def test_an_invalid_trace_is_ignored(given: str) -> None:
    assert request_ids([(b"traceparent", given.encode())]).trace is None


def test_a_problem_has_both_in_its_instance(client: Client) -> None:
    answer = client.get("/v1/matches/x?limit=1", headers={"X-Request-Id": OWN, "traceparent": TRACE})
    assert answer.json()["instance"] == f"/v1/matches/x#request={OWN}&trace={TRACE}"


def test_a_log_line_has_both(caplog: pytest.LogCaptureFixture) -> None:
    headers = [(b"x-request-id", OWN.encode()), (b"traceparent", TRACE.encode())]
    with caplog.at_level(logging.ERROR):
        problem_of_unexpected(
            {"method": "GET", "path": "/v1/matches", "headers": headers, "state": {}}, RuntimeError("fault")
        )
    assert f"GET /v1/matches request={OWN} trace={TRACE} failed" in caplog.text


def test_a_refusal_over_the_limit_has_them(sqlite_url: str) -> None:
    with client_of(sqlite_url, reads_per_minute=1, limit_loopback=True) as client:
        client.get("/v1/matches")
        answer = client.get("/v1/matches", headers={"X-Request-Id": OWN})
    assert answer.status_code == 429
    assert answer.headers["x-request-id"] == OWN
    assert answer.json()["instance"] == f"/v1/matches#request={OWN}"


def test_refusals_of_the_protocol_have_them(sqlite_url: str) -> None:
    """The app does not see a request whose headers are too large, nor one that is not HTTP."""
    head = f"GET /v1/log HTTP/1.1\r\nHost: x\r\nX-Request-Id: {OWN}\r\nTraceparent: {TRACE}\r\nX-Long: ".encode()
    with served(sqlite_url) as address:
        with wire(address) as connection:
            connection.send(head + b"x" * 10_000 + b"\r\n\r\n")
            answer = connection.answer()
        assert answer.headers["x-request-id"] == OWN
        assert answer.problem(431, "headers-too-large")["instance"] == f"/v1/log#request={OWN}&trace={TRACE}"
        with wire(address) as connection:
            connection.send(b"nonsense\r\n\r\n")
            answer = connection.answer()
        assert answer.problem(400, "malformed")["instance"] == f"#request={answer.headers['x-request-id']}"
        with wire(address) as connection:
            connection.send(f"GET /health/live HTTP/1.1\r\nHost: x\r\nX-Request-Id: {OWN}\r\n\r\n".encode())
            assert connection.answer().headers["x-request-id"] == OWN
