"""The numbered rules of each ruleset as data: our own words, English and Swedish.

One TOML file a ruleset, named by its key; that of a game from elsewhere lies in its own package. Imports nothing
from the project, so that games, API and tests can all cite it.
"""

from __future__ import annotations

from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Literal

import msgspec

from referee.value import Value

__all__ = ["PROCEDURE", "Kind", "Reading", "Rule", "Rulebook", "Title", "add", "load"]

PROCEDURE = "adjudication"
"""The key of the rulebook of the officials, which is no game's."""
_PACKAGES = [__name__]
"""Where rulebooks lie."""

Kind = Literal["setup", "deal", "bid", "play", "fold", "score", "end", "offence", "money", "variant", "procedure"]
"""Which part of the game a rule speaks of; a variant is off unless its option turns it on. A procedure is no part of
any game: it is what officials go by."""


class Title(Value, forbid_unknown_fields=True):
    """The name of a ruleset in both languages."""

    en: str
    sv: str


class Rule(Value, forbid_unknown_fields=True):
    """One rule that the source states, and the options that touch it."""

    id: str
    kind: Kind
    en: str
    sv: str
    options: tuple[str, ...]


class Reading(Value, forbid_unknown_fields=True):
    """The decision taken on a point that the source leaves open, and the options that change it."""

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
        """An id cited in a refusal or a ruling must mean one thing: ValueError if it is used twice."""
        uses = Counter(entry.id for entry in self.entries)
        if twice := [id for id, count in uses.items() if count > 1]:
            raise ValueError(f"{self.ruleset}: ids used more than once: {', '.join(twice)}")

    @property
    def entries(self) -> tuple[Rule | Reading, ...]:
        """Everything that can be cited: the rules, then the readings."""
        return (*self.rules, *self.readings)

    def rule(self, id: str) -> Rule | Reading:
        """The rule or reading with this id, such as "B42" or "B-O2"; KeyError if there is none."""
        for entry in self.entries:
            if entry.id == id:
                return entry
        raise KeyError(id)


def add(package: str) -> None:
    """Rulebooks lie in this package, too."""
    _PACKAGES.append(package)


@cache
def load(ruleset: str) -> Rulebook:
    """The rulebook of a ruleset; KeyError if it has none.

    Raises msgspec.ValidationError if the file has unknown or missing fields, or ids used twice,
    and ValueError if it belongs to another ruleset.
    """
    # The key may come from a URL: look it up among the files there are rather than join it to a path.
    for file in (file for package in _PACKAGES for file in files(package).iterdir()):
        if file.name == f"{ruleset}.toml":
            book = msgspec.toml.decode(file.read_bytes(), type=Rulebook)
            if book.ruleset != ruleset:
                raise ValueError(f"{file.name} holds the rules of {book.ruleset}")
            return book
    raise KeyError(ruleset)
