"""Compares the stored tree over the log, and the recorded checkpoints, with the rows."""

from collections.abc import Iterator

import msgspec
from sqlalchemy import Connection, StaticPool, create_engine, select

from api.maintenance.raw_store import StoreReader
from projections.follow.page import Page
from projections.log import Log
from referee.log.facts import LogSigned
from referee.log.tree import TILE_HEIGHT, TILE_WIDTH
from referee.store.log import LOG_ID
from referee.visibility import Recorded


class _SignedRow(msgspec.Struct):
    event: LogSigned


_decode_row = msgspec.json.Decoder(_SignedRow).decode


def check_tree(stored: StoreReader) -> Iterator[str]:
    """Yield a line for each missing or wrong tile, each wrong checkpoint, and a tree of wrong size."""
    tree = Log()
    memory = create_engine("sqlite://", poolclass=StaticPool)
    with memory.connect() as made:
        tree.metadata.create_all(made)
        for rows in stored.pages_of_log():
            tree.apply(made, Page(rows, _refuse_to_decode))
        if tree.key in stored.positions():
            yield from _tile_differences(stored, tree, made)
        size = tree.size(made)
        for row in (row for page in stored.pages_of_rows(LOG_ID.hex) for row in page):
            if row.topic == LogSigned.TOPIC:
                try:
                    signed = _decode_row(row.state).event
                except (msgspec.MsgspecError, ValueError, TypeError):
                    continue  # the check of the aggregate reports this row
                if signed.size > size or tree.tree(made, signed.size).root().hex() != signed.root:
                    yield f"the checkpoint of {signed.size} rows, event {row.number} of the log, is of other rows"
    memory.dispose()


def _tile_differences(stored: StoreReader, tree: Log, calculated: Connection) -> Iterator[str]:
    this = tree.tiles.c
    tiles = select(this.level, this.number, this.hashes).order_by(this.level, this.number)
    with stored.projections.connect() as kept:
        edge, stored_tiles = tree.edge(kept), set()
        for level, number, hashes in kept.execute(tiles):
            stored_tiles.add((level, number))
            expected = calculated.scalar(select(this.hashes).where(this.level == level, this.number == number)) or b""
            if expected[: len(hashes)] != bytes(hashes):
                yield f"projection log: tile {number} of level {level} does not match the rows: `knacka rebuild log`"
    for level, number, _ in calculated.execute(tiles):
        if (level, number) not in stored_tiles and number * TILE_WIDTH < edge.size >> TILE_HEIGHT * level:
            yield f"projection log: tile {number} of level {level} is missing: `knacka rebuild log`"
    if edge.position and tree.leaf_index(calculated, edge.position) != edge.size - 1:
        yield f"projection log: it has {edge.size} rows up to position {edge.position}, more than the log"


def _refuse_to_decode(*_: object) -> Recorded:
    raise AssertionError("a tree decodes no rows")
