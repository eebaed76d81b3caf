"""What requests say in their headers, read from the raw list: a header costs nothing where nobody asks for it."""

import re
from typing import Any

from litestar import Request
from litestar.types import HTTPResponseStartEvent

from referee.sentences import Language

Req = Request[Any, Any, Any]
_TAG = re.compile(r'"(\d{1,9})"')

Headers = list[tuple[bytes, bytes]]

NAMES_MAX = 32
"""So many are read of what a header such as Accept names; a browser names ten."""


POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
"""For what is no page: nothing may be loaded from it, and it is framed nowhere."""
SECURE: Headers = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
"""What each answer tells a browser besides: its media type is meant, and it is nobody else's."""


def secure(message: HTTPResponseStartEvent) -> None:
    """Adds both to an answer of an app, as it begins; a page has a policy of its own."""
    given = message["headers"]
    for name, _ in given:
        if name == POLICY[0]:
            message["headers"] = [*given, *SECURE]
            return
    message["headers"] = [*given, *SECURE, POLICY]


def header(request: Req, name: bytes) -> str | None:
    """The value of a header by its lower-case name, or ``None``."""
    for given, value in request.scope["headers"]:
        if given == name:
            return value.decode("latin-1")
    return None


def _welcome(given: str) -> list[tuple[str, float]]:
    """What a header such as Accept names, each with how welcome it is: 0 to 1."""
    found = []
    for part in given.lower().split(",", NAMES_MAX)[:NAMES_MAX]:
        name, *parameters = (piece.strip() for piece in part.split(";"))
        quality = next((piece[2:] for piece in parameters if piece.startswith("q=")), "1")
        try:
            found.append((name, float(quality)))
        except ValueError:
            found.append((name, 0.0))
    return found


def language_of(accept: str | None) -> Language:
    """``sv`` where the reader prefers Swedish to English, else ``en``."""
    best = {"sv": 0.0, "en": 0.0}
    for tag, weight in _welcome(accept or ""):
        language = tag.split("-")[0]
        best[language] = max(best.get(language, 0.0), weight)
    return "sv" if best["sv"] > best["en"] else "en"


def prefers(accept: str | None, media_type: str, to: str = "application/json") -> bool:
    """Whether ``media_type`` is named in Accept, at least as welcome as the other."""
    weights = dict(_welcome(accept or ""))
    wanted = weights.get(media_type, 0.0)
    return wanted > 0 and wanted >= weights.get(to, 0.0)


def version_of(tag: str) -> int | None:
    """The version that an ETag of ours names."""
    found = _TAG.fullmatch(tag.strip())
    return int(found[1]) if found else None


def tag_of(version: int) -> str:
    """The ETag of a match at this version."""
    return f'"{version}"'


def same_version(if_none_match: str | None, version: int) -> bool:
    """Whether the caller has this version already; what cannot be read matches nothing."""
    if if_none_match is None:
        return False
    if if_none_match.strip() == "*":
        return True
    return version in (version_of(tag.strip().removeprefix("W/")) for tag in if_none_match.split(","))
