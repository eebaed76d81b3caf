"""The log that is signed, held against the rows: each is the leaf at its place, and the checkpoint is over them."""

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Connection

from projections.audit.findings import TOLD_MAX, Findings
from projections.audit.reading import Rows
from projections.log import Log
from referee.log.tree import TILE_WIDTH

LEVELS = 8
"""More than a tree of 2^63 leaves has, in tiles of 256."""


class Signed(NamedTuple):
    """The last checkpoint: over how many rows, and their root in hex."""

    size: int
    root: str


Whose = Callable[[int], tuple[UUID, int] | None]
"""Which event is stored at a position of the log; ``None``: none, or one of others."""


def compare(
    rows: Rows, kept: Connection, book: Log, to: int, signed: Signed | None, whose: Whose, findings: Findings
) -> None:
    """Says in which places the log differs from the rows up to a position. What is another club's is told by its
    place alone."""
    made, size = rows.made, rows.tree.size(rows.made)
    first = _otherwise(rows, kept, book, 0)
    if first is not None or book.size_at(kept, to) != size:
        _leaves(rows, kept, book, to, max(0, (size - 1) // TILE_WIDTH) if first is None else first, whose, findings)
    else:
        for level in range(1, LEVELS):
            if (number := _otherwise(rows, kept, book, level)) is not None:
                findings.say("log", "tile", leaf=number * TILE_WIDTH ** (level + 1), stands=f"{level}/{number}")
    if signed is None:
        return
    if signed.size > size:
        findings.say("log", "checkpoint_size", stands=size, should=signed.size)
    elif (root := rows.tree.tree(made, signed.size).root().hex()) != signed.root:
        findings.say("log", "checkpoint_root", stands=root, should=signed.root)


def _otherwise(rows: Rows, kept: Connection, book: Log, level: int) -> int | None:
    """The first tile of a level that is not there as the rows make it."""
    theirs = book.tiles_of(kept, level)
    for number, hashes, positions in rows.tree.tiles_of(rows.made, level):
        there, told, at = next(theirs, (-1, b"", b""))
        if there != number or not told.startswith(hashes) or not at.startswith(positions):
            return number
    return None


def _leaves(rows: Rows, kept: Connection, book: Log, to: int, first: int, whose: Whose, findings: Findings) -> None:
    """Goes through the leaves from a tile on, by the positions of their rows."""
    ours, theirs = rows.tree.leaves(rows.made, first=first), book.leaves(kept, first=first)
    real, told = next(ours, None), next(theirs, None)

    def place(position: int) -> dict[str, Any]:
        known = whose(position) if findings.counts["log"] < TOLD_MAX else None
        return {} if known is None else {"aggregate": str(known[0]), "event": known[1]}

    while real is not None or (told is not None and told[1] <= to):
        if real is None or (told is not None and told[1] < real[1]):
            assert told is not None, "there is one of the two"
            findings.say("log", "leaf_without_row", leaf=told[0], stands="", should=told[2].hex())
            told = next(theirs, None)
        elif told is None or told[1] > real[1]:
            findings.say("log", "row_without_leaf", **place(real[1]), leaf=real[0], stands=real[2].hex())
            real = next(ours, None)
        else:
            if told[2] != real[2]:
                said = {"stands": real[2].hex(), "should": told[2].hex()}
                findings.say("log", "row_otherwise", **place(real[1]), leaf=told[0], **said)
            real, told = next(ours, None), next(theirs, None)
