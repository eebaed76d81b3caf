"""The pages of the problem types in Markdown: one for each, and a list.

``python -m api.docs.problem_list > openapi/problems.md`` writes the list.
"""

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect as types

from api.http.faults import Fault, faults_of
from api.http.problems import TEXTS, Document, Problem, document_of, document_of_refusal, problem_type
from api.http.replies import encode
from referee import sentences
from referee.acts import AnyAct
from referee.games import RULESETS
from referee.refusals import Refused
from referee.sentences import Language, Text, fields
from referee.value import Value

assert RULESETS, "the games are loaded, and with them their own refusals"


class Examples(Value, forbid_unknown_fields=True):
    """Values for facts, and different ones for single codes (``problem_examples.toml``)."""

    facts: dict[str, Any]
    of: dict[str, dict[str, Any]]


EXAMPLES = msgspec.toml.decode((files("api.docs") / "problem_examples.toml").read_bytes(), type=Examples)


class RefusalRow(Value, forbid_unknown_fields=True):
    """A refusal in ``refusals.toml``."""

    kind: str
    """The name of the exception class."""
    facts: tuple[str, ...]


class Refusal(NamedTuple):
    """The exception class of a refusal, and the names of its facts."""

    kind: type[Refused]
    facts: frozenset[str]


def _kinds(kind: type[Refused] = Refused) -> Iterator[type[Refused]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


@cache
def refusals() -> dict[str, Refusal]:
    """Return the refusals of the referee by code, in alphabetical order."""
    kinds = {kind.__name__: kind for kind in _kinds()}
    rows = msgspec.toml.decode((files("api.docs") / "refusals.toml").read_bytes(), type=dict[str, RefusalRow])
    return {code: Refusal(kinds[row.kind], frozenset(row.facts)) for code, row in rows.items()}


_AT = "/v1/matches/0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b/acts"


class Page(Text, forbid_unknown_fields=True):
    """Advice about a problem, and the facts and the address of an example."""

    facts: dict[str, Any] = msgspec.field(default_factory=dict)
    at: str = _AT


class Pages(Value, forbid_unknown_fields=True):
    """The content of ``problem_pages.toml``: refusals by class, problems of the API by code."""

    words: dict[str, Text]
    refusals: dict[str, Text]
    problems: dict[str, Page]


PAGES = msgspec.toml.decode((files("api.docs") / "problem_pages.toml").read_bytes(), type=Pages)

_LIMIT, _WINDOWS = types.IntType(ge=1, le=200), types.LiteralType(("deal_end", "next_trick"))
_FAULTS = {
    "unreadable": faults_of(AnyAct, b'{"act": "play", "seat": "1", "card": "S1", "loud": true}'),
    "unfit_knock": (Fault("missing", ("accused",), expected=types.IntType(ge=0, le=7), facts={"name": "accused"}),),
    "bad_parameter": (Fault("wrong", parameter="limit", expected=_LIMIT, given="0"),),
    "bad_option": (Fault("wrong", ("options", "knock_window"), expected=_WINDOWS, given="no"),),
}
"""Values for ``errors`` in the examples, by code."""

OWNS = sorted(TEXTS.items(), key=lambda item: (item[1].status, item[0]))
"""The API's own problems, sorted by status."""


def answer(code: str, language: Language) -> Document:
    if code in TEXTS:
        page = PAGES.problems.get(code, Page(en="", sv=""))
        facts = dict.fromkeys(sorted(fields(TEXTS[code].en) - {"reason"}), "…") | page.facts
        return document_of(Problem(code, faults=_FAULTS.get(code, ()), **facts), page.at, language)
    problem, examples = refusals()[code], EXAMPLES.facts | EXAMPLES.of.get(code, {})
    facts = {name: examples[name] for name in sorted(problem.facts) if name in examples}
    return document_of_refusal(problem.kind(code, None, **facts), _AT, language)


def advice(code: str, language: Language) -> str:
    text = PAGES.problems.get(code) if code in TEXTS else PAGES.refusals[refusals()[code].kind.__name__]
    return text.in_(language) if text else ""


def code_of(name: str) -> str | None:
    """Return the code of the problem type with this last part of its address."""
    code = name.replace("-", "_")
    known = code in TEXTS or code in sentences.TEXTS.refusals
    return code if known and problem_type(code).endswith(f"/{name}") else None


def page_markdown(code: str, language: Language) -> str:
    example = answer(code, language)
    words = {name: text.in_(language) for name, text in PAGES.words.items()}
    return f"""\
# {example.title}

`{example.type}`, {example.status}

{example.detail}

## {words["do"]}

{advice(code, language)}

## {words["answer"]}

```json
{msgspec.json.format(encode(example), indent=2).decode()}
```

[{words["all"]}](/problems)
"""


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def problems_markdown(language: Language = "en", *, served: bool = False) -> str:
    """Return the list of all problem types. ``served``: with links to their pages."""
    words = {name: text.in_(language) for name, text in PAGES.words.items()}

    def row(code: str, facts: Iterable[str]) -> str:
        example = answer(code, language)
        shown = f"[`{example.type}`]({example.type})" if served else f"`{example.type}`"
        listed = ", ".join(f"`{name}`" for name in sorted(facts))
        return f"| {' | '.join((shown, str(example.status), example.title, listed, _cell(example.detail)))} |"

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
        *(row(code, answer(code, language).facts or ()) for code, _ in OWNS),
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
