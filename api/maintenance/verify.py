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

from api.maintenance.attempts_check import Tried
from api.maintenance.ledger_check import of_the_ledger
from api.maintenance.log_check import of_the_tree
from api.maintenance.personal_data_check import Texts, exchanged
from api.maintenance.projection_check import Shelves
from api.maintenance.raw_store import Stored, in_a_line
from api.maintenance.replay_check import MATCH, UNKNOWN, Difference, History
from projections.refs import refs_in

PROGRESS_SECONDS = 5.0
"""Between two lines that tell how far it has come."""


class Found(NamedTuple):
    """What was read of an aggregate, which is of this ``kind``, and what is wrong with it. ``of_no_use``: snapshots
    of another release."""

    kind: str
    events: int
    of_no_use: int
    differences: tuple[Difference, ...]


def verified(stored: Stored, shelves: Shelves, aggregate_id: str, texts: Texts | None = None) -> Found:
    """Check an aggregate by its id as it is stored. ``texts``: shared by several calls."""
    try:
        own = UUID(aggregate_id)
    except ValueError:
        own = None
    if own is None or own.hex != aggregate_id:
        none = Difference(UNKNOWN, repr(aggregate_id), 0, "there are rows under it, and it is none")
        return Found(UNKNOWN, 0, 0, (none,))
    history = History(own, ())
    try:
        # What is compared with the rows is read before them: they only grow.
        tried = Tried(own, stored.attempts(aggregate_id))
        shelf = shelves.of(own)
        history, refs = History(own, stored.snapshots(aggregate_id)), dict[str, int]()
        for rows in stored.rows(aggregate_id):
            recorded = history.take(rows)
            shelf.take(rows, recorded, history.readable)
            tried.take(rows)
            for row in rows:
                if row.number in recorded and isinstance(row.state, bytes) and b"hmac:" in row.state:
                    refs |= {ref: row.number for ref in refs_in(recorded[row.number]) if ref not in refs}
        # Read after the rows: what has been done since is passed over.
        history.end(stored.acts(aggregate_id))
        shelf.compare(history)
        tried.compare(history)
        (texts or Texts(stored)).compare(history, refs)
    except (SQLAlchemyError, ValueError) as error:
        history.say(0, f"it cannot be read: {in_a_line(error)}")
    return Found(history.kind, history.events, history.of_no_use, history.found)


def ids(stored: Stored, shelves: Shelves) -> Iterator[str]:
    """Of whom there is anything, in order."""
    books = [ids for book in shelves.books for ids in stored.ids_in(book)]
    others = stored.ids_of_snapshots(), stored.ids_of_attempts()
    for one, _ in groupby(heapq.merge(stored.ids(), *others, *books)):
        yield one


def verify(url: str, match: str | None, say: Callable[[str], None], progress: Callable[[str], None]) -> int:
    """Verifies a match, or another aggregate by its id, or without one all that is stored: says each difference, and
    at the end what was read.

    The exit code: 0 where all holds, 1 where something does not, 2 where there is nothing under this id. Raises what
    the databases raise.
    """
    stored = Stored(url)
    try:
        shelves = Shelves(stored)
        try:
            return _verify(stored, shelves, match, say, progress)
        finally:
            shelves.close()
    finally:
        stored.close()


def _verify(
    stored: Stored, shelves: Shelves, match: str | None, say: Callable[[str], None], progress: Callable[[str], None]
) -> int:
    events = wrong = of_no_use = 0
    kinds, texts = Counter[str](), Texts(stored)
    began = told = time.monotonic()
    whole = (exchanged(stored), of_the_tree(stored), of_the_ledger(stored)) if match is None else ()
    for difference in chain(_of_the_log(stored, shelves), *whole):
        wrong += 1
        say(difference)
    for aggregate_id in ids(stored, shelves) if match is None else [UUID(match).hex]:
        found = verified(stored, shelves, aggregate_id, texts)
        if match is not None and not found.events and not found.differences:
            progress(f"there is no match or club {match}")
            return 2
        kinds[found.kind] += 1
        events, of_no_use = events + found.events, of_no_use + found.of_no_use
        wrong += len(found.differences)
        for one in found.differences:
            say(str(one))
        if (now := time.monotonic()) - told >= PROGRESS_SECONDS:
            told = now
            pace = events / (now - began)
            progress(f"{_counted(kinds)}, {events} events, {pace:.0f} a second: {wrong} differences")
    what = _counted(kinds) if match is None else f"{next(iter(kinds))} {UUID(match)}"
    if of_no_use:
        say(f"{of_no_use} snapshots are of another release and of no use to this one")
    if wrong:
        say(f"{what}: {events} events, {wrong} differences")
        return 1
    say(f"{what}: {events} events, the chain holds, and rulings, snapshots and books agree with it")
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


def _of_the_log(stored: Stored, shelves: Shelves) -> Iterator[str]:
    """What is wrong with the books as a whole."""
    positions = stored.positions() if shelves.books else {}
    head = stored.head()
    for book in shelves.books:
        position = positions.get(book.key, 0)
        if position > head:
            yield f"book {book.name} has come to position {position}, and the log ends at {head}: it is another log's"
