"""Unreadable input is answered with a problem that says where and why, and changes nothing."""

import gzip
import json
import re
from uuid import UUID

import pytest

from api.http.faults import FAULTS_MAX
from api.matches.opening_request import OpenMatch
from tests.api.http.test_problems import PLAYERS, problem
from tests.conformance.description_check import resolved
from tests.support.match_client import KORTOXEN, Table
from tests.support.paths import ROOT
from tests.support.service_in_memory import Client

CONTRACT = json.loads((ROOT / "openapi" / "openapi.json").read_text(encoding="utf-8"))
NAMED = {"account": "cash", "match": UUID(int=1), "club": UUID(int=1)}
"""Parameters of paths; the others are numbers."""
QUERIES = [
    (re.sub("{(.*?)}", lambda found: str(NAMED.get(found[1], 1)), path), one)
    for path, calls in CONTRACT["paths"].items()
    for one in (resolved(CONTRACT, one) for one in calls.get("get", {}).get("parameters", ()))
    if one["in"] == "query"
]
STATEMENT = f"/v1/clubs/{NAMED['club']}/accounts/cash/statement"
WHOLE_NUMBERS = [(path, one["name"]) for path, one in QUERIES if one["schema"].get("type") == "integer"]
REQUIRED = {path: {one["name"]: "1"} for path, one in QUERIES if one.get("required")}
"""Required parameters by path; no call has two."""


@pytest.mark.parametrize("body", [b'{"ruleset": "\xff"}', b"[" * 100_000, b'{"ruleset": 1'])
def test_a_body_that_is_not_json_in_utf_8_is_unreadable(client: Client, body: bytes) -> None:
    answer = client.post("/v1/matches", content=body[:60_000], headers={"Content-Type": "application/json"})
    assert answer.status_code == 400, answer.text
    assert answer.json()["type"] == "/problems/unreadable"


