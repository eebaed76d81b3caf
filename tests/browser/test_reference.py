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
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import HERE, NARROW, WIDE, OpenPage
from tests.support.match_client import HANDS, KORTOXEN, Table
from tests.support.running_service import Process

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
        topics = description["components"]["schemas"]["Event"]["discriminator"]["mapping"].keys()
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

    def test_every_guide_rulebook_and_program_is_linked(self, open_page: OpenPage, http: httpx.Client) -> None:
        page = open_page()
        links = page.locator("section[aria-labelledby=section-Guides] a").evaluate_all(
            "(links) => links.map((link) => link.getAttribute('href'))"
        )
        assert {one["address"] for one in http.get("/docs/pages.json").json()} <= set(links)
        page.locator("a[href='/docs/guides/first-match.md']").first.click()
        expect(page.locator("h1")).to_have_text("Quick start: your first match")


class TestReading:
    def test_the_fields_of_a_body_are_where_the_call_is(self, open_page: OpenPage, http: httpx.Client) -> None:
        page = open_page()
        description = http.get("/openapi.json").json()
        schemas = description["components"]["schemas"]
        for call in (call for item in description["paths"].values() for call in item.values()):
            if "requestBody" not in call:
                continue
            body = call["requestBody"]["content"]["application/json"]["schema"]
            shape = schemas[body["$ref"].rpartition("/")[2]] if "$ref" in body else body
            names = page.locator(f"[id={call['operationId']}-body] + p + dl > div > dt > code:first-child")
            shown = set(names.all_text_contents())
            if mapping := shape.get("discriminator", {}).get("mapping"):
                by = shape["discriminator"]["propertyName"]
                assert {f'"{by}": {json.dumps(value)}' for value in mapping} <= shown
            else:
                assert set(shape.get("properties", {})) <= shown, call["operationId"]
        page.goto(page.url.partition("#")[0] + "#send_act")
        details = by_id(page, "send_act").locator(".details")
        expect(details.get_by_text("With open hands at a real table")).to_be_visible()
        expect(by_id(page, "open_match").locator(".details")).to_contain_text("ISO 4217")

    def test_the_code_is_beside_the_summary_and_stays(self, open_page: OpenPage) -> None:
        page = open_page(WIDE, at="send_act")
        call = by_id(page, "send_act")
        head, code, text = (call.locator(one).bounding_box() for one in ("summary >> nth=0", ".code", ".about"))
        assert head
        assert code
        assert text
        assert code["x"] >= text["x"] + text["width"]
        assert code["y"] - head["y"] - head["height"] < 120
        page.mouse.move(text["x"] + 10, text["y"] + 10)
        page.mouse.wheel(0, 1500)
        expect(call.locator(".about")).not_to_be_in_viewport()
        expect(call.locator(".code")).to_be_in_viewport()

    def test_on_a_phone_the_code_is_below_the_summary(self, open_page: OpenPage) -> None:
        call = by_id(open_page(NARROW, at="send_act"), "send_act")
        code, text = (call.locator(one).bounding_box() for one in (".code", ".about"))
        assert code
        assert text
        assert code["y"] < text["y"]

    def test_each_heading_has_a_link_to_itself(self, open_page: OpenPage) -> None:
        page = open_page()
        missing = page.evaluate(
            """[...document.querySelectorAll("main :is(h2, h3, h4)")].filter((one) => {
                const named = one.closest("[id]");
                return !(named.id && named.querySelector(`.anchor[href="#${CSS.escape(named.id)}"]`)
                    || named.querySelector(".anchor")?.getAttribute("href") === `#${named.id}`);
            }).map((one) => one.textContent)"""
        )
        assert missing == []
        by_id(page, "section-Games").locator(".anchor").click()
        expect(page).to_have_url(re.compile("#section-Games$"))

    def test_the_address_follows_what_is_open(self, open_page: OpenPage) -> None:
        page = open_page()
        for call in ("get_match", "open_match"):
            by_id(page, call).locator("summary").first.click()
            expect(page).to_have_url(re.compile(f"#{call}$"))
            expect(page.locator("nav [aria-current]")).to_have_attribute("href", f"#{call}")
        page.reload()
        expect(by_id(page, "open_match")).to_have_attribute("open", "")
        by_id(page, "open_match").locator("summary").first.click()
        expect(page).to_have_url(re.compile("/docs$"))

    def test_a_link_to_a_part_stays_when_its_section_opens(self, open_page: OpenPage) -> None:
        page = open_page(at="rule-B42")
        expect(by_id(page, "ruleset-rodskagg-kortoxen")).to_have_attribute("open", "")
        expect(page).to_have_url(re.compile("#rule-B42$"))

    def test_the_contents_show_summaries(self, open_page: OpenPage, http: httpx.Client) -> None:
        paths = http.get("/openapi.json").json()["paths"]
        calls = [call for item in paths.values() for call in item.values()]
        links = (
            open_page().locator("nav ul ul a").evaluate_all("(all) => all.map((one) => [one.hash, one.textContent])")
        )
        assert sorted(map(tuple, links)) == sorted((f"#{call['operationId']}", call["summary"]) for call in calls)


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
            ("J12", "rule", "rule-J12"),
        ):
            page.get_by_role("searchbox").fill(words)
            first = page.locator("#search li a").first
            expect(first).to_contain_text(kind)
            expect(first).to_have_attribute("href", f"#{found}")
            first.click()
            expect(by_id(page, found)).to_be_in_viewport()
            expect(first).to_be_hidden()

    def test_a_guide_is_found_by_the_words_of_a_newcomer(self, open_page: OpenPage) -> None:
        page = open_page()
        for words, address in (
            ("authentication", "client.md#authentication"),
            ("rate limit", "client.md#rate-limits"),
            ("pagination", "client.md#reads-and-pagination"),
            ("webhook", "client.md#webhooks"),
            ("quick start", "first-match.md"),
            ("CORS", "client.md#cors-pages-of-other-origins"),
            ("idempotency", "conflicts.md"),
            ("errors", "errors.md"),
        ):
            page.get_by_role("searchbox").fill(words)
            first = page.locator("#search li a").first
            expect(first).to_contain_text("guide")
            expect(first).to_have_attribute("href", f"/docs/guides/{address}")
        first.click()
        expect(page).to_have_url(re.compile("/docs/guides/errors.md$"))
        expect(page.locator("h1")).to_have_text("Errors")

    def test_the_keyboard_finds_an_operation(self, open_page: OpenPage) -> None:
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
    by_id(page, call).evaluate(
        "(call) => [call, call.querySelector('.fields')].forEach((one) => { one.open = true; })"
    )
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
    @pytest.mark.parametrize(
        "path", ["/docs/guides", "/docs/guides/client.md", "/docs/rulebooks/adjudication.md", "/problems/bid-too-low"]
    )
    def test_axe_finds_nothing_on_a_page_of_text(
        self, browser: Browser, service: Process, path: str, width: int, scheme: str
    ) -> None:
        size = {"width": width, "height": 844}
        context = browser.new_context(viewport=size, color_scheme=scheme, bypass_csp=True)  # for axe alone
        page = context.new_page()
        page.goto(service.address + path)
        page.evaluate(AXE)
        assert page.evaluate(VIOLATIONS) == []
        assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
        context.close()

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
