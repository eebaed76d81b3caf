"""The conformance matches over HTTP, by a client that uses only the API.

Each request and answer is compared with the description. Some matches are also read in every way.
"""

import os
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from tests.conformance.description_check import Description
from tests.conformance.replay import Refusal, matches, play
from tests.support.running_service import served

NDJSON = "application/x-ndjson"
RULESETS = ("kalabrias", "rams-english", "rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen")
GIVEN = [given for ruleset in RULESETS for given in matches(ruleset)]


class Client:
    """A client with one open connection. Uses the standard library, because 20,000 acts must be fast."""

    def __init__(self, address: str) -> None:
        self._connection = HTTPConnection(urlsplit(address).netloc, timeout=30)
        self.description = Description()

    def ask(self, method: str, path: str, token: str = "", body: Any = None) -> tuple[HTTPResponse, Any]:
        """Send a request; return the answer and its decoded body."""
        answer, data = self.send(method, path, token, body)
        return answer, msgspec.json.decode(data)

    def send(
        self,
        method: str,
        path: str,
        token: str = "",
        body: Any = None,
        more: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[HTTPResponse, bytes]:
        """Send a request; return the answer and its body. Raises Undescribed if one does not fit the description."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        content = None
        if body is not None:
            content, headers["Content-Type"] = msgspec.json.encode(body), "application/json"
        self._connection.request(method, path, content, {**headers, **more})
        answer = self._connection.getresponse()
        data = answer.read()
        self.description.asked(method, path, body)
        self.description.answered(method, path, answer.status, dict(answer.getheaders()), data)
        return answer, data

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class OverHttp:
    """A match over HTTP. Each seat acts with its own token; the books are read without a token."""

    def __init__(self, client: Client, given: dict[str, Any]) -> None:
        self._client = client
        names = ("ruleset", "options", "first_dealer", "dealing", "enforcement", "stakes", "opening")
        body = {name: given[name] for name in names if given[name] is not None}
        body["adjudication"] = None
        body["players"] = [{"name": f"P{seat + 1}"} for seat in range(given["players"])]
        answer, opened = client.ask("POST", "/v1/matches", body=body)
        assert answer.status == 201, opened
        self._path, self._version = answer.headers["Location"], opened["version"]
        self._tokens: dict[int | str, str] = {seat["seat"]: seat["token"] for seat in opened["seats"]}
        self._tokens["official"] = opened["official_token"]
        self._has_pot = given["ruleset"] == "rams-english"

    def _post(self, call: str, actor: int | str, body: dict[str, Any]) -> Any:
        answer, data = self._client.ask("POST", f"{self._path}/{call}", self._tokens[actor], body)
        if answer.status != 201:
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert answer.status in (409, 422), data
            raise Refusal(data.get("rule"), answer.status == 409)
        self._version = data["version"]
        return data

    def act(self, actor: int | str, body: dict[str, Any]) -> None:
        self._post("acts", actor, body)

    def knock(self, actor: int | str, body: dict[str, Any]) -> dict[str, Any]:
        case: dict[str, Any] = self._post("knocks", actor, body)
        return case

    def _get(self, call: str, actor: int | str | None = None) -> Any:
        token = "" if actor is None else self._tokens[actor]
        answer, body = self._client.ask("GET", f"{self._path}/{call}", token)
        assert answer.status == 200, body
        return body

    def legal(self, actor: int | str) -> list[dict[str, Any]]:
        acts: list[dict[str, Any]] = self._get(f"legal-acts?seat={actor}", actor)
        return acts

    def _book(self, name: str) -> dict[str, Any]:
        book: dict[str, Any] = self._get(f"{name}?min_version={self._version}")
        return book

    def _pot(self) -> dict[str, Any]:
        """Return the pot, after a check that its entries add up to its contents."""
        pot = self._book("pot")
        contents = pot["opening"]
        closed = [pot["closed"]] if pot["closed"] else []
        for line in [*pot["lines"], *closed]:
            assert line["before"] == contents
            contents += sum(entry["units"] for entry in line["entries"])
            assert line["after"] == contents
        assert pot["contents"] == contents
        return pot

    def _settled(self, received: list[int]) -> None:
        """Check that each seat's amount is the sum of its lines, and of the payments."""
        body = self._book("settlement")
        assert (body["status"], body["sum"]) == ("final", 0)
        assert [seat["amount"] for seat in body["seats"]] == received
        assert all(sum(line["amount"] for line in seat["lines"]) == seat["amount"] for seat in body["seats"])
        assert sum(received) + body["pot"] == 0
        paid = [0] * len(received)
        for one in body["payments"]:
            paid[one["from"]] -= one["amount"]
            paid[one["to"]] += one["amount"]
        assert paid == received or (self._has_pot and body["payments"] == [])

    def line(self) -> dict[str, Any] | None:
        protocol = self._book("protocol")
        if not protocol["lines"]:
            return None
        line: dict[str, Any] = protocol["lines"][-1]
        assert line["points"] == protocol["points"]
        if self._has_pot:
            pot = self._pot()
            assert pot["lines"][-1]["event"] == line["event"]
            line |= {"pot_before": pot["lines"][-1]["before"], "pot": pot["contents"]}
        return line

    def read_all(self) -> None:
        """Send every read about the match, as a spectator and with each token."""
        at, own, description = f"at={self._version}", f"min_version={self._version}", self._client.description
        for actor, token in [("spectator", ""), *self._tokens.items()]:
            for call in ("", f"/replay?{at}", f"/events?limit=1000&{own}", f"/protocol?{own}", f"/knocks?{own}"):
                answer, body = self._client.send("GET", f"{self._path}{call}", token)
                assert answer.status == 200, body
            for case in msgspec.json.decode(body)["items"][:1]:
                self._client.send("GET", f"{self._path}/knocks/{case['case']}?{own}", token)
            if actor != "spectator":
                self._client.send("GET", f"{self._path}/legal-acts", token)
            self._client.send("GET", f"{self._path}/replay?at=1", token)
            answer, body = self._client.send("GET", f"{self._path}/events", token, more={"Accept": NDJSON})
            for line in body.splitlines():
                description.shape("EventSeen", msgspec.json.decode(line))
        deals = len(self._book("protocol")["lines"])
        for deal in {1, deals} if deals else ():
            for media_type in ("application/json", "text/plain"):
                self._client.send("GET", f"{self._path}/deals/{deal}?{own}", more={"Accept": media_type})
        self._client.send("GET", f"{self._path}/settlement?{own}")
        for book in ("protocol", "pot"):
            for media_type in ("application/json", "text/csv"):
                self._client.send("GET", f"{self._path}/{book}?{own}", more={"Accept": media_type})

    def end(self) -> dict[str, Any] | None:
        protocol = self._book("protocol")
        if not protocol["over"]:
            return None
        books = {name: protocol[name] for name in ("winner", "winners", "points", "settlement")}
        if self._has_pot:
            pot = self._pot()
            drawn = {entry["seat"]: -entry["units"] for entry in pot["closed"]["entries"]}
            shares = [drawn.get(seat, 0) for seat in range(len(protocol["players"]))]
            assert shares == protocol["closing"]["change"]
            books |= {"balances": protocol["points"], "final_pot": pot["closed"]["before"]}
            books |= {"shares": shares, "pot": pot["contents"]}
        if protocol["settlement"] is not None:
            self._settled(protocol["settlement"])
        return {**books, "by": protocol["won_by"]}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    path: Path = tmp_path_factory.mktemp("conformance")
    with served(f"sqlite:///{path}/knacka.db") as address:
        client = Client(address)
        yield client
        client.close()


def share(one_in: int) -> list[dict[str, Any]]:
    """Return every n-th match of all rulesets; all matches with ``READ_EVERY=1``."""
    return GIVEN[:: int(os.environ.get("READ_EVERY", one_in))]


@pytest.mark.parametrize("given", share(8), ids=lambda given: f"{given['ruleset']}-{given['seed']}")
def test_every_step_agrees(client: Client, given: dict[str, Any]) -> None:
    assert play(OverHttp(client, given), given) == []


@pytest.mark.parametrize("given", share(20), ids=lambda given: f"{given['ruleset']}-{given['seed']}")
def test_all_that_is_read_is_as_described(client: Client, given: dict[str, Any]) -> None:
    """Every caller reads the match in the middle and after its end."""
    match = OverHttp(client, given)
    half = {**given, "steps": given["steps"][: len(given["steps"]) // 2], "end": None}
    assert play(match, half) == []
    match.read_all()
    assert play(match, {**given, "steps": given["steps"][len(half["steps"]) :]}) == []
    match.read_all()
    read = ["/v1/rulesets", "/v1/matches", "/v1/matches?limit=1&status=over", "/health/live", "/health/ready"]
    for path in [*read, *(f"/v1/rulesets/{given['ruleset']}{more}" for more in ("", "/rules"))]:
        answer, _ = client.send("GET", path)
        assert answer.status == 200
