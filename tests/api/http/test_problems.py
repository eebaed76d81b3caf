"""Every bad input has a status and a problem of its own, says what would be right, and changes nothing."""

import ast
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.access.tokens import LOGGED_MAX, LOGGED_SECONDS, RefusedTokens
from api.http.headers import WEIGHTED_NAMES_MAX, language_of, prefers
from api.http.problems import REASONS, TEXTS
from api.http.request_ids import request_ids
from referee.games import RULESETS
from referee.sentences import fact_names
from tests.support.databases import running_postgres
from tests.support.match_client import HANDS, KORTOXEN, Table
from tests.support.paths import ROOT
from tests.support.service_in_memory import Client, client_of

PLAYERS = [{"name": name} for name in ("Anna", "Berit", "Cesar")]


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Return the problem in an answer. Assert that it is this one and complete."""
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    document: dict[str, Any] = answer.json()
    assert (answer.status_code, document["status"], document["type"]) == (status, status, f"/problems/{code}")
    assert document["title"]
    assert document["detail"]
    assert document["instance"] == f"{answer.request.url.path}#request={answer.headers['x-request-id']}"
    return document


class TestCredentials:
    def test_without_a_token_one_only_looks_on(self, dealt: Table) -> None:
        answer = dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, None)
        problem(answer, 401, "token-missing")
        assert answer.headers["www-authenticate"].startswith("Bearer")

    @pytest.mark.parametrize("header", ["Basic eDp5", "Bearer", "Bearer ", ""])
    def test_anything_but_a_bearer_token(self, dealt: Table, header: str) -> None:
        problem(dealt.get(Authorization=header), 401, "token-missing")

    def test_a_token_of_another_match(self, dealt: Table, client: Client) -> None:
        other = Table(client)
        for page in ("", "/events", "/legal-acts", "/replay?at=1", "/knocks", "/protocol", "/events/stream"):
            answer = client.get(dealt.path + page, headers=other.bearer(0))
            problem(answer, 401, "token-unknown")
            assert answer.headers["www-authenticate"].startswith("Bearer")
        body = {"act": "bid", "seat": 1, "bid": "2"}
        problem(client.post(f"{dealt.path}/acts", json=body, headers=other.bearer(1)), 401, "token-unknown")

    def test_the_log_names_the_address_of_a_refused_token_and_not_the_token(
        self, sqlite_url: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        with client_of(sqlite_url) as client:
            token = Table(client).bearer(0)
            path = Table(client).path
            for _ in range(50):
                by_proxy = {"X-Forwarded-For": "2001:db8::1"}
                problem(client.get(path, headers=token | by_proxy), 401, "token-unknown")
        body = [record for record in caplog.records if record.name == "api.access.tokens"]
        assert {record.levelname for record in body} == {"WARNING"}
        assert "'2001:db8::1'" in body[0].getMessage()
        assert len(body) < 25, "one who guesses does not fill the log"
        assert token["Authorization"].split()[1] not in caplog.text

    def test_a_caller_with_many_addresses_does_not_fill_the_log(self, caplog: pytest.LogCaptureFixture) -> None:
        refused = RefusedTokens()
        began = time.monotonic()
        for number in range(1000):
            refused.log_refused(f"2001:db8::{number:x}", request_ids([]))
        assert len(caplog.records) <= LOGGED_MAX * (1 + (time.monotonic() - began) / LOGGED_SECONDS)

    def test_another_seat(self, dealt: Table) -> None:
        document = problem(dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, 2), 403, "not-your-seat")
        assert document["facts"] == {"seat": 1, "yours": 2}
        assert dealt.version() == 2

    def test_the_official_plays_for_no_one_and_no_one_officiates(self, dealt: Table) -> None:
        problem(dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, "official"), 403, "for-seats")
        problem(dealt.post("/acts", {"act": "void"}, 1), 403, "for-officials")
        assert dealt.version() == 2


class TestNoSuchThing:
    @pytest.mark.parametrize("match_id", ["x", "1", "00000000-0000-0000-0000-000000000000"])
    @pytest.mark.parametrize(
        "page", ["", "/legal-acts", "/events", "/events/stream", "/protocol", "/pot", "/knocks", "/deals/1"]
    )
    def test_a_match(self, table: Table, match_id: str, page: str) -> None:
        answer = table.client.get(f"/v1/matches/{match_id}{page}", headers=table.bearer(0))
        problem(answer, 404, "no-such-match")

    def test_a_match_to_act_in(self, table: Table) -> None:
        for match_id in ("x", "00000000-0000-0000-0000-000000000000"):
            url = f"/v1/matches/{match_id}/acts"
            answer = table.client.post(url, json={"act": "cut", "seat": 0}, headers=table.bearer(0))
            problem(answer, 404, "no-such-match")

    def test_a_ruleset_and_a_rule(self, client: Client) -> None:
        assert problem(client.get("/v1/rulesets/whist"), 404, "no-such-ruleset")["facts"]["allowed"] == list(RULESETS)
        problem(client.get("/v1/rulesets/whist/rules"), 404, "no-such-ruleset")
        problem(client.get(f"/v1/rulesets/{KORTOXEN}/rules/B999"), 404, "no-such-rule")

    def test_a_deal_and_a_case_if_there_is_none_yet(self, dealt: Table) -> None:
        for page, code, last in (("/deals/2", "no-such-deal", 1), ("/knocks/1", "no-such-case", 0)):
            document = problem(dealt.get(page), 404, code)
            assert document["facts"] == {"last": last}
            assert f" has {last} " in document["detail"]

    @pytest.mark.parametrize("path", ["/x", "/v1", "/v2/matches", "/v1/matches/x/y/z", "/docs/x", "/docs/x.json"])
    def test_a_page(self, client: Client, path: str) -> None:
        assert client.get(path).status_code == 404
        assert client.get(path).headers["content-type"] == "application/problem+json"

    def test_a_method(self, client: Client, table: Table) -> None:
        answer = client.delete(table.path)
        problem(answer, 405, "method-not-allowed")
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS"
        assert client.put("/v1/matches", json={}).headers["allow"] == "GET, HEAD, OPTIONS, POST"


class TestOpeningAgainstTheRules:
    """422: The body is readable, but the rules do not allow such a match."""

    @pytest.mark.parametrize(
        ("change", "code", "facts"),
        [
            ({"ruleset": "whist"}, "unknown-ruleset", {"ruleset": "whist", "allowed": list(RULESETS)}),
            ({"players": PLAYERS[:2]}, "players-count", {"players_min": 3, "players_max": 8}),
            ({"players": PLAYERS * 3}, "players-count", {"players_min": 3, "players_max": 8}),
            ({"first_dealer": 3}, "no-such-first-dealer", {"last": 2}),
            ({"first_dealer": -1}, "no-such-first-dealer", {"last": 2}),
            ({"opening": {"points": [12, 12]}}, "opening-points-count", {"players": 3}),
            ({"opening": {"points": [12, 12, 12], "pot": 3}}, "no-pot", {"ruleset": KORTOXEN}),
        ],
    )
    def test_an_opening_against_the_rules_of_every_game_is_refused(
        self, client: Client, change: dict[str, Any], code: str, facts: dict[str, Any]
    ) -> None:
        answer = client.post("/v1/matches", json={"ruleset": KORTOXEN, "players": PLAYERS} | change)
        assert problem(answer, 422, code)["facts"] == facts

    def test_an_option_there_is_not(self, client: Client) -> None:
        body = {"ruleset": KORTOXEN, "players": PLAYERS, "options": {"jokers": 2}}
        document = problem(client.post("/v1/matches", json=body), 422, "unknown-option")
        assert "knock_window" in document["facts"]["allowed"]
        assert "knock_window" in document["detail"]

    @pytest.mark.parametrize(
        ("option", "value", "allowed"),
        [
            ("knock_window", "never", {"enum": ["deal_end", "next_trick"], "default": "deal_end"}),
            ("max_players", 9, {"type": "integer", "minimum": 3, "maximum": 8, "default": 8}),
            ("exact_zero", 1, {"type": "boolean", "default": True}),
            ("exact_zero", "true", {"type": "boolean", "default": True}),
        ],
    )
    def test_an_option_with_a_wrong_value(
        self, client: Client, option: str, value: Any, allowed: dict[str, Any]
    ) -> None:
        body = {"ruleset": KORTOXEN, "players": PLAYERS, "options": {option: value}}
        document = problem(client.post("/v1/matches", json=body), 422, "bad-option")
        assert (document["facts"]["option"], document["facts"]["allowed"]) == (option, allowed)
        assert [error["pointer"] for error in document["errors"]] == [f"/options/{option}"]
        assert document["detail"].startswith(f"/options/{option}: ")

    def test_an_opening_against_the_rules_of_its_game_is_refused(self, client: Client) -> None:
        body = {"ruleset": KORTOXEN, "players": PLAYERS, "opening": {"points": [0, 12, 12]}}
        document = problem(client.post("/v1/matches", json=body), 422, "match-is-over-already")
        assert document["rule"] == "B70"
        players = [*PLAYERS, {"name": "David"}]
        body = {"ruleset": KORTOXEN, "players": players, "options": {"max_players": 3}}
        assert problem(client.post("/v1/matches", json=body), 422, "too-many-players")["rule"] == "B-O23"


def deal(hands: Any) -> dict[str, Any]:
    return {"act": "deal", "seat": 0, "hands": hands}


TWICE = [HANDS[0], HANDS[1], [*HANDS[2][:5], "SA"]]


class TestActingAgainstTheRules:
    @pytest.mark.parametrize(
        ("send", "status", "code", "rule", "facts"),
        [
            (lambda t: t.post("/acts", deal(TWICE), 0), 422, "card-twice", "B4", {"cards": ["SA"]}),
            (lambda t: t.post("/acts", deal(HANDS[:2]), 0), 422, "one-hand-a-seat", "B18", {"seats": 3}),
            (lambda t: t.send("deal", 1, hands=HANDS), 422, "not-dealer", "B13", {"dealer": 0}),
            (lambda t: t.send("play", 1, card="SA"), 409, "wrong-phase", "B41", {"phase": "undealt"}),
        ],
    )
    def test_before_the_deal(
        self,
        table: Table,
        send: Callable[[Table], httpx.Response],
        status: int,
        code: str,
        rule: str | None,
        facts: dict[str, Any],
    ) -> None:
        document = problem(send(table), status, code)
        assert (document["rule"], document["facts"]) == (rule, facts)
        assert table.version() == 1
        table.deal()

    def test_a_card_that_is_not_in_the_pack_is_unreadable(self, table: Table) -> None:
        answer = table.post("/acts", deal([["X1", *HANDS[0][1:]], *HANDS[1:]]), 0)
        assert "/hands/0/0" in problem(answer, 400, "unreadable")["detail"]
        table.deal()

    def test_out_of_turn(self, dealt: Table) -> None:
        document = problem(dealt.send("bid", 2, bid="2"), 422, "out-of-turn")
        assert (document["rule"], document["facts"]) == ("B29", {"turn": 1})
        assert dealt.version() == 2
        dealt.bid("2")

    def test_a_card_that_one_does_not_hold_is_refused_without_telling_who_does(self, dealt: Table) -> None:
        dealt.bid("1", "pass", "pass")
        document = problem(dealt.send("play", 1, card="SA"), 422, "not-held")
        assert (document["rule"], document["facts"]) == (None, {"card": "SA"})
        dealt.play("S2", first=1)

    def test_a_finished_match(self, client: Client) -> None:
        table = Table(client, dealing="house", opening={"points": [2, 2, 2]})
        table.finish()
        version = table.version()
        for answer in (
            table.send("bid", 0, bid="1"),
            table.send("void", None),
            table.post("/knocks", {"seat": 0, "accused": 1}, 0),
        ):
            assert "winner" in problem(answer, 409, "match-over")["facts"]
        assert table.version() == version
        assert table.get("/legal-acts", 0).json() == []

    def test_a_stale_if_match(self, dealt: Table) -> None:
        answer = dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, 1, **{"If-Match": '"1"'})
        assert problem(answer, 412, "stale")["facts"] == {"version": 2}
        assert dealt.version() == 2

    def test_a_key_with_another_body(self, dealt: Table) -> None:
        key = {"Idempotency-Key": "k"}
        assert dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, 1, **key).status_code == 201
        problem(dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "3"}, 1, **key), 422, "key-reused")
        problem(dealt.post("/knocks", {"seat": 1, "accused": 0}, 1, **key), 422, "key-reused")
        assert dealt.version() == 3
        dealt.bid("3", first=2)

    def test_a_refusal_is_no_use_of_its_key(self, dealt: Table) -> None:
        key = {"Idempotency-Key": "k"}
        problem(dealt.post("/acts", {"act": "play", "seat": 1, "card": "S2"}, 1, **key), 409, "play-not-begun")
        assert dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, 1, **key).status_code == 201


class TestLanguage:
    @pytest.mark.parametrize(
        ("accept", "language"),
        [("sv", "sv"), ("sv-FI,en;q=0.8", "sv"), ("en,sv;q=0.9", "en"), ("de", "en"), ("sv;q=x", "en"), ("*", "en")],
    )
    def test_a_problem_is_in_the_readers_language(self, dealt: Table, accept: str, language: str) -> None:
        answer = dealt.post("/acts", {"act": "bid", "seat": 2, "bid": "1"}, 2, **{"Accept-Language": accept})
        assert answer.headers["content-language"] == language
        assert "Accept-Language" in answer.headers["vary"]
        assert answer.json()["detail"].startswith("Det är" if language == "sv" else "It is")

    def test_rules_are_in_the_readers_language(self, client: Client) -> None:
        url = f"/v1/rulesets/{KORTOXEN}/rules"
        english, swedish = (client.get(url, headers={"Accept-Language": name}) for name in ("en", "sv"))
        assert (english.headers["content-language"], swedish.headers["content-language"]) == ("en", "sv")
        assert english.json()["rules"][0]["id"] == swedish.json()["rules"][0]["id"] == "B1"
        assert english.json()["rules"][0]["text"] != swedish.json()["rules"][0]["text"]
        assert swedish.json()["readings"][0] == client.get(f"{url}/B-O1", headers={"Accept-Language": "sv"}).json()

    def test_parsed_headers_are_not_kept_in_memory(self) -> None:
        accept = "sv;" + "x" * 10_000
        before = sys.getrefcount(accept)
        assert language_of(accept) == "sv"
        assert prefers(accept, "sv")
        assert sys.getrefcount(accept) == before
        assert language_of("de," * WEIGHTED_NAMES_MAX + "sv") == "en", "a header with too many names is ignored"


def rename_tables(file: Path) -> None:
    """Break a store while the service uses it."""
    with closing(sqlite3.connect(file, timeout=10)) as other:
        tables = other.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        assert tables
        for (name,) in tables:
            other.execute(f"ALTER TABLE {name} RENAME TO was_{name}")


class TestOurFault:
    def test_an_unexpected_error_reveals_no_internals(self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
        with client_of(sqlite_url) as client:
            table = Table(client)
            monkeypatch.setattr(client.app.state.service.desk, "cached", lambda _: 1 / 0)
            document = problem(table.get(), 500, "internal")
            assert "division" not in str(document)

    def test_a_busy_store_answers_with_retry_after(self, sqlite_url: str) -> None:
        with client_of(sqlite_url) as client:
            table = Table(client)
            table.deal()
            client.app.state.service.desk.close()
            answer = table.send("bid", 1, bid="1")
            problem(answer, 503, "busy")
            assert answer.headers["retry-after"] == "1"
            problem(client.get("/health/ready"), 503, "not-ready")
            assert client.get("/health/live").status_code == 200

    def test_books_that_are_broken_are_no_fault_of_ours(self, tmp_path: Path) -> None:
        with client_of(f"sqlite:///{tmp_path}/knacka.db") as client:
            table = Table(client)
            table.deal()
            assert table.get("/protocol").status_code == 200
            rename_tables(tmp_path / "knacka-books.db")
            for path in ("/protocol", "/knocks"):
                answer = table.get(path)
                problem(answer, 503, "store-away")
                assert answer.headers["retry-after"] == "1"
            assert table.get().status_code == 200

    def test_events_that_cannot_be_read_are_no_fault_of_ours(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        with client_of(f"sqlite:///{tmp_path}/knacka.db") as client:
            table = Table(client)
            table.deal()
            rename_tables(tmp_path / "knacka.db")
            for path in ("/events", "/replay?at=1"):
                answer = table.get(path)
                problem(answer, 503, "store-away")
                assert answer.headers["retry-after"] == "1"
            problem(table.send("bid", 1, bid="1"), 503, "outcome-unknown")
            problem(client.get("/v1/matches/00000000-0000-0000-0000-000000000000"), 503, "store-away")
        lines = [record for record in caplog.records if record.name == "api.http.problems"]
        assert lines
        assert not any(record.exc_info for record in lines), "a line each"

    def test_a_database_that_is_gone_is_no_fault_of_ours(self) -> None:
        with ExitStack() as server:
            postgres = server.enter_context(running_postgres())
            with client_of(postgres.url) as client:
                table = Table(client)
                table.deal()
                assert table.get("/protocol").status_code == 200
                server.close()
                answer = table.get("/protocol")
                problem(answer, 503, "store-away")
                assert answer.headers["retry-after"] == "1"

    def test_a_projection_that_stands_still_is_reported(
        self, sqlite_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("api.runtime.projections.WAIT_SECONDS", 0.01)
        with client_of(sqlite_url) as client:
            table = Table(client)
            client.app.state.service.projections.follower.close()
            table.deal()
            answer = table.get("/protocol")
            problem(answer, 503, "books-behind")
            assert answer.headers["retry-after"] == "1"
            assert table.get().status_code == 200


def test_every_problem_that_is_raised_has_its_texts() -> None:
    """The codes are literals in the source of ``api/``."""
    raised = set()
    for path in (ROOT / "api").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            match node:
                case ast.Call(func=ast.Name(id="Problem"), args=[ast.Constant(value=code)]):
                    raised.add(code)
                case ast.Call(func=ast.Name(id="Problem"), args=[ast.IfExp(body=one, orelse=other)]):
                    raised |= {ast.literal_eval(one), ast.literal_eval(other)}
    assert raised == TEXTS.keys()


def test_the_texts_of_a_problem_name_the_same_facts_in_both_languages() -> None:
    for text in (*TEXTS.values(), *REASONS.values()):
        assert fact_names(text.en) == fact_names(text.sv)
    assert all(text.en.strip() != text.sv.strip() != "" for text in REASONS.values())


@pytest.mark.parametrize(
    "path", ["/v1/rulesets", "/v1/rulesets/kalabrias/rules/E1", "/v1/matches", "/health/live", "/health/ready"]
)
def test_authorization_without_a_token_is_refused_on_public_pages(client: Client, path: str) -> None:
    answer = client.get(path, headers={"Authorization": "Basic a25hY2s="})
    assert answer.status_code == 401
    assert answer.json()["type"] == "/problems/token-missing"
    assert client.get(path).status_code == 200
