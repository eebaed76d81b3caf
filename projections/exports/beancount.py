"""Writes a journal for beancount, which checks each balance with zero tolerance.

Balances are dated one day later, because beancount compares them before a day's transactions."""

from collections.abc import Iterable, Iterator
from datetime import timedelta

from projections.exports.chart import OPENING, account_name, actor, narration
from projections.journal import Account, Journal, JournalEntry, accounts, balances, decimal, name_of


def write(journal: Journal) -> bytes:
    """Return the file: accounts, opening balances, entries, and all closing balances."""
    return "\n\n".join("\n".join(part) for part in _parts(journal)).encode() + b"\n"


def _parts(journal: Journal) -> Iterator[Iterable[str]]:
    yield [
        f"; {journal.first} to {journal.last}, made {journal.made} by Knacka",
        f'option "title" {_quoted(journal.club)}',
        *(f'option "operating_currency" "{currency}"' for currency in journal.currencies),
    ]
    yield [line for account in accounts(journal) for line in _account_lines(journal, account)]
    if journal.opening:
        postings = [_posting(one.account, one.amount, one.currency) for one in journal.opening]
        yield [f'{journal.first} * "{OPENING}"', *postings]
    for entry in journal.entries:
        yield _entry(entry)
    after = journal.last + timedelta(days=1)
    yield [
        f"{after} balance {account_name(one.account)}  {decimal(one.amount)} ~ 0.00 {one.currency}"
        for one in balances(journal)
    ]


def _account_lines(journal: Journal, account: Account) -> Iterator[str]:
    yield f"{journal.first} open {account_name(account)}  {','.join(journal.currencies)}"
    if name := name_of(journal, account):
        yield f"  name: {_quoted(name)}"


def _entry(entry: JournalEntry) -> Iterator[str]:
    yield f'{entry.date} * "{narration(entry)}"'
    yield f"  number: {entry.number}"
    yield f'  cause: "{entry.cause}"'
    yield f'  by: "{actor(entry)}"'
    if entry.text:
        yield f"  text: {_quoted(entry.text)}"
    for posting in entry.postings:
        yield _posting(posting.account, posting.amount, entry.currency)


def _posting(account: Account, amount: int, currency: str) -> str:
    return f"  {account_name(account)}  {decimal(amount)} {currency}"


def _quoted(text: str) -> str:
    printable = "".join(one if one.isprintable() else " " for one in text)
    return '"' + printable.replace("\\", "\\\\").replace('"', '\\"') + '"'
