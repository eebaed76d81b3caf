"""The keys of clubs, as they are shown once and then held by somebody: ``knk_<id>_<secret><checksum>``.

The id names the club and the key in it, so a key is looked for in one place; the checksum tells a mistyped key, or
half of one, before anything is looked for. Of a key the club keeps the SHA-256 of the whole text. The fixed beginning
and form are for programs that look for secrets where none should lie.
"""

import re
import secrets
import string
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID
from zlib import crc32

_DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_WORTH = {digit: worth for worth, digit in enumerate(_DIGITS)}
PATTERN = "knk_[0-9A-Za-z]{22}k[1-9][0-9]{0,4}_[0-9A-Za-z]{49}"
_FORM = re.compile(r"knk_([0-9A-Za-z]{22})(k[1-9][0-9]{0,4})_[0-9A-Za-z]{43}[0-9A-Za-z]{6}", re.ASCII)
BEGINS = "knk_"
CHECK_DIGITS = 6
SECRET_DIGITS = 43
"""62 to this power is more than 2 to the 256."""
CLUB_DIGITS = 22
CLUBS_KEPT = 4096
LENGTH_MAX = len(BEGINS) + CLUB_DIGITS + 6 + 1 + SECRET_DIGITS + CHECK_DIGITS


class Named(NamedTuple):
    """What a key says of itself: whether it is one, only the club can tell."""

    club: UUID
    key: str


def written(club: UUID, key: str, random: bytes | None = None) -> str:
    """The text of a key; ``random``: 32 bytes that its secret is made of, where they are not just drawn."""
    number = secrets.randbits(256) if random is None else int.from_bytes(random)
    text = f"{BEGINS}{_base62(club.int, CLUB_DIGITS)}{key}_{_base62(number, SECRET_DIGITS)}"
    return text + _check(text)


def named(text: str) -> Named | None:
    """What a key names, ``None`` where it has not the form of one, or is not whole."""
    found = _FORM.fullmatch(text)
    if found is None or crc32(text[:-CHECK_DIGITS].encode()) != _number(text[-CHECK_DIGITS:]):
        return None
    club = _club(found[1])
    return None if club is None else Named(club, found[2])


@lru_cache(CLUBS_KEPT)
def _club(digits: str) -> UUID | None:
    """The id that these digits are, if they are one: no secret, and a key is shown with each act."""
    number = _number(digits)
    return UUID(int=number) if number < 1 << 128 else None


def _check(text: str) -> str:
    return _base62(crc32(text.encode()), CHECK_DIGITS)


def _number(digits: str) -> int:
    number = 0
    for digit in digits:
        number = number * len(_DIGITS) + _WORTH[digit]
    return number


def _base62(number: int, digits: int) -> str:
    text = ""
    for _ in range(digits):
        number, digit = divmod(number, len(_DIGITS))
        text = _DIGITS[digit] + text
    return text
