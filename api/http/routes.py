"""Routes: each path with GET also has HEAD, and each path has OPTIONS, which names all methods."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from copy import copy

from litestar.controller import Controller
from litestar.handlers import BaseRouteHandler, HTTPRouteHandler

from api.http.headers import Req
from api.http.replies import Reply, bodiless


def routed(path: str, handlers: Iterable[HTTPRouteHandler], tags: Sequence[str] = ()) -> type[Controller]:
    """Return a controller with these handlers under a path, and with HEAD and OPTIONS.

    HEAD runs the call of GET, and the server sends no body. It is left out of the description: it would double every
    operation. A controller is used because Litestar deep-copies a router for each app. The signatures of the
    calls are read here, before an app exists: decoders and names of an app do not reach them.
    """
    calls = list(handlers)
    for call in (*calls, _options):
        _ = call.signature_model  # made here once, or each app would make it
    methods: dict[str, set[str]] = defaultdict(lambda: {"OPTIONS"})
    for call in calls:
        for name in call.paths:
            methods[name] |= {*call.http_methods, *({"HEAD"} if "GET" in call.http_methods else ())}
    # OPTIONS comes first, or Litestar adds its own, which names the methods of only the first call of a path.
    options = [_options_of(name, of) for name, of in methods.items()]
    heads = [_head(call) for call in calls if "GET" in call.http_methods]

    class Routed(Controller):
        def get_route_handlers(self) -> list[BaseRouteHandler]:
            return [copy(handler) for handler in (*options, *calls, *heads)]

    Routed.path, Routed.tags = path, tags
    return Routed


@HTTPRouteHandler(http_method="OPTIONS", include_in_schema=False)
async def _options(request: Req) -> Reply:
    return bodiless(204, {"Allow": request.scope["route_handler"].opt["allow"]})


def _options_of(path: str, methods: Iterable[str]) -> HTTPRouteHandler:
    options = copy(_options)
    options.paths, options.opt = {path}, {"allow": ", ".join(sorted(methods))}
    return options


def _head(handler: HTTPRouteHandler) -> HTTPRouteHandler:
    head = copy(handler)
    head.http_methods, head.include_in_schema = {"HEAD"}, False
    return head
