"""Adds HEAD to each path with GET, and to each path an OPTIONS that names the methods of the path."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy

from litestar.controller import Controller
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler

from api.http.headers import Req
from api.http.replies import Reply, bodiless_reply


def controller_of(path: str, handlers: Iterable[HTTPRouteHandler], tags: Sequence[str] = ()) -> type[Controller]:
    """Return a controller with these handlers, and with HEAD and OPTIONS, which ``openapi.json`` omits.

    It is no router, because Litestar deep-copies routers for each app and reads signatures again.
    """
    calls = list(handlers)
    for call in (*calls, _options):
        _ = call.signature_model  # Copies share the cached model.
    methods: dict[str, set[str]] = defaultdict(lambda: {"OPTIONS"})
    for call in calls:
        for name in call.paths:
            methods[name] |= {*call.http_methods, *({"HEAD"} if "GET" in call.http_methods else ())}
    # OPTIONS come first, because Litestar otherwise adds one with the methods of only one call of the path.
    options = [_options_for(name, of) for name, of in methods.items()]
    heads = [_head_for(call) for call in calls if "GET" in call.http_methods]

    class Routed(Controller):
        def get_route_handlers(self) -> list[BaseRouteHandler]:
            return [copy(handler) for handler in (*options, *calls, *heads)]

    Routed.path, Routed.tags = path, tags
    return Routed


@HTTPRouteHandler(http_method="OPTIONS", include_in_schema=False)
async def _options(request: Req) -> Reply:
    return bodiless_reply(204, {"Allow": request.scope["route_handler"].opt["allow"]})


def _options_for(path: str, methods: Iterable[str]) -> HTTPRouteHandler:
    options = copy(_options)
    options.paths, options.opt = {path}, {"allow": ", ".join(sorted(methods))}
    return options


def _head_for(handler: HTTPRouteHandler) -> HTTPRouteHandler:
    head = copy(handler)
    head.http_methods, head.include_in_schema = {"HEAD"}, False
    return head
