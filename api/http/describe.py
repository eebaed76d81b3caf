"""The OpenAPI description: what Litestar cannot read off a handler that takes raw bytes and gives them.

Schemas are msgspec's own, of the very types that read and write, so that tags, patterns and limits are right.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from litestar.openapi.spec import Operation

from api.http import problems

Plain = dict[str, Any]
"""A part of the description as it will be written. Litestar writes out dictionaries as they stand."""

JSON = "application/json"
_OPTIONAL = {"required": False, "deprecated": False}
_SCHEMAS: dict[str, Plain] = {}

TOKEN: list[dict[str, list[str]]] = [{"token": []}]
"""A seat's or the official's token."""
ANYBODY: list[dict[str, list[str]]] = [{}, {"token": []}]
"""Without a token as a spectator."""


def schema_of(kind: Any) -> Plain:
    """The schema of a type; its parts go among the components."""
    (schema,), components = msgspec.json.schema_components((kind,), ref_template="#/components/schemas/{name}")
    if isinstance(kind, type(msgspec.Struct)) and kind.__struct_config__.tag is not None:
        components[kind.__name__]["required"].remove(kind.__struct_config__.tag_field)  # by itself it is read without
    for name, component in components.items():
        assert _SCHEMAS.setdefault(name, component) == component, f"two types are called {name}"
    tidy: Plain = _tidy(schema)
    return tidy


def schemas() -> dict[str, Plain]:
    """All schemas that operations refer to, by name."""
    return {name: _tidy(schema) for name, schema in _SCHEMAS.items()}


def _tidy(value: Any) -> Any:
    """Docstrings are written for source: their lines and double backticks are not for readers of the schema."""
    if isinstance(value, Mapping):
        return {
            name: re.sub(r":\w+:`~?\.?([^`]*)`", r"\1", " ".join(inner.split()).replace("``", "`"))
            if name == "description" and isinstance(inner, str)
            else _tidy(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_tidy(inner) for inner in value]
    return value


def in_header(name: str, description: str, *, pattern: str | None = None, example: str | None = None) -> Plain:
    """A request header that a handler reads by itself."""
    return {
        "name": name,
        "in": "header",
        "description": description,
        **_OPTIONAL,
        "schema": {"type": "string", "pattern": pattern} if pattern else {"type": "string"},
        **({"examples": {"example": {"value": example}}} if example else {}),
    }


LANGUAGE = in_header("Accept-Language", "The language of sentences: `en` or `sv`.", example="sv")
IF_NONE_MATCH = in_header("If-None-Match", "The ETag at hand: 304 if the match stands there still.", example='"12"')
IF_MATCH = in_header(
    "If-Match",
    "Only if the match is at this version. Without it the act is decided on the match as it stands.",
    pattern=r'^"[0-9]{1,9}"$',
    example='"12"',
)
IDEMPOTENCY_KEY = in_header(
    "Idempotency-Key",
    "Makes a repeat safe: the same key with the same body gives the same answer, and nothing happens twice.",
    pattern="^[!-}][!-~]{0,127}$",
    example="2f6c9e1a",
)

OPENING_KEY = in_header(
    "Idempotency-Key",
    "Makes a repeat safe: for 24 hours the same key with the same body gives the same match with the same tokens. "
    "Whoever knows it can have the tokens: it is a secret, such as a random UUID.",
    pattern="^[!-}][!-~]{15,127}$",
    example="7d1c3a52-5f0e-4f5b-9c76-0a4f7f2f6b1d",
)

_HEADERS = {
    "ETag": "The version of the match, in quotes.",
    "Location": "Where the new match is.",
    "Content-Language": "The language of the sentences.",
    "Idempotency-Replayed": "`true`: the act had been done before, and this is its answer.",
    "Link": 'Where there is more: `rel="next"` (RFC 8288).',
    "Retry-After": "Seconds to wait before trying again.",
    "WWW-Authenticate": "How to say who one is.",
    "Allow": "The methods that the page takes.",
}


def _headers(names: Sequence[str]) -> Plain:
    return {name: {"schema": {"type": "string"}, "description": _HEADERS[name], **_OPTIONAL} for name in names}


_ERROR_HEADERS = {401: ("WWW-Authenticate",), 405: ("Allow",), 503: ("Retry-After",)}
_ERRORS = {
    400: "Unreadable: a parameter, a header or the body.",
    401: "The token is missing, or is not of this match.",
    403: "The token is another seat's, or not the official's.",
    404: "There is no such thing.",
    409: "The match is in no state for it.",
    412: "If-Match is stale: the match has moved on.",
    413: "The body is too large.",
    415: "The body is not `application/json`.",
    422: "Against the rules, or the same Idempotency-Key with another body.",
    500: "Our fault.",
    503: "Try again.",
}


def _error(status: int) -> Plain:
    return {
        "description": _ERRORS[status],
        "headers": _headers(("Content-Language", *_ERROR_HEADERS.get(status, ()))),
        "content": {problems.MEDIA_TYPE: {"schema": schema_of(problems.Document)}},
    }


def described(
    *,
    gives: Any = None,
    status: int = 200,
    says: str = "As asked for.",
    body: Any = None,
    examples: Mapping[str, Any] | None = None,
    others: Mapping[str, Plain] | None = None,
    headers: Sequence[str] = (),
    takes: Sequence[Plain] = (),
    errors: Sequence[int] = (),
    empty: Mapping[int, str] | None = None,
    links: Mapping[str, Plain] | None = None,
) -> type[Operation]:
    """The operation class of a handler.

    ``gives`` is the type of its JSON answer, ``others`` schemas of other media types; ``body`` what it reads, with
    ``examples`` by name; ``takes`` request headers; ``errors`` the statuses of its problems; ``empty`` statuses
    without a body.
    """
    content = {name: {"schema": schema} for name, schema in (others or {}).items()}
    if gives is not None:
        content[JSON] = {"schema": schema_of(gives)}
    parts = {"headers": _headers(headers), "content": content, "links": links}
    given = {name: part for name, part in parts.items() if part}
    responses: dict[str, Any] = {str(status): {"description": says, **given}}
    responses |= {str(code): {"description": text} for code, text in (empty or {}).items()}
    responses |= {str(code): _error(code) for code in sorted({*errors, 500})}
    request_body: Any = None
    if body is not None:
        shown = {"examples": {name: {"value": value} for name, value in examples.items()}} if examples else {}
        request_body = {"required": True, "content": {JSON: {"schema": schema_of(body), **shown}}}

    @dataclass
    class Described(Operation):
        def __post_init__(self) -> None:
            parameters: Any = [*(_without_null(own.to_schema()) for own in self.parameters or ()), *takes]
            self.parameters = parameters or None
            self.request_body = request_body
            self.responses = responses

    return Described


def _without_null(parameter: Plain) -> Plain:
    """A parameter is left out, never ``null``; its limits hold for what else it may be."""
    schema = parameter["schema"]
    kinds = [one for one in schema.get("oneOf", ()) if one != {"type": "null"}]
    if len(kinds) == 1:
        schema = {name: value for name, value in schema.items() if name != "oneOf"} | kinds[0]
    return {**parameter, "schema": schema}


def link(operation: str, **parameters: str) -> Plain:
    """Where to go on from an answer."""
    return {"operationId": operation, "parameters": parameters}
