"""An audit compares the log with the rows over more than a tile: leaves, upper tiles, checkpoints."""

from collections.abc import Collection, Mapping, Sequence
from uuid import uuid4

from eventsourcing.persistence import StoredEvent
from sqlalchemy import Engine, select, update

from api.runtime.projections import decode_row
from projections.audit.findings import Difference, Findings
from projections.audit.reading import Redactions, Rows, TextFound
from projections.audit.tree import Checkpoint, compare
from projections.follow.follow import rebuild
from projections.log import Log
from referee.log.tree import TILE_WIDTH
from referee.store.store import Referee
from tests.projections.filled_log import append, head, reader

BOOK = Log()


class NoTexts:
    """The texts of a club that has none."""

    def stored_texts(self, refs: Collection[str]) -> Mapping[str, TextFound]:
        return {}

    def redactions(self) -> Mapping[str, Redactions]:
        return {}


def told(referee: Referee, engine: Engine, signed: Checkpoint | None = None) -> list[Difference]:
    """Return what the audit of a club without rows finds in the log."""
    findings, to = Findings(), head(referee)
    with (
        Rows(uuid4(), decode_row, lambda _: None, NoTexts(), lambda _: (), findings, {}) as rows,
        engine.connect() as kept,
    ):
        rows.read(reader(referee), to)
        compare(rows, kept, BOOK, to, signed, lambda _: None, findings)
    return findings.shown["log"]


def test_every_tile_is_looked_at(referee: Referee, engine: Engine, rows: Sequence[StoredEvent]) -> None:
    append(referee, rows)
    rebuild(reader(referee), engine, BOOK)
    with engine.connect() as connection:
        size = BOOK.size(connection)
        root = BOOK.tree(connection, size - 1).root().hex()
    assert size > 2 * TILE_WIDTH
    assert told(referee, engine, Checkpoint(size - 1, root)) == []
    assert [one.code for one in told(referee, engine, Checkpoint(size, root))] == ["checkpoint_root"]
    assert [one.code for one in told(referee, engine, Checkpoint(size + 1, root))] == ["checkpoint_size"]
    this = BOOK.tiles.c
    above = (this.level == 1) & (this.number == 0)
    second = (this.level == 0) & (this.number == 1)
    for which, code, leaf in ((above, "tile", 0), (second, "row_otherwise", TILE_WIDTH)):
        with engine.begin() as connection:
            was = connection.scalar(select(this.hashes).where(which)) or b""
            connection.execute(update(BOOK.tiles).where(which).values(hashes=bytes([was[0] ^ 1]) + was[1:]))
        assert [(one.code, one.leaf) for one in told(referee, engine)] == [(code, leaf)]
        with engine.begin() as connection:
            connection.execute(update(BOOK.tiles).where(which).values(hashes=was))
    assert told(referee, engine) == []


def test_a_row_that_came_past_the_book(referee: Referee, engine: Engine, rows: Sequence[StoredEvent]) -> None:
    append(referee, rows)
    rebuild(reader(referee), engine, BOOK)
    with engine.begin() as connection:
        last = connection.execute(select(BOOK.tiles).where(BOOK.tiles.c.level == 0)).all()[-1]
        cut = {"hashes": last.hashes[:-32], "positions": last.positions[:-8]}
        this = BOOK.tiles.c
        connection.execute(update(BOOK.tiles).where(this.level == 0, this.number == last.number).values(**cut))
    assert [one.code for one in told(referee, engine)] == ["row_without_leaf"]
