"""Features of every read: HEAD, ETags, gzip, and links to further pages and to descriptions."""

import gzip
import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from litestar.routes import HTTPRoute

from api.http.packing import PACK_FROM, PAD_MAX, Packer, compress
from api.matches import events
from tests.api.http.test_security_headers import requests
from tests.conformance.description_check import Description
from tests.support.match_client import KORTOXEN, Table
from tests.support.running_service import served
from tests.support.service_in_memory import Client, client_of

NDJSON = "application/x-ndjson"
UNPACKED = {"Accept-Encoding": "identity"}
OF_MATCH = ("", "/legal-acts", "/events", "/replay?at=1", "/protocol", "/knocks", "/knocks/1", "/deals/1")
FIXED = (
    "/openapi.json",
    "/docs",
    "/docs/openapi.json",
    "/docs/guides",
    "/docs/guides/client.md",
    "/docs/rulebooks/adjudication.md",
    "/docs/shuffle.py",
    "/v1/rulesets",
    f"/v1/rulesets/{KORTOXEN}",
    f"/v1/rulesets/{KORTOXEN}/rules",
    f"/v1/rulesets/{KORTOXEN}/rules/B42",
    "/problems",
    "/problems/stale",
)


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Yield a client of a service that only this module uses, so that its list of matches does not change."""
    with client_of(f"sqlite:///{tmp_path_factory.mktemp('reads')}/knacka.db") as client:
        yield client


@pytest.fixture(scope="module")
def match(own: Client) -> Table:
    """Return a match with a scored deal and two knocks."""
    table = Table(own)
    table.deal()
    table.finish_deal()
    for seat in (0, 1):
        assert table.post("/knocks", {"seat": seat, "accused": 2}, seat).status_code == 201
    assert table.get(f"/knocks?min_version={table.version()}").status_code == 200
    return table


@pytest.fixture(scope="module")
def money(own: Client) -> Table:
    """Return a match with a pot."""
    stakes = {"currency": "SEK", "unit": 100}
    return Table(own, ruleset="rams-english", options={}, dealing="house", enforcement="refuse", stakes=stakes)


@pytest.fixture(scope="module")
def pages(match: Table, money: Table) -> list[str]:
    """Return the path of every read except the stream, each with an answer of 200 for the official."""
    books = (f"{money.path}/{book}" for book in ("pot", "settlement"))
    return [*(match.path + page for page in OF_MATCH), *books, "/v1/matches?fresh=true", *FIXED]


def asked(path: str, *tables: Table, **headers: str) -> dict[str, Any]:
    """Return the arguments of a request with a credential that may see the path."""
    whose = next((table for table in tables if path.startswith(table.path)), None)
    who = 0 if "legal-acts" in path else "official"
    return {"url": path, "headers": (whose.bearer(who) if whose else {}) | headers}


class TestHead:
    def test_wherever_there_is_get(self, client: Client) -> None:
        for route in client.app.routes:
            assert isinstance(route, HTTPRoute)
            if not route.path.startswith("/openapi/") and route.path != "/openapi":  # these routes serve no page
                assert "GET" not in route.methods or "HEAD" in route.methods, route.path

    def test_options_lists_the_methods_of_a_path(self, client: Client, table: Table) -> None:
        for method, path in requests(client, table):
            if method == "OPTIONS" and not path.startswith("/openapi/") and path != "/openapi":
                allowed = set(client.options(path).headers["allow"].split(", "))
                assert allowed == {name for name, other in requests(client, table) if other == path}, path

    def test_is_the_answer_to_get_without_its_body(
        self, own: Client, match: Table, money: Table, pages: list[str]
    ) -> None:
        lines = asked(f"{match.path}/events", match, Accept=NDJSON)
        for one in [*(asked(path, match, money) for path in pages), lines, {"url": "/nowhere"}]:
            response, whole = own.head(**one), own.get(**one)
            assert (response.status_code, response.content) == (whole.status_code, b""), one
            assert response.headers == whole.headers, one
        assert own.head("/health/live").status_code == 200

    def test_over_a_connection_that_goes_on(self, either_url: str) -> None:
        """The service sends no body, which a client would take for the next answer. This holds for a stream, too."""
        with served(either_url) as address, httpx.Client(base_url=address) as client:
            table = Table(client)
            for path in ("/v1/rulesets", table.path, "/nowhere", f"{table.path}/events/stream"):
                response = client.head(path)
                assert (response.content, response.status_code) == (b"", 404 if path == "/nowhere" else 200), path
            assert response.headers["content-type"].startswith("text/event-stream")
            assert client.head(f"{table.path}/events", headers={"Accept": NDJSON}).content == b""
            assert client.get(table.path).json()["version"] == 1


class TestTags:
    def test_every_read_is_not_modified_until_it_is(
        self, own: Client, match: Table, money: Table, pages: list[str]
    ) -> None:
        for path in pages:
            for encoding in ("identity", "gzip"):
                first = own.get(**asked(path, match, money, **{"Accept-Encoding": encoding}))
                assert first.status_code == 200, path
                tag = first.headers["etag"]
                again = own.get(**asked(path, match, money, **{"If-None-Match": tag, "Accept-Encoding": encoding}))
                assert (again.status_code, again.content) == (304, b""), path
                other = own.get(**asked(path, match, money, **{"If-None-Match": '"x", W/"0"'}))
                assert other.status_code == 200, path

    def test_not_modified_has_the_headers_of_the_answer(
        self, own: Client, match: Table, money: Table, pages: list[str]
    ) -> None:
        """RFC 9110, 15.4.5: A 304 has the headers of the 200, except those of the body. Its links are the same."""
        in_part = [f"{match.path}/events?limit=2", f"{match.path}/knocks?limit=1", "/v1/matches?fresh=true&limit=1"]
        for path in (*pages, *in_part):
            for encoding in ("identity", "gzip"):
                for form in ("*/*", "text/csv, text/plain, application/x-ndjson, */*;q=0.1"):
                    headers = {"Accept-Encoding": encoding, "Accept": form}
                    first = own.get(**asked(path, match, money, **headers))
                    tag = {"If-None-Match": first.headers["etag"]}
                    again = own.get(**asked(path, match, money, **headers, **tag))
                    assert again.status_code == 304, path
                    of_body = {"content-type", "content-length", "content-encoding", "transfer-encoding"}
                    body = [item for item in first.headers.multi_items() if item[0] not in of_body]
                    assert sorted(again.headers.multi_items()) == sorted(body), path
                    assert ('rel="next"' in again.headers["link"]) == (path in in_part), path

    def test_nothing_is_unmodified_if_there_is_no_answer(self, match: Table) -> None:
        """RFC 9110, 13.2.1: A refused request is refused with any ETag."""
        for path in ("/knocks", "/knocks/1", "/deals/1", "/replay?at=1"):
            beyond = {"/knocks": "/knocks?cursor=x"}.get(path, path.replace("1", "99"))
            tag = match.get(path).headers["etag"]
            assert match.get(beyond, None, **{"If-None-Match": tag}).status_code == match.get(beyond).status_code

    def test_fixed_pages_may_be_cached(self, own: Client) -> None:
        for path in FIXED:
            assert re.fullmatch(r"public, max-age=\d+", own.get(path).headers["cache-control"])
            assert own.get(path).headers["etag"] == own.get(path).headers["etag"]

    def test_each_form_has_its_own(self, own: Client, match: Table) -> None:
        """An ETag names one sequence of bytes, in one media type, language and encoding."""
        for page, headers in (
            ("/protocol", {"Accept": "text/csv"}),
            ("/events", {"Accept": NDJSON}),
            ("/deals/1", {"Accept": "text/plain"}),
            ("/deals/1", {"Accept-Language": "sv"}),
            ("/knocks", {"Accept-Language": "sv"}),
            ("/knocks/1", {"Accept-Language": "sv"}),
        ):
            plain, other = match.get(page), match.get(page, None, **headers)
            assert plain.content != other.content or page == "/deals/1"  # the deal has no knock
            assert plain.headers["etag"] != other.headers["etag"]
            assert match.get(page, None, **headers, **{"If-None-Match": plain.headers["etag"]}).status_code == 200
            assert match.get(page, None, **headers, **{"If-None-Match": other.headers["etag"]}).status_code == 304
        english, swedish = (
            own.get(f"/v1/rulesets/{KORTOXEN}", headers={"Accept-Language": name}) for name in ("en", "sv")
        )
        assert english.headers["etag"] != swedish.headers["etag"]

    def test_an_etag_of_any_encoding_names_the_version_to_act_on(self, own: Client) -> None:
        table = Table(own)
        table.deal()
        table.bid("2", "pass", "3")
        tag = table.get("/events", "official").headers["etag"]
        assert tag == f'"{table.version()}-gzip"'
        play = {"act": "play", "seat": 0, "card": "SA"}
        assert table.post("/acts", play, 0, **{"If-Match": '"2-gzip"'}).status_code == 412
        assert table.post("/acts", play, 0, **{"If-Match": tag}).status_code == 201
        assert table.get("/events", "official", **{"If-None-Match": tag}).status_code == 200

    def test_a_version_decides_before_anything_is_read(self, match: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        tag = match.get("/events").headers["etag"]

        def read(*_: Any) -> Any:
            raise AssertionError("the version decides; a read of events is unnecessary")

        monkeypatch.setattr(events, "read_events", read)
        assert match.get("/events", None, **{"If-None-Match": tag}).status_code == 304
        assert match.get("/events").status_code == 500

    def test_the_list(self, own: Client, match: Table) -> None:
        first = own.get("/v1/matches?fresh=true")
        held = {"If-None-Match": first.headers["etag"]}
        assert own.get("/v1/matches?fresh=true", headers=held).status_code == 304
        Table(own)
        assert own.get("/v1/matches?fresh=true", headers=held).status_code == 200


class TestIsDescribed:
    """Every answer fits the description, and has only headers that the description names."""

    def test_that_nothing_has_changed(self, own: Client, match: Table, money: Table, pages: list[str]) -> None:
        described = Description()
        for path in [page for page in pages if page.startswith("/v1/")]:
            first = own.get(**asked(path, match, money))
            again = own.get(**asked(path, match, money, **{"If-None-Match": first.headers["etag"]}))
            described.answered("GET", path, 200, first.headers, first.content)
            described.answered("GET", path, 304, again.headers, again.content)
            body = described.operation("GET", path.partition("?")[0])["responses"]
            assert {"ETag", "Link"} <= body["304"]["headers"].keys() == body["200"]["headers"].keys()

    def test_a_stream(self, own: Client) -> None:
        table = Table(own)
        assert table.post("/acts", {"act": "abandon"}, "official").status_code == 201
        first = table.get("/events/stream")
        assert first.headers["x-accel-buffering"] == "no"
        Description().answered("GET", f"{table.path}/events/stream", 200, first.headers, first.content)
        last = table.get(f"/events/stream?after={table.version()}")
        Description().answered("GET", f"{table.path}/events/stream", 204, last.headers, last.content)

    def test_a_body_that_is_too_large_for_any_call(self, either_url: str) -> None:
        """The body is refused before the call is known, also for a call that takes no body."""
        described = Description()
        with served(either_url) as address, httpx.Client(base_url=address) as client:
            for method, path in described.calls():
                answer = client.request(method, path, content=b" " * 2_000_000)
                assert answer.status_code == 413, path
                described.answered(method, path, 413, answer.headers, answer.content)


class TestGzip:
    def test_long_answers_are_compressed_for_clients_that_accept_gzip(
        self, own: Client, match: Table, money: Table, pages: list[str]
    ) -> None:
        long = set()
        for path in pages:
            plain = own.get(**asked(path, match, money, **UNPACKED))
            assert "content-encoding" not in plain.headers
            with_gzip = own.get(**asked(path, match, money, **{"Accept-Encoding": "br, gzip;q=0.5"}))
            assert with_gzip.content == plain.content, path
            if with_gzip.headers.get("content-encoding") == "gzip":
                long.add(path)
                assert len(plain.content) >= PACK_FROM
                assert int(with_gzip.headers["content-length"]) < len(plain.content)
                assert "Accept-Encoding" in plain.headers["vary"]
                assert with_gzip.headers["etag"] != plain.headers["etag"]
        assert {
            f"{match.path}/events",
            "/openapi.json",
            "/v1/rulesets",
            FIXED[5],
        } <= long
        assert match.path not in long

    @pytest.mark.parametrize("accepted", ["gzip;q=0", "br", "identity", "gzip;q=0, *"])
    def test_long_answers_are_not_packed_for_other_clients(self, own: Client, match: Table, accepted: str) -> None:
        for path in ("/openapi.json", f"{match.path}/events"):
            assert "content-encoding" not in own.get(path, headers={"Accept-Encoding": accepted}).headers

    def test_lines_too(self, match: Table, monkeypatch: pytest.MonkeyPatch) -> None:
        """The number of pieces in which the lines are read does not matter."""
        monkeypatch.setattr(events, "READ_MAX", 10)
        plain = match.get("/events", "official", Accept=NDJSON, **UNPACKED)
        answer = match.get("/events", "official", Accept=NDJSON)
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.content == plain.content
        assert len(plain.text.splitlines()) == match.version() > 10

    def test_never_a_stream_of_events(self, own: Client) -> None:
        table = Table(own, dealing="house", opening={"points": [2, 2, 2]})
        table.finish()
        assert "content-encoding" not in table.get("/events/stream").headers

    def test_packed_bodies_are_valid_gzip(self) -> None:
        for body in (b"", b"x", bytes(range(256)) * 5000):
            assert gzip.decompress(compress(body)) == body
            packer = Packer(body[:100])
            pieces = [packer.take(body[start : start + 7000]) for start in range(0, len(body), 7000)]
            assert gzip.decompress(b"".join([*pieces, packer.end()])) == body

    def test_the_length_of_a_compressed_answer_does_not_reveal_its_contents(self) -> None:
        """A text that repeats a secret compresses better. The random name in the header hides that, also on
        repeats."""
        answers = [json.dumps({"note": f"{number}", "hand": "SASKSQ"}).encode() * 50 for number in range(100, 200)]
        lengths = {len(compress(answer)) for answer in answers}
        assert max(lengths) - min(lengths) > PAD_MAX / 2
        assert all(compress(answer) == compress(answer) for answer in answers)


class TestLinks:
    def test_every_read_names_the_description(
        self, own: Client, match: Table, money: Table, pages: list[str]
    ) -> None:
        for path in pages:
            link = own.get(**asked(path, match, money)).headers["link"]
            assert '</openapi.json>; rel="describedby"' in link, path

    def test_pages_name_the_next_to_the_last(self, own: Client, match: Table) -> None:
        """The links alone lead through the whole of each list, in every form."""
        for path, field, headers in (
            (f"{match.path}/events?limit=7", "events", {}),
            (f"{match.path}/events?limit=7", None, {"Accept": NDJSON}),
            ("/v1/matches?limit=1&player=Anna&status=any", "items", {}),
        ):
            found, pages, url = [], 0, path
            while url:
                page = own.get(url, headers=headers)
                lines = page.text.splitlines()
                found += page.json()[field] if field else [json.loads(line) for line in lines]
                url, pages = page.links.get("next", {}).get("url"), pages + 1
                if field:
                    assert (url is None) == (page.json()["next"] is None)
            assert pages > 1
            if "events" in path:
                assert [event["number"] for event in found] == list(range(1, match.version() + 1))
            else:
                assert len({one["id"] for one in found}) == len(found) == pages
        assert "next" not in own.get(f"{match.path}/events?limit=1000").links

    def test_a_case_names_its_rule(self, match: Table) -> None:
        case = match.get("/knocks/1")
        page = f"/v1/rulesets/{KORTOXEN}/rules/{case.json()['rule']}"
        assert f'<{page}>; rel="describedby"' in case.headers["link"]
        assert match.client.get(page).status_code == 200

    def test_a_problem_names_its_page_and_its_rule(self, dealt: Table) -> None:
        answer = dealt.send("bid", 2, bid="1")
        document = answer.json()
        rule = f"/v1/rulesets/{KORTOXEN}/rules/{document['rule']}"
        expected = [f'<{document["type"]}>; rel="describedby"', f'<{rule}>; rel="describedby"']
        assert answer.headers["link"].split(", ") == expected
        assert dealt.client.get(rule).status_code == 200
        missing = dealt.client.get("/nowhere")
        assert missing.headers["link"] == f'<{missing.json()["type"]}>; rel="describedby"'
