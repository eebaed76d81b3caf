"""The club's accounts as programs of plain-text accounting want them named, and its texts as they can read them."""

import unicodedata

from projections.journal import Account, JournalEntry, member_of
from projections.transliterate import spelled
from referee import actors

NAMES = {
    "cash": "Assets:Cash",
    "bank": "Assets:Bank",
    "pot": "Liabilities:Pot",
    "fees": "Income:Fees",
    "opening": "Equity:Opening",
}
OPENING = "opening balances"
CLOSING = "closing balances"


def full(account: Account) -> str:
    """The account below one of the five that hledger and beancount know by name."""
    return NAMES.get(account) or f"Liabilities:Member:{member_of(account)}"


def narration(entry: JournalEntry) -> str:
    """What an entry is, in a few words."""
    evening = f", evening {entry.evening}" if entry.evening is not None else ""
    reverses = f", takes back {entry.reverses}" if entry.reverses is not None else ""
    return f"{entry.kind}{evening}{reverses}"


def actor(entry: JournalEntry) -> str:
    """Who made it, without the colon that would make it a tag: ``key k3``."""
    return actors.write(entry.by).replace(":", " ")


def words(text: str, kept: str) -> str:
    """Letters, digits and the signs that are ``kept``, with single blanks for all else."""
    return spelled(text, lambda one: unicodedata.category(one)[0] in "LMN" or one in kept, " ")
