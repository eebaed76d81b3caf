"""Derives ids and secrets from an Idempotency-Key, so a repeated request gets equal ids and secrets.

They are HMAC-SHA256 with the store's secret. None is stored, and neither the Idempotency-Key nor the store alone
reveals one.
"""

import hmac
from base64 import urlsafe_b64encode
from hashlib import sha256
from uuid import UUID


class Derived:
    """The ids and secrets for one Idempotency-Key and body."""

    def __init__(self, store_secret: bytes, idempotency_key: str, body: bytes, purpose: str = "opening") -> None:
        """``idempotency_key`` and ``purpose`` must not contain line breaks, which separate the hashed parts."""
        self._secret, self._key, self._body, self._purpose = (
            store_secret,
            idempotency_key,
            sha256(body).hexdigest(),
            purpose,
        )
        self.match_id = self.id_of("match")

    def id_of(self, name: str) -> UUID:
        """Return an id that does not depend on the body."""
        return UUID(bytes=self._digest(name)[:16], version=4)

    def secret_of(self, name: str) -> bytes:
        """Return 32 bytes that depend on the body."""
        return self._digest(self._body, name)

    def token(self, name: str) -> str:
        return urlsafe_b64encode(self.secret_of(name)).decode().rstrip("=")

    def _digest(self, *parts: str) -> bytes:
        return hmac.digest(self._secret, "\n".join((self._purpose, self._key, *parts)).encode(), "sha256")
