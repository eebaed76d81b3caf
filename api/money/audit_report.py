"""How a club's books are audited, and what comes of it."""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Annotated, Any
from uuid import UUID

from msgspec.structs import asdict

from api.money.ledger_access import Day
from api.personal_data.erasures import Redactions, lists_in
from api.personal_data.names import Names
from api.runtime.projections import Projections, decoded
from projections.audit.books import Compared, written
from projections.audit.findings import CHECKS, TOLD_MAX, Check, Difference, Findings, is_account
from projections.audit.history import (
    LISTED_MAX,
    ActOfTwo,
    BooksClosing,
    Erasure,
    History,
    KeyChange,
    LoneAct,
    PayeeChange,
    Person,
    SettingChange,
)
from projections.audit.persons import KeyHeld, Waiting
from projections.audit.reading import MatchWaiting, ResultLeftOut, Rows, TextFound
from projections.audit.settled import Reckoning
from projections.audit.stakes import StakesAnswered
from projections.audit.tree import Signed, compare
from projections.follow.page import Row
from projections.visibility import Sight
from referee import wire_types
from referee.actors import Actor
from referee.clubs.facts import TRIAL_MAX, Account, Ref
from referee.clubs.proposals import PROPOSALS_MAX
from referee.events import MatchOpened
from referee.games import RULESETS
from referee.store.attempts import HELD_BACK, read_attempt
from referee.store.damaged import DamagedAttempt
from referee.value import VERSION_MAX, EventNumber, Time, Value


class TrialLine(Value):
    """What stands on an account in a currency, by the books and by the rows of the log: debit above zero."""

    account: Account
    currency: wire_types.Currency
    books: wire_types.Money
    """By the postings of the books."""
    rows: wire_types.Money
    """By the entries that the rows come to."""


class DifferenceSeen(Difference):
    """Something that is not as it should be, in a sentence as well."""

    text: wire_types.Sentence = ""
    """What stands there and what should, in the language that was asked for."""


class Checked(Value):
    """A check, and what it has found."""

    check: Check
    """Which."""
    ok: bool
    """Nothing was found."""
    count: wire_types.Lag
    """How much was found."""
    differences: Annotated[tuple[DifferenceSeen, ...], wire_types.at_most(TOLD_MAX)]
    """The first of it."""


class MatchUnderWay(Value):
    """A match for money that is not over."""

    match: wire_types.MatchId
    evening: wire_types.EveningNumber | None
    """Of the club's evenings the one on which it is played; null: none."""


class MatchAcrossClosings(Value):
    """A match for money that began before a closing of the books and ended after it."""

    match: wire_types.MatchId
    evening: wire_types.EveningNumber | None
    """Of the club's evenings the one on which it was opened; null: none."""
    closings: Annotated[tuple[wire_types.ClosingNumber, ...], wire_types.at_most(LISTED_MAX)]
    """The closings that do not have its result, though it had begun: the last of them."""
    event: EventNumber
    """The event that ended it."""
    entry: wire_types.EntryNumber | None
    """The entry of its result; null: nothing is owed."""


class Reversal(Value):
    """An entry that takes back another."""

    number: wire_types.EntryNumber
    """The entry."""
    reverses: wire_types.EntryNumber | None
    """The entry that it takes back."""
    date: Day
    """On the club's clock."""
    by: Actor
    """Who asked for it; of a match that was corrected, who corrected it."""


class ViewRefused(Value):
    """Requests of one key or token for the officials' view of a match in which a member behind it played."""

    match: wire_types.MatchId
    at: Time
    """The time of the last of them that is on record."""
    by: Person
    """The person who asked."""
    count: wire_types.Lag
    """The number of requests, at least."""


class KeyAudited(KeyHeld):
    """A key of the club: whose it is, what it is good for, and from when until when."""

    name: Ref | None = None
    """What the member is called; null: it is a program's."""
    changes: wire_types.Many[KeyChange] = ()
    """Who issued, invited, redeemed, rotated and revoked it, in order."""


