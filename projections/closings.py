"""The digest that closes a club's books. Any holder of the entries can compute it again."""

from collections.abc import Iterable
from hashlib import sha256

from projections.journal import JournalEntry


def digest(before: str, entries: Iterable[JournalEntry]) -> str:
    """Return a SHA-256 in hex over the previous closing's digest (64 zeros for the first), a line break, and a line
    for each entry since: ``number|date|kind|currency|id/event|account:amount,…``, accounts sorted."""
    sum_ = sha256(f"{before}\n".encode())
    for entry in entries:
        sum_.update(line(entry).encode())
    return sum_.hexdigest()


def line(entry: JournalEntry) -> str:
    """Return the line of an entry in the digest."""
    in_order = sorted(entry.postings, key=lambda one: one.account)
    postings = ",".join([f"{one.account}:{one.amount}" for one in in_order])
    return f"{entry.number}|{entry.date}|{entry.kind}|{entry.currency}|{entry.cause}|{postings}\n"
