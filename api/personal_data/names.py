"""Names, numbers and texts of a club's people, kept outside the event rows, which hold a ref instead.

A ref is ``hmac:`` and the HMAC-SHA256 of the text and its :class:`Origin`, in hex. Its salt lies beside the text, so
a text that is exchanged or moved to another member is detected; once both are deleted a ref reveals nothing. An
erasure may replace a text by one without the name of the erased member (:mod:`api.personal_data.erasures`): its row
then has the ref of that text as well.

On SQLite they have a file of their own, in which nothing is left of what was deleted: what is freed is overwritten, a
transaction that is done leaves no journal. Where SQLite has moved what it keeps it leaves copies, so the file is
written anew after erasures: within a minute, and at most once a minute, for nobody else can write meanwhile. On
PostgreSQL they are a table, which is written anew as well; its write-ahead log holds what was deleted until the
server has done with it.
"""

import hmac
import logging
import secrets
import sqlite3
import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, NamedTuple
from uuid import UUID

import msgspec
import psycopg
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

from projections.follow.engine import Json, Utc, engine_for, file_beside, writer
from projections.follow.projection import alone
from referee.store.clock import utc_now
from referee.store.connection import Postgres, place_of

log = logging.getLogger(__name__)

NAMES = "names"
PRAGMAS = ("journal_mode=DELETE", "synchronous=EXTRA", "secure_delete=ON", "temp_store=MEMORY")
"""Of SQLite. A journal is deleted, and the folder written to the disk, before a transaction counts as done: what was
deleted does not come back with it after a power cut. In memory: else what a statement has changed is also in a file
of its own until it is done."""
SALT_BYTES = 32
REF = "hmac:"
REF_LENGTH = len(REF) + 64
BATCH_MAX = 10_000
"""Refs in one statement: SQLite takes no more than 32,766."""

REWRITE_SECONDS = 60.0
"""Between two times that the tables are written anew."""
REWRITE_WAIT_SECONDS = 1
"""So long it is waited until nobody uses the tables. Others wait as long behind it."""

Kind = Literal["name", "number", "text"]
"""What a text is: the name of a member, a number by which somebody is paid, or something that somebody wrote."""


class TextType(Json):
    """A text as JSON. A cell that is no JSON is read as it is: its HMAC is not the one on record, as of any text that
    was exchanged."""

    cache_ok = True

    def __init__(self) -> None:
        super().__init__(str)

    def process_result_value(self, value: Any, dialect: Dialect) -> str | None:
        """Return the text."""
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
"""``at``: when the text was put. ``redacted``: the ref of the text that replaced it, if one did."""
_names = TABLE
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
"""What each erasure deletes and replaces (:mod:`api.personal_data.erasures`). ``redacted``: the ref of the text that
replaces the text of ``ref``; null for one that is deleted. Until it is done ``version`` is that of the club for which
it was planned, and ``salt`` and ``text`` are the new ones."""
DUE = Table("names_due", _metadata, Column("erasure", Text, primary_key=True))
"""Erasures after which the tables have not been rewritten yet."""


class StoredText(NamedTuple):
    """A text, the club it belongs to, and the ref of the text that replaced it, if one did."""

    text: str
    club: UUID
    redacted: str | None


def names_file(url: str) -> Path:
    """The SQLite file of the names, beside that of the events: ``knacka-names.db`` for ``knacka.db``."""
    return file_beside(url, NAMES)


class Origin(NamedTuple):
    """The club, match and member a text belongs to, as its ref covers them."""

    club: UUID
    match: UUID | None
    member: int | None
    """The member who wrote the text or whose name or number it is; ``None``: no member, or one who just joins."""
    kind: Kind


def ref_of(salt: bytes, text: str, origin: Origin) -> str:
    """Return what stands for a text in the event rows."""
    return REF + hmac.digest(salt, msgspec.json.encode([text, *origin]), "sha256").hex()


def is_intact(row: Any) -> bool:
    """Return whether a row has the text that was put there, or that an erasure put in its place."""
    origin = Origin(row.club, row.match, row.member, row.kind)
    whole: bool = ref_of(row.salt, row.text, origin) == (row.redacted or row.ref)
    return whole


def is_ref(text: str) -> bool:
    """Whether a text looks like what stands for one."""
    return len(text) == REF_LENGTH and text.startswith(REF)


