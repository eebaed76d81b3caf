"""Pages about the problem types: one page for each type, and one that lists all.

``python -m api.docs.problem_list > openapi/problems.md`` writes the list. ``refusals.toml`` has the codes of the
referee; a test compares it with each place in the source that makes a refusal.
"""

import sys
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
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

EXAMPLES: dict[str, Any] = {
    "account": "member:5",
    "allowed": ("pass", "5", "6", "rodskagg"),
    "amount": 450,
    "asker": 1,
    "at": "/tricks/4",
    "awaited": (0, 2),
    "card": "H7",
    "case": 2,
    "cases": (3,),
    "cards": ("H7", "SA"),
    "count": 2,
    "counts": (6, 6, 6, 0),
    "currencies": ("SEK", "EUR"),
    "currency": "JPY",
    "deal": 4,
    "dealer": 0,
    "deals": (4, 5),
    "decimals": 0,
    "done": 6,
    "early": 3,
    "entry": 18,
    "evening": 12,
    "event": 52,
    "expected": "top",
    "key": "k3",
    "last": 41,
    "late": 3,
    "least": 28,
    "limit": 20,
    "matches": 2,
    "member": 5,
    "members": (5, 7),
    "most": 156,
    "needed": 9,
    "pack": 52,
    "payee": 7,
    "payer": 5,
    "pending": (2, 3),
    "phase": "auction",
    "plan": "0123456789abcdef",
    "players_max": 6,
    "points": (12, 12, 0, 12),
    "pot": -1,
    "proposal": 4,
    "role": "scribe",
    "scopes": ("keys", "treasury"),
    "seat": 4,
    "seats": 4,
    "status": "final",
    "target": 500,
    "total": 3,
    "trick": 4,
    "turn": 2,
    "unit": 25,
    "verdict": "dismissed",
    "until": datetime(2025, 1, 1, 20, 15, 5, tzinfo=UTC),
    "widow": 5,
    "winner": 3,
}
"""A value for each fact, for the examples."""
EXAMPLES_OF: dict[str, dict[str, Any]] = {
    "all_must_join": {"allowed": ("join", "widow")},
    "already_announced": {"allowed": ("join", "widow")},
    "dealer_must_choose": {"allowed": ("H", "D", "C", "redeal")},
    "last_must_join": {"allowed": ("join", "widow", "generalrams")},
    "missing_in_the_result": {"at": "/bids"},
    "must_beat_trump": {"allowed": ("S9", "SJ")},
    "must_follow_suit": {"allowed": ("H2", "H7")},
    "must_head": {"allowed": ("HQ", "HA")},
    "must_join_or_pay": {"allowed": ("join", "widow", "generalrams", "pay")},
    "must_overtrump": {"allowed": ("S9", "SJ")},
    "must_trump": {"allowed": ("S8", "SJ")},
    "name_another_suit": {"allowed": ("H", "D", "C")},
    "no_such_declaration": {"allowed": ("join", "lie_down", "widow", "generalrams")},
    "no_such_offence": {"allowed": ("revoke", "misdeal")},
    "not_in_the_result": {"allowed": ("bids", "tricks", "taken", "answers", "asked"), "at": "/trumps"},
    "not_in_pack": {"cards": ("H2", "S3")},
    "not_turned_up_suit": {"allowed": ("pass", "H", "D", "C", "redeal")},
    "nothing_to_buy_off": {"allowed": ("join", "lie_down", "generalrams")},
    "only_turned_up_suit": {"allowed": ("take", "S", "pass", "redeal")},
    "second_needed": {"allowed": (0, 1, 3), "at": "/second/3"},
    "single_pot": {"allowed": ("join", "widow", "generalrams")},
    "widow_taken": {"allowed": ("join", "lie_down", "generalrams")},
}
"""Values for the facts of one code, if those in ``EXAMPLES`` do not fit it."""


class RefusalRow(Value, forbid_unknown_fields=True):
    """A refusal in ``refusals.toml``."""

    kind: str
    """The name of the exception class."""
    facts: tuple[str, ...]


