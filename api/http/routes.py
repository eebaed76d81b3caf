"""What goes with each path: HEAD wherever there is GET, and OPTIONS, which names all methods."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from litestar import Router
from litestar.handlers import HTTPRouteHandler

from api.http.headers import Req
from api.http.replies import Reply


def routed(path: str, handlers: Iterable[HTTPRouteHandler], **kwargs: Any) -> Router:
    """A router of these handlers and of what goes with them.

    HEAD is the same call, of which the server sends no body: it is left out of the description, where it would
    double every operation.
    """
    handlers = list(handlers)
    methods: dict[str, set[Any]] = defaultdict(set)
    for handler in handlers:
        for name in handler.paths:
            methods[name] |= handler.http_methods
    heads = [_head(handler) for handler in handlers if "GET" in handler.http_methods]
    options = [_options(name, of) for name, of in methods.items()]
    return Router(path, route_handlers=[*options, *handlers, *heads], **kwargs)


def _head(handler: HTTPRouteHandler) -> HTTPRouteHandler:
    paths, operation = sorted(handler.paths), handler.operation_class
    head = HTTPRouteHandler(paths, http_method="HEAD", include_in_schema=False, operation_class=operation)
    return head(handler.fn)


def _options(path: str, methods: set[Any]) -> HTTPRouteHandler:
    """Comes before the calls, or Litestar adds its own, which names the methods of only the first of them."""
    allowed = {*methods, "OPTIONS", *({"HEAD"} if "GET" in methods else ())}

    @HTTPRouteHandler(path, http_method="OPTIONS", include_in_schema=False)
    async def options(request: Req) -> Reply:
        return Reply(status=204, headers={"Allow": ", ".join(sorted(allowed))})

    return options
