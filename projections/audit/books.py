"""What a club's books say, held against what its rows come to."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Column, Connection, func, select

from projections.audit.findings import Check, Findings
from projections.audit.reading import UNREADABLE, Rows
from projections.journal import decimal
from projections.ledger import Ledger
from projections.ledger.tables import READ_AT_ONCE, Tables
from referee.actors import Actor
from referee.clubs.facts import Balance

AHEAD = 3
"""Entries that one looks ahead for where the two go on alike."""


Stored = Callable[[UUID, int], int | None]
"""At which position an event is stored by now; ``None``: there is none."""


class Written(NamedTuple):
    """An entry and its postings, as they lie there: account, currency, amount and running balance."""

    number: int
    date: date
    kind: str
    currency: str
    cause: str
    evening: int | None
    reverses: int | None
    by: Actor
    postings: tuple[tuple[str, str, int, int], ...]

    @property
    def of(self) -> tuple[str, str]:
        """What tells it from others."""
        return self.cause, self.kind


def written(connection: Connection, book: Tables, club: UUID, to: int | None = None) -> Iterator[Written]:
    """The entries by number, with what there is of postings."""
    entries, postings, after = book.entries.c, book.postings.c, -1
    columns: list[Column[Any]] = [entries.number, entries.date, entries.kind, entries.currency, entries.cause]
    columns += [entries.evening, entries.reverses, entries.by]
    own = (postings.number, postings.account, postings.currency, postings.amount, postings.balance)
    while True:
        query = select(*columns).where(entries.club == club, entries.number > after)
        if to is not None:
            query = query.where(entries.number <= to)
        found = connection.execute(query.order_by(entries.number).limit(READ_AT_ONCE)).all()
        if not found:
            return
        first, after = found[0].number, found[-1].number
        of_them = select(*own).where(postings.club == club, postings.number.between(first, after))
        parts: dict[int, list[tuple[str, str, int, int]]] = defaultdict(list)
        for number, *rest in connection.execute(of_them.order_by(postings.number, postings.account)):
            parts[number].append(tuple(rest))
        for row in found:
            yield Written._make((*row, tuple(parts[row.number])))


class Compared:
    """The books of a club beside what its rows come to."""

    def __init__(
        self, rows: Rows, kept: Connection, book: Ledger, stored: Stored, to: int, findings: Findings
    ) -> None:
        """``to``: the position up to which the rows were read."""
        self.rows, self.kept, self.book, self.stored, self.to, self.findings = rows, kept, book, stored, to, findings
        self.club = rows.club
        self.last = 0 if rows.keeping is None else rows.keeping.last
        self._standing: dict[tuple[str, str], int] = defaultdict(int)
        self._day: date | None = None

    def compare(self) -> None:
        """Says all in which they differ."""
        parts: tuple[tuple[Check, Callable[[], None]], ...] = (
            ("numbers", self._entries),
            ("running_balances", self._balances),
            ("closings", self._closings),
            ("settlements", self._versions),
            ("pot_not_negative", self._pot),
        )
        for check, part in parts:
            try:
                part()
            except UNREADABLE as error:  # as somebody wrote it
                self.findings.say(check, "books_unreadable", stands=f"{type(error).__name__}: {error}")

    # Entries

    def _entries(self) -> None:
        last = self._last_kept()
        kept = _Ahead(self._checked(last))
        made = _Ahead(written(self.rows.made, self.rows.ledger, self.club, self.last))
        shifted = False
        while (ours := made.next(0)) is not None or kept.next(0) is not None:
            theirs = kept.next(0)
            if ours is None and theirs is not None:
                if theirs.number <= self.last or not self._came_since(theirs.cause):
                    self.findings.say("numbers", "entry_extra", entry=theirs.number, stands=theirs.cause)
                kept.drop()
                continue
            assert ours is not None, "there is one of the two"
            if theirs is None:
                self.findings.say("numbers", "entry_missing", entry=ours.number, should=ours.cause)
                made.drop()
                continue
            if ours.of != theirs.of and (step := _step(made, kept)) is not None:
                shifted = True
                for _ in range(step[0]):
                    one = made.drop()
                    self.findings.say("numbers", "entry_missing", entry=one.number, should=one.cause)
                for _ in range(step[1]):
                    one = kept.drop()
                    self.findings.say("numbers", "entry_extra", entry=one.number, stands=one.cause)
                continue
            made.drop()
            kept.drop()
            self._alike(ours, theirs, shifted)

    def _last_kept(self) -> int | None:
        entries = self.book.entries.c
        query = select(func.max(entries.number)).where(entries.club == self.club)
        last: int | None = self.kept.scalar(query)
        return last

    def _came_since(self, cause: str) -> bool:
        """Whether an event is stored behind the rows that were read."""
        aggregate, _, number = cause.rpartition("/")
        try:
            position = self.stored(UUID(aggregate), int(number))
        except ValueError:  # as somebody wrote it
            return False
        return position is not None and position > self.to

    def _checked(self, last: int | None) -> Iterator[Written]:
        """The entries as they are kept, each looked at by itself and beside the one before."""
        before = 0
        for one in written(self.kept, self.book, self.club, last):
            if one.number != before + 1:
                self.findings.say("numbers", "number_gap", entry=one.number, stands=one.number, should=before + 1)
            before = one.number
            if self._day is not None and one.date < self._day:
                self.findings.say("numbers", "date_back", entry=one.number, stands=one.date, should=self._day)
            self._day = one.date
            if total := sum(amount for _, _, amount, _ in one.postings):
                wrong = {"stands": decimal(total), "should": decimal(0)}
                self.findings.say("entries_balance", "entry_sum", entry=one.number, **wrong)
            for account, currency, amount, balance in one.postings:
                place = {"entry": one.number, "account": account}
                if currency != one.currency:
                    wrong = {"stands": currency, "should": one.currency}
                    self.findings.say("entries_balance", "entry_currency", **place, **wrong)
                should = self._standing[currency, account] + amount
                if balance != should:
                    wrong = {"stands": decimal(balance), "should": decimal(should)}
                    self.findings.say("running_balances", "running", **place, **wrong)
                self._standing[currency, account] = balance
            yield one

    def _alike(self, ours: Written, theirs: Written, shifted: bool) -> None:
        entry = theirs.number
        if ours.cause != theirs.cause:
            self.findings.say("numbers", "entry_cause", entry=entry, stands=theirs.cause, should=ours.cause)
            return
        if ours.date != theirs.date and not shifted:
            self.findings.say("numbers", "entry_date", entry=entry, stands=theirs.date, should=ours.date)
        should = _postings(ours)
        if ours.kind == "match" and (said := self.rows.owed(ours.cause)) is not None:
            should = {(one.account, ours.currency): one.amount for one in said}
        aggregate, _, number = ours.cause.rpartition("/")
        place = {"entry": entry, "aggregate": aggregate, "event": int(number)}
        if _postings(theirs) != should:
            told = {"stands": _told(_postings(theirs)), "should": _told(should)}
            self.findings.say("settlements", "entry_otherwise", **place, **told)
        ours_too, theirs_too = (
            (one.kind, one.currency, one.evening, None if shifted else one.reverses, one.by) for one in (ours, theirs)
        )
        if ours_too != theirs_too:
            told = {"stands": _listed(theirs_too), "should": _listed(ours_too)}
            self.findings.say("settlements", "entry_heading", **place, **told)

    # What stands on the accounts

    def _balances(self) -> None:
        """The balances now, without what was entered since the rows were read: those of the rows."""
        last, now = self.book.balances_now(self.kept, self.club)
        told = {(one.currency, one.account): one.amount for one in now}
        for one in self.book.sums_between(self.kept, self.club, self.last, last):
            told[one.currency, one.account] = told.get((one.currency, one.account), 0) - one.amount
        made = self.rows.ledger.balances_at(self.rows.made, self.club, self.last)
        real = {(one.currency, one.account): one.amount for one in made}
        for currency, account in sorted({*told, *real}):
            stands, should = (some.get((currency, account), 0) for some in (told, real))
            if stands != should:
                said = {"stands": f"{decimal(stands)} {currency}", "should": f"{decimal(should)} {currency}"}
                self.findings.say("running_balances", "balance", account=account, **said)

    def trial(self) -> tuple[tuple[Balance, ...], tuple[Balance, ...]]:
        """What stands on each account after the last entry: by the postings of the books, and by the rows."""
        theirs: tuple[Balance, ...] = ()
        with suppress(*UNREADABLE):  # as has been said
            theirs = self.book.balances_at(self.kept, self.club, self.last)
        return theirs, self.rows.ledger.balances_at(self.rows.made, self.club, self.last)

    def _pot(self) -> None:
        """Debit is above zero: what stands in the pot is below, and above zero it has given what it had not."""
        postings, book = self.rows.ledger.postings.c, self.rows.ledger
        query = select(postings.number, postings.currency, postings.balance)
        below = query.where(postings.club == self.club, postings.account == "pot", postings.balance > 0)
        for number, currency, balance in self.rows.made.execute(below.order_by(postings.number)):
            found = book.entry(self.rows.made, self.club, number)
            cause = "" if found is None else found[0].cause
            aggregate, _, event = cause.rpartition("/")
            place = {"entry": number, "account": "pot", "aggregate": aggregate or None}
            told = {"stands": f"{decimal(balance)} {currency}", "should": f"{decimal(0)} {currency}"}
            self.findings.say("pot_not_negative", "pot_negative", **place, event=int(event or 0) or None, **told)

    # Closings

    def _closings(self) -> None:
        ours = {one.closing: one for one in self.rows.ledger.closings_of(self.rows.made, self.club)}
        theirs = {one.closing: one for one in self.book.closings_of(self.kept, self.club)}
        for number, one in ours.items():
            if one.digest != one.found:
                self.findings.say("closings", "closing_digest", closing=number, stands=one.digest, should=one.found)
            elif not one.holds:
                self.findings.say("closings", "closing_trial", closing=number)
            there = theirs.pop(number, None)
            if there is None:
                self.findings.say("closings", "closing_missing", closing=number, should=one.label)
            elif there != one:
                wrong = [name for name in one._fields if getattr(one, name) != getattr(there, name)]
                told = {"stands": _listed(getattr(there, name) for name in wrong)}
                told["should"] = _listed(getattr(one, name) for name in wrong)
                self.findings.say("closings", "closing_otherwise", closing=number, **told)
        if theirs and self.book.version(self.kept, self.club) == self.rows.version:
            for number, one in theirs.items():
                self.findings.say("closings", "closing_extra", closing=number, stands=one.label)

    # How far the books have come

    def _versions(self) -> None:
        """The books have taken in all that is stored, and nothing else."""
        matches, clubs = self.book.matches.c, self.book.clubs.c
        row = self.kept.execute(select(clubs.version, clubs.keeping).where(clubs.club == self.club)).one_or_none()
        if row is not None:
            last = row.keeping.last
            moved_on = self.last < last <= (self._last_kept() or 0)
            changed = row.keeping != self.rows.keeping and not moved_on
            self._version(self.club, row.version, row.keeping if changed else self.rows.keeping, self.rows.keeping)
        query = select(matches.match, matches.version, matches.money)
        missing = {match for match, money in self.rows.money.items() if money is not None and money.club == self.club}
        for one in self.kept.execute(query, execution_options={"yield_per": READ_AT_ONCE}):
            if one.match in self.rows.own or (one.money is not None and one.money.club == self.club):
                self._version(one.match, one.version, one.money, self.rows.money.get(one.match))
                missing.discard(one.match)
        for match in sorted(missing):
            self._version(match, 0, None, self.rows.money[match])

    def _version(self, aggregate: UUID, version: int, told: Any, real: Any) -> None:
        own = self.rows.own.get(aggregate)
        now = 0 if own is None else own.version
        place = {"aggregate": str(aggregate), "event": version}
        if version > now and self.stored(aggregate, version) is None:
            self.findings.say("chain", "rows_end", **place, stands=now, should=version)
        elif version < now:
            self.findings.say("settlements", "books_at", **place, stands=version, should=now)
        elif version == now and told != real:
            stands, should = _fields(told, real), _fields(real, told)
            self.findings.say("settlements", "books_keep", **place, stands=stands, should=should)


class _Ahead:
    """What comes, with a look ahead."""

    def __init__(self, entries: Iterator[Written]) -> None:
        self._entries, self._some = entries, list[Written]()

    def next(self, further: int) -> Written | None:
        """The next, or so much further; ``None`` behind the last."""
        while len(self._some) <= further:
            one = next(self._entries, None)
            if one is None:
                return None
            self._some.append(one)
        return self._some[further]

    def drop(self) -> Written:
        """The next, which is done with."""
        return self._some.pop(0)


def _step(made: _Ahead, kept: _Ahead) -> tuple[int, int] | None:
    """How many to pass over of the one or of the other, so that they go on alike."""
    ours, theirs = made.next(0), kept.next(0)
    for further in range(1, AHEAD + 1):
        if (one := made.next(further)) is not None and theirs is not None and one.of == theirs.of:
            return further, 0
        if (one := kept.next(further)) is not None and ours is not None and one.of == ours.of:
            return 0, further
    return None


def _postings(entry: Written) -> dict[tuple[str, str], int]:
    return {(account, currency): amount for account, currency, amount, _ in entry.postings}


def _told(postings: Mapping[tuple[str, str], int]) -> str:
    parts = sorted(postings.items())
    return _listed(f"{account} {decimal(amount)} {currency}" for (account, currency), amount in parts)


def _listed(parts: Any) -> str:
    return ", ".join(map(str, parts))


def _fields(value: Any, other: Any) -> str:
    """What it has otherwise than the other."""
    if value is None:
        return ""
    known = ((name, getattr(value, name)) for name in value.__struct_fields__)
    return _listed(f"{name} {one}" for name, one in known if other is None or one != getattr(other, name))
