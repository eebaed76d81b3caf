"""Checks numbers in the path, query parameters and Accept before a call does any work."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter

from api.http.faults import Fault, type_of
from api.http.headers import Req, chosen, header
from api.http.problems import Problem
from referee.games import RULESETS

_FRACTION = re.compile("[.e]", re.IGNORECASE)


class Parameter(NamedTuple):
    kind: Any
    limited: Any


class Declared(NamedTuple):
    """The query parameters and media types of a described call."""

    parameters: dict[str, Parameter]
    offers: tuple[str, ...]


_DECLARED: dict[type, Declared] = {}


def _declared(handler: HTTPRouteHandler) -> Declared | None:
    """Return what a call declares; ``None`` if it is not described."""
    operation: Any = handler.operation_class
    if operation not in _DECLARED and hasattr(operation, "offers"):
        limited = handler.signature_model.__annotations__
        parameters = {
            field.kwarg_definition.name or name: Parameter(field.annotation, limited[name])
            for name, field in handler.parsed_fn_signature.parameters.items()
            if isinstance(field.kwarg_definition, QueryParameter)
        }
        _DECLARED[operation] = Declared(parameters, operation.offers)
    return _DECLARED.get(operation)


def strictly(request: Req) -> None:
    """Raise Problem unless the request fits its call: 404 no_such_page, 400 unknown_parameter, repeated_parameter or
    bad_parameter, 406 not_acceptable.

    Litestar reads ``+1``, ``01`` and ``1_0`` in a path as
    whole numbers, so one page would have many addresses.
    """
    path = request.scope["path"]
    for value in request.scope.get("path_params", {}).values():
        if isinstance(value, int) and str(value) not in path.split("/"):
            raise Problem("no_such_page", path=path)
    accept = header(request, b"accept")
    if not request.scope["query_string"] and accept in (None, "*/*"):
        return  # most acts
    declared = _declared(request.scope["route_handler"])  # type: ignore[arg-type]  # only these handlers have a call
    if declared is None:
        return
    if request.scope["query_string"]:
        sent = request.query_params
        given = [name for name, _ in sent.multi_items()]
        for name in given:
            if name not in declared.parameters:
                raise Problem("unknown_parameter", parameter=name, allowed=list(declared.parameters))
            if given.count(name) > 1:
                raise Problem("repeated_parameter", parameter=name, count=given.count(name))
        _must_be_read_as_sent(sent, declared.parameters)
    if chosen(accept, declared.offers) is None:
        raise Problem("not_acceptable", allowed=list(declared.offers))


def _must_be_read_as_sent(sent: Mapping[str, str], parameters: Mapping[str, Parameter]) -> None:
    """Raise Problem (400) for values that Litestar would accept as other values. Litestar refuses the rest."""
    faults = [
        Fault("wrong", parameter=name, expected=type_of(parameters[name].limited), given=text)
        for name, text in sent.items()
        if _is_misread(parameters[name].kind, text)
    ]
    if faults:
        raise Problem("bad_parameter", faults=faults)


def _is_misread(kind: Any, text: str) -> bool:
    """Return whether Litestar would read ``1.0`` or ``1e1`` as a whole number, or ``null`` as a missing parameter."""
    if text.lower() == "null":
        return kind not in (str, str | None)
    return kind in (int, int | None) and _FRACTION.search(text) is not None


def next_page_header(request: Req, **changed: object) -> dict[str, str]:
    """Return the header that links this request with changed parameters as the next page."""
    parameters = {**dict(request.query_params), **changed}
    query = "&".join([f"{name}={_in_query(value)}" for name, value in parameters.items()])
    return {"Link": f'<{request.scope["path"]}?{query}>; rel="next"'}


def _in_query(value: object) -> str:
    return str(value) if isinstance(value, int) else quote_plus(str(value))


def must_be_ruleset(ruleset: str | None) -> None:
    """Raise Problem (422) for an unknown game. ``None`` is accepted."""
    if ruleset is not None and ruleset not in RULESETS:
        raise Problem("unknown_ruleset", ruleset=ruleset, allowed=list(RULESETS))
