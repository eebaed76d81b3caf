"""Writes the list and the pages of the problem types in Markdown.

``python -m api.docs.problem_list > openapi/problems.md`` writes the list.
"""

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect as types

from api.http.describe import problem_examples
from api.http.faults import Fault, faults_of
from api.http.pages import LIMIT_MAX
from api.http.problems import TEXTS, Document, Problem, document_of, document_of_refusal, problem_type
from api.http.replies import encode
from referee import rulebook, sentences
from referee.games import RULESETS, ActOfAnyGame
from referee.refusals import AgainstTheRules, Refused
from referee.rulebook import PROCEDURE, Reading, Rule
from referee.sentences import Language, Text, fact_names
from referee.value import Value

assert RULESETS, "the games are loaded, and with them their own refusals"


class Examples(Value, forbid_unknown_fields=True):
    """Example values of facts (``problem_examples.toml``)."""

    facts: dict[str, Any]
    of: dict[str, dict[str, Any]]
    """Values, by code, that replace those in ``facts``."""
    rules: dict[str, str]
    """Rules, by code, of refusals whose rule depends on the case."""


EXAMPLES = msgspec.toml.decode((files("api.docs") / "problem_examples.toml").read_bytes(), type=Examples)


class RefusalRow(Value, forbid_unknown_fields=True):
    """A refusal in ``refusals.toml``."""

    kind: str
    """Name of the exception class."""
    facts: tuple[str, ...]
    rule: str | None = None
    example: dict[str, Any] | None = None
    """Facts of an example; null: those in ``Examples``."""


class Refusal(NamedTuple):
    """A refusal, with the names and example values of its facts."""

    kind: type[Refused]
    facts: frozenset[str]
    rule: str | None
    example: dict[str, Any]


