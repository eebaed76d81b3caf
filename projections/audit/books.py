"""Compares a club's books (``kept``, ``theirs``) with the ledger made from the rows (``made``, ``ours``)."""

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

LOOKAHEAD_MAX = 3
"""Maximum entries to skip to find equal entries again."""
Stored = Callable[[UUID, int], int | None]
"""Function that returns the position of an event; ``None`` if it is not stored."""


class Written(NamedTuple):
    """An entry. A posting is account, currency, amount and the balance after the posting, both in minor units."""

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
    def identity(self) -> tuple[str, str]:
        return self.cause, self.kind


def entries_of_club(
    connection: Connection, ledger: Tables, club: UUID, last_number: int | None = None
) -> Iterator[Written]:
    """Yield the entries up to ``last_number`` (None: all), in order of number."""
    entries, postings, after = ledger.entries.c, ledger.postings.c, -1
    columns: list[Column[Any]] = [entries.number, entries.date, entries.kind, entries.currency, entries.cause]
    columns += [entries.evening, entries.reverses, entries.by]
    own = (postings.number, postings.account, postings.currency, postings.amount, postings.balance)
    while True:
        query = select(*columns).where(entries.club == club, entries.number > after)
        if last_number is not None:
            query = query.where(entries.number <= last_number)
        found = connection.execute(query.order_by(entries.number).limit(READ_AT_ONCE)).all()
        if not found:
            return
        first, after = found[0].number, found[-1].number
        of_entries = select(*own).where(postings.club == club, postings.number.between(first, after))
        parts: dict[int, list[tuple[str, str, int, int]]] = defaultdict(list)
        for number, *rest in connection.execute(of_entries.order_by(postings.number, postings.account)):
            parts[number].append(tuple(rest))
        for row in found:
            yield Written._make((*row, tuple(parts[row.number])))


