"""Cases over HTTP: officials and their tokens, statements, rulings, appeals, and the view of each caller."""

from hashlib import sha256
from typing import Any

import pytest

from tests.api.http.test_problems import problem
from tests.conformance.description_check import Description
from tests.support.edited_stores import said
from tests.support.match_client import Table
from tests.support.match_driver import seats_and
from tests.support.service_in_memory import Client, client_of

ANNA, BERIT, CESAR = range(3)
TWO = {"officials": [{"name": "Maja"}, {"name": "Nils"}]}
REVOKE = {"seat": ANNA, "accused": BERIT, "offence": "revoke", "note": "She had a heart"}
EXPOSED, LED = (REVOKE | {"offence": offence} for offence in ("exposed_card", "led_out_of_turn"))
RULING: dict[str, Any] = {
    "verdict": "upheld",
    "standard": "balance_of_probabilities",
    "rule": "B42",
    "events": [2, 3],
    "reason": "Seen by Cesar",
}
DESCRIBED = Description()


def attended(client: Any, adjudication: Any = TWO, **opening: Any) -> Table:
    """Return a match with officials, after the deal, with closed hands."""
    table = Table(client, adjudication=adjudication, **opening)
    table.done("deal", 0, counts=[6, 6, 6])
    return table


@pytest.fixture
def heard(client: Client) -> Table:
    return attended(client)


def case(table: Table, number: int = 1, who: int | str | None = None, **headers: str) -> dict[str, Any]:
    answer = table.get(f"/knocks/{number}", who, **headers)
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


def ask(table: Table, call: str, who: int | str, body: Any, status: int = 201, **headers: str) -> dict[str, Any]:
    answer = table.post(f"/knocks{call}", body, who, **headers)
    assert answer.status_code == status, answer.text
    DESCRIBED.answered("POST", f"{table.path}/knocks{call}", status, answer.headers, answer.content)
    data: dict[str, Any] = answer.json()
    return data


def finish(table: Table) -> None:
    """Play the deal to its end. A card that was not seen is taken as right."""
    for _ in range(80):
        state = table.get().json()
        seat = state["to_act"][0]
        acts = table.get("/legal-acts", seat).json()
        if not acts or state["deal"] > 1:
            return
        if state["phase"] == "auction" and not state["bids"]:
            acts = [act for act in acts if act["bid"] != "pass"]
        assert table.post("/acts", acts[0], seat).status_code == 201


