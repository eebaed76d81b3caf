"""Plans and carries out erasures of members.

A plan's changes are stored beside the texts. Then the event ``member/erased`` records their digest, and the texts are
deleted or replaced. After a crash :meth:`Erasures.carry_out` completes a recorded plan, and deletes outdated plans.
So no erasure changes a text without an event.
"""

import logging
import secrets
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
from msgspec.structs import asdict
from sqlalchemy import Connection, bindparam, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from api.personal_data.names import ERASED, SALT_BYTES, TABLE, Names, Origin, batches, is_intact, note_due, ref_of
from api.personal_data.redaction import Redactor, fold
from referee.actors import Actor
from referee.clubs.commands import Erase, EraseSent
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.clock import utc_now
from referee.store.club import Club
from referee.store.match import Match
from referee.store.store import Referee, UnknownAggregate

log = logging.getLogger(__name__)

Redactions = Mapping[str, str | None]
"""Ref of the new text (``None``: deleted), by the ref of the original."""


class Change(NamedTuple):
    """A name, number or text that an erasure deletes, or a text that it replaces."""

    ref: str
    origin: Origin
    at: datetime
    before: str
    after: str | None = None
    """New text; ``None``: the text is deleted."""
    places: int = 0
    """Number of replaced names and numbers."""
    salt: bytes = b""
    """Salt of ``after``."""

    @property
    def match(self) -> UUID | None:
        return self.origin.match

    @property
    def redacted(self) -> str | None:
        """Ref of ``after``."""
        return None if self.after is None else ref_of(self.salt, self.after, self.origin)


class Plan(NamedTuple):
    """All changes of an erasure, planned at a version of the club."""

    club: UUID
    member: int
    version: int
    changes: tuple[Change, ...]

    @property
    def digest(self) -> str:
        return digest_of(self.club, self.member, {one.ref: one.redacted for one in self.changes})

    @property
    def texts(self) -> tuple[Change, ...]:
        """Changes of texts that members wrote, by time."""
        texts = (one for one in self.changes if one.origin.kind == "text")
        return tuple(sorted(texts, key=lambda one: (one.at, one.ref)))

    @property
    def deleted_count(self) -> int:
        """Number of deleted :attr:`texts`."""
        return sum(one.after is None for one in self.texts)

    @property
    def changed_count(self) -> int:
        return len(self.texts) - self.deleted_count


def digest_of(club: UUID, member: int, changes: Redactions) -> str:
    return sha256(msgspec.json.encode([club.hex, member, sorted(changes.items())])).hexdigest()


def combined_changes(erasures: Sequence[str], lists: Mapping[str, Redactions]) -> dict[str, str | None]:
    """Return the changes of these erasures; a later one overrides. ``lists``: known changes, by digest."""
    found: dict[str, str | None] = {}
    for erasure in erasures:
        found.update(lists.get(erasure, {}))
    return found


def changes_by_digest(connection: Connection, club: UUID) -> dict[str, Redactions]:
    """Return, by digest, the changes of a club's planned and recorded erasures. Omit those with a wrong digest."""
    this = ERASED.c
    query = select(this.erasure, this.member, this.ref, this.redacted).where(this.club == club)
    found: dict[tuple[str, int], dict[str, str | None]] = {}
    for row in connection.execute(query.order_by(this.erasure, this.ref)):
        found.setdefault((row.erasure, row.member), {})[row.ref] = row.redacted
    return {erasure: one for (erasure, member), one in found.items() if digest_of(club, member, one) == erasure}


def prepare_erasure(
    erasures: "Erasures", referee: Referee, club: Club, actor: Actor, sent: EraseSent, basis: Mapping[str, Any]
) -> tuple[Erase, Plan]:
    """Carry out recorded erasures. Return the request for an erasure, and its plan, which is not stored yet.

    ``basis``: fields of the request from ledger and matches. Raises ``Refused`` if the club refuses the erasure.
    """
    sends = asdict(sent) | dict(basis)
    try:
        _raise_if_refused(club, actor, Erase(**sends, texts=digest_of(club.id, sent.member, {})))
    except Refused as refused:
        if refused.code != "member_erased":
            raise
    plan = erasures.plan(referee, club, sent.member)
    request = Erase(**sends, deleted=plan.deleted_count, changed=plan.changed_count, texts=plan.digest)
    _raise_if_refused(club, actor, request)
    return request, plan