class TestUnreadable:
    """400: The request is refused before the rules are applied."""

    @pytest.mark.parametrize(
        ("body", "pointer", "says", "allowed"),
        [
            (b"{", "", "not JSON: reading failed at line 1, column 2", None),
            (b"", "", "The body is empty", None),
            (b" \n", "", "The body is empty", None),
            (b'{"act":"play",\n "seat":1 "card":"SA"}', "", "line 2, column 11", None),
            (b'{"act":"play","seat":NaN}', "", "not JSON", None),
            (b"\xff", "", "not UTF-8", None),
            (
                b'{"act":"play","seat":1,"card":"S\xffA"}',
                "",
                "not UTF-8: reading failed at line 1, col",
                None,
            ),
            (b"[" * 60_000, "", "nested too deeply", None),
            (b"null", "", "An object with `act` belongs here; this is `null`", None),
            (b"{}", "/act", "`act` is missing", "play"),
            (b'{"act":"dance","seat":1}', "/act", "dance", "play"),
            (b'{"act":"bid","seat":1}', "/bid", "`bid` is missing", "rodskagg"),
            (b'{"act":"bid","seat":1,"bid":"2","loud":true}', "/loud", "no field `loud` here: only `act`", "bid"),
            (
                b'{"act":"bid","seat":"1","bid":"2"}',
                "/seat",
                'A whole number from 0 to 7 belongs here; this is `"1"`',
                None,
            ),
            (b'{"act":"trick","seat":2.0}', "/seat", "this is `2.0`", None),
            (b'{"act":"trick","seat":1e999}', "/seat", "too large", None),
            (b'{"act":"bid","seat":1,"bid":2}', "/bid", "this is `2`", "rodskagg"),
            (b'{"act":"bid","seat":9,"bid":"2"}', "/seat", "from 0 to 7", None),
            (b'{"act":"result","bids":[[0]]}', "/bids/0", "An object with `seat`, `bid` belongs here", None),
            (b'{"act":"bid","seat":1,"bid":"all"}', "/bid", "all", "rodskagg"),
            (
                b'{"act":"play","seat":1,"card":"S1"}',
                "/card",
                'A card is suit then rank: `SA`, `HT`, `D7`; this is `"S1"`',
                None,
            ),
            (b'{"act":"play","seat":1,"card":"S2\\n"}', "/card", "suit then rank", None),
            (b'{"act":"declare","seat":1,"top":"A\\n"}', "/top", "a digit or a letter", None),
            (b'{"act":"play","seat":1,"card":"sa"}', "/card", "suit then rank", None),
            (b'{"act":"void","reason":"\\ud800"}', "/reason", "half a character", None),
            (b'{"act":"report","seat":1,"accused":0,"fault":"yawning"}', "/fault", "yawning", "misdeal"),
        ],
    )
    def test_a_body_that_is_no_act(
        self, dealt: Table, body: bytes, pointer: str, says: str, allowed: str | None
    ) -> None:
        headers = dealt.bearer(1) | {"Content-Type": "application/json"}
        answer = dealt.client.post(f"{dealt.path}/acts", content=body, headers=headers)
        document = problem(answer, 400, "unreadable")
        (error,) = document["errors"]
        assert error["pointer"] == pointer
        assert says in error["detail"]
        assert error["detail"].rstrip(".") in document["detail"]
        data = error.get("allowed")
        assert allowed in data if allowed else data is None
        assert dealt.version() == 2
        dealt.bid("2")

    def test_all_that_is_wrong_is_named_in_the_readers_language(self, client: Client) -> None:
        body = {
            "ruleset": KORTOXEN,
            "players": [*PLAYERS, {"nam": "David"}, {"name": " "}],
            "stakes": {"currency": "kr", "unit": 0},
            "a/b~c": 1,
        }
        fields_of_a_match = ", ".join(f"`{name}`" for name in OpenMatch.__struct_fields__)
        answer = client.post("/v1/matches", json=body, headers={"Accept-Language": "sv"})
        assert [(error["pointer"], error["detail"]) for error in problem(answer, 400, "unreadable")["errors"]] == [
            ("/players/3/nam", "Det finns inget fält `nam` här: bara `name`, `member`."),
            ("/players/4/name", 'Ett namn har 1 till 100 tecken, och inte bara blanktecken; detta är `" "`.'),
            ("/stakes/currency", 'En valuta är de tre versalerna i ISO 4217: `SEK`; detta är `"kr"`.'),
            ("/stakes/unit", "Här ska stå ett heltal från 1 till 1000000; detta är `0`."),
            ("/a~1b~0c", f"Det finns inget fält `a/b~c` här: bara {fields_of_a_match}."),
        ]

    def test_the_number_of_named_errors_is_limited(self, client: Client) -> None:
        body = {"ruleset": KORTOXEN, "players": [0] * 20_000}
        document = problem(client.post("/v1/matches", json=body), 400, "unreadable")
        assert [error["pointer"] for error in document["errors"]] == [f"/players/{n}" for n in range(FAULTS_MAX)]

    def test_the_refusal_shows_only_short_and_plain_values(self, client: Client) -> None:
        hidden = ["x" * 41, "a`b", "a\u202eb", "a\nb", {"x" * 41: 1}]
        body = {"ruleset": KORTOXEN, "players": hidden, "\u200b": 1}
        document = problem(client.post("/v1/matches", json=body), 400, "unreadable")
        said = " ".join([document["detail"], *(error["detail"] for error in document["errors"])])
        assert "a text of length 41" in said
        assert "no field of this name" in said
        assert "x" * 41 not in said
        assert said.isprintable()

    def test_a_field_within_a_field(self, client: Client) -> None:
        body = {"ruleset": KORTOXEN, "players": [*PLAYERS, {"nam": "David"}]}
        document = problem(client.post("/v1/matches", json=body), 400, "unreadable")
        assert "/players/3" in document["detail"]
        assert document["errors"][0]["allowed"] == ["name", "member"]

    @pytest.mark.parametrize(
        ("query", "parameter", "says"),
        [
            ("/events?after=-1", "after", 'A whole number from 0 to 1000000000 belongs here; this is `"-1"`.'),
            ("/events?limit=0", "limit", "A whole number from 1 to 1000 belongs here"),
            ("/events?limit=many", "limit", 'this is `"many"`'),
            ("/replay", "at", "`at` is missing. A whole number"),
            ("/replay?at=now", "at", "A whole number"),
            ("?min_version=x", "min_version", "A whole number"),
            ("/legal-acts?seat=8", "seat", "A whole number from 0 to 7"),
            ("/legal-acts?seat=null", "seat", 'A whole number from 0 to 7 belongs here; this is `"null"`.'),
            ("/events?limit=1.0", "limit", 'A whole number from 1 to 1000 belongs here; this is `"1.0"`.'),
            ("/events?limit=1e1", "limit", 'this is `"1e1"`'),
            ("/events?after=1E0", "after", 'this is `"1E0"`'),
            ("/replay?at=1.0", "at", 'this is `"1.0"`'),
            ("/events/stream?ticket=x", "ticket", "A text of 43 characters belongs here"),
        ],
    )
    def test_a_parameter(self, dealt: Table, query: str, parameter: str, says: str) -> None:
        document = problem(dealt.get(query, 0), 400, "bad-parameter")
        assert document["detail"].startswith(f"{parameter}: ")
        (error,) = document["errors"]
        assert error["parameter"] == parameter
        assert says in error["detail"]
        assert "pointer" not in error

    def test_all_parameters(self, client: Client, dealt: Table) -> None:
        query = {"status": "shut", "limit": "0", "fresh": "perhaps"}
        answer = client.get("/v1/matches", params=query, headers={"Accept-Language": "sv"})
        assert problem(answer, 400, "bad-parameter")["errors"] == [
            {
                "parameter": "status",
                "detail": 'Här ska stå `abandoned`, `any`, `open` eller `over`; detta är `"shut"`.',
                "allowed": ["abandoned", "any", "open", "over"],
            },
            {"parameter": "limit", "detail": 'Här ska stå ett heltal från 1 till 1000; detta är `"0"`.'},
            {"parameter": "fresh", "detail": 'Här ska stå `true` eller `false`; detta är `"perhaps"`.'},
        ]
        answer = client.get("/v1/matches", params={"opened_from": "yesterday"})
        (error,) = problem(answer, 400, "bad-parameter")["errors"]
        assert (error["parameter"], error["detail"]) == (
            "opened_from",
            'A time such as `2025-01-31T20:15:00Z` belongs here; this is `"yesterday"`.',
        )

    @pytest.mark.parametrize("text", ["1.0", "1e1", "1E1", "10e-1", "0.0", "null", "NULL", "x", "01", "+1", " 1", ""])
    def test_a_whole_number_has_digits_only(self, client: Client, text: str) -> None:
        """Each call refuses other texts for each of its whole numbers, before it looks for what it returns."""
        assert len(WHOLE_NUMBERS) > 50
        for path, name in WHOLE_NUMBERS:
            document = problem(client.get(path, params=REQUIRED.get(path, {}) | {name: text}), 400, "bad-parameter")
            (error,) = document["errors"]
            assert error["parameter"] == name
            detail = error["detail"]
            assert detail.startswith("A whole number ")
            assert detail.endswith(f'this is `"{text}"`.')

    @pytest.mark.parametrize("text", ["01", "+1", "1_0", "%201", "1%20", "%D9%A1", "-0", "1.0", "1e1"])
    def test_a_whole_number_in_an_address_has_digits_only(self, dealt: Table, text: str) -> None:
        """An address has one form, which proxies, logs and caches compare as text."""
        for path in ("knocks", "deals"):
            answer = dealt.get(f"/{path}/{text}")
            assert (answer.status_code, answer.json()["type"]) == (404, "/problems/no-such-page")

    @pytest.mark.parametrize(
        ("path", "name"),
        [("/v1/matches", "club"), (STATEMENT, "from"), (STATEMENT, "to"), ("/v1/matches", "fresh")],
    )
    def test_null_is_no_value(self, client: Client, path: str, name: str) -> None:
        (error,) = problem(client.get(path, params={name: "null"}), 400, "bad-parameter")["errors"]
        assert error["parameter"] == name
        assert error["detail"].endswith('this is `"null"`.')

    @pytest.mark.parametrize("key", ["", "~mine", "a b", "a" * 129, "å"])
    def test_an_idempotency_key(self, dealt: Table, key: str) -> None:
        body = {"act": "bid", "seat": 1, "bid": "2"}
        answer = dealt.client.post(
            f"{dealt.path}/acts", json=body, headers={**dealt.bearer(1), "Idempotency-Key": key.encode()}
        )
        problem(answer, 400, "bad-idempotency-key")
        assert dealt.version() == 2

    @pytest.mark.parametrize("tag", ["", "2", "abc", '"x"', '"2", "3"', 'W/"2"'])
    def test_an_if_match(self, dealt: Table, tag: str) -> None:
        answer = dealt.post("/acts", {"act": "bid", "seat": 1, "bid": "2"}, 1, **{"If-Match": tag})
        problem(answer, 400, "bad-if-match")

    @pytest.mark.parametrize("given", ["x", "-1", "1.5", "12345678901"])
    def test_a_last_event_id(self, dealt: Table, given: str) -> None:
        problem(dealt.get("/events/stream", **{"Last-Event-ID": given}), 400, "bad-last-event-id")

    @pytest.mark.parametrize("cursor", ["x", "é", "AAAA", ""])
    def test_a_cursor(self, client: Client, cursor: str) -> None:
        problem(client.get("/v1/matches", params={"cursor": cursor}), 400, "bad-cursor")


