"""What is answered of a log, for the description: of one that is the same each time, with a key that is no secret."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import msgspec

from api.log.bundle import Bundle, BundleConsistency, BundleRow
from api.log.log import ConsistencyProof, LogShown
from api.log.proving import texts
from referee.events import MatchWon, Recorded
from referee.log.notes import Checkpoint, SigningKey, base64, signed
from referee.log.tree import Tree, leaf_hash, rolled_up
from referee.store.rows import FIRST, row_hash, to_row
from tests.played import opening

KEY = SigningKey("cards.example/log", bytes(32))
MATCH = UUID("0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
BEFORE = 5
"""Rows of others in the log, before the match and between its two."""


def answers(begun: Any) -> dict[str, tuple[str, Any]]:
    """By operation the media type of its answer, and the answer."""
    opened = opening(ruleset="kalabrias", players=2)
    won = MatchWon(seat=1, by="points", rule="E51", points=(312, 505))
    first = to_row(Recorded(MATCH, 1, begun, "official", f"~{'0' * 24}", "0" * 16, FIRST, opened))
    ended = begun + timedelta(hours=1)
    last = to_row(Recorded(MATCH, 2, ended, 1, f"~{'1' * 24}", "1" * 16, row_hash(first), won))
    others = [leaf_hash(str(MATCH), number, "none/such", b"") for number in range(2 * BEFORE)]
    rows = {BEFORE: first, 2 * BEFORE + 1: last}
    leaves = [*others[:BEFORE], bytes.fromhex(row_hash(first)), *others[BEFORE:], bytes.fromhex(row_hash(last))]
    tiles = rolled_up({}, b"".join(leaves), 0)
    tree = Tree(size=len(leaves), tiles=lambda *tile: tiles[tile])
    note = signed(Checkpoint(origin=KEY.name, size=tree.size, root=tree.root()), [KEY])
    older = texts(tree.consistency(BEFORE))
    proof = ["c2sp.org/tlog-proof@v1", f"index {BEFORE}", *texts(tree.inclusion(BEFORE)), "", note]
    bundle = Bundle(
        checkpoint=note,
        consistency=BundleConsistency(from_=BEFORE, proof=older),
        count=2,
        rows=tuple(
            [
                BundleRow(
                    index=index,
                    id=str(MATCH),
                    version=row.originator_version,
                    topic=row.topic,
                    state=base64(row.state),
                    proof=texts(tree.inclusion(index)),
                )
                for index, row in rows.items()
            ]
        ),
    )
    shown = LogShown(origin=KEY.name, vkeys=(KEY.vkey,), size=tree.size + 1, signed=tree.size)
    consistency = ConsistencyProof(from_=BEFORE, to=tree.size, proof=older)
    json, plain = "application/json", "text/plain"
    return {
        "get_log": (json, msgspec.to_builtins(shown)),
        "get_checkpoint": (plain, note),
        "get_consistency": (json, msgspec.to_builtins(consistency)),
        "get_event_proof": (plain, "\n".join(proof)),
        "get_bundle": (json, msgspec.to_builtins(bundle)),
    }
