"""Tables of the ledger and their queries."""

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    Uuid,
    func,
    select,
)

from projections.follow.engine import Day, Json, Utc
from projections.follow.projection import LIVE, own_name
from projections.journal import Balance, JournalEntry, Posting
from referee.actors import Actor
from referee.clubs.facts import Trial
from referee.settlement import sum_of_payments
from referee.value import Value

NO_DIGEST = "0" * 64
READ_AT_ONCE = 1000
"""Maximum entries read in one query."""


class Money(Value):
    """The state of a club's match for money."""

    club: UUID
    evening: int | None
    members: tuple[int, ...]
    currency: str
    limit: int | None = None
    """Maximum sum of the payments, in minor units; ``None``: no limit."""
    waiting_for: tuple[int, ...] = ()
    """Seats that have not agreed to the stakes yet."""
    declined: bool = False
    """True: the stakes were declined, so the match is never entered."""
    result: tuple[int, ...] = ()
    """Minor units owed, by seat; empty: nothing is owed."""
    amounts: tuple[int, ...] = ()
    """Minor units entered, by seat; empty: nothing is entered."""
    entry: int | None = None
    """Number of the entry of ``amounts``, if any."""
    ended_by: int = 0
    """Number of the event with the result."""
    beyond: int = 0
    """``ended_by`` if the result is above ``limit`` or a balance would be too large; otherwise 0."""

    @property
    def waits(self) -> bool:
        """True: seats must still agree to the stakes, and none declined."""
        return bool(self.waiting_for) and not self.declined

    @property
    def above_limit(self) -> bool:
        return self.limit is not None and sum_of_payments(self.result) > self.limit


class Keeping(Value):
    """The state of a club's books."""

    timezone: str
    last: int = 0
    """Number of the last entry, whose date is ``day``."""
    day: date | None = None
    through: int = 0
    """Number of the last closed entry."""
    digest: str = NO_DIGEST
    """Digest of the last closing."""
    waits: bool = False
    """True: no entries are made, because a row is bad."""


class Closing(NamedTuple):
    """A closing, compared with the entries."""

    closing: int
    through: int
    digest: str
    label: str
    at: datetime
    trial: Trial
    found: str
    """Digest of the entries in the ledger."""
    holds: bool
    """True: ``found`` and the balances agree with ``digest`` and ``trial``."""
    event: int


class Line(NamedTuple):
    """A posting on an account, and the balance after it."""

    number: int
    date: date
    kind: str
    amount: int
    balance: int
    evening: int | None
    cause: str
    reverses: int | None


def _entry_columns() -> Iterator[Column[Any]]:
    yield Column("club", Uuid, primary_key=True)
    yield Column("number", Integer, primary_key=True, autoincrement=False)
    yield Column("date", Day, nullable=False)
    yield Column("kind", Text, nullable=False)
    yield Column("currency", Text, nullable=False)
    yield Column("cause", Text, nullable=False)
    yield Column("evening", Integer)
    yield Column("reverses", Integer)
    yield Column("reversed_by", Integer)
    yield Column("by", Json(Actor), nullable=False)


def _closing_columns() -> Iterator[Column[Any]]:
    yield Column("club", Uuid, primary_key=True)
    yield Column("closing", Integer, primary_key=True, autoincrement=False)
    yield Column("through", Integer, nullable=False)
    yield Column("digest", Text, nullable=False)
    yield Column("label", Json(str), nullable=False)
    yield Column("at", Utc, nullable=False)
    yield Column("trial", Json(Trial), nullable=False)
    yield Column("found", Text, nullable=False)
    yield Column("holds", Boolean, nullable=False)
    yield Column("event", Integer, nullable=False)


