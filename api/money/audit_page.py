"""What an audit says to people: its sentences, and the page that can be printed."""

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files as resources

import msgspec

from api.docs.pages import framed, policy_of_framed
from api.money.auditing import Audit, Checked, KeyAudited
from api.money.statements import WORDS as STATEMENT
from projections.audit.findings import Difference
from projections.audit.persons import Waiting
from projections.journal import decimal
from referee.sentences import Language, Text
from referee.value import Value

PLACES = ("entry", "account", "aggregate", "event", "closing", "leaf", "member")
"""The fields of a place, in the order in which a sentence tells them."""


class Words(Value, forbid_unknown_fields=True):
    """The words of an audit, by code."""

    words: dict[str, Text]
    checks: dict[str, Text]
    acts: dict[str, Text]
    """Acts that a proposal may be about and that make no entry."""
    places: dict[str, Text]
    differences: dict[str, Text]


WORDS = msgspec.toml.decode((resources("api.docs") / "audit_page.toml").read_bytes(), type=Words)
"""``audit_page.toml`` is for a translator to read and change."""


def sentence(one: Difference, language: Language) -> str:
    """A difference: where it is, what stands there, and what should."""
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
    """A sentence in pieces: names in braces by their name alone."""
    for piece in said.split("{"):
        name, brace, rest = piece.partition("}")
        yield name
        if brace:
            yield rest


def _cell(what: object, is_sum: bool) -> str:
    kind, text = ' class="sum"' if is_sum else "", "" if what is None else escape(str(what))
    return f"<td{kind}>{text}</td>"


def policy() -> str:
    """What the page may load: nothing but its style."""
    return policy_of_framed("statement")


def page(audit: Audit, language: Language) -> bytes:
    """The audit as a page to be read or printed: HTML without a script, in which every text is only text."""

    def word(code: str, **values: object) -> str:
        text = WORDS.words[code].in_(language)
        for name, value in values.items():
            text = text.replace(f"{{{name}}}", str(value))
        return escape(text)

    def table(heads: Sequence[str], rows: Sequence[Sequence[object]], sums: Sequence[int] = ()) -> str:
        if not rows:
            return f"<p>{word('none')}</p>"
        top = "".join(f"<th>{word(code)}</th>" for code in heads)
        body = "".join(
            "<tr>" + "".join(_cell(one, at in sums) for at, one in enumerate(row)) + "</tr>" for row in rows
        )
        return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"

    def found(one: Checked) -> str:
        items = "".join(f"<li>{escape(each.text)}</li>" for each in one.differences)
        more = ""
        if one.count > len(one.differences):
            more = f"<p>{word('more', told=len(one.differences), count=one.count)}</p>"
        return f"<h3>{escape(WORDS.checks[one.check].in_(language))}</h3><ul>{items}</ul>{more}"

    def whose(key: KeyAudited) -> str:
        if key.member is None:
            return key.app or ""
        member = WORDS.words["member"].in_(language).replace("{member}", str(key.member))
        return member if key.name is None else f"{key.name} ({member})"

    def until(key: KeyAudited) -> str:
        ends = key.expires_at if key.revoked_at is None else key.revoked_at
        day = ends.date().isoformat()
        return day if key.revoked_at is None else WORDS.words["revoked"].in_(language).replace("{at}", day)

    def proposed(one: Waiting) -> str:
        if one.draft is not None:
            return STATEMENT.kinds[one.draft.kind].in_(language)
        return WORDS.acts[str(one.act.__struct_config__.tag)].in_(language)

    title = WORDS.words["title"].in_(language).replace("{club}", audit.club)
    terms = {"club": audit.club, "entry": audit.entry, "version": audit.version, "signed": audit.signed}
    told = "".join(f"<dt>{word(code)}</dt><dd>{escape(str(what))}</dd>" for code, what in terms.items())
    checks = [(WORDS.checks[one.check].in_(language), "✓" if one.ok else "✗", one.count) for one in audit.checks]
    trial = [(one.account, one.currency, decimal(one.books), decimal(one.rows)) for one in audit.trial]
    waiting = [
        (one.proposal, proposed(one), one.by, one.at.strftime("%Y-%m-%d %H:%M:%S UTC")) for one in audit.proposals
    ]
    keys = [(one.key, whose(one), ", ".join(one.scopes), one.since.date(), until(one)) for one in audit.keys]
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<dl>{told}</dl>",
        f"<p><strong>{word('all_ok' if audit.ok else 'not_ok')}</strong></p>",
        f"<h2>{word('checks')}</h2>",
        table(("check", "result", "found"), checks),
        *([f"<h2>{word('differences')}</h2>"] if not audit.ok else []),
        *(found(one) for one in audit.checks if not one.ok),
        f"<h2>{word('trial')}</h2>",
        f"<p>{word('signs')}</p>",
        table(("account", "currency", "books", "rows"), trial, sums=(2, 3)),
        f"<h2>{word('closings')}</h2>",
        f"<p>{word('closed', entry=audit.closed_through, count=audit.after_closing)}</p>",
        f"<h2>{word('open_matches')}</h2>",
        table(("match", "evening"), [(one.match, one.evening) for one in audit.open_matches]),
        f"<h2>{word('proposals')}</h2>",
        table(("proposal", "kind", "by", "at"), waiting),
        f"<h2>{word('reversals')}</h2>",
        table(
            ("number", "reverses", "date", "by"),
            [(one.number, one.reverses, one.date, one.by) for one in audit.reversals],
        ),
        f"<h2>{word('keys')}</h2>",
        table(("key", "whose", "scopes", "since", "until"), keys),
    ]
    return framed("statement", language, title, "\n".join(body))
