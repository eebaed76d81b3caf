"""A tally over HTTP: any token of the match writes for all seats."""

from typing import Any

import pytest
from msgspec.structs import replace

from referee import notation
from referee.games import RULESETS
from tests.support.edited_stores import said
from tests.support.match_client import Table
from tests.support.match_driver import seats_and
from tests.support.service_in_memory import Client

NAMES = [{"name": name} for name in ("Anna", "Berit", "Cesar", "David")]
TALLY: dict[str, Any] = {
    "players": NAMES,
    "dealing": "tally",
    "enforcement": "penalise",
    "first_dealer": 3,
    "options": {},
}
X1: dict[str, Any] = {
    "act": "result",
    "bids": seats_and("bid", [0, "2"], [1, "pass"], [2, "3"], [3, "pass"]),
    "tricks": [2, 0, 2, 2, 1, 2],
    "answers": seats_and("answer", [3, "fold"], [1, "play"]),
}
"""Example B-X1; A-X1 is the same deal."""
NEXT = {**X1, "bids": seats_and("bid", [1, "pass"], [2, "3"], [3, "pass"], [0, "pass"])}
"""The next deal, with the same tricks as example B-X1."""
AFTER = [11, 11, 8, 12]
KNOCK = {"seat": 0, "accused": 1, "offence": "revoke"}


def tally(client: Any, **opening: Any) -> Table:
    """Return a new tally."""
    return Table(client, **{**TALLY, **opening})


def entered(table: Table, body: dict[str, Any], who: int | str = 0, **headers: str) -> list[int]:
    """Enter a deal; return the points after it."""
    answer = table.post("/acts", body, who, **headers)
    assert answer.status_code == 201, answer.text
    points: list[int] = table.get().json()["points"]
    return points


@pytest.mark.rule("B58", "B-O40")
@pytest.mark.parametrize(("who", "actor"), [(0, "seat:0"), (3, "seat:3"), ("official", "official")])
def test_a_whole_deal_from_its_score_sheet(lone_client: Client, either_url: str, who: int | str, actor: str) -> None:
    """Runs on either store: checks the line, the audit trail, the record and the text of the deal, and verifies the
    store."""
    table = tally(lone_client)
    assert entered(table, X1, who) == AFTER
    version = table.version()
    protocol = table.get(f"/protocol?min_version={version}").json()
    assert protocol["points"] == AFTER
    events = table.get("/events", "official").json()["events"]
    assert {event["actor"] for event in events} == {"official", actor}
    first = next(event for event in events if event["event"]["topic"] == "result/entered")
    assert first["event"]["result"] == X1
    assert events[-1]["event"]["topic"] == "deal/scored"
    record = table.get("/deals/1").json()
    assert [call["bid"] for call in record["bids"]] == ["2", "pass", "3", "pass"]
    assert [trick["winner"] for trick in record["tricks"]] == X1["tricks"]
    assert [answer["answer"] for answer in record["answers"]] == ["fold", "play"]
    text = table.get("/deals/1", Accept="text/plain").text
    assert "dealing   tally" in text
    body = notation.parse(text)
    assert notation.write(body) == text
    assert [done.actor for done in body.acts] == [actor]
    code, lines = said(either_url)
    assert code == 0, lines


@pytest.mark.rule("B44", "B47", "B52", "B54")
def test_act_by_act_one_token_writes_for_all(either_client: Client) -> None:
    """Runs on either store: the acts give the same result as with cards. The writer is the actor."""
    table = tally(either_client)

    def write(act: str, seat: int, **fields: Any) -> dict[str, Any]:
        answer = table.post("/acts", {"act": act, "seat": seat, **fields}, 1)
        assert answer.status_code == 201, answer.text
        done: dict[str, Any] = answer.json()
        return done

    assert table.get("/legal-acts?seat=3", 1).json() == [{"act": "deal", "seat": 3}]
    write("deal", 3)
    for call in X1["bids"]:
        write("bid", call["seat"], bid=call["bid"])
    assert table.get("/legal-acts?seat=2", 1).json() == [{"act": "trick", "seat": 2}]
    for seat in X1["tricks"][:4]:
        write("trick", seat)
    late = write("trick", 1)["events"][0]
    assert (late["event"]["topic"], late["event"]["seat"]) == ("trick/taken", 1)
    assert "breaches" not in late["event"], "the forgotten question is for officials"
    case = table.post("/knocks", {"seat": 0, "accused": 2, "offence": "fold_question"}, 1)
    assert (case.status_code, case.json()["rule"], case.json()["penalty"]) == (201, "B54", 5)
    write("trick", 2)
    write("score", 3)
    assert table.get().json()["points"] == [11, 11, 12 + 5 - 4, 12]
    events = table.get("/events", "official").json()["events"]
    assert [event["actor"] for event in events] == ["official", *["seat:1"] * (len(events) - 1)]
    text = table.get("/deals/1", Accept="text/plain").text
    assert "trick 1   P3 takes (P2)\n" in text
    assert notation.write(notation.parse(text)) == text


