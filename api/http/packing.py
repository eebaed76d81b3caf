"""Long answers as gzip.

An answer can contain hidden cards beside a note that a different player chose. An attacker who watches the connection
and chooses such notes could learn from the length how similar the two are (BREACH). So the gzip header has a name of
unpredictable length ("Heal the BREACH"). The length is always the same for the same answer, so repeated requests
reveal nothing, and each new note needs a new act, which is recorded. Compressed answers contain no tokens.
"""

import secrets
import zlib
from hashlib import blake2b

PACK_FROM = 2048
"""Bytes of the shortest body that is compressed. Shorter ones need one or two packets anyway."""
LEVEL = 6
PAD_MAX = 64
"""Bytes of the longest name; the codes of a hand take about thirty."""

_key = secrets.token_bytes(16)


class Packer:
    """Compresses one answer, whole or piece by piece. The length of its name depends on ``first``."""

    def __init__(self, first: bytes) -> None:
        pad = blake2b(first, digest_size=2, key=_key).digest()
        name = b"-" * (1 + int.from_bytes(pad) % PAD_MAX)
        self._ready = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + name + b"\0"  # RFC 1952: deflate, with a name, no time
        self._deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._sum = self._size = 0

    def take(self, piece: bytes) -> bytes:
        """Add a piece. Return the bytes that can be sent."""
        self._sum, self._size = zlib.crc32(piece, self._sum), self._size + len(piece)
        ready, self._ready = self._ready + self._deflate.compress(piece), b""
        return ready

    def end(self) -> bytes:
        """Return the rest of the bytes."""
        foot = self._sum.to_bytes(4, "little") + (self._size % 2**32).to_bytes(4, "little")
        return self._ready + self._deflate.flush() + foot


def packed(body: bytes) -> bytes:
    packer = Packer(body)
    return packer.take(body) + packer.end()
