"""The comparison after a stop detects each fault."""

import asyncio
from contextlib import suppress

import pytest

from api.runtime.projections import Projections
from projections.cases import Cases
from projections.pots import Pots
from referee.store.store import construct
from tests.faults.fault_kinds import Report
from tests.faults.play import Enough
from tests.faults.service_under_load import playing
from tests.faults.stops import compared, stops
from tests.faults.stores import STORES, PostgreSQL
from tests.faults.test_faults import THINKS_SECONDS
from tests.support.edited_stores import Editor, played

STOPS = 1


@pytest.mark.parametrize("name", STORES)
def test_a_stop_at_lag_0_leaves_no_book_behind_or_wrong(name: str) -> None:
    report = Report()

    async def stopped() -> None:
        with STORES[name]() as store:
            proxied = isinstance(store, PostgreSQL)
            async with playing(store, "stops", proxied=proxied, thinks=THINKS_SECONDS) as field:
                await stops(field, STOPS, report)

    with suppress(Enough):
        asyncio.run(stopped())
    assert report.wrong == []
    (line,) = report.lines
    assert line.times == STOPS


def test_a_book_that_is_behind_or_wrong_is_found(sqlite_url: str) -> None:
    played(sqlite_url)
    with construct(sqlite_url) as referee:
        books = Projections(referee, sqlite_url)
        head = books.rebuild(*books.by_name)
        books.close()
    editor = Editor(sqlite_url)
    assert compared(sqlite_url, head) == ([], False)
    editor.run(f"UPDATE book_places SET position = position - 1 WHERE book = '{Cases.key}'", books=True)
    editor.run(f"DELETE FROM {Pots().lines.name}", books=True)
    wrong, lacking = compared(sqlite_url, head)
    assert lacking
    assert f"lag was 0 at {head}, and cases stands at {head - 1}" in wrong
    assert f"pots at {head} is not what the events to there make" in wrong
    assert len(wrong) in (2, 3), "it may be that the last event changes nothing of the cases"
