"""Static files, the frame of HTML pages, and their content security policies."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files


@cache
def static(name: str) -> bytes:
    """Return the content of a static file."""
    return (files("api.docs") / "static" / name).read_bytes()


def framed(kind: str, language: str, title: str, body: str) -> bytes:
    """Return a page without a script, in the common frame. ``kind`` (``case``, ``problem``) is the name of its own
    style sheet; ``body`` is HTML."""
    parts = {"language": language, "title": escape(title), "style": static(f"{kind}.css").decode(), "body": body}
    frame = static("frame.html").decode()
    return re.sub(r"\{(language|title|style|body)\}", lambda found: parts[found[1]], frame).encode()


@cache
def policy_of_framed(kind: str) -> str:
    """Return the policy of the pages of a kind, which may load nothing."""
    return policy_of(framed(kind, "", "", ""))


def policy_of(page: bytes, *more: str) -> str:
    """Return the policy of a page, which allows its inline style, by hash, and the sources in ``more``."""
    style = page.partition(b"<style>")[2].partition(b"</style>")[0]
    known = b64encode(sha256(style).digest()).decode()
    return "; ".join(
        (
            "default-src 'none'",
            *more,
            f"style-src 'sha256-{known}'",
            "base-uri 'none'",
            "form-action 'none'",
            "frame-ancestors 'none'",
        )
    )
