"""Reads a club's rows for the audit, and enters them into a separate ledger.

The ledger is a temporary file, so memory does not grow with the rows.
"""

import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Annotated, Any, Literal, NamedTuple, Protocol, Self
from uuid import UUID

import msgspec
from msgspec import Meta
from sqlalchemy import (
    Column,
    Integer,
    LargeBinary,
    MetaData,
    NullPool,
    Table,
    Text,
    Uuid,
    create_engine,
    insert,
    select,
)
from sqlalchemy.exc import SQLAlchemyError

from projections.audit.findings import Findings
from projections.audit.history import History
from projections.audit.persons import People
from projections.audit.settled import OF_MONEY, SettlingRules, amounts_after_results
from projections.audit.stakes import Agreements
from projections.follow.engine import Json
from projections.follow.page import Decode, Read, Row, topics
from projections.journal import Posting
from projections.ledger import Ledger
from projections.ledger.posting import PageWriter
from projections.ledger.tables import Keeping, Money
from projections.log import Log, leaves_of
from projections.refs import refs_in
from referee import wire_types
from referee.clubs.facts import BooksClosed, ClubFounded, Ref, account_of
from referee.events import MatchAbandoned, MatchClosed, MatchOpened, MatchWon
from referee.log.tree import HASH_BEFORE_FIRST, HASH_BYTES
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.takeback import ActTakenBack
from referee.value import EventNumber, Value
from referee.visibility import Recorded

ROWS = 2000
TOPICS_OF_MONEY = topics(*OF_MONEY)
UNREADABLE = (msgspec.MsgspecError, KeyError, ValueError, TypeError, AttributeError)