class Audit(Value):
    """The audit of a club's books, as they stood after an entry and an event of the club."""

    club: wire_types.Name
    """What the club is called."""
    entry: wire_types.EntryCount
    """The last entry that was looked at."""
    version: EventNumber
    """The last event of the club that was."""
    signed: wire_types.Lag
    """So many rows of the log the last checkpoint is over; 0: it was never signed."""
    ok: bool
    """All checks have found nothing."""
    checks: Annotated[tuple[Checked, ...], wire_types.at_most(len(CHECKS))]
    """All that there are."""
    trial: Annotated[tuple[TrialLine, ...], wire_types.at_most(TRIAL_MAX)]
    """By currency and account: of each currency either column adds up to 0."""
    open_matches: Annotated[tuple[MatchUnderWay, ...], wire_types.at_most(LISTED_MAX)]
    """Matches for money that are not over: the first of them."""
    across_closings: Annotated[tuple[MatchAcrossClosings, ...], wire_types.at_most(LISTED_MAX)]
    """Matches for money that began before a closing and ended after it: the last of them."""
    proposals: Annotated[tuple[Waiting, ...], wire_types.at_most(PROPOSALS_MAX)]
    """Acts that wait for another member."""
    reversals: Annotated[tuple[Reversal, ...], wire_types.at_most(LISTED_MAX)]
    """Entries that take back others: the last of them."""
    keys: Annotated[tuple[KeyAudited, ...], wire_types.at_most(wire_types.MEMBERS_MAX)]
    """All keys that there ever were."""
    settings: Annotated[tuple[SettingChange, ...], wire_types.at_most(LISTED_MAX)]
    """Changes of settings: the last of them."""
    payees: Annotated[tuple[PayeeChange, ...], wire_types.at_most(LISTED_MAX)]
    """Changes of the numbers by which the club or a member is paid: the last of them."""
    erasures: Annotated[tuple[Erasure, ...], wire_types.at_most(LISTED_MAX)]
    """Erasures: the last of them."""
    closings: Annotated[tuple[BooksClosing, ...], wire_types.at_most(LISTED_MAX)]
    """Closings: the last of them."""
    alone: Annotated[tuple[LoneAct, ...], wire_types.at_most(LISTED_MAX)]
    """Acts that take two persons, done by one person alone: the last of them."""
    related: Annotated[tuple[ActOfTwo, ...], wire_types.at_most(LISTED_MAX)]
    """Payments and other acts whose two persons invited one another or were invited by the same person: the last of
    them."""
    stakes: Annotated[tuple[StakesAnswered, ...], wire_types.at_most(LISTED_MAX)]
    """Stakes that one person confirmed or declined for others, or to which a member agreed by an invitation of
    another person: the last of them."""
    waiting: Annotated[tuple[MatchWaiting, ...], wire_types.at_most(LISTED_MAX)]
    """Matches for money that are over and wait until all members have agreed to the stakes: the first of them."""
    attempts: Annotated[tuple[ViewRefused, ...], wire_types.at_most(LISTED_MAX)]
    """Requests for the officials' view of a match that was not over, with a key or token that a member who plays in
    it holds or gave: the last of them."""
    left_out: Annotated[tuple[ResultLeftOut, ...], wire_types.at_most(LISTED_MAX)]
    """Results that are too large for the books: the first of them."""
    closed_through: wire_types.EntryCount
    """The last entry that is closed."""
    after_closing: wire_types.EntryCount
    """So many entries have come since."""


Say = Callable[[Difference], str]
"""A difference in a sentence."""


def how_settled(opened: MatchOpened) -> Reckoning | None:
    """How what a match comes to is reckoned; ``None``: it is not for money."""
    rules = RULESETS.get(opened.ruleset)
    basis = None if rules is None or opened.stakes is None else rules.basis(opened.options)
    return None if rules is None or basis is None else Reckoning(basis, rules.has_pot)


class TextsOfClub:
    """The names, numbers and texts of a club, for its audit."""

    def __init__(self, names: Names, club: UUID) -> None:
        self._names, self._club = names, club

    def found(self, refs: Collection[str]) -> Mapping[str, TextFound]:
        """Return by ref those that there are."""
        found = self._names.looked_at(self._club, refs)
        return {ref: TextFound(kept is not None, kept.redacted if kept else None) for ref, kept in found.items()}

    def erased(self) -> Mapping[str, Redactions]:
        """Return by digest what each erasure of the club has deleted and replaced."""
        with self._names.reader.connect() as connection:
            return lists_in(connection, self._club)


