"""Examples of the answers about a log, which is the same each time and signed with a public test key."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
from eventsourcing.persistence import StoredEvent

from api.log.bundle_schemas import BundleAbout, Last, bundle_of, entry_view
from api.log.log import ConsistencyProof, LogShown
from api.runtime.proofs import Placed, in_base64
from projections.closings import digest
from projections.journal import JournalEntry
from projections.ledger.tables import NO_DIGEST
from referee.clubs.facts import Balance, BooksClosed, MoneyPosted, Posting
from referee.events import MatchWon
from referee.log.facts import LogSigned
from referee.log.notes import Checkpoint, SigningKey, signed_note
from referee.log.tree import Tree, changed_tiles, leaf_hash
from referee.store.rows import HASH_BEFORE_FIRST, row_hash
from referee.visibility import Event, Recorded
from tests.support.random_matches import opening
from tests.support.salted_rows import row_of

KEY = SigningKey("cards.example/log", bytes(32))
MATCH = UUID("0199a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b")
CLUB = UUID("0190b6a4-6e0f-7cc1-93a5-0d5f6a4b1c2d")
BEFORE = 5
"""Number of other rows in the log before the match, and also between its two rows."""


def answers(begun: Any) -> dict[str, tuple[str, Any]]:
    """Return the media type and the answer of each operation of the log."""
    opened = opening(ruleset="kalabrias", players=2)
    won = MatchWon(seat=1, by="points", rule="E51", points=(312, 505))
    first = row_of(Recorded(MATCH, 1, begun, "official", f"~{'0' * 24}", "0" * 16, HASH_BEFORE_FIRST, opened))
    ended = begun + timedelta(hours=1)
    last = row_of(Recorded(MATCH, 2, ended, "seat:1", f"~{'1' * 24}", "1" * 16, row_hash(first), won))
    others = [leaf_hash(str(MATCH), number, "none/such", b"") for number in range(2 * BEFORE)]
    posted, closed, entry = _closing(begun)
    rows = {BEFORE: first, 2 * BEFORE + 1: last, 2 * BEFORE + 2: posted, 2 * BEFORE + 3: closed}
    hashes = {index: bytes.fromhex(row_hash(row)) for index, row in rows.items()}
    waiting = iter(others)
    leaves = [hashes[index] if index in hashes else next(waiting) for index in range(len(rows) + len(others))]
    tiles = changed_tiles({}, b"".join(leaves), 0)
    tree = Tree(size=len(leaves), tiles=lambda *tile: tiles[tile])
    note = signed_note(Checkpoint(origin=KEY.name, size=tree.size, root=tree.root()), [KEY])
    older = in_base64(tree.consistency(BEFORE))
    proof = ["c2sp.org/tlog-proof@v1", f"index {BEFORE}", *in_base64(tree.inclusion(BEFORE)), "", note]
    said = LogSigned(size=tree.size, root=tree.root().hex(), note=note)
    placed = [
        Placed(index, (index, str(row.originator_id), row.originator_version, row.topic, row.state))
        for index, row in rows.items()
    ]
    about = BundleAbout(kind="match", id=placed[0].row[1], closing=None)
    last_rows = {one.row[1]: Last(one, tree.size) for one in placed}
    bundle = bundle_of(about, said, tree, BEFORE, placed[:2], last_rows, (KEY,), (), ())
    closing = BundleAbout(kind="closing", id=str(CLUB), closing=1)
    of_club = bundle_of(closing, said, tree, BEFORE, placed[2:], last_rows, (KEY,), (), (entry_view(entry),))
    shown = LogShown(origin=KEY.name, vkeys=(KEY.vkey,), signed=tree.size)
    consistency = ConsistencyProof(from_=BEFORE, to=tree.size, proof=older)
    json, plain = "application/json", "text/plain"
    return {
        "get_log": (json, msgspec.to_builtins(shown)),
        "get_checkpoint": (plain, note),
        "get_consistency": (json, msgspec.to_builtins(consistency)),
        "get_event_proof": (plain, "\n".join(proof)),
        "get_bundle": (json, msgspec.to_builtins(bundle)),
        "get_club_bundle": (json, msgspec.to_builtins(of_club)),
    }


def _closing(begun: datetime) -> tuple[StoredEvent, StoredEvent, JournalEntry]:
    """Return the rows of a deposit and of the closing after it, and the deposit's entry."""
    postings = Posting(account="cash", amount=5000), Posting(account="member:2", amount=-5000)
    entry = JournalEntry(
        number=1,
        date=begun.date(),
        kind="deposit",
        currency="SEK",
        cause=f"{CLUB}/8",
        postings=postings,
        evening=None,
        reverses=None,
        by="key:k1",
    )
    trial = tuple([Balance(account=one.account, currency="SEK", amount=one.amount) for one in postings])
    posted: Event = MoneyPosted(kind="deposit", currency="SEK", postings=postings, by="key:k1")
    closed: Event = BooksClosed(closing=1, through=1, digest=digest(NO_DIGEST, [entry]), trial=trial, label="2026")
    first = row_of(Recorded(CLUB, 8, begun, "key:k1", f"~{'2' * 24}", "2" * 16, "0" * 64, posted))
    last = row_of(Recorded(CLUB, 9, begun, "key:k1", f"~{'3' * 24}", "3" * 16, row_hash(first), closed))
    return first, last, entry