class Comparison:
    def __init__(
        self, rows: Rows, kept: Connection, ledger: Ledger, stored: Stored, last_position: int, findings: Findings
    ) -> None:
        """``last_position``: position of the last row read."""
        self.rows, self.kept, self.ledger = rows, kept, ledger
        self.stored, self.last_position, self.findings = stored, last_position, findings
        self.club = rows.club
        self.last = 0 if rows.keeping is None else rows.keeping.last
        self._running: dict[tuple[str, str], int] = defaultdict(int)
        self._day: date | None = None

    def compare(self) -> None:
        """Report all differences, also unreadable books."""
        parts: tuple[tuple[Check, Callable[[], None]], ...] = (
            ("numbers", self._compare_entry_lists),
            ("running_balances", self._compare_balances),
            ("closings", self._compare_closings),
            ("settlements", self._compare_versions),
            ("pot_not_negative", self._check_pot),
        )
        for check, part in parts:
            try:
                part()
            except UNREADABLE as error:
                self.findings.add(check, "books_unreadable", stands=f"{type(error).__name__}: {error}")

    def _compare_entry_lists(self) -> None:
        """Report missing and different entries, and extra ones unless stored after the rows were read."""
        last = self._last_stored_number()
        kept = _Lookahead(self._stored_entries(last))
        made = _Lookahead(entries_of_club(self.rows.made, self.rows.ledger, self.club, self.last))
        shifted = False
        while (ours := made.peek(0)) is not None or kept.peek(0) is not None:
            theirs = kept.peek(0)
            if ours is None and theirs is not None:
                if theirs.number <= self.last or not self._is_stored_later(theirs.cause):
                    self.findings.add("numbers", "entry_extra", entry=theirs.number, stands=theirs.cause)
                kept.drop()
                continue
            assert ours is not None, "the loop's condition"
            if theirs is None:
                self.findings.add("numbers", "entry_missing", entry=ours.number, should=ours.cause)
                made.drop()
                continue
            if ours.identity != theirs.identity and (step := _steps_to_equal(made, kept)) is not None:
                shifted = True
                for _ in range(step[0]):
                    one = made.drop()
                    self.findings.add("numbers", "entry_missing", entry=one.number, should=one.cause)
                for _ in range(step[1]):
                    one = kept.drop()
                    self.findings.add("numbers", "entry_extra", entry=one.number, stands=one.cause)
                continue
            made.drop()
            kept.drop()
            self._compare_entries(ours, theirs, shifted)

    def _last_stored_number(self) -> int | None:
        entries = self.ledger.entries.c
        query = select(func.max(entries.number)).where(entries.club == self.club)
        last: int | None = self.kept.scalar(query)
        return last

    def _is_stored_later(self, cause: str) -> bool:
        aggregate, _, number = cause.rpartition("/")
        try:
            position = self.stored(UUID(aggregate), int(number))
        except ValueError:  # because a damaged cell may have any value
            return False
        return position is not None and position > self.last_position

    def _stored_entries(self, last: int | None) -> Iterator[Written]:
        """Yield and check the entries of the books."""
        before = 0
        for one in entries_of_club(self.kept, self.ledger, self.club, last):
            if one.number != before + 1:
                self.findings.add("numbers", "number_gap", entry=one.number, stands=one.number, should=before + 1)
            before = one.number
            if self._day is not None and one.date < self._day:
                self.findings.add("numbers", "date_back", entry=one.number, stands=one.date, should=self._day)
            self._day = one.date
            if total := sum(amount for _, _, amount, _ in one.postings):
                wrong = {"stands": decimal(total), "should": decimal(0)}
                self.findings.add("entries_balance", "entry_sum", entry=one.number, **wrong)
            for account, currency, amount, balance in one.postings:
                place = {"entry": one.number, "account": account}
                if currency != one.currency:
                    wrong = {"stands": currency, "should": one.currency}
                    self.findings.add("entries_balance", "entry_currency", **place, **wrong)
                should = self._running[currency, account] + amount
                if balance != should:
                    wrong = {"stands": decimal(balance), "should": decimal(should)}
                    self.findings.add("running_balances", "running", **place, **wrong)
                self._running[currency, account] = balance
            yield one

    def _compare_entries(self, ours: Written, theirs: Written, shifted: bool) -> None:
        """Report differences. ``shifted``: ignore ``date`` and ``reverses``, because entries are missing or extra."""
        entry = theirs.number
        if ours.cause != theirs.cause:
            self.findings.add("numbers", "entry_cause", entry=entry, stands=theirs.cause, should=ours.cause)
            return
        if ours.date != theirs.date and not shifted:
            self.findings.add("numbers", "entry_date", entry=entry, stands=theirs.date, should=ours.date)
        should = _amounts_by_account(ours)
        if ours.kind == "match" and (owed_postings := self.rows.postings_owed(ours.cause)) is not None:
            should = {(one.account, ours.currency): one.amount for one in owed_postings}
        aggregate, _, number = ours.cause.rpartition("/")
        place = {"entry": entry, "aggregate": aggregate, "event": int(number)}
        if _amounts_by_account(theirs) != should:
            values = {"stands": _postings_text(_amounts_by_account(theirs)), "should": _postings_text(should)}
            self.findings.add("settlements", "entry_otherwise", **place, **values)
        ours_too, theirs_too = (
            (one.kind, one.currency, one.evening, None if shifted else one.reverses, one.by) for one in (ours, theirs)
        )
        if ours_too != theirs_too:
            values = {"stands": _joined(theirs_too), "should": _joined(ours_too)}
            self.findings.add("settlements", "entry_heading", **place, **values)

    def _compare_balances(self) -> None:
        """Compare the balances, without entries made after the rows were read."""
        last, now = self.ledger.balances_now(self.kept, self.club)
        values = {(one.currency, one.account): one.amount for one in now}
        for one in self.ledger.sums_between(self.kept, self.club, self.last, last):
            values[one.currency, one.account] = values.get((one.currency, one.account), 0) - one.amount
        made = self.rows.ledger.balances_at(self.rows.made, self.club, self.last)
        actual = {(one.currency, one.account): one.amount for one in made}
        for currency, account in sorted({*values, *actual}):
            stands, should = (some.get((currency, account), 0) for some in (values, actual))
            if stands != should:
                differing = {"stands": f"{decimal(stands)} {currency}", "should": f"{decimal(should)} {currency}"}
                self.findings.add("running_balances", "balance", account=account, **differing)

    def trial_balances(self) -> tuple[tuple[Balance, ...], tuple[Balance, ...]]:
        """Return the balances of the books (empty if unreadable) and of the rows, each after the rows' last entry."""
        theirs: tuple[Balance, ...] = ()
        with suppress(*UNREADABLE):
            theirs = self.ledger.balances_at(self.kept, self.club, self.last)
        return theirs, self.rows.ledger.balances_at(self.rows.made, self.club, self.last)

    def _check_pot(self) -> None:
        """Report each posting of the rows' ledger after which the pot has a debit balance (above 0)."""
        ledger = self.rows.ledger
        postings = ledger.postings.c
        query = select(postings.number, postings.currency, postings.balance)
        overdrawn = query.where(postings.club == self.club, postings.account == "pot", postings.balance > 0)
        for number, currency, balance in self.rows.made.execute(overdrawn.order_by(postings.number)):
            found = ledger.entry(self.rows.made, self.club, number)
            cause = "" if found is None else found[0].cause
            aggregate, _, event = cause.rpartition("/")
            place = {"entry": number, "account": "pot", "aggregate": aggregate or None}
            values = {"stands": f"{decimal(balance)} {currency}", "should": f"{decimal(0)} {currency}"}
            self.findings.add("pot_not_negative", "pot_negative", **place, event=int(event or 0) or None, **values)

    def _compare_closings(self) -> None:
        ours = {one.closing: one for one in self.rows.ledger.closings_of(self.rows.made, self.club)}
        theirs = {one.closing: one for one in self.ledger.closings_of(self.kept, self.club)}
        for number, one in ours.items():
            if one.digest != one.found:
                self.findings.add("closings", "closing_digest", closing=number, stands=one.digest, should=one.found)
            elif not one.holds:
                self.findings.add("closings", "closing_trial", closing=number)
            there = theirs.pop(number, None)
            if there is None:
                self.findings.add("closings", "closing_missing", closing=number, should=one.label)
            elif there != one:
                wrong = [name for name in one._fields if getattr(one, name) != getattr(there, name)]
                values = {"stands": _joined(getattr(there, name) for name in wrong)}
                values["should"] = _joined(getattr(one, name) for name in wrong)
                self.findings.add("closings", "closing_otherwise", closing=number, **values)
        if theirs and self.ledger.version(self.kept, self.club) == self.rows.version:
            for number, one in theirs.items():
                self.findings.add("closings", "closing_extra", closing=number, stands=one.label)

    def _compare_versions(self) -> None:
        matches, clubs = self.ledger.matches.c, self.ledger.clubs.c
        row = self.kept.execute(select(clubs.version, clubs.keeping).where(clubs.club == self.club)).one_or_none()
        if row is not None:
            last = row.keeping.last
            moved_on = self.last < last <= (self._last_stored_number() or 0)
            changed = row.keeping != self.rows.keeping and not moved_on
            stored = row.keeping if changed else self.rows.keeping
            self._compare_version(self.club, row.version, stored, self.rows.keeping)
        query = select(matches.match, matches.version, matches.money)
        missing = {match for match, money in self.rows.money.items() if money is not None and money.club == self.club}
        for one in self.kept.execute(query, execution_options={"yield_per": READ_AT_ONCE}):
            if one.match in self.rows.own or (one.money is not None and one.money.club == self.club):
                self._compare_version(one.match, one.version, one.money, self.rows.money.get(one.match))
                missing.discard(one.match)
        for match in sorted(missing):
            self._compare_version(match, 0, None, self.rows.money[match])

    def _compare_version(self, aggregate: UUID, version: int, values: Any, actual: Any) -> None:
        own = self.rows.own.get(aggregate)
        now = 0 if own is None else own.version
        place = {"aggregate": str(aggregate), "event": version}
        if version > now and self.stored(aggregate, version) is None:
            self.findings.add("chain", "rows_end", **place, stands=now, should=version)
        elif version < now:
            self.findings.add("settlements", "books_at", **place, stands=version, should=now)
        elif version == now and values != actual:
            stands, should = _differing_fields(values, actual), _differing_fields(actual, values)
            self.findings.add("settlements", "books_keep", **place, stands=stands, should=should)


