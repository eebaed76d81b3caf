"""Reads the bodies of requests."""

from typing import Any, Generic, TypeVar

import msgspec

from api.http.faults import Fault, faults_of
from api.http.headers import Req, header
from api.http.problems import Problem
from api.http.strict import must_be_harmless

T = TypeVar("T")


class Body(Generic[T]):
    """Reads the JSON body of a call as ``kind``."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self._decode = msgspec.json.Decoder(kind).decode

    async def read(self, request: Req) -> T:
        """Return the decoded body.

        Raises Problem (400 unreadable, repeated_key; 413 too_large; 415 wrong_media_type, also for a compressed body;
        422 harmful_character).
        """
        media_type = header(request, b"content-type")
        if media_type is not None and media_type.partition(";")[0].strip().lower() != "application/json":
            raise Problem("wrong_media_type")
        if (header(request, b"content-encoding") or "identity").lower() != "identity":
            raise Problem("wrong_media_type")
        body = await _received_body(request)
        if media_type is None and body:
            raise Problem("wrong_media_type")
        try:
            decoded: T = self._decode(body)
            must_be_harmless(body, decoded, tagged=type(decoded) is not self.kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise Problem("unreadable", faults=faults_of(self.kind, body)) from None
        return decoded


async def _received_body(request: Req) -> bytes:
    """Return the bytes of the body. Raises Problem (400 unreadable if the body ends early, 413 too_large)."""
    # ``Request.body`` is not used, because it parses every header.
    body, most, more = bytearray(), request.app.request_max_body_size, True
    while more:
        message = await request.receive()
        if message["type"] != "http.request":
            raise Problem("unreadable", faults=(Fault("ended_early"),))
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if isinstance(most, int) and len(body) > most:
            raise Problem("too_large", limit_bytes=most)
    return bytes(body)
