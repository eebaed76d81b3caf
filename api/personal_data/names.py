"""Stores the names, payment numbers and texts of a club's members outside the events, which contain refs instead.

A ref is ``hmac:`` and the HMAC-SHA256 of the text and its :class:`Origin`, in hex. The salt is stored with the text.
So a changed or moved text is detected, and the ref of a deleted text reveals nothing.

Their separate file (SQLite) or tables (PostgreSQL) are rewritten after erasures, because databases leave copies of
rows. PostgreSQL's write-ahead log contains deleted data until the server recycles it.
"""

import hmac
import logging
import secrets
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import UUID

import msgspec
from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Dialect,
    Engine,
    Index,
    LargeBinary,
    MetaData,
    Table,
    Text,
    Uuid,
    delete,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from projections.follow.engine import Json, Utc, engine_for, engine_for_writes, file_beside
from projections.follow.projection import exclude_others
from referee.store.clock import utc_now
from referee.store.connection import Postgres, parse_store_url

log = logging.getLogger(__name__)

NAMES = "names"
PRAGMAS = ("journal_mode=DELETE", "synchronous=EXTRA", "secure_delete=ON", "temp_store=MEMORY")
"""Settings of SQLite that leave no rows in other files, and overwrite deleted data."""
SALT_BYTES = 32
REF_PREFIX = "hmac:"
BATCH_MAX = 10_000
"""Maximum number of refs in one statement. SQLite allows 32,766."""

REWRITE_SECONDS = 60.0
"""Seconds between two checks for a due rewrite."""
REWRITE_WAIT_SECONDS = 1
"""Maximum seconds that a rewrite waits for exclusive use of the tables, while other processes wait."""

Kind = Literal["name", "number", "text"]
"""Member's name, payment number, or text that a member wrote."""


class TextType(Json):
    """A text as JSON. Other cells are read unchanged, and do not match their ref."""

    cache_ok = True

    def __init__(self) -> None:
        super().__init__(str)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        try:
            text: str | None = super().process_result_value(value, dialect)
        except (msgspec.MsgspecError, ValueError, TypeError):
            return str(value)
        return text


_metadata = MetaData()
TABLE = Table(
    NAMES,
    _metadata,
    Column("ref", Text, primary_key=True),
    Column("club", Uuid, nullable=False),
    Column("match", Uuid),
    Column("member", BigInteger),
    Column("kind", Text, nullable=False),
    Column("at", Utc, nullable=False),
    Column("act", Text),
    Column("puts", BigInteger, nullable=False),
    Column("redacted", Text),
    Column("salt", LargeBinary, nullable=False),
    Column("text", TextType, nullable=False),
    Index("names_by_act", "club", "act"),
)
"""``act``: an Idempotency-Key. ``puts``: how often the text was stored. ``redacted``: the ref of the text, if an
erasure replaced the original."""
ERASED = Table(
    "names_erased",
    _metadata,
    Column("erasure", Text, primary_key=True),
    Column("ref", Text, primary_key=True),
    Column("redacted", Text),
    Column("club", Uuid, nullable=False),
    Column("member", BigInteger, nullable=False),
    Column("version", BigInteger),
    Column("salt", LargeBinary),
    Column("text", TextType),
    Index("names_erased_by_club", "club", "version"),
)
"""Changes of planned and completed erasures. ``redacted``: the ref of the new text; null: the text is deleted.
Null after completion: ``version`` (of the club at the planning), ``salt`` and ``text`` (of the new text)."""
DUE = Table("names_due", _metadata, Column("erasure", Text, primary_key=True))
"""Erasures after which the tables must still be rewritten."""


class StoredText(NamedTuple):
    text: str
    club: UUID
    redacted: str | None
    """Ref of this text, if it replaces the original; otherwise ``None``."""


def names_file(url: str) -> Path:
    """Return the SQLite file of the names. Raises ValueError if the store has no file."""
    return file_beside(url, NAMES)


