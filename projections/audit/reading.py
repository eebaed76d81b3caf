"""The rows of a club and its matches in the order of the log, and what they come to in books of the audit's own.

Those lie in a database of their own, in a file that is gone when it is closed: what is kept in memory goes by the
number of matches and members, not of rows.
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
from projections.audit.settled import OF_MONEY, Reckoning, owed
from projections.audit.stakes import Agreements
from projections.follow.engine import Json
from projections.follow.page import Decode, Read, Row, topics
from projections.journal import Posting
from projections.ledger import Ledger
from projections.ledger.posting import Writing
from projections.ledger.tables import Keeping, Money
from projections.log import Log, leaves_of
from projections.refs import refs_in
from referee import wire_types
from referee.clubs.facts import BooksClosed, ClubFounded, Ref, account_of
from referee.events import MatchAbandoned, MatchClosed, MatchOpened, MatchWon
from referee.log.tree import FIRST, HASH_BYTES
from referee.officials.events.corrections import ProtocolCorrected
from referee.officials.events.takeback import ActTakenBack
from referee.value import EventNumber, Value
from referee.visibility import Recorded

ROWS = 2000
"""Rows that are read at a time."""
TOPICS_OF_MONEY = topics(*OF_MONEY)
UNREADABLE = (msgspec.MsgspecError, KeyError, ValueError, TypeError, AttributeError)

LEDGER, TREE = Ledger(), Log()
"""The audit's own."""
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
"""Each connection has a database of its own; statements are put together once for all."""

How = Callable[[MatchOpened], Reckoning | None]
"""How a match that was so opened is settled; ``None``: it is not for money."""
Redactions = Mapping[str, str | None]
"""By ref of an erased text the ref of the text that replaced it; ``None``: it was deleted."""


class TextFound(NamedTuple):
    """A name, number or text that there is."""

    whole: bool
    """Whether it is the text that was put, or the one that replaced it."""
    redacted: str | None
    """The ref of the text that replaced it; ``None``: none did."""


class Texts(Protocol):
    """The names, numbers and texts of the club."""

    def found(self, refs: Collection[str]) -> Mapping[str, TextFound]:
        """Return by ref those that there are."""

    def erased(self) -> Mapping[str, Redactions]:
        """Return by digest what each erasure of the club has deleted and replaced."""


Since = Callable[[int], Sequence[Row]]
"""The rows of the club that are stored by now after an event of it."""


class _Own:
    """The club or one of its matches: how far its rows have come."""

    __slots__ = ("closings", "club", "ended_by", "head", "how", "id", "opened", "version")

    def __init__(self, aggregate_id: UUID, opened: MatchOpened | None = None, how: Reckoning | None = None) -> None:
        self.id, self.club, self.how = aggregate_id, opened is None, how
        self.opened = None if opened is None or how is None else (opened.evening, opened.members)
        self.version, self.head, self.ended_by = 0, FIRST, 0
        self.closings: list[int] = []
        """Closings of the club between its opening and the entry of its result."""


class MatchWaiting(Value):
    """A match for money that is over, and that the books do not count before all members in it have agreed to the
    stakes."""

    match: wire_types.MatchId
    evening: wire_types.EveningNumber | None
    """The evening of the club on which it was opened; null: none."""
    event: EventNumber
    """The event that ended it."""
    members: wire_types.BySeat[wire_types.MemberNumber]
    """The members who have not agreed."""


LeftOut = Annotated[
    Literal["above_limit", "balance_too_large"],
    Meta(
        title="LeftOut",
        description="Why a result is not in the books. `above_limit`: it moves more than the club's `stake_limit` "
        "allowed when the match was opened. `balance_too_large`: a balance could not be kept exactly.",
    ),
]


class ResultLeftOut(Value):
    """A match whose result is not in the books because it is too large."""

    match: wire_types.MatchId
    event: EventNumber
    """The event that says the result."""
    why: LeftOut
    """Which limit the result exceeds."""


class AcrossClosings(NamedTuple):
    """A match for money with the closings between its opening and the entry of its result."""

    match: UUID
    evening: int | None
    closings: tuple[int, ...]
    event: int
    """The event that ended it."""
    entry: int | None
    """The entry of its result; ``None``: nothing is owed."""


