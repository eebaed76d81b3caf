"""The reference: the OpenAPI description and a page that renders it, without anything from elsewhere."""

import json
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import Any

import msgspec
from litestar import Litestar, MediaType, Response, Router, get
from litestar.exceptions import NotFoundException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import OpenAPIRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme, Tag

from api.http.describe import ANYBODY, show_examples
from api.http.headers import Req
from api.http.replies import Reply
from api.http.schemas import named_schemas

VERSION = "1.0.0"
ABOUT = (
    "A referee and scorekeeper for Swedish knocking card games. A client sends every deal, bid, play and knock; the "
    "referee judges it by the numbered rules of the game, stores it for ever, and keeps the books.\n\n"
    "Seats are numbered from 0 clockwise. Cards are suit then rank: `SA`, `HT`, `D7`. Times are RFC 3339, UTC. What "
    "goes wrong is an RFC 9457 problem: unreadable is 400, a match in no state for it 409, against the rules 422 "
    "with the `rule`."
)
TOKEN = SecurityScheme(
    type="http",
    scheme="bearer",
    description="The token of a seat or of the official, from the answer that opened the match.",
)
TAGS = ("Matches", "Knocks", "Events", "Books", "Rulesets", "Operators")


def description(app: Litestar) -> str:
    """The OpenAPI description as it is kept in ``openapi/openapi.json``: sorted and indented."""
    schema: dict[str, Any] = app.openapi_schema.to_schema()
    schema["security"] = ANYBODY
    for calls in schema["paths"].values():
        for operation in calls.values():
            show_examples(operation)
    schema["components"]["schemas"] = named_schemas()
    return json.dumps(_tidy(schema), indent=2, sort_keys=True, ensure_ascii=False) + "\n"


def _tidy(value: Any) -> Any:
    """Litestar writes the limits of whole numbers as floats, and keeps defaults as what they are in Python."""
    if isinstance(value, dict):
        return {name: _tidy(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_tidy(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return msgspec.to_builtins(value)


def _encoded(app: Litestar) -> bytes:
    if "description" not in app.state:
        app.state["description"] = description(app).encode()
    encoded: bytes = app.state["description"]
    return encoded


@cache
def _static(name: str) -> bytes:
    return (files("api.docs") / "static" / name).read_bytes()


class _Json(OpenAPIRenderPlugin):
    def render(self, request: Req, openapi_schema: dict[str, Any]) -> bytes:
        return _encoded(request.app)


class _Page(OpenAPIRenderPlugin):
    def render(self, request: Req, openapi_schema: dict[str, Any]) -> bytes:
        return _static("docs.html")


@get("/openapi.json", include_in_schema=False)
async def openapi_json(request: Req) -> Reply:
    """The OpenAPI description."""
    return Reply(_encoded(request.app))


@get("/docs.js", include_in_schema=False)
async def docs_js(request: Req) -> Reply:
    """The script that shows the description as a page."""
    return Reply(_static("docs.js"), media_type="text/javascript")


async def _page(response: Response[Any]) -> Response[Any]:
    """The page may have its script, its style and the description, all from here.

    A problem, where Litestar would answer an unknown path below ``/docs`` with HTML.
    """
    if response.status_code == 404:
        raise NotFoundException
    if response.media_type == MediaType.HTML:
        response.headers["Content-Security-Policy"] = page_policy()
    return response


@cache
def page_policy() -> str:
    """What the page may load. Its style stands in it and is named by its hash."""
    style = _static("docs.html").partition(b"<style>")[2].partition(b"</style>")[0]
    known = b64encode(sha256(style).digest()).decode()
    return (
        f"default-src 'none'; script-src 'self'; style-src 'sha256-{known}'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def config() -> OpenAPIConfig:
    """What Litestar needs to know for its part of the description."""
    return OpenAPIConfig(
        title="Knacka",
        version=VERSION,
        description=ABOUT,
        components=Components(security_schemes={"token": TOKEN}),
        tags=[Tag(name=name) for name in TAGS],
        openapi_router=Router("/docs", route_handlers=[], include_in_schema=False, after_request=_page),
        render_plugins=[_Page(path="/"), _Json(path="/openapi.json", media_type=MediaType.JSON)],
    )


HANDLERS = [openapi_json, docs_js]