class Names:
    """Touches the database: call it in a thread."""

    def __init__(self, url: str, books: Engine | None = None) -> None:
        """``books``: the engine over the books; on PostgreSQL its connections are used, and left open in the end."""
        shared = books if isinstance(place_of(url), Postgres) else None
        self._own = shared is None
        self.reader = engine_for(url, what=NAMES, pragmas=PRAGMAS) if shared is None else shared
        self.writer = writer(self.reader)

    def prepare(self) -> None:
        """Creates what tables are missing, and ends an erasure that was broken off."""
        with self.writer.begin() as connection:
            alone(connection)
            _metadata.create_all(connection)
        self.rewrite_due()

    def close(self) -> None:
        """Ends its own connections."""
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
        """Keeps texts of a member, or of nobody who is one; their refs in the same order. ``match``: in which they
        were written.

        ``act``: stands for the Idempotency-Key of what is done with them. Put again with the same ``act``, the same
        text has the ref that it had, and another has another.
        """
        at = utc_now()
        with self.writer.begin() as connection:
            found = _refs_of_act(connection, club, act) if act is not None and texts else {}
            new: dict[str, str] = {}
            for text in dict.fromkeys(texts):
                if text in found:
                    again = update(_names).where(_names.c.ref == found[text]).values(puts=_names.c.puts + 1)
                    connection.execute(again)
                    continue
                salt = secrets.token_bytes(SALT_BYTES)
                origin = Origin(club, match, member, kind)
                new[text] = ref_of(salt, text, origin)
                row = {**origin._asdict(), "ref": new[text], "act": act}
                connection.execute(insert(_names).values(**row, at=at, puts=1, salt=salt, text=text))
        return tuple((found | new)[text] for text in texts)

    def drop(self, refs: Iterable[str]) -> None:
        """What was put with these refs came to nothing: the texts are deleted, but for those that somebody else has
        put as well, in the same act."""
        wanted = sorted(set(refs))
        with self.writer.begin() as connection:
            these = _names.c.ref.in_(wanted)
            connection.execute(select(_names.c.ref).where(these).order_by(_names.c.ref).with_for_update()).all()
            connection.execute(delete(_names).where(these, _names.c.puts <= 1))
            connection.execute(update(_names).where(these).values(puts=_names.c.puts - 1))

    def forget(self, refs: Collection[str]) -> None:
        """Deletes the texts of these refs, however often they were put: others have taken their place."""
        for batch in batches(sorted(refs)):
            with self.writer.begin() as connection:
                connection.execute(delete(_names).where(_names.c.ref.in_(batch)))

    def read(self, club: UUID, refs: Iterable[str]) -> dict[str, str]:
        """Return by ref the names and numbers of a club. An exchanged one is left out."""
        found = self._found(_names.c.club == club, refs)
        return {ref: stored.text for ref, stored in found if stored is not None and stored.redacted is None}

    def read_in(self, matches: Collection[UUID], refs: Iterable[str]) -> dict[str, StoredText]:
        """Return by ref the texts that were written in these matches. An exchanged one is left out.

        So a caller cannot read the texts of one match by sending their refs to another that repeats what was sent.
        The caller has to compare ``redacted`` with the erasures on record.
        """
        found = self._found(_names.c.match.in_(matches), refs)
        return {ref: stored for ref, stored in found if stored is not None}

    def looked_at(self, club: UUID, refs: Iterable[str]) -> dict[str, StoredText | None]:
        """Return by ref what a club has of these texts; ``None`` for an exchanged one."""
        return dict(self._found(_names.c.club == club, refs))

    def _found(self, where: ColumnElement[bool], refs: Iterable[str]) -> Iterator[tuple[str, StoredText | None]]:
        this = _names.c
        for batch in batches(list(set(refs))):
            query = select(_names)
            with self.reader.connect() as connection:
                for row in connection.execute(query.where(where, this.ref.in_(batch))):
                    yield row.ref, StoredText(row.text, row.club, row.redacted) if is_intact(row) else None

    def check(self) -> list[str]:
        """Return the refs whose texts were exchanged or moved."""
        with self.reader.connect() as connection:
            return [
                row.ref for row in connection.execute(select(_names).order_by(_names.c.ref)) if not is_intact(row)
            ]

    def rewrite_due(self) -> None:
        """Write the tables again if an erasure is due, so that no file keeps what it deleted.

        Raises what the database raises, also if somebody uses the tables all the while.
        """
        with self.reader.connect() as connection:
            due = connection.scalars(select(DUE.c.erasure)).all()
        if not due:
            return
        with closing(self.reader.raw_connection()) as connection:
            driver: Any = connection.driver_connection
            connection.detach()  # what is set here goes with it
            if self.reader.dialect.name == "postgresql":
                driver.autocommit, driver.silence = True, None
                driver.execute("SET statement_timeout = 0")
                driver.execute(f"SET lock_timeout = '{REWRITE_WAIT_SECONDS}s'")
                for table in (TABLE, ERASED):
                    driver.execute(f"VACUUM FULL {table.name}")
            else:
                driver.execute(f"PRAGMA busy_timeout = {1000 * REWRITE_WAIT_SECONDS}")
                driver.execute("VACUUM")
        with self.writer.begin() as connection:
            connection.execute(delete(DUE).where(DUE.c.erasure.in_(due)))


class Rewriter:
    """Writes the tables again on a thread of its own, once in a while and in the end, if erasures are due."""

    def __init__(self, names: Names, *, seconds: float = REWRITE_SECONDS) -> None:
        self._names, self._seconds = names, seconds
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="rewriter", daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Write what is due, and end."""
        self._closed.set()
        self._thread.join()

    def _run(self) -> None:
        closed = False
        while not closed:
            closed = self._closed.wait(self._seconds)
            try:
                self._names.rewrite_due()
            except (DBAPIError, PoolTimeout, psycopg.Error, sqlite3.Error) as error:
                log.info("the names are not written anew this time: %s: %s", type(error).__name__, error)
            except Exception:
                log.exception("the names could not be written anew")


def _refs_of_act(connection: Connection, club: UUID, act: str) -> dict[str, str]:
    """By text the refs of an act; nobody else puts any of this act, nor drops these, until this transaction ends."""
    if connection.dialect.name == "postgresql":
        whole = f"{NAMES} {club} {act}"
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(whole, 0))))
    query = select(_names.c.text, _names.c.ref).where(_names.c.club == club, _names.c.act == act)
    return {row.text: row.ref for row in connection.execute(query.order_by(_names.c.ref).with_for_update())}


def note_due(connection: Connection, erasures: Collection[str]) -> None:
    """Record that the tables have to be rewritten after these erasures."""
    connection.execute(delete(DUE).where(DUE.c.erasure.in_(erasures)))
    connection.execute(insert(DUE), [{"erasure": one} for one in erasures])


def batches(refs: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the refs in parts, each small enough for one statement."""
    for first in range(0, len(refs), BATCH_MAX):
        yield refs[first : first + BATCH_MAX]
