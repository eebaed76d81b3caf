"""The audit of a club's books, and its schemas."""

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Annotated, Any
from uuid import UUID

from msgspec.structs import asdict

from api.money.ledger_access import Day
from api.personal_data.erasures import Redactions, changes_by_digest
from api.personal_data.names import Names
from api.runtime.projections import Projections, decode_row
from projections.audit.books import Comparison, entries_of_club
from projections.audit.findings import CHECKS, DIFFERENCES_MAX, Check, Difference, Findings, is_account
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
from projections.audit.settled import SettlingRules
from projections.audit.stakes import StakesAnswered
from projections.audit.tree import Checkpoint, compare
from projections.follow.page import Row
from projections.journal import Author, author_of
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
    """An account's balance. A debit is above zero."""

    account: Account
    currency: wire_types.Currency
    books: wire_types.Money
    """Minor units in the books."""
    rows: wire_types.Money
    """Minor units calculated from the rows."""


class DifferenceSeen(Difference):
    """A difference, with a sentence."""

    text: wire_types.Sentence = ""
    """Sentence in the language of the answer."""


class Checked(Value):
    """The result of a check."""

    check: Check
    """Name of the check."""
    ok: bool
    """True: the check found no difference."""
    count: wire_types.Lag
    """Number of differences."""
    differences: Annotated[tuple[DifferenceSeen, ...], wire_types.at_most(DIFFERENCES_MAX)]
    """First 100 differences."""


class MatchUnderWay(Value):
    """An unfinished match for money."""

    match: wire_types.MatchId
    evening: wire_types.EveningNumber | None


class MatchAcrossClosings(Value):
    """A finished match for money, opened before closings that lack its result."""

    match: wire_types.MatchId
    evening: wire_types.EveningNumber | None
    closings: Annotated[tuple[wire_types.ClosingNumber, ...], wire_types.at_most(LISTED_MAX)]
    """Numbers of these closings; at most the last 1000."""
    event: EventNumber
    """Number of the event that ended the match."""
    entry: wire_types.EntryNumber | None
    """Number of the entry for the result; null: the result has none."""


class Reversal(Value):
    """An entry that reverses an earlier entry."""

    number: wire_types.EntryNumber
    """Number of the entry."""
    reverses: wire_types.EntryNumber | None
    date: Day
    by: Author
    """Actor whose command, correction or take-back made the entry."""


class ViewRefused(Value):
    """A caller's refused requests for the officials' view of a match. A player of the match held or gave
    their key or token."""

    match: wire_types.MatchId
    at: Time
    """Time of the last recorded request."""
    by: Person
    """Caller who sent the requests."""
    count: wire_types.Lag
    """Recorded number of requests; there may have been more."""


class KeyAudited(KeyHeld):
    """A key, with its changes."""

    name: Ref | None = None
    """Name of the holder; null: a program's key."""
    changes: wire_types.Many[KeyChange] = ()
    """Changes, in order."""


