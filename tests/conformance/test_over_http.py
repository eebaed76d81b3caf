"""The conformance matches once more, by a client that knows only the interface."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.api.serving import served
from tests.conformance.replay import Refusal, matches, play

GIVEN = [given for ruleset in ("rodskagg-kortoxen",) for given in matches(ruleset)]


class OverHttp:
    """The match as its seats' clients see it; the books as anybody does."""

    def __init__(self, client: httpx.Client, given: dict[str, Any]) -> None:
        self._client = client
        names = ("ruleset", "options", "first_dealer", "dealing", "enforcement", "stakes", "opening")
        body = {name: given[name] for name in names}
        body["players"] = [{"name": f"P{seat + 1}"} for seat in range(given["players"])]
        opened = client.post("/v1/matches", json=body)
        assert opened.status_code == 201, opened.text
        self._path = opened.headers["Location"]
        answer = opened.json()
        self._version = answer["version"]
        self._tokens: dict[int | str, str] = {seat["seat"]: seat["token"] for seat in answer["seats"]}
        self._tokens["official"] = answer["official_token"]

    def _headers(self, actor: int | str) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._tokens[actor]}"}

    def _post(self, call: str, actor: int | str, body: dict[str, Any]) -> Any:
        answer = self._client.post(f"{self._path}/{call}", json=body, headers=self._headers(actor))
        told = answer.json()
        if answer.status_code != 201:
            assert answer.headers["Content-Type"] == "application/problem+json"
            assert answer.status_code in (409, 422), told
            raise Refusal(told.get("rule"), answer.status_code == 409)
        self._version = told["version"]
        return told

    def act(self, actor: int | str, body: dict[str, Any]) -> None:
        self._post("acts", actor, body)

    def knock(self, actor: int | str, body: dict[str, Any]) -> dict[str, Any]:
        case: dict[str, Any] = self._post("knocks", actor, body)
        return case

    def legal(self, actor: int | str) -> list[dict[str, Any]]:
        acts: list[dict[str, Any]] = self._client.get(
            f"{self._path}/legal-acts", params={"seat": actor}, headers=self._headers(actor)
        ).json()
        return acts

    def _protocol(self) -> dict[str, Any]:
        answer = self._client.get(f"{self._path}/protocol", params={"min_version": self._version})
        assert answer.status_code == 200, answer.text
        protocol: dict[str, Any] = answer.json()
        return protocol

    def line(self) -> dict[str, Any] | None:
        protocol = self._protocol()
        if not protocol["lines"]:
            return None
        line: dict[str, Any] = protocol["lines"][-1]
        assert line["points"] == protocol["points"]
        return line

    def end(self) -> dict[str, Any] | None:
        protocol = self._protocol()
        if protocol["winner"] is None:
            return None
        names = {"winner": "winner", "by": "won_by", "points": "points", "settlement": "settlement"}
        return {name: protocol[there] for name, there in names.items()}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    path: Path = tmp_path_factory.mktemp("conformance")
    with served(f"sqlite:///{path}/knacka.db") as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


@pytest.mark.parametrize("given", GIVEN, ids=lambda given: f"{given['ruleset']}-{given['seed']}")
def test_every_step_agrees(client: httpx.Client, given: dict[str, Any]) -> None:
    assert play(OverHttp(client, given), given) == []
