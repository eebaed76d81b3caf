"""What an Idempotency-Key opens or makes: the same match with the same tokens, the same club or key of a club each
time, and none of it is stored.

All is derived by HMAC-SHA256 under the store's own secret. So a key without the store is good for nothing, nor is the
store without the key, of which it keeps nothing; and the tokens go over the body as well, so that who has the key but
asks for something else is told nothing.
"""

import hmac
from base64 import urlsafe_b64encode
from hashlib import sha256
from uuid import UUID


class Derived:
    """The ids and secrets of what is made by a key with a body."""

    def __init__(self, secret: bytes, key: str, body: bytes, what_for: str = "opening") -> None:
        """``key``: without line breaks, which here part what is hashed; ``what_for``: so is this, and for other
        things the same key stands for something else."""
        self._secret, self._key, self._body, self._for = secret, key, sha256(body).hexdigest(), what_for
        self.match_id = self.id_of("match")

    def id_of(self, what: str) -> UUID:
        """An id that is the same for any body."""
        return UUID(bytes=self._of(what)[:16], version=4)

    def secret_of(self, whose: str) -> bytes:
        """32 bytes."""
        return self._of(self._body, whose)

    def token(self, whose: str) -> str:
        """The token of a seat or the official."""
        return urlsafe_b64encode(self.secret_of(whose)).decode().rstrip("=")

    def _of(self, *what: str) -> bytes:
        return hmac.digest(self._secret, "\n".join((self._for, self._key, *what)).encode(), "sha256")
