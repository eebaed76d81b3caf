"""``knacka verify``: checks that all stored data agree with each other.

Rows must be complete, readable and chained. Each request is decided again from its row and seed. Other data of the
store (snapshots, keyed acts, projections, ledger, tree, checkpoints) must agree with the rows. Names and texts must
match their refs. Refused attempts must match their events.

The store does not show whether acts are missing at its end, or whether a different legal act has replaced an act
with all its records. The draws for the first deal and for a duel's lead are not checked, because their seeds are not
recorded.
"""

import heapq
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
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
from api.maintenance.raw_store import StoreReader, one_line_message
from api.maintenance.replay_check import MATCH, UNKNOWN, Difference, History
from projections.refs import refs_in

PROGRESS_SECONDS = 5.0


class AggregateResult(NamedTuple):
    kind: str
    events: int
    snapshots_of_other_releases: int
    differences: tuple[Difference, ...]


def verify_aggregate(
    stored: StoreReader,
    projections: StoredProjections,
    aggregate_id: str,
    texts: TextCheck | None = None,
    dockets: DocketCheck | None = None,
) -> AggregateResult:
    """Check the aggregate with this hex id. If it cannot be read, return that as a difference.

    Several calls may share ``texts`` and ``dockets``.
    """
    try:
        valid_id = UUID(aggregate_id)
    except ValueError:
        valid_id = None
    if valid_id is None or valid_id.hex != aggregate_id:
        no_id = Difference(UNKNOWN, repr(aggregate_id), 0, "it has rows, but is not the id of a match or club")
        return AggregateResult(UNKNOWN, 0, 0, (no_id,))
    history = History(valid_id, ())
    try:
        # Attempts and projections are read first, because a running service may add rows.
        attempts = AttemptCheck(valid_id, stored.attempts(aggregate_id))
        projection_check = projections.check_for(valid_id)
        history, refs = History(valid_id, stored.snapshots(aggregate_id)), dict[str, int]()
        for rows in stored.pages_of_rows(aggregate_id):
            recorded = history.add(rows)
            projection_check.add(rows, recorded, history.readable)
            attempts.add(rows)
            for row in rows:
                if row.number in recorded and isinstance(row.state, bytes) and b"hmac:" in row.state:
                    refs |= {ref: row.number for ref in refs_in(recorded[row.number]) if ref not in refs}
        history.end(stored.acts(aggregate_id))
        projection_check.compare(history)
        attempts.compare(history)
        (texts or TextCheck(stored)).compare(history, refs)
        (dockets or DocketCheck(stored)).compare(history)
    except (SQLAlchemyError, ValueError) as error:
        history.report(0, f"it cannot be read: {one_line_message(error)}")
    return AggregateResult(history.kind, history.events, history.snapshots_of_other_releases, history.differences)


def ids_to_verify(stored: StoreReader, projections: StoredProjections) -> Iterator[str]:
    """Yield the ids of all aggregates that have rows, snapshots, attempts or projections, in order."""
    ids_of_projections = [ids for projection in projections.existing for ids in stored.ids_per_table(projection)]
    others = stored.ids_of_snapshots(), stored.ids_of_attempts()
    for one, _ in groupby(heapq.merge(stored.aggregate_ids(), *others, *ids_of_projections)):
        yield one


def verify(url: str, match_or_club: str | None, say: Callable[[str], None], progress: Callable[[str], None]) -> int:
    """Check the match or club with this id; None: the whole store. ``say``: gets the differences and a summary.

    Return the exit code: 0 without differences, 1 with differences, 2 for an unknown id. Raises ``ValueError`` for a
    malformed id, and the errors of :class:`StoreReader`, ``check_release`` and ``check_games``.
    """
    with closing(StoreReader(url)) as stored:
        stored.check_release()
        stored.check_games()
        with closing(StoredProjections(stored)) as projections:
            return _verify(stored, projections, match_or_club, say, progress)


def _verify(
    stored: StoreReader,
    projections: StoredProjections,
    match_or_club: str | None,
    say: Callable[[str], None],
    progress: Callable[[str], None],
) -> int:
    events = wrong = unused_snapshots = 0
    kinds, texts, dockets = Counter[str](), TextCheck(stored), DocketCheck(stored)
    began = reported = time.monotonic()
    checks_of_all = (changed_texts(stored), check_tree(stored), check_ledger(stored)) if match_or_club is None else ()
    for difference in chain(_projections_ahead_of_log(stored, projections), *checks_of_all):
        wrong += 1
        say(difference)
    for aggregate_id in ids_to_verify(stored, projections) if match_or_club is None else [UUID(match_or_club).hex]:
        found = verify_aggregate(stored, projections, aggregate_id, texts, dockets)
        if match_or_club is not None and not found.events and not found.differences:
            progress(f"there is no match or club {match_or_club}")
            return 2
        kinds[found.kind] += 1
        events += found.events
        unused_snapshots += found.snapshots_of_other_releases
        wrong += len(found.differences)
        for one in found.differences:
            say(str(one))
        if (now := time.monotonic()) - reported >= PROGRESS_SECONDS:
            reported = now
            pace = events / (now - began)
            progress(f"{_kinds_text(kinds)}, {events} events, {pace:.0f} a second: {wrong} differences")
    checked = _kinds_text(kinds) if match_or_club is None else f"{next(iter(kinds))} {UUID(match_or_club)}"
    if unused_snapshots:
        say(f"{unused_snapshots} snapshots are of a different release and are not used")
    if wrong:
        say(f"{checked}: {events} events, {wrong} differences")
        return 1
    say(f"{checked}: {events} events, no differences: chain, decisions, snapshots and projections agree")
    return 0


def _kinds_text(kinds: Mapping[str, int]) -> str:
    """Return for example ``2 matches, 1 club and the log``."""
    matches, clubs, unknown = (kinds.get(kind, 0) for kind in (MATCH, "club", UNKNOWN))
    parts = [
        "1 match" if matches == 1 else f"{matches} matches",
        *(["1 club" if clubs == 1 else f"{clubs} clubs"] if clubs else []),
        *(["the log"] if "log" in kinds else []),
        *([f"{unknown} of no known kind"] if unknown else []),
    ]
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last


def _projections_ahead_of_log(stored: StoreReader, projections: StoredProjections) -> Iterator[str]:
    positions, head = stored.positions(), stored.last_position()
    for projection in projections.existing:
        position = positions.get(projection.key, 0)
        if position > head:
            yield (
                f"projection {projection.name} is at position {position}, but the log ends at {head}: it belongs to "
                f"a different log"
            )
