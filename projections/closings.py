"""What closes a club's books: a digest over all their entries, which anybody who has them can make again."""

from collections.abc import Iterable
from hashlib import sha256

from projections.journal import JournalEntry


def digest(before: str, entries: Iterable[JournalEntry]) -> str:
    """SHA-256 in hex over the digest of the closing before, 64 zeros for the first, a line break, and a line of each
    entry since: ``number|date|kind|currency|id/event|account:amount,…``, its accounts sorted."""
    sum_ = sha256(f"{before}\n".encode())
    for entry in entries:
        sum_.update(line(entry).encode())
    return sum_.hexdigest()


def line(entry: JournalEntry) -> str:
    """An entry as it goes into the digest."""
    in_order = sorted(entry.postings, key=lambda one: one.account)
    postings = ",".join([f"{one.account}:{one.amount}" for one in in_order])
    return f"{entry.number}|{entry.date}|{entry.kind}|{entry.currency}|{entry.cause}|{postings}\n"
