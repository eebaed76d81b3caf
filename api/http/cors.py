"""Makes the CORS headers, which let pages of other origins call the service.

There are no cookies, so credentials are never allowed. Litestar's middleware is not used, because it replaces the
Vary header and does not see the answers of api/http/protocol.py.
"""

import re
from collections.abc import Iterable

from api.http.headers import Headers

ANY = "*"
_ORIGIN = re.compile(r"https?://(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?")
METHODS = b"GET, HEAD, POST"
REQUEST_HEADERS = (
    b"Accept-Language, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, "
    b"Traceparent, Tracestate, X-Request-Id"
)
EXPOSED_HEADERS = (
    b"Allow, Content-Disposition, Content-Language, Deprecation, ETag, Idempotency-Replayed, Link, Location, "
    b"RateLimit, RateLimit-Policy, Retry-After, Sunset, WWW-Authenticate, X-Request-Id"
)
PREFLIGHT_CACHE_SECONDS = b"7200"
"""Maximum that Chromium accepts."""

PREFLIGHT: Headers = [
    (b"access-control-allow-methods", METHODS),
    (b"access-control-allow-headers", REQUEST_HEADERS),
    (b"access-control-max-age", PREFLIGHT_CACHE_SECONDS),
]
EXPOSED: Headers = [(b"access-control-expose-headers", EXPOSED_HEADERS)]


class Cors:
    def __init__(self, origins: str) -> None:
        """``origins``: separated by commas, or ``*`` for all. Raises ``ValueError`` for a malformed origin."""
        named = [origin.strip() for origin in origins.split(",")]
        for origin in named:
            if not (_ORIGIN.fullmatch(origin) or named == [ANY]):
                raise ValueError(f"{origin!r} is no origin, such as https://cards.example or http://localhost:5173")
        self._any, self._named = named == [ANY], {origin.encode() for origin in named}

    def headers(self, request_headers: Iterable[tuple[bytes, bytes]], *, preflight: bool = False) -> Headers:
        """Return the CORS headers of an answer, also to a preflight; only Vary if the origin is not allowed."""
        if self._any:
            allowed = [(b"access-control-allow-origin", b"*")]
        else:
            origin = next((value for name, value in request_headers if name == b"origin"), None)
            if origin not in self._named:
                return [(b"vary", b"Origin")]
            allowed = [(b"access-control-allow-origin", origin), (b"vary", b"Origin")]
        return allowed + (PREFLIGHT if preflight else EXPOSED)


def cors_of(origins: str) -> Cors | None:
    """Return :class:`Cors`; ``None`` if ``origins`` is blank. Raises ``ValueError`` for a malformed origin."""
    return Cors(origins) if origins.strip() else None
