"""The page of a case file, on a screen and on paper."""

import httpx
import pytest
from playwright.sync_api import Browser, Route

from api.http.replies import HTML
from tests.api.cases.test_cases import ANNA, BERIT, EXPOSED, REVOKE, RULING, TWO, ask
from tests.browser.conftest import NARROW, WIDE
from tests.browser.test_reference import AXE, VIOLATIONS
from tests.support.match_client import Table
from tests.support.running_service import Process

LONG = "<script>document.title = 'no'</script>" + "W" * 400


@pytest.fixture(scope="module")
def case(http: httpx.Client) -> Table:
    """Return a case with every part that a page can show: statements, a ruling, an appeal, an earlier ruling,
    prices."""
    names = [{"name": f"{name}{'x' * 60}"} for name in ("Anna", "Berit", "Cesar")]
    table = Table(http, adjudication=TWO, players=names)
    table.done("deal", 0, counts=[6, 6, 6])
    for number, knock in enumerate((REVOKE, EXPOSED), 1):
        ask(table, "", ANNA, knock | {"note": LONG})
        said = {"seat": BERIT, "agrees": False, "events": [2], "text": LONG}
        ask(table, f"/{number}/statements", BERIT, said)
        ask(table, f"/{number}/ruling", "official", RULING | {"reason": LONG})
    ask(table, "/1/appeal", BERIT, {"seat": BERIT, "text": LONG})
    return table


@pytest.mark.parametrize("language", ["en", "sv"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_it_fits_and_axe_finds_nothing(
    browser: Browser, service: Process, case: Table, width: int, scheme: str, language: str
) -> None:
    context = browser.new_context(
        viewport={"width": width, "height": 844},
        color_scheme=scheme,
        bypass_csp=True,  # for axe alone
        extra_http_headers={"Accept": HTML, "Accept-Language": language, **case.bearer("official:2")},
    )
    page, asked = context.new_page(), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    address = f"{service.address}{case.path}/knocks/1/file"
    assert page.goto(address).status == 200
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    assert page.locator("html").get_attribute("lang") == language
    assert page.title() != "no"
    page.evaluate(AXE)
    assert page.evaluate(VIOLATIONS) == []
    page.emulate_media(media="print")
    assert page.evaluate("document.scrollingElement.scrollWidth <= innerWidth")
    if (width, scheme) == (WIDE, "light"):
        assert page.pdf(format="A4").startswith(b"%PDF")
    assert {url for url in asked if not url.endswith("/favicon.ico")} == {address}
    context.close()


def test_it_keeps_to_its_policy(browser: Browser, service: Process, case: Table) -> None:
    """The browser applies the page's style, sends no further request, and logs no message."""
    headers = {"Accept": HTML, **case.bearer("official:2")}
    context = browser.new_context(extra_http_headers=headers)
    page, wrong = context.new_page(), list[str]()
    page.on("console", lambda message: wrong.append(message.text))

    def blank(route: Route) -> None:
        route.fulfill(status=204)

    page.route("**/favicon.ico", blank)
    page.goto(f"{service.address}{case.path}/knocks/1/file")
    assert page.evaluate("getComputedStyle(document.querySelector('blockquote')).whiteSpace") == "pre-wrap"
    assert page.evaluate("document.scripts.length") == 0
    assert wrong == []
    context.close()
