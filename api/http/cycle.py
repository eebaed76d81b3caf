"""Runs a request, and sends its answer.

Unlike uvicorn, :class:`Cycle` writes head and body together, except in streams, and checks equal headers once.
"""

import asyncio
import logging
import re
from functools import lru_cache
from typing import Any

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from api.http.cors import Cors
from api.http.headers import Headers
from api.http.logged_paths import loggable_request
from api.http.notes import notes_in
from api.http.problems import RETRY_AFTER, Problem, problem_answer, problem_of_unexpected
from api.http.replies import BODILESS
from api.http.request_ids import REQUEST_ID
from referee.store.damaged import DamagedRow

log = logging.getLogger(__name__)

LINES_CACHED = 4096
NOT_IN_NAME = re.compile(rb'[\x00-\x1f\x7f()<>@,;:\[\]={} \t\\"]')
NOT_IN_VALUE = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")
CLOSE = b"connection: close\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n"


@lru_cache(LINES_CACHED)
def header_line(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Return the name of a header in lower case, and its line. Raises ``ValueError`` for a forbidden character."""
    if NOT_IN_NAME.search(name) or NOT_IN_VALUE.search(value):
        raise ValueError(f"the header {name!r}: {value!r} has a character that a header may not have")
    name = name.lower()
    return name, name + b": " + value + b"\r\n"


def _cached_line(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """Return :func:`header_line`, but neither check nor cache a request id, because it is valid and used once."""
    if name == REQUEST_ID:
        return name, b"x-request-id: %b\r\n" % value
    return header_line(name, value)


def whole_answer(status: int, headers: Headers, body: bytes, *, closes: bool) -> bytes:
    """Return the bytes of an answer. ``closes``: add ``Connection: close``. Raises as :func:`header_line`."""
    lines = [_cached_line(name, value)[1] for name, value in headers]
    return b"".join([STATUS_LINE[status], *lines, CLOSE if closes else b"", b"\r\n", body])


class Cycle(RequestResponseCycle):
    """Sends the head of a chunked answer at once, any other head with the first piece of the body."""

    cors: Cors | None = None
    _head = b""
    """The head of the answer until it is sent."""

    async def send(self, message: Any) -> None:
        """Send a part of the answer. Raises ``ValueError`` for a malformed header,
        ``RuntimeError`` for a message out of order or a wrong Content-Length."""
        if self.flow.write_paused and not self.disconnected:
            await self.flow.drain()
        if self.disconnected:
            return
        if self.response_complete or self.response_started == (message["type"] == "http.response.start"):
            raise RuntimeError(f"{message['type']} does not belong here")
        if self.response_started:
            self._send_body(message.get("body", b""), message.get("more_body", False))
        else:
            self._send_or_keep_head(message["status"], message["headers"])

    def _send_or_keep_head(self, status: int, headers: Headers) -> None:
        length, chunked, lines = None, False, []
        for name, value in (*self.default_headers, *headers):
            name, line = _cached_line(name, value)
            if name == b"content-length":
                length = int(value)
            elif name == b"transfer-encoding":
                chunked = value == b"chunked"
            elif name == b"connection" and value == b"close":
                self.keep_alive = False
                continue
            lines.append(line)
        if not self.keep_alive:
            lines.append(CLOSE)
        if length is None and not chunked and status not in BODILESS and self.scope["method"] != "HEAD":
            chunked = True
            lines.append(CHUNKED)
        self._head = b"".join([STATUS_LINE[status], *lines, b"\r\n"])
        self.response_started, self.waiting_for_100_continue = True, False
        self.chunked_encoding, self.expected_content_length = chunked, length or 0
        if chunked:
            self.transport.write(self._head)
            self._head = b""

    def _send_body(self, body: bytes, has_more: bool) -> None:
        if self.scope["method"] == "HEAD":
            body = b""
        elif self.chunked_encoding:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (b"" if has_more else b"0\r\n\r\n")
        else:
            self.expected_content_length -= len(body)
            if self.expected_content_length < 0 or (self.expected_content_length and not has_more):
                raise RuntimeError("the body has a different length than its Content-Length")
        sent, self._head = self._head + body, b""
        if sent:
            self.transport.write(sent)
        if not has_more:
            self.response_complete = True
            self.message_event.set()
            if not self.keep_alive:
                self.transport.close()
            self.on_response()

    async def run_asgi(self, app: ASGI3Application) -> None:
        """Run the app for this request. If it does not complete its answer, send a problem.

        If a part of the answer has been sent, close the connection instead.
        """
        try:
            problem = await self._run_app(app)
            if self.disconnected or self.response_complete:
                return
            if self.response_started and not self._head:
                self.transport.close()
                return
            self.response_started, self._head = False, b""
            scope = self.scope
            status, headers, body = problem_answer(
                problem, scope["path"], notes_in(scope).ids, scope["headers"], self.cors
            )
            await self.send({"type": "http.response.start", "status": status, "headers": headers})
            await self.send({"type": "http.response.body", "body": body})
        finally:
            self.on_response = lambda: None  # because a callback would keep the connection in memory

    async def _run_app(self, app: ASGI3Application) -> Problem:
        """Return the problem to send if the app does not complete its answer."""
        try:
            await app(self.scope, self.receive, self.send)
        except asyncio.CancelledError:  # because the service stops
            return Problem("busy", headers=RETRY_AFTER)
        except DamagedRow as error:
            log.error("%s: %s", loggable_request(self.scope), error)
            return Problem("internal")
        except Exception as error:
            return problem_of_unexpected(self.scope, error)
        if not self.response_complete and not self.disconnected:
            log.error("%s was not answered", loggable_request(self.scope))
        return Problem("internal")
