"""The reference: the OpenAPI description and a page that renders it, without anything from elsewhere."""

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
from api.docs.pages import policy_of, static
from api.http.describe import ANYBODY, named_headers, named_responses, show_examples
from api.http.headers import Req
from api.http.replies import Fixed, Reply
from api.http.routes import routed
from api.http.schemas import Plain, named_schemas, with_formats

ABOUT = (
    "A referee and scorekeeper for Swedish knocking card games. A client sends every deal, bid, play and knock; the "
    "referee judges it by the numbered rules of the game, stores it for ever, and keeps the books.\n\n"
    "Seats are numbered from 0 clockwise. Cards are suit then rank: `SA`, `HT`, `D7`. Times are RFC 3339, UTC. What "
    "goes wrong is an RFC 9457 problem: unreadable is 400, a match in no state for it 409, against the rules 422 "
    "with the `rule`.\n\n"
    "HEAD is answered wherever GET is, and OPTIONS names the methods. A read has an ETag and is 304 for who has it."
)
TOKEN = SecurityScheme(
    type="http",
    scheme="bearer",
    description="The token of a seat or an official, from the answer that opened the match, or a key of its club.",
)
KEY = SecurityScheme(
    type="http",
    scheme="bearer",
    description="A key of a club, as the answer told it that made it; or the operator's.",
)
SCRIPTS = ("code.js", "page.js", "parts.js", "search.js", "tryit.js")
TAGS = {
    "Matches": "Opening matches, finding them, seeing how they stand, and acting in them.",
    "Knocks": "Knocks on the table, and the case files that they leave.",
    "Events": "What happened, in order: by pages, as a stream, and the match as it stood.",
    "Books": "Protocols, pots, settlements and the records of deals.",
    "Clubs": "Founding a club; its members, keys and evenings.",
    "Money": "The books of a club: accounts, statements, entries, who pays whom, and files for other programs.",
    "Proof": "The signed log of all that is on record, and the proof that a row is in it.",
    "Rulesets": "The games: their options and their numbered rules.",
    "Operators": "For who runs the service.",
}
SERVER = {
    "url": "/",
    "description": "The service that gave out this description, in production or for tests.",
    "x-internal": False,
}


def description(app: Litestar) -> str:
    """The OpenAPI description as it is kept in ``openapi/openapi.json``: sorted and indented."""
    schema: Plain = app.openapi_schema.to_schema()
    schema["security"] = ANYBODY
    schema["servers"] = [SERVER]
    operations = [operation for calls in schema["paths"].values() for operation in calls.values()]
    for operation in operations:
        show_examples(operation)
    schema["components"] |= {
        "headers": named_headers(),
        "parameters": _shared_parameters(operations),
        "responses": named_responses(),
        "schemas": named_schemas(),
    }
    return json.dumps(with_formats(_tidy(schema)), indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def _shared_parameters(operations: list[Plain]) -> Plain:
    """Those that several operations take, by name, each referred to from there. Of several that have one name it is
    the one that is taken most often; the others stay where they are."""
    taken = [one for operation in operations for one in operation.get("parameters", ())]
    for one in taken:
        for word in ("allowEmptyValue", "allowReserved", "deprecated"):
            if one.get(word) is False:  # as it is where nothing is said
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


def _tidy(value: Any) -> Any:
    """Litestar writes the limits of whole numbers as floats, and keeps defaults as what they are in Python."""
    if isinstance(value, dict):
        return {name: _tidy(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_tidy(inner) for inner in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return msgspec.to_builtins(value)


@cache
def _page() -> Fixed:
    policy = {"Content-Security-Policy": page_policy()}
    return Fixed(static("docs.html"), media_type="text/html", headers=policy)


@cache
def _script(name: str) -> Fixed:
    return Fixed(static(name), media_type="text/javascript")


@get(["/openapi.json", "/docs/openapi.json"], include_in_schema=False)
async def openapi_json(request: Req) -> Reply:
    """The OpenAPI description."""
    state = request.app.state
    if "description" not in state:
        state["description"] = Fixed(description(request.app).encode())
    fixed: Fixed = state["description"]
    return fixed.reply(request)


@get("/docs", include_in_schema=False)
async def docs(request: Req) -> Reply:
    """The page that shows the description."""
    return _page().reply(request)


@get([f"/docs/{name}" for name in SCRIPTS], include_in_schema=False)
async def script(request: Req) -> Reply:
    """A part of the script that shows the description as a page."""
    return _script(request.scope["path"].rpartition("/")[2]).reply(request)


def page_policy() -> str:
    """What the page may load, all of it from here."""
    return policy_of(static("docs.html"), "script-src 'self'", "connect-src 'self'")


def config() -> OpenAPIConfig:
    """What Litestar needs to know for its part of the description."""
    return OpenAPIConfig(
        title="Knacka",
        version=VERSION,
        description=ABOUT,
        components=Components(security_schemes={"token": TOKEN, "key": KEY}),
        tags=[Tag(name=name, description=text) for name, text in TAGS.items()],
        contact=Contact(name="Knacka contributors"),
        license=License(name="MIT License", identifier="MIT"),
        openapi_router=Router("/openapi", route_handlers=[], include_in_schema=False, before_request=_not_here),
    )


async def _not_here(_: Req) -> None:
    """Litestar's own pages of the description, which it will not leave out: ours are above."""
    raise NotFoundException


CALLS = routed("/", [openapi_json, docs, script])
