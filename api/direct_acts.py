"""Answers ``POST /v1/matches/{match}/acts``, which records an act in a match, without the layers of Litestar.

Why: this is the most frequent write, one for each card. Litestar's routing, error middleware and handler arguments
take about a fifth of the processor time of an act. The handler needs only the request and the id of the match.

How: :class:`~api.app.App` passes each HTTP request to :meth:`DirectActs.answer` first. This method calls, as Litestar
does, the checks before each handler, the handler, and the function that answers an error. It also sets the entries of
the ASGI scope that the check of query parameters, problems, and metrics read.

When: the method is POST, the path is exactly this address with the id in lower case, and the app is not mounted under
a prefix (``root_path``). For any other request ``answer`` returns False before it reads or sends anything, and
Litestar answers. ``tests/api/matches/test_direct_acts.py`` sends each request in both ways and compares the answers.
"""

import re
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.routes import HTTPRoute
from litestar.types import Send

from api.http.notes import notes_in
from api.http.problems import answer_error
from api.runtime.call import ApiCall

_PATH = re.compile(r"/v1/matches/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/acts")


class DirectActs:
    def __init__(
        self, app: Litestar, send_act: HTTPRouteHandler, before: Callable[[ApiCall], Awaitable[None]]
    ) -> None:
        """``send_act``: the handler. ``before``: called with each request before the handler."""
        self._app, self._send_act, self._before = app, send_act.fn, before
        self._path_template, self._handler = next(
            (route.path_format, handler)
            for route in app.routes
            if isinstance(route, HTTPRoute)
            for handler in route.route_handlers
            if handler.fn is send_act.fn
        )

    async def answer(self, scope: Any, receive: Any, send: Send) -> bool:
        """Answer a request that records an act. Return False, without an answer, for any other request."""
        if scope["method"] != "POST" or (found := _PATH.fullmatch(scope["path"])) is None or scope.get("root_path"):
            return False
        scope["app"] = scope["litestar_app"] = self._app
        scope["route_handler"], scope["path_template"] = self._handler, self._path_template
        request = ApiCall(scope, receive, send)
        try:
            await self._before(request)
            reply = await self._send_act(request, UUID(found[1]))
            await reply(scope, receive, send)
        except Exception as error:
            if notes_in(scope).is_answered:
                raise
            await answer_error(request, error)(scope, receive, send)
        return True
