"""Types and checks for several calls."""

import re
from collections.abc import Callable, Iterable
from datetime import date
from typing import Annotated, Any, TypeVar
from uuid import UUID

from litestar.params import QueryParameter
from msgspec import Meta
from sqlalchemy import Connection

from api.access.clubs import ClubCaller, KeyHolder
from api.http.problems import Problem
from api.runtime.service import Service
from referee import wire_types
from referee.clubs.facts import ACCOUNT, Account, EntryKind, Postings, Ref, member_of
from referee.refusals import AgainstTheClub
from referee.store.club import Club
from referee.value import Value

T = TypeVar("T")

CURRENCY: dict[str, Any] = {"pattern": "^[A-Z]{3}$", "maxLength": 3}
InCurrency = Annotated[
    str | None, QueryParameter(description="Only in this currency of the club.", schema_extra=CURRENCY)
]
OneCurrency = Annotated[
    str | None,
    QueryParameter(description="Currency of the club; left out: its first.", schema_extra=CURRENCY),
]
DAY: dict[str, Any] = {"maxLength": 10}
FromDay = Annotated[
    date | None, QueryParameter(name="from", schema_extra=DAY, description="First day; left out: all.")
]
ToDay = Annotated[date | None, QueryParameter(name="to", schema_extra=DAY, description="Last day; left out: all.")]
Cause = Annotated[
    str,
    Meta(
        description="The event that made an entry: the id of its match or club, and its number there.",
        examples=["0190b6a4-6e0f-7cc1-93a5-0d5f6a4b1c2d/52"],
        extra_json_schema={"pattern": "^[0-9a-f-]{36}/[0-9]{1,6}$", "maxLength": 43},
    ),
]
Day = Annotated[str, Meta(extra_json_schema={"format": "date", "maxLength": 10})]


class EntryFields(Value):
    """The fields of an entry in the journal and in a file."""

    number: wire_types.EntryNumber
    """Number of the entry, from 1 without gaps."""
    date: Day
    """Date in the club's timezone, never before the date of the previous entry."""
    kind: EntryKind
    currency: wire_types.Currency
    cause: Cause
    evening: wire_types.EveningNumber | None
    postings: Postings
    reverses: wire_types.EntryNumber | None


async def ask_the_books(service: Service, club: Club, question: Callable[[Connection, UUID], T], *, fresh: bool) -> T:
    """Return the answer to ``question`` once the ledger has the last event in ``club``.

    ``fresh``: first wait for all stored events, but not longer than ``WAIT_SECONDS``.
    Raises ``Problem`` (503) if the last event is late or cannot be applied.
    """
    books = service.projections
    if fresh:
        await books.catch_up(books.ledger)
    return await books.ask_of(books.ledger, club.id, club.version, question)


def currency_of(caller: ClubCaller, currency: str | None) -> str:
    """Return the currency; for ``None`` the club's first. Raises ``AgainstTheClub`` if the club does not have it."""
    currencies = caller.club.state.currencies
    if currency is not None and currency not in currencies:
        raise AgainstTheClub("currency_not_kept", None, currency=currency, currencies=currencies)
    return currency or currencies[0]


def must_be_account(caller: ClubCaller, text: str) -> Account:
    """Return ``text``. Raises ``Problem`` (404) if the club has no such account."""
    member = member_of(text) if re.fullmatch(ACCOUNT, text) else 0
    if member is not None and caller.club.state.member(member) is None:
        raise Problem("no_such_account")
    return text


def must_be_period(first: date | None, last: date | None) -> None:
    """Raise ``Problem`` (422) if the last day is before the first."""
    if first is not None and last is not None and last < first:
        raise Problem("bad_period", first=first.isoformat(), last=last.isoformat())


async def names_by_member(service: Service, caller: ClubCaller, members: Iterable[int]) -> dict[int, Ref]:
    """Return, by number, names of existing members.

    Erased or damaged names, and all names for the operator, are refs.
    """
    state = caller.club.state
    found = {number: member for number in members if (member := state.member(number)) is not None}
    texts = await service.member_names.names_of(caller.club, found) if isinstance(caller, KeyHolder) else {}
    return {number: texts.get(member.name, member.name) for number, member in found.items()}
