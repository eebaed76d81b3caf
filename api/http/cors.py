"""Which pages of other origins may call, and what their browsers are told of it (CORS). Tokens come in a header and
there are no cookies, so nothing is ever allowed with credentials.

Not by Litestar's middleware: it would take the place of an answer's Vary, refuse in plain text, and not reach what
the protocol answers by itself. The Cross-Origin-Resource-Policy stays: a browser minds it only for what is loaded
without CORS, such as an image or a script, and that is still nobody else's.
"""

import re
from collections.abc import Iterable

from api.http.headers import Headers

ANY = "*"
_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")
"""As a browser writes it: the host in small letters, and the port unless it is the usual one."""
METHODS = b"GET, HEAD, POST"
TAKEN = b"Accept-Language, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID"
"""What such a page may send beside what any page may."""
GIVEN = (
    b"Allow, Content-Disposition, Content-Language, Deprecation, ETag, Idempotency-Replayed, Link, Location, "
    b"RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate"
)
"""What it may read beside what any page may."""
KEPT_SECONDS = b"7200"
"""For so long a browser need not ask again before it calls: the longest that Chromium keeps to."""

PREFLIGHT: Headers = [
    (b"access-control-allow-methods", METHODS),
    (b"access-control-allow-headers", TAKEN),
    (b"access-control-max-age", KEPT_SECONDS),
]
EXPOSED: Headers = [(b"access-control-expose-headers", GIVEN)]


class Cors:
    """The origins whose pages may call."""

    def __init__(self, origins: str) -> None:
        """``origins``: with commas between them, or ``*`` for any. Raises ``ValueError`` for what is none."""
        named = [origin.strip() for origin in origins.split(",")]
        for origin in named:
            if not (_ORIGIN.fullmatch(origin) or named == [ANY]):
                raise ValueError(f"{origin!r} is no origin, such as https://cards.example or http://localhost:5173")
        self._any, self._named = named == [ANY], {origin.encode() for origin in named}

    def headers(self, asked: Iterable[tuple[bytes, bytes]], *, preflight: bool = False) -> Headers:
        """What an answer tells the browser of whoever asked; ``preflight``: before it asks."""
        if self._any:
            allowed = [(b"access-control-allow-origin", b"*")]
        else:
            origin = next((value for name, value in asked if name == b"origin"), None)
            if origin not in self._named:
                return [(b"vary", b"Origin")]
            allowed = [(b"access-control-allow-origin", origin), (b"vary", b"Origin")]
        return allowed + (PREFLIGHT if preflight else EXPOSED)


def cors_of(origins: str) -> Cors | None:
    """What the setting says; ``None`` where it says nothing."""
    return Cors(origins) if origins.strip() else None
