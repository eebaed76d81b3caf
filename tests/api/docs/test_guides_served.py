"""The guides, rulebooks and programs are served, and indexed for the search of the reference."""

import json
import re
from urllib.parse import urljoin

import msgspec
import pytest

from api.docs.guide_pages import guide_names, pages
from api.docs.pages import policy_of_kind
from tests.api.docs.test_problem_pages import BROWSER, closed
from tests.api.http.test_problems import problem
from tests.api.http.test_security_headers import secure
from tests.support.paths import ROOT
from tests.support.service_in_memory import Client

GUIDES = ROOT / "openapi" / "guides"
ADDRESSES = [page.address for page in pages()]
LINK = re.compile(r'href="([^"]+)"')


def test_every_guide_rulebook_and_program_is_a_page(client: Client) -> None:
    files = {path.name for path in GUIDES.iterdir() if path.suffix != ".svg"}
    assert files == set(guide_names())
    assert [page["address"] for page in client.get("/docs/pages.json").json()] == ADDRESSES
    assert {f"/docs/guides/{name}" for name in files} < set(ADDRESSES)
    others = {"/docs/verify.py", "/docs/shuffle.py", "/docs/notation.md", "/docs/rulebooks/adjudication.md"}
    assert others < set(ADDRESSES)
    for page in pages():
        assert page.title
        assert page.summary, page.address


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_program_reads_the_text_and_a_browser_a_page(client: Client, address: str) -> None:
    text = client.get(address)
    assert text.status_code == 200
    secure(text)
    if "rulebooks" not in address:
        assert text.text == (ROOT / "openapi" / address.removeprefix("/docs/")).read_text("utf-8")
    page = client.get(address, headers={"Accept": BROWSER})
    if address.endswith(".md"):
        assert text.headers["content-type"] == "text/markdown; charset=utf-8"
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        secure(page, policy_of_kind("text", "img-src 'self'"))
        closed(page.text)
        assert not re.search(r"<script|\sstyle=|\son\w+=|javascript:", page.text)
    else:
        assert page.headers["content-type"] == "text/plain; charset=utf-8"


@pytest.mark.parametrize("address", ["/docs/guides", "/llms.txt", *(one for one in ADDRESSES if one.endswith(".md"))])
def test_every_link_of_a_page_leads_to_a_page(client: Client, address: str) -> None:
    page = client.get(address, headers={"Accept": BROWSER}).text
    links = LINK.findall(page) if address != "/llms.txt" else re.findall(r"\]\(([^)]+)\)", page)
    assert links
    for link in links:
        target, _, part = urljoin(address, link).partition("#")
        if "://" not in target:
            found = client.get(target, headers={"Accept": BROWSER})
            assert found.status_code == 200, f"{address}: {link}"
            if target == "/docs":
                assert f'"operationId":"{part}"' in client.get("/openapi.json").text or not part
            else:
                assert not part or f'id="{part}"' in found.text


def test_the_rules_of_officials_have_their_language(client: Client) -> None:
    for language, words in (("en", "## J12\n"), ("sv", "# Funktionärernas")):
        page = client.get("/docs/rulebooks/adjudication.md", headers={"Accept-Language": language})
        assert page.headers["content-language"] == language
        assert words in page.text


def test_each_section_of_a_guide_can_be_found(client: Client) -> None:
    parts = {part["title"]: part for page in client.get("/docs/pages.json").json() for part in page["sections"]}
    for title in ("Authentication", "Rate limits", "Reads and pagination", "Webhooks", "Errors"):
        assert parts[title]["text"]
    assert parts["Authentication"]["address"] == "/docs/guides/client.md#authentication"
    assert "Bearer" in parts["Authentication"]["text"]


def test_each_picture_of_a_guide_is_served_and_may_be_loaded(client: Client) -> None:
    shown = {
        (guide.name, picture)
        for guide in GUIDES.glob("*.md")
        for picture in re.findall(r"!\[[^]]+\]\(([^)]+)\)", guide.read_text("utf-8"))
    }
    assert shown
    for guide, picture in shown:
        page = client.get(f"/docs/guides/{guide}", headers={"Accept": "text/html"})
        assert f'<img src="{picture}"' in page.text
        assert "img-src 'self'" in page.headers["content-security-policy"]
        answer = client.get(f"/docs/guides/{picture}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
        assert answer.content == (GUIDES / picture).read_bytes()


@pytest.mark.parametrize(
    "path",
    [
        "guides/nothing.md",
        "guides/first-match",
        "rulebooks/whist.md",
        "rulebooks/kalabrias",
    ],
)
def test_a_page_that_does_not_exist(client: Client, path: str) -> None:
    problem(client.get(f"/docs/{path}"), 404, "no-such-page")


def test_the_description_links_only_pages_that_are_there(client: Client) -> None:
    text = client.get("/openapi.json").text
    assert "openapi/" not in text
    links = {link for link in re.findall(r"\]\((/[^)#]+)", text) if not link.startswith("/v1")}
    assert {"/docs/guides", "/docs/guides/log.md", "/docs/verify.py", "/docs/shuffle.py"} <= links
    for link in links:
        assert client.get(link).status_code == 200, link


def test_the_description_as_yaml(client: Client) -> None:
    answer = client.get("/openapi.yaml")
    assert answer.headers["content-type"] == "application/yaml"
    assert msgspec.yaml.decode(answer.content) == client.get("/openapi.json").json()


def test_the_catalogue_links_description_and_documentation(client: Client) -> None:
    """RFC 9727, 2 and 3: a link set, also for HEAD a link to the catalogue."""
    answer = client.get("/.well-known/api-catalog")
    assert answer.headers["content-type"].startswith("application/linkset+json; profile=")
    (links,) = json.loads(answer.content)["linkset"]
    for relation in ("service-desc", "service-doc", "status"):
        for link in links[relation]:
            assert client.get(link["href"], headers={"Accept": link["type"]}).status_code == 200
    head = client.head("/.well-known/api-catalog")
    assert (head.status_code, head.content) == (200, b"")
    assert '</.well-known/api-catalog>; rel="api-catalog"' in head.headers["link"]


def test_a_client_that_knows_only_the_host_gets_the_addresses(client: Client) -> None:
    answer = client.get("/")
    assert answer.headers["content-type"] == "application/json"
    (links,) = answer.json()["linkset"]
    assert {links.pop("anchor"), *links} == {"/v1", "service-desc", "service-doc", "status"}
    for link in [one for of in links.values() for one in of]:
        target = client.get(link["href"], headers={"Accept": link["type"]})
        assert (target.status_code, target.headers["content-type"].partition(";")[0]) == (200, link["type"])
        assert f"<{link['href']}>; rel=" in answer.headers["link"]
    again = client.get("/", headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_browser_that_asks_for_the_host_is_sent_to_the_reference(client: Client) -> None:
    answer = client.get("/", headers={"Accept": BROWSER})
    assert (answer.status_code, answer.headers["location"], answer.headers["vary"]) == (303, "/docs", "Accept")


def test_there_is_an_icon_for_browsers(client: Client) -> None:
    icon = client.get("/favicon.ico")
    assert icon.headers["content-type"] == "image/svg+xml"
    assert icon.text.startswith("<svg ")
    assert "img-src 'self'" in client.get("/docs").headers["content-security-policy"]
