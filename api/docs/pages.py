"""What the pages for a browser are made of, and what they may load."""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files


@cache
def static(name: str) -> bytes:
    """A file as it is served or filled in."""
    return (files("api.docs") / "static" / name).read_bytes()


@cache
def policy_of(name: str, *more: str) -> str:
    """The policy of a page: its style stands in it and is named by its hash; it may load nothing but ``more``."""
    style = static(name).partition(b"<style>")[2].partition(b"</style>")[0]
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
