"""Cursors: where in a list a page ended, for the next one to begin there."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, TypeVar
from zlib import crc32

import msgspec

T = TypeVar("T")


def cursor_of(*place: Any) -> str:
    """The cursor that names a place in a list."""
    body = msgspec.json.encode(place)
    return urlsafe_b64encode(crc32(body).to_bytes(4) + body).decode()


def read_cursor(cursor: str, kind: type[T]) -> T:
    """The place that a cursor names. Raises ``ValueError`` for what is none of ours."""
    try:
        raw = urlsafe_b64decode(cursor)
        if urlsafe_b64encode(raw).decode() != cursor or crc32(raw[4:]).to_bytes(4) != raw[:4]:
            raise ValueError("not a cursor of ours")
        return msgspec.json.decode(raw[4:], type=kind)
    except (ValueError, msgspec.MsgspecError) as error:
        raise ValueError(f"not a cursor: {cursor!r}") from error
