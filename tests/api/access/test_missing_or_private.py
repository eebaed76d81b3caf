"""A match that the caller may not see gets the same answer as a missing match, with the same work."""

from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from api.runtime.service import Service
from tests.support.service_in_memory import Client
from tests.support.stored_clubs import Club, Placed

CALLS: list[tuple[str, str, Any]] = [
    ("GET", "", None),
    ("GET", "/events", None),
    ("GET", "/protocol", None),
    ("GET", "/events/stream?ticket=guessed-by-a-stranger", None),
    ("POST", "/acts", {"act": "bid", "seat": 0, "bid": "pass"}),
    ("POST", "/knocks", {"seat": 0, "accused": 1}),
]


class Watched:
    """A service with a private match in memory, and a record of every read of its store."""

    def __init__(self, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
        app: Any = client.app
        service: Service = app.state.service
        self.client, self.club, self.reads = client, Club(service.desk), list[UUID]()
        self.match = Placed(service.desk, self.club.opened("private", players=3))
        get = service.desk.get

        def read(aggregate_id: UUID, **more: Any) -> Any:
            self.reads.append(aggregate_id)
            return get(aggregate_id, **more)

        monkeypatch.setattr(service.desk, "get", read)
        answer = client.get(self.match.path, headers={"Authorization": f"Bearer {self.match.tokens['official']}"})
        assert answer.status_code == 200, answer.text

    def asked(self, method: str, path: str, body: Any, shown: str | None) -> tuple[httpx.Response, int]:
        """Return the answer, and the number of reads of the store for it."""
        self.reads.clear()
        headers = {} if shown is None else {"Authorization": f"Bearer {shown}"}
        return self.client.request(method, path, json=body, headers=headers), len(self.reads)


@pytest.fixture
def watched(client: Client, monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(client, monkeypatch)


@pytest.mark.parametrize("call", CALLS, ids=lambda call: f"{call[0]} {call[1]}")
@pytest.mark.parametrize("who", ["nobody", "a wrong token", "a read key", "a member elsewhere", "another club"])
def test_a_private_match_is_answered_as_a_missing_one(watched: Watched, who: str, call: tuple[str, str, Any]) -> None:
    shown = {
        "nobody": lambda: None,
        "a wrong token": lambda: "no token of this match",
        "a read key": lambda: watched.club.key("read"),
        "a member elsewhere": lambda: watched.club.key("play", member=6),
        "another club": lambda: Club(watched.club.desk).founder,
    }[who]()
    if shown is not None:
        watched.asked("GET", "/v1/matches", None, shown)  # caches the key for both requests
    method, path, body = call
    missing, missing_reads = watched.asked(method, f"/v1/matches/{uuid4()}{path}", body, shown)
    private, private_reads = watched.asked(method, watched.match.path + path, body, shown)

    def view(answer: httpx.Response) -> tuple[int, dict[str, Any]]:
        return answer.status_code, {name: value for name, value in answer.json().items() if name != "instance"}

    assert view(private) == view(missing)
    assert private_reads == missing_reads
