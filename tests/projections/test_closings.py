"""The digest of a closing consists of lines that any holder of the entries can write."""

from datetime import date
from hashlib import sha256

from projections.closings import digest, line_of_entry
from projections.journal import JournalEntry, Posting

MATCH = "0190b6a4-6e0f-7cc1-93a5-0d5f6a4b1c2d"
AMOUNTS = {"pot": 5, "member:2": -30, "member:10": 20, "member:1": 5}
ENTRY = JournalEntry(
    number=7,
    date=date(2026, 11, 22),
    kind="match",
    currency="SEK",
    cause=f"{MATCH}/52",
    postings=tuple([Posting(account=account, amount=amount) for account, amount in AMOUNTS.items()]),
    evening=1,
    reverses=None,
    by="official",
)


def test_accounts_stand_in_the_order_of_their_names() -> None:
    """Only the account's name counts: member 1 comes before member 10."""
    accounts = "member:1:5,member:10:20,member:2:-30,pot:5"
    assert line_of_entry(ENTRY) == f"7|2026-11-22|match|SEK|{MATCH}/52|{accounts}\n"


def test_the_digest_goes_on_from_the_one_before() -> None:
    before = "0" * 64
    assert digest(before, [ENTRY]) == sha256(f"{before}\n{line_of_entry(ENTRY)}".encode()).hexdigest()
