"""The id of each request, and its ``traceparent`` (W3C Trace Context), for log lines and problems."""

import re
from collections.abc import Callable, Iterable
from os import urandom
from typing import NamedTuple

REQUEST_ID = b"x-request-id"
TRACE = b"traceparent"
ID_PATTERN = "[A-Za-z0-9_-]{8,64}"
TRACE_PATTERN = "(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
TRACE_LENGTH = 55
ID_MAX = 64
ID_BYTES = 12
"""Random bytes of a new id."""
IDS_AT_ONCE = 1024
"""Number of ids whose random bytes come from one system call."""

_match_id = re.compile(ID_PATTERN.encode()).fullmatch
_match_trace = re.compile(TRACE_PATTERN.encode()).fullmatch


class RequestIds(NamedTuple):
    request: bytes
    trace: bytes | None
    """The ``traceparent`` of the request; ``None``: missing or invalid."""

    def instance(self, path: str) -> str:
        """Return the ``instance`` of a problem of the request. ``path``: percent-encoded."""
        return f"{path}#{self.in_words('&')}"

    def in_words(self, between: str = " ") -> str:
        """Return the ids as ``request=`` and, if any, ``trace=``, joined by ``between``."""
        named = f"request={self.request.decode()}"
        return named if self.trace is None else f"{named}{between}trace={self.trace.decode()}"


def _id_maker() -> Callable[[], bytes]:
    """Return a function that makes random ids. Call it only on the event loop."""
    drawn, at = "", 0
    digits = 2 * ID_BYTES

    def new() -> bytes:
        nonlocal drawn, at
        if at == len(drawn):
            drawn, at = urandom(ID_BYTES * IDS_AT_ONCE).hex(), 0
        at += digits
        return drawn[at - digits : at].encode()

    return new


_new_id = _id_maker()


def request_ids(headers: Iterable[tuple[bytes, bytes]]) -> RequestIds:
    """Return the ids in the headers of a request. Make a request id if none is valid."""
    given = trace = None
    for name, value in headers:
        if name == REQUEST_ID:
            given = value
        elif name == TRACE:
            trace = value
    if given is None or _match_id(given) is None:
        given = _new_id()
    return RequestIds(given, None if trace is None or _match_trace(trace) is None else trace)
