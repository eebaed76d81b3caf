"""Score sheets of Rams and Kalabrias over HTTP: any token of the match enters them, and the books show them."""

from typing import Any

import pytest

from referee import notation
from tests.support.match_client import Table
from tests.support.match_driver import seats_and
from tests.support.service_in_memory import Client

JOINED = seats_and("bid", [0, "join"], [1, "join"], [2, "join"], [3, "join"])
RAMS = {"bids": JOINED, "tricks": [0, 1, 0, 2, 2]}
"""Example D-X1."""
KALABRIAS = {
    "declarer": 0,
    "trumps": "S",
    "card_points": [58, 41],
    "taken": [5, 4],
    "sequences": [{"seat": 0, "cards": 3, "top": "Q", "trumps": False}],
}
"""Example E-X1."""


def tallied(client: Client, ruleset: str, players: int, **opening: Any) -> Table:
    """Open a tally in which the last seat deals."""
    asked = {"ruleset": ruleset, "dealing": "tally", "first_dealer": players - 1, "options": {}}
    names = [{"name": name} for name in ("Anna", "Berit", "Cesar", "Dag")[:players]]
    return Table(client, **asked, players=names, **opening)


def code_of(problem: dict[str, Any]) -> str:
    return str(problem["type"]).rpartition("/")[2].replace("-", "_")


@pytest.mark.rule("D-X1")
def test_a_deal_of_rams_entered_whole_by_anyone(client: Client) -> None:
    t = tallied(client, "rams-english", 4)
    answer = t.post("/acts", {"act": "result", **RAMS}, 2)
    assert answer.status_code == 201, answer.text
    topics = [one["event"]["topic"] for one in answer.json()["events"]]
    assert topics[:3] == ["result/entered", "pot/staked", "deal/dealt"]
    assert topics[-1] == "deal/scored"
    line = t.get("/protocol", 0).json()["lines"][-1]
    assert (line["points"], line["tricks"]) == ([2, 1, 2, -10], [2, 1, 2, 0])
    assert t.get("/pot", 0).json()["contents"] == 5


@pytest.mark.rule("D-X1", "D71")
def test_the_same_deal_of_rams_act_by_act(client: Client) -> None:
    t = tallied(client, "rams-english", 4)
    scribe = 1
    for body in (
        {"act": "deal", "seat": 3},
        *({"act": "bid", **bid} for bid in JOINED),
        {"act": "exchange", "seat": 3},
        *({"act": "trick", "seat": seat} for seat in RAMS["tricks"]),
        {"act": "report", "seat": 0, "accused": 2, "fault": "not_heading"},
    ):
        assert t.post("/acts", body, scribe).status_code == 201, body
    problem = t.post("/acts", {"act": "score", "seat": 0}, scribe).json()
    assert (code_of(problem), problem["rule"], problem["facts"]["trick"]) == ("second_needed", "D71", 4)
    listed = t.get("/legal-acts?seat=2", scribe).json()
    assert [one["second"] for one in listed] == [0, 1, 3]
    for second in (3, 1):
        t.post("/acts", {"act": "trick", "seat": 2, "second": second}, scribe)
    assert t.post("/acts", {"act": "score", "seat": 0}, scribe).status_code == 201
    assert t.get(who=0).json()["points"] == [2, 2, -5, -9]


@pytest.mark.rule("E-X1")
def test_a_deal_of_kalabrias(client: Client) -> None:
    t = tallied(client, "kalabrias", 2)
    answer = t.post("/acts", {"act": "result", **KALABRIAS}, 1)
    assert [one["event"]["topic"] for one in answer.json()["events"]] == [
        "result/entered",
        "deal/counted",
        "deal/scored",
    ]
    assert t.get(who="official").json()["points"] == [78, 41]
    refused = t.send("deal", 0)
    assert (refused.status_code, code_of(refused.json()), refused.json()["rule"]) == (409, "entered_whole", "E-O41")


