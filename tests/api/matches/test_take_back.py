"""J11 over HTTP: a take-back is requested, agreed to, or ended by a different act, and the records show it."""

from typing import Any

import pytest

from tests.support.match_client import Table
from tests.support.service_in_memory import Client

pytestmark = [pytest.mark.rule("J11")]

OPENING: dict[str, Any] = {"dealing": "house", "enforcement": "refuse", "adjudication": {"take_back": True}}
BACK = "take_back"


@pytest.fixture
def house(either_client: Client) -> Table:
    """Return a match after the deal, in which seat 1 has bid two."""
    table = Table(either_client, **OPENING)
    table.done("deal", 0)
    table.bid("2")
    return table


def problem(table: Table, seat: int) -> tuple[int, str, str]:
    answer = table.send(BACK, seat)
    body = answer.json()
    return answer.status_code, body["type"], body["rule"]


def test_all_agree(house: Table) -> None:
    assert {"act": BACK, "seat": 1} in house.get("/legal-acts", 1).json()
    assert house.get().json()["taking_back"] is None
    house.done(BACK, 1)
    assert house.get().json()["taking_back"] == {"first": 3, "last": 3, "agreed": [1], "awaited": [0, 2]}
    house.done(BACK, 2)
    (asked, done) = house.done(BACK, 0)["events"]
    assert (asked["event"]["topic"], done["event"]["topic"]) == ("act/take-back-asked", "act/taken-back")
    assert done["event"] == {"topic": "act/taken-back", "case": 1, "first": 3, "last": 3, "seat": 1}
    seen = house.get().json()
    assert (seen["bids"], seen["to_act"], seen["taking_back"], seen["version"]) == ([], [1], None, 7)
    assert house.get("/replay?at=5").json()["bids"] == [{"seat": 1, "bid": "2"}]


def test_only_the_player_of_the_last_act_may_ask_and_only_once(house: Table) -> None:
    assert problem(house, 2) == (409, "/problems/not-your-act", "J11")
    house.done(BACK, 1)
    assert problem(house, 1) == (409, "/problems/take-back-asked", "J11")
    house.bid("pass", first=2)
    assert house.get().json()["taking_back"] is None
    assert problem(house, 1) == (409, "/problems/not-your-act", "J11")
    assert house.post("/acts", {"act": BACK, "seat": 1}, 2).status_code == 403


def test_an_act_that_cannot_be_taken_back_is_refused_with_the_reason(house: Table) -> None:
    other = Table(house.client, **OPENING)
    assert problem(other, 0) == (409, "/problems/nothing-to-take-back", "J11")
    other.done("deal", 0)
    assert problem(other, 0) == (409, "/problems/seen-already", "J11")
    without = Table(house.client, dealing="house", enforcement="refuse")
    without.done("deal", 0)
    assert problem(without, 0) == (409, "/problems/no-taking-back", "J11")


def test_if_errors_stand_nothing_is_taken_back(house: Table) -> None:
    body = {"ruleset": "kalabrias", "players": [{"name": "Anna"}, {"name": "Bo"}], **OPENING}
    answer = house.client.post("/v1/matches", json=body | {"enforcement": "penalise"})
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/take-back-needs-refuse")


def test_a_repeat_is_answered_as_it_was(house: Table) -> None:
    first = [house.post("/acts", {"act": BACK, "seat": seat}, seat, **{"Idempotency-Key": "k"}) for seat in (1, 2, 0)]
    again = [house.post("/acts", {"act": BACK, "seat": seat}, seat, **{"Idempotency-Key": "k"}) for seat in (1, 2, 0)]
    assert [one.json() for one in first] == [one.json() for one in again]
    assert house.version() == 7


def test_the_record_shows_the_acts_that_were_not_taken_back(house: Table) -> None:
    for seat in (1, 2, 0):
        house.done(BACK, seat)
    house.bid("3", "pass", "pass")
    house.finish_deal(1)
    record = house.get("/deals/1").json()
    assert [(call["seat"], call["bid"]) for call in record["bids"]] == [(1, "3"), (2, "pass"), (0, "pass")]
    text = house.get("/deals/1", Accept="text/plain").text
    (bids,) = (line.split()[1:] for line in text.splitlines() if line.startswith("bids"))
    assert bids == ["P2", "3", "P3", "pass", "P1", "pass"]