def audited(
    projections: Projections,
    names: Names,
    club: UUID,
    to: int,
    signed: Signed | None,
    say: Say,
    members: Mapping[int, Ref],
) -> Audit:
    """The audit by the rows up to a position, to which the books have come. ``members``: what they go by.

    Touches the database, and takes two or three times as long as reading and decoding the rows.
    """
    findings = Findings()

    def whose(position: int) -> tuple[UUID, int] | None:
        for _, aggregate, number, _, _ in projections.log_after(position - 1, 1).rows:
            own = rows.of(aggregate)
            return None if own is None else (own, number)
        return None

    def stored(aggregate: UUID, number: int) -> int | None:
        found = projections.rows(aggregate, after=number - 1, limit=1).rows
        return next((row[0] for row in found if row[2] == number), None)

    def since(version: int) -> Sequence[Row]:
        return projections.rows(club, after=version, limit=VERSION_MAX).rows

    def called(key: KeyHeld) -> Ref | None:
        return None if key.member is None else members.get(key.member)

    with Rows(club, decoded, how_settled, TextsOfClub(names, club), since, findings, members) as rows:
        rows.read(projections.log_after, to)
        with projections.engine.connect() as kept:
            compared = Compared(rows, kept, projections.ledger, stored, to, findings)
            compared.compare()
            compare(rows, kept, projections.tree, to, signed, whose, findings)
            trial = _trial(compared)
        keeping = rows.keeping
        entries = written(rows.made, rows.ledger, club)
        reversals = deque((one for one in entries if one.kind == "reverse"), maxlen=LISTED_MAX)
        across = deque(rows.across_closings(), maxlen=LISTED_MAX)
        under_way = islice(rows.open_matches(), LISTED_MAX)
        history = rows.history
        return Audit(
            club=rows.people.name or str(club),
            entry=compared.last,
            version=rows.version,
            signed=0 if signed is None else signed.size,
            ok=not any(findings.counts.values()),
            checks=tuple(_checked(findings, check, say) for check in CHECKS),
            trial=trial,
            open_matches=tuple(MatchUnderWay(match=str(one), evening=evening) for one, evening in under_way),
            across_closings=tuple(
                MatchAcrossClosings(
                    match=str(one.match),
                    evening=one.evening,
                    closings=one.closings[-LISTED_MAX:],
                    event=one.event,
                    entry=one.entry,
                )
                for one in across
            ),
            proposals=tuple(rows.people.proposals.values()),
            reversals=tuple(
                Reversal(number=one.number, reverses=one.reverses, date=one.date.isoformat(), by=one.by)
                for one in reversals
            ),
            keys=tuple(
                KeyAudited(**asdict(key), name=called(key), changes=tuple(history.keys.get(key.key, ())))
                for key in rows.people.keys.values()
            ),
            settings=tuple(history.settings),
            payees=tuple(history.payees),
            erasures=tuple(history.erasures),
            closings=tuple(history.closings),
            alone=tuple(history.alone),
            related=tuple(history.related),
            stakes=tuple(rows.agreements.listed),
            waiting=tuple(islice(rows.waiting(), LISTED_MAX)),
            attempts=_attempts(projections, club, history),
            left_out=tuple(islice(rows.left_out(), LISTED_MAX)),
            closed_through=0 if keeping is None else keeping.through,
            after_closing=0 if keeping is None else max(0, compared.last - keeping.through),
        )


def _attempts(projections: Projections, club: UUID, history: History) -> tuple[ViewRefused, ...]:
    """Return the requests for the officials' view that were refused, by match and actor, the last one at the end."""
    with projections.engine.connect() as connection:
        sight = Sight(club=club, whole_club=True)
        matches = connection.scalars(projections.matches.of_club(club, sight)).all()
    found: dict[tuple[UUID, Actor], ViewRefused] = {}
    for match in matches:
        for row in projections.attempts(match):
            with suppress(DamagedAttempt):  # `knacka verify` names it
                recorded, attempt = read_attempt(row)
                if attempt.code == HELD_BACK:
                    by = history.person(recorded.actor)
                    one = ViewRefused(match=str(match), at=recorded.at, by=by, count=attempt.count)
                    found[match, recorded.actor] = one
    return tuple(sorted(found.values(), key=lambda one: one.at))[-LISTED_MAX:]


def _trial(compared: Compared) -> tuple[TrialLine, ...]:
    theirs, ours = ({(one.currency, one.account): one.amount for one in some} for some in compared.trial())
    return tuple(
        TrialLine(account=key[1], currency=key[0], books=theirs.get(key, 0), rows=ours.get(key, 0))
        for key in sorted({*theirs, *ours})
        if is_account(key[1])
    )


def _checked(findings: Findings, check: Any, say: Say) -> Checked:
    count, found = findings.counts[check], findings.told[check]
    seen = tuple(DifferenceSeen(**asdict(one), text=say(one)) for one in found)
    return Checked(check=check, ok=not count, count=count, differences=seen)
