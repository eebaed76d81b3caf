"""Names, numbers and texts of a club's people, kept outside the event rows, which hold a ref in their place.

A ref is ``hmac:`` and the HMAC-SHA256 of the text under a salt of its own, in hex. The salt lies beside the text: who
puts another text in its place is found out, and when both are deleted a ref is noise that tells nothing of a name.

On SQLite they have a file of their own, in which nothing is left of what was deleted: what is freed is overwritten, a
transaction that is done leaves no journal, and after an erasure the file is written anew, for where SQLite has moved
what it keeps it leaves copies. On PostgreSQL they are a table, which is written anew as well; its write-ahead log
holds what was deleted until the server has done with it.
"""

import hmac
import secrets
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal
from unicodedata import normalize
from uuid import UUID, uuid4

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
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

from projections.follow.engine import Json, engine_for, file_beside, writer
from projections.follow.keeping import alone
from referee.store.reach import Postgres, place_of

NAMES = "names"
PRAGMAS = ("journal_mode=DELETE", "synchronous=EXTRA", "secure_delete=ON", "temp_store=MEMORY")
"""Of SQLite. A journal is deleted, and the folder written to the disk, before a transaction counts as done: what was
deleted does not come back with it after a power cut. In memory: else what a statement has changed is also in a file
of its own until it is done."""
SALT_BYTES = 32
REF = "hmac:"
REF_LENGTH = len(REF) + 64
ONCE_MOST = 10_000
"""Refs in one statement: SQLite takes no more than 32,766."""

Kind = Literal["name", "number", "text"]
"""What a text is: the name of a member, a number by which somebody is paid, or something that somebody wrote."""

_metadata = MetaData()
_names = Table(
    NAMES,
    _metadata,
    Column("ref", Text, primary_key=True),
    Column("club", Uuid, nullable=False),
    Column("match", Uuid),
    Column("member", BigInteger),
    Column("kind", Text, nullable=False),
    Column("act", Text),
    Column("puts", BigInteger, nullable=False),
    Column("salt", LargeBinary, nullable=False),
    Column("text", Json(str), nullable=False),
    Index("names_by_act", "club", "act"),
)
_due = Table("names_due", _metadata, Column("erasure", Uuid, primary_key=True))
"""Erasures after which the table has not been written anew yet."""
TABLE = _names
"""Where they lie, for who copies it."""


def names_file(url: str) -> Path:
    """The SQLite file of the names, beside that of the events: ``knacka-names.db`` for ``knacka.db``."""
    return file_beside(url, NAMES)


def ref_of(salt: bytes, text: str) -> str:
    """What stands for a text."""
    return REF + hmac.digest(salt, text.encode(), "sha256").hex()


def is_ref(text: str) -> bool:
    """Whether a text looks like what stands for one."""
    return len(text) == REF_LENGTH and text.startswith(REF)


