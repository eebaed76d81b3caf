"""Writes a journal as CSV for spreadsheets, and as JSON for programs."""

from collections.abc import Iterator
from decimal import Decimal

import msgspec

from projections.journal import Journal, accounts, decimal, name_of
from projections.spreadsheets import table

COLUMNS = (
    *("entry", "date", "kind", "account", "name", "amount", "balance", "currency"),
    *("evening", "reverses", "cause", "by", "text"),
)
BROUGHT_FORWARD = "brought_forward"
"""Kind of the first rows, with the balances before the journal."""


def csv(journal: Journal) -> bytes:
    """Return CSV (RFC 4180): rows for the opening balances, then a row for each posting with the balance after it."""
    return table(COLUMNS, _rows(journal)).encode()


def _rows(journal: Journal) -> Iterator[list[object]]:
    names = {account: name_of(journal, account) for account in accounts(journal)}
    running: dict[tuple[str, str], int] = {}

    def amounts(account: str, currency: str, amount: int) -> list[object]:
        running[account, currency] = balance = running.get((account, currency), 0) + amount
        return [account, names[account], Decimal(decimal(amount)), Decimal(decimal(balance)), currency]

    for one in journal.opening:
        written = amounts(one.account, one.currency, one.amount)
        yield ["", journal.first, BROUGHT_FORWARD, *written, "", "", "", "", ""]
    for entry in journal.entries:
        fields = [entry.evening, entry.reverses, entry.cause, entry.by, entry.text]
        for posting in entry.postings:
            written = amounts(posting.account, entry.currency, posting.amount)
            yield [entry.number, entry.date, entry.kind, *written, *fields]


def json(journal: Journal) -> bytes:
    """Return JSON, with amounts in minor units."""
    fields = {
        "club": journal.club,
        "currencies": journal.currencies,
        "from": journal.first,
        "to": journal.last,
        "made": journal.made,
        "accounts": [{"account": account, "name": name_of(journal, account)} for account in accounts(journal)],
        "opening": journal.opening,
        "entries": journal.entries,
        "closing": journal.closing,
    }
    return msgspec.json.format(msgspec.json.encode(fields), indent=1) + b"\n"
