"""Rulings that correct the protocol, over HTTP: their results, previews and refusals."""

from typing import Any

import pytest

from tests.officials.wrong_and_right_sheets import SHEETS, X1
from tests.support.edited_stores import said
from tests.support.match_client import Table
from tests.support.match_driver import seats_and
from tests.support.service_in_memory import Client

GAMES = tuple(SHEETS)
TWO = {"officials": [{"name": "Maja"}, {"name": "Nils"}]}
KORTOXEN = "rodskagg-kortoxen"


def tally(client: Any, ruleset: str = KORTOXEN, **opening: Any) -> Table:
    """Return a new tally with two officials."""
    players = SHEETS[ruleset].players
    names = [{"name": name} for name in ("Anna", "Berit", "Cesar", "Dag")[:players]]
    asked = {"ruleset": ruleset, "players": names, "dealing": "tally", "first_dealer": players - 1, "options": {}}
    return Table(client, **{**asked, "adjudication": TWO, **opening})


def enter(table: Table, body: dict[str, Any]) -> None:
    answer = table.post("/acts", {"act": "result", **body}, 0)
    assert answer.status_code == 201, answer.text


def wrong(client: Any, ruleset: str = KORTOXEN, **opening: Any) -> Table:
    """Return a tally with a wrong first deal, and a knock of the first seat about it."""
    table = tally(client, ruleset, **opening)
    enter(table, SHEETS[ruleset].wrong)
    opened = ask(table, "", 0, {"seat": 0, "offence": "entry", "deal": 1, "result": SHEETS[ruleset].right})
    assert (opened["verdict"], opened["kind"], opened["deal"]) == ("pending", "entry", 1)
    assert opened["result"] == {"act": "result", **SHEETS[ruleset].right}
    return table


def ask(table: Table, call: str, who: int | str, body: Any, status: int = 201) -> dict[str, Any]:
    answer = table.post(f"/knocks{call}", body, who)
    assert answer.status_code == status, answer.text
    data: dict[str, Any] = answer.json()
    return data


def all_agree(table: Table) -> dict[str, Any]:
    """Let all seats agree; return the case after the last statement."""
    for seat in range(1, len(table.opened["seats"])):
        body = ask(table, "/1/statements", seat, {"seat": seat, "agrees": True})
    return body


def protocol(table: Table) -> dict[str, Any]:
    answer = table.get(f"/protocol?min_version={table.version()}")
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def ruling(verdict: str = "upheld", **more: Any) -> dict[str, Any]:
    return {"verdict": verdict, "standard": "balance_of_probabilities", "rule": "J9", **more}


def bare(entries: Any) -> Any:
    return [{name: value for name, value in one.items() if name != "events"} for one in entries]


