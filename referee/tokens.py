"""The values that the events of a match hold for its tokens.

No event holds the SHA-256 of a token: it could open other matches, as their official's. Both
values below are useless in any other match.
"""

import hmac
from collections.abc import Sequence
from hashlib import sha256
from uuid import UUID

DIGEST_BYTES = 32


def in_match(match: UUID, token: str) -> str:
    """Return the hash by which the match recognises a token. ``token``: its SHA-256 in hex."""
    return sha256(f"{match.hex} {token}".encode()).hexdigest()


def sealed(secret: bytes, match: UUID, tokens: Sequence[str]) -> tuple[str, ...]:
    """Encrypt or decrypt the SHA-256 of each official's token for this match. It finds all matches of a token.

    Each is combined by exclusive or with an HMAC-SHA256 of its own under the secret of the store. A match is opened
    once, so no HMAC serves two values.
    """
    return tuple(_sealed(secret, f"docket\n{match.hex}\n{place}", token) for place, token in enumerate(tokens, 1))


def _sealed(secret: bytes, place: str, token: str) -> str:
    mask = int.from_bytes(hmac.digest(secret, place.encode(), "sha256"))
    return (int(token, 16) ^ mask).to_bytes(DIGEST_BYTES).hex()
