"""The digest that closes a club's books."""

from collections.abc import Iterable
from hashlib import sha256

from projections.journal import JournalEntry


def digest(before: str, entries: Iterable[JournalEntry]) -> str:
    """Return the SHA-256 in hex over the previous closing's digest (``before``, at first 64 zeros), a line break, and
    the :func:`line_of_entry` of each later entry."""
    sum_ = sha256(f"{before}\n".encode())
    for entry in entries:
        sum_.update(line_of_entry(entry).encode())
    return sum_.hexdigest()


def line_of_entry(entry: JournalEntry) -> str:
    """Return ``number|date|kind|currency|id/event|account:amount,…`` and a line break, with the accounts sorted."""
    in_order = sorted(entry.postings, key=lambda one: one.account)
    postings = ",".join([f"{one.account}:{one.amount}" for one in in_order])
    return f"{entry.number}|{entry.date}|{entry.kind}|{entry.currency}|{entry.cause}|{postings}\n"