class TestAWrongLine:
    @pytest.mark.rule("J2", "J9")
    @pytest.mark.parametrize("ruleset", GAMES)
    def test_all_agree(self, lone_client: Client, either_url: str, ruleset: str) -> None:
        """Runs on either store: the line counts as if it had been entered so, and `knacka verify` proves
        everything."""
        table, right = wrong(lone_client, ruleset), tally(lone_client, ruleset)
        enter(right, SHEETS[ruleset].right)
        was = protocol(table)["lines"][0]
        case = all_agree(table)
        assert (case["verdict"], case["rule"], case["status"]) == ("upheld", "J2", "ruled")
        body, wanted = protocol(table), protocol(right)
        (line,), (as_written,) = body["lines"], wanted["lines"]
        assert body["points"] == wanted["points"] == list(SHEETS[ruleset].points)
        for name in ("points", "before", "change", "tricks", "kind", "detail", "pot", "declarer", "contract"):
            assert line[name] == as_written[name]
        assert bare(line["entries"]) == bare(as_written["entries"])
        (once,) = line["was"]
        assert (once["case"], once["rule"], once["reason"]) == (1, "J2", "")
        assert once["line"]["points"] == was["points"]
        assert table.get().json()["points"] == body["points"]
        listed = lone_client.get("/v1/matches?fresh=true").json()["items"]
        assert {one["id"]: one["version"] for one in listed}[table.id] == table.version()
        if ruleset == "rams-english":
            assert table.get("/pot").json()["contents"] == right.get("/pot").json()["contents"]
            line["entries"] += table.get("/pot").json()["lines"][0]["entries"]
        for entry in line["entries"]:
            assert entry["events"] == [once["event"]], "the correction has all facts of the deal"
        topics = [one["event"]["topic"] for one in table.get("/events").json()["events"]]
        assert topics[-3:] == ["case/stated", "case/ruled", "protocol/corrected"]
        code, lines = said(either_url)
        assert code == 0, lines

    @pytest.mark.rule("J2", "J9")
    def test_it_waits_for_the_deal_under_way(self, lone_client: Client, either_url: str) -> None:
        """Runs on either store: the ruling comes with the act that ends the deal, by any actor."""
        table = wrong(lone_client)
        table.done("deal", 0)
        assert all_agree(table)["status"] == "pending"
        refused = ask(table, "/1/ruling", "official", ruling(), 409)
        assert (refused["type"], refused["rule"]) == ("/problems/deal-under-way", "J9")
        done = table.done("void", None)
        assert [one["event"]["topic"] for one in done["events"]] == [
            "deal/voided",
            "case/ruled",
            "protocol/corrected",
        ]
        assert protocol(table)["points"] == list(SHEETS[KORTOXEN].points)
        code, lines = said(either_url)
        assert code == 0, lines

    @pytest.mark.rule("J9")
    @pytest.mark.parametrize("ruleset", GAMES)
    def test_an_impossible_result_gets_the_same_refusal_as_the_act(self, client: Client, ruleset: str) -> None:
        sheets, table = SHEETS[ruleset], wrong(client, ruleset)
        by_act = tally(client, ruleset).post("/acts", {"act": "result", **sheets.cannot_be}, 0)
        version = table.version()
        knock = {"seat": 0, "offence": "entry", "deal": 1, "result": sheets.cannot_be}
        for call, who, body in (
            ("", 0, knock),
            ("/1/ruling", "official", ruling(remedy={"result": sheets.cannot_be})),
            ("/1/ruling?preview=true", "official", ruling(remedy={"result": sheets.cannot_be})),
        ):
            answer = table.post(f"/knocks{call}", body, who)
            assert answer.status_code == by_act.status_code
            assert answer.json()["type"] == by_act.json()["type"]
            assert answer.json()["facts"] == by_act.json()["facts"]
            assert answer.json()["facts"]["at"] == sheets.at
        assert table.version() == version

    @pytest.mark.parametrize(
        ("result", "pointer"),
        [
            ({"tricks": [9]}, "/result/tricks/0"),
            ({"trikcs": [1]}, "/result/trikcs"),
            ({"act": "score"}, "/result/act"),
            ("X", "/result"),
        ],
    )
    def test_an_unreadable_result_is_refused_with_its_pointer(
        self, client: Client, result: Any, pointer: str
    ) -> None:
        table = tally(client)
        enter(table, SHEETS[KORTOXEN].wrong)
        knock = {"seat": 0, "offence": "entry", "deal": 1, "result": result}
        body = ask(table, "", 0, knock, 400)
        assert (body["type"], body["errors"][0]["pointer"]) == ("/problems/unreadable", pointer)
        body = ask(table, "/1/ruling", "official", ruling(remedy={"result": result}), 400)
        assert body["errors"][0]["pointer"] == f"/remedy{pointer}"

    def test_the_act_may_be_named_or_not(self, client: Client) -> None:
        table = tally(client)
        enter(table, SHEETS[KORTOXEN].wrong)
        named = {"act": "result", **X1}
        body = ask(table, "", 0, {"seat": 0, "offence": "entry", "deal": 1, "result": named})
        assert body["result"] == named