class TestOpening:
    def test_a_real_table_has_an_official_unless_it_wants_none(self, client: Client) -> None:
        body = {"ruleset": "rodskagg-kortoxen", "players": [{"name": name} for name in "ABC"]}
        table = client.post("/v1/matches", json=body | {"dealing": "table"}).json()
        assert table["adjudication"] == {
            "officials": ["official"],
            "appeal_minutes": 30,
            "correction_minutes": 30,
            "pending": "play_on",
            "take_back": False,
        }
        assert table["officials"] == [{"actor": "official", "name": "official", "token": table["official_token"]}]
        for without in ({"dealing": "table", "adjudication": None}, {}, {"dealing": "house", "adjudication": None}):
            opened = client.post("/v1/matches", json=body | without).json()
            assert (opened["adjudication"], opened["officials"]) == (None, [])
            assert opened["official_token"]
        house = client.post("/v1/matches", json=body | {"adjudication": TWO}).json()
        assert [one["actor"] for one in house["officials"]] == ["official", "official:2"]

    def test_an_official_may_bring_their_own_token(self, client: Client) -> None:
        mine = "a token that Nils has for all his matches"
        own = {"name": "Nils", "token_sha256": sha256(mine.encode()).hexdigest()}
        table = Table(client, adjudication={"officials": [{"name": "Maja"}, own]})
        assert [one["token"] is None for one in table.opened["officials"]] == [False, True]
        table.tokens["Nils"] = mine
        assert table.get("", "Nils").json()["viewer"] == "official"
        table.done("deal", 0, counts=[6, 6, 6])
        void = table.post("/acts", {"act": "void"}, "Nils").json()
        assert void["events"][0]["actor"] == "official:2"
        first = Table(client, adjudication={"officials": [own]})
        assert first.opened["official_token"] is None

    def test_two_officials_need_two_tokens(self, client: Client) -> None:
        own = {"name": "Nils", "token_sha256": "ab" * 32}
        body = {
            "ruleset": "rodskagg-kortoxen",
            "players": [{"name": name} for name in "ABC"],
            "adjudication": {"officials": [own, own]},
        }
        answer = client.post("/v1/matches", json=body)
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/same-official-token")

    @pytest.mark.parametrize(
        ("names", "code", "facts"),
        [
            (("Maja", "maja "), "same-official-name", {"name": "maja ", "places": [0, 1]}),
            (("Maja", "\u200b"), "unseen-official-name", {"place": 1}),
        ],
    )
    def test_officials_need_distinct_names(
        self, client: Client, names: tuple[str, ...], code: str, facts: Any
    ) -> None:
        body = {
            "ruleset": "rodskagg-kortoxen",
            "players": [{"name": name} for name in ("Maja", "Berit", "Cesar")],
            "adjudication": {"officials": [{"name": name} for name in names]},
        }
        answer = client.post("/v1/matches", json=body)
        assert (answer.status_code, answer.json()["type"]) == (422, f"/problems/{code}")
        assert answer.json()["facts"] == facts

    @pytest.mark.parametrize(
        "wrong",
        [
            {"officials": []},
            {"officials": [{"name": "N"}] * 10},
            {"officials": [{"name": " "}]},
            {"officials": [{"name": "Nils", "token_sha256": "AB" * 32}]},
            {"appeal_minutes": -1},
            {"correction_minutes": 10_081},
            {"pending": "wait"},
            {"jury": True},
        ],
    )
    def test_unreadable_officials_are_refused_with_their_pointer(self, client: Client, wrong: Any) -> None:
        body = {"ruleset": "kalabrias", "players": [{"name": "A"}, {"name": "B"}], "adjudication": wrong}
        answer = client.post("/v1/matches", json=body)
        assert (answer.status_code, answer.json()["type"]) == (400, "/problems/unreadable")
        assert answer.json()["errors"][0]["pointer"].startswith("/adjudication/")

    def test_a_key_gives_the_same_tokens_to_all_officials(self, client: Client) -> None:
        body = {"ruleset": "kalabrias", "players": [{"name": "A"}, {"name": "B"}], "adjudication": TWO}
        key = {"Idempotency-Key": "0f8f3b1e-officials-of-one-match"}
        first, again = (client.post("/v1/matches", json=body, headers=key) for _ in range(2))
        assert first.json() == again.json()
        assert again.headers["Idempotency-Replayed"] == "true"
        own = {"officials": [{"name": "Maja", "token_sha256": "cd" * 32}]}
        other = client.post("/v1/matches", json=body | {"adjudication": own}, headers=key)
        assert (other.status_code, other.json()["type"]) == (422, "/problems/key-reused")

    @pytest.mark.parametrize("who", ["official", "official:2"])
    def test_all_officials_see_all(self, heard: Table, who: str) -> None:
        seen = heard.get("", who).json()
        assert (seen["viewer"], seen["adjudication"]["officials"]) == ("official", ["Maja", "Nils"])
        assert seen["breaches"] == []
        opened = heard.get("/events", who).json()["events"][0]
        assert "prev" in opened
        assert opened["event"]["official"] == ""
        assert opened["event"].get("officials", []) == []


