"""Serves the OpenAPI description, and a page that shows it and loads nothing from other hosts."""

import asyncio
import json
from collections import Counter
from functools import cache
from typing import Any

import msgspec
from litestar import Litestar, Router, get
from litestar.exceptions import NotFoundException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, Contact, License, SecurityScheme, Tag

from api import VERSION
from api.docs.generators import add_hints, written_pattern
from api.docs.pages import policy_of, static_file
from api.http.describe import ANYBODY, named_headers, named_responses, show_examples
from api.http.headers import Req
from api.http.replies import SVG, Fixed, Reply
from api.http.routes import controller_of
from api.http.schemas import Plain, named_schemas, with_formats

ABOUT = (
    "A referee and scorekeeper for Swedish knocking card games. A client sends every deal, bid, play and knock. The "
    "referee checks it against the numbered rules of the game, stores it permanently, and keeps the books.\n\n"
    "Seats are numbered from 0 clockwise. Cards are suit then rank: `SA`, `HT`, `D7`. Times are RFC 3339, UTC. "
    "Errors are RFC 9457 problems: 400 for an unreadable request, 409 if the match is in no state for it, and 422 "
    "with the `rule` if it is against the rules. A request may have only the fields of its schema; an answer may get "
    "more.\n\n"
    "HEAD works wherever GET does, and OPTIONS lists the methods. A read has an ETag; with `If-None-Match` the "
    "answer is 304 while nothing has changed.\n\n"
    "Every answer has `X-Request-Id`: the id that the request sent (8 to 64 of `A-Za-z0-9_-`), else a new one. A "
    "request may also send `traceparent` (W3C Trace Context). Both stand in the log of the service, and in "
    "`instance` of a problem after `#`.\n\n"
    "The [guides](/docs/guides) begin with a [first match](/docs/guides/first-match.md)."
)
TOKEN = SecurityScheme(
    type="http",
    scheme="bearer",
    description="The token of a seat or an official, from the answer that opened the match, or a key of its club.",
)
KEY = SecurityScheme(
    type="http",
    scheme="bearer",
    description="A key of a club, from the answer that made it; or the operator's key.",
)
SCRIPTS = ("code.js", "page.js", "parts.js", "search.js", "tryit.js")
TAGS = {
    "Matches": "Open, list and read matches, and act in them.",
    "Knocks": "Knocks on the table, and the cases that officials rule on.",
    "Events": "The events of a match, in pages or as a stream, and its state after an earlier event.",
    "Books": "Protocols, pots, settlements and the records of deals.",
    "Clubs": "Clubs, with their members, keys and evenings.",
    "Money": "The books of a club: accounts, statements, entries, payments, and files for other programs.",
    "Proof": "The signed log of all rows, and the proof that a row is in it.",
    "Rulesets": "The games, with their options and numbered rules.",
    "Operators": "Health and state of the service, for its operators.",
}
SERVER = {
    "url": "/",
    "description": "The service that returned this description, in production or for tests.",
    "x-internal": False,
}


def description(app: Litestar) -> str:
    """Return the OpenAPI description in the form of ``openapi/openapi.json``."""
    schema: Plain = app.openapi_schema.to_schema()
    schema["security"] = ANYBODY
    schema["servers"] = [SERVER]
    operations = [operation for calls in schema["paths"].values() for operation in calls.values()]
    for operation in operations:
        show_examples(operation)
    responses = named_responses()
    answers = [responses, [operation["responses"] for operation in operations]]
    schema["components"] |= {
        "headers": named_headers(),
        "parameters": _shared_parameters(operations),
        "responses": responses,
        "schemas": add_hints(named_schemas(answers)),
    }
    return _as_json(with_formats(_json_value(schema)), ORDER) + "\n"


ORDER = ("openapi", "info", "servers", "security", "tags", "paths", "components")


def _as_json(value: Any, order: tuple[str, ...] = (), depth: int = 3) -> str:
    """Return a value as JSON, with a line for each member of ``depth`` levels. ``order``: names that come first."""
    if not depth or not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    names = sorted(value, key=lambda name: (order.index(name) if name in order else len(order), name))
    return "{\n" + ",\n".join(f"{json.dumps(name)}:{_as_json(value[name], (), depth - 1)}" for name in names) + "\n}"


