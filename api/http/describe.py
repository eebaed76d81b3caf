"""The OpenAPI description: what Litestar cannot read off a handler that takes raw bytes and gives them.

Schemas are made of the very types that read and write (:mod:`api.http.schemas`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from litestar.openapi.spec import Operation

from api.http import problems
from api.http.schemas import Plain, schema_of
from referee.value import Value

JSON = "application/json"
_OPTIONAL = {"required": False, "deprecated": False}

TOKEN: list[dict[str, list[str]]] = [{"token": []}]
"""A seat's or the official's token."""
ANYBODY: list[dict[str, list[str]]] = [{}, {"token": []}]
"""Without a token as a spectator. It holds wherever a call says nothing else: generators make a client that must have
a token of any call that names one by itself."""


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


class Examples(Value, forbid_unknown_fields=True):
    """What was sent to an operation, and what was answered by status and media type; each by a name."""

    request: dict[str, Any] = msgspec.field(default_factory=dict)
    answers: dict[str, dict[str, dict[str, Any]]] = msgspec.field(default_factory=dict)


@cache
def _examples() -> dict[str, Examples]:
    """By operation, from real matches: ``python -m tests.conformance.examples`` writes them."""
    kept = (files("api.http") / "examples.json").read_bytes()
    return msgspec.json.decode(kept, type=dict[str, Examples])


def show_examples(operation: Plain) -> None:
    """Adds its examples to an operation as it is written. Litestar itself would lose what is null in them."""
    examples = _examples().get(operation["operationId"], Examples())
    if "requestBody" in operation:
        operation["requestBody"]["content"][JSON]["examples"] = _shown(examples.request)
    for status, by_media_type in examples.answers.items():
        for media_type, shown in by_media_type.items():
            operation["responses"][status]["content"][media_type]["examples"] = _shown(shown)


def _shown(examples: Mapping[str, Any]) -> Plain:
    return {name: {"value": value} for name, value in examples.items()}


def described(
    *,
    gives: Any = None,
    status: int = 200,
    says: str = "As asked for.",
    body: Any = None,
    others: Mapping[str, Plain] | None = None,
    headers: Sequence[str] = (),
    takes: Sequence[Plain] = (),
    errors: Sequence[int] = (),
    empty: Mapping[int, str] | None = None,
    links: Mapping[str, Plain] | None = None,
) -> type[Operation]:
    """The operation class of a handler.

    ``gives`` is the type of its JSON answer, ``others`` schemas of other media types; ``body`` what it reads;
    ``takes`` request headers; ``errors`` the statuses of its problems; ``empty`` statuses without a body.
    """

    @dataclass
    class Described(Operation):
        def __post_init__(self) -> None:
            content = {name: {"schema": schema} for name, schema in (others or {}).items()}
            if gives is not None:
                content[JSON] = {"schema": schema_of(gives)}
            parts = {"headers": _headers(headers), "content": content, "links": links}
            responses: dict[str, Any] = {
                str(status): {"description": says, **{name: part for name, part in parts.items() if part}},
                **{str(code): {"description": text} for code, text in (empty or {}).items()},
                **{str(code): _error(code) for code in sorted({*errors, 500})},
            }
            self.responses = responses
            if body is not None:
                content_of_body: Any = {JSON: {"schema": schema_of(body)}}
                self.request_body = {"required": True, "content": content_of_body}  # type: ignore[assignment]
            parameters: Any = [*(_without_null(own.to_schema()) for own in self.parameters or ()), *takes]
            self.parameters = parameters or None

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
