"""Comparison of clubs' money and the log, made from the rows, with the ledger, the closings and the checkpoints."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from api.runtime.projections import log_of
from projections.follow.engine import engine_for
from projections.follow.page import Log, Page
from projections.follow.projection import REBUILD_PAGE, rebuild
from projections.journal import JournalEntry
from projections.ledger import Ledger
from referee.clubs.facts import BooksClosed, ClubFounded, MoneyPosted
from referee.events import MatchOpened, MatchWon
from referee.log.facts import LogSigned
from referee.log.notes import checkpoint_in
from referee.log.tree import HASH_BYTES, leaf_hash, root_of
from referee.officials.events.seating import StakesAgreed
from referee.store.store import construct
from referee.visibility import Recorded
from tests.projections.filled_log import content

CATCH_UP_SECONDS = 30.0
OF_BOOKS = (ClubFounded, MoneyPosted, BooksClosed, MatchOpened, StakesAgreed, MatchWon, LogSigned)
TOLD = {kind.TOPIC for kind in OF_BOOKS}

Found = Callable[[str, str], object]
"""A function that receives the kind and description of each fault."""
Placed = tuple[int, Recorded]
"""An event, and the number of rows before it."""


class Seen:
    """Facts that must not change: answers to clients, and entries of the journals."""

    def __init__(self) -> None:
        self.closed: dict[tuple[UUID, int], str] = {}
        """Digests, by club and closing."""
        self.notes: set[str] = set()
        """Published checkpoints."""
        self.journals: dict[UUID, list[JournalEntry]] = {}


def look(url: str, note: Path, seen: Seen, found: Found) -> tuple[int, int]:
    """Report faults in the money and the checkpoints of a store in use. Return the number of entries and of
    checkpoints. ``note``: the file of the last checkpoint."""
    ledger = Ledger()
    with construct(url) as referee, TemporaryDirectory(prefix="knacka-fresh-") as folder:
        log, kept, fresh = log_of(referee), engine_for(url), engine_for(f"sqlite:///{folder}/knacka.db")
        try:
            leaves, told = _read(log)
            rebuild(log.read, fresh, ledger)
            said, deadline = content(fresh, [ledger]), time.monotonic() + CATCH_UP_SECONDS
            while content(kept, [ledger]) != said and time.monotonic() < deadline:
                time.sleep(0.05)
            if content(kept, [ledger]) != said:
                found("books", "the ledger is not what its events make")
            with fresh.connect() as connection:
                clubs = [one.originator_id for _, one in told if isinstance(one.event, ClubFounded)]
                journals = {club: list(ledger.read(connection, club)) for club in clubs}
                closings = {
                    (club, one.closing): one for club in clubs for one in ledger.closings_of(connection, club)
                }
        finally:
            kept.dispose()
            fresh.dispose()
    _entered(journals, [one for _, one in told], seen, found)
    for which, digest in seen.closed.items():
        if which not in closings or closings[which].digest != digest:
            found("lost", f"closing {which} was answered with {digest}")
    for which, closing in closings.items():
        if not closing.holds:
            found("books", f"closing {which} does not hold")
    return sum(map(len, journals.values())), _signed(leaves, told, note, seen, found)


def _read(log: Log) -> tuple[bytes, list[Placed]]:
    """Return the concatenated hashes of all rows, and the events about money and checkpoints."""
    leaves, told = list[bytes](), list[Placed]()
    for page in _pages(log):
        for row in page.rows:
            _, aggregate, number, topic, state = row
            if topic in TOLD:
                told.append((len(leaves), page.recorded(UUID(aggregate), row)))
            leaves.append(leaf_hash(str(UUID(aggregate)), number, topic, state))
    return b"".join(leaves), told


def _pages(log: Log) -> Iterator[Page]:
    page = log.read(0, REBUILD_PAGE)
    while page:
        yield page
        page = log.read(page.position, REBUILD_PAGE)


def _entered(journals: dict[UUID, list[JournalEntry]], events: Sequence[Recorded], seen: Seen, found: Found) -> None:
    """Check that each posting, and each agreed result of a match, is entered once, and that earlier entries are
    unchanged."""
    due, waiting, ended = Counter[str](), dict[UUID, set[int]](), set[UUID]()
    for one in events:
        whose = one.originator_id
        match one.event:
            case MatchOpened(club=UUID()) as opened if opened.stakes is not None:
                waiting[whose] = set(range(len(opened.players)))
            case StakesAgreed(seats=seats):
                waiting[whose] -= set(seats)
                if whose in ended and not waiting[whose]:
                    due[f"{whose}/{one.originator_version}"] += 1
            case MatchWon(settlement=amounts) if amounts and any(amounts) and whose in waiting:
                ended.add(whose)
                if not waiting[whose]:
                    due[f"{whose}/{one.originator_version}"] += 1
            case MoneyPosted():
                due[f"{one.originator_id}/{one.originator_version}"] += 1
    made = Counter(entry.cause for journal in journals.values() for entry in journal)
    for cause, times in (made - due).items():
        found("twice", f"{cause} is entered {times} times too often")
    for cause in due - made:
        found("lost", f"{cause} is not entered")
    for club, before in seen.journals.items():
        if journals.get(club, [])[: len(before)] != before:
            found("books", f"what stood in the journal of {club} has changed")
    seen.journals = journals


def _signed(leaves: bytes, told: Sequence[Placed], note: Path, seen: Seen, found: Found) -> int:
    """Check that each checkpoint covers existing rows, and more than the one before, and that no client has a
    different one."""
    size, notes, sizes = len(leaves) // HASH_BYTES, [], [0]
    for before, one in told:
        if isinstance(one.event, LogSigned):
            notes.append(one.event.note)
            sizes.append(checkpoint_in(one.event.note).size)
            if sizes[-1] > before:
                found("books", f"row {before} says that {sizes[-1]} were signed")
    if any(later <= earlier for earlier, later in pairwise(sizes)):
        found("books", f"checkpoints are of {sizes} rows")
    kept = [note.read_text()] if note.exists() else []
    for text in [*notes, *kept]:
        signed = checkpoint_in(text)
        if signed.size > size or root_of(leaves[: signed.size * HASH_BYTES]) != signed.root:
            found("books", f"the checkpoint of {signed.size} rows is not of those that are stored")
    if notes and (not kept or checkpoint_in(kept[0]).size < sizes[-1]):
        found("lost", "the last checkpoint is not in its file")
    if strange := seen.notes - set(notes):
        found("lost", f"checkpoints were told that are not on record: {strange}")
    return len(notes)
