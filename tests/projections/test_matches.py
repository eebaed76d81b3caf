"""The list of matches: each once, in order, by any filter; and no cursor but ours."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest
from eventsourcing.persistence import StoredEvent
from sqlalchemy import Connection, Engine

from projections.follow.follow import prepare
from projections.matches import Listed, Matches
from referee.store.aggregate import fold
from referee.store.match import Match
from referee.store.rows import from_row
from referee.visibility import Recorded
from tests.projections.filled_log import last_versions, page_of
from tests.support.random_matches import opening

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


@pytest.fixture
def connection(engine: Engine) -> Iterator[Connection]:
    """Yield a transaction on the projections."""
    projection = Matches()
    prepare(engine, [projection])
    with engine.begin() as connection:
        yield connection


def open_many(connection: Connection, projection: Matches, count: int) -> list[UUID]:
    """Open ``count`` matches, two at each full minute from noon. Return their ids in the order of the list."""
    page, ids = [], []
    for number in range(count):
        match_id, at = uuid4(), NOON + timedelta(minutes=number // 2)
        opened = opening(players=3 + number % 2, enforcement="refuse" if number % 3 else "penalise")
        recorded = Recorded(match_id, 1, at, "official", f"act-{number}", "", "", opened)
        page.append(recorded)
        ids.append((at, match_id.bytes, match_id))
    projection.apply(connection, page_of(page))
    return [match_id for *_, match_id in sorted(ids)]


def all_pages(projection: Matches, connection: Connection, limit: int, **filters: object) -> list[Listed]:
    found: list[Listed] = []
    cursor: str | None = None
    while True:
        page, cursor = projection.page(connection, after=cursor, limit=limit, **filters)
        assert len(page) <= limit
        found += page
        if cursor is None:
            return found
        assert len(page) == limit


def test_an_entry_is_the_match_as_it_stands(connection: Connection, rows: Sequence[StoredEvent]):
    projection = Matches()
    events = [from_row(row) for row in rows]
    for first in range(0, len(events), 11):
        projection.apply(connection, page_of(events[first : first + 11]))
    entries, cursor = projection.page(connection)
    assert cursor is None
    assert {entry.match: entry.version for entry in entries} == last_versions(rows)
    over = 0
    for entry in entries:
        match: Match = fold(None, (recorded for recorded in events if recorded.originator_id == entry.match))
        shown = match.rules.view(match.play, "spectator")
        assert entry.opened_at == match.opened_at
        assert entry.changed_at == match.changed_at
        assert (entry.ruleset, entry.players) == (match.opened.ruleset, match.opened.players)
        assert (entry.dealing, entry.enforcement) == (match.opened.dealing, match.opened.enforcement)
        assert entry.winner == shown.winner
        assert (entry.status == "over") == (shown.phase == "over")
        assert entry.deal == shown.deal
        over += entry.status == "over"
        assert projection.version(connection, entry.match) == match.version
    assert 0 < over < len(entries)
    assert len(projection.page(connection, status="over")[0]) == over


@pytest.mark.parametrize("limit", [1, 2, 3, 10, 50])
def test_pages_make_up_the_whole_list_each_match_once(connection: Connection, limit: int):
    projection = Matches()
    ids = open_many(connection, projection, 10)
    assert [entry.match for entry in all_pages(projection, connection, limit)] == ids


def test_a_match_opened_meanwhile_comes_behind_the_cursor(connection: Connection):
    projection = Matches()
    open_many(connection, projection, 4)
    first, cursor = projection.page(connection, limit=3)
    recorded = Recorded(uuid4(), 1, NOON + timedelta(hours=1), 0, "late", "", "", opening())
    projection.apply(connection, page_of([recorded]))
    rest, _ = projection.page(connection, after=cursor)
    assert [entry.match for entry in rest][-1] == recorded.originator_id
    assert not {entry.match for entry in first} & {entry.match for entry in rest}


def test_each_filter_leaves_what_it_names(connection: Connection):
    projection = Matches()
    open_many(connection, projection, 10)
    four = all_pages(projection, connection, 2, player="P4")
    assert len(four) == 5
    assert all("P4" in entry.players for entry in four)
    for nobody in ("p4", "P", "P4 ", "%", "", "\0", "x" * 5000):
        assert all_pages(projection, connection, 2, player=nobody) == []
    assert len(all_pages(projection, connection, 3, ruleset="rodskagg-kortoxen")) == 10
    assert all_pages(projection, connection, 3, ruleset="whist") == []
    minute = timedelta(minutes=1)
    span = all_pages(projection, connection, 3, opened_from=NOON + minute, opened_to=NOON + 3 * minute)
    assert {entry.opened_at for entry in span} == {NOON + minute, NOON + 2 * minute}
    assert len(span) == 4
    east = all_pages(projection, connection, 3, opened_from=(NOON + minute).astimezone())
    assert len(east) == 8


def test_names_that_a_database_would_not_take_are_listed_and_found(connection: Connection):
    projection = Matches()
    names = ("nul\0", "long" * 3000, "Å\U0001f0cf")
    opened = opening()
    strange = type(opened)(**{name: getattr(opened, name) for name in opened.__struct_fields__} | {"players": names})
    projection.apply(connection, page_of([Recorded(uuid4(), 1, NOON, 0, "act", "", "", strange)]))
    for name in names:
        (entry,), _ = projection.page(connection, player=name)
        assert entry.players == names


def test_no_cursor_but_one_of_ours_is_taken(connection: Connection):
    projection = Matches()
    open_many(connection, projection, 4)
    _, cursor = projection.page(connection, limit=2)
    assert cursor is not None
    broken = [
        cursor[:place] + ("B" if cursor[place] == "A" else "A") + cursor[place + 1 :] for place in range(len(cursor))
    ]
    for wrong in (*broken, cursor[:-1], cursor + "A", cursor + " ", "", "0", "å", "AAAA", cursor * 2):
        with pytest.raises(ValueError, match="not a cursor"):
            projection.page(connection, after=wrong)