def _raise_if_refused(club: Club, actor: Actor, request: Erase) -> None:
    club.procedure.take(club.state, request, Moment(club.version, utc_now(), "", actor, match=club.id))


class Erasures:
    """The methods block, because they use the database."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def redactions(self, club: Club) -> Redactions:
        """Return the changes by all recorded erasures of a club."""
        with self._names.reader.connect() as connection:
            return combined_changes(club.state.erasures, changes_by_digest(connection, club.id))

    def plan(self, referee: Referee, club: Club, member: int) -> Plan:
        """Carry out the recorded erasures. Then return a plan for a member."""
        self.carry_out(club)
        with self._names.reader.connect() as connection:
            rows = connection.execute(select(TABLE).where(TABLE.c.club == club.id)).all()
        return _Planning(rows, self.redactions(club), referee, club, member).plan()

    def keep(self, plan: Plan) -> None:
        """Store a plan. Call this before its event is recorded.

        Two processes may store the same plan; one of them records it. Without its event, the first :meth:`carry_out`
        after a later event of the club deletes a plan.
        """
        own = {"erasure": plan.digest, "club": plan.club, "member": plan.member, "version": plan.version}
        rows = [
            own | {"ref": one.ref, "redacted": one.redacted, "salt": one.salt or None, "text": one.after}
            for one in plan.changes
        ]
        if not rows:  # because the member was just erased
            return
        with self._names.writer.begin() as connection:
            dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
            new = dialect.insert(ERASED)
            stored = new.on_conflict_do_update(
                index_elements=["erasure", "ref"],
                set_={"version": new.excluded.version},
                where=ERASED.c.version.is_not(None),
            )
            connection.execute(stored, rows)

    def carry_out_unfinished(self, referee: Referee) -> None:
        """Carry out the recorded erasures of all clubs. Log and skip clubs that cannot be read."""
        with self._names.reader.connect() as connection:
            clubs = connection.scalars(select(ERASED.c.club).where(ERASED.c.version.is_not(None)).distinct()).all()
        for club_id in clubs:
            try:
                club = referee.load(club_id).aggregate
            except Exception:  # because a damaged row can cause any error
                log.exception("the erasures of club %s were not carried out: see `knacka doctor`", club_id)
                continue
            if isinstance(club, Club):
                self.carry_out(club)

    def carry_out(self, club: Club) -> dict[int, int]:
        """Carry out the recorded erasures, and delete outdated plans.

        Return, by member, the number of changes carried out now. Call
        :meth:`~api.personal_data.names.Names.rewrite_due` afterwards to remove the copies in the files.
        """
        this = ERASED.c
        own = this.club == club.id
        planned = select(this.erasure, this.member, this.ref, this.redacted, this.salt, this.text)
        planned = planned.where(own, this.version.is_not(None)).order_by(this.ref).with_for_update()
        with self._names.reader.connect() as connection:
            if not connection.execute(planned.limit(1)).first():
                return {}
        with self._names.writer.begin() as connection:
            rows = connection.execute(planned).all()
            due = {erasure: [row for row in rows if row.erasure == erasure] for erasure in club.state.erasures}
            for changes in due.values():
                _apply_changes(connection, changes)
            done = [erasure for erasure, changes in due.items() if changes]
            if done:
                values = {"version": None, "salt": None, "text": None}
                connection.execute(update(ERASED).where(own, this.erasure.in_(done)).values(values))
                note_due(connection, done)
            connection.execute(delete(ERASED).where(own, this.version < club.version))
        return dict(Counter(row.member for changes in due.values() for row in changes))


def _apply_changes(connection: Connection, changes: Sequence[Any]) -> None:
    deleted = [one.ref for one in changes if one.redacted is None]
    for batch in batches(deleted):
        connection.execute(delete(TABLE).where(TABLE.c.ref.in_(batch)))
    new = [
        {"own": one.ref, "redacted": one.redacted, "salt": one.salt, "text": one.text}
        for one in changes
        if one.redacted is not None
    ]
    if new:
        connection.execute(update(TABLE).where(TABLE.c.ref == bindparam("own")), new)


class _Planning:
    """Plans an erasure. ``rows``: all rows of the club in :data:`TABLE`."""

    def __init__(self, rows: Sequence[Any], on_record: Redactions, referee: Referee, club: Club, member: int) -> None:
        self._referee, self._club, self._number = referee, club, member
        own = {*club.state.members[member - 1].names, *club.state.members[member - 1].payee.numbers}
        self._theirs = [row for row in rows if row.ref in own or row.member == member]
        theirs = {row.ref for row in self._theirs}
        intact = [row for row in rows if _is_on_record(row, on_record)]
        self._others = [row for row in intact if row.kind == "text" and row.ref not in theirs]
        self._by_ref = {row.ref: row for row in self._others}
        names = [row for row in intact if row.kind == "name"]
        self._names = sorted((row.at, row.text) for row in names if row.ref in theirs)
        self._numbers = tuple(row.text for row in intact if row.kind == "number" and row.ref in theirs)
        shared = {fold(row.text) for row in names if row.ref not in theirs}
        self._unshared = {fold(name): since for since, name in reversed(self._names) if fold(name) not in shared}
        """Time when the member first got a name, by folded name, without names of other members."""
        self._redactors: dict[tuple[str, ...], Redactor] = {}
        self._matches: dict[UUID, tuple[bool, frozenset[str]]] = {}

    def plan(self) -> Plan:
        deleted = [_deletion_of(row) for row in self._theirs]
        return Plan(self._club.id, self._number, self._club.version, (*deleted, *self._changes_in_other_texts()))

    def _changes_in_other_texts(self) -> Iterator[Change]:
        """Yield deletions and replacements. Names are replaced only in matches that involve the member."""
        for row in self._others:
            names = tuple(name for since, name in self._names if since <= row.at)
            after, places = self._redactor_for(names).redact(row.text)
            if not places:
                continue
            took_part, officials = self._involvement_in(row.match)
            if row.ref in officials:
                yield _deletion_of(row)
                continue
            if not took_part:
                after, places = self._redactor_for(()).redact(row.text)
            if places:
                salt = secrets.token_bytes(SALT_BYTES)
                yield Change(row.ref, _origin_of(row), row.at, row.text, after, places, salt)

    def _redactor_for(self, names: tuple[str, ...]) -> Redactor:
        if names not in self._redactors:
            self._redactors[names] = Redactor(names, self._numbers)
        return self._redactors[names]

    def _involvement_in(self, match_id: UUID) -> tuple[bool, frozenset[str]]:
        """Return whether the member played, wrote, acted with a key or was an official in a match.

        True if the match does not exist. Also return the refs of officials' names that are just the member's.
        """
        if match_id not in self._matches:
            self._matches[match_id] = self._read_involvement(match_id)
        return self._matches[match_id]

    def _read_involvement(self, match_id: UUID) -> tuple[bool, frozenset[str]]:
        try:
            match = self._referee.load(match_id).aggregate
        except UnknownAggregate:  # because the match was never opened
            return True, frozenset()
        assert isinstance(match, Match), "texts are written in matches"
        opened = match.opened
        officials = () if opened.adjudication is None else opened.adjudication.officials
        named = frozenset(filter(self._is_unshared_name, officials))
        wrote = any(row.match == match_id for row in self._theirs)
        return bool(named) or wrote or self._number in opened.members or self._acted_with_key_in(match_id), named

    def _is_unshared_name(self, ref: str) -> bool:
        """Return whether a text is just a name that the member had then, and that no other member has had."""
        row = self._by_ref.get(ref)
        since = None if row is None else self._unshared.get(fold(row.text))
        return row is not None and since is not None and since <= row.at

    def _acted_with_key_in(self, match_id: UUID) -> bool:
        keys = enumerate(self._club.state.keys, 1)
        actors = {f"key:k{number}" for number, key in keys if key.member == self._number}
        return bool(actors) and any(one.actor in actors for one in self._referee.history(match_id))


def _deletion_of(row: Any) -> Change:
    return Change(row.ref, _origin_of(row), row.at, row.text)


def _origin_of(row: Any) -> Origin:
    return Origin(row.club, row.match, row.member, row.kind)


def _is_on_record(row: Any, on_record: Redactions) -> bool:
    """Return whether a text is intact, and is original or the result of a recorded erasure."""
    return is_intact(row) and (row.redacted is None or on_record.get(row.ref) == row.redacted)
