"""Makes the answers to requests that succeed."""

from collections.abc import AsyncIterator, Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import msgspec
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import Receive, Scope, Send

from api.http.headers import Headers, Req, matching_etag, packed_tag, tag_of, tag_of_body, takes_gzip
from api.http.member_texts import NO_TEXTS, MemberTexts
from api.http.packing import PACK_FROM, compress

JSON, NDJSON, EVENT_STREAM = "application/json", "application/x-ndjson", "text/event-stream"
HTML, PLAIN, CSV, SVG = "text/html", "text/plain", "text/csv", "image/svg+xml"

BODILESS = frozenset({204, 304})

encode = msgspec.json.Encoder().encode

PRIVATE = {"Vary": "Authorization", "Cache-Control": "private, no-cache"}
"""Headers of an answer for one caller."""
OPEN = {"Cache-Control": "no-cache"}
"""Headers of an answer for all callers. It can change at any time."""
FIXED = {"Cache-Control": "public, max-age=300"}
"""Headers of an answer for all callers. It changes only with a release."""
DESCRIBED = '</openapi.json>; rel="describedby"'
GZIP = {"Content-Encoding": "gzip"}


@cache
def _content_type(media_type: str) -> tuple[bytes, bytes]:
    charset = "; charset=utf-8" if media_type.startswith("text/") and "; charset=" not in media_type else ""
    return b"content-type", f"{media_type}{charset}".encode()


class Reply:
    """An answer as an ASGI app, faster than Litestar's response class."""

    def __init__(
        self,
        body: bytes,
        texts: MemberTexts,
        *,
        status: int = 200,
        media_type: str = JSON,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """``media_type``: text types without ``charset`` get UTF-8. ``texts`` replace refs in the body."""
        self._body, self._texts, self._status = body, texts, status
        self._media_type, self._headers = media_type, headers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = await self._texts.resolve(self._body, self._media_type)
        headers: Headers = []
        if self._status not in BODILESS:
            headers += (_content_type(self._media_type), (b"content-length", b"%d" % len(body)))
        for name, value in self._headers.items():
            shown = self._texts.mark_tag(value) if name == "ETag" else value
            headers.append((name.lower().encode(), shown.encode("latin-1")))
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})


def bodiless_reply(status: int, headers: Mapping[str, str]) -> Reply:
    return Reply(b"", NO_TEXTS, status=status, headers=headers)


def reply(
    body: Any, texts: MemberTexts, *, status: int = 200, headers: Mapping[str, str] = MappingProxyType({})
) -> Reply:
    return Reply(encode(body), texts, status=status, headers=headers)


def versioned_reply(
    body: Any,
    version: int,
    texts: MemberTexts,
    *,
    status: int = 200,
    headers: Mapping[str, str] = MappingProxyType({}),
) -> Reply:
    """Return an answer with the ETag of a match or club at this version."""
    return Reply(encode(body), texts, status=status, headers={"ETag": tag_of(version), **PRIVATE, **headers})


def uncompressed_reply(request: Req, tag: str, body: Callable[[], Any], texts: MemberTexts) -> Reply:
    """Return an uncompressed answer, or 304 without calling ``body`` if the caller has it."""
    headers = {**PRIVATE, "Link": DESCRIBED}
    if has := matching_etag(request, tag, texts):
        return bodiless_reply(304, {"ETag": has, **headers})
    return Reply(encode(body()), texts, headers={"ETag": tag, **headers})


def etag_headers(tag: str, headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers of an answer that may be compressed, or of its 304."""
    links = f"{headers['Link']}, {DESCRIBED}" if "Link" in headers else DESCRIBED
    vary = f"{headers['Vary']}, Accept-Encoding" if "Vary" in headers else "Accept-Encoding"
    return {**headers, "ETag": tag, "Vary": vary, "Link": links}


def not_modified(tag: str, headers: Mapping[str, str] = PRIVATE) -> Reply:
    """Return a 304. ``headers``: those of the full answer (RFC 9110, 15.4.5)."""
    return bodiless_reply(304, etag_headers(tag, headers))


class _Streamed(ASGIStreamingResponse):
    __slots__ = ("ended",)
    ended: Callable[[], None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.ended()


def streamed_reply(
    request: Req,
    pieces: AsyncIterator[bytes],
    texts: MemberTexts,
    *,
    headers: Mapping[str, str],
    media_type: str,
    packed: Callable[[AsyncIterator[bytes]], AsyncIterator[bytes]] = lambda pieces: pieces,
    ended: Callable[[], None] = lambda: None,
) -> ASGIStreamingResponse:
    """Return an answer that is sent piece by piece. No piece is made for HEAD.

    ``packed`` compresses the pieces. ``ended`` is called when the answer ends, even if no piece was sent.
    """
    shown = {name: texts.mark_tag(value) if name == "ETag" else value for name, value in headers.items()}
    sent = packed(texts.resolve_all(pieces, media_type))
    answer = _Streamed(iterator=sent, headers=shown, media_type=media_type)
    answer.ended = ended
    # The constructor's argument drops the media type.
    answer.is_head_response = request.scope["method"] == "HEAD"
    return answer


class Fixed:
    """An answer that never changes while the process runs. It is compressed once."""

    def __init__(
        self, body: bytes, *, media_type: str = JSON, headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._body, self._media_type, self._headers = body, media_type, {**FIXED, **headers}
        self._tag, self._packed = tag_of_body(body), compress(body) if len(body) >= PACK_FROM else b""

    def reply(self, request: Req) -> Reply:
        """Return the answer, compressed if long and accepted, or 304 if the caller has it."""
        if tag := matching_etag(request, self._tag, NO_TEXTS):
            return not_modified(tag, self._headers)
        if self._packed and takes_gzip(request):
            headers = etag_headers(packed_tag(self._tag), {**self._headers, **GZIP})
            return Reply(self._packed, NO_TEXTS, media_type=self._media_type, headers=headers)
        return Reply(
            self._body, NO_TEXTS, media_type=self._media_type, headers=etag_headers(self._tag, self._headers)
        )
