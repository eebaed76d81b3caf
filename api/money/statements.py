"""A statement of account: schemas, CSV file and page."""

from decimal import Decimal
from importlib.resources import files as resources
from typing import Annotated

import msgspec

from api.docs.pages import render, words_in
from api.http.pages import LIMIT_MAX
from api.money.ledger_access import Cause, Day
from api.runtime.proofs import HashText
from projections.journal import decimal
from projections.spreadsheets import table
from referee import wire_types
from referee.clubs.facts import Account, EntryKind, Ref
from referee.log.facts import LogSize
from referee.sentences import Language, Text
from referee.value import Value

COLUMNS = ("entry", "date", "kind", "amount", "balance", "evening", "reverses", "cause")


class Words(Value, forbid_unknown_fields=True):
    """The texts of ``statement_page.toml``, by code."""

    words: dict[str, Text]
    kinds: dict[str, Text]


WORDS = msgspec.toml.decode((resources("api.docs") / "statement_page.toml").read_bytes(), type=Words)


class StatementLine(Value):
    """A posting on the account."""

    number: wire_types.EntryNumber
    """Number of the entry."""
    date: Day
    kind: EntryKind
    amount: wire_types.Money
    """Minor units. A debit is above zero, a credit below."""
    balance: wire_types.Money
    """Balance after the posting, in minor units."""
    evening: wire_types.EveningNumber | None
    cause: Cause
    reverses: wire_types.EntryNumber | None


class Checkpointed(Value):
    """A checkpoint. A proof that a later one extends it shows that no row in it changed."""

    size: LogSize
    root: HashText
    """Root of the log."""


class Statement(Value):
    """Postings on an account. ``before`` plus their amounts is ``after``."""

    SCHEMA = "AccountStatement"

    club: wire_types.Name
    """Name of the club."""
    account: Account
    name: Ref | None
    """Name of the member; null: an account of the club."""
    currency: wire_types.Currency
    before: wire_types.Money
    """Balance before the first line, in minor units."""
    items: Annotated[tuple[StatementLine, ...], wire_types.at_most(LIMIT_MAX)]
    after: wire_types.Money
    """Balance after the last line, in minor units."""
    next: wire_types.Cursor | None
    checkpoint: Checkpointed | None
    """Last checkpoint, to keep with the statement; null: no checkpoint exists."""


def csv(statement: Statement) -> bytes:
    """Return a CSV file (RFC 4180) with the postings between rows with the balances."""
    lines = (
        [
            one.number,
            one.date,
            one.kind,
            Decimal(decimal(one.amount)),
            Decimal(decimal(one.balance)),
            one.evening,
            one.reverses,
            one.cause,
        ]
        for one in statement.items
    )
    before = _balance_row("before", statement.before)
    after = _balance_row("after" if statement.next is None else "continued", statement.after)
    return table(COLUMNS, (before, *lines, after)).encode()


def _balance_row(kind: str, balance: int) -> tuple[object, ...]:
    return None, None, kind, None, Decimal(decimal(balance)), None, None, None


def page(statement: Statement, language: Language) -> bytes:
    """Return an HTML page."""
    word = words_in(language, WORDS.words)
    account = statement.account if statement.name is None else f"{statement.name} ({statement.account})"
    return render(
        "statement.html",
        "statement",
        language,
        word("title", account=account),
        statement=statement,
        account=account,
        word=word,
        kinds=WORDS.kinds,
        decimal=decimal,
    )
