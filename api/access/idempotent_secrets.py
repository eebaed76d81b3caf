"""Derives ids and secrets from an Idempotency-Key, so a repeated request gets the same ones, and none is stored.

They are HMAC-SHA256 with the store's secret, so neither the key nor the store alone reveals them.
"""

import hmac
from base64 import urlsafe_b64encode
from hashlib import sha256
from uuid import UUID


class Derived:
    """The ids and secrets for one Idempotency-Key and body."""

    def __init__(self, secret: bytes, key: str, body: bytes, what_for: str = "opening") -> None:
        """``key`` and ``what_for`` must not contain line breaks: these separate the hashed parts."""
        self._secret, self._key, self._body, self._for = secret, key, sha256(body).hexdigest(), what_for
        self.match_id = self.id_of("match")

    def id_of(self, what: str) -> UUID:
        """Return an id that does not depend on the body."""
        return UUID(bytes=self._of(what)[:16], version=4)

    def secret_of(self, whose: str) -> bytes:
        """Return 32 bytes that depend on the body."""
        return self._of(self._body, whose)

    def token(self, whose: str) -> str:
        return urlsafe_b64encode(self.secret_of(whose)).decode().rstrip("=")

    def _of(self, *what: str) -> bytes:
        return hmac.digest(self._secret, "\n".join((self._for, self._key, *what)).encode(), "sha256")
