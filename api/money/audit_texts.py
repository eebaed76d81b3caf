"""Makes the texts of an audit and of its page in the reader's language."""

from collections.abc import Iterable
from importlib.resources import files as resources

import msgspec

from api.money.statements import WORDS as STATEMENT
from projections.audit.findings import Difference
from projections.audit.history import Person
from projections.audit.persons import Waiting
from projections.journal import Author
from referee.sentences import Language, Text
from referee.value import Value

PLACES = ("entry", "account", "aggregate", "event", "closing", "leaf", "member")
"""Fields that locate a difference, in the order in which a sentence names them."""


class Words(Value, forbid_unknown_fields=True):
    """The texts of ``audit_page.toml``, by code."""

    words: dict[str, Text]
    checks: dict[str, Text]
    acts: dict[str, Text]
    """Acts that can be proposed and make no entry."""
    places: dict[str, Text]
    differences: dict[str, Text]


WORDS = msgspec.toml.decode((resources("api.docs") / "audit_page.toml").read_bytes(), type=Words)


def sentence(one: Difference, language: Language) -> str:
    """Return the sentence for a difference: its place, the actual and the expected value."""
    parts = [
        WORDS.places[name].in_(language).replace(f"{{{name}}}", str(value))
        for name in PLACES
        if (value := getattr(one, name)) is not None
    ]
    place = ", ".join(parts) or WORDS.places["whole"].in_(language)
    nothing = WORDS.words["nothing"].in_(language)
    said = WORDS.differences[one.code].in_(language)
    filled = {"place": place, "stands": one.stands or nothing, "should": one.should or nothing}
    text = "".join(filled.get(part, part) for part in _parts(said))
    return text[0].upper() + text[1:]


def _parts(said: str) -> Iterable[str]:
    """Yield the texts outside the braces and the names inside them, in order."""
    for piece in said.split("{"):
        name, brace, rest = piece.partition("}")
        yield name
        if brace:
            yield rest


class Sheet:
    """Makes the texts of a page in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def word(self, code: str, **values: object) -> str:
        """Return the text of this code, with values in place of its placeholders."""
        text = WORDS.words[code].in_(self.language)
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text

    def member(self, number: int | None, name: str | None) -> str:
        """Return a member's name and number; empty for ``None``."""
        if number is None:
            return ""
        member = self.word("member", member=number)
        return member if name is None else f"{name} ({member})"

    def person(self, person: Person | None) -> str:
        """Return the name of a member or program; empty for ``None``."""
        if person is None:
            return ""
        if person.member is not None:
            return self.member(person.member, person.name)
        return person.actor if person.app is None else f"{person.app} ({person.actor})"

    def author(self, author: Author) -> str:
        """Return the member who acted, else the actor, with the match in which they acted."""
        actor = self.member(author.member, None) or author.actor
        return actor if author.match is None else f"{actor} ({author.match})"

    def act(self, tag: str) -> str:
        """Return the name of an act that needs two persons."""
        return (STATEMENT.kinds.get(tag) or WORDS.acts[tag]).in_(self.language)

    def proposed(self, one: Waiting) -> str:
        return self.act(str(one.act.__struct_config__.tag) if one.draft is None else one.draft.kind)
