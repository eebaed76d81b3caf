"""J12: Refused attempts are stored for the officials, separate from the match."""

from typing import Any

import httpx
import pytest

from referee.actors import actor_at
from tests.projections.follower_driver import until
from tests.support.match_client import Table
from tests.support.running_service import served
from tests.support.service_in_memory import Client

pytestmark = [pytest.mark.rule("J12")]

HOUSE: dict[str, Any] = {"dealing": "house", "enforcement": "refuse"}


def attempts(table: Table, query: str = "", who: str = "official") -> list[dict[str, Any]]:
    answer = table.get(f"/attempts{query}", who)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["items"]
    return found


def dealt_on(client: Any) -> Table:
    table = Table(client, **HOUSE)
    table.done("deal", 0)
    return table


@pytest.fixture
def house(either_client: Client) -> Table:
    """Return a match after the deal: seat 1 bids next."""
    return dealt_on(either_client)


def test_refused_requests_are_stored_as_attempts(house: Table) -> None:
    (*_, last) = house.get("/events", "official").json()["events"]
    assert house.send("bid", 2, bid="1").status_code == 422
    assert house.post("/acts", {"act": "bid", "seat": 1, "bid": "1"}, 0).status_code == 403
    assert house.send("cut", 1).status_code == 409
    assert house.post("/acts", {"act": "bid", "seat": 1, "bid": "1"}, 1, **{"If-Match": '"1"'}).status_code == 412
    assert house.post("/knocks", {"seat": 0, "accused": 0}, 0).status_code == 422
    assert house.post("/tokens", {"seat": 2}, 1).status_code == 403
    kept = attempts(house)
    assert [(one["actor"], one["act"], one["problem"], one["rule"]) for one in kept] == [
        ("seat:2", "bid", "/problems/out-of-turn", "B29"),
        ("seat:0", "bid", "/problems/not-your-seat", None),
        ("seat:1", "cut", kept[2]["problem"], kept[2]["rule"]),
        ("seat:1", "bid", "/problems/stale", None),
        ("seat:0", "knock", "/problems/knocks-on-oneself", kept[4]["rule"]),
        ("seat:1", "issue_token", "/problems/for-officials", None),
    ]
    for number, one in enumerate(kept, 1):
        assert (one["number"], one["version"], one["head"], one["count"]) == (number, 2, last["hash"], 1)
    assert [one["prev"] for one in kept] == ["0" * 64, *(one["hash"] for one in kept[:-1])]
    assert house.version() == 2, "no version counts them"


def test_neither_bodies_nor_tokens_are_kept(house: Table) -> None:
    house.post("/knocks", {"seat": 0, "accused": 0, "note": "Secretly written"}, 0, **{"Idempotency-Key": "my-key"})
    house.send("bid", 2, bid="5")
    assert len(attempts(house)) == 2
    rows = house.client.app.state.service.refused_attempts.rows(house.id, after=0, limit=10)
    text = b"".join(row.state for row in rows).decode()
    for secret in ("Secretly", "my-key", '"bid":5', *house.tokens.values()):
        assert secret not in text


def test_they_are_for_officials_alone(house: Table) -> None:
    assert house.get("/attempts").status_code == 401
    answer = house.get("/attempts", 1)
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/for-officials")
    assert attempts(house) == []


def test_accepted_and_unreadable_requests_are_not_stored_as_attempts(house: Table) -> None:
    house.bid("2")
    assert house.post("/acts", {"act": "bid"}, 2).status_code == 400
    assert house.get("/legal-acts?seat=1", 2).status_code == 403, "it only looked"
    answer = house.client.post(f"{house.path}/acts", json={"act": "bid", "seat": 1, "bid": "1"})
    assert answer.status_code == 401
    stranger = {"Authorization": "Bearer nobody"}
    assert house.client.post(f"{house.path}/acts", json={"act": "void"}, headers=stranger).status_code == 401
    assert attempts(house) == []


def test_the_act_at_which_a_batch_stops(house: Table) -> None:
    acts = [
        {"act": "bid", "seat": 1, "bid": "2"},
        {"act": "play", "seat": 1, "card": "SA"},
        {"act": "ask", "seat": 1},
    ]
    assert house.post("/acts/batch", {"acts": acts}, 1).json()["refused"]["index"] == 1
    ((one),) = attempts(house)
    assert (one["act"], one["version"], one["count"]) == ("play", 3, 1)
    acts = [{"act": "bid", "seat": 2, "bid": "pass"}, {"act": "bid", "seat": 0, "bid": "pass"}]
    assert house.post("/acts/batch", {"acts": acts}, 2).status_code == 403
    assert [one["problem"] for one in attempts(house)][1:] == ["/problems/not-your-seat"]