class TestACase:
    @pytest.mark.rule("J1", "J2", "J3", "J7")
    def test_from_the_knock_to_the_last_word(self, either_client: Client) -> None:
        """Runs on either store: knock, statements, ruling, appeal, second ruling."""
        table = attended(either_client)
        opened = ask(table, "", ANNA, REVOKE)
        assert (opened["verdict"], opened["status"], opened["rule"]) == ("pending", "pending", "J1")
        assert (opened["by"], opened["seat"], opened["payer"], opened["penalty"]) == (f"seat:{ANNA}", ANNA, BERIT, 0)
        assert opened["why"] == ("Open: Anna says that Berit revoked. Officials rule on it, or it is agreed (J1).")
        denied = ask(table, "/1/statements", BERIT, {"seat": BERIT, "agrees": False, "text": "I had none"})
        assert [one["seat"] for one in denied["statements"]] == [BERIT]
        ruled = ask(table, "/1/ruling", "official", RULING)
        assert (ruled["verdict"], ruled["status"], ruled["rule"], ruled["penalty"]) == ("upheld", "ruled", "B42", 5)
        assert ruled["why"] == "Upheld by Maja: Berit revoked (B42) and goes up five. Anna knocked."
        assert ruled["appeal_until"]
        assert table.get().json()["penalties"] == [0, 5, 0]
        appealed = ask(table, "/1/appeal", BERIT, {"seat": BERIT, "text": "He sits behind me"})
        assert (appealed["status"], appealed["verdict"]) == ("appealed", "upheld")
        last = ask(table, "/1/ruling", "official:2", RULING | {"verdict": "dismissed", "rule": "J4"})
        assert (last["status"], last["verdict"], last["appeal_until"]) == ("final", "dismissed", None)
        assert [one["official"] for one in last["rulings"]] == ["official", "official:2"]
        assert table.get().json()["penalties"] == [0, 0, 0]
        assert case(table, 1, "official") == last
        assert table.get("/knocks", "official").json()["items"] == [last]
        topics = [one["event"]["topic"] for one in table.get("/events").json()["events"][-7:]]
        assert topics == [
            "case/opened",
            "case/stated",
            "case/ruled",
            "penalty/imposed",
            "case/appealed",
            "case/ruled",
            "penalty/imposed",
        ]

    @pytest.mark.rule("J2")
    def test_a_case_is_upheld_if_the_paying_seat_agrees(self, heard: Table) -> None:
        ask(heard, "", ANNA, REVOKE)
        ruled = ask(heard, "/1/statements", BERIT, {"seat": BERIT, "agrees": True})
        assert (ruled["verdict"], ruled["rulings"][0]["standard"]) == ("upheld", "agreed_facts")
        assert ruled["rulings"][0]["official"] is None
        swedish = case(heard, 1, **{"Accept-Language": "sv"})["why"]
        assert swedish.startswith("Bifalls av domaren, eftersom man var överens: Berit lät bli")

    def test_the_referee_s_own_rulings_are_cases_as_before(self, heard: Table) -> None:
        ruled = ask(heard, "", ANNA, {"seat": ANNA, "accused": BERIT, "offence": "exit_knock"})
        assert (ruled["verdict"], ruled["reason"], ruled["status"]) == ("dismissed", "nothing", "ruled")
        assert case(heard) == ruled
        appealed = ask(heard, "/1/appeal", ANNA, {"seat": ANNA})
        assert appealed["status"] == "appealed"
        upheld = ask(heard, "/1/ruling", "official", RULING)
        assert (upheld["verdict"], upheld["reason"], upheld["penalty"]) == ("upheld", None, 5)

    @pytest.mark.rule("J1")
    def test_a_knock_for_the_same_joins_the_case(self, heard: Table) -> None:
        """The answer is the open case. The knock becomes a statement in it."""
        ask(heard, "", ANNA, REVOKE)
        joined = ask(heard, "", CESAR, REVOKE | {"seat": CESAR, "note": "A small one"})
        assert (joined["case"], joined["verdict"], joined["status"]) == (1, "pending", "pending")
        (said,) = joined["statements"]
        assert (said["seat"], said["agrees"], said["knocked"], said["text"]) == (CESAR, True, True, "A small one")
        assert len(heard.get("/knocks").json()["items"]) == 1
        problem(heard.post("/knocks/1/withdrawal", {"seat": ANNA}, ANNA), 409, "others-knocked")

    @pytest.mark.rule("J1", "J3")
    def test_a_decided_error_opens_no_second_case(self, heard: Table) -> None:
        """The answer says nothing about the accused. It names the case with the ruling."""
        ask(heard, "", ANNA, REVOKE)
        ask(heard, "/1/ruling", "official", RULING | {"verdict": "dismissed", "standard": "undetermined"})
        again = ask(heard, "", CESAR, REVOKE | {"seat": CESAR})
        assert (again["reason"], again["of"], again["offence"]) == ("again", 1, None)
        assert again["why"] == (
            "Dismissed: case 1 already decides about the error that Cesar knocked for. "
            "An error of Berit is punished at most once (J1)."
        )

    @pytest.mark.rule("J3")
    def test_the_preview_the_file_and_the_refusal_name_the_earlier_punishment(self, heard: Table) -> None:
        ask(heard, "", ANNA, REVOKE)
        ask(heard, "/1/ruling", "official", RULING)
        ask(heard, "", "official", {"accused": BERIT, "offence": "revoke"})
        said = "This error is already punished in case 1. For a further error, name the events that show it."
        for query in ("", "?preview=true"):
            refused = problem(heard.post(f"/knocks/2/ruling{query}", RULING, "official"), 409, "punished-already")
            assert refused["detail"] == said
        upheld = heard.get("/knocks/2/file", "official").json()["form"]["outcomes"][0]
        assert upheld["refused"]["detail"] == said
        agreed = heard.post("/knocks/2/statements", {"seat": BERIT, "agrees": True}, BERIT)
        assert problem(agreed, 409, "punished-already")["facts"] == {"case": 1}

    def test_an_official_knocks(self, heard: Table) -> None:
        opened = ask(heard, "", "official:2", {"accused": BERIT, "offence": "exposed_card", "note": "Seen"})
        assert (opened["by"], opened["seat"]) == ("official:2", None)
        assert opened["why"].startswith("Open: Nils says that Berit")
        withdrawn = ask(heard, "/1/withdrawal", "official:2", {})
        assert (withdrawn["verdict"], withdrawn["status"]) == ("withdrawn", "withdrawn")

    def test_a_preview_stores_nothing(self, heard: Table) -> None:
        ask(heard, "", ANNA, REVOKE)
        before = heard.version()
        answer = heard.post("/knocks/1/ruling?preview=true", RULING, "official")
        assert answer.status_code == 200
        body = answer.json()
        assert (body["version"], heard.version()) == (before, before)
        assert [one["event"]["topic"] for one in body["events"]] == ["case/ruled", "penalty/imposed"]
        assert (body["case"]["verdict"], body["case"]["penalty"], body["case"]["version"]) == ("upheld", 5, before)
        assert case(heard)["status"] == "pending"
        stale = heard.post("/knocks/1/ruling?preview=true", RULING, "official", **{"If-Match": '"1"'})
        assert stale.status_code == 412
        ruled = ask(heard, "/1/ruling", "official", RULING)
        for name in ("verdict", "rule", "penalty", "payer", "why"):
            assert ruled[name] == body["case"][name]

    def test_a_preview_is_refused_as_the_ruling_would_be(self, heard: Table) -> None:
        ask(heard, "", ANNA, REVOKE)
        wrong = RULING | {"standard": "undetermined"}
        body = [heard.post(f"/knocks/1/ruling{query}", wrong, "official").json() for query in ("", "?preview=true")]
        assert body[0] == body[1]
        assert body[0]["type"] == "/problems/undetermined-dismisses"

    def test_a_precedent_must_be_a_ruled_case(self, heard: Table, client: Client) -> None:
        """Earlier rulings are from this or a different match, by officials or by the referee. A pending case has
        none."""
        other = attended(client)
        for table in (heard, other):
            ask(table, "", ANNA, REVOKE)
        ask(other, "", ANNA, {"seat": ANNA, "accused": BERIT, "offence": "fold_question"})
        nowhere = {"match": "0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5c", "case": 1}
        known, before = {"match": other.id, "case": 2}, heard.version()
        for strange in (nowhere, {"match": other.id, "case": 1}, {"match": other.id, "case": 3}):
            for query in ("", "?preview=true"):
                body = ask(heard, f"/1/ruling{query}", "official", RULING | {"precedents": [known, strange]}, 422)
                assert body["type"] == "/problems/no-such-precedent"
                assert body["facts"] == {"at": "/precedents/1"} | strange
        assert heard.version() == before
        ask(other, "/1/ruling", "official", RULING)
        follows = [known, {"match": other.id, "case": 1}]
        ruled = ask(heard, "/1/ruling", "official", RULING | {"precedents": follows})
        assert ruled["rulings"][0]["precedents"] == follows

    def test_a_repeat_is_answered_and_not_done_twice(self, heard: Table) -> None:
        ask(heard, "", ANNA, REVOKE)
        key = {"Idempotency-Key": "once"}
        first, again = (ask(heard, "/1/ruling", "official", RULING, **key) for _ in range(2))
        assert first == again
        assert heard.get().json()["penalties"] == [0, 5, 0]
        ask(heard, "/1/appeal", BERIT, {"seat": BERIT})
        assert ask(heard, "/1/ruling", "official", RULING, **key) == first

    def test_the_record_of_a_deal_lists_its_cases(self, heard: Table) -> None:
        ask(heard, "", ANNA, REVOKE)
        finish(heard)
        deal = heard.get("/deals/1")
        assert deal.status_code == 200
        assert [one["case"] for one in deal.json()["knocks"]] == [1]
        text = heard.get("/deals/1", Accept="text/plain").text
        assert 'knock     P1 on P2 revoke: pending by J1 "She had a heart"' in text


