"""The printable audit."""

from api.docs.pages import render
from api.money.audit_lists import cut_note, tables
from api.money.audit_report import Audit
from api.money.audit_texts import WORDS, PageTexts
from projections.journal import decimal
from referee.sentences import Language


def page(audit: Audit, language: Language) -> bytes:
    texts = PageTexts(language)
    return render(
        "audit.html",
        "statement",
        language,
        texts.word("title", club=audit.club),
        audit=audit,
        checks=[(WORDS.checks[one.check].in_(language), "✓" if one.ok else "✗", one.count) for one in audit.checks],
        check_names=WORDS.checks,
        trial=[(one.account, one.currency, decimal(one.books), decimal(one.rows)) for one in audit.trial],
        tables=[(*one, cut_note(one[0], one[2], texts)) for one in tables(audit, texts)],
        word=texts.word,
    )
