"""Input that could do hidden harm is answered with a clear problem."""

import json
from typing import Any

import httpx
import pytest

from projections.cursors import cursor_of
from tests.api.http.test_problems import problem
from tests.conformance.description_check import Description, Undescribed
from tests.support.match_client import KORTOXEN, Table
from tests.support.service_in_memory import Client

JSON = {"Content-Type": "application/json"}
NDJSON = "application/x-ndjson"


def opening(*names: str) -> dict[str, Any]:
    return {"ruleset": KORTOXEN, "players": [{"name": name} for name in names]}


class TestParameters:
    @pytest.mark.parametrize(
        ("page", "wrong", "known"),
        [
            ("/events", "limits", ["after", "limit", "min_version"]),
            ("/events/stream", "from", ["after"]),
            ("/replay?at=1", "AT", ["at", "min_version"]),
            ("/protocol", "format", ["min_version"]),
            ("", "as_of", ["min_version"]),
        ],
    )
    def test_one_that_the_call_does_not_know(self, dealt: Table, page: str, wrong: str, known: list[str]) -> None:
        answer = dealt.get(f"{page}{'&' if '?' in page else '?'}{wrong}=1")
        document = problem(answer, 400, "unknown-parameter")
        assert document["facts"]["parameter"] == wrong
        assert set(known) <= set(document["facts"]["allowed"])
        assert wrong in document["detail"]
        assert known[0] in document["detail"]

    def test_a_call_without_parameters_refuses_any_parameter(self, client: Client, table: Table) -> None:
        for answer in (
            client.post("/v1/matches?dry_run=true", json=opening("Anna", "Berit", "Cesar")),
            table.client.post(f"{table.path}/acts?seat=0", json={"act": "deal", "seat": 0}),
            client.get("/v1/rulesets?lang=sv"),
            client.head("/v1/rulesets?lang=sv"),
            client.get("/health/live?verbose"),
        ):
            assert answer.status_code == 400
            if answer.request.method != "HEAD":
                assert problem(answer, 400, "unknown-parameter")["facts"]["allowed"] == []

    def test_one_that_is_there_twice(self, dealt: Table) -> None:
        answer = dealt.get("/events?after=1&limit=2&after=2")
        document = problem(answer, 400, "repeated-parameter")
        assert document["facts"] == {"parameter": "after", "count": 2}

    def test_the_page_of_the_reference_may_be_linked_to_with_any(self, client: Client) -> None:
        assert client.get("/docs?from=mail").status_code == 200


class TestAccept:
    @pytest.mark.parametrize(
        ("page", "accept", "offers"),
        [
            ("", "text/html", ["application/json"]),
            ("/events", "text/csv, application/xml;q=0.9", ["application/json", NDJSON]),
            ("/events", "application/json;q=0", ["application/json", NDJSON]),
            ("/events/stream", "application/json", ["text/event-stream"]),
            ("/protocol", "application/pdf", ["application/json", "text/csv"]),
            ("/deals/1", "text/html", ["application/json", "text/plain"]),
        ],
    )
    def test_an_unavailable_media_type_is_refused(
        self, dealt: Table, page: str, accept: str, offers: list[str]
    ) -> None:
        document = problem(dealt.get(page, Accept=accept), 406, "not-acceptable")
        assert document["facts"] == {"allowed": offers}
        assert offers[0] in document["detail"]

    @pytest.mark.parametrize(
        ("accept", "given"),
        [
            ("*/*", "application/json"),
            ("", "application/json"),
            ("application/*", "application/json"),
            ("text/*", "text/csv; charset=utf-8"),
            ("text/csv, application/json", "text/csv; charset=utf-8"),
            ("application/json, text/csv, application/problem+json", "application/json"),
            ("text/csv;q=0.5, application/json", "application/json"),
            ("text/csv;q=0.5, */*", "application/json"),
            ("text/csv, */*;q=0.1", "text/csv; charset=utf-8"),
            ("text/html, application/xhtml+xml, */*;q=0.8", "application/json"),
            ("Application/JSON; charset=utf-8", "application/json"),
        ],
    )
    def test_an_available_media_type_is_chosen(self, dealt: Table, accept: str, given: str) -> None:
        assert dealt.get("/protocol", Accept=accept).headers["content-type"] == given

    def test_an_act_whose_answer_is_not_acceptable_is_not_done(self, dealt: Table) -> None:
        before = dealt.version()
        bid = {"act": "bid", "seat": 1, "bid": "2"}
        problem(dealt.post("/acts", bid, 1, Accept="text/html"), 406, "not-acceptable")
        assert dealt.version() == before
        assert dealt.post("/acts", bid, 1, Accept="application/json").status_code == 201