def _refusal_classes(kind: type[Refused] = Refused) -> Iterator[type[Refused]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _refusal_classes(narrower)


@cache
def refusals() -> dict[str, Refusal]:
    """Return, by code, the refusals of ``refusals.toml``."""
    kinds = {kind.__name__: kind for kind in _refusal_classes()}
    rows = msgspec.toml.decode((files("api.docs") / "refusals.toml").read_bytes(), type=dict[str, RefusalRow])
    return {code: _refusal_of_row(code, kinds[row.kind], row) for code, row in rows.items()}


def _refusal_of_row(code: str, kind: type[Refused], row: RefusalRow) -> Refusal:
    composed = EXAMPLES.facts | EXAMPLES.of.get(code, {})
    example = {name: composed[name] for name in sorted(row.facts) if name in composed}
    rule = row.rule or EXAMPLES.rules.get(code)
    return Refusal(kind, frozenset(row.facts), rule, example if row.example is None else row.example)


_AT = "/v1/matches/0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b/acts"


class Page(Text, forbid_unknown_fields=True):
    """Advice about a problem, and the facts and address of its example."""

    facts: dict[str, Any] = msgspec.field(default_factory=dict)
    at: str = _AT


class Pages(Value, forbid_unknown_fields=True):
    """The content of ``problem_pages.toml``: refusals by class, problems of the API by code."""

    words: dict[str, Text]
    refusals: dict[str, Text]
    problems: dict[str, Page]


PAGES = msgspec.toml.decode((files("api.docs") / "problem_pages.toml").read_bytes(), type=Pages)

_LIMIT, _WINDOWS = types.IntType(ge=1, le=LIMIT_MAX), types.LiteralType(("deal_end", "next_trick"))
_FAULTS = {
    "unreadable": faults_of(ActOfAnyGame, b'{"act": "play", "seat": "1", "card": "S1", "loud": true}'),
    "unfit_knock": (Fault("missing", ("accused",), expected=types.IntType(ge=0, le=7), facts={"name": "accused"}),),
    "bad_parameter": (Fault("wrong", parameter="limit", expected=_LIMIT, given="0"),),
    "bad_option": (Fault("wrong", ("options", "knock_window"), expected=_WINDOWS, given="no"),),
}
"""Faults of the examples, by code of the problem."""

API_PROBLEMS = sorted(TEXTS.items(), key=lambda item: (item[1].status, item[0]))
"""Codes and texts of the API's own problems, in order of status and code."""


@cache
def recorded_examples() -> dict[str, Document]:
    """Return :func:`problem_examples` as documents."""
    return {name: msgspec.convert(one, Document) for name, one in problem_examples().items()}


def preload() -> None:
    """Read the refusals and the recorded examples."""
    refusals()
    recorded_examples()


def example_of(code: str, language: Language) -> Document:
    """Return an example of a problem. A recorded example supplies its facts, rule and instance.

    Raises ``KeyError`` for an unknown code.
    """
    real = recorded_examples().get(code.replace("_", "-"))
    if real is not None and real.errors and language == "en":
        return real
    if code in TEXTS:
        page = PAGES.problems.get(code, Page(en="", sv=""))
        facts = dict.fromkeys(sorted(fact_names(TEXTS[code].en) - {"reason"}), "…") | page.facts
        at = page.at
        if real is not None:
            facts, at = real.facts or {}, real.instance
        return document_of(Problem(code, faults=_FAULTS.get(code, ()), **facts), at, language)
    refusal = _refusal_with(code)
    rule, facts, at = refusal.rule, refusal.example, _AT
    if real is not None:
        rule, facts, at = real.rule or None, real.facts or {}, real.instance
    return document_of_refusal(refusal.kind(code, rule, **facts), at, language)


def _refusal_with(code: str) -> Refusal:
    """Return a refusal; for an installed game ``AgainstTheRules``, with the facts of its text."""
    known = refusals().get(code)
    if known is not None:
        return known
    facts = fact_names(sentences.TEXTS.refusals[code].en)
    return Refusal(AgainstTheRules, frozenset(facts), None, dict.fromkeys(sorted(facts), "…"))


def advice(code: str, language: Language) -> str:
    """Return the advice about a problem; ``""`` if it is missing."""
    text = PAGES.problems.get(code) if code in TEXTS else PAGES.refusals[_refusal_with(code).kind.__name__]
    return text.in_(language) if text else ""


def code_of(name: str) -> str | None:
    """Return the code of the problem type whose address ends with ``name``, or ``None``."""
    code = name.replace("-", "_")
    known = code in TEXTS or code in sentences.TEXTS.refusals
    return code if known and problem_type(code).endswith(f"/{name}") else None


def _rule_text(example: Document, language: Language) -> str:
    """Return the rule of an example as a paragraph; empty without a rule."""
    if not example.rule:
        return ""
    for key in (*RULESETS, PROCEDURE):
        book = rulebook.load(key)
        entries: list[Rule | Reading] = [*book.rules, *book.readings]
        for entry in entries:
            if entry.id == example.rule:
                return f"\n[{entry.id}](/docs#rule-{entry.id}): {getattr(entry, language)}\n"
    raise KeyError(example.rule)


def page_markdown(code: str, language: Language) -> str:
    """Return the page of a problem type: an example, its rule, and advice."""
    example = example_of(code, language)
    words = {name: text.in_(language) for name, text in PAGES.words.items()}
    return f"""\
# {example.title}

`{example.type}`, {example.status}

{example.detail}
{_rule_text(example, language)}
## {words["do"]}

{advice(code, language)}

## {words["answer"]}

```json
{msgspec.json.format(encode(example), indent=2).decode()}
```

[{words["all"]}](/problems)
"""


def _table_cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def problems_markdown(language: Language = "en", *, served: bool = False) -> str:
    """Return the list of problem types, without refusals of installed games.

    ``served``: with links to their pages, without the note for editors.
    """
    words = {name: text.in_(language) for name, text in PAGES.words.items()}

    def row(code: str, facts: Iterable[str]) -> str:
        example = example_of(code, language)
        shown = f"[`{example.type}`]({example.type})" if served else f"`{example.type}`"
        listed = ", ".join(f"`{name}`" for name in sorted(facts))
        return f"| {' | '.join((shown, str(example.status), example.title, listed, _table_cell(example.detail)))} |"

    lines = [
        f"# {words['problems']}",
        "",
        *([] if served else ["Generated by `python -m api.docs.problem_list`; do not edit.", ""]),
        words["introduction"],
        "",
        f"## {words['own']}",
        "",
        words["columns"],
        "|---|---|---|---|---|",
        *(row(code, example_of(code, language).facts or ()) for code, _ in API_PROBLEMS),
        "",
        f"## {words['refusals']}",
        "",
        words["statuses"],
        "",
        words["columns"],
        "|---|---|---|---|---|",
        *(row(code, problem.facts) for code, problem in refusals().items()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.stdout.buffer.write(problems_markdown().encode())
