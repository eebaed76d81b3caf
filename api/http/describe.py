"""The OpenAPI description: what Litestar cannot read off a handler that takes raw bytes and gives them.

Schemas are msgspec's own, of the very types that read and write, so that tags, patterns and limits are right.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, cast

import msgspec
from litestar.openapi.spec import (
    Example,
    Link,
    OpenAPIHeader,
    OpenAPIMediaType,
    OpenAPIResponse,
    Operation,
    Parameter,
    Reference,
    RequestBody,
    Schema,
    SecurityScheme,
)
from litestar.openapi.spec.enums import OpenAPIType

from api.http import problems

JSON = "application/json"
_REF = "#/components/schemas/{name}"
_SCHEMAS: dict[str, Any] = {}

TOKEN: list[dict[str, list[str]]] = [{"token": []}]
"""A seat's or the official's token."""
ANYBODY: list[dict[str, list[str]]] = [{}, {"token": []}]
"""Without a token as a spectator."""

SECURITY: dict[str, SecurityScheme | Reference] = {
    "token": SecurityScheme(
        type="http",
        scheme="bearer",
        description="The token of a seat or of the official, from the answer that opened the match.",
    )
}


def schema_of(kind: Any) -> Schema:
    """The schema of a type; its parts go among the components."""
    (schema,), components = msgspec.json.schema_components((kind,), ref_template=_REF)
    for name, component in components.items():
        assert _SCHEMAS.setdefault(name, component) == component, f"two types are called {name}"
    return raw(schema)


def raw(schema: Mapping[str, Any]) -> Schema:
    """A schema as plain data. Litestar writes out dictionaries as they stand."""
    return cast(Schema, _tidy(schema))


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


def schemas() -> dict[str, Any]:
    """All schemas that operations refer to, by name."""
    return {name: _tidy(schema) for name, schema in _SCHEMAS.items()}


def in_header(name: str, description: str, *, pattern: str | None = None, example: str | None = None) -> Parameter:
    """A request header that a handler reads by itself."""
    schema = Schema(type=OpenAPIType.STRING, pattern=pattern)
    examples = {"example": Example(value=example)} if example else None
    return Parameter(name=name, param_in="header", schema=schema, description=description, examples=examples)


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
    "Retry-After": "Seconds to wait before trying again.",
    "WWW-Authenticate": "How to say who one is.",
    "Allow": "The methods that the page takes.",
}


def _headers(names: Sequence[str]) -> dict[str, OpenAPIHeader]:
    return {name: OpenAPIHeader(schema=Schema(type=OpenAPIType.STRING), description=_HEADERS[name]) for name in names}


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


def _error(status: int) -> OpenAPIResponse:
    return OpenAPIResponse(
        description=_ERRORS[status],
        headers=cast(Any, _headers(("Content-Language", *_ERROR_HEADERS.get(status, ())))),
        content={problems.MEDIA_TYPE: OpenAPIMediaType(schema=schema_of(problems.Document))},
    )


def described(
    *,
    gives: Any = None,
    status: int = 200,
    says: str = "As asked for.",
    body: Any = None,
    examples: Mapping[str, Any] | None = None,
    others: Mapping[str, Mapping[str, Any]] | None = None,
    headers: Sequence[str] = (),
    takes: Sequence[Parameter] = (),
    errors: Sequence[int] = (),
    empty: Mapping[int, str] | None = None,
    links: Mapping[str, Link] | None = None,
) -> type[Operation]:
    """The operation class of a handler.

    ``gives`` is the type of its JSON answer, ``others`` schemas of other media types; ``body`` what it reads, with
    ``examples`` by name; ``takes`` request headers; ``errors`` the statuses of its problems; ``empty`` statuses
    without a body.
    """
    content = {} if gives is None else {JSON: OpenAPIMediaType(schema=schema_of(gives))}
    content |= {name: OpenAPIMediaType(schema=raw(schema)) for name, schema in (others or {}).items()}
    responses = {
        str(status): OpenAPIResponse(
            description=says,
            headers=cast(Any, _headers(headers)) or None,
            content=content or None,
            links=cast(Any, dict(links)) if links else None,
        )
    }
    responses |= {str(code): OpenAPIResponse(description=text) for code, text in (empty or {}).items()}
    responses |= {str(code): _error(code) for code in sorted({*errors, 500})}
    request_body = None
    if body is not None:
        shown = {name: Example(value=value) for name, value in (examples or {}).items()}
        request_body = RequestBody(
            required=True, content={JSON: OpenAPIMediaType(schema=schema_of(body), examples=cast(Any, shown) or None)}
        )

    @dataclass
    class Described(Operation):
        def __post_init__(self) -> None:
            own = [_without_null(cast(Parameter, parameter)) for parameter in self.parameters or ()]
            self.parameters = [*own, *takes] or None
            self.request_body = request_body
            self.responses = dict(responses)

    return Described


def _without_null(parameter: Parameter) -> Parameter:
    """A parameter is left out, never ``null``; its limits hold for what else it may be."""
    schema = parameter.schema
    if isinstance(schema, Schema) and schema.one_of:
        kinds = [one for one in schema.one_of if isinstance(one, Schema) and one.type != OpenAPIType.NULL]
        if len(kinds) == 1:
            own = {field.name: getattr(kinds[0], field.name) for field in fields(Schema)}
            given = {name: value for name, value in own.items() if value is not None}
            parameter.schema = replace(schema, one_of=None, **given)
    return parameter


def link(operation: str, **parameters: str) -> Link:
    """Where to go on from an answer."""
    return Link(operation_id=operation, parameters=dict(parameters))
