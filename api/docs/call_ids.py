"""Finds the operation id of a call that a text names."""

import re

from litestar import Litestar
from litestar.routes import HTTPRoute

_NAMED = re.compile(r"(GET|POST) (/v1|…)(/[^?#\s]*)?(\?\S*)?")


def _without_parameter_names(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", path)


_IDS: dict[tuple[str, str], str] = {}
"""Operation ids by method and path. Every service in a process has the same calls."""


def read_calls(app: Litestar) -> None:
    """Read the calls of the service for :func:`call_id`."""
    if _IDS:
        return
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for handler in route.route_handlers:
                if isinstance(handler.operation_id, str):
                    path = _without_parameter_names(route.path_format)
                    _IDS.update({(method, path): handler.operation_id for method in handler.http_methods})


def call_id(text: str) -> str | None:
    """Return the operation id of the call that a text names by id or by method and path, or ``None``.

    ``…`` in the text means the path of a match or a club.
    """
    if text in _IDS.values():
        return text
    found = _NAMED.fullmatch(text)
    if found is None:
        return None
    method, start, rest = found[1], found[2], _without_parameter_names(found[3] or "")
    starts = ("/v1",) if start == "/v1" else ("/v1/matches/{}", "/v1/clubs/{}", "/v1")
    return next((_IDS[method, one + rest] for one in starts if (method, one + rest) in _IDS), None)
