"""The text form of secrets: ``<prefix><id of an aggregate><name>_<secret><checksum>``.

The aggregate (a match or club) stores the SHA-256 of the text. The checksum shows mistyped texts.
"""

import math
import re
import secrets
import string
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID
from zlib import crc32

DIGITS = string.digits + string.ascii_uppercase + string.ascii_lowercase
_VALUE_OF = {digit: value for value, digit in enumerate(DIGITS)}
ID_DIGITS = 22
CHECK_DIGITS = 6
NAME_MAX = 6
"""Length of a letter and five digits."""
IDS_CACHE_MAX = 4096


class Named(NamedTuple):
    """The aggregate and the name in a secret's text, which perhaps do not exist."""

    aggregate: UUID
    name: str


class SecretForm:
    def __init__(self, prefix: str, letter: str | None, random_bytes: int) -> None:
        """``letter``: the first letter of every name; ``None``: all names are empty."""
        self.prefix, self.random_bytes = prefix, random_bytes
        self.secret_digits = _base62_digits_for(8 * random_bytes)
        aggregate, name = f"[0-9A-Za-z]{{{ID_DIGITS}}}", "" if letter is None else f"{letter}[1-9][0-9]{{0,4}}"
        rest = f"_[0-9A-Za-z]{{{self.secret_digits + CHECK_DIGITS}}}"
        self.pattern = f"{prefix}{aggregate}{name}{rest}"
        name_max = 0 if letter is None else NAME_MAX
        self.length_max = len(prefix) + ID_DIGITS + name_max + 1 + self.secret_digits + CHECK_DIGITS
        self._form = re.compile(f"{prefix}({aggregate})({name}){rest}", re.ASCII)

    def make_text(self, aggregate: UUID, name: str, random: bytes | None = None) -> str:
        """Return the text of a secret. ``random``: at least :attr:`random_bytes` bytes; ``None``: new bytes."""
        if random is None:
            random = secrets.token_bytes(self.random_bytes)
        number = int.from_bytes(random[: self.random_bytes])
        text = f"{self.prefix}{_base62(aggregate.int, ID_DIGITS)}{name}_{_base62(number, self.secret_digits)}"
        return text + checksum(text)

    def parse(self, text: str) -> Named | None:
        """Return the id and the name in a text; ``None`` if its form or checksum is wrong."""
        found = self._form.fullmatch(text)
        if found is None or checksum(text[:-CHECK_DIGITS]) != text[-CHECK_DIGITS:]:
            return None
        aggregate = _id_in(found[1])
        return None if aggregate is None else Named(aggregate, found[2])


def checksum(text: str) -> str:
    return _base62(crc32(text.encode()), CHECK_DIGITS)


@lru_cache(IDS_CACHE_MAX)
def _id_in(digits: str) -> UUID | None:
    """Return the id with these base-62 digits; ``None`` if the number is too large."""
    number = 0
    for digit in digits:
        number = number * len(DIGITS) + _VALUE_OF[digit]
    return UUID(int=number) if number < 1 << 128 else None


def _base62(number: int, digits: int) -> str:
    text = ""
    for _ in range(digits):
        number, digit = divmod(number, len(DIGITS))
        text = DIGITS[digit] + text
    return text


def _base62_digits_for(bits: int) -> int:
    return math.ceil(bits / math.log2(len(DIGITS)))
