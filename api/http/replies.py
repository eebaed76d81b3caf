"""Answers to requests that succeed, with the headers of the match that they are about."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec
from litestar.response.base import ASGIResponse

from api.http.headers import tag_of

JSON = "application/json"

BODILESS = frozenset({204, 304})
"""What says by its status that nothing follows."""

encode = msgspec.json.Encoder().encode

PRIVATE = {"Vary": "Authorization", "Cache-Control": "private, no-cache"}
"""What a seat may see is nobody else's; a cache asks again each time, with the ETag."""


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
    return written_of_match(encode(body), version, status=status, headers=headers)


def written_of_match(
    body: bytes,
    version: int,
    *,
    status: int = 200,
    headers: Mapping[str, str] = MappingProxyType({}),
    media_type: str = JSON,
) -> Reply:
    """An answer about a match at this version that is written already: long ones are, in a thread."""
    return Reply(body, status=status, media_type=media_type, headers={"ETag": tag_of(version), **PRIVATE, **headers})


def not_modified(version: int) -> Reply:
    """304: the caller has this version already."""
    return written_of_match(b"", version, status=304)
