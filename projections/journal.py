"""A club's journal: entries by double entry, as the ledger numbers them and as they are exported.

Amounts are minor units of a currency of two decimals, and **debit is positive**: what a member owes is above zero,
what he is to receive below. An entry has one currency, and its postings add up to 0.
"""

import datetime
from collections.abc import Mapping
from typing import Protocol

from msgspec.structs import replace

from referee import wire_types
from referee.actors import Actor
from referee.clubs.facts import MEMBER, OWN, Account, Balance, Posting, member_of
from referee.value import Value

__all__ = ["MEMBER", "OWN", "Account", "Balance", "Chart", "Journal", "JournalEntry", "Posting", "member_of"]


class JournalEntry(Value):
    """An entry: the ``number`` of the club's, in one series from 1 on."""

    number: int
    date: datetime.date
    """On the club's clock; never before that of the entry before."""
    kind: wire_types.Code
    currency: wire_types.Currency
    cause: str
    """What made it: ``<aggregate id>/<event number>``."""
    postings: tuple[Posting, ...]
    evening: int | None
    reverses: int | None
    """The entry that it takes back."""
    by: Actor
    text: wire_types.Note = ""


class Chart(Protocol):
    """The accounts of a general bookkeeping, of four figures, that stand for the club's own."""

    @property
    def cash(self) -> str: ...
    @property
    def bank(self) -> str: ...
    @property
    def members(self) -> str: ...
    @property
    def pot(self) -> str: ...
    @property
    def fees(self) -> str: ...
    @property
    def opening(self) -> str: ...


class Journal(Value):
    """A club's journal over a span of days, both of them within: all that a file of it is made of.

    ``opening`` plus the postings of ``entries`` gives ``closing``, which comes from the ledger: the file says it as
    well, and the program that reads the file compares.
    """

    club: wire_types.Name
    currencies: tuple[wire_types.Currency, ...]
    first: datetime.date
    last: datetime.date
    """Before 9999-12-31: some files speak of the day after."""
    made: datetime.date
    """The day on which the file is made."""
    opening: tuple[Balance, ...]
    """Before ``first``; what is left out is 0."""
    entries: tuple[JournalEntry, ...]
    """By number."""
    closing: tuple[Balance, ...]
    """After ``last``; what is left out is 0."""
    names: Mapping[int, str | None]
    """Of the members who may be named, by number."""
    sie: Chart


def name_of(journal: Journal, account: Account) -> str | None:
    """What the member is called whose account it is, where that may be told."""
    member = member_of(account)
    return None if member is None else journal.names.get(member)


def accounts(journal: Journal) -> tuple[Account, ...]:
    """The club's own accounts, and then those of the members who have something to do with the span, by number."""
    named = {one.account for one in (*journal.opening, *journal.closing)}
    named |= {posting.account for entry in journal.entries for posting in entry.postings}
    return (*OWN, *sorted(named - set(OWN), key=lambda account: int(account.removeprefix(MEMBER))))


def balances(journal: Journal) -> tuple[Balance, ...]:
    """What stands on each account in the end, also where it is 0: for each currency that the account has to do with,
    and for the club's own accounts in each."""
    closing = {(one.account, one.currency): one.amount for one in journal.closing}
    used = {(account, currency) for account in OWN for currency in journal.currencies}
    used |= {(one.account, one.currency) for one in journal.opening} | set(closing)
    used |= {(posting.account, entry.currency) for entry in journal.entries for posting in entry.postings}
    return tuple(
        Balance(account=account, currency=currency, amount=closing.get((account, currency), 0))
        for account in accounts(journal)
        for currency in journal.currencies
        if (account, currency) in used
    )


def in_currency(journal: Journal, currency: wire_types.Currency) -> Journal:
    """The part of the journal in one of its currencies."""
    return replace(
        journal,
        currencies=(currency,),
        opening=tuple(one for one in journal.opening if one.currency == currency),
        entries=tuple(one for one in journal.entries if one.currency == currency),
        closing=tuple(one for one in journal.closing if one.currency == currency),
    )


def decimal(amount: int) -> str:
    """An amount with its two decimals after a point: ``-4.00``."""
    return f"{'-' if amount < 0 else ''}{abs(amount) // 100}.{abs(amount) % 100:02}"
