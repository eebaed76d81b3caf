"""The projection of the log as a Merkle tree: tiles with all rows' hashes and positions.

Leaves are numbered from 0 without gaps, unlike the positions of their rows.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple, Self
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Index,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    bindparam,
    func,
    insert,
    select,
    update,
)

from projections.follow.page import Page, Row
from projections.follow.projection import LIVE, own_name
from referee.log.tree import HASH_BYTES, TILE_HEIGHT, TILE_WIDTH, Tree, changed_tiles, leaf_hashes

POSITION_BYTES = 8
TILES_AT_ONCE = 100


class Edge(NamedTuple):
    """The last tile of each level, where rows are added."""

    size: int
    hashes: dict[int, bytes]
    """Hashes in the last tile, by level."""
    positions: bytes
    """Positions of the rows in the last tile of level 0."""

    @property
    def position(self) -> int:
        """Position of the last row; 0 without rows."""
        return _unpacked_positions(self.positions)[-1] if self.positions else 0


class Log:
    """The projection; :class:`~projections.follow.projection.Projection` explains its methods."""

    name = key = "log"
    takes: frozenset[str] | None = None

    def __init__(self, prefix: str = LIVE) -> None:
        self.metadata = MetaData()
        self.tiles = Table(
            f"{prefix}log_tiles",
            self.metadata,
            Column("level", SmallInteger, primary_key=True, autoincrement=False),
            Column("number", BigInteger, primary_key=True, autoincrement=False),
            Column("hashes", LargeBinary, nullable=False),
            Column("positions", LargeBinary, nullable=False),
            Column("first", BigInteger, nullable=False),
        )
        this = self.tiles.c
        Index(own_name("ix_log_tiles"), this.level, this.first)
        self._last = (
            select(this.number, this.hashes, this.positions)
            .where(this.level == 0)
            .order_by(this.number.desc())
            .limit(1)
        )
        self._tile = select(this.hashes).where(this.level == bindparam("level"), this.number == bindparam("number"))
        self._size = (
            select(this.number, func.length(this.hashes)).where(this.level == 0).order_by(this.number.desc()).limit(1)
        )
        self._place = (
            select(this.number, this.positions)
            .where(this.level == 0, this.first <= bindparam("position"))
            .order_by(this.first.desc())
            .limit(1)
        )
        self._change = update(self.tiles).where(this.level == bindparam("at"), this.number == bindparam("of"))

    def with_prefix(self, prefix: str) -> Self:
        return type(self)(prefix)

    def apply(self, connection: Connection, page: Page) -> None:
        edge = self.edge(connection)
        if rows := page.after(edge.position).rows:
            self.grow(connection, edge, rows, leaves_of(rows))

    def grow(self, connection: Connection, edge: Edge, rows: Sequence[Row], leaves: bytes) -> None:
        """Add rows after the edge. ``leaves``: :func:`leaves_of` these rows."""
        changed = changed_tiles(edge.hashes, leaves, edge.size)
        positions = edge.positions if edge.size % TILE_WIDTH else b""
        positions += array("q", [row[0] for row in rows]).tobytes()
        begun, width = edge.size // TILE_WIDTH, TILE_WIDTH * POSITION_BYTES
        known = {(level, _last_tile_number(edge.size, level)) for level in edge.hashes}
        new, old = [], []
        for (level, number), hashes in changed.items():
            theirs = b"" if level else positions[(number - begun) * width :][:width]
            first = _unpacked_positions(theirs)[0] if theirs else 0
            if (level, number) in known:
                old.append({"at": level, "of": number, "hashes": hashes, "positions": theirs})
            else:
                row = {"level": level, "number": number, "hashes": hashes, "positions": theirs, "first": first}
                new.append(row)
        if old:
            connection.execute(self._change, old)
        if new:
            connection.execute(insert(self.tiles), new)

    def version(self, connection: Connection, aggregate: UUID) -> int:
        """Return 0, because only positions show the included rows."""
        return 0

    def edge(self, connection: Connection) -> Edge:
        """Return the stored edge, without missing tiles."""
        found = connection.execute(self._last).one_or_none()
        if found is None:
            return Edge(0, {}, b"")
        hashes, level = {0: bytes(found.hashes)}, 1
        size = found.number * TILE_WIDTH + len(hashes[0]) // HASH_BYTES
        while size >> TILE_HEIGHT * level:
            tile = connection.scalar(self._tile, {"level": level, "number": _last_tile_number(size, level)})
            if tile is not None:
                hashes[level] = bytes(tile)
            level += 1
        return Edge(size, hashes, bytes(found.positions))

    def size(self, connection: Connection) -> int:
        found = connection.execute(self._size).one_or_none()
        return 0 if found is None else int(found[0] * TILE_WIDTH + found[1] // HASH_BYTES)

    def tree(self, connection: Connection, size: int) -> Tree:
        """Return the tree over the first ``size`` leaves. It reads tiles through the connection."""

        @cache
        def tile(level: int, number: int) -> bytes:
            hashes: bytes = connection.execute(self._tile, {"level": level, "number": number}).scalar_one()
            return hashes

        return Tree(size=size, tiles=tile)

    def tiles_of(self, connection: Connection, level: int, *, first: int = 0) -> Iterator[tuple[int, bytes, bytes]]:
        """Yield the number, hashes and row positions of each tile of a level, from tile ``first`` on."""
        this = self.tiles.c
        query = select(this.number, this.hashes, this.positions).where(this.level == level).order_by(this.number)
        while tiles := connection.execute(query.where(this.number >= first).limit(TILES_AT_ONCE)).all():
            for number, hashes, positions in tiles:
                yield number, bytes(hashes), bytes(positions)
            first = tiles[-1].number + 1

    def leaves(self, connection: Connection, *, first: int = 0) -> Iterator[tuple[int, int, bytes]]:
        """Yield the number, row position and hash of each leaf in tiles from ``first`` on."""
        for number, hashes, positions in self.tiles_of(connection, 0, first=first):
            for place, position in enumerate(_unpacked_positions(positions)):
                yield number * TILE_WIDTH + place, position, hashes[place * HASH_BYTES :][:HASH_BYTES]

    def size_at(self, connection: Connection, position: int) -> int:
        """Return the number of leaves up to a position, included."""
        found = connection.execute(self._place, {"position": position}).one_or_none()
        return (
            0
            if found is None
            else found.number * TILE_WIDTH + bisect_right(_unpacked_positions(found.positions), position)
        )

    def leaf_index(self, connection: Connection, position: int) -> int | None:
        """Return the number of the leaf for the row at a position; ``None`` if it is not yet in the tree."""
        found = connection.execute(self._place, {"position": position}).one_or_none()
        if found is None:
            return None
        positions = _unpacked_positions(found.positions)
        place = bisect_left(positions, position)
        if place == len(positions) or positions[place] != position:
            return None
        return int(found.number * TILE_WIDTH + place)


def _last_tile_number(size: int, level: int) -> int:
    return ((size >> TILE_HEIGHT * level) - 1) // TILE_WIDTH


def _unpacked_positions(packed: bytes) -> "array[int]":
    return array("q", packed)


class _IdTexts(dict[Any, str]):
    """Cached texts of ids, because formatting one takes longer than hashing a row."""

    def __missing__(self, aggregate_id: Any) -> str:
        try:
            written = str(UUID(aggregate_id))
        except (ValueError, TypeError, AttributeError):  # because SQLite stores any value in the column
            written = str(aggregate_id)
        self[aggregate_id] = written
        return written


def leaves_of(rows: Sequence[Row]) -> bytes:
    """Return the concatenated hashes of rows, also damaged ones."""
    id_texts = _IdTexts()
    try:
        return leaf_hashes(rows, id_texts)
    except TypeError:
        return leaf_hashes([(*row[:4], _state_bytes(row[4])) for row in rows], id_texts)


def _state_bytes(state: Any) -> bytes:
    return state if isinstance(state, bytes) else str(state).encode()
