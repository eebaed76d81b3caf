"""The ``type`` of a problem is a page with its meaning, its remedy and an example."""

import re
from html.parser import HTMLParser
from itertools import product
from typing import get_args

import msgspec
import pytest

from api.docs.markdown import to_html
from api.docs.problem_list import PAGES, advice, example_of, refusals
from api.docs.problem_pages import HTML, MARKDOWN, _page, problem_policy
from api.http.problems import TEXTS, Document, problem_type
from api.http.replies import encode
from referee import rulebook
from referee.sentences import Language, fact_names
from tests.api.http.test_problems import problem
from tests.api.http.test_security_headers import secure
from tests.support.match_client import Table
from tests.support.service_in_memory import Client

LANGUAGES: tuple[Language, ...] = get_args(Language)
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"


def codes() -> list[str]:
    """Return the codes of all problems."""
    return [*TEXTS, *refusals()]


class TestTexts:
    def test_every_problem_has_its_advice(self) -> None:
        assert PAGES.problems.keys() == TEXTS.keys(), "say in api/docs/problem_pages.toml what to do about it"
        assert {use.kind.__name__ for use in refusals().values()} <= PAGES.refusals.keys()
        for text in (*PAGES.problems.values(), *PAGES.refusals.values(), *PAGES.words.values()):
            assert text.en.strip() == text.en != ""
            assert text.sv.strip() == text.sv != ""
            assert text.en != text.sv
            assert fact_names(text.en) == fact_names(text.sv)

    def test_swedish_has_one_word_for_one_thing(self) -> None:
        """The plural of ``token`` is ``token``, and a scope is a ``behörighet``."""
        body = [*TEXTS.values(), *PAGES.problems.values(), *PAGES.refusals.values(), *PAGES.words.values()]
        texts = [text.sv for text in body]
        assert [text for text in texts if re.search(r"\b[Tt]okens\b|\brätten `", text)] == []

    def test_the_example_has_the_facts_that_the_text_shows(self) -> None:
        for code, language in product(TEXTS, LANGUAGES):
            assert fact_names(TEXTS[code].en) <= {*PAGES.problems[code].facts, "reason"}
            assert "…" not in example_of(code, language).detail


class TestPages:
    def test_every_type_is_a_page(self, client: Client) -> None:
        for code, language in product(codes(), LANGUAGES):
            page = client.get(problem_type(code), headers={"Accept-Language": language})
            assert page.status_code == 200
            assert page.headers["content-type"].startswith("text/markdown")
            assert page.headers["content-language"] == language
            body = msgspec.json.decode(page.text.partition("```json")[2].partition("```")[0], type=Document)
            assert encode(body) == encode(example_of(code, language))
            assert body.type == problem_type(code)
            assert page.text.startswith(f"# {body.title}\n")
            assert advice(code, language) in page.text

    def test_the_example_is_the_answer_of_a_match_with_its_rule(self, client: Client) -> None:
        described = client.get("/openapi.json").json()["components"]["responses"]
        for code in codes():
            real = described.get(problem_type(code).rpartition("/")[2])
            if real is not None:
                ((example,),) = (media["examples"].values() for media in real["content"].values())
                assert msgspec.json.decode(encode(example_of(code, "en"))) == example["value"]
        cited = {code: example_of(code, "en").rule for code in refusals()}
        assert sum(rule is None for rule in cited.values()) <= 80, "the rules of clubs and of forms have no number"
        assert (cited["bid_too_low"], cited["must_trump"], cited["already_cut"]) == ("A21", "E29", "B16")
        page = client.get("/problems/must-trump", headers={"Accept-Language": "sv"}).text
        assert f"[E29](/docs#rule-E29): {rulebook.load('kalabrias').rule('E29').sv}" in page

    def test_the_calls_and_rules_that_a_page_names_are_links(self, client: Client) -> None:
        paths = client.get("/openapi.json").json()["paths"]
        ids = {call["operationId"] for calls in paths.values() for call in calls.values()}
        for code in codes():
            page = client.get(problem_type(code), headers={"Accept": BROWSER}).text
            assert set(re.findall(r'href="/docs#([a-z_]+)"', page)) <= ids
            bare = re.findall(r"(?<!\">)<code>(?:GET|POST) [^<]*</code>", page)
            assert not bare, f"{code} names a call that does not exist"
        page = client.get("/problems/bid-too-low", headers={"Accept": BROWSER}).text
        assert '<a href="/docs#list_legal_acts"><code>GET /v1/matches/{match}/legal-acts</code></a>' in page

    def test_the_list_has_them_all(self, client: Client) -> None:
        page = client.get("/problems")
        assert re.findall(r"\[`\S+`\]\((\S+)\)", page.text) == [
            *map(problem_type, sorted(TEXTS, key=lambda code: (TEXTS[code].status, code))),
            *map(problem_type, refusals()),
        ]

    def test_one_leads_from_an_answer_to_its_page(self, dealt: Table) -> None:
        body = problem(dealt.send("bid", 2, bid="2"), 422, "out-of-turn")
        page = dealt.client.get(body["type"])
        assert page.status_code == 200
        assert body["title"] in page.text

    @pytest.mark.parametrize("name", ["nothing", "out_of_turn", "Stale", "stale-", "%2e%2e"])
    def test_an_unknown_problem_type_has_no_page(self, client: Client, name: str) -> None:
        problem(client.get(f"/problems/{name}"), 404, "no-such-page")


class TestForms:
    @pytest.mark.parametrize(
        ("accept", "form"),
        [
            (None, MARKDOWN),
            ("*/*", MARKDOWN),
            ("application/problem+json", MARKDOWN),
            ("text/markdown, text/html;q=0.9", MARKDOWN),
            ("text/html", HTML),
            (BROWSER, HTML),
        ],
    )
    def test_markdown_or_html(self, client: Client, accept: str | None, form: str) -> None:
        for path in ("/problems", "/problems/stale"):
            page = client.get(path, headers={} if accept is None else {"Accept": accept})
            assert page.headers["content-type"].startswith(form)
            assert {"Accept", "Accept-Language"} <= set(page.headers["vary"].split(", "))
            if form == HTML:
                secure(page, problem_policy())
            else:
                secure(page)

    def test_html_is_whole_and_has_nothing_but_text(self) -> None:
        for code, language in product((None, *codes()), LANGUAGES):
            page = _page(code, language, HTML).decode()
            assert f'<html lang="{language}">' in page
            assert not re.search(r"<script|\sstyle=|\son\w+=|javascript:", page)
            assert page.count("<style>") == 1
            assert "`" not in re.sub(r"<pre>.*?</pre>", "", page, flags=re.DOTALL)
            closed(page)

    def test_tags_and_foreign_addresses_are_text(self) -> None:
        assert to_html("<b> [x](javascript:1) `<i>`") == "<p>&lt;b&gt; [x](javascript:1) <code>&lt;i&gt;</code></p>\n"
        assert "<td>b | c</td>" in to_html("| a |\n|---|\n| b \\| c |")


def closed(page: str) -> None:
    """Assert that each element of a page is closed in the right place."""
    open_ones: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            if tag != "meta":
                open_ones.append(tag)

        def handle_endtag(self, tag: str) -> None:
            assert open_ones.pop() == tag

    Reader().feed(page)
    assert not open_ones
