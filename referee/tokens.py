"""The values that the events of a match hold for its tokens.

No event holds the SHA-256 of a token, because an official's token may be valid in several matches. Both values below
are useless in any other match.
"""

import hmac
from collections.abc import Sequence
from hashlib import sha256
from uuid import UUID

DIGEST_BYTES = 32


def hash_in_match(match: UUID, token: str) -> str:
    """Return the hash with which the match recognises a token. ``token``: the token's SHA-256 in hex."""
    return sha256(f"{match.hex} {token}".encode()).hexdigest()


def encrypt_or_decrypt(secret: bytes, match: UUID, tokens: Sequence[str]) -> tuple[str, ...]:
    """Encrypt or decrypt the SHA-256 of each official's token for this match, with which its matches can be found.

    Each is combined by exclusive or with its own HMAC-SHA256 under the secret of the store, which is used once.
    """
    return tuple(_sealed(secret, f"docket\n{match.hex}\n{place}", token) for place, token in enumerate(tokens, 1))


def _sealed(secret: bytes, place: str, token: str) -> str:
    mask = int.from_bytes(hmac.digest(secret, place.encode(), "sha256"))
    return (int(token, 16) ^ mask).to_bytes(DIGEST_BYTES).hex()