class TestVisibilityOfTexts:
    def test_texts_are_the_writer_s_and_the_officials_until_the_deal_is_over(self, heard: Table) -> None:
        ask(heard, "", ANNA, REVOKE)
        ask(heard, "/1/statements", BERIT, {"seat": BERIT, "agrees": False, "text": "I had none"})
        ask(heard, "/1/ruling", "official", RULING)

        def texts(who: int | str | None) -> tuple[str, str, str]:
            body = case(heard, 1, who)
            events = heard.get("/events?after=2", who).json()["events"]
            opened, stated, ruled = (one["event"] for one in events[:3])
            by_case = (body["note"], body["statements"][0]["text"], body["rulings"][0]["reason"])
            assert by_case == (opened.get("text", ""), stated.get("text", ""), ruled.get("reason", ""))
            return by_case

        everything = ("She had a heart", "I had none", "Seen by Cesar")
        assert texts(ANNA) == ("She had a heart", "", "")
        assert texts(BERIT) == ("", "I had none", "")
        assert texts(CESAR) == texts(None) == ("", "", "")
        assert texts("official") == texts("official:2") == everything
        finish(heard)
        assert texts(CESAR) == texts(None) == everything

    def test_the_rest_all_see_at_once(self, heard: Table) -> None:
        ask(heard, "", ANNA, REVOKE)
        ruled = ask(heard, "/1/ruling", "official", RULING)
        for who in (ANNA, BERIT, CESAR, None):
            body = case(heard, 1, who)
            for name in ("verdict", "accused", "payer", "penalty", "rule", "rests_on", "status", "appeal_until"):
                assert body[name] == ruled[name]