class TestNotJson:
    @pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", None])
    def test_another_media_type_is_not_read(self, dealt: Table, media_type: str | None) -> None:
        headers = dealt.bearer(1) | ({"Content-Type": media_type} if media_type else {})
        body = b'{"act":"bid","seat":1,"bid":"2"}'
        answer = dealt.client.post(f"{dealt.path}/acts", content=body, headers=headers)
        assert "application/json" in problem(answer, 415, "wrong-media-type")["detail"]
        assert dealt.version() == 2

    def test_a_packed_body_is_not_read(self, dealt: Table) -> None:
        body, headers = b'{"act":"bid","seat":1,"bid":"2"}', dealt.bearer(1) | {"Content-Type": "application/json"}
        for content, encoding in ((gzip.compress(body), "gzip"), (body, "br")):
            sent = headers | {"Content-Encoding": encoding}
            answer = dealt.client.post(f"{dealt.path}/acts", content=content, headers=sent)
            assert "not compressed" in problem(answer, 415, "wrong-media-type")["detail"]
        plain = dealt.client.post(
            f"{dealt.path}/acts", content=body, headers=headers | {"Content-Encoding": "identity"}
        )
        assert plain.status_code == 201

    @pytest.mark.parametrize("size", [65_537, 10_000_000])
    def test_a_body_that_is_too_large(self, dealt: Table, size: int) -> None:
        body = b'"' + b"x" * (size - 2) + b'"'
        headers = dealt.bearer(1) | {"Content-Type": "application/json"}
        document = problem(dealt.client.post(f"{dealt.path}/acts", content=body, headers=headers), 413, "too-large")
        assert document["facts"] == {"limit_bytes": 65_536}
        dealt.bid("2")
