"""``knacka verify``: checks that all stored data agree with each other.

Each aggregate is read from its first row. Its rows must be numbered without a gap, be readable, and each name the
hash of the row before. Each request is decided again: it is recorded with its events, and with the seed of a deal. So
the last row, whose hash no row names, is checked too. Snapshots are compared with the fold at their event, keyed acts
and projections with those calculated from these rows alone. The ledger of clubs numbers its entries in the order of
the log, so it is compared with one calculated from all rows. The tree over the log and each recorded checkpoint are
compared with the rows. Refused attempts are a chain of their own; each must name an existing event by its hash. Names
and texts must match the HMACs in the rows, and each member must have a name until erased.

The store alone cannot prove three things: that no acts are missing at the end of a history, after the last one in a
snapshot or projection, or attempts at the end; that no act was replaced, with all its records, by a different legal
one; which cards the house drew for the first deal or for the lead in a duel, for their seed is not recorded.
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
"""Seconds between two lines of progress."""


class Found(NamedTuple):
    """The result for one aggregate: its kind, the number of its events, its snapshots of a different release, and its
    differences."""

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
        no_id = Difference(UNKNOWN, repr(aggregate_id), 0, "it has rows, but is not the id of a match or club")
        return Found(UNKNOWN, 0, 0, (no_id,))
    history = History(valid_id, ())
    try:
        # Data to compare with the rows are read before them: rows are only added.
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
        # Read after the rows: acts since then are ignored.
        history.end(stored.acts(aggregate_id))
        projection_check.compare(history)
        attempts.compare(history)
        (texts or TextCheck(stored)).compare(history, refs)
        (dockets or DocketCheck(stored)).compare(history)
    except (SQLAlchemyError, ValueError) as error:
        history.report(0, f"it cannot be read: {one_line(error)}")
    return Found(history.kind, history.events, history.unusable_snapshots, history.differences)


def ids(stored: Stored, projections: StoredProjections) -> Iterator[str]:
    """Yield the ids of all aggregates in the store, in order."""
    ids_of_projections = [ids for projection in projections.existing for ids in stored.ids_in(projection)]
    others = stored.ids_of_snapshots(), stored.ids_of_attempts()
    for one, _ in groupby(heapq.merge(stored.ids(), *others, *ids_of_projections)):
        yield one


def verify(url: str, match: str | None, say: Callable[[str], None], progress: Callable[[str], None]) -> int:
    """Check one aggregate by its id (``match``), or the whole store; report each difference, and a summary.

    Return the exit code: 0 without differences, 1 with some, 2 for an unknown id. Raises the databases' errors, and
    :class:`~referee.store.rows.OlderStore`.
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
        say(f"{unusable_snapshots} snapshots are of a different release and are not used")
    if wrong:
        say(f"{checked}: {events} events, {wrong} differences")
        return 1
    say(f"{checked}: {events} events, no differences: chain, decisions, snapshots and projections agree")
    return 0


def _counted(kinds: Mapping[str, int]) -> str:
    """Return the number of each kind as text: always that of matches, the other kinds only if there are any."""
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
    """Yield a line for each projection whose position is after the end of the log."""
    positions = stored.positions() if projections.existing else {}
    head = stored.head()
    for projection in projections.existing:
        position = positions.get(projection.key, 0)
        if position > head:
            yield (
                f"projection {projection.name} is at position {position}, but the log ends at {head}: it belongs to "
                f"a different log"
            )
