"""``knacka verify``: whether all that is stored agrees with itself.

Each aggregate is read from its first row on. Its rows have to be numbered without a gap, to be readable, and each to
name the hash of the one before. What was asked is decided again: the request stands on record with the events that it
made, and with a deal the seed that shuffled it; so the last row, which no other names, is proved as well. Snapshots
are compared with the fold at their place, and the keyed acts and the books with what they make of these rows alone;
the ledger of clubs, whose entries are numbered in the order of the log, with what it makes of all rows. The tree over
the log and each checkpoint on record are held against the rows. What was tried and refused is a chain of its own,
each row of which has to name an event that there is, by its hash. Names and texts have to be those whose HMAC stands
in the rows, and each member to have his until he is erased.

What the store alone cannot prove: that acts are missing at the end of which no snapshot and no book tells, or
attempts at the end; that an act was not exchanged, with all that is on record of it, for another that the rules allow
as well; and which cards the house drew for the first deal or for the lead in a duel, for their seed is not on record.
"""

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, groupby
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.exc import SQLAlchemyError

from api.maintenance.attempts_check import AttemptCheck
from api.maintenance.docket_check import DocketCheck
from api.maintenance.ledger_check import check_ledger
from api.maintenance.log_check import check_tree
from api.maintenance.personal_data_check import TextCheck, changed_texts
from api.maintenance.projection_check import StoredProjections
from api.maintenance.raw_store import Stored, one_line
from api.maintenance.replay_check import MATCH, UNKNOWN, Difference, History
from projections.refs import refs_in

PROGRESS_SECONDS = 5.0
"""Between two lines that tell how far it has come."""


class Found(NamedTuple):
    """What was read of an aggregate, which is of this ``kind``, and what is wrong with it. ``of_no_use``: snapshots
    of another release."""

    kind: str
    events: int
    unusable_snapshots: int
    differences: tuple[Difference, ...]


def verify_aggregate(
    stored: Stored,
    projections: StoredProjections,
    aggregate_id: str,
    texts: TextCheck | None = None,
    dockets: DocketCheck | None = None,
) -> Found:
    """Check an aggregate by its id as it is stored. ``texts``, ``dockets``: shared by several calls."""
    try:
        valid_id = UUID(aggregate_id)
    except ValueError:
        valid_id = None
    if valid_id is None or valid_id.hex != aggregate_id:
        no_id = Difference(UNKNOWN, repr(aggregate_id), 0, "there are rows under it, and it is none")
        return Found(UNKNOWN, 0, 0, (no_id,))
    history = History(valid_id, ())
    try:
        # What is compared with the rows is read before them: they only grow.
        attempts = AttemptCheck(valid_id, stored.attempts(aggregate_id))
        projection_check = projections.of(valid_id)
        history, refs = History(valid_id, stored.snapshots(aggregate_id)), dict[str, int]()
        for rows in stored.rows(aggregate_id):
            recorded = history.add(rows)
            projection_check.add(rows, recorded, history.readable)
            attempts.add(rows)
            for row in rows:
                if row.number in recorded and isinstance(row.state, bytes) and b"hmac:" in row.state:
                    refs |= {ref: row.number for ref in refs_in(recorded[row.number]) if ref not in refs}
        # Read after the rows: what has been done since is passed over.
        history.end(stored.acts(aggregate_id))
        projection_check.compare(history)
        attempts.compare(history)
        (texts or TextCheck(stored)).compare(history, refs)
        (dockets or DocketCheck(stored)).compare(history)
    except (SQLAlchemyError, ValueError) as error:
        history.report(0, f"it cannot be read: {one_line(error)}")
    return Found(history.kind, history.events, history.unusable_snapshots, history.differences)


def ids(stored: Stored, projections: StoredProjections) -> Iterator[str]:
    """Of whom there is anything, in order."""
    books = [ids for book in projections.books for ids in stored.ids_in(book)]
    others = stored.ids_of_snapshots(), stored.ids_of_attempts()
    for one, _ in groupby(heapq.merge(stored.ids(), *others, *books)):
        yield one


def verify(url: str, match: str | None, say: Callable[[str], None], progress: Callable[[str], None]) -> int:
    """Verifies a match, or another aggregate by its id, or without one all that is stored: says each difference, and
    at the end what was read.

    The exit code: 0 where all holds, 1 where something does not, 2 where there is nothing under this id. Raises what
    the databases raise, and :class:`~referee.store.rows.OlderStore`.
    """
    stored = Stored(url)
    try:
        stored.refuse_older()
        projections = StoredProjections(stored)
        try:
            return _verify(stored, projections, match, say, progress)
        finally:
            projections.close()
    finally:
        stored.close()


def _verify(
    stored: Stored,
    projections: StoredProjections,
    match: str | None,
    say: Callable[[str], None],
    progress: Callable[[str], None],
) -> int:
    events = wrong = unusable_snapshots = 0
    kinds, texts, dockets = Counter[str](), TextCheck(stored), DocketCheck(stored)
    began = reported = time.monotonic()
    checks_of_all = (changed_texts(stored), check_tree(stored), check_ledger(stored)) if match is None else ()
    for difference in chain(_check_positions(stored, projections), *checks_of_all):
        wrong += 1
        say(difference)
    for aggregate_id in ids(stored, projections) if match is None else [UUID(match).hex]:
        found = verify_aggregate(stored, projections, aggregate_id, texts, dockets)
        if match is not None and not found.events and not found.differences:
            progress(f"there is no match or club {match}")
            return 2
        kinds[found.kind] += 1
        events, unusable_snapshots = events + found.events, unusable_snapshots + found.unusable_snapshots
        wrong += len(found.differences)
        for one in found.differences:
            say(str(one))
        if (now := time.monotonic()) - reported >= PROGRESS_SECONDS:
            reported = now
            pace = events / (now - began)
            progress(f"{_counted(kinds)}, {events} events, {pace:.0f} a second: {wrong} differences")
    checked = _counted(kinds) if match is None else f"{next(iter(kinds))} {UUID(match)}"
    if unusable_snapshots:
        say(f"{unusable_snapshots} snapshots are of another release and of no use to this one")
    if wrong:
        say(f"{checked}: {events} events, {wrong} differences")
        return 1
    say(f"{checked}: {events} events, the chain holds, and rulings, snapshots and books agree with it")
    return 0


def _counted(kinds: Mapping[str, int]) -> str:
    """How many there are of each kind; matches also where there are none, and of a log there is one."""
    matches, clubs, unknown = (kinds.get(kind, 0) for kind in (MATCH, "club", UNKNOWN))
    parts = [
        "1 match" if matches == 1 else f"{matches} matches",
        *(["1 club" if clubs == 1 else f"{clubs} clubs"] if clubs else []),
        *(["the log"] if "log" in kinds else []),
        *([f"{unknown} of no known kind"] if unknown else []),
    ]
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _check_positions(stored: Stored, projections: StoredProjections) -> Iterator[str]:
    """What is wrong with the books as a whole."""
    positions = stored.positions() if projections.books else {}
    head = stored.head()
    for book in projections.books:
        position = positions.get(book.key, 0)
        if position > head:
            yield f"book {book.name} has come to position {position}, and the log ends at {head}: it is another log's"
