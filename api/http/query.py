"""What a request asks for, held against what its call takes and gives: for all calls here, before any work."""

from typing import Any, NamedTuple
from urllib.parse import urlencode

from litestar.handlers import HTTPRouteHandler
from litestar.params import QueryParameter

from api.http.faults import Fault, type_of
from api.http.headers import Req, chosen, header
from api.http.problems import Problem


class Taken(NamedTuple):
    """What a call takes and gives, as the description has it."""

    parameters: tuple[str, ...]
    offers: tuple[str, ...]


_TAKEN: dict[type, Taken] = {}
"""By operation: each call has its own."""


def _taken(handler: HTTPRouteHandler) -> Taken | None:
    """What its call takes and gives; ``None`` for what is not described."""
    operation: Any = handler.operation_class
    if operation not in _TAKEN and hasattr(operation, "offers"):
        fields = handler.parsed_fn_signature.parameters.items()
        asked = ((name, field.kwarg_definition) for name, field in fields)
        names = (kind.name or name for name, kind in asked if isinstance(kind, QueryParameter))
        _TAKEN[operation] = Taken(tuple(names), operation.offers)
    return _TAKEN.get(operation)


def strictly(request: Req) -> None:
    """400 for a query parameter that the call does not know, or that is there twice; 406 where it has nothing in a
    form that the reader takes. Passed over in silence, a misspelt ``limit`` would be an answer to another question.
    """
    accept = header(request, b"accept")
    if not request.scope["query_string"] and accept in (None, "*/*"):
        return  # as most acts come: nothing is asked for, and anything will do
    taken = _taken(request.scope["route_handler"])  # type: ignore[arg-type]  # only these have a call
    if taken is None:
        return
    if request.scope["query_string"]:
        given = [name for name, _ in request.query_params.multi_items()]
        for name in given:
            if name not in taken.parameters:
                raise Problem("unknown_parameter", parameter=name, allowed=list(taken.parameters))
            if given.count(name) > 1:
                raise Problem("repeated_parameter", parameter=name, count=given.count(name))
    if chosen(accept, taken.offers) is None:
        raise Problem("not_acceptable", allowed=list(taken.offers))


def more(request: Req, **changed: object) -> dict[str, str]:
    """The header that says where the next page is: the same question, from there on (RFC 8288)."""
    asked = {**dict(request.query_params), **changed}
    return {"Link": f'<{request.scope["path"]}?{urlencode(asked)}>; rel="next"'}


def must_be_told(request: Req, **parameters: tuple[object, Any]) -> None:
    """400 for a parameter that is there and tells nothing of its type: Litestar reads "null" as nothing."""
    for name, (value, kind) in parameters.items():
        if value is None and name in request.query_params:
            fault = Fault("wrong", parameter=name, expected=type_of(kind), given=None)
            raise Problem("bad_parameter", faults=(fault,))
