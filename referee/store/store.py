"""The event store: rows of matches through the library's own recorders, and snapshots beside them."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from uuid import UUID

import msgspec
from eventsourcing.application import Application
from eventsourcing.persistence import IntegrityError, Mapper, StoredEvent

from referee.events import Recorded
from referee.games import RULESETS
from referee.store.match import Match, fold
from referee.store.rows import FIRST, JsonRows, from_row, row_hash

PAGE = 500
"""Rows read at a time."""

log = logging.getLogger(__name__)


class UnknownMatch(LookupError):
    """There is no match of this id."""


class Loaded(msgspec.Struct, frozen=True):
    """A match and the hash of its last row, which the next row names."""

    match: Match
    head: str


class _Snapshot(msgspec.Struct, frozen=True):
    ruleset: str
    shape: str
    head: str
    match: msgspec.Raw


SNAPSHOT_TOPIC = "match/snapshot"


@cache
def shape_of(ruleset: str) -> str:
    """The shape of a game's state in this release: a snapshot of another is of no use."""
    schema = msgspec.json.schema(RULESETS[ruleset].state)
    return sha256(msgspec.json.encode(schema, order="deterministic")).hexdigest()[:16]


def _snapshot_row(loaded: Loaded) -> StoredEvent:
    match = loaded.match
    ruleset = match.opened.ruleset
    snapshot = _Snapshot(ruleset, shape_of(ruleset), loaded.head, msgspec.Raw(msgspec.json.encode(match)))
    return StoredEvent(match.id, match.version, SNAPSHOT_TOPIC, msgspec.json.encode(snapshot))


def settings_for(url: str) -> dict[str, str]:
    """The library's settings for ``sqlite:///path`` or ``postgresql://user:password@host:port/name``.

    For PostgreSQL ``?host=`` names a socket directory and ``?schema=`` a schema other than ``public``.
    Raises ``ValueError`` for anything else.
    """
    parts = urlsplit(url)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    if parts.scheme == "sqlite":
        path = unquote(parts.path).removeprefix("/")
        if not path:
            raise ValueError("a SQLite URL names a file: sqlite:///knacka.db")
        return {
            "PERSISTENCE_MODULE": "eventsourcing.sqlite",
            "SQLITE_DBNAME": path,
            "SQLITE_LOCK_TIMEOUT": "10",
        }
    if parts.scheme in ("postgresql", "postgres"):
        return {
            "PERSISTENCE_MODULE": "referee.store.postgres:Factory",
            "POSTGRES_DBNAME": unquote(parts.path.removeprefix("/")) or "knacka",
            "POSTGRES_HOST": query.get("host") or parts.hostname or "127.0.0.1",
            "POSTGRES_PORT": str(parts.port or query.get("port") or 5432),
            "POSTGRES_USER": unquote(parts.username or "postgres"),
            "POSTGRES_PASSWORD": unquote(parts.password or ""),
            "POSTGRES_SCHEMA": query.get("schema", "public"),
            "POSTGRES_POOL_SIZE": "2",
            "POSTGRES_MAX_OVERFLOW": "10",
            "POSTGRES_LOCK_TIMEOUT": "2",  # the library tries ten times
        }
    raise ValueError(f"unknown store {parts.scheme!r}: give sqlite:///file or postgresql://…")


class Referee(Application[UUID]):
    """All matches of one store."""

    name = "referee"
    is_snapshotting_enabled = True

    def construct_mapper(self) -> Mapper[UUID]:
        """Plain JSON rows."""
        return JsonRows(transcoder=self.factory.transcoder())

    def rows(self, match_id: UUID, *, after: int = 0, to: int | None = None) -> Sequence[StoredEvent]:
        """The stored rows of a match in order; empty where there is none."""
        return self.recorder.select_events(match_id, gt=after or None, lte=to)

    def history(
        self, match_id: UUID, *, after: int = 0, to: int | None = None, limit: int | None = None
    ) -> list[Recorded]:
        """The recorded events of a match in order."""
        stored = self.recorder.select_events(match_id, gt=after or None, lte=to, limit=limit)
        return [from_row(row) for row in stored]

    def load(self, match_id: UUID) -> Loaded:
        """The match as it stands: its last snapshot and what came after. Raises :class:`UnknownMatch`."""
        loaded = self._snapshot(match_id)
        rows = self.rows(match_id, after=loaded.match.version if loaded else 0)
        if not rows:
            if loaded is None:
                raise UnknownMatch(str(match_id))
            return loaded
        match = fold(loaded.match if loaded else None, map(from_row, rows))
        return Loaded(match, row_hash(rows[-1]))

    def replay(self, match_id: UUID, at: int) -> Match:
        """The match as it stood after event ``at``, folded from its first event."""
        history = self.history(match_id, to=at)
        if not history:
            raise UnknownMatch(str(match_id))
        return fold(None, history)

    def take_snapshots(self, matches: Sequence[Loaded]) -> None:
        """Keeps matches so that loading them need not begin at their first event."""
        assert self.snapshots is not None
        rows = [_snapshot_row(loaded) for loaded in matches]
        try:
            self.snapshots.recorder.insert_events(rows)
        except IntegrityError:
            for row in rows:  # another process took some of them first
                with suppress(IntegrityError):
                    self.snapshots.recorder.insert_events([row])

    def _snapshot(self, match_id: UUID) -> Loaded | None:
        assert self.snapshots is not None
        rows = self.snapshots.recorder.select_events(match_id, desc=True, limit=1)
        if not rows:
            return None
        try:
            snapshot = msgspec.json.decode(rows[0].state, type=_Snapshot)
            if snapshot.shape != shape_of(snapshot.ruleset):
                return None
            raw = msgspec.json.decode(snapshot.match)
            state = msgspec.convert(raw["state"], RULESETS[snapshot.ruleset].state)
            match = msgspec.convert({**raw, "state": None}, Match)
            return Loaded(msgspec.structs.replace(match, state=state), snapshot.head)
        except (msgspec.MsgspecError, KeyError, TypeError):
            log.info("snapshot of match %s is of another release: folding its history", match_id)
            return None

    def chain(self, match_id: UUID) -> Iterator[tuple[int, bool]]:
        """Each row's number, and whether it names the hash of the row before it."""
        prev = FIRST
        for row in self.rows(match_id):
            yield row.originator_version, from_row(row).prev == prev
            prev = row_hash(row)


def construct(url: str, **settings: Any) -> Referee:
    """The referee over the store at ``url``."""
    return Referee(env={**settings_for(url), **{key: str(value) for key, value in settings.items()}})
