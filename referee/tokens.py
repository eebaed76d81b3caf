"""The two values that a match's events have for a token: a hash and, for officials, an encrypted SHA-256.

No event has the plain SHA-256, because an official's token may be valid in several matches. Both values are useless
in other matches.
"""

import hmac
from collections.abc import Sequence
from hashlib import sha256
from uuid import UUID

DIGEST_BYTES = 32


def hash_in_match(match: UUID, token: str) -> str:
    """Return the hash of a token in this match. ``token``: the token's SHA-256 in hex."""
    return sha256(f"{match.hex} {token}".encode()).hexdigest()


def encrypt_or_decrypt(secret: bytes, match: UUID, tokens: Sequence[str]) -> tuple[str, ...]:
    """Encrypt or decrypt the SHA-256 of each official's token, to find all matches of a token.

    Combines each by exclusive or with a mask of its own: an HMAC-SHA256 under the store's secret.
    """
    return tuple(_masked(secret, f"docket\n{match.hex}\n{place}", token) for place, token in enumerate(tokens, 1))


def _masked(secret: bytes, place: str, token: str) -> str:
    mask = int.from_bytes(hmac.digest(secret, place.encode(), "sha256"))
    return (int(token, 16) ^ mask).to_bytes(DIGEST_BYTES).hex()