class Refusal(NamedTuple):
    """A refusal of the referee: its exception class and its facts."""

    kind: type[Refused]
    facts: frozenset[str]
    """The names of the facts that a refusal with this code can have."""


def _kinds(kind: type[Refused] = Refused) -> Iterator[type[Refused]]:
    yield kind
    for narrower in kind.__subclasses__():
        yield from _kinds(narrower)


@cache
def refusals() -> dict[str, Refusal]:
    """Return the refusals of the referee by code, in alphabetical order.

    A test compares ``refusals.toml`` with the source of the referee.
    """
    kinds = {kind.__name__: kind for kind in _kinds()}
    rows = msgspec.toml.decode((files("api.docs") / "refusals.toml").read_bytes(), type=dict[str, RefusalRow])
    return {code: Refusal(kinds[row.kind], frozenset(row.facts)) for code, row in rows.items()}


_AT = "/v1/matches/0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b/acts"


class Page(Text, forbid_unknown_fields=True):
    """Advice about a problem, and an example of it: its facts and its address."""

    facts: dict[str, Any] = msgspec.field(default_factory=dict)
    at: str = _AT


class Pages(Value, forbid_unknown_fields=True):
    """The texts of the pages: refusals by their class, problems of the API by code."""

    words: dict[str, Text]
    refusals: dict[str, Text]
    problems: dict[str, Page]


PAGES = msgspec.toml.decode((files("api.docs") / "problem_pages.toml").read_bytes(), type=Pages)
"""The texts of ``problem_pages.toml``, which translators can edit."""

_LIMIT, _WINDOWS = types.IntType(ge=1, le=200), types.LiteralType(("deal_end", "next_trick"))
_FAULTS = {
    "unreadable": faults_of(AnyAct, b'{"act": "play", "seat": "1", "card": "S1", "loud": true}'),
    "unfit_knock": (Fault("missing", ("accused",), expected=types.IntType(ge=0, le=7), facts={"name": "accused"}),),
    "bad_parameter": (Fault("wrong", parameter="limit", expected=_LIMIT, given="0"),),
    "bad_option": (Fault("wrong", ("options", "knock_window"), expected=_WINDOWS, given="no"),),
}
"""Values for ``errors`` in the examples, by code."""

OWNS = sorted(TEXTS.items(), key=lambda item: (item[1].status, item[0]))
"""The API's own problems, by status."""


def answer(code: str, language: Language) -> Document:
    """Return an example of a problem."""
    if code in TEXTS:
        page = PAGES.problems.get(code, Page(en="", sv=""))
        facts = dict.fromkeys(sorted(fields(TEXTS[code].en) - {"reason"}), "…") | page.facts
        return document_of(Problem(code, faults=_FAULTS.get(code, ()), **facts), page.at, language)
    problem, examples = refusals()[code], EXAMPLES | EXAMPLES_OF.get(code, {})
    facts = {name: examples[name] for name in sorted(problem.facts) if name in examples}
    return document_of_refusal(problem.kind(code, None, **facts), _AT, language)


def advice(code: str, language: Language) -> str:
    """Return the advice about a problem; empty if it has no text."""
    text = PAGES.problems.get(code) if code in TEXTS else PAGES.refusals[refusals()[code].kind.__name__]
    return text.in_(language) if text else ""


def code_of(name: str) -> str | None:
    """Return the code of the problem type with this last part of its address, ``None`` if it does not exist."""
    code = name.replace("-", "_")
    known = code in TEXTS or code in sentences.TEXTS.refusals
    return code if known and problem_type(code).endswith(f"/{name}") else None


def page_markdown(code: str, language: Language) -> str:
    """Return the page of one problem type, in Markdown."""
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
    """Return a text, escaped for a table."""
    return text.replace("|", "\\|").replace("\n", " ")


def problems_markdown(language: Language = "en", *, served: bool = False) -> str:
    """Return the list of all problem types, in Markdown. With ``served`` it has links to their pages, otherwise a
    note about how the file is made."""
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
