"""What requests say in their headers, read from the raw list: a header costs nothing where nobody asks for it."""

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


def secured(given: Iterable[tuple[bytes, bytes]]) -> Headers:
    """The headers of an answer of an app, and both besides; a page has a policy of its own."""
    headers = [*given, *SECURE]
    for name, _ in headers:
        if name == POLICY[0]:
            return headers
    return [*headers, POLICY]


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


def chosen(accept: str | None, offers: Sequence[str]) -> str | None:
    """The media type of those offered that is most welcome, the first if all are alike; ``None`` if none is.

    What is named counts for more than what ``*`` stands for, and of those named alike the last: who names what is
    not offered first wants it.
    """
    if not accept or accept == "*/*":
        return offers[0]
    named = dict(_welcome(accept))
    found, best = None, (0.0, 0, 0)
    for place, offer in enumerate(offers):
        for narrow, name in enumerate(("*/*", f"{offer.partition('/')[0]}/*", offer)[::-1]):
            if (weight := named.get(name)) is not None:
                rank = (weight, -narrow, place if narrow == 0 else -place)
                if weight > 0 and (found is None or rank > best):
                    found, best = offer, rank
                break
    return found


def prefers(accept: str | None, media_type: str, to: str = "application/json") -> bool:
    """Whether ``media_type`` is more welcome than the other, or named beside it."""
    return chosen(accept, (to, media_type)) == media_type


def takes_gzip(request: Req) -> bool:
    """Whether the reader can unpack gzip."""
    accepted = header(request, b"accept-encoding")
    if accepted is None:
        return False
    weights = dict(_welcome(accepted))
    return weights.get("gzip", weights.get("*", 0.0)) > 0


def version_of(tag: str) -> int | None:
    """The version that an ETag of a match names."""
    found = _TAG.fullmatch(tag.strip())
    return int(found[1]) if found else None


def tag_of(version: int, *kinds: str) -> str:
    """The ETag of a match at this version. ``kinds`` tell apart what the same address gives otherwise than as plain
    JSON in English: an ETag names one sequence of bytes (RFC 9110, 8.8.3)."""
    return f'"{"-".join((str(version), *kinds))}"'


def tag_in(version: int, language: Language, *kinds: str) -> str:
    """The ETag of an answer with sentences in this language."""
    return tag_of(version, *(() if language == "en" else (language,)), *kinds)


def tag_by(body: bytes) -> str:
    """The ETag of what has no version: by what it says."""
    return f'"{blake2b(body, digest_size=12).hexdigest()}"'


def packed_tag(tag: str) -> str:
    """The ETag of the same, compressed."""
    return f'{tag[:-1]}-gzip"'


def letters(number: int) -> str:
    """A number in an ETag, beside the version."""
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def held(request: Req, tag: str, texts: MemberTexts) -> str | None:
    """Return the ETag under which the caller has this answer already, plain or compressed, None if it has it not.

    The comparison is the weak one; what cannot be read matches nothing.
    """
    tag = texts.tag(tag)
    given = header(request, b"if-none-match")
    if given is None:
        return None
    if given.strip() == "*":
        return tag
    ours = (tag, packed_tag(tag))
    return next((one for part in given.split(",") if (one := part.strip().removeprefix("W/")) in ours), None)
