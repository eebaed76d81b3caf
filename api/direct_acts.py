"""Answers ``POST /v1/matches/{match}/acts``, the most frequent write, without the layers of Litestar.

They would take a fifth of this call's processor time. :class:`~api.app.App` passes each request to
:meth:`DirectActs.answer` first. Like Litestar, the method calls the checks, the handler and the function that answers
errors, and sets the entries of the ASGI scope that other parts read.
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
        """``before``: checks each request before the handler ``send_act``."""
        self._app, self._send_act, self._before = app, send_act.fn, before
        self._path_template, self._handler = next(
            (route.path_format, handler)
            for route in app.routes
            if isinstance(route, HTTPRoute)
            for handler in route.route_handlers
            if handler.fn is send_act.fn
        )

    async def answer(self, scope: Any, receive: Any, send: Send) -> bool:
        """Answer a request that records an act, and return True. For any other, only return False.

        False also for an id with capital letters, or under a prefix (``root_path``). Raises errors of a begun answer.
        """
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