class Audit(Value):
    """The audit of a club's books. A list with a limit of 1000 has the last items. Only `open_matches`, `waiting` and
    `left_out` have the first items."""

    club: wire_types.Name
    """Name of the club."""
    entry: wire_types.EntryCount
    """Number of the last entry that follows from the rows."""
    version: EventNumber
    """Number of the club's last audited event."""
    signed: wire_types.Lag
    """Number of rows in the last checkpoint; 0: no checkpoint exists."""
    ok: bool
    """True: no check found a difference."""
    checks: Annotated[tuple[Checked, ...], wire_types.at_most(len(CHECKS))]
    """All checks."""
    trial: Annotated[tuple[TrialLine, ...], wire_types.at_most(TRIAL_MAX)]
    """Trial balance. In each currency each column should add up to 0."""
    open_matches: Annotated[tuple[MatchUnderWay, ...], wire_types.at_most(LISTED_MAX)]
    """Unfinished matches for money."""
    across_closings: Annotated[tuple[MatchAcrossClosings, ...], wire_types.at_most(LISTED_MAX)]
    """Matches for money across closings."""
    proposals: Annotated[tuple[Waiting, ...], wire_types.at_most(PROPOSALS_MAX)]
    """Acts that wait for a confirmation."""
    reversals: Annotated[tuple[Reversal, ...], wire_types.at_most(LISTED_MAX)]
    """Entries that reverse earlier ones."""
    keys: Annotated[tuple[KeyAudited, ...], wire_types.at_most(wire_types.MEMBERS_MAX)]
    """Keys, including expired and revoked ones."""
    settings: Annotated[tuple[SettingChange, ...], wire_types.at_most(LISTED_MAX)]
    """Changes of settings."""
    payees: Annotated[tuple[PayeeChange, ...], wire_types.at_most(LISTED_MAX)]
    """Changes of payment numbers."""
    erasures: Annotated[tuple[Erasure, ...], wire_types.at_most(LISTED_MAX)]
    """Erasures of former members."""
    closings: Annotated[tuple[BooksClosing, ...], wire_types.at_most(LISTED_MAX)]
    """Closings of the books."""
    alone: Annotated[tuple[LoneAct, ...], wire_types.at_most(LISTED_MAX)]
    """Acts meant for two persons that one person did alone."""
    related: Annotated[tuple[ActOfTwo, ...], wire_types.at_most(LISTED_MAX)]
    """Acts by two persons related by invitations."""
    stakes: Annotated[tuple[StakesAnswered, ...], wire_types.at_most(LISTED_MAX)]
    """Answers to stakes for other members, or by invited members."""
    waiting: Annotated[tuple[MatchWaiting, ...], wire_types.at_most(LISTED_MAX)]
    """Finished matches for money whose stakes wait for agreement."""
    attempts: Annotated[tuple[ViewRefused, ...], wire_types.at_most(LISTED_MAX)]
    """Refused requests for the officials' view."""
    left_out: Annotated[tuple[ResultLeftOut, ...], wire_types.at_most(LISTED_MAX)]
    """Results that are too large for the books."""
    closed_through: wire_types.EntryCount
    """Number of the last closed entry; 0: none."""
    after_closing: wire_types.EntryCount
    """Number of entries after the last closed one."""


Describe = Callable[[Difference], str]


def settlement_basis(opened: MatchOpened) -> SettlingRules | None:
    """Return the rules by which a match is settled; ``None`` without stakes, for an unknown ruleset, or if
    ruleset or options exclude money."""
    rules = RULESETS.get(opened.ruleset)
    basis = None if rules is None or opened.stakes is None else rules.basis(opened.options)
    return None if rules is None or basis is None else SettlingRules(basis, rules.has_pot)


class TextsOfClub:
    def __init__(self, names: Names, club: UUID) -> None:
        self._names, self._club = names, club

    def stored_texts(self, refs: Collection[str]) -> Mapping[str, TextFound]:
        """Return, by ref, whether the stored text is intact, and the ref of its replacement, if any."""
        found = self._names.read_checked(self._club, refs)
        return {ref: TextFound(kept is not None, kept.redacted if kept else None) for ref, kept in found.items()}

    def redactions(self) -> Mapping[str, Redactions]:
        """Return, by digest, the changes of each erasure. Omit those with a wrong digest."""
        with self._names.reader.connect() as connection:
            return changes_by_digest(connection, self._club)


def audit_books(
    projections: Projections,
    names: Names,
    club: UUID,
    to: int,
    signed: Checkpoint | None,
    describe: Describe,
    members: Mapping[int, Ref],
) -> Audit:
    """Return the audit of the rows up to position ``to``. The caller ensures that the books have reached it.

    ``signed``: the last checkpoint. ``members``: refs of names, by member number.
    """
    findings = Findings()

    def since(version: int) -> Sequence[Row]:
        return projections.rows(club, after=version, limit=VERSION_MAX).rows

    with Rows(club, decode_row, settlement_basis, TextsOfClub(names, club), since, findings, members) as rows:
        rows.read(projections.log_after, to)
        last, trial = _compare_books(projections, rows, to, signed, findings)
        keeping, history = rows.keeping, rows.history
        return Audit(
            club=rows.people.name or str(club),
            entry=last,
            version=rows.version,
            signed=0 if signed is None else signed.size,
            ok=not any(findings.counts.values()),
            checks=tuple(_check_result(findings, check, describe) for check in CHECKS),
            trial=trial,
            open_matches=tuple(
                MatchUnderWay(match=str(match), evening=evening)
                for match, evening in islice(rows.open_matches(), LISTED_MAX)
            ),
            across_closings=_across_closings(rows),
            proposals=tuple(rows.people.proposals.values()),
            reversals=_reversals(rows, club),
            keys=_audited_keys(rows, members),
            settings=tuple(history.settings),
            payees=tuple(history.payees),
            erasures=tuple(history.erasures),
            closings=tuple(history.closings),
            alone=tuple(history.alone),
            related=tuple(history.related),
            stakes=tuple(rows.agreements.listed),
            waiting=tuple(islice(rows.waiting_matches(), LISTED_MAX)),
            attempts=_refused_views(projections, club, history),
            left_out=tuple(islice(rows.results_left_out(), LISTED_MAX)),
            closed_through=0 if keeping is None else keeping.through,
            after_closing=0 if keeping is None else max(0, last - keeping.through),
        )