def test_pages(house: Table) -> None:
    for _ in range(7):
        house.send("bid", 2, bid="1")
    answer = house.get("/attempts?limit=3", "official")
    assert [one["number"] for one in answer.json()["items"]] == [1, 2, 3]
    rest = house.get(answer.links["next"]["url"].removeprefix(house.path), "official").json()
    assert [one["number"] for one in rest["items"]] == [4, 5, 6]
    last = house.get(f"/attempts?limit=3&cursor={rest['next']}", "official").json()
    assert ([one["number"] for one in last["items"]], last["next"]) == ([7], None)
    tag = house.get("/attempts", "official").headers["etag"]
    assert house.get("/attempts", "official", **{"If-None-Match": tag}).status_code == 304
    house.send("bid", 2, bid="1")
    assert house.get("/attempts", "official", **{"If-None-Match": tag}).status_code == 200


def test_a_hundred_equal_attempts_leave_few_rows(lone_client: Client) -> None:
    house = dealt_on(lone_client)
    for _ in range(100):
        house.send("bid", 2, bid="1")
    assert [one["count"] for one in attempts(house)] == [*range(1, 21), 40, 80]
    house.send("bid", 0, bid="1")
    assert attempts(house)[-1]["actor"] == "seat:0", "another is listed as before"
    counts = house.client.app.state.service.metrics.attempts
    assert counts == {"stored": 23, "counted": 78, "dropped": 0}


def test_two_services_count_in_one_stream(postgres_url: str) -> None:
    with (
        served(postgres_url) as one,
        served(postgres_url) as other,
        httpx.Client(base_url=one, timeout=10) as first,
        httpx.Client(base_url=other, timeout=10) as second,
    ):
        table = Table(first, **HOUSE)
        table.done("deal", 0)
        for turn in range(70):  # also when each service counts only its own after the first twenty
            table.client = (first, second)[turn % 2]
            assert table.send("bid", 2, bid="1").status_code == 422
            if turn < 5:
                attempts(table)
        until(lambda: attempts(table)[-1]["count"] >= 40)  # reads wait only briefly, and both services may be slow
        table.client = first
        kept = attempts(table)
        numbers = [one["number"] for one in kept]
        assert numbers == list(range(1, len(kept) + 1)), "none is lost or there twice"
        assert [one["prev"] for one in kept] == ["0" * 64, *(one["hash"] for one in kept[:-1])]
        assert [one["count"] for one in kept][:20] == list(range(1, 21))
        assert len(kept) <= 22


def test_refused_requests_in_a_case_are_stored_as_attempts(either_client: Client) -> None:
    officials = {"officials": [{"name": "Maja"}, {"name": "Nils"}]}
    table = Table(either_client, adjudication=officials)
    table.done("deal", 0, counts=[6, 6, 6])
    case = table.post("/knocks", {"seat": 0, "accused": 1, "offence": "led_out_of_turn"}, 0)
    assert (case.status_code, case.json()["verdict"]) == (201, "pending")
    ruling = {"verdict": "upheld", "standard": "undetermined", "rule": "B11", "reason": "Nobody knows"}
    tried: list[tuple[str, dict[str, Any], int | str, int]] = [
        ("/knocks/1/statements", {"seat": 2, "agrees": True, "text": "Whispered"}, 1, 403),
        ("/knocks/1/withdrawal", {"seat": 1}, 1, 403),
        ("/knocks/1/appeal", {"seat": 1, "text": "Whispered"}, 1, 409),
        ("/knocks/1/ruling", ruling, 2, 403),
        ("/knocks/1/ruling", ruling, "official:2", 422),
        ("/knocks", {"seat": 2, "offence": "misclick"}, 2, 409),
    ]
    for path, body, who, status in tried:
        answer = table.post(path, body, who)
        assert answer.status_code == status, answer.text
    looked = table.post("/knocks/1/ruling?preview=true", ruling, "official:2")
    assert looked.status_code == 422, "which is asked, and would change nothing"
    kept = [(one["actor"], one["act"]) for one in attempts(table, who="official:2")]
    names = ("statement", "withdrawal", "appeal", "ruling", "ruling", "knock")
    assert kept == list(
        zip((actor_at(who) if isinstance(who, int) else who for _, _, who, _ in tried), names, strict=True)
    )
