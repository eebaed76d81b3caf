"""A club's journal by double entry, as exported.

Amounts are in minor units of a currency with two decimals. **Debit is positive**: a member's debt is above zero.
The postings of an entry add up to 0.
"""

import datetime
from collections.abc import Callable, Mapping
from uuid import UUID

from msgspec.structs import replace

from referee import wire_types
from referee.actors import Actor
from referee.clubs.facts import MEMBER, OWN, Account, Balance, Posting, SieAccounts, member_of
from referee.value import Value

__all__ = [
    "MEMBER",
    "OWN",
    "Account",
    "Author",
    "Balance",
    "Journal",
    "JournalEntry",
    "Posting",
    "author_of",
    "member_of",
]


class Author(Value):
    """The author of an entry or of a proposal: a caller in the club, or an actor in a match."""

    actor: Actor
    """Actor who sent the act, or whose event entered or reversed the match's result."""
    member: wire_types.MemberNumber | None
    """Member who owns the key of the actor; null: a program, the operator, or an actor without a key."""
    match: wire_types.MatchId | None
    """Match in which the actor acted; null: they acted in the club."""


def author_of(by: Actor, cause: str, club: UUID, member: Callable[[Actor], int | None]) -> Author:
    """Return the author of an entry with this ``cause``. ``member``: function that returns the member who owns an
    actor's key."""
    aggregate = cause.partition("/")[0]
    return Author(actor=by, member=member(by), match=None if aggregate == str(club) else aggregate)


class JournalEntry(Value):
    number: int
    date: datetime.date
    """Day in the club's timezone, never before the previous entry's."""
    kind: wire_types.Code
    currency: wire_types.Currency
    cause: str
    """Event from which the entry was made: ``<aggregate id>/<event number>``."""
    postings: tuple[Posting, ...]
    evening: int | None
    reverses: int | None
    """Number of the entry that this one reverses."""
    by: Actor
    text: wire_types.Note = ""


class Journal(Value):
    """A club's journal from ``first`` to ``last``, both included.

    ``opening`` plus the ``entries`` gives ``closing``."""

    club: wire_types.Name
    currencies: tuple[wire_types.Currency, ...]
    first: datetime.date
    last: datetime.date
    """Before 9999-12-31, because some files contain the next day."""
    made: datetime.date
    """Day on which the file is made."""
    opening: tuple[Balance, ...]
    """Balances before ``first``, without zeros."""
    entries: tuple[JournalEntry, ...]
    closing: tuple[Balance, ...]
    """Balances after ``last``, without zeros."""
    names: Mapping[int, str | None]
    """Names that may be shown, by member number."""
    sie: SieAccounts


def name_of(journal: Journal, account: Account) -> str | None:
    """Return the name of an account's member; ``None`` for the club's account or a hidden name."""
    member = member_of(account)
    return None if member is None else journal.names.get(member)


def accounts(journal: Journal) -> tuple[Account, ...]:
    """Return the club's own accounts, then those of members with a balance or entry, in order of number."""
    named = {one.account for one in (*journal.opening, *journal.closing)}
    named |= {posting.account for entry in journal.entries for posting in entry.postings}
    return (*OWN, *sorted(named - set(OWN), key=lambda account: int(account.removeprefix(MEMBER))))


def balances(journal: Journal) -> tuple[Balance, ...]:
    """Return the closing balances, in order of account and currency, with zeros. A member's account has only used
    currencies."""
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
    return replace(
        journal,
        currencies=(currency,),
        opening=tuple(one for one in journal.opening if one.currency == currency),
        entries=tuple(one for one in journal.entries if one.currency == currency),
        closing=tuple(one for one in journal.closing if one.currency == currency),
    )


def decimal(amount: int) -> str:
    """Return minor units with two decimals: ``-4.00``."""
    return f"{'-' if amount < 0 else ''}{abs(amount) // 100}.{abs(amount) % 100:02}"