class TestRefusals:
    @pytest.fixture
    def pending(self, heard: Table) -> Table:
        ask(heard, "", ANNA, REVOKE)
        return heard

    @pytest.mark.parametrize(
        ("call", "who", "body", "status", "code"),
        [
            ("/1/statements", CESAR, {"seat": BERIT, "agrees": True}, 403, "not-your-seat"),
            ("/1/statements", "official", {"seat": BERIT, "agrees": True}, 403, "for-seats"),
            ("/1/statements", BERIT, {"seat": BERIT}, 400, "unreadable"),
            ("/1/statements", BERIT, {"seat": BERIT, "agrees": True, "text": "x" * 10_000}, 400, "unreadable"),
            ("/1/statements", BERIT, {"seat": BERIT, "agrees": True, "text": "\u0000"}, 422, "harmful-character"),
            ("/1/statements", BERIT, {"seat": BERIT, "agrees": True, "events": [1] * 65}, 400, "unreadable"),
            ("/1/statements", BERIT, {"seat": BERIT, "agrees": True, "events": [999]}, 422, "event-to-come"),
            ("/2/statements", BERIT, {"seat": BERIT, "agrees": True}, 404, "no-such-case"),
            ("/0/statements", BERIT, {"seat": BERIT, "agrees": True}, 404, "no-such-case"),
            ("/0/withdrawal", ANNA, {"seat": ANNA}, 404, "no-such-case"),
            ("/0/appeal", ANNA, {"seat": ANNA}, 404, "no-such-case"),
            ("/0/ruling", "official", RULING, 404, "no-such-case"),
            ("/1/withdrawal", CESAR, {"seat": CESAR}, 403, "not-the-opener"),
            ("/1/withdrawal", CESAR, {}, 403, "for-officials"),
            ("/1/withdrawal", "official", {}, 403, "not-the-opener"),
            ("/1/appeal", ANNA, {"seat": ANNA}, 409, "not-ruled-yet"),
            ("/1/appeal", CESAR, {"seat": CESAR}, 403, "not-a-party"),
            ("/1/ruling", ANNA, RULING, 403, "for-officials"),
            ("/1/ruling", "official", RULING | {"rule": "Z99"}, 422, "no-such-rule"),
            ("/1/ruling", "official", RULING | {"rule": "E1"}, 422, "no-such-rule"),
            ("/1/ruling", "official", {k: v for k, v in RULING.items() if k != "rule"}, 400, "unreadable"),
            ("/1/ruling", "official", RULING | {"reason": "x" * 10_000}, 400, "unreadable"),
            ("/1/ruling", "official", RULING | {"standard": "agreed_facts"}, 422, "facts-not-agreed"),
            ("/1/ruling", "official", RULING | {"remedy": {"strike": [1]}}, 409, "deal-not-scored"),
            ("/1/ruling", "official", RULING | {"remedy": {"void": True}, "verdict": "dismissed"}, 422, None),
            ("", ANNA, {"seat": ANNA, "accused": BERIT, "offence": "revoke", "deal": 1}, 422, "unfit-knock"),
            ("", ANNA, {"seat": ANNA}, 422, "unfit-knock"),
            ("", ANNA, {"accused": BERIT}, 422, "unfit-knock"),
            ("", ANNA, {"seat": ANNA, "offence": "entry", "deal": 1}, 422, "unfit-knock"),
            ("", ANNA, {"seat": ANNA, "offence": "entry", "deal": 1, "result": {}, "accused": 1}, 422, "unfit-knock"),
            ("", ANNA, {"seat": ANNA, "offence": "entry", "deal": 1, "result": {}}, 409, "deal-not-scored"),
            ("", "official", {"accused": BERIT}, 422, "unfit-knock"),
            ("", "official", {"seat": ANNA, "accused": BERIT, "offence": "revoke"}, 403, "for-seats"),
            ("", "official", {"accused": 5, "offence": "revoke"}, 422, "no-such-seat"),
            ("", "official", {"accused": BERIT, "offence": "near_zero"}, 422, "no-such-offence"),
            ("", "official", {"accused": BERIT, "offence": "revoke", "deal": 9}, 422, "deal-to-come"),
        ],
    )
    def test_each_has_its_status_and_its_problem(
        self, pending: Table, call: str, who: int | str, body: Any, status: int, code: str | None
    ) -> None:
        before = pending.version()
        data = ask(pending, call, who, body, status)
        assert data["status"] == status
        assert code is None or data["type"] == f"/problems/{code}"
        assert pending.version() == before
        assert ask(pending, "/1/ruling", "official", RULING)["verdict"] == "upheld", "the next right call works"

    def test_an_official_rules_on_a_case_once(self, pending: Table) -> None:
        ask(pending, "/1/ruling", "official", RULING)
        body = ask(pending, "/1/ruling", "official", RULING, 403)
        assert (body["type"], body["rule"]) == ("/problems/ruled-by-you", "J7")
        assert ask(pending, "/1/ruling", "official:2", RULING, 409)["type"] == "/problems/not-appealed"

    @pytest.mark.rule("J7")
    def test_after_the_window(self, client: Client) -> None:
        table = attended(client, TWO | {"appeal_minutes": 0})
        ask(table, "", ANNA, REVOKE)
        assert ask(table, "/1/ruling", "official", RULING)["status"] == "final"
        assert ask(table, "/1/appeal", BERIT, {"seat": BERIT}, 409)["type"] == "/problems/window-closed"
        assert ask(table, "/1/ruling", "official:2", RULING, 409)["type"] == "/problems/window-closed"

    def test_a_match_without_officials_has_no_one_to_ask(self, table: Table) -> None:
        table.done("deal", 0, counts=[6, 6, 6])
        assert ask(table, "", ANNA, REVOKE)["verdict"] == "dismissed"
        for call, who, body in (
            ("/1/statements", ANNA, {"seat": ANNA, "agrees": True}),
            ("/1/withdrawal", ANNA, {"seat": ANNA}),
            ("/1/appeal", ANNA, {"seat": ANNA}),
            ("/1/ruling", "official", RULING),
            ("", "official", {"accused": BERIT, "offence": "revoke"}),
            ("", ANNA, {"seat": ANNA, "offence": "entry", "deal": 1, "result": {}}),
        ):
            data = ask(table, call, who, body, 409)
            assert (data["type"], data["rule"]) == ("/problems/not-attended", "J1")

    @pytest.mark.rule("J5")
    def test_play_that_is_held(self, client: Client) -> None:
        table = attended(client, TWO | {"pending": "hold"})
        ask(table, "", ANNA, REVOKE)
        answer = table.send("bid", BERIT, bid="1")
        assert (answer.status_code, answer.json()["type"]) == (409, "/problems/held")
        assert answer.json()["facts"] == {"cases": [1]}
        assert table.get("/legal-acts", BERIT).json() == []
        assert table.get().json()["to_act"] == [], "only officials are awaited"
        ask(table, "/1/withdrawal", ANNA, {"seat": ANNA})
        assert table.get().json()["to_act"] == [BERIT]
        table.done("bid", BERIT, bid="1")