class Rows:
    """What the rows up to a position come to."""

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
        """``names``: of members, by number."""
        self.club, self.findings, self.people, self.history = club, findings, People(findings), History(names)
        self.agreements = Agreements(self.history.person)
        self.ledger, self.tree = LEDGER, TREE
        self._decode, self._how, self._texts, self._since = decode, how, texts, since
        self.own: dict[UUID, _Own] = {club: _Own(club)}
        self._by_text: dict[Any, _Own] = {str(club): self.own[club], club.hex: self.own[club]}
        self._mark = str(club).encode()
        self._missing: dict[str, tuple[UUID, int]] = {}
        """Refs that have no text, and where they came first."""
        self._replaced: dict[str, tuple[UUID, int]] = {}
        """Refs whose text was replaced, likewise."""
        self.made = _ENGINE.connect()
        for metadata in (_scratch, LEDGER.metadata, TREE.metadata):
            metadata.create_all(self.made)
        self._stuck = False
        self._writing = Writing(self.ledger, self.made)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.made.close()

    @property
    def version(self) -> int:
        """How many events the club has."""
        return self.own[self.club].version

    @property
    def keeping(self) -> Keeping | None:
        """How far the books come by these rows; ``None`` where the club was never founded."""
        return self._writing.clubs.get(self.club)

    @property
    def money(self) -> Mapping[UUID, Money | None]:
        """Of each match what is entered of it."""
        return self._writing.matches

    def of(self, text: Any) -> UUID | None:
        """Whose rows go by this id, if it is the club or one of its matches."""
        own = self._by_text.get(text)
        return None if own is None else own.id

    def read(self, read: Read, to: int) -> None:
        """Reads the rows up to a position."""
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
            self._take(rows, leaves)
            at = rows[-1][0]
        self._flush()
        self._settle()
        self._compare_erasures()

    # Rows

    def _take(self, rows: Sequence[Row], leaves: bytes) -> None:
        refs: dict[str, tuple[UUID, int]] = {}
        scores: list[dict[str, Any]] = []
        own_by_text, decode, entered = self._by_text, self._decode, LEDGER.takes
        hashes = leaves.hex("\n", HASH_BYTES).split("\n")
        for row, head in zip(rows, hashes, strict=True):
            _, text, number, topic, state = row
            own = own_by_text.get(text)
            if own is None and (own := self._begun(row)) is None:
                continue
            prev, own.head = own.head, head
            if number != own.version + 1:
                self._say(own, number, "row_gap", stands=number, should=own.version + 1)
                number = number if isinstance(number, int) else own.version + 1
            own.version = number
            if type(state) is not bytes:
                self._say(own, number, "row_unreadable", stands=f"{topic}: {type(state).__name__}")
                continue
            try:
                recorded = decode(own.id, number, topic, state)
            except UNREADABLE as error:
                self._say(own, number, "row_unreadable", stands=f"{topic}: {error}")
                continue
            if recorded.prev != prev:
                self._say(own, number, "chain_broken", stands=recorded.prev, should=prev)
            if b"hmac:" in state:
                for ref in refs_in(recorded):
                    refs.setdefault(ref, (own.id, number))
            if topic in entered:
                self._enter(own, recorded)
            if own.opened is not None:
                self._agree(recorded, *own.opened)
            if own.how is not None and topic in TOPICS_OF_MONEY:
                scores.append({"match": own.id, "number": number, "topic": topic, "state": state})
            if own.club:
                self._take_of_club(own, recorded)
        if scores:
            self.made.execute(insert(_scores).prefix_with("OR REPLACE"), scores)
        self._look_up(refs)
        self._flush()

    def _take_of_club(self, own: _Own, recorded: Recorded) -> None:
        try:
            self.people.take(recorded, self._kind_of)
            self.history.take(recorded)
        except UNREADABLE as error:
            what = f"{recorded.event.TOPIC}: {error}"
            self._say(own, recorded.originator_version, "row_unreadable", stands=what)

    def _agree(self, recorded: Recorded, evening: int | None, members: tuple[int, ...]) -> None:
        with suppress(*UNREADABLE):  # as somebody wrote it; the entries show the difference
            self.agreements.take(recorded, evening, members)

    def _say(self, own: _Own, number: Any, code: str, **more: Any) -> None:
        """Something is wrong with the chain at an event."""
        event = number if isinstance(number, int) and number > 0 else None
        self.findings.say("chain", code, aggregate=str(own.id), event=event, **more)

    def _begun(self, row: Row) -> _Own | None:
        """A match of the club begins with this row."""
        _, text, _, topic, state = row
        if topic != MatchOpened.TOPIC or not isinstance(state, bytes) or self._mark not in state:
            return None
        try:
            match_id = UUID(text)
            opened = self._decode(match_id, 1, topic, state).event
        except UNREADABLE:
            return None  # a leaf that is another's
        if not isinstance(opened, MatchOpened) or opened.club != self.club or match_id in self.own:
            return None
        own = self.own[match_id] = self._by_text[text] = _Own(match_id, opened, self._how(opened))
        return own

    # Entries

    def _enter(self, own: _Own, recorded: Recorded) -> None:
        if isinstance(recorded.event, MatchOpened | ClubFounded) and recorded.originator_version != 1:
            return
        try:
            self._writing.take(recorded)
        except Exception as error:  # what somebody wrote into a row may be anything
            where = {"aggregate": str(own.id), "event": recorded.originator_version}
            self.findings.say("settlements", "not_entered", **where, stands=f"{type(error).__name__}: {error}")
        match recorded.event:
            case MatchWon() | MatchClosed() | MatchAbandoned():
                own.ended_by = recorded.originator_version
            case ProtocolCorrected(won=won):
                own.ended_by = 0 if won is None else recorded.originator_version
            case ActTakenBack() as taken if taken.undoes(own.ended_by):
                own.ended_by = 0
            case BooksClosed(closing=closing, through=through):
                self._close(closing, through)

    def _close(self, closing: int, through: int) -> None:
        """Note the closing with each match whose result it does not have."""
        for own in self.own.values():
            if own.opened is None:
                continue
            money = self.money.get(own.id)
            entry = None if money is None else money.entry
            waits = money is not None and money.waits
            if not own.ended_by or waits or (entry is not None and entry > through):
                own.closings.append(closing)

    def _flush(self) -> None:
        """Writes the entries that wait. Where they cannot be written nothing is entered any more: said once."""
        if self._stuck:
            return
        try:
            self._writing.flush()
        except (SQLAlchemyError, OverflowError) as error:  # an amount may be larger than any database holds
            self._stuck = True
            told = f"{type(error).__name__}: {error}"
            self.findings.say("settlements", "not_entered", aggregate=str(self.club), stands=told)

    def _kind_of(self, number: int) -> str | None:
        self._flush()
        entries = self.ledger.entries.c
        query = select(entries.kind).where(entries.club == self.club, entries.number == number)
        kind: str | None = self.made.scalar(query)
        return kind

    def owed(self, cause: str) -> tuple[Posting, ...] | None:
        """What a match comes to by the event that ended it, as it is to be entered; ``None``: that is not known."""
        query = select(_owed.c.postings).where(_owed.c.cause == cause)
        found: tuple[Posting, ...] | None = self.made.scalar(query)
        return found

    def open_matches(self) -> Iterator[tuple[UUID, int | None]]:
        """The matches for money that are not over, each with its evening."""
        for own in self.own.values():
            if own.opened is not None and not own.ended_by:
                yield own.id, own.opened[0]

    def across_closings(self) -> Iterator[AcrossClosings]:
        """Yield the matches for money that are over and were opened before a closing that does not have their
        result, in the order in which they were opened. Those that wait for agreement to their stakes are not among
        them."""
        for own in self.own.values():
            if own.opened is not None and own.ended_by and own.closings:
                money = self.money.get(own.id)
                if money is not None and money.waits:
                    continue
                entry = None if money is None else money.entry
                yield AcrossClosings(own.id, own.opened[0], tuple(own.closings), own.ended_by, entry)

    def waiting(self) -> Iterator[MatchWaiting]:
        """Yield the matches that are over and are not entered before all members have agreed to the stakes."""
        for own in self.own.values():
            money = self.money.get(own.id)
            if own.ended_by and money is not None and money.waits:
                members = tuple(money.members[seat] for seat in money.waiting_for)
                yield MatchWaiting(match=str(own.id), evening=money.evening, event=own.ended_by, members=members)

    def left_out(self) -> Iterator[ResultLeftOut]:
        """Yield each match whose result is not entered because it is too large, with the event that says it."""
        for match, money in self.money.items():
            if money is not None and money.club == self.club and money.beyond:
                why: LeftOut = "above_limit" if money.above_limit else "balance_too_large"
                yield ResultLeftOut(match=str(match), event=money.beyond, why=why)

    # Settlements

    def _settle(self) -> None:
        """What each match comes to, by the events that said so."""
        this = _scores.c
        query = select(_scores).order_by(this.match, this.number)
        rows = self.made.execute(query, execution_options={"yield_per": ROWS})
        found: list[dict[str, Any]] = []
        for match_id, group in groupby(rows, key=lambda row: row.match):
            own = self.own[match_id]
            assert own.how is not None, "it is for money"
            assert own.opened is not None, "it was opened"
            history = [self._decode(match_id, row.number, row.topic, row.state) for row in group]
            before: tuple[int, ...] = ()
            try:
                for one in owed(history, own.how, self.findings):
                    if one.amounts != before or not one.amounts:
                        before = one.amounts
                        postings = {account_of(who): -some for who, some in zip(own.opened[1], before, strict=False)}
                        postings["pot"] = sum(before)
                        row = tuple(
                            Posting(account=name, amount=some) for name, some in sorted(postings.items()) if some
                        )
                        found.append({"cause": f"{match_id}/{one.event}", "postings": row})
            except Exception as error:  # as above
                where = {"aggregate": str(match_id), "event": history[-1].originator_version}
                self.findings.say("derivations", "not_derived", **where, stands=f"{type(error).__name__}: {error}")
            if len(found) >= ROWS:
                self.made.execute(insert(_owed), found)
                found = []
        if found:
            self.made.execute(insert(_owed), found)

    # Names

    def _look_up(self, refs: Mapping[str, tuple[UUID, int]]) -> None:
        """Note which texts are missing or replaced, and report those that were exchanged."""
        new = {ref: place for ref, place in refs.items() if ref not in self._missing}
        if not new:
            return
        found = self._texts.found(new)
        for ref, place in new.items():
            if ref not in found:
                self._missing[ref] = place
            elif not found[ref].whole:
                self.findings.say("names", "text_exchanged", **_place(place), stands=ref)
            elif found[ref].redacted is not None:
                self._replaced[ref] = place

    def _compare_erasures(self) -> None:
        """Report what is missing, replaced or left otherwise than the erasures on record say: in rows that have been
        read, or that have come since."""
        before = set(self.people.erasures)
        if self._missing or self._replaced or before:
            for _, _, number, topic, state in self._since(self.version):
                with suppress(*UNREADABLE):
                    self.people.take_names(self._decode(self.club, number, topic, state))
        lists = self._texts.erased() if self.people.erasures else {}
        erased: dict[str, str | None] = {}
        under_way: set[str] = set()
        for digest, place in self.people.erasures.items():
            if digest not in lists:
                self.findings.say("names", "erasure_unknown", **_place(place), should=digest)
            erased.update(lists.get(digest, {}))
            under_way |= lists.get(digest, {}).keys() if digest not in before else set()
        whose = {ref: member for member, names in self.people.names.items() for ref in names}
        for ref, place in self._missing.items():
            if ref not in self.people.replaced and erased.get(ref, "") is not None:
                self.findings.say("names", "text_missing", **_place(place), member=whose.get(ref), should=ref)
        for ref, place in self._replaced.items():
            if ref not in erased:
                self.findings.say("names", "text_replaced", **_place(place), stands=ref)
        for ref, found in self._texts.found(erased.keys() - under_way).items():
            if found.redacted is None or found.redacted != erased[ref]:
                if ref in whose:
                    self.findings.say("names", "name_left", member=whose[ref], stands=ref)
                else:
                    self.findings.say("names", "text_left", stands=ref)


def _place(place: tuple[UUID, int]) -> dict[str, Any]:
    """Return the fields of a difference that say where it is."""
    return {"aggregate": str(place[0]), "event": place[1]}