class Origin(NamedTuple):
    """Facts about a text that its ref covers."""

    club: UUID
    match: UUID | None
    member: int | None
    """Member who wrote the text or has the name; ``None``: no member, or one who is just joining."""
    kind: Kind


def ref_of(salt: bytes, text: str, origin: Origin) -> str:
    return REF_PREFIX + hmac.digest(salt, msgspec.json.encode([text, *origin]), "sha256").hex()


def is_intact(row: Any) -> bool:
    """Return whether the text of a row matches ``redacted``, or ``ref`` if no erasure replaced it."""
    origin = Origin(row.club, row.match, row.member, row.kind)
    whole: bool = ref_of(row.salt, row.text, origin) == (row.redacted or row.ref)
    return whole


class Names:
    """The methods block, because they use the database."""

    def __init__(self, url: str, books: Engine | None = None) -> None:
        """``books``: the engine of the projections, whose connections are shared on PostgreSQL."""
        shared = books if isinstance(parse_store_url(url), Postgres) else None
        self._own = shared is None
        self.reader = engine_for(url, what=NAMES, pragmas=PRAGMAS) if shared is None else shared
        self.writer = engine_for_writes(self.reader)

    def prepare(self) -> None:
        """Create the missing tables, and do what :meth:`rewrite_due` does."""
        with self.writer.begin() as connection:
            exclude_others(connection)
            _metadata.create_all(connection)
        self.rewrite_due()

    def close(self) -> None:
        if self._own:
            self.reader.dispose()

    def put(
        self,
        club: UUID,
        member: int | None,
        texts: Sequence[str],
        *,
        act: str | None = None,
        match: UUID | None = None,
        kind: Kind = "text",
    ) -> tuple[str, ...]:
        """Store texts and return their refs in order. A text already stored for this ``act`` keeps its ref."""
        at = utc_now()
        with self.writer.begin() as connection:
            found = _refs_of_act(connection, club, act) if act is not None and texts else {}
            new: dict[str, str] = {}
            for text in dict.fromkeys(texts):
                if text in found:
                    again = update(TABLE).where(TABLE.c.ref == found[text]).values(puts=TABLE.c.puts + 1)
                    connection.execute(again)
                    continue
                salt = secrets.token_bytes(SALT_BYTES)
                origin = Origin(club, match, member, kind)
                new[text] = ref_of(salt, text, origin)
                row = {**origin._asdict(), "ref": new[text], "act": act}
                connection.execute(insert(TABLE).values(**row, at=at, puts=1, salt=salt, text=text))
        return tuple((found | new)[text] for text in texts)

    def drop(self, refs: Iterable[str]) -> None:
        """Delete the texts of an act that stored nothing, unless its repetition stored them too."""
        wanted = sorted(set(refs))
        with self.writer.begin() as connection:
            these = TABLE.c.ref.in_(wanted)
            connection.execute(select(TABLE.c.ref).where(these).order_by(TABLE.c.ref).with_for_update()).all()
            connection.execute(delete(TABLE).where(these, TABLE.c.puts <= 1))
            connection.execute(update(TABLE).where(these).values(puts=TABLE.c.puts - 1))

    def forget(self, refs: Collection[str]) -> None:
        """Delete the texts with these refs, however often they were stored."""
        for batch in batches(sorted(refs)):
            with self.writer.begin() as connection:
                connection.execute(delete(TABLE).where(TABLE.c.ref.in_(batch)))

    def read(self, club: UUID, refs: Iterable[str]) -> dict[str, str]:
        """Return, by ref, the original texts of a club that are intact."""
        found = self.read_checked(club, refs).items()
        return {ref: stored.text for ref, stored in found if stored is not None and stored.redacted is None}

    def read_in(self, matches: Collection[UUID], refs: Iterable[str]) -> dict[str, StoredText]:
        """Return, by ref, the intact texts that were written in these matches.

        The caller must show a text only if its ``redacted`` agrees with the recorded erasures.
        """
        found = self._read(TABLE.c.match.in_(matches), refs).items()
        return {ref: stored for ref, stored in found if stored is not None}

    def read_checked(self, club: UUID, refs: Iterable[str]) -> dict[str, StoredText | None]:
        """Return, by ref, the stored texts of a club; ``None`` for a text that is not intact."""
        return self._read(TABLE.c.club == club, refs)

    def _read(self, where: ColumnElement[bool], refs: Iterable[str]) -> dict[str, StoredText | None]:
        found: dict[str, StoredText | None] = {}
        for batch in batches(list(set(refs))):
            with self.reader.connect() as connection:
                for row in connection.execute(select(TABLE).where(where, TABLE.c.ref.in_(batch))):
                    found[row.ref] = StoredText(row.text, row.club, row.redacted) if is_intact(row) else None
        return found

    def rewrite_due(self) -> None:
        """Rewrite the tables if an erasure requires it, so that no file still contains deleted data.

        Raises the database's errors, for example if the tables are in use for :data:`REWRITE_WAIT_SECONDS`.
        """
        with self.reader.connect() as connection:
            due = connection.scalars(select(DUE.c.erasure)).all()
        if not due:
            return
        with self.reader.connect() as connection:
            driver: Any = connection.connection.driver_connection
            connection.detach()  # so that it is not reused, because its settings change
            if self.reader.dialect.name == "postgresql":
                driver.autocommit, driver.silence = True, None
                connection.exec_driver_sql("SET statement_timeout = 0")
                connection.exec_driver_sql(f"SET lock_timeout = '{REWRITE_WAIT_SECONDS}s'")
                for table in (TABLE, ERASED):
                    connection.exec_driver_sql(f"VACUUM FULL {table.name}")
            else:
                # The driver runs it, because SQLAlchemy would begin a transaction, in which VACUUM fails.
                driver.execute(f"PRAGMA busy_timeout = {1000 * REWRITE_WAIT_SECONDS}")
                driver.execute("VACUUM")
        with self.writer.begin() as connection:
            connection.execute(delete(DUE).where(DUE.c.erasure.in_(due)))


