"""The OpenAPI description: what Litestar cannot read off a handler that takes raw bytes and gives them.

Schemas are made of the very types that read and write (:mod:`api.http.schemas`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec
from litestar.openapi.spec import Operation

from api.http import problems
from api.http.protocol import URL_MAX, VALUE_MAX
from api.http.schemas import Plain, schema_of
from referee.value import Value
from referee.wire_types import TEXT_MAX

JSON = "application/json"
ANY = r"^[^\x00\r\n]*$"
"""Whatever a header may hold: what cannot be read is as if it were not there."""

TOKEN: list[dict[str, list[str]]] = [{"token": []}]
"""A seat's or the official's token."""
ANYBODY: list[dict[str, list[str]]] = [{}, {"token": []}]
"""Without a token as a spectator. It holds wherever a call says nothing else: generators make a client that must have
a token of any call that names one by itself."""

KEY: list[dict[str, list[str]]] = [{"key": []}]
"""A key of a club."""
KEY_OR_ANYBODY: list[dict[str, list[str]]] = [{}, {"key": []}]


def in_header(
    name: str, description: str, *, pattern: str = ANY, longest: int = VALUE_MAX, example: str | None = None
) -> Plain:
    """A request header that a handler reads by itself."""
    return {
        "name": name,
        "in": "header",
        "description": description,
        "required": False,
        "schema": {"type": "string", "pattern": pattern, "maxLength": longest},
        **({"examples": {"example": {"value": example}}} if example else {}),
    }


LANGUAGE = in_header("Accept-Language", "The language of sentences: `en` or `sv`.", example="sv")
IF_NONE_MATCH = in_header("If-None-Match", "The ETag at hand: 304 if the answer is still that one.", example='"12"')
IF_MATCH = in_header(
    "If-Match",
    "Only if the match, or club, is at this version. Without it the act is decided on how things stand.",
    pattern=r'^"[0-9]{1,9}(-[a-z-]+)?"$',
    longest=64,
    example='"12"',
)
IDEMPOTENCY_KEY = in_header(
    "Idempotency-Key",
    "Makes a repeat safe: the same key with the same body gives the same answer, and nothing happens twice.",
    pattern="^[!-}][!-~]{0,127}$",
    longest=128,
    example="2f6c9e1a",
)

OPENING_KEY = in_header(
    "Idempotency-Key",
    "Makes a repeat safe: for 24 hours the same key with the same body gives the same match or club with the same "
    "tokens or key. Whoever knows it can have them: it is a secret, such as a random UUID.",
    pattern="^[!-}][!-~]{15,127}$",
    longest=128,
    example="7d1c3a52-5f0e-4f5b-9c76-0a4f7f2f6b1d",
)


def _text(pattern: str, longest: int) -> Plain:
    return {"type": "string", "pattern": pattern, "maxLength": longest}


_HEADERS: dict[str, tuple[str, Plain]] = {
    "Access-Control-Allow-Origin": (
        "Where the operator lets pages of other origins call: whose page may read the answer, or `*` for any.",
        _text(r"^(\*|https?://\S+)$", VALUE_MAX),
    ),
    "Content-Disposition": ("What to call the file.", _text('^attachment; filename="[!-~]+"$', 64)),
    "Content-Language": ("The language of the sentences.", {"type": "string", "enum": ["en", "sv"]}),
    "ETag": (
        "In quotes the version of the match, or club, followed by `-gzip` or the like in other forms of the same; "
        "where there is no version, a mark of what the answer says.",
        _text('^(W/)?"[!#-~]{1,128}"$', 132),
    ),
    "Idempotency-Replayed": (
        "`true`: the act had been done before, and this is its answer.",
        {"type": "string", "enum": ["true"]},
    ),
    "Link": (
        'Where there is more, `rel="next"`, and where it is described, `rel="describedby"` (RFC 8288).',
        _text("^<[!-~]+>; ", VALUE_MAX),
    ),
    "Location": ("Where the new match, or club, is.", _text("^/v1/[!-~]+$", URL_MAX)),
    "RateLimit": (
        "Where the operator limits how much may be asked: of this kind, `act` for what writes and `read` for the "
        "rest, `r` requests are left, and after `t` seconds all are there again "
        "(draft-ietf-httpapi-ratelimit-headers). Counted by key, else by token, else by address.",
        _text('^"(act|read)";r=[0-9]+;t=[0-9]+$', 64),
    ),
    "RateLimit-Policy": (
        "Where the operator limits it: `q` requests of this kind in `w` seconds.",
        _text('^"(act|read)";q=[0-9]+;w=[0-9]+$', 64),
    ),
    "Retry-After": (
        "Seconds to wait before trying again.",
        {"type": "integer", "minimum": 1, "maximum": problems.RETRY_AFTER_MOST_SECONDS},
    ),
    "WWW-Authenticate": ("How to say who one is.", _text("^Bearer ", 256)),
    "X-Accel-Buffering": (
        "To a proxy before the service, such as nginx: it is to pass on what comes at once.",
        {"type": "string", "enum": ["no"]},
    ),
}
_EVERYWHERE = ("Access-Control-Allow-Origin", "RateLimit", "RateLimit-Policy")


def named_headers() -> Plain:
    """All headers of answers, by name: an answer refers to those that it may have."""
    return {
        name: {"schema": schema, "description": text, "required": False} for name, (text, schema) in _HEADERS.items()
    }


def _headers(names: Sequence[str]) -> Plain:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in sorted({*names, *_EVERYWHERE})}


_ERROR_HEADERS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}
_ERRORS = {
    400: "Unreadable: a parameter, a header or the body.",
    401: "The token or key is missing or not good, or is not of this match; or Authorization names none.",
    403: "The token is another seat's, or not the official's; the key lacks a scope; or there are as many as may be.",
    404: "There is no such thing.",
    406: "There is no form of it that Accept names.",
    409: "The match is in no state for it.",
    412: "If-Match is stale: the match has moved on.",
    413: "The body is too large.",
    415: "The body is not `application/json`.",
    422: "Against the rules, or the same Idempotency-Key with another body.",
    429: "More than the operator lets one key, token or address ask.",
    500: "Our fault.",
    503: "Try again.",
}


def _error(status: int) -> Plain:
    return {
        "description": _ERRORS[status],
        "headers": _headers(("Content-Language", "Link", *_ERROR_HEADERS.get(status, ()))),
        "content": {problems.MEDIA_TYPE: {"schema": schema_of(problems.Document)}},
    }


class OperationExamples(Value, forbid_unknown_fields=True):
    """What was sent to an operation, and what was answered by status and media type; each by a name."""

    request: dict[str, Any] = msgspec.field(default_factory=dict)
    answers: dict[str, dict[str, dict[str, Any]]] = msgspec.field(default_factory=dict)
    problems: dict[str, str] = msgspec.field(default_factory=dict)
    """By status, the name of the problem that was answered."""


class Examples(Value, forbid_unknown_fields=True):
    """All of them."""

    operations: dict[str, OperationExamples]
    problems: dict[str, dict[str, Any]]
    """By their names."""


@cache
def _examples() -> Examples:
    """From real matches: ``python -m tests.conformance.examples`` writes them."""
    return msgspec.json.decode((files("api.http") / "examples.json").read_bytes(), type=Examples)


def show_examples(operation: Plain) -> None:
    """Adds its examples to an operation as it is written. Litestar itself would lose what is null in them. A problem
    is told once for all operations, and referred to."""
    examples = _examples().operations.get(operation["operationId"], OperationExamples())
    if "requestBody" in operation:
        operation["requestBody"]["content"][JSON]["examples"] = _shown(examples.request)
    for status, by_media_type in examples.answers.items():
        for media_type, shown in by_media_type.items():
            operation["responses"][status]["content"][media_type]["examples"] = _shown(shown)
    for status in operation["responses"].keys() & examples.problems.keys():
        operation["responses"][status] = {"$ref": f"#/components/responses/{examples.problems[status]}"}


def named_responses() -> Plain:
    """The problems that operations refer to, by name."""
    named: Plain = {}
    for name, problem in _examples().problems.items():
        named[name] = _error(problem["status"])
        named[name]["content"][problems.MEDIA_TYPE]["examples"] = _shown({name: problem})
    return named


def _shown(examples: Mapping[str, Any]) -> Plain:
    return {name: {"value": value} for name, value in examples.items()}


class Text(NamedTuple):
    """An answer that is text: what it is, how it begins, and of which types is what it holds as JSON, if it does."""

    what: str
    begins: str
    holds: tuple[Any, ...] = ()

    def schema(self) -> Plain:
        """Made when it is first asked for: whoever only imports a call waits for no schema."""
        holds = {"contentSchema": {"anyOf": [schema_of(one) for one in self.holds]}} if self.holds else {}
        return {
            "type": "string",
            "description": self.what,
            "pattern": f"^({self.begins})",
            "maxLength": TEXT_MAX,
            **holds,
        }


def described(
    *,
    gives: Any = None,
    status: int = 200,
    beside: Mapping[int, tuple[str, Any]] | None = None,
    says: str = "As asked for.",
    body: Any = None,
    others: Mapping[str, Text] | None = None,
    headers: Sequence[str] = (),
    takes: Sequence[Plain] = (),
    errors: Sequence[int] = (),
    empty: Mapping[int, str] | None = None,
    links: Mapping[str, Plain] | None = None,
    tagged: bool = True,
) -> type[Operation]:
    """The operation class of a handler.

    What takes no body is a read, and has an ETag unless not ``tagged``.

    ``gives`` is the type of its JSON answer, ``beside`` by status what others say and give, ``others`` schemas of
    other media types; ``body`` what it reads;
    ``takes`` request headers; ``errors`` the statuses of its problems; ``empty`` statuses without a body. A 304 has
    the ``headers`` of the answer in whose place it is given.
    """
    if body is None and tagged:
        headers, takes = ("ETag", "Link", *headers), (IF_NONE_MATCH, *takes)
        empty = {304: "The caller has it already."} | dict(empty or {})

    @dataclass
    class Described(Operation):
        offers = (*((JSON,) if gives is not None else ()), *(others or ()))

        def __post_init__(self) -> None:
            content = {name: {"schema": text.schema()} for name, text in (others or {}).items()}
            if gives is not None:
                content[JSON] = {"schema": schema_of(gives)}
            parts = {"headers": _headers(headers), "content": content, "links": links}
            more = {
                str(code): {
                    "description": text,
                    "headers": _headers(headers),
                    "content": {JSON: {"schema": schema_of(kind)}},
                }
                for code, (text, kind) in (beside or {}).items()
            }
            responses: dict[str, Any] = {
                **more,
                str(status): {"description": says, **{name: part for name, part in parts.items() if part}},
                **{
                    str(code): {"description": text, "headers": _headers(headers if code == 304 else ())}
                    for code, text in (empty or {}).items()
                },
                **{str(code): _error(code) for code in sorted({*errors, 400, 401, 406, 413, 429, 500, 503})},
            }
            self.responses = responses
            if body is not None:
                request_body: Any = {"required": True, "content": {JSON: {"schema": schema_of(body, sent=True)}}}
                self.request_body = request_body
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