class TestOffences:
    @pytest.mark.rule("J1")
    def test_an_official_knocks_for_no_seat(self, client: Client) -> None:
        table = tally(client)
        body = ask(table, "", "official", {"seat": 0, "accused": 1, "offence": "revoke"}, 403)
        assert (body["type"], body["facts"]) == ("/problems/for-seats", {"seat": 0})
        case = ask(table, "", "official", {"accused": 1, "offence": "revoke"})
        assert (case["by"], case["status"]) == ("official", "pending")


class TestTheSameLine:
    @pytest.mark.rule("J9")
    def test_a_result_that_the_line_already_shows_opens_no_case(self, client: Client) -> None:
        table = tally(client)
        enter(table, X1)
        before = protocol(table)
        same = {"seat": 0, "offence": "entry", "deal": 1, "result": X1}
        body = ask(table, "", 0, same, 409)
        assert (body["type"], body["rule"], body["facts"]) == ("/problems/line-says-so", "J9", {"deal": 1})
        assert protocol(table) == before


class TestPreview:
    @pytest.mark.rule("J9")
    def test_it_is_what_then_happens(self, lone_client: Client) -> None:
        """Runs on either store: compares lines, struck deals, points and the winner. The preview stores nothing."""
        table = wrong(lone_client)
        before, was = table.version(), protocol(table)
        sent = ruling(reason="Counted again", remedy={"result": X1})
        answer = table.post("/knocks/1/ruling?preview=true", sent, "official")
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert (table.version(), protocol(table)) == (before, was)
        ruled = ask(table, "/1/ruling", "official", sent)
        now = protocol(table)
        assert body["protocol"] == now
        assert now["points"] == list(SHEETS[KORTOXEN].points)
        (once,) = now["lines"][0]["was"]
        assert (once["case"], once["rule"], once["reason"]) == (1, "J9", "Counted again")
        happened = table.get(f"/events?after={before}", "official").json()["events"]
        assert [one["event"]["lines"] for one in body["events"][1:]] == [
            one["event"]["lines"] for one in happened[1:]
        ]
        assert [(one["event"]["topic"], one["number"]) for one in body["events"]] == [
            (one["event"]["topic"], one["number"]) for one in happened
        ]
        for name in ("verdict", "rule", "penalty", "payer", "why"):
            assert body["case"][name] == ruled[name]
        ask(table, "/1/appeal", 3, {"seat": 3})
        back = ruling("dismissed")
        foreseen = table.post("/knocks/1/ruling?preview=true", back, "official:2").json()["protocol"]
        ask(table, "/1/ruling", "official:2", back)
        assert foreseen == protocol(table)
        assert len(foreseen["lines"][0]["was"]) == 2
        assert foreseen["points"] == was["points"]

    @pytest.mark.rule("J8", "J9")
    def test_a_correction_reopens_a_match_that_was_won(self, lone_client: Client) -> None:
        table = tally(lone_client, opening={"points": [12, 12, 4, 12]})
        enter(table, {**X1, "exits": [{"seat": 2, "after": 6}]})
        assert (protocol(table)["over"], protocol(table)["winner"]) == (True, 2)
        right = {**X1, "tricks": [2, 0, 2, 2, 1, 1]}
        ask(table, "", 0, {"seat": 0, "offence": "entry", "deal": 1, "result": right})
        body = table.post("/knocks/1/ruling?preview=true", ruling(), "official").json()["protocol"]
        assert (body["over"], body["winner"], body["won_by"]) == (False, None, None)
        ask(table, "/1/ruling", "official", ruling())
        assert protocol(table) == body
        state = table.get().json()
        assert (state["phase"], state["deal"], state["provisional"]) == ("undealt", 2, False)
        listed = lone_client.get("/v1/matches?fresh=true").json()["items"]
        assert {one["id"]: one["status"] for one in listed}[table.id] == "open"
        enter(table, {**X1, "bids": [*X1["bids"][1:], {"seat": 0, "bid": "pass"}]})


