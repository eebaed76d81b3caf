"""Account names and texts for plain-text accounting programs."""

import unicodedata

from projections.journal import Account, JournalEntry, member_of
from projections.transliterate import transliterated

NAMES = {
    "cash": "Assets:Cash",
    "bank": "Assets:Bank",
    "pot": "Liabilities:Pot",
    "fees": "Income:Fees",
    "opening": "Equity:Opening",
}
OPENING = "opening balances"
CLOSING = "closing balances"


def account_name(account: Account) -> str:
    """Return the name of an account in hledger, ledger and beancount."""
    return NAMES.get(account) or f"Liabilities:Member:{member_of(account)}"


def narration(entry: JournalEntry) -> str:
    evening = f", evening {entry.evening}" if entry.evening is not None else ""
    reverses = f", takes back {entry.reverses}" if entry.reverses is not None else ""
    return f"{entry.kind}{evening}{reverses}"


def actor(entry: JournalEntry) -> str:
    """Return the actor of an entry without its colon, which would make a tag: ``key k3``."""
    return entry.by.replace(":", " ")


def words(text: str, kept: str) -> str:
    """Return a text's letters, digits and ``kept`` signs; all other characters become single spaces."""
    return transliterated(text, lambda one: unicodedata.category(one)[0] in "LMN" or one in kept, " ")
