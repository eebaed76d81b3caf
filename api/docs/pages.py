"""What the pages for a browser are made of, and what they may load."""

import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files


@cache
def static(name: str) -> bytes:
    """A file as it is served or filled in."""
    return (files("api.docs") / "static" / name).read_bytes()


def framed(kind: str, language: str, title: str, body: str) -> bytes:
    """A page that is only read: all have one frame and the beginning of one style, each kind (``case``, ``problem``)
    adds its own. ``body`` is HTML already."""
    parts = {"language": language, "title": escape(title), "style": static(f"{kind}.css").decode(), "body": body}
    frame = static("frame.html").decode()
    return re.sub(r"\{(language|title|style|body)\}", lambda found: parts[found[1]], frame).encode()


@cache
def policy_of_framed(kind: str) -> str:
    """The policy of the pages of a kind: they may load nothing."""
    return policy_of(framed(kind, "", "", ""))


def policy_of(page: bytes, *more: str) -> str:
    """The policy of a page: its style stands in it and is named by its hash; it may load nothing but ``more``."""
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
