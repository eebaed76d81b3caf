"""Answers to requests that succeed, with the headers of the match that they are about."""

from typing import Any

import msgspec
from litestar.response.base import ASGIResponse

from api.http.headers import tag_of

Reply = ASGIResponse
JSON = "application/json"

encode = msgspec.json.Encoder().encode

PRIVATE = {"Vary": "Authorization", "Cache-Control": "private, no-cache"}
"""What a seat may see is nobody else's; a cache asks again each time, with the ETag."""


def reply(body: Any, *, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    """An answer as JSON."""
    return ASGIResponse(body=encode(body), status_code=status, headers=headers, media_type=JSON)


def of_match(body: Any, version: int, *, status: int = 200, headers: dict[str, str] | None = None) -> Reply:
    """An answer as JSON about a match at this version."""
    return reply(body, status=status, headers={"ETag": tag_of(version), **PRIVATE, **(headers or {})})


def written_of_match(
    body: bytes, version: int, headers: dict[str, str] | None = None, media_type: str = JSON
) -> Reply:
    """An answer about a match at this version that is written already: long ones are, in a thread."""
    return text(body, media_type, {"ETag": tag_of(version), **PRIVATE, **(headers or {})})


def text(body: bytes, media_type: str, headers: dict[str, str] | None = None) -> Reply:
    """An answer of another media type."""
    return ASGIResponse(body=body, headers=headers, media_type=media_type)


def not_modified(version: int) -> Reply:
    """304: the caller has this version already."""
    return ASGIResponse(status_code=304, headers={"ETag": tag_of(version), **PRIVATE})