class Rewriter:
    """Calls :meth:`Names.rewrite_due` on a thread, every ``seconds`` and at :meth:`close`. Logs errors."""

    def __init__(self, names: Names, *, seconds: float = REWRITE_SECONDS) -> None:
        self._names, self._seconds = names, seconds
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rewriter", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        closed = False
        while not closed:
            closed = self._closed.wait(self._seconds)
            try:
                self._names.rewrite_due()
            except (DBAPIError, PoolTimeout, sqlite3.Error) as error:
                log.info("the names were not rewritten; the next try follows: %s: %s", type(error).__name__, error)
            except Exception:
                log.exception("the names could not be rewritten, so their files may still hold erased data")


def _refs_of_act(connection: Connection, club: UUID, act: str) -> dict[str, str]:
    """Return, by text, the refs of an act. Lock the act until this transaction ends."""
    if connection.dialect.name == "postgresql":
        whole = f"{NAMES} {club} {act}"
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(whole, 0))))
    query = select(TABLE.c.text, TABLE.c.ref).where(TABLE.c.club == club, TABLE.c.act == act)
    return {row.text: row.ref for row in connection.execute(query.order_by(TABLE.c.ref).with_for_update())}


def note_due(connection: Connection, erasures: Collection[str]) -> None:
    """Record that the tables must be rewritten after these erasures."""
    connection.execute(delete(DUE).where(DUE.c.erasure.in_(erasures)))
    connection.execute(insert(DUE), [{"erasure": one} for one in erasures])


def batches(refs: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(refs), BATCH_MAX):
        yield refs[first : first + BATCH_MAX]
