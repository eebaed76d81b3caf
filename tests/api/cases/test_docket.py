"""The cases of an official over HTTP: their officials, their order, and their pages."""

import re
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from api.http.replies import PRIVATE
from tests.api.cases.test_cases import ANNA, BERIT, EXPOSED, LED, REVOKE, RULING, TWO, ask, attended
from tests.api.http.test_problems import problem
from tests.support.match_client import Table
from tests.support.service_in_memory import Client, client_of

MINE = "a token that Nils has for all his matches"
NILS = {"officials": [{"name": "Maja"}, {"name": "Nils", "token_sha256": sha256(MINE.encode()).hexdigest()}]}


def listed(client: Client, token: str = MINE, **asked: Any) -> dict[str, Any]:
    answer = client.get("/v1/cases", params={"fresh": True, **asked}, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    assert body["behind"] == 0
    return body


def places(body: dict[str, Any]) -> list[tuple[str, int]]:
    return [(one["match"], one["case"]) for one in body["items"]]


class TestCallers:
    @pytest.mark.rule("J1")
    def test_an_official_with_one_token_sees_the_cases_of_all_their_matches(self, lone_client: Client) -> None:
        """Runs on either store."""
        tables = [attended(lone_client, NILS) for _ in range(2)]
        others = attended(lone_client, TWO)
        for table in (*tables, others):
            ask(table, "", ANNA, REVOKE)
        ask(tables[0], "", ANNA, EXPOSED)
        assert places(listed(lone_client)) == [(tables[0].id, 1), (tables[1].id, 1), (tables[0].id, 2)]
        for table, many in zip((*tables, others), (2, 1, 1), strict=True):
            body = listed(lone_client, table.tokens["official"])
            assert places(body) == [(table.id, number) for number in range(1, many + 1)]

    def test_no_other_token_has_any(self, client: Client) -> None:
        table = attended(client, NILS)
        ask(table, "", ANNA, REVOKE)
        for token in (table.tokens[ANNA], "nobody's", sha256(MINE.encode()).hexdigest()):
            assert listed(client, token)["items"] == []

    def test_a_caller_without_a_token_is_not_identified(self, client: Client) -> None:
        for headers in ({}, {"Authorization": "Basic TmlsczpuaWxz"}):
            answer = client.get("/v1/cases", headers=headers)
            problem(answer, 401, "token-missing")
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")

    def test_no_cache_gives_it_to_another(self, client: Client) -> None:
        answer = client.get("/v1/cases", headers={"Authorization": f"Bearer {MINE}"})
        assert answer.headers["Cache-Control"] == PRIVATE["Cache-Control"]
        assert "Authorization" in answer.headers["Vary"]
        again = client.get(
            "/v1/cases", headers={"Authorization": f"Bearer {MINE}", "If-None-Match": answer.headers["ETag"]}
        )
        assert again.status_code == 304


class TestStatusOfCases:
    @pytest.mark.rule("J2", "J3", "J7")
    def test_the_docket_and_the_file_agree_on_the_state_of_a_case(self, lone_client: Client) -> None:
        """Runs on either store; compares after each step."""
        table = attended(lone_client, NILS)
        table.tokens["Nils"] = MINE
        steps: tuple[tuple[str, int | str, Any], ...] = (
            ("", ANNA, REVOKE),
            ("/1/statements", BERIT, {"seat": BERIT, "agrees": False, "text": "No"}),
            ("/1/ruling", "official", RULING),
            ("/1/appeal", BERIT, {"seat": BERIT}),
            ("/1/ruling", "Nils", RULING | {"verdict": "dismissed", "rule": "J4", "standard": "undetermined"}),
            ("", ANNA, {"seat": ANNA, "accused": BERIT, "offence": "exit_knock"}),
            ("", ANNA, EXPOSED),
            ("/3/withdrawal", ANNA, {"seat": ANNA}),
            ("", ANNA, EXPOSED),
            ("/4/statements", BERIT, {"seat": BERIT, "agrees": True}),
        )
        for call, who, body in steps:
            ask(table, call, who, body)
            files = table.get("/knocks", "Nils").json()["items"]
            data = listed(lone_client)["items"]
            for one, file in zip(data, files, strict=True):
                same = ("case", "event", "status", "kind", "deal", "by", "accused", "note", "verdict", "appeal_until")
                assert {name: one[name] for name in same} == {name: file[name] for name in same}
                assert one["offence"] == file["offence"] or file["named"]
                assert one["rule"] == (file["rule"] if file["rulings"] else None)
                assert one["official"] == (file["rulings"][-1]["official"] if file["rulings"] else None)
                assert one["opened_at"] == table.get(f"/events?after={one['event'] - 1}").json()["events"][0]["at"]
        assert [one["status"] for one in data] == ["final", "ruled", "withdrawn", "ruled"]

    def test_a_ruling_is_final_when_its_time_is_over(self, client: Client) -> None:
        table = attended(client, TWO | {"appeal_minutes": 0})
        ask(table, "", ANNA, REVOKE)
        ask(table, "/1/ruling", "official", RULING)
        token = table.tokens["official"]
        assert places(listed(client, token, status="final")) == [(table.id, 1)]
        assert listed(client, token, status="ruled")["items"] == []


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Table]]:
    """Yield a client and a match with a case of each status except `final`: ruled, appealed, withdrawn, pending."""
    with client_of(f"sqlite:///{tmp_path_factory.mktemp('docket')}/knacka.db") as client:
        table = attended(client, NILS)
        for knock in (REVOKE, EXPOSED):
            ask(table, "", ANNA, knock)
        ask(table, "/1/ruling", "official", RULING)
        ask(table, "/2/ruling", "official", RULING | {"rule": "B11"})
        ask(table, "/2/appeal", BERIT, {"seat": BERIT})
        ask(table, "", ANNA, LED)
        ask(table, "/3/withdrawal", ANNA, {"seat": ANNA})
        ask(table, "", ANNA, LED)
        yield client, table


