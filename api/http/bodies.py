"""Bodies are read strictly, and only here: what does not fit is answered with what would have been right."""

from typing import Any, Generic, TypeVar

import msgspec

from api.http.faults import Fault, faults_of
from api.http.headers import Req, header
from api.http.problems import Problem
from api.http.strict import without_harm

T = TypeVar("T")


class Body(Generic[T]):
    """The body of a call: JSON of one type."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self._decode = msgspec.json.Decoder(kind).decode

    async def read(self, request: Req) -> T:
        """The body of this request. Raises :class:`~api.http.problems.Problem` 400, 413 or 415."""
        media_type = header(request, b"content-type")
        if media_type is not None and media_type.partition(";")[0].strip().lower() != "application/json":
            raise Problem("wrong_media_type")
        if (header(request, b"content-encoding") or "identity").lower() != "identity":
            raise Problem("wrong_media_type")
        body = await _whole(request)
        if media_type is None and body:
            raise Problem("wrong_media_type")
        try:
            decoded: T = self._decode(body)
            without_harm(body, decoded, tagged=type(decoded) is not self.kind)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise Problem("unreadable", faults=faults_of(self.kind, body)) from None
        return decoded


async def _whole(request: Req) -> bytes:
    """Return all of the body. The library's own way makes an object of every header first, to look at one."""
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