class Names:
    """Touches the database: call it in a thread."""

    def __init__(self, url: str, books: Engine | None = None) -> None:
        """``books``: the engine over the books; on PostgreSQL its connections are used, and left open in the end."""
        shared = books if isinstance(place_of(url), Postgres) else None
        self._own = shared is None
        self._reader = engine_for(url, what=NAMES, pragmas=PRAGMAS) if shared is None else shared
        self._engine = writer(self._reader)

    def prepare(self) -> None:
        """Creates what tables are missing, and ends an erasure that was broken off."""
        with self._engine.begin() as connection:
            alone(connection)
            _metadata.create_all(connection)
            due = connection.scalars(select(_due.c.erasure)).all()
        if due:
            self._write_anew(due)

    def close(self) -> None:
        """Ends its own connections."""
        if self._own:
            self._reader.dispose()

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
        with self._engine.begin() as connection:
            found = _put_before(connection, club, act) if act is not None and texts else {}
            fresh: dict[str, str] = {}
            for text in dict.fromkeys(texts):
                if text in found:
                    again = update(_names).where(_names.c.ref == found[text]).values(puts=_names.c.puts + 1)
                    connection.execute(again)
                    continue
                salt = secrets.token_bytes(SALT_BYTES)
                fresh[text] = ref_of(salt, text)
                row = {"ref": fresh[text], "club": club, "match": match, "member": member, "kind": kind, "act": act}
                connection.execute(insert(_names).values(**row, puts=1, salt=salt, text=text))
        return tuple((found | fresh)[text] for text in texts)

    def drop(self, refs: Iterable[str]) -> None:
        """What was put with these refs came to nothing: the texts are deleted, but for those that somebody else has
        put as well, in the same act."""
        wanted = sorted(set(refs))
        with self._engine.begin() as connection:
            these = _names.c.ref.in_(wanted)
            connection.execute(select(_names.c.ref).where(these).order_by(_names.c.ref).with_for_update()).all()
            connection.execute(delete(_names).where(these, _names.c.puts <= 1))
            connection.execute(update(_names).where(these).values(puts=_names.c.puts - 1))

    def forget(self, refs: Collection[str]) -> None:
        """Deletes the texts of these refs, however often they were put: others have taken their place."""
        for some in _pieces(sorted(refs)):
            with self._engine.begin() as connection:
                connection.execute(delete(_names).where(_names.c.ref.in_(some)))

    def read(self, club: UUID, refs: Iterable[str]) -> dict[str, str]:
        """By ref the texts of a club that there are. What is not the text that was put is none."""
        return self._read(_names.c.club == club, refs)

    def read_in(self, matches: Collection[UUID], refs: Iterable[str]) -> dict[str, str]:
        """The same, of those that were written in these matches. So nobody reads the texts of one match by sending
        their refs to another in a place where what is sent is told again."""
        return self._read(_names.c.match.in_(matches), refs)

    def looked_at(self, club: UUID, refs: Iterable[str]) -> dict[str, bool]:
        """Of the refs those whose text there is in a club, and whether it is the one that was put."""
        return {ref: text is not None for ref, text in self._found(_names.c.club == club, refs)}

    def _read(self, where: ColumnElement[bool], refs: Iterable[str]) -> dict[str, str]:
        return {ref: text for ref, text in self._found(where, refs) if text is not None}

    def _found(self, where: ColumnElement[bool], refs: Iterable[str]) -> Iterator[tuple[str, str | None]]:
        """By ref the texts that there are; ``None`` for one that is not the text that was put."""
        for some in _pieces(list(set(refs))):
            query = select(_names.c.ref, _names.c.salt, _names.c.text)
            with self._reader.connect() as connection:
                for ref, salt, text in connection.execute(query.where(where, _names.c.ref.in_(some))):
                    yield ref, text if ref_of(salt, text) == ref else None

    def erase(self, club: UUID, member: int, refs: Iterable[str]) -> int:
        """Deletes a member's names, which have these ``refs``, his numbers, all that he wrote, and what others in the
        club wrote in which one of these stands, in letters of either case; how many texts that were. Once more it
        deletes what has come since, and does no harm."""
        own, erasure = set(refs), uuid4()
        with self._engine.begin() as connection:
            of_club = select(_names.c.ref, _names.c.member, _names.c.kind, _names.c.text).where(_names.c.club == club)
            rows = connection.execute(of_club).all()
            his = [row for row in rows if row.ref in own or row.member == member]
            names = {folded(row.text) for row in his if row.kind != "text"} - {""}
            named = [row for row in rows if row.kind == "text" and any(map(folded(row.text).__contains__, names))]
            gone = sorted({row.ref for row in (*his, *named)})
            for some in _pieces(gone):
                connection.execute(delete(_names).where(_names.c.ref.in_(some)))
            connection.execute(insert(_due).values(erasure=erasure))
        self._write_anew([erasure])
        return len(gone)

    def check(self) -> list[str]:
        """The refs whose texts are not those that were put."""
        with self._reader.connect() as connection:
            rows = connection.execute(select(_names.c.ref, _names.c.salt, _names.c.text).order_by(_names.c.ref))
            return [ref for ref, salt, text in rows if ref_of(salt, text) != ref]

    def _write_anew(self, due: Sequence[UUID]) -> None:
        with closing(self._reader.raw_connection()) as connection:
            driver: Any = connection.driver_connection
            connection.detach()  # what is set here goes with it
            if self._reader.dialect.name == "postgresql":
                driver.autocommit, driver.silence = True, None
                driver.execute("SET statement_timeout = 0")
                driver.execute(f"VACUUM FULL {NAMES}")
            else:
                driver.execute("VACUUM")
        with self._engine.begin() as connection:
            connection.execute(delete(_due).where(_due.c.erasure.in_(due)))


def folded(text: str) -> str:
    """A text for comparing: in one form of Unicode, in letters of one case, with single spaces."""
    return normalize("NFC", " ".join(normalize("NFC", text).casefold().split()))


def _put_before(connection: Connection, club: UUID, act: str) -> dict[str, str]:
    """By text the refs of an act; nobody else puts any of this act, nor drops these, until this transaction ends."""
    if connection.dialect.name == "postgresql":
        whole = f"{NAMES} {club} {act}"
        connection.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(whole, 0))))
    query = select(_names.c.text, _names.c.ref).where(_names.c.club == club, _names.c.act == act)
    return {row.text: row.ref for row in connection.execute(query.order_by(_names.c.ref).with_for_update())}


def _pieces(refs: Sequence[str]) -> Iterator[Sequence[str]]:
    for first in range(0, len(refs), ONCE_MOST):
        yield refs[first : first + ONCE_MOST]