class Tables:
    key: str

    def __init__(self, prefix: str = LIVE) -> None:
        self.metadata = MetaData()

        def table(name: str, *columns: Column[Any]) -> Table:
            return Table(f"{prefix}{self.key}_{name}", self.metadata, *columns)

        self.clubs = table(
            "clubs",
            Column("club", Uuid, primary_key=True),
            Column("version", Integer, nullable=False),
            Column("keeping", Json(Keeping), nullable=False),
        )
        self.matches = table(
            "matches",
            Column("match", Uuid, primary_key=True),
            Column("version", Integer, nullable=False),
            Column("money", Json(Money)),
            Column("waits_in", Uuid),
        )
        Index(own_name("ix_ledger_waiting"), self.matches.c.waits_in)
        self.entries = table("entries", *_entry_columns())
        entries = self.entries.c
        Index(own_name("ix_ledger_days"), entries.club, entries.date, entries.number)
        Index(own_name("ix_ledger_evenings"), entries.club, entries.evening)
        self.postings = table(
            "postings",
            Column("club", Uuid, primary_key=True),
            Column("number", Integer, primary_key=True, autoincrement=False),
            Column("account", Text, primary_key=True),
            Column("currency", Text, nullable=False),
            Column("amount", BigInteger, nullable=False),
            Column("balance", BigInteger, nullable=False),
        )
        postings = self.postings.c
        Index(own_name("ix_ledger_accounts"), postings.club, postings.account, postings.currency, postings.number)
        self.balances = table(
            "balances",
            Column("club", Uuid, primary_key=True),
            Column("currency", Text, primary_key=True),
            Column("account", Text, primary_key=True),
            Column("balance", BigInteger, nullable=False),
        )
        self.closings = table("closings", *_closing_columns())

    def last_number(self, connection: Connection, club: UUID) -> int:
        """Return the number of a club's last entry, or 0."""
        keeping = connection.scalar(select(self.clubs.c.keeping).where(self.clubs.c.club == club))
        return 0 if keeping is None else int(keeping.last)

    def money(self, connection: Connection, match: UUID) -> Money | None:
        """Return the state of a match; ``None`` if it is not a club's match for money."""
        found: Money | None = connection.scalar(select(self.matches.c.money).where(self.matches.c.match == match))
        return found

    def count_waiting(self, connection: Connection, club: UUID, member: int) -> int:
        """Return the number of a member's matches that wait for agreement to the stakes."""
        query = select(self.matches.c.money).where(self.matches.c.waits_in == club)
        return sum(money is not None and member in money.members for money in connection.scalars(query))

    def read(
        self, connection: Connection, club: UUID, *, after: int = 0, to: int | None = None, limit: int | None = None
    ) -> Iterator[JournalEntry]:
        """Yield at most ``limit`` entries after ``after`` up to ``to``, in order."""
        left = limit
        while left is None or left > 0:
            most = READ_AT_ONCE if left is None else min(left, READ_AT_ONCE)
            entries, postings = self.entries.c, self.postings.c
            query = select(self.entries).where(entries.club == club, entries.number > after)
            if to is not None:
                query = query.where(entries.number <= to)
            found = connection.execute(query.order_by(entries.number).limit(most)).all()
            if not found:
                return
            first, after = found[0].number, found[-1].number
            by_entry: dict[int, list[Posting]] = {}
            of_entries = select(self.postings).where(postings.club == club, postings.number.between(first, after))
            for row in connection.execute(of_entries.order_by(postings.number, postings.account)):
                by_entry.setdefault(row.number, []).append(Posting(account=row.account, amount=row.amount))
            for row in found:
                yield _journal_entry(row, tuple(by_entry[row.number]))
            if len(found) < most:
                return
            left = None if left is None else left - len(found)

    def entry(self, connection: Connection, club: UUID, number: int) -> tuple[JournalEntry, int | None] | None:
        """Return an entry and the number of its reversal, if any; ``None`` if the entry does not exist."""
        found = tuple(self.read(connection, club, after=number - 1, to=number))
        if not found:
            return None
        entries = self.entries.c
        query = select(entries.reversed_by).where(entries.club == club, entries.number == number)
        return found[0], connection.scalar(query)

    def balances_at(
        self,
        connection: Connection,
        club: UUID,
        number: int,
        currency: str | None = None,
        *,
        with_zeros: bool = False,
    ) -> tuple[Balance, ...]:
        """Return the balances after an entry, sorted by currency and account."""
        postings = self.postings.c
        which = [postings.club == club, postings.number <= number]
        if currency is not None:
            which.append(postings.currency == currency)
        latest = (
            select(postings.account, postings.currency, func.max(postings.number).label("number"))
            .where(*which)
            .group_by(postings.account, postings.currency)
            .subquery()
        )
        query = select(postings.account, postings.currency, postings.balance).join(
            latest, (postings.account == latest.c.account) & (postings.number == latest.c.number)
        )
        return _balances(connection.execute(query.where(postings.club == club)), with_zeros=with_zeros)

    def balances_now(
        self, connection: Connection, club: UUID, currency: str | None = None
    ) -> tuple[int, tuple[Balance, ...]]:
        """Return the number of the last entry, or 0, and all balances, with zeros."""
        balances, clubs = self.balances.c, self.clubs.c
        of_club = (balances.club == clubs.club) & (True if currency is None else balances.currency == currency)
        query = select(clubs.keeping, balances.account, balances.currency, balances.balance)
        rows = connection.execute(
            query.select_from(self.clubs.outerjoin(self.balances, of_club)).where(clubs.club == club)
        )
        found = rows.all()
        last = found[0].keeping.last if found else 0
        return last, _balances(
            [(row.account, row.currency, row.balance) for row in found if row.account], with_zeros=True
        )

    def sums_of_evening(
        self, connection: Connection, club: UUID, evening: int, to: int, currency: str | None = None
    ) -> tuple[Balance, ...]:
        """Return the sum of each account and currency over an evening's entries up to ``to``, with zeros."""
        postings, entries = self.postings.c, self.entries.c
        same_entry = (postings.club == entries.club) & (postings.number == entries.number)
        query = (
            select(postings.account, postings.currency, func.sum(postings.amount))
            .join(self.entries, same_entry)
            .where(entries.club == club, entries.evening == evening, entries.number <= to)
            .group_by(postings.account, postings.currency)
        )
        if currency is not None:
            query = query.where(postings.currency == currency)
        return _balances(connection.execute(query), with_zeros=True)

    def sums_between(self, connection: Connection, club: UUID, after: int, to: int) -> tuple[Balance, ...]:
        """Return the sum of each account and currency over entries after ``after`` up to ``to``, without zeros."""
        this = self.postings.c
        query = select(this.account, this.currency, func.sum(this.amount)).group_by(this.account, this.currency)
        return _balances(connection.execute(query.where(this.club == club, this.number > after, this.number <= to)))

    def statement(
        self,
        connection: Connection,
        club: UUID,
        account: str,
        currency: str,
        *,
        after: int = 0,
        first: date | None = None,
        last: date | None = None,
        limit: int = 200,
    ) -> tuple[Line, ...]:
        """Return at most ``limit`` postings on an account after entry ``after``, on days ``first`` to ``last``."""
        postings, entries = self.postings.c, self.entries.c
        same_entry = (postings.club == entries.club) & (postings.number == entries.number)
        query = (
            select(
                *(entries.number, entries.date, entries.kind, postings.amount, postings.balance),
                *(entries.evening, entries.cause, entries.reverses),
            )
            .join(self.entries, same_entry)
            .where(postings.club == club, postings.account == account, postings.currency == currency)
            .where(postings.number > after)
            .order_by(postings.number)
            .limit(limit)
        )
        if first is not None:
            query = query.where(entries.date >= first)
        if last is not None:
            query = query.where(entries.date <= last)
        return tuple([Line(*row) for row in connection.execute(query)])

    def balance(
        self, connection: Connection, club: UUID, account: str, currency: str, *, before: int | None = None
    ) -> int:
        """Return the balance of an account, now or ``before`` an entry; 0 without postings."""
        if before is None:
            balances = self.balances.c
            this = (balances.club == club, balances.currency == currency, balances.account == account)
            return connection.scalar(select(balances.balance).where(*this)) or 0
        postings = self.postings.c
        these = (postings.club == club, postings.account == account, postings.currency == currency)
        query = select(postings.balance).where(*these, postings.number < before)
        return connection.scalar(query.order_by(postings.number.desc()).limit(1)) or 0

    def last_number_on(self, connection: Connection, club: UUID, account: str) -> int:
        """Return the number of the last entry on an account, or 0."""
        postings = self.postings.c
        query = select(func.max(postings.number)).where(postings.club == club, postings.account == account)
        return connection.scalar(query) or 0

    def numbers_of_days(
        self, connection: Connection, club: UUID, first: date | None, last: date | None
    ) -> tuple[int, int]:
        """Return the numbers of the first and last entry on days ``first`` to ``last``; (1, 0) without any."""
        entries = self.entries.c
        query = select(func.min(entries.number), func.max(entries.number)).where(entries.club == club)
        if first is not None:
            query = query.where(entries.date >= first)
        if last is not None:
            query = query.where(entries.date <= last)
        low, high = connection.execute(query).one()
        return (1, 0) if low is None else (low, high)

    def closings_of(
        self, connection: Connection, club: UUID, *, after: int = 0, limit: int | None = None
    ) -> tuple[Closing, ...]:
        """Return at most ``limit`` closings after closing ``after``, in order."""
        this = self.closings.c
        columns = (this.closing, this.through, this.digest, this.label, this.at, this.trial, this.found, this.holds)
        query = select(*columns, this.event).where(this.club == club, this.closing > after)
        query = query.order_by(this.closing).limit(limit)
        return tuple([Closing(*row) for row in connection.execute(query)])


def _journal_entry(row: Any, postings: tuple[Posting, ...]) -> JournalEntry:
    return JournalEntry(
        number=row.number,
        date=row.date,
        kind=row.kind,
        currency=row.currency,
        cause=row.cause,
        postings=postings,
        evening=row.evening,
        reverses=row.reverses,
        by=row.by,
    )


def _balances(rows: Iterable[Any], *, with_zeros: bool = False) -> tuple[Balance, ...]:
    found = [Balance(account=account, currency=unit, amount=int(amount)) for account, unit, amount in rows]
    return tuple(
        sorted([one for one in found if with_zeros or one.amount], key=lambda one: (one.currency, one.account))
    )
