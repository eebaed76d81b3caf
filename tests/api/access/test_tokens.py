"""A lost token: the official replaces it, and the old token is invalid in this process and in others."""

import asyncio
from pathlib import Path
from uuid import UUID

import httpx

from tests.api.http.test_problems import problem
from tests.api.http.test_readers import come_true
from tests.api.matches.test_waits import WAIT, asked, stored, waiting, with_wait
from tests.support.match_client import Table
from tests.support.running_service import served, sse
from tests.support.service_in_memory import client_of


def reissued(table: Table, seat: int) -> str:
    """Replace the token of a seat in the table; return the old token."""
    answer = table.post("/tokens", {"seat": seat}, "official")
    assert answer.status_code == 201, answer.text
    body = answer.json()
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["ETag"] == f'"{body["version"]}"'
    assert (body["match"], body["seat"], body["role"], body["version"]) == (table.id, seat, "seat", table.version())
    old, table.tokens[seat] = table.tokens[seat], body["token"]
    assert table.tokens[seat] != old
    return old


def as_(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


CALLS = ["", "/legal-acts", "/events", "/events/stream", "/protocol", "/knocks", "/replay?at=1"]


def test_the_old_one_is_refused_and_the_new_one_taken(dealt: Table) -> None:
    dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, 1, **{"Idempotency-Key": "k"})
    old = reissued(dealt, 1)
    for call in CALLS:
        answer = dealt.client.get(dealt.path + call, headers=as_(old))
        assert (answer.status_code, answer.json()["type"]) == (401, "/problems/token-unknown"), call
    for call, body in [
        ("/acts", {"act": "bid", "seat": 1, "bid": "3"}),
        ("/acts", {"act": "bid", "seat": 1, "bid": "2"}),
        ("/acts/batch", {"acts": [{"act": "bid", "seat": 1, "bid": "3"}]}),
        ("/knocks", {"seat": 1, "accused": 0}),
    ]:
        answer = dealt.client.post(dealt.path + call, json=body, headers=as_(old) | {"Idempotency-Key": "k"})
        assert answer.status_code == 401, "a repeat of its act is refused too"
    assert dealt.get("", 1).json()["viewer"] == "seat:1"
    again = dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, 1, **{"Idempotency-Key": "k"})
    assert (again.status_code, again.headers["Idempotency-Replayed"]) == (201, "true")
    dealt.bid("pass", first=2)
    assert dealt.get("", 0).json()["viewer"] == "seat:0", "the others keep theirs"
    first = dealt.tokens[1]
    assert reissued(dealt, 1) == first
    assert dealt.client.get(dealt.path, headers=as_(first)).status_code == 401


def test_a_new_token_is_an_event_and_no_answer_shows_its_hash(table: Table) -> None:
    reissued(table, 2)
    match = table.client.app.state.service.desk.get(UUID(table.id))
    for who in (0, 2, "official", None):
        answer = table.get("/events", who)
        ended, made = answer.json()["events"][-2:]
        assert (ended["event"], ended["actor"]) == ({"topic": "match/token-ended", "seat": 2}, "official")
        assert (made["event"]["topic"], made["event"]["seat"]) == ("match/token-made", 2)
        assert ended["act_number"] not in {act["number"] for act in answer.json()["acts"]}
        for body in answer.text, table.get(f"/replay?at={made['number']}", who).text:
            assert table.tokens[2] not in body
            assert match.seating.seats[2] not in body


def test_only_an_official_replaces_a_token_while_the_match_lasts(table: Table) -> None:
    for who, body, status in [
        (0, {"seat": 0}, 403),
        (None, {"seat": 0}, 401),
        ("official", {"seat": 3}, 422),
        ("official", {"seat": 9}, 400),
        ("official", {}, 422),
        ("official", {"seat": 0, "role": "watcher"}, 422),
        ("official", {"role": "dealer"}, 400),
    ]:
        assert table.post("/tokens", body, who).status_code == status, body
    stale = table.post("/tokens", {"seat": 0}, "official", **{"If-Match": '"99"'})
    assert stale.status_code == 412
    table.done("abandon", None)
    answer = table.post("/tokens", {"seat": 0}, "official")
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/match-over")