class TestTime:
    @pytest.mark.rule("J8")
    @pytest.mark.parametrize(("minutes", "provisional"), [(30, True), (0, False)])
    def test_a_win_is_provisional_while_it_may_change(self, client: Client, minutes: int, provisional: bool) -> None:
        table = Table(
            client,
            ruleset="rams-english",
            options={},
            enforcement="refuse",
            adjudication=TWO | {"correction_minutes": minutes},
        )
        assert table.get().json()["provisional"] is False
        table.done("close", None)
        answer = table.get()
        assert answer.json()["provisional"] is provisional
        assert answer.headers["ETag"].endswith('-provisional"') is provisional
        assert table.get(**{"If-None-Match": answer.headers["ETag"]}).status_code == 304
        final = table.get(**{"If-None-Match": f'"{answer.json()["version"]}"'})
        assert final.status_code == (200 if provisional else 304)

    def test_an_open_case_keeps_it_so(self, client: Client) -> None:
        table = Table(
            client,
            ruleset="rams-english",
            options={},
            adjudication=TWO | {"correction_minutes": 0, "appeal_minutes": 0},
        )
        table.done("deal", 0, counts=[5, 5, 5], turn_up="H7")
        finish(table)
        joined = {"bids": seats_and("bid", [1, "join"], [2, "join"], [0, "join"]), "tricks": [1, 2, 0, 1, 2]}
        ask(table, "", ANNA, {"seat": ANNA, "offence": "entry", "deal": 1, "result": joined})
        table.done("close", None)
        assert table.get().json()["provisional"] is True
        ask(table, "/1/ruling", "official", RULING | {"verdict": "dismissed", "rule": "J4"})
        assert table.get().json()["provisional"] is False

    def test_a_ruling_that_may_be_appealed_has_another_etag_than_a_final_one(self, heard: Table) -> None:
        ask(heard, "", ANNA, REVOKE)
        assert heard.get("/knocks").headers["ETag"].count("-") == 0
        ask(heard, "/1/ruling", "official", RULING)
        assert heard.get("/knocks").headers["ETag"].endswith('-ruled-b"')
        assert heard.get("/knocks/1").headers["ETag"].endswith('-ruled-b"')


