"""The texts of an audit and its page, in the reader's language."""

from importlib.resources import files as resources

import msgspec

from api.docs.pages import words_in
from api.money.statements import WORDS as STATEMENT
from projections.audit.findings import Difference
from projections.audit.history import Person
from projections.audit.persons import Waiting
from referee import sentences
from referee.sentences import Language, Text
from referee.value import Value

PLACES = ("entry", "account", "aggregate", "event", "closing", "leaf", "member")
"""Fields that locate a difference, in the order in which a sentence names them."""


class Words(Value, forbid_unknown_fields=True):
    """The texts of ``audit_page.toml``, by code."""

    words: dict[str, Text]
    checks: dict[str, Text]
    acts: dict[str, Text]
    """Commands that can be proposed and make no entry."""
    places: dict[str, Text]
    differences: dict[str, Text]


WORDS = msgspec.toml.decode((resources("api.docs") / "audit_page.toml").read_bytes(), type=Words)


def sentence(difference: Difference, language: Language) -> str:
    """Return a sentence about a difference, with its place and the actual and the expected value."""
    parts = [
        sentences.filled(WORDS.places[name].in_(language), {name: str(value)})
        for name in PLACES
        if (value := getattr(difference, name)) is not None
    ]
    place = ", ".join(parts) or WORDS.places["whole"].in_(language)
    nothing = WORDS.words["nothing"].in_(language)
    said = WORDS.differences[difference.code].in_(language)
    return sentences.sentence(
        said, {"place": place, "stands": difference.stands or nothing, "should": difference.should or nothing}
    )


class PageTexts:
    """Makes the texts of the page in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.word = words_in(language, WORDS.words)

    def member(self, number: int | None, name: str | None) -> str:
        """Return a member's name, if any, and number; empty without a number."""
        if number is None:
            return ""
        member = self.word("member", member=number)
        return member if name is None else f"{name} ({member})"

    def person(self, person: Person | None) -> str:
        """Return the text for a member, program or other actor; empty for ``None``."""
        if person is None:
            return ""
        if person.member is not None:
            return self.member(person.member, person.name)
        return person.actor if person.app is None else f"{person.app} ({person.actor})"

    def command(self, tag: str) -> str:
        """Return the name of a command that can be proposed."""
        return (STATEMENT.kinds.get(tag) or WORDS.acts[tag]).in_(self.language)

    def proposed_command(self, proposal: Waiting) -> str:
        return self.command(
            str(proposal.act.__struct_config__.tag) if proposal.draft is None else proposal.draft.kind
        )