def _compare_books(
    projections: Projections, rows: Rows, to: int, signed: Checkpoint | None, findings: Findings
) -> tuple[int, tuple[TrialLine, ...]]:
    """Compare the ledger and the log's tree with the rows, and add the differences to ``findings``.

    Return the number of the last entry by the rows, and the trial balance.
    """

    def event_at(position: int) -> tuple[UUID, int] | None:
        for _, aggregate, number, _, _ in projections.log_after(position - 1, 1).rows:
            own = rows.own_id(aggregate)
            return None if own is None else (own, number)
        return None

    def position_of(aggregate: UUID, number: int) -> int | None:
        found = projections.rows(aggregate, after=number - 1, limit=1).rows
        return next((row[0] for row in found if row[2] == number), None)

    with projections.engine.connect() as kept:
        compared = Comparison(rows, kept, projections.ledger, position_of, to, findings)
        compared.compare()
        compare(rows, kept, projections.tree, to, signed, event_at, findings)
        return compared.last, _trial_lines(compared)


def _across_closings(rows: Rows) -> tuple[MatchAcrossClosings, ...]:
    return tuple(
        MatchAcrossClosings(
            match=str(one.match),
            evening=one.evening,
            closings=one.closings[-LISTED_MAX:],
            event=one.event,
            entry=one.entry,
        )
        for one in deque(rows.across_closings(), maxlen=LISTED_MAX)
    )


def _reversals(rows: Rows, club: UUID) -> tuple[Reversal, ...]:
    entries = entries_of_club(rows.made, rows.ledger, club)
    found = deque((one for one in entries if one.kind == "reverse"), maxlen=LISTED_MAX)
    return tuple(
        Reversal(
            number=one.number,
            reverses=one.reverses,
            date=one.date.isoformat(),
            by=author_of(one.by, one.cause, club, lambda actor: rows.history.person(actor).member),
        )
        for one in found
    )


def _audited_keys(rows: Rows, members: Mapping[int, Ref]) -> tuple[KeyAudited, ...]:
    return tuple(
        KeyAudited(
            **asdict(key),
            name=None if key.member is None else members.get(key.member),
            changes=tuple(rows.history.keys.get(key.key, ())),
        )
        for key in rows.people.keys.values()
    )


def _refused_views(projections: Projections, club: UUID, history: History) -> tuple[ViewRefused, ...]:
    """Return the last 1000 :class:`ViewRefused` in order of time, one for each match and actor."""
    with projections.engine.connect() as connection:
        sight = Sight(club=club, whole_club=True)
        matches = connection.scalars(projections.matches.of_club(club, sight)).all()
    found: dict[tuple[UUID, Actor], ViewRefused] = {}
    for match in matches:
        for row in projections.attempts(match):
            with suppress(DamagedAttempt):  # they are skipped, because `knacka verify` reports them
                recorded, attempt = read_attempt(row)
                if attempt.code == HELD_BACK:
                    by = history.person(recorded.actor)
                    one = ViewRefused(match=str(match), at=recorded.at, by=by, count=attempt.count)
                    found[match, recorded.actor] = one
    return tuple(sorted(found.values(), key=lambda one: one.at))[-LISTED_MAX:]


def _trial_lines(compared: Comparison) -> tuple[TrialLine, ...]:
    """Return the trial balance, without malformed account names."""
    theirs, ours = ({(one.currency, one.account): one.amount for one in some} for some in compared.trial_balances())
    return tuple(
        TrialLine(account=key[1], currency=key[0], books=theirs.get(key, 0), rows=ours.get(key, 0))
        for key in sorted({*theirs, *ours})
        if is_account(key[1])
    )


def _check_result(findings: Findings, check: Any, describe: Describe) -> Checked:
    count, found = findings.counts[check], findings.shown[check]
    seen = tuple(DifferenceSeen(**asdict(one), text=describe(one)) for one in found)
    return Checked(check=check, ok=not count, count=count, differences=seen)