class TestFilters:
    @pytest.mark.parametrize(
        ("asked", "numbers"),
        [
            ({}, [1, 2, 3, 4]),
            ({"status": "any"}, [1, 2, 3, 4]),
            ({"status": "ruled"}, [1]),
            ({"status": "appealed"}, [2]),
            ({"status": "withdrawn"}, [3]),
            ({"status": "pending"}, [4]),
            ({"status": "final"}, []),
            ({"rule": "B42"}, [1]),
            ({"rule": "B11"}, [2]),
            ({"rule": "B11", "status": "ruled"}, []),
            ({"ruleset": "rodskagg-kortoxen"}, [1, 2, 3, 4]),
            ({"ruleset": "rams-english"}, []),
        ],
    )
    def test_each(self, many: tuple[Client, Table], asked: dict[str, str], numbers: list[int]) -> None:
        client, table = many
        assert places(listed(client, **asked)) == [(table.id, number) for number in numbers]

    @pytest.mark.parametrize("limit", [1, 2, 3, 4, 200])
    def test_page_by_page_all_are_there_once(self, many: tuple[Client, Table], limit: int) -> None:
        client, table = many
        headers, found = {"Authorization": f"Bearer {MINE}"}, []
        path = f"/v1/cases?limit={limit}&ruleset=rodskagg-kortoxen"
        while path:
            answer = client.get(path, headers=headers)
            found += places(answer.json())
            next_page = re.search(r'<([^>]*)>; rel="next"', answer.headers.get("Link", ""))
            assert (next_page is None) == (answer.json()["next"] is None)
            path = next_page[1] if next_page else ""
        assert found == [(table.id, number) for number in (1, 2, 3, 4)]

    @pytest.mark.parametrize(
        ("asked", "status", "code"),
        [
            ({"status": "open"}, 400, "bad-parameter"),
            ({"rule": "B"}, 400, "bad-parameter"),
            ({"rule": "B42; DROP"}, 400, "bad-parameter"),
            ({"limit": "0"}, 400, "bad-parameter"),
            ({"limit": "1001"}, 400, "bad-parameter"),
            ({"cursor": "abc"}, 400, "bad-cursor"),
            ({"cursor": "AAAAAA=="}, 400, "bad-cursor"),
            ({"seat": "1"}, 400, "unknown-parameter"),
            ({"ruleset": "whist"}, 422, "unknown-ruleset"),
        ],
    )
    def test_an_invalid_filter_is_refused(
        self, many: tuple[Client, Table], asked: dict[str, str], status: int, code: str
    ) -> None:
        client, _ = many
        answer = client.get("/v1/cases", params=asked, headers={"Authorization": f"Bearer {MINE}"})
        problem(answer, status, code)

    def test_a_cursor_of_the_other_list_is_none_of_this_one(self, many: tuple[Client, Table]) -> None:
        client, _ = many
        cursor = client.get("/v1/matches?limit=1").json()["next"]
        answer = client.get("/v1/cases", params={"cursor": cursor}, headers={"Authorization": f"Bearer {MINE}"})
        problem(answer, 400, "bad-cursor")