@pytest.mark.parametrize(
    ("ruleset", "result", "status", "code", "rule", "at"),
    [
        ("rams-english", RAMS | {"tricks": [0, 1, 0, 2]}, 422, "tricks_missing", "D3", "/tricks"),
        ("rams-english", RAMS | {"tricks": [0, 1, 0, 2, 2, 2]}, 422, "too_many_tricks", "D3", "/tricks/5"),
        ("rams-english", RAMS | {"bids": [{"seat": 0, "bid": "lie_down"}]}, 422, "single_pot", "D43", "/bids/0"),
        (
            "rams-english",
            RAMS | {"faults": [{"seat": 2, "fault": "revoke"}]},
            422,
            "second_needed",
            "D71",
            "/second/3",
        ),
        ("rams-english", {"misdeal": True, "tricks": [0]}, 422, "nothing_was_played", "D67", "/tricks"),
        ("rams-english", KALABRIAS, 422, "not_in_the_result", None, "/taken"),
        ("kalabrias", RAMS, 422, "not_in_the_result", None, "/bids"),
        ("kalabrias", KALABRIAS | {"late": [0, 0]}, 422, "not_in_the_result", None, "/late"),
        ("kalabrias", KALABRIAS | {"trumps": None}, 422, "missing_in_the_result", "E5", "/trumps"),
        (
            "kalabrias",
            KALABRIAS | {"card_points": [58, 100]},
            422,
            "card_points_do_not_add_up",
            "E33",
            "/card_points",
        ),
        ("kalabrias", KALABRIAS | {"taken": [5, 5]}, 422, "not_all_tricks", "E32", "/taken"),
        ("kalabrias", KALABRIAS | {"taken": [9, 0]}, 422, "points_without_a_trick", "E33", "/card_points/1"),
        ("kalabrias", KALABRIAS | {"declarer": 3}, 422, "no_such_seat", None, "/declarer"),
        ("kalabrias", {"kind": "redeal", "bella": 1}, 422, "nothing_was_played", "E11", "/bella"),
    ],
)
def test_an_impossible_result_stores_nothing(
    client: Client, ruleset: str, result: Any, status: int, code: str, rule: str | None, at: str
) -> None:
    """A refused call stores nothing, and the next valid call works."""
    t = tallied(client, ruleset, 4 if ruleset == "rams-english" else 2)
    before = t.version()
    answer = t.post("/acts", {"act": "result", **result}, 0)
    problem = answer.json()
    assert (answer.status_code, code_of(problem), problem.get("rule")) == (status, code, rule)
    assert problem["facts"]["at"] == at
    swedish = t.post("/acts", {"act": "result", **result}, 0, **{"Accept-Language": "sv"}).json()
    assert swedish["detail"] != problem["detail"]
    if code in ("not_in_the_result", "missing_in_the_result"):
        assert at in problem["detail"]
        assert at in swedish["detail"]
    assert t.version() == before
    right = RAMS if ruleset == "rams-english" else KALABRIAS
    assert t.post("/acts", {"act": "result", **right}, 0).status_code == 201


@pytest.mark.parametrize(("ruleset", "players", "result"), [("rams-english", 4, RAMS), ("kalabrias", 2, KALABRIAS)])
def test_the_record_of_the_deal_shows_the_result(client: Client, ruleset: str, players: int, result: Any) -> None:
    t = tallied(client, ruleset, players)
    t.post("/acts", {"act": "result", **result}, 0)
    record = t.get("/deals/1", 0).json()
    assert (record["hands"], record["turn_up"], record["score"]["kind"]) == (
        None,
        None,
        "played" if ruleset == "rams-english" else "scored",
    )
    assert 1 < record["first"] < record["last"]
    assert [{"seat": call["seat"], "bid": call["bid"]} for call in record["bids"]] == result.get("bids", [])
    text = t.get("/deals/1", 0, Accept="text/plain").text
    assert "dealing   tally" in text
    assert notation.write(notation.parse(text)) == text
    for version in range(1, t.version() + 1):
        assert t.get(f"/replay?at={version}", "official").status_code == 200
