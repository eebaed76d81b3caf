"""Handles HTTP/1.1 connections, with limits on the size and time of requests.

Refuses a request that is too large, too slow or not HTTP. An answer may take any time while its client reads.
"""

import asyncio
import fcntl
import logging
import re
import resource
import sys
import termios
from collections import OrderedDict
from collections.abc import Callable
from functools import cache, partial
from typing import Any
from urllib.parse import unquote

import httptools
from litestar import Litestar
from uvicorn import Config
from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from api.http.connections import HEALTH, Connections
from api.http.cors import Cors
from api.http.cycle import Cycle, whole_answer
from api.http.headers import Headers
from api.http.notes import notes_in
from api.http.problems import RETRY_AFTER, Problem, Sent, problem_answer
from api.http.request_ids import request_ids
from api.http.throttle import Turns

log = logging.getLogger(__name__)

UPGRADE = re.compile(rb"\r\n[uU]pgrade:[^\r\n]*")

HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]++\]|(?:[0-9A-Za-z!$&'()*+,;=._~-]++|%[0-9A-Fa-f]{2})*+)(?::[0-9]*+)?")
"""Host with an optional port (RFC 9110, section 7.2). The host may be empty."""

URL_MAX = 4096
"""Maximum bytes of a path with its query."""
HEADERS_MAX = 64
NAME_MAX = 256
VALUE_MAX = 8192
HEAD_MAX = 16384
"""Maximum bytes of the names and values of all headers."""
READ_BYTES = 16384
"""Bytes parsed at a time. A request can exceed a limit by at most this number."""
WIRE_FACTOR = 8
"""Bytes that may be received for each byte of the largest body, because a chunk of one byte takes six bytes."""
PIPELINE_MAX = 64
"""Maximum requests of a connection that wait for earlier answers."""
CONNECTIONS_MAX = 10_000
RESERVED_CONNECTIONS = 32
"""Connections reserved for health probes. Each may send one request."""
FILES_RESERVED = 64
"""Files for the store, the projections and the log."""

HEAD_SECONDS = 10.0
"""Maximum seconds from the start of a connection to its first byte, and from a request's first byte to the end of its
headers."""
BODY_SECONDS = 30.0
"""Maximum seconds from the end of the headers to the end of the body."""
IDLE_SECONDS = 65
"""Maximum seconds between two requests, longer than the 60 s after which proxies close connections."""
STALLED_SECONDS = 60.0
STOPPING_SECONDS = 2.0
"""Seconds for the rest of a request to arrive after the stop begins."""
CLOSING_SECONDS = 2.0
"""Seconds for the client to read a refusal. The client's bytes are dropped, because unread bytes at the close would
lose the refusal."""


@cache
def connections_max() -> int:
    """Return the maximum number of connections: fewer if the process may open few files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return (
        CONNECTIONS_MAX if files == resource.RLIM_INFINITY else max(1, min(CONNECTIONS_MAX, files - FILES_RESERVED))
    )


class ServingState(ServerState):
    def __init__(self) -> None:
        super().__init__()
        self.reserved: OrderedDict[Protocol, None] = OrderedDict()
        """Reserved connections, the oldest first."""
        self.busy, self.refused = Turns(), Turns()
        """Waiting requests of busy callers, and refusals of requests over limits."""

    stopping = False
    """True while the server stops: it only answers received requests."""


class Protocol(HttpToolsProtocol):
    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        app = config.app
        assert isinstance(app, Litestar)
        assert isinstance(app.request_max_body_size, int)
        assert isinstance(server_state, ServingState)
        self._state = server_state
        self._body_max = app.request_max_body_size
        self._cors: Cors | None = app.state.get("cors")
        self._count: Callable[[str, str, int, str], None] | None = app.state.get("count")
        self._refusal_over_limits: Callable[[dict[str, Any]], Sent | None] | None = app.state.get("refused")
        self._connections: Connections | None = app.state.get("connections")
        self._limit_key: str | None = None
        """Key under which this connection counts while open."""
        self._request_limit_key: str | None = None
        """Key under which it counts during a request."""
        self.url, self.headers = b"", []
        self._in_message = self._in_head = self._began_in_this_piece = False
        self._head_size = self._body_size = self._declared_body_size = self._host_headers = 0
        self._received_after_begin = 0
        """Bytes of the message, without the piece in which it began."""
        self._deadline: asyncio.TimerHandle | None = None
        self._deadline_is_for_head = False
        self._running: RequestResponseCycle | None = None
        self._reads_no_more = False
        self._refused: Problem | None = None
        self._unsent_bytes = 0
        self._stall_timer: asyncio.TimerHandle | None = None

    # The connection

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        """Start the connection, or refuse it if its address (quota_reached) or the server (busy) has too many.

        Close it if no byte arrives in time.
        """
        super().connection_made(transport)
        most = connections_max()
        limit_key = None if self._connections is None else self._connections.key_while_open(self.client)
        if limit_key is not None and self._connections is not None:
            if not self._connections.take(limit_key):
                self._refuse(self._too_many_connections())
                # Close now, so that the client cannot occupy it for longer.
                self.transport.close()
                return
            self._limit_key = limit_key
        if len(self.connections) > most and not self._close_idle_reserved():
            self._refuse(Problem("busy", headers=RETRY_AFTER))
            return
        if len(self.connections) > most - RESERVED_CONNECTIONS:
            self._state.reserved[self] = None
        self._deadline = self.loop.call_later(HEAD_SECONDS, transport.close)
        if self._state.stopping:
            self.shutdown()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_deadline()
        self._unset_keepalive_if_required()
        self._state.busy.forget(self)
        self._state.refused.forget(self)
        self._state.reserved.pop(self, None)
        self._stop_counting_request()
        if self._limit_key is not None and self._connections is not None:
            self._connections.leave(self._limit_key)
            self._limit_key = None
        super().connection_lost(exc)
        running = self._running
        if running is not None and not running.response_complete:
            # uvicorn ends only the last request.
            running.disconnected = True
            running.message_event.set()
        if self._stall_timer is not None:
            self._stall_timer.cancel()

    def _too_many_connections(self) -> Problem:
        assert self._connections is not None
        return Problem("quota_reached", what="connections", most=self._connections.most)

    def _close_idle_reserved(self) -> bool:
        """Abort the oldest idle reserved connection. Return ``False`` if none is idle."""
        for other in self._state.reserved:
            if not other._is_answering:
                other._cancel_deadline()
                other.transport.abort()
                del self._state.reserved[other]
                return True
        return False

    def _stop_counting_request(self) -> None:
        if self._request_limit_key is not None and self._connections is not None:
            self._connections.leave(self._request_limit_key)
            self._request_limit_key = None

    def _count_or_refuse(self, scope: Any) -> Problem | None:
        """Return a problem if this connection may not send the request, else count the connection for the request.

        Health probes do not count, nor does the key under which the open connection counts.
        """
        reserved = self in self._state.reserved
        if reserved:
            self.cycle.keep_alive = False
        if scope["path"].startswith(HEALTH):
            return None
        if reserved:
            return Problem("busy", headers=RETRY_AFTER)
        limit_key = None if self._connections is None else self._connections.key_of_request(scope)
        if limit_key is None or limit_key == self._limit_key or self._connections is None:
            return None
        if not self._connections.take(limit_key):
            return self._too_many_connections()
        self._request_limit_key = limit_key
        return None

    def data_received(self, data: bytes) -> None:
        if len(data) <= READ_BYTES:
            self._read(data)
        else:
            for start in range(0, len(data), READ_BYTES):
                self._read(data[start : start + READ_BYTES])

    def _read(self, piece: bytes) -> None:
        if self._reads_no_more:
            return
        if b"pgrade:" in piece and (self._in_head or not self._in_message):
            # A client that offers HTTP/2 (as Java does) continues with HTTP/1.1 if the server ignores the offer.
            head, end, rest = piece.partition(b"\r\n\r\n")
            piece = UPGRADE.sub(b"", head) + end + rest
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserUpgrade:
            # The bytes after an unusual upgrade or a CONNECT are not HTTP.
            self._reads_no_more, self.cycle.keep_alive = True, False
        except httptools.HttpParserError as error:
            found = error.__context__
            self._refuse(found if isinstance(found, Problem) else Problem("malformed"))
        else:
            if self._in_message:
                self._limit_rest_of_message(len(piece))
            if self._state.stopping:
                self._close_after_current_answer()

    def _limit_rest_of_message(self, received: int) -> None:
        self._received_after_begin, self._began_in_this_piece = (
            0 if self._began_in_this_piece else self._received_after_begin + received,
            False,
        )
        if self._in_head and self._received_after_begin > URL_MAX + HEAD_MAX:
            self._refuse(_headers_too_large())
        elif self._received_after_begin > HEAD_MAX + WIRE_FACTOR * self._body_max:
            self._refuse(self._too_large())
        elif self._deadline is None or self._deadline_is_for_head != self._in_head:
            self._cancel_deadline()
            self._deadline_is_for_head = self._in_head
            seconds = HEAD_SECONDS if self._in_head else BODY_SECONDS
            self._deadline = self.loop.call_later(seconds, self._refuse, Problem("too_slow", seconds=int(seconds)))

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _too_large(self) -> Problem:
        return Problem("too_large", limit_bytes=self._body_max)

    # Callbacks of the parser. A Problem that a callback raises refuses the request.

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._cancel_deadline()
        self._unset_keepalive_if_required()
        self._in_message = self._in_head = self._began_in_this_piece = True
        self._head_size = self._body_size = self._declared_body_size = self._host_headers = 0

    def on_url(self, url: bytes) -> None:
        """Raises Problem (414 uri_too_long)."""
        self.url += url
        if len(self.url) > URL_MAX:
            raise Problem("uri_too_long", limit_bytes=URL_MAX)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Ignore trailers. Raises Problem (400 bad_host, 431 headers_too_large)."""
        if not self._in_head:
            return
        self._head_size += len(name) + len(value)
        if self._head_size > HEAD_MAX or len(name) > NAME_MAX or len(value) > VALUE_MAX:
            raise _headers_too_large()
        name, value = name.lower(), value.rstrip(b" \t")
        if name == b"host":
            self._host_headers += 1
            if HOST.fullmatch(value) is None:
                raise Problem("bad_host")
        elif name == b"content-length":
            self._declared_body_size = int(value)
        elif name == b"expect":
            self.expect_100_continue = value.lower() == b"100-continue"
        self.headers.append((name, value))
        if len(self.headers) > HEADERS_MAX:
            raise _headers_too_large()

    def on_headers_complete(self) -> None:
        """Begin the request. Raises Problem (400 bad_host, 413 too_large, 503 busy)."""
        if self._host_headers > 1 or (self._host_headers == 0 and self.parser.get_http_version() == "1.1"):
            raise Problem("bad_host")
        if self._declared_body_size > self._body_max:
            raise self._too_large()
        if len(self.pipeline) >= PIPELINE_MAX:
            raise Problem("busy", headers=RETRY_AFTER)
        self._in_head = False
        self._begin_cycle()

    def _begin_cycle(self) -> None:
        """Run the app for the request, or queue it behind earlier ones."""
        version, url = self.parser.get_http_version(), httptools.parse_url(self.url)
        self.scope["http_version"] = version
        self.scope["method"] = self.parser.get_method().decode("ascii")
        self.scope["path"] = unquote(url.path.decode("ascii"))
        self.scope["raw_path"], self.scope["query_string"] = url.path, url.query or b""
        earlier = self.cycle
        self.cycle = cycle = Cycle(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=False,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=self.expect_100_continue,
            keep_alive=version != "1.0" and self.parser.should_keep_alive(),
            on_response=self.on_response_complete,
        )
        cycle.cors = self._cors
        if earlier is None or earlier.response_complete:
            self._start_asgi_task(cycle, self.app)
        else:
            self.flow.pause_reading()
            self.pipeline.appendleft((cycle, self.app))

    def on_body(self, body: bytes) -> None:
        """Raises Problem (413 too_large)."""
        self._body_size += len(body)
        if self._body_size > self._body_max:
            raise self._too_large()
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_message = False
        self._cancel_deadline()
        super().on_message_complete()

    # Answers

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        """Run the app for a request, let the request wait for its turn, or refuse it."""
        self._running = cycle
        scope: Any = cycle.scope
        if (problem := self._count_or_refuse(scope)) is not None:
            cycle.keep_alive = False
            sent = problem_answer(
                problem, scope["path"], notes_in(scope).ids, scope["headers"], self._cors, closes=False
            )
            self.loop.call_soon(self._send_without_app, cycle, *sent)
            return
        answer = None if self._refusal_over_limits is None else self._refusal_over_limits(scope)
        counted = notes_in(scope).counted
        if answer is not None:
            self._state.refused.wait(
                self.loop, counted.waits_as, self, partial(self._send_without_app, cycle, *answer)
            )
        elif counted is not None and counted.waits_as is not None:
            self._state.busy.wait(
                self.loop, counted.waits_as, self, partial(self._start_unless_withdrawn, cycle, app)
            )
        else:
            super()._start_asgi_task(cycle, app)

    def _start_unless_withdrawn(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        if not cycle.disconnected:
            super()._start_asgi_task(cycle, app)

    def _send_without_app(self, cycle: RequestResponseCycle, status: int, headers: Headers, body: bytes) -> None:
        if cycle.disconnected:
            return
        cycle.response_started = cycle.response_complete = True
        cycle.message_event.set()
        sent = b"" if cycle.scope["method"] == "HEAD" else body
        headers = self.server_state.default_headers + headers
        self.transport.write(whole_answer(status, headers, sent, closes=not cycle.keep_alive))
        if not cycle.keep_alive:
            self.transport.close()
        self.on_response_complete()

    def on_response_complete(self) -> None:
        """Start the next queued request, or send the queued refusal."""
        self._stop_counting_request()
        super().on_response_complete()
        if self._in_message:
            # The next request has begun to arrive, with a deadline.
            self._unset_keepalive_if_required()
        if self._refused is not None and not self._is_answering:
            self._send_refusal(self._refused)
        elif self._state.stopping:
            self._close_after_current_answer()

    @property
    def _is_answering(self) -> bool:
        running = self._running
        return bool(self.pipeline) or not (running is None or running.response_complete or running.disconnected)

    def _refuse(self, problem: Problem) -> None:
        """Read no more. Send a problem after the answers to earlier requests, and close the connection.

        Send no problem if the answer to this request has begun, or earlier answers take :data:`BODY_SECONDS`.
        """
        if self._reads_no_more or self.transport.is_closing():
            return
        self._reads_no_more = True
        self._cancel_deadline()
        self._unset_keepalive_if_required()
        if self._in_message and not self._in_head and not self._withdraw_from_app():
            return
        self._refused = problem
        if self._is_answering:
            self._deadline = self.loop.call_later(BODY_SECONDS, self.transport.abort)
        else:
            self._send_refusal(problem)

    def _withdraw_from_app(self) -> bool:
        """Withdraw a request with an incomplete body from the app, and return ``True``.

        If its answer has begun, end the connection and return ``False``.
        """
        cycle = self.cycle
        if cycle.response_complete:
            self._close_sending_side()
        elif cycle.response_started:
            self.transport.abort()
        else:
            if self.pipeline and self.pipeline[0][0] is cycle:
                self.pipeline.popleft()
            cycle.disconnected = True
            cycle.message_event.set()
            return True
        return False

    def _send_refusal(self, problem: Problem) -> None:
        if self.transport.is_closing():
            return
        path = self.url.partition(b"?")[0] if len(self.url) <= URL_MAX else b""
        shown = unquote(path.decode("ascii", "replace")) if path.startswith(b"/") else ""
        status, headers, body = problem_answer(problem, shown, request_ids(self.headers), self.headers, self._cors)
        if self._count is not None:
            self._count("unknown", "unknown", status, problem.code)
        self.transport.write(whole_answer(status, self.server_state.default_headers + headers, body, closes=False))
        self._close_sending_side()

    def _close_sending_side(self) -> None:
        """Close the sending side of the connection now, and abort it after :data:`CLOSING_SECONDS`."""
        self._cancel_deadline()
        self._unset_keepalive_if_required()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._deadline = self.loop.call_later(CLOSING_SECONDS, self.transport.abort)

    # Stopping

    def shutdown(self) -> None:
        """Answer the received requests, then close. Refuse a request that is incomplete after
        :data:`STOPPING_SECONDS`."""
        self.loop.call_later(STOPPING_SECONDS, self._refuse, Problem("busy", headers=RETRY_AFTER))
        self._close_after_current_answer()

    def begin_to_stop(self) -> None:
        """Close a connection after its current answer. An idle connection may still send a request."""
        if self._is_answering:
            self._close_after_current_answer()

    def _close_after_current_answer(self) -> None:
        """Close the connection after the current answer, or now if it is idle, unless more bytes have arrived."""
        if self._reads_no_more or self.transport.is_closing() or self._in_message or self._bytes_unread():
            return
        if self._is_answering:
            self.cycle.keep_alive = False
            self._reads_no_more = True
        else:
            self.transport.close()

    def _bytes_unread(self) -> int:
        file = self.transport.get_extra_info("socket").fileno()
        return int.from_bytes(fcntl.ioctl(file, termios.FIONREAD, bytes(4)), sys.byteorder)

    # Unread answers

    def pause_writing(self) -> None:
        """Abort the connection if the client reads nothing for :data:`STALLED_SECONDS`."""
        super().pause_writing()
        self._unsent_bytes = self.transport.get_write_buffer_size()
        self._stall_timer = self.loop.call_later(STALLED_SECONDS, self._abort_if_stalled)

    def resume_writing(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
        super().resume_writing()

    def _abort_if_stalled(self) -> None:
        if self.transport.get_write_buffer_size() >= self._unsent_bytes:
            self.transport.abort()
        else:
            self.pause_writing()


def _headers_too_large() -> Problem:
    return Problem("headers_too_large", headers_max=HEADERS_MAX, value_bytes=VALUE_MAX, limit_bytes=HEAD_MAX)
