"""The texts of an audit, and the parts of its page."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files as resources

import msgspec

from api.money.statements import WORDS as STATEMENT
from projections.audit.findings import Difference
from projections.audit.history import Person
from projections.audit.persons import Waiting
from referee.sentences import Language, Text
from referee.value import Value

PLACES = ("entry", "account", "aggregate", "event", "closing", "leaf", "member")
"""Fields of a place, in the order of a sentence."""


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
    """Yield the texts between ``{name}`` and the names, without braces."""
    for piece in said.split("{"):
        name, brace, rest = piece.partition("}")
        yield name
        if brace:
            yield rest


class Sheet:
    """Makes the parts of a page in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language

    def said(self, code: str, **values: object) -> str:
        """Return words with values, not escaped."""
        text = WORDS.words[code].in_(self.language)
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return text

    def word(self, code: str, **values: object) -> str:
        """Return words with values, escaped."""
        return escape(self.said(code, **values))

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]], sums: Sequence[int] = ()) -> str:
        """Return a table. ``heads``: codes of words. ``sums``: indices of the columns of amounts."""
        top = "".join(f"<th>{self.word(code)}</th>" for code in heads)
        body = "".join(
            "<tr>" + "".join(_cell(one, at in sums) for at, one in enumerate(row)) + "</tr>" for row in rows
        )
        if not body:
            return f"<p>{self.word('none')}</p>"
        return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"

    def listed(self, title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
        return f"<h2>{self.word(title)}</h2>{self.table(heads, rows)}"

    def member(self, number: int | None, name: str | None) -> str:
        """Return a member's name and number, not escaped; empty for ``None``."""
        if number is None:
            return ""
        member = self.said("member", member=number)
        return member if name is None else f"{name} ({member})"

    def person(self, person: Person | None) -> str:
        """Return the name of a member or program, not escaped; empty for ``None``."""
        if person is None:
            return ""
        if person.member is not None:
            return self.member(person.member, person.name)
        return person.actor if person.app is None else f"{person.app} ({person.actor})"

    def act(self, tag: str) -> str:
        """Return the name of an act for two persons."""
        return (STATEMENT.kinds.get(tag) or WORDS.acts[tag]).in_(self.language)

    def proposed(self, one: Waiting) -> str:
        return self.act(str(one.act.__struct_config__.tag) if one.draft is None else one.draft.kind)


def _cell(what: object, is_sum: bool) -> str:
    kind, text = ' class="sum"' if is_sum else "", "" if what is None else escape(str(what))
    return f"<td{kind}>{text}</td>"