def test_it_is_a_case_on_which_the_table_agreed(house: Table) -> None:
    for seat in (1, 2, 0):
        house.done(BACK, seat)
    answer = house.post("/knocks", {"seat": 0, "accused": 1}, 0)
    assert answer.json()["case"] == 2
    version = house.version()
    listed = house.get(f"/knocks?min_version={version}").json()["items"]
    assert [(case["case"], case["kind"]) for case in listed] == [(1, "misclick"), (2, "offence")]
    case = house.get("/knocks/1").json()
    assert case == listed[0]
    names = ("verdict", "status", "by", "accused", "rule", "rests_on", "penalty", "event")
    body = {name: case[name] for name in names}
    assert body == {
        "verdict": "upheld",
        "status": "final",
        "by": "seat:1",
        "accused": None,
        "rule": "J11",
        "rests_on": [3],
        "penalty": 0,
        "event": 7,
    }
    assert case["why"] == "The last act was taken back, as Berit asked (J11)."
    swedish = house.get("/knocks/1", **{"Accept-Language": "sv"}).json()
    assert swedish["why"] == "Den senaste handlingen togs tillbaka på begäran av Berit (J11)."


def knock(table: Table, who: int | str, **fields: Any) -> dict[str, Any]:
    answer = table.post("/knocks", {"offence": "misclick", **fields}, who)
    assert answer.status_code == 201, answer.text
    case: dict[str, Any] = answer.json()
    return case


@pytest.mark.rule("J2")
def test_if_the_table_did_not_agree_it_is_a_case(house: Table) -> None:
    case = knock(house, 1, seat=1, note="My finger slipped")
    assert (case["kind"], case["status"], case["named"], case["rests_on"]) == ("misclick", "pending", None, [3])
    assert case["why"].startswith("Open: Berit says that the last act was not meant.")
    for seat in (0, 2):
        body = {"seat": seat, "agrees": True}
        answer = house.post("/knocks/1/statements", body, seat)
        assert answer.status_code == 201, answer.text
    data = answer.json()
    assert (data["verdict"], data["status"], data["rulings"][0]["standard"]) == ("upheld", "final", "agreed_facts")
    said = "Upheld by the referee, for it was agreed: the act was not meant, and is taken back (J2). Berit knocked."
    assert data["why"] == said
    seen = house.get().json()
    assert (seen["bids"], seen["to_act"]) == ([], [1])
    assert [case["case"] for case in house.get(f"/knocks?min_version={house.version()}").json()["items"]] == [1]


def test_another_act_overtakes_it(house: Table) -> None:
    """A take-back that is no longer possible needs no answer."""
    knock(house, 1, seat=1)
    done = house.done("bid", 2, bid="pass")["events"]
    assert [one["event"]["topic"] for one in done] == ["auction/bid", "case/withdrawn"]
    assert done[1]["event"] == {"topic": "case/withdrawn", "case": 1, "overtaken": True}
    body = house.get(f"/knocks/1?min_version={house.version()}").json()
    assert (body["status"], body["verdict"], body["rulings"]) == ("withdrawn", "withdrawn", [])
    assert body["why"] == "Withdrawn: the act that Berit did not mean is no longer the last (J11)."
    swedish = house.get("/knocks/1", **{"Accept-Language": "sv"}).json()
    assert swedish["why"] == "Återkallat: handlingen som Berit inte avsåg är inte längre den senaste (J11)."


def test_an_official_rules_on_it(house: Table) -> None:
    knock(house, "official")
    ruling = {"verdict": "upheld", "standard": "balance_of_probabilities", "rule": "J11", "reason": "All saw it"}
    foreseen = house.post("/knocks/1/ruling?preview=true", ruling, "official")
    assert foreseen.status_code == 200, foreseen.text
    assert [one["event"]["topic"] for one in foreseen.json()["events"]] == ["case/ruled", "act/taken-back"]
    void = house.post("/knocks/1/ruling", ruling | {"remedy": {"void": True}}, "official")
    assert (void.status_code, void.json()["type"]) == (422, "/problems/remedy-for-misclick")
    assert house.post("/knocks/1/ruling", ruling, "official").json()["status"] == "final"
    assert house.get().json()["bids"] == []
    appeal = house.post("/knocks/1/appeal", {"seat": 0}, 0)
    assert (appeal.status_code, appeal.json()["type"]) == (409, "/problems/taken-back-already")


@pytest.mark.parametrize(
    ("who", "told", "status", "code"),
    [
        (1, {}, 422, "unfit-knock"),
        (1, {"seat": 1, "accused": 2}, 422, "unfit-knock"),
        (1, {"seat": 1, "result": {}}, 422, "unfit-knock"),
        (1, {"seat": 2}, 403, "not-your-seat"),
        (2, {"seat": 2}, 409, "not-your-act"),
    ],
)
def test_a_knock_for_a_misclick_with_wrong_fields_is_refused(
    house: Table, who: int, told: dict[str, Any], status: int, code: str
) -> None:
    answer = house.post("/knocks", {"offence": "misclick", **told}, who)
    assert (answer.status_code, answer.json()["type"]) == (status, f"/problems/{code}")