LEDGER, TREE = Ledger(), Log()
_scratch = MetaData()
_scores = Table(
    "audit_scores",
    _scratch,
    Column("match", Uuid, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("topic", Text, nullable=False),
    Column("state", LargeBinary, nullable=False),
)
_owed = Table(
    "audit_owed",
    _scratch,
    Column("cause", Text, primary_key=True),
    Column("postings", Json(tuple[Posting, ...]), nullable=False),
)
_ENGINE = create_engine("sqlite://", creator=lambda: sqlite3.connect("", check_same_thread=False), poolclass=NullPool)
"""Engine whose connections have a temporary database each, but share compiled statements."""

How = Callable[[MatchOpened], SettlingRules | None]
"""Function that returns a match's rules of settlement; ``None`` if it is not settled."""
Redactions = Mapping[str, str | None]
"""References of replacements, by reference of the erased text; ``None``: deleted."""


class TextFound(NamedTuple):
    """A stored name, number or text."""

    whole: bool
    """True if the text fits its reference, or is a replacement."""
    redacted: str | None
    """Reference of the replacement; ``None``: not replaced."""


class Texts(Protocol):
    """The names, numbers and texts of the club."""

    def stored_texts(self, refs: Collection[str]) -> Mapping[str, TextFound]:
        """Return the stored texts among ``refs``, by reference."""

    def redactions(self) -> Mapping[str, Redactions]:
        """Return each erasure's deleted and replaced texts, by its digest."""


Since = Callable[[int], Sequence[Row]]
"""Function that returns the club's rows after an event number."""


class _Own:
    """The club or one of its matches, after the rows read so far."""

    __slots__ = ("closings", "club", "ended_by", "head", "how", "id", "opened", "version")

    def __init__(
        self, aggregate_id: UUID, opened: MatchOpened | None = None, how: SettlingRules | None = None
    ) -> None:
        self.id, self.club, self.how = aggregate_id, opened is None, how
        self.opened = None if opened is None or how is None else (opened.evening, opened.members)
        self.version, self.head, self.ended_by = 0, HASH_BEFORE_FIRST, 0
        self.closings: list[int] = []
        """Closings between the opening and the result's entry."""


class MatchWaiting(Value):
    """A finished match for money that the books do not count until all its members have agreed to the stakes."""

    match: wire_types.MatchId
    evening: wire_types.EveningNumber | None
    """Evening on which the match was opened; null: no evening."""
    event: EventNumber
    """Number of the event with the result."""
    members: wire_types.BySeat[wire_types.MemberNumber]
    """Members who have not agreed to the stakes."""


LeftOut = Annotated[
    Literal["above_limit", "balance_too_large"],
    Meta(
        title="LeftOut",
        description="The reason why a result is not in the books. `above_limit`: it moves more than the club's "
        "`stake_limit` allowed when the match was opened. `balance_too_large`: a balance could not be kept exactly.",
    ),
]


class ResultLeftOut(Value):
    """A match whose result is not in the books because it is too large."""

    match: wire_types.MatchId
    event: EventNumber
    """Number of the event with the result."""
    why: LeftOut
    """Limit that is exceeded."""


class AcrossClosings(NamedTuple):
    """A match for money, and the closings between its opening and its result's entry."""

    match: UUID
    evening: int | None
    closings: tuple[int, ...]
    event: int
    """Number of the event with the result."""
    entry: int | None
    """Number of the result's entry; ``None``: it has none."""


class Rows:
    """The audit's ledger, tree and lists, made from the rows."""

    def __init__(
        self,
        club: UUID,
        decode: Decode,
        how: How,
        texts: Texts,
        since: Since,
        findings: Findings,
        names: Mapping[int, Ref],
    ) -> None:
        """``names``: references of names, by member."""
        self.club, self.findings, self.people, self.history = club, findings, People(findings), History(names)
        self.agreements = Agreements(self.history.person)
        self.ledger, self.tree = LEDGER, TREE
        self._decode, self._how, self._texts, self._since = decode, how, texts, since
        self.own: dict[UUID, _Own] = {club: _Own(club)}
        self._by_text: dict[Any, _Own] = {str(club): self.own[club], club.hex: self.own[club]}
        self._mark = str(club).encode()
        self._missing: dict[str, tuple[UUID, int]] = {}
        """References without a text, and their first events."""
        self._replaced: dict[str, tuple[UUID, int]] = {}
        """References of replaced texts, and their first events."""
        self.made = _ENGINE.connect()
        for metadata in (_scratch, LEDGER.metadata, TREE.metadata):
            metadata.create_all(self.made)
        self._stuck = False
        self._writing = PageWriter(self.ledger, self.made)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.made.close()

    @property
    def version(self) -> int:
        """Number of the club's last event."""
        return self.own[self.club].version

    @property
    def keeping(self) -> Keeping | None:
        """State of the books; ``None`` before the club's founding."""
        return self._writing.clubs.get(self.club)

    @property
    def money(self) -> Mapping[UUID, Money | None]:
        return self._writing.matches

    def own_id(self, text: Any) -> UUID | None:
        """Return the id in this text; ``None`` unless of the club or its matches."""
        own = self._by_text.get(text)
        return None if own is None else own.id

    def read(self, read: Read, to: int) -> None:
        """Read and check the rows up to position ``to``."""
        at = 0
        while at < to:
            page = read(at, ROWS)
            rows = page.rows
            if page and page.position > to:
                rows = [row for row in rows if row[0] <= to]
            if not rows:
                break
            leaves = leaves_of(rows)
            self.tree.grow(self.made, self.tree.edge(self.made), rows, leaves)
            self._apply_rows(rows, leaves)
            at = rows[-1][0]
        self._flush()
        self._calculate_owed()
        self._compare_erasures()

    def _apply_rows(self, rows: Sequence[Row], leaves: bytes) -> None:
        refs: dict[str, tuple[UUID, int]] = {}
        scores: list[dict[str, Any]] = []
        own_by_text, entered = self._by_text, LEDGER.takes
        hashes = leaves.hex("\n", HASH_BYTES).split("\n")
        for row, head in zip(rows, hashes, strict=True):
            _, text, _, topic, state = row
            own = own_by_text.get(text)
            if own is None and (own := self._opened_by(row)) is None:
                continue
            recorded = self._continue_chain(own, row, head)
            if recorded is None:
                continue
            if b"hmac:" in state:
                for ref in refs_in(recorded):
                    refs.setdefault(ref, (own.id, own.version))
            if topic in entered:
                self._enter_event(own, recorded)
            if own.opened is not None:
                with suppress(*UNREADABLE):  # because the comparison of entries shows a damaged row
                    self.agreements.add_event(recorded, *own.opened)
            if own.how is not None and topic in TOPICS_OF_MONEY:
                scores.append({"match": own.id, "number": own.version, "topic": topic, "state": state})
            if own.club:
                self._apply_club_event(own, recorded)
        if scores:
            self.made.execute(insert(_scores).prefix_with("OR REPLACE"), scores)
        self._look_up_texts(refs)
        self._flush()

    def _continue_chain(self, own: _Own, row: Row, head: str) -> Recorded | None:
        """Report a row that is unreadable or breaks the chain. Return its event; ``None`` if unreadable.

        ``head``: hash of the row, in hex.
        """
        _, _, number, topic, state = row
        prev, own.head = own.head, head
        if number != own.version + 1:
            self._report(own, number, "row_gap", stands=number, should=own.version + 1)
            number = number if isinstance(number, int) else own.version + 1
        own.version = number
        if type(state) is not bytes:
            self._report(own, number, "row_unreadable", stands=f"{topic}: {type(state).__name__}")
            return None
        try:
            recorded = self._decode(own.id, number, topic, state)
        except UNREADABLE as error:
            self._report(own, number, "row_unreadable", stands=f"{topic}: {error}")
            return None
        if recorded.prev != prev:
            self._report(own, number, "chain_broken", stands=recorded.prev, should=prev)
        return recorded

    def _apply_club_event(self, own: _Own, recorded: Recorded) -> None:
        try:
            self.people.add_event(recorded, self._entry_kind)
            self.history.add_event(recorded)
        except UNREADABLE as error:
            what = f"{recorded.event.TOPIC}: {error}"
            self._report(own, recorded.originator_version, "row_unreadable", stands=what)

    def _report(self, own: _Own, number: Any, code: str, **more: Any) -> None:
        event = number if isinstance(number, int) and number > 0 else None
        self.findings.add("chain", code, aggregate=str(own.id), event=event, **more)

    def _opened_by(self, row: Row) -> _Own | None:
        """Add and return the match of the club that this row opens, if any."""
        _, text, _, topic, state = row
        if topic != MatchOpened.TOPIC or not isinstance(state, bytes) or self._mark not in state:
            return None
        try:
            match_id = UUID(text)
            opened = self._decode(match_id, 1, topic, state).event
        except UNREADABLE:
            return None  # because its club is unknown
        if not isinstance(opened, MatchOpened) or opened.club != self.club or match_id in self.own:
            return None
        own = self.own[match_id] = self._by_text[text] = _Own(match_id, opened, self._how(opened))
        return own

    def _enter_event(self, own: _Own, recorded: Recorded) -> None:
        """Enter an event in the ledger, or report the error. Note ends and closings."""
        if isinstance(recorded.event, MatchOpened | ClubFounded) and recorded.originator_version != 1:
            return
        try:
            self._writing.add_event(recorded)
        except Exception as error:  # a damaged row may have any value
            where = {"aggregate": str(own.id), "event": recorded.originator_version}
            self.findings.add("settlements", "not_entered", **where, stands=f"{type(error).__name__}: {error}")
        match recorded.event:
            case MatchWon() | MatchClosed() | MatchAbandoned():
                own.ended_by = recorded.originator_version
            case ProtocolCorrected(won=won):
                own.ended_by = 0 if won is None else recorded.originator_version
            case ActTakenBack() as taken if taken.undoes(own.ended_by):
                own.ended_by = 0
            case BooksClosed(closing=closing, through=through):
                self._note_closing(closing, through)

    def _note_closing(self, closing: int, through: int) -> None:
        """Note a closing of the entries up to ``through`` in each match whose result it lacks."""
        for own in self.own.values():
            if own.opened is None:
                continue
            money = self.money.get(own.id)
            entry = None if money is None else money.entry
            waits = money is not None and money.waits
            if not own.ended_by or waits or (entry is not None and entry > through):
                own.closings.append(closing)

    def _flush(self) -> None:
        """Write the collected entries. After a failure, report it and write no more."""
        if self._stuck:
            return
        try:
            self._writing.flush()
        except (SQLAlchemyError, OverflowError) as error:  # an amount may be larger than the column
            self._stuck = True
            error_text = f"{type(error).__name__}: {error}"
            self.findings.add("settlements", "not_entered", aggregate=str(self.club), stands=error_text)

    def _entry_kind(self, number: int) -> str | None:
        self._flush()
        entries = self.ledger.entries.c
        query = select(entries.kind).where(entries.club == self.club, entries.number == number)
        kind: str | None = self.made.scalar(query)
        return kind

    def postings_owed(self, cause: str) -> tuple[Posting, ...] | None:
        """Return the postings of the result of ``cause`` (``match/event``); ``None`` if unknown."""
        query = select(_owed.c.postings).where(_owed.c.cause == cause)
        found: tuple[Posting, ...] | None = self.made.scalar(query)
        return found

    def open_matches(self) -> Iterator[tuple[UUID, int | None]]:
        """Yield the id and evening of each match for money that is not over."""
        for own in self.own.values():
            if own.opened is not None and not own.ended_by:
                yield own.id, own.opened[0]

    def across_closings(self) -> Iterator[AcrossClosings]:
        """Yield the finished matches with closings before their result, except :meth:`waiting_matches`."""
        for own in self.own.values():
            if own.opened is not None and own.ended_by and own.closings:
                money = self.money.get(own.id)
                if money is not None and money.waits:
                    continue
                entry = None if money is None else money.entry
                yield AcrossClosings(own.id, own.opened[0], tuple(own.closings), own.ended_by, entry)

    def waiting_matches(self) -> Iterator[MatchWaiting]:
        """Yield the finished matches whose members must agree to the stakes."""
        for own in self.own.values():
            money = self.money.get(own.id)
            if own.ended_by and money is not None and money.waits:
                members = tuple(money.members[seat] for seat in money.waiting_for)
                yield MatchWaiting(match=str(own.id), evening=money.evening, event=own.ended_by, members=members)

    def results_left_out(self) -> Iterator[ResultLeftOut]:
        for match, money in self.money.items():
            if money is not None and money.club == self.club and money.beyond:
                why: LeftOut = "above_limit" if money.above_limit else "balance_too_large"
                yield ResultLeftOut(match=str(match), event=money.beyond, why=why)

    def _calculate_owed(self) -> None:
        """Store results' postings, and report wrong results."""
        this = _scores.c
        query = select(_scores).order_by(this.match, this.number)
        rows = self.made.execute(query, execution_options={"yield_per": ROWS})
        found: list[dict[str, Any]] = []
        for match_id, group in groupby(rows, key=lambda row: row.match):
            own = self.own[match_id]
            assert own.how is not None, "only matches for money have scores"
            assert own.opened is not None, "it was opened"
            history = [self._decode(match_id, row.number, row.topic, row.state) for row in group]
            before: tuple[int, ...] = ()
            try:
                for one in amounts_after_results(history, own.how, self.findings):
                    if one.amounts != before or not one.amounts:
                        before = one.amounts
                        postings = {account_of(who): -some for who, some in zip(own.opened[1], before, strict=False)}
                        postings["pot"] = sum(before)
                        row = tuple(
                            Posting(account=name, amount=some) for name, some in sorted(postings.items()) if some
                        )
                        found.append({"cause": f"{match_id}/{one.event}", "postings": row})
            except Exception as error:  # a damaged row may have any value
                where = {"aggregate": str(match_id), "event": history[-1].originator_version}
                self.findings.add("derivations", "not_derived", **where, stands=f"{type(error).__name__}: {error}")
            if len(found) >= ROWS:
                self.made.execute(insert(_owed), found)
                found = []
        if found:
            self.made.execute(insert(_owed), found)

    def _look_up_texts(self, refs: Mapping[str, tuple[UUID, int]]) -> None:
        """Note missing and replaced texts, and report wrong ones."""
        new = {ref: place for ref, place in refs.items() if ref not in self._missing}
        if not new:
            return
        found = self._texts.stored_texts(new)
        for ref, place in new.items():
            if ref not in found:
                self._missing[ref] = place
            elif not found[ref].whole:
                self.findings.add("names", "text_exchanged", **_event_fields(place), stands=ref)
            elif found[ref].redacted is not None:
                self._replaced[ref] = place

    def _compare_erasures(self) -> None:
        """Report texts missing or replaced without an erasure, remaining erased texts, and unknown erasures.

        Erasures after the rows count too, because the texts are read now.
        """
        before = set(self.people.erasures)
        if self._missing or self._replaced or before:
            for _, _, number, topic, state in self._since(self.version):
                with suppress(*UNREADABLE):
                    self.people.take_names(self._decode(self.club, number, topic, state))
        lists = self._texts.redactions() if self.people.erasures else {}
        erased: dict[str, str | None] = {}
        not_yet_read: set[str] = set()
        for digest, place in self.people.erasures.items():
            if digest not in lists:
                self.findings.add("names", "erasure_unknown", **_event_fields(place), should=digest)
            erased.update(lists.get(digest, {}))
            not_yet_read |= lists.get(digest, {}).keys() if digest not in before else set()
        whose = {ref: member for member, names in self.people.names.items() for ref in names}
        for ref, place in self._missing.items():
            if ref not in self.people.replaced and erased.get(ref, "") is not None:
                self.findings.add("names", "text_missing", **_event_fields(place), member=whose.get(ref), should=ref)
        for ref, place in self._replaced.items():
            if ref not in erased:
                self.findings.add("names", "text_replaced", **_event_fields(place), stands=ref)
        for ref, found in self._texts.stored_texts(erased.keys() - not_yet_read).items():
            if found.redacted is None or found.redacted != erased[ref]:
                if ref in whose:
                    self.findings.add("names", "name_left", member=whose[ref], stands=ref)
                else:
                    self.findings.add("names", "text_left", stands=ref)


def _event_fields(place: tuple[UUID, int]) -> dict[str, Any]:
    return {"aggregate": str(place[0]), "event": place[1]}
