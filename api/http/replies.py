"""Answers to requests that succeed, with the headers of the match that they are about."""

from collections.abc import AsyncIterator, Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol

import msgspec
from litestar.response.streaming import ASGIStreamingResponse
from litestar.types import Receive, Scope, Send

from api.http.headers import Headers, Req, held, packed_tag, tag_by, tag_for, tag_of, takes_gzip
from api.http.packing import PACK_FROM, packed

JSON, NDJSON, EVENT_STREAM = "application/json", "application/x-ndjson", "text/event-stream"
HTML, PLAIN = "text/html", "text/plain"

TEXTS = "texts"
"""Where the state of a request has the :class:`Texts` that whoever asks may read."""

BODILESS = frozenset({204, 304})
"""What says by its status that nothing follows."""

encode = msgspec.json.Encoder().encode

PRIVATE = {"Vary": "Authorization", "Cache-Control": "private, no-cache"}
"""What a seat may see is nobody else's; a cache asks again each time, with the ETag."""
OPEN = {"Cache-Control": "no-cache"}
"""What everybody may see, and changes."""
FIXED = {"Cache-Control": "public, max-age=300"}
"""What changes with a release of the service."""
DESCRIBED = '</openapi.json>; rel="describedby"'
"""Where all answers are described."""
GZIP = {"Content-Encoding": "gzip"}


class Texts(Protocol):
    """Texts for which what is written stands only by refs."""

    def may_be_in(self, body: bytes, /) -> bool:
        """Whether there is anything in it that looks like a ref."""

    async def put_in(self, body: bytes, media_type: str, /) -> bytes:
        """What is about to be sent, with the texts in their places."""


async def with_texts(scope: Scope, body: bytes, media_type: str) -> bytes:
    """What is about to be sent, with the texts that whoever asks may read."""
    texts: Texts | None = scope["state"].get(TEXTS)
    return body if texts is None or not texts.may_be_in(body) else await texts.put_in(body, media_type)


async def all_with_texts(scope: Scope, pieces: AsyncIterator[bytes], media_type: str) -> AsyncIterator[bytes]:
    """The same of an answer that is sent piece by piece."""
    async for piece in pieces:
        yield await with_texts(scope, piece, media_type)


@cache
def _content_type(media_type: str) -> tuple[bytes, bytes]:
    charset = "; charset=utf-8" if media_type.startswith("text/") and "; charset=" not in media_type else ""
    return b"content-type", f"{media_type}{charset}".encode()


class Reply:
    """An answer with a body, as an app that sends it. The library's own looks through the headers that it has for
    each one that it adds."""

    def __init__(
        self,
        body: bytes = b"",
        *,
        status: int = 200,
        media_type: str = JSON,
        headers: Mapping[str, str] = MappingProxyType({}),
        whole: bool = False,
    ) -> None:
        """``whole``: what texts are to stand in it do so. A text is in UTF-8 where its ``media_type`` names no other
        ``charset``."""
        self._body, self._status, self._media_type = body, status, media_type
        self._headers, self._whole = headers, whole

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends it."""
        body, texts = self._body, scope["state"].get(TEXTS)
        if texts is not None and not self._whole and texts.may_be_in(body):
            body = await texts.put_in(body, self._media_type)
        headers: Headers = []
        if self._status not in BODILESS:
            headers += (_content_type(self._media_type), (b"content-length", b"%d" % len(body)))
        for name, value in self._headers.items():
            told = tag_for(scope, value) if texts is not None and name == "ETag" else value
            headers.append((name.lower().encode(), told.encode("latin-1")))
        await send({"type": "http.response.start", "status": self._status, "headers": headers})
        await send({"type": "http.response.body", "body": body, "more_body": False})


def reply(body: Any, *, status: int = 200, headers: Mapping[str, str] = MappingProxyType({})) -> Reply:
    """An answer as JSON."""
    return Reply(encode(body), status=status, headers=headers)


def of_match(
    body: Any, version: int, *, status: int = 200, headers: Mapping[str, str] = MappingProxyType({})
) -> Reply:
    """An answer as JSON about a match at this version."""
    return Reply(encode(body), status=status, headers={"ETag": tag_of(version), **PRIVATE, **headers})


def short(request: Req, tag: str, body: Callable[[], Any]) -> Reply:
    """A short answer about a match, which goes as it is; or that the caller has it."""
    headers = {**PRIVATE, "Link": DESCRIBED}
    if has := held(request, tag):
        return Reply(status=304, headers={"ETag": has, **headers})
    return Reply(encode(body()), headers={"ETag": tag, **headers})


def named(tag: str, headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of an answer that has an ETag, and of the 304 in its place. It may have been packed."""
    links = f"{headers['Link']}, {DESCRIBED}" if "Link" in headers else DESCRIBED
    vary = f"{headers['Vary']}, Accept-Encoding" if "Vary" in headers else "Accept-Encoding"
    return {**headers, "ETag": tag, "Vary": vary, "Link": links}


def not_modified(tag: str, headers: Mapping[str, str] = PRIVATE) -> Reply:
    """304: the caller has it already, under this ETag. ``headers``: those of the answer (RFC 9110, 15.4.5)."""
    return Reply(status=304, headers=named(tag, headers))


class _Streamed(ASGIStreamingResponse):
    """Says when it has ended, whatever ended it, and even where it has not begun."""

    __slots__ = ("ended",)
    ended: Callable[[], None]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.ended()


def streamed(
    request: Req,
    pieces: AsyncIterator[bytes],
    *,
    headers: Mapping[str, str],
    media_type: str,
    ended: Callable[[], None] = lambda: None,
) -> ASGIStreamingResponse:
    """An answer that is sent piece by piece; to HEAD none of them is made. ``ended`` is called when it is over."""
    told = {name: tag_for(request.scope, value) if name == "ETag" else value for name, value in headers.items()}
    answer = _Streamed(iterator=pieces, headers=told, media_type=media_type)
    answer.ended = ended
    answer.is_head_response = request.scope["method"] == "HEAD"  # if told of it at once, it would name no type
    return answer


class Fixed:
    """An answer that stays what it is while the process runs: written, named and packed once."""

    def __init__(
        self, body: bytes, *, media_type: str = JSON, headers: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        self._body, self._media_type, self._headers = body, media_type, {**FIXED, **headers}
        self._tag, self._packed = tag_by(body), packed(body) if len(body) >= PACK_FROM else b""

    def reply(self, request: Req) -> Reply:
        """The answer, or that the caller has it."""
        if tag := held(request, self._tag):
            return not_modified(tag, self._headers)
        if self._packed and takes_gzip(request):
            headers = named(packed_tag(self._tag), {**self._headers, **GZIP})
            return Reply(self._packed, media_type=self._media_type, headers=headers)
        return Reply(self._body, media_type=self._media_type, headers=named(self._tag, self._headers))
