"""Compares the signed log with the rows."""

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection

from projections.audit.findings import DIFFERENCES_MAX, Findings
from projections.audit.reading import Rows
from projections.log import Log
from referee.log.tree import TILE_WIDTH

LEVELS = 8
"""Levels of tiles in a tree of 2^63 leaves."""


class Checkpoint(NamedTuple):
    """A signed number of rows, and the root of their tree in hex."""

    size: int
    root: str


EventAt = Callable[[int], tuple[UUID, int] | None]
"""Function that returns the aggregate and number of the event at a position; ``None`` if it is not the club's."""


def compare(
    rows: Rows,
    log: Connection,
    projection: Log,
    to: int,
    signed: Checkpoint | None,
    event_at: EventAt,
    findings: Findings,
) -> None:
    """Report where the stored log or the checkpoint ``signed`` differs from the rows up to position ``to``.

    The tiles above the leaves are compared only if the leaves are equal.
    """
    made, size = rows.made, rows.tree.size(rows.made)
    tile = _first_differing_tile(rows, log, projection, 0)
    if tile is None and projection.size_at(log, to) != size:
        tile = max(0, (size - 1) // TILE_WIDTH)
    if tile is not None:
        _compare_leaves(rows, log, projection, to, tile, event_at, findings)
    else:
        for level in range(1, LEVELS):
            if (number := _first_differing_tile(rows, log, projection, level)) is not None:
                findings.add("log", "tile", leaf=number * TILE_WIDTH ** (level + 1), stands=f"{level}/{number}")
    if signed is None:
        return
    if signed.size > size:
        findings.add("log", "checkpoint_size", stands=size, should=signed.size)
    elif (root := rows.tree.tree(made, signed.size).root().hex()) != signed.root:
        findings.add("log", "checkpoint_root", stands=root, should=signed.root)


def _first_differing_tile(rows: Rows, log: Connection, projection: Log, level: int) -> int | None:
    """Return the first tile of the rows that differs or is missing in the stored log; ``None`` if none does."""
    theirs = projection.tiles_of(log, level)
    for number, hashes, positions in rows.tree.tiles_of(rows.made, level):
        there, stored, at = next(theirs, (-1, b"", b""))
        if there != number or not stored.startswith(hashes) or not at.startswith(positions):
            return number
    return None


def _compare_leaves(
    rows: Rows, log: Connection, projection: Log, to: int, first: int, event_at: EventAt, findings: Findings
) -> None:
    """Report, from tile ``first`` on, wrong leaves, leaves without rows, and rows without leaves."""
    ours, theirs = rows.tree.leaves(rows.made, first=first), projection.leaves(log, first=first)
    actual, stored = next(ours, None), next(theirs, None)

    def place(position: int) -> dict[str, Any]:
        known = event_at(position) if findings.counts["log"] < DIFFERENCES_MAX else None
        return {} if known is None else {"aggregate": str(known[0]), "event": known[1]}

    while actual is not None or (stored is not None and stored[1] <= to):
        if actual is None or (stored is not None and stored[1] < actual[1]):
            assert stored is not None, "the loop's condition"
            findings.add("log", "leaf_without_row", leaf=stored[0], stands="", should=stored[2].hex())
            stored = next(theirs, None)
        elif stored is None or stored[1] > actual[1]:
            findings.add("log", "row_without_leaf", **place(actual[1]), leaf=actual[0], stands=actual[2].hex())
            actual = next(ours, None)
        else:
            if stored[2] != actual[2]:
                values = {"stands": actual[2].hex(), "should": stored[2].hex()}
                findings.add("log", "row_otherwise", **place(actual[1]), leaf=stored[0], **values)
            actual, stored = next(ours, None), next(theirs, None)
