"""Long answers as gzip.

An answer can hold cards that only its reader may see beside a note that another player chose. Who could watch the
connection and choose such notes might tell from the length how well the two agree (BREACH). So the header of what is
packed has a name in it of a length that nobody can foresee (as "Heal the BREACH" has it): the same answer has always
the same, so that asking again evens nothing out, and another note is another act, which the match keeps. Tokens are
in no answer that is packed.
"""

import secrets
import zlib
from hashlib import blake2b

PACK_FROM = 2048
"""Bytes. What is shorter goes in one or two packets anyway."""
LEVEL = 6
PAD_MAX = 64
"""Bytes of the name; the codes of a hand take about thirty."""

_key = secrets.token_bytes(16)


class Packer:
    """Packs one answer, whole or piece by piece, which begins with ``first``."""

    def __init__(self, first: bytes) -> None:
        pad = blake2b(first, digest_size=2, key=_key).digest()
        name = b"-" * (1 + int.from_bytes(pad) % PAD_MAX)
        self._ready = b"\x1f\x8b\x08\x08\0\0\0\0\0\xff" + name + b"\0"  # RFC 1952: deflate, with a name, no time
        self._deflate = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
        self._sum = self._size = 0

    def take(self, piece: bytes) -> bytes:
        """What can be sent after this piece."""
        self._sum, self._size = zlib.crc32(piece, self._sum), self._size + len(piece)
        ready, self._ready = self._ready + self._deflate.compress(piece), b""
        return ready

    def end(self) -> bytes:
        """The rest."""
        foot = self._sum.to_bytes(4, "little") + (self._size % 2**32).to_bytes(4, "little")
        return self._ready + self._deflate.flush() + foot


def packed(body: bytes) -> bytes:
    """An answer as gzip."""
    packer = Packer(body)
    return packer.take(body) + packer.end()
