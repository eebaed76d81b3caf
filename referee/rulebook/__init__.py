"""The numbered rules of each ruleset, in English and Swedish.

Each rulebook is a TOML file named after its key. An installed game has the file in its own package."""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from referee.value import Value

__all__ = ["PROCEDURE", "Kind", "Reading", "Rule", "Rulebook", "Title", "add_package", "load"]

PROCEDURE = "adjudication"
"""Key of the officials' rulebook, which belongs to no game."""
_PACKAGES = [__name__]

Kind = Literal["setup", "deal", "bid", "play", "fold", "score", "end", "offence", "money", "variant", "procedure"]
"""Part of the game that a rule is about. A ``variant`` is off unless an option chooses it. A ``procedure`` is
for the officials."""


class Title(Value, forbid_unknown_fields=True):
    en: str
    sv: str


class Rule(Value, forbid_unknown_fields=True):
    """A rule that the source states, and the options that change it."""

    id: str
    kind: Kind
    en: str
    sv: str
    options: tuple[str, ...]


class Reading(Value, forbid_unknown_fields=True):
    """The decision on a point that the source leaves open, and the options that change it."""

    id: str
    en: str
    sv: str
    options: tuple[str, ...]


class Rulebook(Value, forbid_unknown_fields=True):
    """A ruleset's rules and readings, in the order of the source."""

    ruleset: str
    source: str
    title: Title
    rules: tuple[Rule, ...]
    readings: tuple[Reading, ...]

    def __post_init__(self) -> None:
        """Raise ``ValueError`` if an id is used twice."""
        uses = Counter(entry.id for entry in self.entries)
        if twice := [id for id, count in uses.items() if count > 1]:
            raise ValueError(f"{self.ruleset}: ids used more than once: {', '.join(twice)}")

    @property
    def entries(self) -> tuple[Rule | Reading, ...]:
        return (*self.rules, *self.readings)

    def rule(self, id: str) -> Rule | Reading:
        """Return the rule or reading with this id ("B42", "B-O2"). Raises ``KeyError`` if it does not exist."""
        for entry in self.entries:
            if entry.id == id:
                return entry
        raise KeyError(id)


def add_package(package: str) -> None:
    """Let :func:`load` also search this package."""
    _PACKAGES.append(package)


@cache
def load(ruleset: str) -> Rulebook:
    """Return the rulebook with the key ``ruleset``.

    Raises ``KeyError`` if it does not exist, and ``ValueError`` if the file is invalid, uses an id twice or belongs
    to a different ruleset.
    """
    # Never join the key to a path, because it may come from a URL.
    for file in (file for package in _PACKAGES for file in files(package).iterdir()):
        if file.name == f"{ruleset}.toml":
            book = msgspec.toml.decode(file.read_bytes(), type=Rulebook)
            if book.ruleset != ruleset:
                raise ValueError(f"{file.name} holds the rules of {book.ruleset}")
            return book
    raise KeyError(ruleset)
