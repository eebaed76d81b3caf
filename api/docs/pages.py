"""HTML pages and their content security policies."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files


@cache
def static(name: str) -> bytes:
    return (files("api.docs") / "static" / name).read_bytes()


def framed(kind: str, language: str, title: str, body: str) -> bytes:
    """Return a page in the common frame. ``kind``: its style sheet, such as ``case``. ``body``: HTML."""
    parts = {"language": language, "title": escape(title), "style": static(f"{kind}.css").decode(), "body": body}
    frame = static("frame.html").decode()
    return re.sub(r"\{(language|title|style|body)\}", lambda found: parts[found[1]], frame).encode()


@cache
def policy_of_framed(kind: str) -> str:
    """Return the content security policy of the pages of a kind, which may load nothing."""
    return policy_of(framed(kind, "", "", ""))


def policy_of(page: bytes, *more: str) -> str:
    """Return the content security policy of a page: its inline style, and the sources in ``more``."""
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
