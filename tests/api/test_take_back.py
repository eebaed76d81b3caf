"""J11 over HTTP: asked for, agreed to, withdrawn by another act; and what the records tell of it."""

from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from tests.api.table import Table

OPENING: dict[str, Any] = {"dealing": "house", "enforcement": "refuse", "adjudication": {"take_back": True}}
BACK = "take_back"


@pytest.fixture
def house(own_client: TestClient[Litestar]) -> Table:
    """The cards are dealt; seat 1 has bid two."""
    table = Table(own_client, **OPENING)
    table.done("deal", 0)
    table.bid(2)
    return table


def problem(table: Table, seat: int) -> tuple[int, str, str]:
    answer = table.send(BACK, seat)
    told = answer.json()
    return answer.status_code, told["type"], told["rule"]


def test_all_agree(house: Table) -> None:
    assert {"act": BACK, "seat": 1} in house.get("/legal-acts", 1).json()
    assert house.get().json()["taking_back"] is None
    house.done(BACK, 1)
    assert house.get().json()["taking_back"] == {"first": 3, "last": 3, "agreed": [1], "awaited": [0, 2]}
    house.done(BACK, 2)
    (asked, done) = house.done(BACK, 0)["events"]
    assert (asked["topic"], done["topic"]) == ("act/take-back-asked", "act/taken-back")
    assert done["event"] == {"case": 1, "first": 3, "last": 3}
    seen = house.get().json()
    assert (seen["bids"], seen["to_act"], seen["taking_back"], seen["version"]) == ([], [1], None, 7)
    assert house.get("/replay?at=5").json()["bids"] == [[1, 2]]


def test_who_may_ask_and_when(house: Table) -> None:
    assert problem(house, 2) == (409, "/problems/not-your-act", "J11")
    house.done(BACK, 1)
    assert problem(house, 1) == (409, "/problems/take-back-asked", "J11")
    house.bid("pass", first=2)
    assert house.get().json()["taking_back"] is None
    assert problem(house, 1) == (409, "/problems/not-your-act", "J11")
    assert house.post("/acts", {"act": BACK, "seat": 1}, 2).status_code == 403


def test_what_stands(house: Table) -> None:
    other = Table(house.client, **OPENING)
    assert problem(other, 0) == (409, "/problems/nothing-to-take-back", "J11")
    other.done("deal", 0)
    assert problem(other, 0) == (409, "/problems/seen-already", "J11")
    without = Table(house.client, dealing="house", enforcement="refuse")
    without.done("deal", 0)
    assert problem(without, 0) == (409, "/problems/no-taking-back", "J11")


def test_where_errors_stand_nothing_is_taken_back(house: Table) -> None:
    body = {"ruleset": "kalabrias", "players": [{"name": "Anna"}, {"name": "Bo"}], **OPENING}
    answer = house.client.post("/v1/matches", json=body | {"enforcement": "penalise"})
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/take-back-needs-refuse")


def test_a_repeat_is_answered_as_it_was(house: Table) -> None:
    first = [house.post("/acts", {"act": BACK, "seat": seat}, seat, **{"Idempotency-Key": "k"}) for seat in (1, 2, 0)]
    again = [house.post("/acts", {"act": BACK, "seat": seat}, seat, **{"Idempotency-Key": "k"}) for seat in (1, 2, 0)]
    assert [one.json() for one in first] == [one.json() for one in again]
    assert house.version() == 7


def test_the_record_tells_what_stands(house: Table) -> None:
    for seat in (1, 2, 0):
        house.done(BACK, seat)
    house.bid(3, "pass", "pass")
    house.finish_deal(1)
    record = house.get("/deals/1").json()
    assert [(call["seat"], call["bid"]) for call in record["bids"]] == [(1, 3), (2, "pass"), (0, "pass")]
    text = house.get("/deals/1", Accept="text/plain").text
    (bids,) = (line.split()[1:] for line in text.splitlines() if line.startswith("bids"))
    assert bids == ["P2", "3", "P3", "pass", "P1", "pass"]


def test_its_case_is_no_knock_s(house: Table) -> None:
    for seat in (1, 2, 0):
        house.done(BACK, seat)
    answer = house.post("/knocks", {"seat": 0, "accused": 1}, 0)
    assert answer.json()["case"] == 2
    version = house.version()
    assert [case["case"] for case in house.get(f"/knocks?min_version={version}").json()] == [2]
    assert house.get("/knocks/1").status_code == 404
    assert house.get("/knocks/2").json()["case"] == 2