def _shared_parameters(operations: list[Plain]) -> Plain:
    """Replace repeated parameters by references, and return these parameters by name.

    If parameters of one name differ, only the most frequent is shared. Also remove flags that are false.
    """
    taken = [one for operation in operations for one in operation.get("parameters", ())]
    for one in taken:
        for word in ("allowEmptyValue", "allowReserved", "deprecated"):
            if one.get(word) is False:  # because false is the default
                del one[word]
    times = Counter(json.dumps(one, sort_keys=True) for one in taken)
    shared: Plain = {}
    for text, count in times.most_common():
        if count > 1:
            shared.setdefault((one := json.loads(text))["name"], one)
    for operation in operations:
        if "parameters" in operation:
            operation["parameters"] = [
                {"$ref": f"#/components/parameters/{one['name']}"} if one == shared.get(one["name"]) else one
                for one in operation["parameters"]
            ]
    return shared


def _json_value(value: Any) -> Any:
    """Return a value for JSON, because Litestar makes limits of integers floats, and defaults Python objects.

    Patterns become :func:`written_pattern`.
    """
    if isinstance(value, dict):
        value = {name: _json_value(inner) for name, inner in value.items()}
        if isinstance(value.get("pattern"), str):
            value["pattern"] = written_pattern(value["pattern"])
        return value
    if isinstance(value, list | tuple):
        return [_json_value(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return msgspec.to_builtins(value)


@cache
def _page() -> Fixed:
    policy = {"Content-Security-Policy": page_policy()}
    return Fixed(static_file("docs.html"), media_type="text/html", headers=policy)


@cache
def _favicon() -> Fixed:
    return Fixed(static_file("favicon.svg"), media_type=SVG)


@cache
def _script(name: str) -> Fixed:
    return Fixed(static_file(name), media_type="text/javascript")


@get(["/openapi.json", "/docs/openapi.json"], include_in_schema=False)
async def openapi_json(request: Req) -> Reply:
    state = request.app.state
    if "description" not in state:
        state["description"] = Fixed(description(request.app).encode())
    fixed: Fixed = state["description"]
    return fixed.reply(request)


@get("/openapi.yaml", include_in_schema=False)
async def openapi_yaml(request: Req) -> Reply:
    state = request.app.state
    if "yaml" not in state:
        text = await asyncio.to_thread(lambda: msgspec.yaml.encode(json.loads(description(request.app))))
        state["yaml"] = Fixed(text, media_type="application/yaml")
    fixed: Fixed = state["yaml"]
    return fixed.reply(request)


@get("/docs", include_in_schema=False)
async def docs(request: Req) -> Reply:
    return _page().reply(request)


@get("/favicon.ico", include_in_schema=False)
async def favicon(request: Req) -> Reply:
    return _favicon().reply(request)


@get([f"/docs/{name}" for name in SCRIPTS], include_in_schema=False)
async def script(request: Req) -> Reply:
    return _script(request.scope["path"].rpartition("/")[2]).reply(request)


def page_policy() -> str:
    return policy_of(static_file("docs.html"), "script-src 'self'", "connect-src 'self'", "img-src 'self'")


def openapi_config() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Knacka",
        version=VERSION,
        description=ABOUT,
        components=Components(security_schemes={"token": TOKEN, "key": KEY}),
        tags=[Tag(name=name, description=text) for name, text in TAGS.items()],
        contact=Contact(name="Knacka contributors"),
        license=License(name="MIT License", identifier="MIT"),
        openapi_router=Router("/openapi", route_handlers=[], include_in_schema=False, before_request=_not_found),
    )


async def _not_found(_: Req) -> None:
    """Raise ``NotFoundException`` for Litestar's own pages, which cannot be switched off."""
    raise NotFoundException


CALLS = controller_of("/", [openapi_json, openapi_yaml, docs, favicon, script])