class TestBeyondTheMatch:
    @pytest.mark.parametrize("page", ["/events?after=9", "/events/stream?after=9", "?min_version=9"])
    def test_after_what_has_not_happened(self, dealt: Table, page: str) -> None:
        document = problem(dealt.get(page), 409, "version-not-reached")
        assert document["facts"] == {"version": 2, "min_version": 9}

    def test_last_event_id(self, dealt: Table) -> None:
        answer = dealt.get("/events/stream", None, **{"Last-Event-ID": "9"})
        assert problem(answer, 409, "version-not-reached")["facts"] == {"version": 2, "min_version": 9}
        assert dealt.get("/events?after=2").json()["events"] == []

    def test_other_numbers(self, dealt: Table) -> None:
        assert problem(dealt.get("/replay?at=9"), 404, "no-such-event")["facts"] == {"first": 1, "last": 2}
        assert problem(dealt.get("/knocks/9"), 404, "no-such-case")["facts"] == {"last": 0}
        assert dealt.get(f"/knocks?cursor={cursor_of(9)}").json() == {"items": [], "next": None}


class TestKeys:
    @pytest.mark.parametrize(
        ("body", "key"),
        [
            (b'{"act": "bid", "seat": 1, "bid": "2", "bid": "6"}', "bid"),
            (b'{"act": "bid", "seat": 1, "seat": 1, "bid": "2"}', "seat"),
            (b'{"act": "bid", "act": "bid", "seat": 1, "bid": "2"}', "act"),
            (b'{"act": "bid", "seat": 1, "bid": "2", "b\\u0069d": "6"}', "bid"),
            (b'{"act" :"bid","seat" :1,"bid"\n:\n"2","bid"\t:\t"2"}', "bid"),
        ],
    )
    def test_one_that_is_there_twice(self, dealt: Table, body: bytes, key: str) -> None:
        answer = send(dealt, "/acts", body, 1)
        document = problem(answer, 400, "repeated-key")
        assert document["facts"] == {"key": key}
        assert dealt.version() == 2

    def test_within_another(self, client: Client) -> None:
        for body in (
            b'{"ruleset": "rodskagg-kortoxen", "players": [{"name": "A", "name": "B"}, {"name": "C"}]}',
            b'{"ruleset": "rodskagg-kortoxen", "players": [{"name": "A"}, {"name": "C"}, {"name": "D"}],'
            b' "options": {"deal_ritual": true, "deal_ritual": false}}',
        ):
            problem(client.post("/v1/matches", content=body, headers=JSON), 400, "repeated-key")

    @pytest.mark.parametrize("inner", ['"\\n"', '{"a": 1, "a": 2}'])
    def test_far_within(self, client: Client, inner: str) -> None:
        """A body that is nested too deeply is answered 400, not 500."""
        statuses = set()
        for depth in range(800, 1000):
            nested = '{"a": ' * depth + inner + "}" * depth
            body = json.dumps(opening("A", "B", "C"))[:-1] + f', "options": {nested}}}'
            statuses.add(client.post("/v1/matches", content=body.encode(), headers=JSON).status_code)
        assert statuses <= {400, 422}

    def test_in_a_knock_which_may_leave_some_out(self, dealt: Table) -> None:
        document = problem(send(dealt, "/knocks", b'{"seat": 0, "accused": 2, "accused": 1}', 0), 400, "repeated-key")
        assert document["facts"] == {"key": "accused"}

    def test_text_that_looks_like_a_repeated_field_is_accepted(self, dealt: Table) -> None:
        note = '{"seat": 0, "accused": 2, "note": "\\"seat\\": 1, \\"seat\\": 2 :: \\\\", "offence": null}'
        assert send(dealt, "/knocks", note.encode(), 0).status_code == 201


