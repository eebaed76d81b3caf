"""Checks query parameters and Accept before a call does any work."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter

from api.http.faults import Fault, type_of
from api.http.headers import Req, chosen, header
from api.http.problems import Problem
from referee.games import RULESETS


class Declared(NamedTuple):
    """The query parameters and media types of a described call."""

    parameters: tuple[str, ...]
    offers: tuple[str, ...]


_DECLARED: dict[type, Declared] = {}
"""Declarations by operation class; each call has its own."""


def _declared(handler: HTTPRouteHandler) -> Declared | None:
    """Return ``None`` if the handler is not described."""
    operation: Any = handler.operation_class
    if operation not in _DECLARED and hasattr(operation, "offers"):
        fields = handler.parsed_fn_signature.parameters.items()
        definitions = ((name, field.kwarg_definition) for name, field in fields)
        names = (kind.name or name for name, kind in definitions if isinstance(kind, QueryParameter))
        _DECLARED[operation] = Declared(tuple(names), operation.offers)
    return _DECLARED.get(operation)


def strictly(request: Req) -> None:
    """Raise Problem (400 unknown_parameter, repeated_parameter; 406 not_acceptable) unless the request fits its call.

    If a misspelt ``limit`` were ignored, the client would get the answer to a different question.
    """
    accept = header(request, b"accept")
    if not request.scope["query_string"] and accept in (None, "*/*"):
        return  # most acts
    declared = _declared(request.scope["route_handler"])  # type: ignore[arg-type]  # only these handlers have a call
    if declared is None:
        return
    if request.scope["query_string"]:
        given = [name for name, _ in request.query_params.multi_items()]
        for name in given:
            if name not in declared.parameters:
                raise Problem("unknown_parameter", parameter=name, allowed=list(declared.parameters))
            if given.count(name) > 1:
                raise Problem("repeated_parameter", parameter=name, count=given.count(name))
    if chosen(accept, declared.offers) is None:
        raise Problem("not_acceptable", allowed=list(declared.offers))


def next_page_header(request: Req, **changed: object) -> dict[str, str]:
    """Return the header that links the next page: this request with changed parameters."""
    parameters = {**dict(request.query_params), **changed}
    return {"Link": f'<{request.scope["path"]}?{urlencode(parameters)}>; rel="next"'}


def must_be_ruleset(ruleset: str | None) -> None:
    """Raise Problem (422) for an unknown game; None names no game."""
    if ruleset is not None and ruleset not in RULESETS:
        raise Problem("unknown_ruleset", ruleset=ruleset, allowed=list(RULESETS))


def refuse_null(request: Req, **parameters: tuple[object, Any]) -> None:
    """Raise Problem (400) for a parameter given as "null", which Litestar reads as missing."""
    for name, (value, kind) in parameters.items():
        if value is None and name in request.query_params:
            fault = Fault("wrong", parameter=name, expected=type_of(kind), given=None)
            raise Problem("bad_parameter", faults=(fault,))
