"""A repeated opening with one Idempotency-Key opens only one match, and no other caller gets its tokens."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest

from api.http import writes
from tests.support.club_client import ClubTable
from tests.support.match_client import Table
from tests.support.running_service import served
from tests.support.service_in_memory import Client, client_of

BODY: dict[str, Any] = {
    "ruleset": "rodskagg-kortoxen",
    "players": [{"name": name} for name in ("Anna", "Berit", "Cesar")],
    "options": {"deal_ritual": False, "knock_window": "next_trick"},
}
AT_ONCE = 6


def open_by(client: Any, key: str, body: Any = None, **headers: str) -> httpx.Response:
    answer: httpx.Response = client.post(
        "/v1/matches", json=BODY if body is None else body, headers={"Idempotency-Key": key} | headers
    )
    return answer


def test_a_repeat_gives_the_same_match_and_tokens(client: Client) -> None:
    key = str(uuid4())
    first = open_by(client, key)
    assert first.status_code == 201, first.text
    assert "Idempotency-Replayed" not in first.headers
    made = first.json()
    path, token = first.headers["Location"], made["seats"][0]["token"]
    assert len({made["official_token"], *(seat["token"] for seat in made["seats"])}) == 4
    abandon = client.post(
        f"{path}/acts", json={"act": "abandon"}, headers={"Authorization": f"Bearer {made['official_token']}"}
    )
    assert abandon.status_code == 201
    otherwise = dict(reversed(BODY.items())) | {"options": dict(reversed(BODY["options"].items()))}
    for body in BODY, otherwise, BODY | {"dealing": "house"}:
        again = open_by(client, key, body)
        assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")
        assert again.content == first.content, "the state at the opening"
        assert [again.headers[name] for name in ("Location", "ETag")] == [path, first.headers["ETag"]]
    assert client.get(path, headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_another_body_with_the_key_gets_no_data_of_the_match(client: Client) -> None:
    key = str(uuid4())
    first = open_by(client, key).json()
    for body in BODY | {"enforcement": "penalise"}, BODY | {"players": BODY["players"][::-1]}:
        answer = open_by(client, key, body)
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/key-reused")
        assert first["id"] not in answer.text


@pytest.mark.parametrize("first", ["nobody", "open", "other"])
def test_the_key_of_another_caller_is_refused_at_once(client: Client, first: str) -> None:
    """The first caller opened the match without a club's key, or with one."""
    club, key = ClubTable(client), str(uuid4())
    callers: dict[str, tuple[Any, dict[str, str]]] = {"nobody": (BODY, {})}
    members = [{"member": 1}, *({"member": club.join(name)} for name in ("Bo", "Cecilia"))]
    club.done("open_evening", on="2026-11-22", season="2026/27")
    for name in ("open", "other"):
        club.issue(name, "read", "open")
        callers[name] = BODY | {"club": club.id, "evening": 1, "players": members}, club.bearer(name)
    body, headers = callers.pop(first)
    made = open_by(client, key, body, **headers)
    assert made.status_code == 201, made.text
    for body, headers in callers.values():
        answer = open_by(client, key, body, **headers)
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/key-of-another")
        assert made.json()["id"] not in answer.text
        assert "Retry-After" not in answer.headers


def test_another_key_opens_another_match(client: Client) -> None:
    one, other, none = (
        open_by(client, str(uuid4())),
        open_by(client, str(uuid4())),
        client.post("/v1/matches", json=BODY),
    )
    body = [answer.json() for answer in (one, other, none)]
    assert len({match["id"] for match in body}) == 3
    assert len({seat["token"] for match in body for seat in match["seats"]}) == 9


@pytest.mark.parametrize("key", ["1", "opening-number-", "with a space in the midst", "~" * 20, "x" * 129])
def test_a_key_that_could_be_guessed_opens_nothing(client: Client, key: str) -> None:
    answer = open_by(client, key)
    assert answer.status_code == 400
    assert answer.json()["type"] in ("/problems/short-opening-key", "/problems/bad-idempotency-key")


def test_a_repeated_opening_a_day_later_does_not_return_the_tokens(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = str(uuid4())
    first = open_by(client, key)
    monkeypatch.setattr(writes, "REPEATED_FOR", timedelta(0))
    answer = open_by(client, key)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/opening-key-expired")
    assert first.json()["id"] not in answer.text


def test_a_refused_opening_does_not_use_up_the_key(client: Client) -> None:
    key = str(uuid4())
    assert open_by(client, key, BODY | {"options": {"colour": "red"}}).status_code == 422
    assert open_by(client, key).status_code == 201


def test_a_repeat_after_a_restart_gives_the_same_match(store_url: str) -> None:
    key = str(uuid4())
    with client_of(store_url) as client:
        first = open_by(client, key)
    with client_of(store_url) as client:
        assert open_by(client, key).content == first.content
        assert open_by(client, key, BODY | {"first_dealer": 1}).status_code == 422


def test_two_processes_at_once_open_one_match(store_url: str) -> None:
    """Both processes get several openings at the same moment. Each makes one match and has one answer."""
    with (
        served(store_url) as one,
        served(store_url) as other,
        httpx.Client(base_url=one, timeout=30) as first,
        httpx.Client(base_url=other, timeout=30) as second,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        for _ in range(4):
            key = str(uuid4())
            asked = [pool.submit(open_by, (first, second)[turn % 2], key) for turn in range(AT_ONCE)]
            answers = [one.result() for one in asked]
            assert {answer.status_code for answer in answers} == {201}, [answer.text for answer in answers]
            assert len({answer.content for answer in answers}) == 1
            assert ["Idempotency-Replayed" in answer.headers for answer in answers].count(False) == 1
        assert len(first.get("/v1/matches?fresh=true").json()["items"]) == 4


def test_a_token_that_was_replaced_stays_so(client: Client) -> None:
    key = str(uuid4())
    table = Table.__new__(Table)
    made = open_by(client, key).json()
    table.client, table.path = client, f"/v1/matches/{made['id']}"
    table.tokens = {"official": made["official_token"], 0: made["seats"][0]["token"]}
    assert table.post("/tokens", {"seat": 0}, "official").status_code == 201
    assert open_by(client, key).json()["seats"][0]["token"] == table.tokens[0], "the answer is the same"
    assert table.get("", 0).status_code == 401, "but it is good for nothing"


def test_neither_key_nor_tokens_lie_in_the_store(tmp_path: Path) -> None:
    key, file = str(uuid4()), tmp_path / "knacka.db"
    with client_of(f"sqlite:///{file}") as client:
        made = open_by(client, key).json()
        response = client.get(
            f"/v1/matches/{made['id']}/events", headers={"Authorization": f"Bearer {made['official_token']}"}
        )
        assert key not in response.text
    with sqlite3.connect(file) as connection:
        (secret,) = connection.execute("SELECT secret FROM stored_secret").fetchone()
    assert len(secret) == 32
    for stored in tmp_path.iterdir():
        for secret in key, made["official_token"], *(seat["token"] for seat in made["seats"]):
            assert secret.encode() not in stored.read_bytes()
