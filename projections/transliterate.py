"""Texts as others can take them: in one line, and in the letters that they have."""

import unicodedata
from collections.abc import Callable

SPELLED = {
    **dict(zip("øØłŁđĐðÐıħŧŋ‘’‚“”„–—", "oOlLdDdDihtn'''\"\"\"--", strict=True)),
    "þ": "th",
    "Þ": "Th",
    "æ": "ae",
    "Æ": "Ae",
    "œ": "oe",
    "Œ": "Oe",
    "ß": "ss",
    "ẞ": "SS",
    "€": "EUR",
}
"""Letters and signs that are no other one with a mark on it."""


def in_line(text: str) -> str:
    """A text in composed letters, without control characters, and with single blanks alone."""
    composed = unicodedata.normalize("NFC", text)
    return " ".join("".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in composed).split())


def spelled(text: str, known: Callable[[str], bool], otherwise: str) -> str:
    """A text in one line with known letters alone: of another one stays what it is without its marks, or how it is
    spelled, and where that is not known either it is ``otherwise``."""
    return in_line("".join(_letter(one, known, otherwise) for one in in_line(text)))


def _letter(one: str, known: Callable[[str], bool], otherwise: str) -> str:
    if known(one):
        return one
    for other in (SPELLED.get(one, ""), unicodedata.normalize("NFKD", one)):
        if kept := "".join(part for part in other if known(part)):
            return kept
    return "" if unicodedata.category(one)[0] == "M" else otherwise
