"""The reference page: its contents, its search, its code, and the calls that it sends."""

import ast
import json
import os
import re
import subprocess
import sys
from typing import Any

import httpx
import pytest
from playwright.sync_api import Locator, Page, expect

from tests.api.table import HANDS, KORTOXEN, Table
from tests.browser.conftest import HERE, NARROW, WIDE, OpenPage

AXE = (HERE / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
VIOLATIONS = """async () => (await axe.run({resultTypes: ["violations"]})).violations.map(
    (one) => `${one.id}: ${one.nodes.map((node) => node.html).join(" ")}`)"""
OPEN_ALL = "for (const one of document.querySelectorAll('details')) one.open = true"
SAID = "Object.fromEntries([...document.querySelectorAll('main [id]')].map((one) => [one.id, one.textContent]))"
RULES_LINKED = """Object.fromEntries([...document.querySelectorAll("[id^=option-]")].map(
    (one) => [one.id, [...one.querySelectorAll("a[href^='#rule-']")].map((link) => link.textContent)]))"""
TABLE = {
    "ruleset": KORTOXEN,
    "players": [{"name": name} for name in ("Anna", "Berit", "Cesar")],
    "first_dealer": 0,
    "options": {"deal_ritual": False},
    "dealing": "table",
}


def by_id(page: Page, name: str) -> Locator:
    return page.locator(f'[id="{name}"]')


class TestContents:
    def test_every_call_schema_and_topic(self, open_page: OpenPage, http: httpx.Client) -> None:
        description = http.get("/openapi.json").json()
        ids = open_page().evaluate(SAID).keys()
        calls = {call["operationId"] for item in description["paths"].values() for call in item.values()}
        assert calls <= ids
        assert {f"schema-{name}" for name in description["components"]["schemas"]} <= ids
        topics = description["components"]["schemas"]["EventSeen"]["discriminator"]["mapping"].keys()
        match = Table(http, dealing="house", enforcement="refuse")
        assert {event["event"]["topic"] for event in match.get("/events").json()["events"]} <= topics
        assert {f"event-{topic}" for topic in topics} <= ids
        assert {"event-card/played", "event-knock/upheld"} <= ids

    def test_every_option_with_its_rule_default_and_values(self, open_page: OpenPage, http: httpx.Client) -> None:
        page = open_page()
        said, rules = page.evaluate(SAID), page.evaluate(RULES_LINKED)
        for game in http.get("/v1/rulesets").json():
            for name, option in game["options"]["properties"].items():
                row = f"option-{game['ruleset']}-{name}"
                assert option["description"].replace("`", "") in said[row]
                assert f"Default: {json.dumps(option['default'], separators=(',', ':'))}." in said[row]
                for value in option.get("enum", ()):
                    assert json.dumps(value) in said[row]
                for bound, word in (("minimum", "from"), ("maximum", "to")):
                    assert bound not in option or re.search(rf"\b{word} {option[bound]}\b", said[row])
                assert rules[row] == option["x-rules"]
                assert {f"rule-{rule}" for rule in option["x-rules"]} <= said.keys()

    def test_every_rule(self, open_page: OpenPage, http: httpx.Client) -> None:
        said = open_page().evaluate(SAID)
        for game in http.get("/v1/rulesets").json():
            book = http.get(f"/v1/rulesets/{game['ruleset']}/rules").json()
            for rule in (*book["rules"], *book["readings"]):
                assert rule["text"].replace("`", "") in said[f"rule-{rule['id']}"]

    def test_every_problem(self, open_page: OpenPage, http: httpx.Client) -> None:
        page = open_page()
        said = page.evaluate(SAID)
        types = set(re.findall(r"\(/problems/([^)]+)\)", http.get("/problems").text))
        assert {"bid-too-low", "stale"} < types
        for name in types:
            assert f"/problems/{name}" in said[f"problem-{name}"]
        by_id(page, "problem-bid-too-low").get_by_role("link").click()
        expect(page).to_have_url(re.compile("/problems/bid-too-low$"))
        expect(page.locator("body")).to_contain_text("/problems/bid-too-low")


class TestSearch:
    def test_finds_and_leads_there(self, open_page: OpenPage) -> None:
        page = open_page()
        for words, kind, found in (
            ("send_act", "call", "send_act"),
            ("open a match", "call", "open_match"),
            ("OpenMatch", "schema", "schema-OpenMatch"),
            ("card/played", "event", "event-card/played"),
            ("knock_window kortoxen", "option", f"option-{KORTOXEN}-knock_window"),
            ("B42", "rule", "rule-B42"),
            ("late trick A45", "rule", "rule-A45"),
            ("bid-too-low", "problem", "problem-bid-too-low"),
            ("The version has changed", "problem", "problem-stale"),
            ("kalabrias", "game", "ruleset-kalabrias"),
        ):
            page.get_by_role("searchbox").fill(words)
            first = page.locator("#search li a").first
            expect(first).to_contain_text(kind)
            expect(first).to_have_attribute("href", f"#{found}")
            first.click()
            expect(by_id(page, found)).to_be_in_viewport()
            expect(first).to_be_hidden()

    def test_by_keyboard(self, open_page: OpenPage) -> None:
        page = open_page(NARROW)
        page.keyboard.press("/")
        page.keyboard.type("open a match")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(by_id(page, "open_match")).to_be_in_viewport()

    def test_nothing_found_is_said(self, open_page: OpenPage) -> None:
        page = open_page()
        page.get_by_role("searchbox").fill("blackjack")
        expect(page.locator("#search [role=status]")).to_have_text("0 found")


def form_of(page: Page, call: str) -> Locator:
    by_id(page, call).evaluate("(call) => { call.open = true; }")
    return by_id(page, call).locator("form")


def sent(form: Locator, status: int) -> Any:
    """Send the form; return the body of the answer."""
    form.get_by_role("button", name="Send").click()
    expect(form.get_by_role("status")).to_contain_text(str(status))
    expect(form.locator(".answer")).not_to_be_empty()
    return json.loads(form.locator(".answer").inner_text())


class TestTryIt:
    def test_a_match_is_opened_and_an_act_sent_with_a_pasted_token(
        self, open_page: OpenPage, http: httpx.Client
    ) -> None:
        page = open_page(NARROW)
        opening = form_of(page, "open_match")
        opening.locator("textarea").fill(json.dumps(TABLE))
        opened = sent(opening, 201)
        act = form_of(page, "send_act")
        assert act.locator("[data-parameter=match]").input_value() == opened["id"]
        act.locator("textarea").fill(json.dumps({"act": "deal", "seat": 0, "hands": HANDS}))
        assert sent(act, 401)["type"] == "/problems/token-missing"
        act.get_by_label("Token").fill(opened["seats"][0]["token"])
        done = sent(act, 201)
        assert http.get(f"/v1/matches/{opened['id']}").json()["version"] == done["version"] > 1
        assert sent(act, 409)["type"].startswith("/problems/")

    def test_the_tokens_of_an_answer_are_taken_by_a_click(self, open_page: OpenPage) -> None:
        page = open_page()
        opening = form_of(page, "open_match")
        opening.locator("textarea").fill(json.dumps(TABLE))
        opened = sent(opening, 201)
        opening.get_by_role("button", name="seat 0, Anna").click()
        legal = form_of(page, "list_legal_acts")
        assert legal.get_by_label("Token").input_value() == opened["seats"][0]["token"]
        assert "deal" in json.dumps(sent(legal, 200))

    def test_a_stream_is_shown_until_it_is_stopped(self, open_page: OpenPage, http: httpx.Client) -> None:
        match = Table(http, enforcement="refuse")
        page = open_page()
        stream = form_of(page, "stream_events")
        stream.locator("[data-parameter=match]").fill(match.id)
        stream.get_by_role("button", name="Send").click()
        expect(stream.locator(".answer")).to_contain_text("match/opened")
        match.deal()
        expect(stream.locator(".answer")).to_contain_text("deal/dealt")
        stream.get_by_role("button", name="Stop").click()
        expect(stream.get_by_role("status")).to_contain_text("Stopped")

    def test_a_body_that_is_no_json_is_not_sent(self, open_page: OpenPage) -> None:
        opening = form_of(open_page(), "open_match")
        opening.locator("textarea").fill("{")
        opening.get_by_role("button", name="Send").click()
        expect(opening.get_by_role("status")).to_contain_text("no JSON")


RUNS = {
    "curl": lambda text: ["bash", "-c", text],
    "Python": lambda text: [sys.executable, "-c", text],
    "TypeScript": lambda text: ["node", "--input-type=module", "--eval", text],
}
"""The command that runs code in each language. The TypeScript is also valid JavaScript."""


class TestCode:
    @pytest.mark.parametrize("language", RUNS)
    def test_it_does_what_it_says(self, open_page: OpenPage, http: httpx.Client, language: str) -> None:
        match = Table(http, enforcement="refuse")
        page = open_page()

        def run(call: str, **values: str) -> str:
            form = form_of(page, call)
            for name, value in values.items():
                form.locator(f"[name={name}]").fill(value)
            form.get_by_role("button", name=language, exact=True).click()
            text = form.locator(".code").inner_text()
            assert match.tokens[0] not in text, "code that may be shared contains no token"
            environment = os.environ | {"TOKEN": match.tokens[0]}
            done = subprocess.run(
                RUNS[language](text), capture_output=True, text=True, env=environment, timeout=60, check=False
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        assert "official_token" in run("open_match", body=json.dumps(TABLE))
        deal = json.dumps({"act": "deal", "seat": 0, "hands": HANDS})
        assert "deal/dealt" in run("send_act", match=match.id, token=match.tokens[0], body=deal)
        assert match.id in run("get_match", match=match.id, token=match.tokens[0])
        assert KORTOXEN in run("list_matches")

    def test_all_of_it_can_be_read(self, open_page: OpenPage, http: httpx.Client) -> None:
        page = open_page()
        form_of(page, "open_match").get_by_role("button", name="Python").click()
        paths = http.get("/openapi.json").json()["paths"]
        blocks = page.locator("form .code").all_text_contents()
        assert len(blocks) == sum(len(item) for item in paths.values())
        for text in blocks:
            assert "httpx." in text
            ast.parse(text)


class TestLooks:
    @pytest.mark.parametrize(("width", "scheme"), [(NARROW, "dark"), (WIDE, "light")])
    def test_axe_finds_nothing_closed_or_opened(self, open_page: OpenPage, width: int, scheme: str) -> None:
        page = open_page(width, scheme)
        page.evaluate(AXE)
        assert page.evaluate(VIOLATIONS) == []
        page.evaluate(OPEN_ALL)
        assert page.evaluate(VIOLATIONS) == []
        sent(form_of(page, "open_match"), 201)
        assert page.evaluate(VIOLATIONS.replace("run(", "run('form:has(.answer)', ")) == []
        page.evaluate("scrollTo(0, 0)")
        page.get_by_role("searchbox").fill("bid")
        assert page.evaluate(VIOLATIONS.replace("run(", "run('header', ")) == []

    @pytest.mark.parametrize("width", [320, NARROW])
    def test_narrow_without_scrolling_sideways(self, open_page: OpenPage, http: httpx.Client, width: int) -> None:
        def fits() -> bool:
            result: bool = page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
            return result

        page = open_page(width)
        assert fits()
        page.evaluate(OPEN_ALL)
        assert fits()
        opening = form_of(page, "open_match")
        sent(opening, 201)
        assert fits()
        page.get_by_role("searchbox").fill("the")
        assert fits()

    def test_light_and_dark(self, open_page: OpenPage) -> None:
        def brightness(page: Page) -> int:
            colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
            return sum(int(part) for part in re.findall(r"\d+", colour)[:3])

        light, dark = open_page(scheme="light"), open_page(scheme="dark")
        assert brightness(dark) < 150 < 600 < brightness(light)
        dark.get_by_label("Colours").select_option("light")
        assert brightness(dark) == brightness(light)
        dark.reload()
        expect(dark.get_by_label("Colours")).to_have_value("light")
        assert brightness(dark) == brightness(light)