class TestAnOffence:
    """An offence at a table with closed hands."""

    @pytest.fixture
    def scored(self, client: Client) -> Table:
        table = Table(client, adjudication=TWO)
        table.done("deal", 0, counts=[6, 6, 6])
        ask(table, "", 0, {"seat": 0, "accused": 1, "offence": "revoke"})
        for _ in range(80):
            state = table.get().json()
            if state["deal"] > 1:
                break
            acts = table.get("/legal-acts", state["to_act"][0]).json()
            if state["phase"] == "auction" and not state["bids"]:
                acts = [act for act in acts if act["bid"] != "pass"]
            assert table.post("/acts", acts[0], acts[0]["seat"]).status_code == 201
        return table

    @pytest.mark.rule("J3", "J7", "J9")
    def test_upheld_after_the_score_and_dismissed_on_appeal(self, scored: Table) -> None:
        before = protocol(scored)
        ruled = ask(scored, "/1/ruling", "official", ruling(rule="B42", reason="Seen by Cesar"))
        assert (ruled["payer"], ruled["penalty"]) == (1, 5)
        now = protocol(scored)
        assert now["points"] == [points + 5 * (seat == 1) for seat, points in enumerate(before["points"])]
        (once,) = now["lines"][0]["was"]
        assert (once["case"], once["rule"], once["reason"]) == (1, "B42", "Seen by Cesar")
        assert {"seat": 1, "points": 5, "rule": "B42"} in bare(now["lines"][0]["entries"])
        ask(scored, "/1/appeal", 1, {"seat": 1})
        ask(scored, "/1/ruling", "official:2", ruling("dismissed", rule="J4", reason="Cesar sat behind her"))
        after = protocol(scored)
        assert after["points"] == before["points"]
        assert [(one["rule"], one["reason"]) for one in after["lines"][0]["was"]] == [
            ("B42", "Seen by Cesar"),
            ("J4", "Cesar sat behind her"),
        ]
        assert after["lines"][0]["entries"] == before["lines"][0]["entries"]

    @pytest.mark.rule("J8")
    def test_when_the_time_is_over(self, client: Client) -> None:
        table = wrong(client, adjudication=TWO | {"correction_minutes": 0})
        table.done("abandon", None)
        body = ask(table, "/1/ruling", "official", ruling(), 409)
        assert (body["type"], body["rule"]) == ("/problems/window-closed", "J8")
        ruled = ask(table, "/1/ruling", "official", ruling(standard="beyond_reasonable_doubt"))
        assert ruled["verdict"] == "upheld"
        assert protocol(table)["points"] == list(SHEETS[KORTOXEN].points)

    @pytest.mark.rule("J9")
    def test_the_refusal_names_the_deals_that_depend_on_the_line(self, client: Client) -> None:
        table = tally(client, opening={"points": [12, 12, 9, 12]}, options={"exact_zero": False})
        enter(table, X1)
        sheet = {
            "bids": [*X1["bids"][1:], {"seat": 0, "bid": "pass"}],
            "tricks": [2] * 5,
            "exits": [{"seat": 2, "after": 5}],
        }
        enter(table, sheet | {"answers": seats_and("answer", [3, "fold"], [0, "fold"], [1, "play"])})
        ask(table, "", "official", {"accused": 2, "offence": "revoke", "deal": 1})
        body = ask(table, "/1/ruling", "official", ruling(rule="B42"), 409)
        assert (body["type"], body["facts"]) == ("/problems/line-hangs", {"deals": [2]})
        ask(table, "/1/ruling", "official", ruling(rule="B42", remedy={"strike": [2]}))
        now = protocol(table)
        assert [one["line"]["deal"] for one in now["struck"]] == [2]
        assert (now["over"], now["points"][2]) == (False, 10)
        knock = {"seat": 0, "offence": "entry", "deal": 2, "result": sheet}
        body = ask(table, "", 0, knock, 409)
        assert (body["type"], body["facts"]) == ("/problems/line-struck", {"deal": 2})
