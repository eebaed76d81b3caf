"""Serves guides, rulebooks and programs for auditors. Their paths below ``/docs`` and ``openapi/`` agree.
A browser gets Markdown as HTML."""

import asyncio
from functools import cache

from litestar import get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from api.docs.call_ids import read_calls
from api.docs.guide_pages import (
    BOOKS,
    MARKDOWN,
    OTHERS,
    RELATIONS,
    catalog,
    guide_names,
    list_markdown,
    llms_text,
    pages,
    picture_names,
    rulebook_markdown,
    text_of,
)
from api.docs.markdown import to_html
from api.docs.pages import policy_of_kind, render_text
from api.http.headers import prefers
from api.http.replies import HTML, JSON, PLAIN, SVG, Fixed, Reply, bodiless_reply, encode
from api.http.routes import controller_of
from api.runtime.call import ApiCall
from referee.sentences import Language

LINKSET = 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"'


def _title_of(markdown: str) -> str:
    return markdown.partition("\n")[0].removeprefix("# ")


@cache
def _fixed_page(path: str, language: Language, media_type: str) -> Fixed:
    """Return the page at ``path`` below ``/docs``. A guide is in English; ``language`` applies to rulebooks."""
    if path == "guides":
        markdown = f"# Guides, rules and programs\n\n{list_markdown()}"
    elif path.startswith("rulebooks/"):
        markdown = rulebook_markdown(path.removeprefix("rulebooks/").removesuffix(".md"), language)
    else:
        markdown = text_of(path)
    if media_type in (PLAIN, SVG):
        return Fixed(markdown.encode(), media_type=media_type)
    headers = {"Content-Language": language, "Vary": "Accept, Accept-Language"}
    if media_type == MARKDOWN:
        return Fixed(markdown.encode(), media_type=MARKDOWN, headers=headers)
    headers["Content-Security-Policy"] = policy_of_kind("text", "img-src 'self'")
    body = '<nav><a href="/docs">Reference</a> <a href="/docs/guides">Guides</a></nav>' + to_html(markdown)
    return Fixed(render_text(language, _title_of(markdown), body), media_type=HTML, headers=headers)


@cache
def _page_list() -> Fixed:
    return Fixed(encode(pages()))


@cache
def _llms_txt() -> Fixed:
    return Fixed(llms_text().encode(), media_type=PLAIN)


@cache
def _catalog(media_type: str) -> Fixed:
    links = [f'<{one.href}>; rel="{relation}"; type="{one.type}"' for relation, of in RELATIONS.items() for one in of]
    link = ", ".join(['</.well-known/api-catalog>; rel="api-catalog"', *links])
    return Fixed(catalog(), media_type=media_type, headers={"Link": link, "Vary": "Accept"})


async def _negotiated_page(request: ApiCall, path: str, language: Language = "en") -> Reply:
    if path.endswith((".py", ".ts")):
        media_type = PLAIN
    elif path.endswith(".svg"):
        media_type = SVG
    else:
        media_type = HTML if prefers(request.accepted, HTML, MARKDOWN) else MARKDOWN
    read_calls(request.app)
    # A thread is used, because the first request builds the page.
    return (await asyncio.to_thread(_fixed_page, path, language, media_type)).reply(request)


@get("/", include_in_schema=False)
async def index(request: ApiCall) -> Reply:
    """Return the API catalogue as JSON, or redirect a browser to the reference."""
    if prefers(request.accepted, HTML):
        return bodiless_reply(303, {"Location": "/docs", "Vary": "Accept"})
    return _catalog(JSON).reply(request)


@get("/docs/guides", include_in_schema=False)
async def list_guides(request: ApiCall) -> Reply:
    return await _negotiated_page(request, "guides")


@get("/docs/guides/{name:str}", include_in_schema=False)
async def get_guide(request: ApiCall, name: FromPath[str]) -> Reply:
    if name not in guide_names() and name not in picture_names():
        raise NotFoundException
    return await _negotiated_page(request, f"guides/{name}")


@get("/docs/rulebooks/{name:str}", include_in_schema=False)
async def get_rulebook(request: ApiCall, name: FromPath[str]) -> Reply:
    if name not in {f"{key}.md" for key in BOOKS}:
        raise NotFoundException
    return await _negotiated_page(request, f"rulebooks/{name}", request.language)


@get([f"/docs/{name}" for name in OTHERS], include_in_schema=False)
async def get_file(request: ApiCall) -> Reply:
    return await _negotiated_page(request, request.scope["path"].rpartition("/")[2])


@get("/docs/pages.json", include_in_schema=False)
async def list_pages(request: ApiCall) -> Reply:
    return (await asyncio.to_thread(_page_list)).reply(request)


@get("/llms.txt", include_in_schema=False)
async def llms_txt(request: ApiCall) -> Reply:
    return (await asyncio.to_thread(_llms_txt)).reply(request)


@get("/.well-known/api-catalog", include_in_schema=False)
async def api_catalog(request: ApiCall) -> Reply:
    return _catalog(LINKSET).reply(request)


CALLS = controller_of("/", [index, list_guides, get_guide, get_rulebook, get_file, list_pages, llms_txt, api_catalog])
