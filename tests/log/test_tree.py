"""The tree of RFC 6962 beside its definition, which is recursive: roots, proofs, and how the tiles grow."""

from collections.abc import Sequence
from hashlib import sha256
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.log.tree import HASH_BYTES, TILE_BYTES, TILE_WIDTH, Tree, changed_tiles, leaf_hash

# The definitions of RFC 6962, 2.1, 2.1.1 and 2.1.2, copied literally


def halves(leaves: Sequence[bytes]) -> int:
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return k


def mth(leaves: Sequence[bytes]) -> bytes:
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = halves(leaves)
    return sha256(b"\x01" + mth(leaves[:k]) + mth(leaves[k:])).digest()


def path(m: int, leaves: Sequence[bytes]) -> list[bytes]:
    if len(leaves) == 1:
        return []
    k = halves(leaves)
    if m < k:
        return [*path(m, leaves[:k]), mth(leaves[k:])]
    return [*path(m - k, leaves[k:]), mth(leaves[:k])]


def subproof(m: int, leaves: Sequence[bytes], known: bool) -> list[bytes]:
    if m == len(leaves):
        return [] if known else [mth(leaves)]
    k = halves(leaves)
    if m <= k:
        return [*subproof(m, leaves[:k], known), mth(leaves[k:])]
    return [*subproof(m - k, leaves[k:], False), mth(leaves[:k])]


# Ours


class Grown:
    """Tiles that leaves were added to."""

    def __init__(self) -> None:
        self.size = 0
        self.tiles: dict[tuple[int, int], bytes] = {}

    def add(self, leaves: Sequence[bytes]) -> None:
        edge = {}
        for level, number in sorted(self.tiles):
            edge[level] = tile if len(tile := self.tiles[level, number]) < TILE_BYTES else b""
        self.tiles |= changed_tiles(edge, b"".join(leaves), self.size)
        self.size += len(leaves)

    def tree(self, size: int | None = None) -> Tree:
        return Tree(size=self.size if size is None else size, tiles=lambda *tile: self.tiles[tile])


def leaves_of(size: int) -> list[bytes]:
    return [sha256(str(number).encode()).digest() for number in range(size)]


def grown(leaves: Sequence[bytes], chance: Random) -> Grown:
    """Return a tree that was grown in pages of random sizes."""
    made, at = Grown(), 0
    while at < len(leaves):
        page = chance.choice([1, 2, 7, 255, 256, 257, 600, 3000])
        made.add(leaves[at : at + page])
        at += page
    return made


SIZES = st.one_of(st.integers(1, 40), st.integers(200, 600), st.integers(1, 3000))


@given(SIZES, st.randoms(use_true_random=False))
def test_roots_and_proofs_are_those_of_the_definition(size: int, chance: Random):
    leaves = leaves_of(size)
    made = grown(leaves, chance)
    older, index = chance.randint(1, size), chance.randrange(size)
    tree = made.tree()
    assert tree.root() == mth(leaves)
    assert made.tree(older).root() == mth(leaves[:older])
    assert tree.leaf(index) == leaves[index]
    assert list(tree.inclusion(index)) == path(index, leaves)
    assert list(tree.consistency(older)) == subproof(older, leaves, True)


def test_three_levels_of_tiles():
    size = TILE_WIDTH * TILE_WIDTH + 300
    leaves = leaves_of(size)
    made = Grown()
    made.add(leaves[:70_000])
    tree = made.tree(size := 65_800)
    assert {level for level, _ in made.tiles} == {0, 1, 2}
    assert tree.root() == mth(leaves[:size])
    for index in (0, 255, 256, 65_535, 65_536, size - 1):
        assert list(tree.inclusion(index)) == path(index, leaves[:size])
    for older in (1, 256, 65_535, 65_536, 65_537, size):
        assert list(tree.consistency(older)) == subproof(older, leaves[:size], True)


@given(st.integers(0, 2000), st.randoms(use_true_random=False))
def test_pages_of_any_size_make_the_same_tiles(size: int, chance: Random):
    leaves, whole = leaves_of(size), Grown()
    whole.add(leaves)
    assert grown(leaves, chance).tiles == whole.tiles
    assert sum(len(tile) for (level, _), tile in whole.tiles.items() if level == 0) == size * HASH_BYTES


def test_the_root_of_nothing_and_of_one():
    """RFC 6962, 2.1: the hash of an empty string; the hash of the leaf."""
    empty = Grown()
    assert empty.tree().root().hex() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    empty.add([leaf := leaf_hash("a", 1, "b/c", b"{}")])
    assert empty.tree().root() == leaf == sha256(b"\0a\n1\nb/c\n{}").digest()


def test_leaves_do_not_come_behind_what_is_missing():
    made = Grown()
    made.add(leaves_of(5))
    with pytest.raises(AssertionError, match="the edge of the tree is there"):
        changed_tiles({}, made.tiles[0, 0], 5)
