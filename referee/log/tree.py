"""A Merkle tree as in RFC 6962, section 2.1, over hashes of rows in the order of the log, stored in tiles.

On level 0 the hashes of a tile are leaves. On a higher level each hash is the root over a full tile of the level
below. Only the last tile of a level may be partial.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from struct import Struct

from referee.value import Value

HASH_BYTES, PAIR_BYTES = 32, 64
TILE_HEIGHT = 8
TILE_WIDTH = 1 << TILE_HEIGHT
TILE_BYTES = TILE_WIDTH * HASH_BYTES
HASH_BEFORE_FIRST = "0" * 64
"""Hash before an aggregate's first row, in hex."""
EMPTY = sha256().digest()

_pairs = Struct(f"{PAIR_BYTES}s").iter_unpack
Hash = bytes
Tiles = Callable[[int, int], bytes]
"""Function that returns a tile's concatenated hashes by level and number, perhaps more than the tree needs."""


def leaf_hash(aggregate_id: str, version: int, topic: str, stored: bytes) -> Hash:
    """Return the SHA-256 of a zero byte, three lines (aggregate id, row number, topic) and the row's stored bytes."""
    return sha256(f"\0{aggregate_id}\n{version}\n{topic}\n".encode() + stored).digest()


def leaf_hashes(rows: Iterable[tuple[int, str, int, str, bytes]], id_texts: Mapping[str, str]) -> bytes:
    """Return the concatenated :func:`leaf_hash` of rows. Raises ``TypeError`` if a stored value is not bytes.

    ``id_texts``: the text to hash for each aggregate id in the rows.
    """
    return b"".join(
        [
            sha256(f"\0{id_texts[aggregate_id]}\n{version}\n{topic}\n".encode() + stored).digest()
            for _, aggregate_id, version, topic, stored in rows
        ]
    )


def node_hash(left: Hash, right: Hash) -> Hash:
    return sha256(b"\1" + left + right).digest()


def root_of(hashes: bytes) -> Hash:
    """Return the root over concatenated hashes of equal subtrees (the last may be smaller).

    Return :data:`EMPTY` without hashes.
    """
    while len(hashes) > HASH_BYTES:
        last = hashes[-HASH_BYTES:] if len(hashes) % PAIR_BYTES else b""
        whole = hashes[: len(hashes) - len(last)]
        hashes = b"".join([sha256(b"\1" + pair).digest() for (pair,) in _pairs(whole)]) + last
    return hashes or EMPTY


class Tree(Value):
    """The tree over the first ``size`` leaves."""

    size: int
    tiles: Tiles

    def root(self) -> Hash:
        return self._root_over(0, self.size)

    def older(self, size: int) -> "Tree":
        assert size <= self.size, "an older tree is no larger"
        return Tree(size=size, tiles=self.tiles)

    def leaf(self, index: int) -> Hash:
        """Return the hash of leaf ``index``, from 0."""
        assert 0 <= index < self.size, "a leaf is in the tree"
        number, place = divmod(index, TILE_WIDTH)
        return self.tiles(0, number)[place * HASH_BYTES :][:HASH_BYTES]

    def inclusion(self, index: int) -> tuple[Hash, ...]:
        """Return the hashes that prove a leaf, the lowest first (RFC 6962, 2.1.1)."""
        assert 0 <= index < self.size, "a leaf is in the tree"
        return tuple(self._root_over(*part) for part in _subtrees_beside(index, 0, self.size))

    def consistency(self, size: int) -> tuple[Hash, ...]:
        """Return the hashes that prove that the first ``size`` leaves are unchanged (RFC 6962, 2.1.2)."""
        assert 0 < size <= self.size, "an older tree is no larger"
        return tuple(self._root_over(*part) for part in _subtrees_between(size, 0, self.size, True))

    def _root_over(self, first: int, end: int) -> Hash:
        """Return the root over leaves ``first`` to ``end - 1``.

        A power of two that is at least ``end - first`` must divide ``first``.
        """
        many = end - first
        if not many:
            return EMPTY
        height = many.bit_length() - 1
        if many == 1 << height:
            level, within = divmod(height, TILE_HEIGHT)
            number, place = divmod(first >> level * TILE_HEIGHT, TILE_WIDTH)
            return root_of(self.tiles(level, number)[place * HASH_BYTES :][: HASH_BYTES << within])
        middle = first + (1 << height)
        return node_hash(self._root_over(first, middle), self._root_over(middle, end))


def _halfway(first: int, end: int) -> int:
    """Return where the second half of two or more leaves begins: after the largest power of two below their
    number."""
    return first + (1 << (end - first - 1).bit_length() - 1)


def _subtrees_beside(index: int, first: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the subtrees beside the path from a leaf to the root over ``first`` to ``end - 1``, the lowest first."""
    if end - first > 1:
        middle = _halfway(first, end)
        below, other = ((first, middle), (middle, end))[:: 1 if index < middle else -1]
        yield from _subtrees_beside(index, *below)
        yield other


def _subtrees_between(size: int, first: int, end: int, known: bool) -> Iterator[tuple[int, int]]:
    """Yield the subtrees that prove the first ``size`` leaves part of the tree over ``first`` to ``end - 1``.

    ``known``: leaves ``first`` to ``size - 1`` are the older tree, whose root is not yielded.
    """
    if size == end:
        if not known:
            yield first, end
        return
    middle = _halfway(first, end)
    if size <= middle:
        yield from _subtrees_between(size, first, middle, known)
        yield middle, end
    else:
        yield from _subtrees_between(size, middle, end, False)
        yield first, middle


def changed_tiles(edge: dict[int, bytes], leaves: bytes, size: int) -> dict[tuple[int, int], bytes]:
    """Return, by level and number, the tiles that change when leaves are appended after the first ``size``.

    ``edge``: by level, the hashes of the last tile if it is not full. ``leaves``: their concatenated hashes.
    """
    changed, level, first = {}, 0, size
    while leaves:
        number, place = divmod(first, TILE_WIDTH)
        hashes = (edge.get(level, b"") if place else b"") + leaves
        assert len(hashes) == place * HASH_BYTES + len(leaves), "the edge of the tree is there"
        tiles = [hashes[at : at + TILE_BYTES] for at in range(0, len(hashes), TILE_BYTES)]
        changed.update({(level, number + further): tile for further, tile in enumerate(tiles)})
        leaves = b"".join([root_of(tile) for tile in tiles if len(tile) == TILE_BYTES])
        level, first = level + 1, number
    return changed