def test_a_repeated_result_gets_the_first_answer(either_client: Client) -> None:
    """Runs on either store."""
    table = tally(either_client)
    key = {"Idempotency-Key": "the-first-deal"}
    first, again = (table.post("/acts", X1, 0, **key) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotency-Replayed"] == "true"
    assert first.content == again.content
    assert table.get().json()["points"] == AFTER
    stale = table.post("/acts", NEXT, 0, **{"If-Match": '"1"'})
    assert stale.status_code == 412
    assert table.get().json()["points"] == AFTER


def test_several_deals_in_a_batch(client: Client) -> None:
    table = tally(client)
    answer = table.post("/acts/batch", {"acts": [X1, NEXT, X1]}, 2)
    assert (len(answer.json()["done"]), answer.json()["refused"]["index"]) == (2, 2)
    assert answer.json()["refused"]["problem"]["facts"]["at"] == "/bids/0"
    assert table.get().json()["points"] == [10, 10, 4, 12]


# Refused score sheets


def with_(**changes: Any) -> dict[str, Any]:
    """Return the first example with these changes."""
    return {**X1, **changes}


BAD: dict[str, tuple[dict[str, Any], int, str, str | None, str | None]] = {
    "a trick short": (with_(tricks=X1["tricks"][:5]), 422, "tricks-missing", "B69", "/tricks"),
    "a trick too many": (with_(tricks=[*X1["tricks"], 2]), 422, "too-many-tricks", "B69", "/tricks/6"),
    "one by who has folded": (with_(tricks=[2, 0, 2, 2, 3, 2]), 422, "has-folded", "B52", "/tricks/4"),
    "bids in the wrong order": (with_(bids=X1["bids"][::-1]), 422, "out-of-turn", "B29", "/bids/0"),
    "answers in the wrong order": (with_(answers=X1["answers"][::-1]), 422, "out-of-turn", "B47", "/answers/0"),
    "an exit not at zero": (with_(exits=[{"seat": 0, "after": 4}]), 422, "not-at-zero", "B67", "/exits/0"),
    "another ruling": (
        with_(knocks=[{**KNOCK, "accused": 2, "offence": "fold_question"}]),
        422,
        "ruling-differs",
        "B54",
        "/knocks/0",
    ),
    "of Rams": (with_(faults=[{"seat": 1, "fault": "revoke"}]), 422, "not-in-the-result", None, "/faults"),
    "of Kalabrias": (
        {"act": "result", "declarer": 0, "trumps": "H", "card_points": [162, 0], "taken": [8, 0]},
        422,
        "not-in-the-result",
        None,
        "/declarer",
    ),
    "65 knocks": (with_(knocks=[KNOCK] * 65), 400, "unreadable", None, None),
    "a note of 10,000 characters": (
        with_(knocks=[{**KNOCK, "note": "x" * 10_000}]),
        400,
        "unreadable",
        None,
        None,
    ),
    "an unknown field": (with_(weather="rain"), 400, "unreadable", None, None),
    "three counts for a seat": (with_(taken=[[1, 2, 3]]), 400, "unreadable", None, None),
    "a seat of its own": (with_(seat=0), 400, "unreadable", None, None),
}


@pytest.mark.rule("B-O40")
@pytest.mark.parametrize("body", BAD)
def test_bad_results_are_refused_whole_and_the_next_right_one_is_taken(client: Client, body: str) -> None:
    sent, status, kind, rule, at = BAD[body]
    table = tally(client)
    version = table.version()
    answer = table.post("/acts", sent, 0)
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (status, f"/problems/{kind}"), problem
    if status == 422:
        assert (problem["rule"], problem["facts"]["at"]) == (rule, at)
    assert table.version() == version
    assert len(table.get("/events", "official").json()["events"]) == version
    assert entered(table, X1) == AFTER


def test_64_knocks_are_taken(client: Client) -> None:
    table = tally(client)
    knocks = [{**KNOCK, "seat": seat % 3, "accused": 3, "upheld": False} for seat in range(60)]
    assert entered(table, with_(knocks=knocks)) == AFTER
    answer = table.post("/acts", with_(bids=NEXT["bids"], knocks=[*knocks, *knocks[:4]]), 0)
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (409, "/problems/too-many-knocks")
    assert problem["facts"]["at"] == "/knocks/60", "each may be wrong twenty times in a deal"


def test_twice_it_is_not_the_next_deal(client: Client) -> None:
    table = tally(client)
    assert entered(table, X1) == AFTER
    answer = table.post("/acts", X1, 0)
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/out-of-turn")
    assert (answer.json()["rule"], answer.json()["facts"]["at"]) == ("B29", "/bids/0")
    assert entered(table, NEXT) == [10, 10, 4, 12]


def test_not_while_a_deal_is_under_way(client: Client) -> None:
    table = tally(client)
    table.done("deal", 3)
    answer = table.post("/acts", X1, 0)
    assert (answer.status_code, answer.json()["type"]) == (409, "/problems/deal-under-way")
    assert answer.json()["facts"] == {"phase": "auction"}
    table.done("void", None)
    assert entered(table, X1) == AFTER


@pytest.mark.parametrize("dealing", ["table", "house"])
def test_a_result_is_refused_if_cards_are_entered(client: Client, dealing: str) -> None:
    table = Table(client, dealing=dealing)
    for who in (0, "official"):
        answer = table.post("/acts", X1, who)
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/not-tallied")
    answer = table.post("/acts", {"act": "deal", "seat": 0}, 1)
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/not-your-seat")
    answer = table.post("/knocks", {"seat": 1, "accused": 0}, "official")
    assert (answer.status_code, answer.json()["type"]) == (403, "/problems/for-seats")


def test_only_a_token_of_the_match_enters_a_result(client: Client) -> None:
    table, other = tally(client), tally(client)
    assert table.post("/acts", X1, None).status_code == 401
    table.tokens[0] = other.tokens[0]
    assert table.post("/acts", X1, 0).status_code == 401
    for act in ({"act": "void"}, {"act": "abandon"}):
        answer = table.post("/acts", act, 1)
        assert (answer.status_code, answer.json()["type"]) == (403, "/problems/for-officials")


# Openings


@pytest.mark.parametrize(
    ("opening", "kind"),
    [({"enforcement": "refuse"}, "tally-penalises"), ({"first_dealer": None}, "tally-needs-first-dealer")],
)
def test_a_tally_with_an_impossible_opening_is_refused(client: Client, opening: dict[str, Any], kind: str) -> None:
    body = {"ruleset": "rodskagg-alga", **TALLY, **opening}
    answer = client.post("/v1/matches", json=body)
    assert (answer.status_code, answer.json()["type"]) == (422, f"/problems/{kind}")


def test_a_game_that_has_no_score_sheet_has_no_tally(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RULESETS, "rodskagg-alga", replace(RULESETS["rodskagg-alga"], script=None))
    answer = client.post("/v1/matches", json={"ruleset": "rodskagg-alga", **TALLY})
    assert (answer.status_code, answer.json()["type"]) == (422, "/problems/no-tally")


def test_left_out_the_enforcement_is_penalise_in_a_tally_only(client: Client) -> None:
    body: dict[str, Any] = {"ruleset": "rodskagg-alga", "players": NAMES, "first_dealer": 0}
    assert client.post("/v1/matches", json=body).json()["enforcement"] == "refuse"
    assert client.post("/v1/matches", json={**body, "dealing": "tally"}).json()["enforcement"] == "penalise"


@pytest.mark.parametrize("key", ["rodskagg-alga", "rodskagg-catsatcards", "rodskagg-kortoxen"])
def test_each_game_describes_the_fields_of_its_result(client: Client, key: str) -> None:
    body = client.get(f"/v1/rulesets/{key}").json()
    fields = {"answers", "asked", "bids", "late", "taken", "tricks"}
    more = {"rodskagg-catsatcards": {"knocks"}, "rodskagg-kortoxen": {"exits", "knocks"}}
    assert set(body["result"]["properties"]) == fields | more.get(key, set())
    assert body["result"]["additionalProperties"] is False
    assert {"trick", "result"} <= set(body["acts"])
