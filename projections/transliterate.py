"""Write texts in one line, and with only the letters that a file format allows."""

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
"""Spelling of letters and signs that Unicode does not decompose."""


def single_line(text: str) -> str:
    """Return a text in composed letters, with single spaces instead of separators and control characters."""
    composed = unicodedata.normalize("NFC", text)
    return " ".join("".join(" " if unicodedata.category(one)[0] in "CZ" else one for one in composed).split())


def transliterated(text: str, known: Callable[[str], bool], otherwise: str) -> str:
    """Return a text in one line of ``known`` letters. Other letters lose their marks, are spelled out, or become
    ``otherwise``."""
    return single_line("".join(_spell_letter(one, known, otherwise) for one in single_line(text)))


def _spell_letter(one: str, known: Callable[[str], bool], otherwise: str) -> str:
    if known(one):
        return one
    for other in (SPELLED.get(one, ""), unicodedata.normalize("NFKD", one)):
        if kept := "".join(part for part in other if known(part)):
            return kept
    return "" if unicodedata.category(one)[0] == "M" else otherwise