def test_it_is_good_after_a_restart_and_the_old_one_is_not(store_url: str) -> None:
    """Runs on both stores, and reads the match from its rows and from a snapshot."""
    with client_of(store_url) as client:
        table = Table(client)
        old = reissued(table, 0)
    with client_of(store_url) as table.client:
        assert table.client.get(table.path, headers=as_(old)).status_code == 401
        table.deal()


def test_the_record_of_a_finished_deal_does_not_mention_tokens(table: Table) -> None:
    table.deal()
    reissued(table, 1)
    table.finish_deal()
    assert table.get("/deals/1").status_code == 200
    text = table.get("/deals/1", Accept="text/plain")
    assert text.status_code == 200
    assert "token" not in text.text


def test_in_another_process_too(postgres_url: str) -> None:
    """The other process knows the new token at once, because it decides acts on the stored match."""
    with client_of(postgres_url) as here, client_of(postgres_url) as there:
        table = Table(here)
        table.deal()
        for turn in range(5):
            seat = (1 + turn) % 3
            assert there.get(table.path, headers=table.bearer(seat)).status_code == 200, (
                "the other process has it cached"
            )
            old = reissued(table, seat)
            bid = {"act": "bid", "seat": seat, "bid": "pass"}
            answer = there.post(table.path + "/acts", json=bid, headers=as_(old))
            assert (answer.status_code, answer.json()["type"]) == (401, "/problems/token-unknown")
            old = reissued(table, seat)
            assert there.get(table.path, headers=table.bearer(seat)).json()["viewer"] == f"seat:{seat}"
            assert there.get(table.path, headers=as_(old)).status_code == 401


def test_an_open_stream_of_the_old_one_ends(tmp_path: Path) -> None:
    with served(f"sqlite:///{tmp_path}/knacka.db") as address, httpx.Client(base_url=address, timeout=30) as client:
        table = Table(client)
        stream = f"{table.path}/events/stream"
        with (
            client.stream("GET", stream, headers=table.bearer(1)) as lost,
            client.stream("GET", stream, headers=table.bearer(2)) as other,
            client.stream("GET", stream) as anybody,
        ):
            body = [sse(answer) for answer in (lost, other, anybody)]
            for one in body:
                assert next(event for event in one if "id" in event)["topic"] == "match/opened"
            reissued(table, 1)
            table.deal()
            assert [event["topic"] for event in body[0] if "id" in event] == [], (
                "the stream ends without further events"
            )
            for one in body[1:]:
                topics = [next(event for event in one if "id" in event)["topic"] for _ in range(3)]
                assert topics == ["match/token-ended", "match/token-made", "deal/dealt"]


def test_a_long_poll_with_the_replaced_token_is_refused(sqlite_url: str) -> None:
    """Long polls with the replaced token end with 401. The other polls return the new version."""
    table = stored(sqlite_url)

    async def ask() -> None:
        async with waiting(sqlite_url, table) as (app, call):
            pages = [asked(path, 2) for path in ("/events", "")]
            lost, others = (
                [
                    asyncio.create_task(call(with_wait(page, WAIT), who, **headers))
                    for page, headers in pages
                    for who in seats
                ]
                for seats in ([1], [2, None])
            )
            await come_true(lambda: app.state.service.hub.polls == len([*lost, *others]))
            assert (await call("/tokens", "official", {"seat": 1})).status_code == 201
            for answer in await asyncio.gather(*lost):
                problem(answer, 401, "token-unknown")
            for answer in await asyncio.gather(*others):
                assert (answer.status_code, answer.json()["version"]) == (200, 4)

    asyncio.run(ask())
