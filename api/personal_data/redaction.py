"""Replaces a person's names and numbers in a text by placeholders.

A name is found as whole words: in any Unicode form, with any blanks, and in the genitive ("Annas", "Anna's"), but not
within a word or a double name ("Bo-Erik"). A name of one word is not found in small letters, because "hans" is a
pronoun. A name of one letter has no genitive, because "As" is a word.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from unicodedata import category, normalize

from api.http.strict import UNSEEN
from projections.payable import SEPARATORS

PLACEHOLDER = "█"
"""Single character, because a longer one could make a text too long."""
_BLANKS = re.compile(r"\s+")
_JOINS = "-'"
_EQUIVALENTS = (("\u2010", "-"), ("\u2019", "'"), ("\u02bc", "'"))
"""Characters in NFKD, and the hyphen or apostrophe as which they count."""

Span = tuple[int, int]


class Redactor:
    def __init__(self, names: Iterable[str], numbers: Iterable[str] = ()) -> None:
        """``numbers``: Swish numbers and IBANs without separators."""
        needles = {_sought_name(name) for name in names}
        self._sought_names = sorted((one for one in needles if one.folded), key=lambda one: (-len(one.folded), one))
        self._may_match = re.compile("|".join(map(_rough_pattern, self._sought_names)) or "(?!)")
        self._numbers = tuple(map(_number_pattern, numbers))

    def redact(self, text: str) -> tuple[str, int]:
        """Return the text with placeholders, and the number of placeholders."""
        spans = [match.span() for pattern in self._numbers for match in pattern.finditer(text)]
        if self._may_match.search(" ".join(_normalized(text).split())):  # fast, because most texts contain no name
            spans += self._name_spans(_Folded(text))
        parts: list[str] = []
        done = 0
        for start, end in sorted(spans):
            if start >= done:
                parts += text[done:start], PLACEHOLDER
            done = max(done, end)
        return "".join((*parts, text[done:])), len(parts) // 2

    def _name_spans(self, folded: "_Folded") -> Iterator[Span]:
        for start in folded.starts:
            for needle in self._sought_names:
                if needle.is_at(folded, start):
                    yield folded.span(start, start + len(needle.folded))
                    break


class _Folded:
    """A text for comparison: without case, composition and invisible characters, and with single blanks.

    ``starts`` and ``ends`` map bounds of characters in ``text`` to indexes in the original, ``written``.
    """

    def __init__(self, written: str) -> None:
        self.written = written
        self.starts: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        parts = [""]
        length = 0
        for start, end in _clusters(written):
            part = _BLANKS.sub(" ", _normalized(written[start:end]))
            if parts[-1].endswith(" "):
                part = part.removeprefix(" ")
            if part:
                self.starts[length] = start
                parts.append(part)
                length += len(part)
            self.ends[length] = end
        self.text = "".join(parts)

    def span(self, start: int, end: int) -> Span:
        """Return the span in ``written`` for one in ``text``."""
        return self.starts[start], self.ends[end]


class _SoughtName(NamedTuple):
    folded: str
    one_word: bool
    one_letter: bool

    def is_at(self, text: _Folded, start: int) -> bool:
        """Return whether the name is in a text at ``start``, as whole words."""
        end = start + len(self.folded)
        if not text.text.startswith(self.folded, start) or end not in text.ends:
            return False
        if self.one_word and _visible_text(text.written[slice(*text.span(start, end))])[0].islower():
            return False
        before, after = text.text[max(0, start - 2) : start][::-1], text.text[end : end + 4]
        if _is_word(self.folded[0]) and _is_joined(before):
            return False
        return (
            not _is_word(self.folded[-1])
            or not _is_joined(after)
            or (not self.one_letter and _begins_with_genitive_ending(after))
        )


def fold(text: str) -> str:
    return _Folded(text.strip()).text


def _sought_name(name: str) -> _SoughtName:
    folded = _Folded(name.strip())
    return _SoughtName(folded.text, " " not in folded.text, len(folded.starts) == 1)


def _rough_pattern(needle: _SoughtName) -> str:
    """Return a pattern that finds the name everywhere in a folded text, and perhaps other places."""
    before = r"(?<![^\W_])" if _is_word(needle.folded[0]) else ""
    after = r"(?=s?(?:[\W_]|$))" if _is_word(needle.folded[-1]) else ""
    return before + re.escape(needle.folded) + after


def _clusters(text: str) -> Iterator[Span]:
    """Yield the span of each character with the marks and invisible characters after it."""
    start = 0
    for place, character in enumerate(text):
        if place > start and not (category(character)[0] == "M" or UNSEEN.fullmatch(character)):
            yield start, place
            start = place
    if text:
        yield start, len(text)


def _visible_text(text: str) -> str:
    return normalize("NFKC", UNSEEN.sub("", text))


def _normalized(text: str) -> str:
    folded = normalize("NFKD", normalize("NFKD", UNSEEN.sub("", text)).casefold())
    for other, usual in _EQUIVALENTS:
        folded = folded.replace(other, usual)
    return folded


def _is_word(character: str) -> bool:
    return character.isalnum() or category(character)[0] == "M"


def _is_joined(beside: str) -> bool:
    """Return whether the characters beside a name, the nearest first, make it part of a longer word."""
    return _is_word(beside[:1] or " ") or (beside[:1] in _JOINS and _is_word(beside[1:2] or " ") if beside else False)


def _begins_with_genitive_ending(after: str) -> bool:
    ending = re.match("'?s", after)
    return ending is not None and not _is_joined(after[ending.end() :])


def _number_pattern(number: str) -> re.Pattern[str]:
    """Return a pattern that finds a number with any separators, and a mobile number also with code 46."""
    between = f"(?:{SEPARATORS.pattern})*"
    if number.startswith("07"):
        first, number = rf"(?:(?:\+|00)?{between}46{between}(?:\(?0\)?{between})?|0{between})", number[1:]
    else:
        first = ""
    body = between.join(map(re.escape, number))
    return re.compile(rf"(?<![0-9A-Za-z]){first}{body}(?![0-9A-Za-z])", re.IGNORECASE)
