"""Reads headers of requests, and makes ETags and security headers."""

import re
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from litestar import Request

from api.http.member_texts import MemberTexts
from referee.sentences import Language

Req = Request[Any, Any, Any]
_TAG = re.compile(r'"(\d{1,9})(?:-[a-z-]+)?"')

Headers = list[tuple[bytes, bytes]]

WEIGHTED_NAMES_MAX = 32
"""Maximum number of names read from a header such as Accept."""


POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
"""Header of answers without a policy of their own."""
SECURE: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
"""Headers of every answer."""


def with_security_headers(given: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return ``given`` with :data:`SECURE`, and :data:`POLICY` if it has no policy."""
    headers = [*given, *SECURE]
    for name, _ in headers:
        if name == POLICY[0]:
            return headers
    return [*headers, POLICY]


def header(request: Req, name: bytes) -> str | None:
    """Return the first header with this lower-case name, or ``None``."""
    for given, value in request.scope["headers"]:
        if given == name:
            return value.decode("latin-1")
    return None


def _weighted_names(given: str) -> list[tuple[str, float]]:
    """Return the names in a header such as Accept, with their weights. An unreadable weight counts as 0."""
    found = []
    for part in given.lower().split(",", WEIGHTED_NAMES_MAX)[:WEIGHTED_NAMES_MAX]:
        name, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((piece[2:] for piece in parameters if piece.startswith("q=")), "1")
        try:
            found.append((name, float(quality)))
        except ValueError:
            found.append((name, 0.0))
    return found


def language_of(accept: str | None) -> Language:
    """Return ``sv`` if the reader prefers Swedish to English, else ``en``."""
    best = {"sv": 0.0, "en": 0.0}
    for tag, weight in _weighted_names(accept or ""):
        language = tag.split("-")[0]
        best[language] = max(best.get(language, 0.0), weight)
    return "sv" if best["sv"] > best["en"] else "en"


def preferred_media_type(accept: str | None, offers: Sequence[str]) -> str | None:
    """Return the offered media type that the client prefers; ``None`` if the client accepts no offer.

    With equal weights an exact name wins over ``text/*``, and this over ``*/*``. The earliest exact name wins,
    because a generated client begins with the type that it decodes. Without exact names the first offer wins.
    """
    if not accept or accept == "*/*":
        return offers[0]
    named = dict(_weighted_names(accept))
    order = list(named)
    found, best = None, (0.0, 0, 0)
    for place, offer in enumerate(offers):
        for narrow, name in enumerate(("*/*", f"{offer.partition('/')[0]}/*", offer)[::-1]):
            if (weight := named.get(name)) is not None:
                rank = (weight, -narrow, -(place if narrow else order.index(name)))
                if weight > 0 and (found is None or rank > best):
                    found, best = offer, rank
                break
    return found


def prefers(accept: str | None, media_type: str, to: str = "application/json") -> bool:
    return preferred_media_type(accept, (to, media_type)) == media_type


def takes_gzip(request: Req) -> bool:
    accepted = header(request, b"accept-encoding")
    if accepted is None:
        return False
    weights = dict(_weighted_names(accepted))
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def version_of(tag: str) -> int | None:
    """Return the version in an ETag of a match or club; ``None`` for any other text."""
    found = _TAG.fullmatch(tag.strip())
    return int(found[1]) if found else None


def tag_of(version: int, *kinds: str) -> str:
    """Return the ETag of a match or club at this version.

    ``kinds``: words for the differences between the answer and JSON in English (RFC 9110, 8.8.3).
    """
    return f'"{"-".join((str(version), *kinds))}"'


def tag_in_language(version: int, language: Language, *kinds: str) -> str:
    """Return :func:`tag_of` with the language as the first kind, unless it is English."""
    return tag_of(version, *(() if language == "en" else (language,)), *kinds)


def tag_of_body(body: bytes) -> str:
    """Return a hash of the body as an ETag."""
    return f'"{blake2b(body, digest_size=12).hexdigest()}"'


def packed_tag(tag: str) -> str:
    """Return the ETag of the compressed answer."""
    return f'{tag[:-1]}-gzip"'


def number_in_letters(number: int) -> str:
    """Return a number as letters, because a kind of :func:`tag_of` has no digits."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def matching_etag(request: Req, tag: str, texts: MemberTexts) -> str | None:
    """Return the ETag in If-None-Match that is ``tag`` with the mark of ``texts``, plain or compressed.

    For ``*`` return this ETag. Return ``None`` if the caller does not have the answer.
    """
    tag = texts.mark_tag(tag)
    given = header(request, b"if-none-match")
    if given is None:
        return None
    if given.strip() == "*":
        return tag
    ours = (tag, packed_tag(tag))
    return next((one for part in given.split(",") if (one := part.strip().removeprefix("W/")) in ours), None)
