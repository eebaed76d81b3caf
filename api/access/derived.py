"""What an Idempotency-Key opens: the same match with the same tokens each time, and none of it is stored.

All is derived by HMAC-SHA256 under the store's own secret. So a key without the store is good for nothing, nor is the
store without the key, of which it keeps nothing; and the tokens go over the body as well, so that who has the key but
asks for something else is told nothing.
"""

import hmac
from base64 import urlsafe_b64encode
from hashlib import sha256
from uuid import UUID


class Derived:
    """The id and the tokens of a match that is opened by a key with a body."""

    def __init__(self, secret: bytes, key: str, body: bytes) -> None:
        """``key``: without line breaks, which here part what is hashed."""
        self._secret, self._key, self._body = secret, key, sha256(body).hexdigest()
        self.match_id = UUID(bytes=self._of("match")[:16], version=4)

    def token(self, whose: str) -> str:
        """The token of a seat or the official."""
        return urlsafe_b64encode(self._of(self._body, whose)).decode().rstrip("=")

    def _of(self, *what: str) -> bytes:
        return hmac.digest(self._secret, "\n".join(("opening", self._key, *what)).encode(), "sha256")