class _Lookahead:
    def __init__(self, entries: Iterator[Written]) -> None:
        self._entries, self._some = entries, list[Written]()

    def peek(self, further: int) -> Written | None:
        """Return the entry ``further`` places after the next; ``None`` after the last."""
        while len(self._some) <= further:
            one = next(self._entries, None)
            if one is None:
                return None
            self._some.append(one)
        return self._some[further]

    def drop(self) -> Written:
        return self._some.pop(0)


def _steps_to_equal(made: _Lookahead, kept: _Lookahead) -> tuple[int, int] | None:
    """Return how many entries of ``made`` and ``kept`` (one is 0) to skip until cause and kind agree.

    Return ``None`` beyond :data:`LOOKAHEAD_MAX`.
    """
    ours, theirs = made.peek(0), kept.peek(0)
    for further in range(1, LOOKAHEAD_MAX + 1):
        if (one := made.peek(further)) is not None and theirs is not None and one.identity == theirs.identity:
            return further, 0
        if (one := kept.peek(further)) is not None and ours is not None and one.identity == ours.identity:
            return 0, further
    return None


def _amounts_by_account(entry: Written) -> dict[tuple[str, str], int]:
    return {(account, currency): amount for account, currency, amount, _ in entry.postings}


def _postings_text(postings: Mapping[tuple[str, str], int]) -> str:
    parts = sorted(postings.items())
    return _joined(f"{account} {decimal(amount)} {currency}" for (account, currency), amount in parts)


def _joined(parts: Any) -> str:
    return ", ".join(map(str, parts))


def _differing_fields(value: Any, other: Any) -> str:
    if value is None:
        return ""
    known = ((name, getattr(value, name)) for name in value.__struct_fields__)
    return _joined(f"{name} {one}" for name, one in known if other is None or one != getattr(other, name))
