"""Makes the parts of the OpenAPI description that Litestar cannot derive from handlers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec
from litestar.openapi.spec import Operation

from api.http import problems
from api.http.protocol import URL_MAX, VALUE_MAX
from api.http.request_ids import ID_MAX, ID_PATTERN
from api.http.schemas import Plain, schema_of
from referee.value import Value
from referee.wire_types import TEXT_MAX

JSON = "application/json"
ANY_VALUE = r"^[^\x00\r\n]*$"

TOKEN: list[dict[str, list[str]]] = [{"token": []}]
"""The call needs a token, or a key of the club."""
ANYBODY: list[dict[str, list[str]]] = [{}, {"token": []}]
"""The call accepts a token or key."""
KEY: list[dict[str, list[str]]] = [{"key": []}]
"""The call needs a key of a club or the operator."""
KEY_OR_ANYBODY: list[dict[str, list[str]]] = [{}, {"key": []}]


def header_parameter(
    name: str, description: str, *, pattern: str = ANY_VALUE, longest: int = VALUE_MAX, example: str | None = None
) -> Plain:
    """Return the description of an optional request header."""
    return {
        "name": name,
        "in": "header",
        "description": description,
        "required": False,
        "schema": {"type": "string", "pattern": pattern, "maxLength": longest},
        **({"examples": {"example": {"value": example}}} if example else {}),
    }


LANGUAGE = header_parameter("Accept-Language", "The language of sentences: `en` or `sv`.", example="sv")
IF_NONE_MATCH = header_parameter(
    "If-None-Match", "The ETag of the answer that the client has: 304 if it has not changed.", example='"12"'
)
IF_MATCH = header_parameter(
    "If-Match",
    "Only if the match, or club, has this version. Without it the act is decided on the newest version.",
    pattern=r'^"[0-9]{1,9}(-[a-z-]+)?"$',
    longest=64,
    example='"12"',
)
IDEMPOTENCY_KEY = header_parameter(
    "Idempotency-Key",
    "Makes a repeat safe: the same key with the same body gets the same answer, and nothing is done twice.",
    pattern="^[!-}][!-~]{0,127}$",
    longest=128,
    example="2f6c9e1a",
)

OPENING_KEY = header_parameter(
    "Idempotency-Key",
    "Makes a repeat safe: for 24 hours the same key with the same body gets the same match or club with the same "
    "tokens or key. A caller who knows it can get them: it must be a secret, such as a random UUID.",
    pattern="^[!-}][!-~]{15,127}$",
    longest=128,
    example="7d1c3a52-5f0e-4f5b-9c76-0a4f7f2f6b1d",
)


def _text_schema(pattern: str, longest: int) -> Plain:
    return {"type": "string", "pattern": pattern, "maxLength": longest}


_HEADERS: dict[str, tuple[str, Plain]] = {
    "Access-Control-Allow-Origin": (
        "If the operator lets pages of other origins call: the origin that may read the answer, or `*` for any.",
        _text_schema(r"^(\*|https?://\S+)$", VALUE_MAX),
    ),
    "Content-Disposition": ("The name of the file.", _text_schema('^attachment; filename="[!-~]+"$', 64)),
    "Content-Language": ("The language of the sentences.", {"type": "string", "enum": ["en", "sv"]}),
    "ETag": (
        "In quotes the version of the match, or club, followed by `-gzip` or similar in other forms of the answer; "
        "if there is no version, a hash of the answer.",
        _text_schema('^(W/)?"[!#-~]{1,128}"$', 132),
    ),
    "Idempotency-Replayed": (
        "`true`: the act was done by an earlier request, and this is its answer.",
        {"type": "string", "enum": ["true"]},
    ),
    "Link": (
        '`rel="next"`: the next page. `rel="describedby"`: the description (RFC 8288).',
        _text_schema("^<[!-~]+>; ", VALUE_MAX),
    ),
    "Location": ("The path of the new match, or club.", _text_schema("^/v1/[!-~]+$", URL_MAX)),
    "RateLimit": (
        "If the operator limits requests: `r` requests of this kind, `act` for writes and `read` for the rest, are "
        "left, and after `t` seconds all are available again (draft-ietf-httpapi-ratelimit-headers). Counted by "
        "key, else by token, else by address.",
        _text_schema('^"(act|read)";r=[0-9]+;t=[0-9]+$', 64),
    ),
    "RateLimit-Policy": (
        "If the operator limits requests: `q` requests of this kind in `w` seconds.",
        _text_schema('^"(act|read)";q=[0-9]+;w=[0-9]+$', 64),
    ),
    "Retry-After": (
        "Seconds to wait before trying again.",
        {"type": "integer", "minimum": 1, "maximum": problems.RETRY_AFTER_MOST_SECONDS},
    ),
    "WWW-Authenticate": ("The scheme of the credentials that the call needs.", _text_schema("^Bearer ", 256)),
    "X-Request-Id": (
        "The id of the request, in the log of the service and in `instance` of its problem: the one that the client "
        "sent as `X-Request-Id` with 8 to 64 of `A-Za-z0-9_-`, else a new one.",
        _text_schema(f"^{ID_PATTERN}$", ID_MAX),
    ),
    "X-Accel-Buffering": (
        "`no`: a proxy before the service, such as nginx, must not buffer the answer.",
        {"type": "string", "enum": ["no"]},
    ),
}
_ON_EVERY_ANSWER = ("Access-Control-Allow-Origin", "RateLimit", "RateLimit-Policy", "X-Request-Id")


def named_headers() -> Plain:
    return {
        name: {"schema": schema, "description": text, "required": False} for name, (text, schema) in _HEADERS.items()
    }


def _header_references(names: Sequence[str]) -> Plain:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in sorted({*names, *_ON_EVERY_ANSWER})}


_ERRORS_OF_EVERY_CALL = (400, 401, 406, 413, 429, 500, 503)
_ERROR_HEADERS = {401: ("WWW-Authenticate",), 429: ("Retry-After",), 503: ("Retry-After",)}
_ERRORS = {
    400: "A parameter, a header or the body cannot be read.",
    401: "The token or key is missing, malformed, unknown, expired or revoked.",
    403: "The token is for a different seat or role, the key lacks a scope, or a limit is reached.",
    404: "It does not exist, or the caller may not see it.",
    406: "Accept names no media type of the answer.",
    409: "The request does not fit the state of the match.",
    412: "If-Match names an old version.",
    413: "The body is too large.",
    415: "The body is not `application/json`.",
    422: "Against the rules, or the same Idempotency-Key with a different body.",
    429: "More requests than the operator allows one key, token or address.",
    500: "A fault of the service.",
    503: "The service cannot answer now.",
}


def _error_response(status: int) -> Plain:
    return {
        "description": _ERRORS[status],
        "headers": _header_references(("Content-Language", "Link", *_ERROR_HEADERS.get(status, ()))),
        "content": {problems.MEDIA_TYPE: {"schema": schema_of(problems.Document)}},
    }


class OperationExamples(Value, forbid_unknown_fields=True):
    """Examples of an operation: requests by name; answers by status, media type and name."""

    request: dict[str, Any] = msgspec.field(default_factory=dict)
    answers: dict[str, dict[str, dict[str, Any]]] = msgspec.field(default_factory=dict)
    problems: dict[str, str] = msgspec.field(default_factory=dict)
    """Names of problems by status."""


class Examples(Value, forbid_unknown_fields=True):
    operations: dict[str, OperationExamples]
    problems: dict[str, dict[str, Any]]


@cache
def _examples() -> Examples:
    return msgspec.json.decode((files("api.http") / "examples.json").read_bytes(), type=Examples)


def problem_examples() -> dict[str, dict[str, Any]]:
    """Return example problems by the last part of their type."""
    return _examples().problems


def show_examples(operation: Plain) -> None:
    """Add examples, and references to :func:`named_responses`, because Litestar drops nulls in examples."""
    examples = _examples().operations.get(operation["operationId"], OperationExamples())
    if "requestBody" in operation:
        operation["requestBody"]["content"][JSON]["examples"] = _usual_first(examples.request)
    for status, by_media_type in examples.answers.items():
        for media_type, shown in by_media_type.items():
            operation["responses"][status]["content"][media_type]["examples"] = _usual_first(shown)
    for status in operation["responses"].keys() & examples.problems.keys():
        operation["responses"][status] = {"$ref": f"#/components/responses/{examples.problems[status]}"}


def named_responses() -> Plain:
    """Return responses with the :func:`problem_examples`."""
    named: Plain = {}
    for name, problem in _examples().problems.items():
        named[name] = _error_response(problem["status"])
        named[name]["content"][problems.MEDIA_TYPE]["examples"] = _usual_first({name: problem})
    return named


USUAL = ("example", "rodskagg-kortoxen", "play", "deposit", "any offence", "a spectator", "upheld")
"""Names of examples to show first."""


def _usual_first(examples: Mapping[str, Any]) -> Plain:
    return {name: {"value": examples[name]} for name in sorted(examples, key=lambda name: name not in USUAL)}


class Text(NamedTuple):
    """Description of a text answer."""

    what: str
    """Content in words."""
    begins: str
    """Pattern of the beginning."""
    holds: tuple[Any, ...] = ()
    """Types of JSON in the text."""

    def schema(self) -> Plain:
        holds = {"contentSchema": {"anyOf": [schema_of(one) for one in self.holds]}} if self.holds else {}
        return {
            "type": "string",
            "description": self.what,
            "pattern": f"^({self.begins})",
            "maxLength": TEXT_MAX,
            **holds,
        }


def _content_description(gives: Any, others: Mapping[str, Text] | None = None) -> Plain:
    content = {name: {"schema": text.schema()} for name, text in (others or {}).items()}
    return content if gives is None else {JSON: {"schema": schema_of(gives)}, **content}


def _answer_description(
    text: str, headers: Sequence[str], content: Plain | None = None, links: Mapping[str, Plain] | None = None
) -> Plain:
    parts = {"headers": _header_references(headers), "content": content, "links": links}
    return {"description": text, **{name: part for name, part in parts.items() if part}}


@dataclass
class OwnOperation(Operation):
    """Base of all operations, because making a dataclass for each call takes much longer."""

    def __post_init__(self) -> None:
        """Do nothing. :func:`described` overrides this."""


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
    """Return the operation class of a handler.

    ``gives``, ``status``, ``says``: type, status and description of the JSON answer. ``beside``: description and type
    of other JSON answers, by status. ``others``: text answers, by media type. ``empty``: descriptions of answers
    without a body, by status. ``headers``: answer headers, also of a 304. ``takes``: request headers. ``body``: type
    of the request body. ``errors``: further problem statuses. ``links``: links of the answer. ``tagged``: without
    a request body the answer has an ETag, or is 304.
    """
    if body is None and tagged:
        headers, takes = ("ETag", "Link", *headers), (IF_NONE_MATCH, *takes)
        empty = {304: "The client already has this answer."} | dict(empty or {})

    class Described(OwnOperation):
        offers = (*((JSON,) if gives is not None else ()), *(others or ()))

        def __post_init__(self) -> None:
            answers = {
                code: _answer_description(text, headers, _content_description(kind))
                for code, (text, kind) in (beside or {}).items()
            }
            answers[status] = _answer_description(says, headers, _content_description(gives, others), links)
            for code, text in (empty or {}).items():
                answers[code] = _answer_description(text, headers if code == 304 else ())
            answers |= {code: _error_response(code) for code in sorted({*errors, *_ERRORS_OF_EVERY_CALL})}
            responses: dict[str, Any] = {str(code): answer for code, answer in answers.items()}
            self.responses = responses
            if body is not None:
                request_body: Any = {"required": True, "content": {JSON: {"schema": schema_of(body)}}}
                self.request_body = request_body
            own = [_without_null(one.to_schema()) for one in self.parameters or ()]
            parameters: Any = sorted((*own, *takes), key=lambda one: (one["in"] != "path", not one["required"]))
            self.parameters = parameters or None

    return Described


def _without_null(parameter: Plain) -> Plain:
    """Return a parameter without ``null``, because clients leave it out instead."""
    schema = parameter["schema"]
    kinds = [one for one in schema.get("oneOf", ()) if one != {"type": "null"}]
    if len(kinds) == 1:
        schema = {name: value for name, value in schema.items() if name != "oneOf"} | kinds[0]
    return {**parameter, "schema": schema}


def link(operation: str, **parameters: str) -> Plain:
    return {"operationId": operation, "parameters": parameters}
