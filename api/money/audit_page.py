"""The page of an audit."""

from html import escape

from api.docs.pages import framed
from api.money.audit_lists import lists, moment
from api.money.audit_report import Audit, Checked, KeyAudited
from api.money.audit_texts import WORDS, Sheet
from projections.journal import decimal
from referee.sentences import Language


def page(audit: Audit, language: Language) -> bytes:
    """Return the audit as an HTML page. All texts are escaped."""
    sheet = Sheet(language)
    word, table = sheet.word, sheet.table

    def found(one: Checked) -> str:
        items = "".join(f"<li>{escape(each.text)}</li>" for each in one.differences)
        more = ""
        if one.count > len(one.differences):
            more = f"<p>{word('more', named=len(one.differences), count=one.count)}</p>"
        return f"<h3>{escape(WORDS.checks[one.check].in_(language))}</h3><ul>{items}</ul>{more}"

    def until(key: KeyAudited) -> str:
        ends = key.expires_at if key.revoked_at is None else key.revoked_at
        day = ends.date().isoformat()
        return day if key.revoked_at is None else sheet.said("revoked", at=day)

    title = sheet.said("title", club=audit.club)
    terms = {"club": audit.club, "entry": audit.entry, "version": audit.version, "signed": audit.signed}
    facts = "".join(f"<dt>{word(code)}</dt><dd>{escape(str(what))}</dd>" for code, what in terms.items())
    checks = [(WORDS.checks[one.check].in_(language), "✓" if one.ok else "✗", one.count) for one in audit.checks]
    trial = [(one.account, one.currency, decimal(one.books), decimal(one.rows)) for one in audit.trial]
    waiting = [(one.proposal, sheet.proposed(one), one.by, moment(one.at)) for one in audit.proposals]
    keys = [
        (one.key, sheet.member(one.member, one.name) or one.app, ", ".join(one.scopes), one.since.date(), until(one))
        for one in audit.keys
    ]
    body = [
        f"<h1>{escape(title)}</h1>",
        f"<dl>{facts}</dl>",
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
        *lists(audit, sheet),
    ]
    return framed("statement", language, title, "\n".join(body))
