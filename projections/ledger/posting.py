"""Makes entries from the events of clubs and matches."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any
from uuid import UUID

from msgspec.structs import replace
from sqlalchemy import Connection, bindparam, insert, select, update

from projections.closings import digest
from projections.journal import JournalEntry
from projections.ledger.tables import Keeping, Money, Tables
from referee.actors import Actor
from referee.clubs.facts import MATCH_BALANCE_MAX, BooksClosed, ClubFounded, ClubSet, MoneyPosted, account_of, day_of
from referee.events import MatchOpened
from referee.officials.events.seating import StakesAgreed, StakesDeclined
from referee.settlement import amounts_owed
from referee.visibility import Recorded


class PageWriter:
    """Collects the changes by a page's events, and writes them."""

    def __init__(self, ledger: Tables, connection: Connection) -> None:
        self.ledger, self.connection = ledger, connection
        self.matches: dict[UUID, Money | None] = {}
        self.clubs: dict[UUID, Keeping] = {}
        self._changed: set[UUID] = set()
        """Clubs and matches with changes other than the version."""
        self._entries: list[dict[str, Any]] = []
        self._postings: list[dict[str, Any]] = []
        self._reversed: dict[tuple[UUID, int], int] = {}
        """Reversing entry, by club and reversed entry."""
        self._balances: dict[tuple[UUID, str, str], int] = {}
        self._stored_balances: set[tuple[UUID, str, str]] = set()

    def add_event(self, recorded: Recorded) -> None:
        """Collect the changes by an event. Raises ``LookupError`` if its club is unknown."""
        whose = recorded.originator_id
        match recorded.event:
            case MatchOpened() as opened:
                self.matches[whose] = _money_of(opened)
            case ClubFounded(timezone=timezone):
                self.clubs[whose] = Keeping(timezone=timezone)
                self._changed.add(whose)
            case ClubSet(timezone=str(timezone)):
                self._set_keeping(whose, replace(self._keeping_of(whose), timezone=timezone))
            case MoneyPosted() as posted:
                self._post_money(recorded, posted)
            case BooksClosed() as closed:
                self._record_closing(recorded, closed)
            case _:
                if (money := self.matches.get(whose)) is not None and not self._keeping_of(money.club).waits:
                    self._apply_to_match(recorded, money)

    def _apply_to_match(self, recorded: Recorded, money: Money) -> None:
        match recorded.event:
            case StakesAgreed(seats=seats):
                left = tuple([seat for seat in money.waiting_for if seat not in seats])
                money = replace(money, waiting_for=left)
            case StakesDeclined():
                money = replace(money, declined=True)
            case event:
                result = amounts_owed(event, money.ended_by)
                if result is None:
                    return
                money = replace(money, result=result, ended_by=recorded.originator_version)
        self.matches[recorded.originator_id] = money
        self._changed.add(recorded.originator_id)
        if not money.waiting_for and not money.declined:
            self._settle(recorded, money)

    def _settle(self, recorded: Recorded, money: Money) -> None:
        """Replace a match's entry if the amounts differ, unless a balance would become too large. A result above the
        match's limit only reverses the entry.
        """
        amounts, entry = () if money.above_limit else money.result, money.entry
        beyond = money.ended_by if money.above_limit else 0
        if amounts != money.amounts:
            postings = {account_of(member): -amount for member, amount in zip(money.members, amounts, strict=False)}
            postings["pot"] = sum(amounts)
            if self._result_fits(money, entry, postings):
                if entry is not None:
                    self._reverse(recorded, money.club, entry, recorded.actor)
                entry = self._enter(
                    recorded, money.club, "match", money.currency, postings, evening=money.evening, by=recorded.actor
                )
            else:
                amounts, beyond = money.amounts, money.ended_by
        self.matches[recorded.originator_id] = replace(money, amounts=amounts, entry=entry, beyond=beyond)

    def _result_fits(self, money: Money, number: int | None, postings: Mapping[str, int]) -> bool:
        """Return whether no balance becomes too large if a result replaces entry ``number``."""
        entry = None if number is None else self._unreversed(money.club, number)
        before = {} if entry is None else _negated(entry)
        after = {one: before.get(one, 0) + postings.get(one, 0) for one in {*before, *postings}}
        return all(self._within_limit(money.club, money.currency, changes) for changes in (before, after))

    def _within_limit(self, club: UUID, currency: str, postings: Mapping[str, int]) -> bool:
        """Return whether each balance stays within the limit for matches."""
        self._load_balances(club, currency, postings)
        after = (self._balances.get((club, currency, one), 0) + amount for one, amount in postings.items())
        return all(abs(balance) <= MATCH_BALANCE_MAX for balance in after)

    def _post_money(self, recorded: Recorded, posted: MoneyPosted) -> None:
        club, postings = recorded.originator_id, {one.account: one.amount for one in posted.postings}
        if posted.reverses is None:
            self._enter(recorded, club, posted.kind, posted.currency, postings, evening=posted.evening, by=posted.by)
        else:
            self._reverse(recorded, club, posted.reverses, posted.by)

    def _reverse(self, recorded: Recorded, club: UUID, number: int, by: Actor) -> None:
        """Reverse an entry, unless it is missing, reversed, or a match's entry and a balance would be too large."""
        entry = self._unreversed(club, number)
        if entry is None or (entry.kind == "match" and not self._within_limit(club, entry.currency, _negated(entry))):
            return
        self._reversed[club, number] = self._keeping_of(club).last + 1
        postings, evening = _negated(entry), entry.evening
        self._enter(recorded, club, "reverse", entry.currency, postings, evening=evening, by=by, reverses=number)

    def _unreversed(self, club: UUID, number: int) -> JournalEntry | None:
        """Return an entry; ``None`` if it does not exist or is reversed."""
        if not self._may_be_reversed(club, number):
            return None
        self.flush()
        (entry,) = self.ledger.read(self.connection, club, after=number - 1, to=number)
        return entry

    def _may_be_reversed(self, club: UUID, number: int) -> bool:
        if (club, number) in self._reversed or not 1 <= number <= self._keeping_of(club).last:
            return False
        if any((row["club"], row["number"]) == (club, number) for row in self._entries):
            return True
        entries = self.ledger.entries.c
        query = select(entries.reversed_by).where(entries.club == club, entries.number == number)
        return self.connection.execute(query).scalar_one() is None

    def _enter(
        self,
        recorded: Recorded,
        club: UUID,
        kind: str,
        currency: str,
        postings: Mapping[str, int],
        *,
        evening: int | None,
        by: Actor,
        reverses: int | None = None,
    ) -> int | None:
        """Add an entry without zero postings, and return its number; ``None`` if no posting is left."""
        amounts = {account: amount for account, amount in postings.items() if amount}
        assert not sum(amounts.values()), "postings add up to 0"
        if not amounts:
            return None
        keeping = self._keeping_of(club)
        number, day = keeping.last + 1, day_of(recorded.at, keeping.timezone)
        if keeping.day is not None:
            day = max(day, keeping.day)
        self._set_keeping(club, replace(keeping, last=number, day=day))
        self._entries.append(
            {
                "club": club,
                "number": number,
                "date": day,
                "kind": kind,
                "currency": currency,
                "cause": f"{recorded.originator_id}/{recorded.originator_version}",
                "evening": evening,
                "reverses": reverses,
                "reversed_by": None,
                "by": by,
            }
        )
        self._load_balances(club, currency, amounts)
        for account, amount in amounts.items():
            key = club, currency, account
            self._balances[key] = balance = self._balances.get(key, 0) + amount
            row = {"account": account, "currency": currency, "amount": amount, "balance": balance}
            self._postings.append({"club": club, "number": number, **row})
        return number

    def _load_balances(self, club: UUID, currency: str, accounts: Iterable[str]) -> None:
        if unknown := [one for one in accounts if (club, currency, one) not in self._balances]:
            balances = self.ledger.balances.c
            this = (balances.club == club) & (balances.currency == currency) & balances.account.in_(unknown)
            for row in self.connection.execute(select(self.ledger.balances).where(this)):
                self._balances[club, currency, row.account] = row.balance
                self._stored_balances.add((club, currency, row.account))

    def _keeping_of(self, club: UUID) -> Keeping:
        """Return the state of a club's books. Raises ``LookupError`` if the club is unknown."""
        if club not in self.clubs:
            clubs = self.ledger.clubs.c
            found = self.connection.scalar(select(clubs.keeping).where(clubs.club == club))
            if found is None:
                raise LookupError(f"the ledger has no club {club}")
            self.clubs[club] = found
        return self.clubs[club]

    def _set_keeping(self, club: UUID, keeping: Keeping) -> None:
        self.clubs[club] = keeping
        self._changed.add(club)

    def _record_closing(self, recorded: Recorded, closed: BooksClosed) -> None:
        """Store a closing, compared with the entries."""
        self.flush()
        club, keeping = recorded.originator_id, self._keeping_of(recorded.originator_id)
        entries = self.ledger.read(self.connection, club, after=keeping.through, to=closed.through)
        found = digest(keeping.digest, entries)
        trial = self.ledger.balances_at(self.connection, club, closed.through)
        row = {
            "club": club,
            "closing": closed.closing,
            "through": closed.through,
            "digest": closed.digest,
            "label": closed.label,
            "at": recorded.at,
            "trial": closed.trial,
            "found": found,
            "holds": closed.through <= keeping.last and (found, trial) == (closed.digest, closed.trial),
            "event": recorded.originator_version,
        }
        self.connection.execute(insert(self.ledger.closings), [row])
        self._set_keeping(club, replace(keeping, through=closed.through, digest=closed.digest))

    def flush(self) -> None:
        ledger, run = self.ledger, self.connection.execute
        if self._entries:
            run(insert(ledger.entries), self._entries)
            run(insert(ledger.postings), self._postings)
        if self._reversed:
            entries = ledger.entries.c
            this = (entries.club == bindparam("whose")) & (entries.number == bindparam("which"))
            by = [
                {"whose": club, "which": number, "reversed_by": by} for (club, number), by in self._reversed.items()
            ]
            run(update(ledger.entries).where(this), by)
        self._write_balances({(row["club"], row["currency"], row["account"]) for row in self._postings})
        self._entries, self._postings, self._reversed = [], [], {}

    def _write_balances(self, touched: set[tuple[UUID, str, str]]) -> None:
        table, balances = self.ledger.balances, self._balances
        new = [
            {"club": club, "currency": currency, "account": account, "balance": balances[club, currency, account]}
            for club, currency, account in touched - self._stored_balances
        ]
        if new:
            self.connection.execute(insert(table), new)
        old = [
            {"whose": club, "unit": currency, "which": account, "balance": balances[club, currency, account]}
            for club, currency, account in touched & self._stored_balances
        ]
        if old:
            this = (table.c.club == bindparam("whose")) & (table.c.currency == bindparam("unit"))
            self.connection.execute(update(table).where(this, table.c.account == bindparam("which")), old)
        self._stored_balances |= touched

    def write_versions(self, reached: Mapping[UUID, int], known: Collection[UUID]) -> None:
        """Write changed states, and the versions ``reached``. ``known``: aggregates with a stored row."""
        for table, whose, column, have in (
            (self.ledger.matches, self.ledger.matches.c.match, "money", self.matches),
            (self.ledger.clubs, self.ledger.clubs.c.club, "keeping", self.clubs),
        ):
            kept: Mapping[UUID, Any] = have
            new, moved, changed, both = [], [], [], []
            for one, what in kept.items():
                values: dict[str, Any] = {column: what}
                if have is self.matches:
                    values["waits_in"] = what.club if what is not None and what.waits else None
                version, row = reached.get(one), {"id": one, **values}
                if version is None:
                    changed += [row] if one in self._changed else []
                elif one not in known:
                    new.append({whose.name: one, "version": version, **values})
                elif one in self._changed:
                    both.append({**row, "version": version})
                else:
                    moved.append({"id": one, "version": version})
            if new:
                self.connection.execute(insert(table), new)
            for rows in (moved, changed, both):
                if rows:
                    self.connection.execute(update(table).where(whose == bindparam("id")), rows)


def _negated(entry: JournalEntry) -> dict[str, int]:
    return {one.account: -one.amount for one in entry.postings}


def _money_of(opened: MatchOpened) -> Money | None:
    if opened.club is None or opened.stakes is None:
        return None
    return Money(
        club=opened.club,
        evening=opened.evening,
        members=opened.members,
        currency=opened.stakes.currency,
        limit=opened.stake_limit,
        waiting_for=tuple(range(len(opened.players))),
    )
