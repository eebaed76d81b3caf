"""Writes a journal as one file that both hledger and ledger read.

Texts keep only letters, digits and some signs: ``word:`` would be a tag and ``[`` a date.
"""

from collections.abc import Iterable, Iterator

from projections.exports.chart import CLOSING, OPENING, account_name, actor, narration, words
from projections.journal import Account, Journal, JournalEntry, accounts, balances, decimal, name_of

ALLOWED_SIGNS = ",.-()/!?'&%+_"


def write(journal: Journal) -> bytes:
    """Return the file. Its last transaction has zero amounts and asserts all balances."""
    return "\n\n".join("\n".join(part) for part in _parts(journal)).encode() + b"\n"


def _parts(journal: Journal) -> Iterator[Iterable[str]]:
    span = f"{journal.first} to {journal.last}"
    yield [f"; {words(journal.club, ALLOWED_SIGNS)}", f"; {span}, made {journal.made} by Knacka"]
    for currency in journal.currencies:
        yield [f"commodity {currency}", f"    format 1000.00 {currency}"]
    yield [line for account in accounts(journal) for line in _account_lines(journal, account)]
    if journal.opening:
        postings = [_posting(one.account, one.amount, one.currency) for one in journal.opening]
        yield [f"{journal.first} * {OPENING}", *postings]
    for entry in journal.entries:
        yield _entry(entry)
    asserted = [
        f"{_posting(one.account, 0, one.currency)} = {decimal(one.amount)} {one.currency}"
        for one in balances(journal)
    ]
    yield [f"{journal.last} * {CLOSING}", *asserted]


def _account_lines(journal: Journal, account: Account) -> Iterator[str]:
    yield f"account {account_name(account)}"
    if name := words(name_of(journal, account) or "", ALLOWED_SIGNS):
        yield f"    note {name}"


def _entry(entry: JournalEntry) -> Iterator[str]:
    yield f"{entry.date} * ({entry.number}) {narration(entry)}"
    yield f"    ; {entry.cause}, by {actor(entry)}"
    if text := words(entry.text, ALLOWED_SIGNS):
        yield f"    ; {text}"
    for posting in entry.postings:
        yield _posting(posting.account, posting.amount, entry.currency)


def _posting(account: Account, amount: int, currency: str) -> str:
    return f"    {account_name(account)}  {decimal(amount)} {currency}"