def send(table: Table, page: str, body: bytes, seat: int) -> httpx.Response:
    answer: httpx.Response = table.client.post(table.path + page, content=body, headers=table.bearer(seat) | JSON)
    return answer


class TestTexts:
    @pytest.mark.parametrize(
        ("character", "code", "named"),
        [
            ("\u202e", "U+202E", "RIGHT-TO-LEFT OVERRIDE"),
            ("\u2066", "U+2066", "LEFT-TO-RIGHT ISOLATE"),
            ("\x00", "U+0000", "<control>"),
            ("\n", "U+000A", "<control>"),
            ("\x7f", "U+007F", "<control>"),
            ("\x9b", "U+009B", "<control>"),
            ("\u2028", "U+2028", "LINE SEPARATOR"),
        ],
    )
    def test_a_character_that_harms(self, client: Client, character: str, code: str, named: str) -> None:
        body = opening("Anna", f"Ber{character}it", "Cesar")
        document = problem(client.post("/v1/matches", json=body), 422, "harmful-character")
        assert document["facts"] == {"field": "/players/1/name", "place": 4, "character": code, "name": named}
        assert code in document["detail"]

    def test_as_it_is_and_escaped(self, client: Client) -> None:
        for text in ("B\u202e", "B\\u202e", "B\\u202E", "B\\t", "B\x7f"):
            raw = json.dumps(opening("A", "here", "C")).replace("here", text)
            answer = client.post("/v1/matches", content=raw.encode(), headers=JSON)
            assert problem(answer, 422, "harmful-character")["facts"]["place"] == 2

    def test_in_notes_and_reasons(self, dealt: Table) -> None:
        before = dealt.version()
        knock = {"seat": 0, "accused": 2, "note": "so\u202e"}
        assert problem(dealt.post("/knocks", knock, 0), 422, "harmful-character")["facts"]["field"] == "/note"
        document = problem(dealt.send("void", None, reason="so\x1b[2J"), 422, "harmful-character")
        assert (document["facts"]["field"], document["facts"]["character"]) == ("/reason", "U+001B")
        assert dealt.version() == before

    @pytest.mark.parametrize("name", ["\u200b", " \u2060\ufeff ", "\u3164", "\u2800", "\u00ad\u200d", "\ufff0"])
    def test_a_name_that_shows_nothing(self, client: Client, name: str) -> None:
        answer = client.post("/v1/matches", json=opening("Anna", "Berit", name))
        assert problem(answer, 422, "unseen-name")["facts"] == {"seat": 2}

    @pytest.mark.parametrize(
        "name", ["Åsa", "Zoë", "Ivan Ⅳ", "علي", "עדי\u200f", "👩\u200d🌾", "می\u200cخواهم", "A\\B"]
    )
    def test_names_that_people_have(self, client: Client, name: str) -> None:
        answer = client.post("/v1/matches", json=opening("Anna", "Berit", name))
        assert answer.status_code == 201
        assert client.get(answer.headers["location"]).json()["players"][2]["name"] == name


class TestNames:
    @pytest.mark.parametrize("blank", ["\x1c", "\x1f", "\x85", "\u00a0", "\u3000", "\u2029", "\ufeff"])
    def test_the_description_and_the_service_agree_on_blank_characters(self, client: Client, blank: str) -> None:
        body = opening("Anna", "Berit", blank)
        assert client.post("/v1/matches", json=body).status_code in (400, 422)
        with pytest.raises(Undescribed):
            Description().asked("POST", "/v1/matches", body)

    @pytest.mark.parametrize("name", ["Anna", "anna", " Anna  ", "An\u200bna", "Ａｎｎａ", "A\u00adnna"])
    def test_two_players_of_one_name(self, client: Client, name: str) -> None:
        document = problem(client.post("/v1/matches", json=opening("Anna", "Berit", name)), 422, "same-name")
        assert document["facts"] == {"name": name, "seats": [0, 2]}
        assert "0, 2" in document["detail"]

    def test_names_that_only_begin_alike(self, client: Client) -> None:
        assert client.post("/v1/matches", json=opening("Anna", "Anna B", "AnnaB")).status_code == 201
