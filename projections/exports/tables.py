"""The journal for spreadsheets, and for programs of one's own."""

from collections.abc import Iterator
from decimal import Decimal

import msgspec

from projections.journal import Journal, accounts, decimal, name_of
from projections.spreadsheets import table
from referee import actors

COLUMNS = (
    *("entry", "date", "kind", "account", "name", "amount", "balance", "currency"),
    *("evening", "reverses", "cause", "by", "text"),
)
BROUGHT_FORWARD = "brought_forward"
"""The kind of the rows that come first: what stood on an account before."""


def csv(journal: Journal) -> bytes:
    """CSV after RFC 4180, a row for each posting, and before them one for each opening balance.

    ``amount`` is debit above zero, ``balance`` what stands on the account then, both with two decimals after a point.
    """
    return table(COLUMNS, _rows(journal)).encode()


def _rows(journal: Journal) -> Iterator[list[object]]:
    names = {account: name_of(journal, account) for account in accounts(journal)}
    standing: dict[tuple[str, str], int] = {}

    def amounts(account: str, currency: str, amount: int) -> list[object]:
        standing[account, currency] = balance = standing.get((account, currency), 0) + amount
        return [account, names[account], Decimal(decimal(amount)), Decimal(decimal(balance)), currency]

    for one in journal.opening:
        written = amounts(one.account, one.currency, one.amount)
        yield ["", journal.first, BROUGHT_FORWARD, *written, "", "", "", "", ""]
    for entry in journal.entries:
        said = [entry.evening, entry.reverses, entry.cause, actors.write(entry.by), entry.text]
        for posting in entry.postings:
            written = amounts(posting.account, entry.currency, posting.amount)
            yield [entry.number, entry.date, entry.kind, *written, *said]


def json(journal: Journal) -> bytes:
    """The journal as it is, in minor units: ``accounts`` with names, ``opening``, ``entries``, ``closing``."""
    said = {
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
    return msgspec.json.format(msgspec.json.encode(said), indent=1) + b"\n"