def test_the_procedure_is_served_beside_the_games(client: Client) -> None:
    book = client.get("/v1/rulesets/adjudication/rules", headers={"Accept-Language": "sv"}).json()
    assert [rule["id"] for rule in book["rules"]] == [f"J{number}" for number in range(1, 14)]
    assert (book["title"], book["language"]) == ("Funktionärernas ordning", "sv")
    rule = client.get("/v1/rulesets/adjudication/rules/J7").json()
    assert (rule["kind"], rule["options"]) == ("procedure", ["appeal_minutes"])
    assert client.get("/v1/rulesets/adjudication/rules/B42").status_code == 404
    assert client.get("/v1/rulesets/adjudication").status_code == 404
    assert "adjudication" not in {one["ruleset"] for one in client.get("/v1/rulesets").json()}


def test_a_refusal_links_to_its_rule(heard: Table) -> None:
    answer = heard.post("/knocks", {"seat": ANNA, "offence": "entry", "deal": 1, "result": {}}, ANNA)
    assert '</v1/rulesets/adjudication/rules/J9>; rel="describedby"' in answer.headers["Link"]


def test_the_acts_of_officials_can_be_verified(either_url: str) -> None:
    """`knacka verify` decides each request again from its row and compares the books."""
    with client_of(either_url) as client:
        table = attended(client)
        ask(table, "", ANNA, REVOKE)
        ask(table, "", ANNA, EXPOSED)
        ask(table, "/2/withdrawal", ANNA, {"seat": ANNA})
        ask(table, "", CESAR, REVOKE | {"seat": CESAR})
        ask(table, "/1/statements", BERIT, {"seat": BERIT, "agrees": True})
        ask(table, "/1/appeal", BERIT, {"seat": BERIT})
        ask(table, "/1/ruling", "official:2", RULING | {"verdict": "dismissed"})
        ask(table, "", "official:2", {"accused": BERIT, "offence": "exposed_card"})
        finish(table)
        sheet = {"bids": seats_and("bid", [1, "2"], [2, "pass"], [0, "pass"]), "tricks": [1, 2, 0, 1, 1, 1]}
        ask(table, "", ANNA, {"seat": ANNA, "offence": "entry", "deal": 1, "result": sheet})
        ask(table, "/4/ruling", "official", RULING | {"verdict": "dismissed", "rule": "J4"})
        events = table.version()
    code, lines = said(either_url)
    assert (code, len(lines)) == (0, 1), lines
    assert f"{events} events" in lines[0]
