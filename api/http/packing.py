"""Compresses long answers as gzip, with a file name of unpredictable length in the header ("Heal the BREACH").

An answer can contain hidden cards and another player's note. The compressed length alone would show how similar they
are. Equal answers get file names of equal length, so repeated requests reveal nothing.
"""

import secrets
import zlib
from hashlib import blake2b

PACK_FROM = 2048
"""Minimum bytes of a body that is compressed."""
LEVEL = 6
PAD_MAX = 64
"""Maximum bytes of the file name. The cards of a hand take about thirty bytes."""

_key = secrets.token_bytes(16)


class Packer:
    """Compresses an answer piece by piece. The length of the file name depends on ``first``."""

    def __init__(self, first: bytes) -> None:
        pad = blake2b(first, digest_size=2, key=_key).digest()
        name = b"-" * (1 + int.from_bytes(pad) % PAD_MAX)
        self._ready = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + name + b"\0"  # RFC 1952: deflate, with a name, no time
        self._deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._sum = self._size = 0

    def take(self, piece: bytes) -> bytes:
        """Return the compressed bytes that are ready after this piece."""
        self._sum, self._size = zlib.crc32(piece, self._sum), self._size + len(piece)
        ready, self._ready = self._ready + self._deflate.compress(piece), b""
        return ready

    def end(self) -> bytes:
        foot = self._sum.to_bytes(4, "little") + (self._size % 2**32).to_bytes(4, "little")
        return self._ready + self._deflate.flush() + foot


def compress(body: bytes) -> bytes:
    packer = Packer(body)
    return packer.take(body) + packer.end()
