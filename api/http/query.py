"""Checks numbers in the path, query parameters and Accept before a call does any work."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote_plus

from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter

from api.http.faults import Fault, type_of
from api.http.headers import Req, header, preferred_media_type
from api.http.problems import Problem
from referee.games import RULESETS

_FRACTION = re.compile("[.e]", re.IGNORECASE)


class Parameter(NamedTuple):
    bare_type: Any
    limited_type: Any


class Declared(NamedTuple):
    """The query parameters and media types of a described call."""

    parameters: dict[str, Parameter]
    offers: tuple[str, ...]


_DECLARED: dict[type, Declared] = {}


def _declaration_of(handler: HTTPRouteHandler) -> Declared | None:
    """Return the declaration of a call; ``None``: not described."""
    operation: Any = handler.operation_class
    if operation not in _DECLARED and hasattr(operation, "offers"):
        limited_type = handler.signature_model.__annotations__
        parameters = {
            field.kwarg_definition.name or name: Parameter(field.annotation, limited_type[name])
            for name, field in handler.parsed_fn_signature.parameters.items()
            if isinstance(field.kwarg_definition, QueryParameter)
        }
        _DECLARED[operation] = Declared(parameters, operation.offers)
    return _DECLARED.get(operation)


def must_fit_call(request: Req) -> None:
    """Raise Problem unless the request fits its call.

    Codes: 400 unknown_parameter, repeated_parameter or bad_parameter; 406 not_acceptable; 404 no_such_page for
    ``+1``, ``01`` and ``1_0`` in a path, because Litestar reads them as whole numbers. Only the
    path of an undescribed call is checked.
    """
    path = request.scope["path"]
    for value in request.scope.get("path_params", {}).values():
        if isinstance(value, int) and str(value) not in path.split("/"):
            raise Problem("no_such_page", path=path)
    accept = header(request, b"accept")
    if not request.scope["query_string"] and accept in (None, "*/*"):
        return
    declared = _declaration_of(request.scope["route_handler"])  # type: ignore[arg-type]  # calls have HTTP routes only
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
        _must_not_be_misread(sent, declared.parameters)
    if preferred_media_type(accept, declared.offers) is None:
        raise Problem("not_acceptable", allowed=list(declared.offers))


def _must_not_be_misread(sent: Mapping[str, str], parameters: Mapping[str, Parameter]) -> None:
    """Raise Problem (400 bad_parameter) for values that Litestar misreads."""
    faults = [
        Fault("wrong", parameter=name, expected=type_of(parameters[name].limited_type), given=text)
        for name, text in sent.items()
        if _is_misread(parameters[name].bare_type, text)
    ]
    if faults:
        raise Problem("bad_parameter", faults=faults)


def _is_misread(bare_type: Any, text: str) -> bool:
    """Return whether Litestar misreads ``1.0`` or ``1e1`` as a whole number, or ``null`` as a missing parameter."""
    if text.lower() == "null":
        return bare_type not in (str, str | None)
    return bare_type in (int, int | None) and _FRACTION.search(text) is not None


def next_page_header(request: Req, **changed: object) -> dict[str, str]:
    """Return a Link header to the next page: this request with changed parameters."""
    parameters = {**dict(request.query_params), **changed}
    query = "&".join([f"{name}={_query_text(value)}" for name, value in parameters.items()])
    return {"Link": f'<{request.scope["path"]}?{query}>; rel="next"'}


def _query_text(value: object) -> str:
    return str(value) if isinstance(value, int) else quote_plus(str(value))


def must_be_ruleset(ruleset: str | None) -> None:
    """Raise Problem (422 unknown_ruleset) unless the ruleset is known or ``None``."""
    if ruleset is not None and ruleset not in RULESETS:
        raise Problem("unknown_ruleset", ruleset=ruleset, allowed=list(RULESETS))
