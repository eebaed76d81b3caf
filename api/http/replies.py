"""Answers to requests that succeed, with the headers of the match that they are about."""

from collections.abc import AsyncIterator, Callable, Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse

from api.http.headers import Req, held, packed_tag, tag_by, tag_of, takes_gzip
from api.http.packing import PACK_FROM, packed

JSON = "application/json"

BODILESS = frozenset({204, 304})
"""What says by its status that nothing follows."""

encode = msgspec.json.Encoder().encode

PRIVATE = {"Vary": "Authorization", "Cache-Control": "private, no-cache"}
"""What a seat may see is nobody else's; a cache asks again each time, with the ETag."""
FIXED = {"Cache-Control": "public, max-age=300"}
"""What changes with a release of the service."""
DESCRIBED = '</openapi.json>; rel="describedby"'
"""Where all answers are described."""
GZIP = {"Content-Encoding": "gzip"}


class Reply(ASGIResponse):
    """An answer with a body. The library would look through the headers that it has for each one that it adds."""

    _should_set_content_length = False

    def __init__(
        self,
        body: bytes = b"",
        *,
        status: int = 200,
        media_type: str = JSON,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        super().__init__(body=body, status_code=status, media_type=media_type)
        if status not in BODILESS:
            self.headers.add("content-length", str(len(body)))
        for name, value in headers.items():
            self.headers.add(name, value)


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


def streamed(
    request: Req, pieces: AsyncIterator[bytes], *, headers: Mapping[str, str], media_type: str
) -> ASGIStreamingResponse:
    """An answer that is sent piece by piece; to HEAD none of them is made."""
    answer = ASGIStreamingResponse(iterator=pieces, headers=dict(headers), media_type=media_type)
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
