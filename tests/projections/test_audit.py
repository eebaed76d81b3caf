"""The trail names every event and its cause; a case tells each viewer what he may know of it, when he may."""

from collections.abc import Sequence
from uuid import UUID

import msgspec
import pytest
from eventsourcing.persistence import StoredEvent
from sqlalchemy import Connection, Engine

from projections.audit import Audit
from projections.follow.follow import prepare
from referee.events import CardPlayed, DealScored, DealVoided, KnockDismissed, KnockUpheld, MatchWon, PenaltyImposed
from referee.store.aggregate import fold
from referee.store.rows import FIRST, from_row, row_hash
from referee.store.store import Referee
from tests.projections.filled import append, last_versions, placed

FIELDS = ("case", "seat", "accused", "named", "offence", "rule", "rests_on", "note")


def fill(connection: Connection, book: Audit, referee: Referee, page: int) -> None:
    """Applies the log in pages of this size, in one transaction."""
    events = placed(referee.recorder.select_notifications(None, 100_000))
    for first in range(0, len(events), page):
        book.apply(connection, events[first : first + page])


@pytest.mark.parametrize("page", [23, 500])
class TestBook:
    """Whatever the pages are cut from the log like."""

    def test_the_trail_is_whole_and_chained(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], page: int
    ):
        append(referee, rows)
        book = Audit()
        prepare(engine, [book])
        with engine.begin() as connection:
            fill(connection, book, referee, page)
            for match_id, last in last_versions(rows).items():
                stored = [row for row in rows if row.originator_id == match_id]
                trail = book.trail(connection, match_id, limit=100_000, viewer="official")
                assert [step.number for step in trail] == list(range(1, last + 1))
                assert [step.topic for step in trail] == [row.topic for row in stored]
                assert [step.prev for step in trail] == [FIRST, *map(row_hash, stored[:-1])]
                assert sorted(step.position for step in trail) == [step.position for step in trail]
                for step, recorded in zip(trail, map(from_row, stored), strict=True):
                    assert (step.at, step.actor, step.act) == (recorded.at, recorded.actor, recorded.act_id)
                    if isinstance(recorded.event, DealScored | DealVoided):
                        assert step.deal == recorded.event.deal
                        deal = step.deal
                    if isinstance(recorded.event, MatchWon):
                        assert step.deal == deal, "the end belongs to the deal that brought it"
                    if isinstance(recorded.event, CardPlayed):
                        assert step.rules == (), "nobody has knocked for what stands there"

    def test_a_case_is_its_ruling_and_what_it_cost(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], page: int
    ):
        append(referee, rows)
        book = Audit()
        prepare(engine, [book])
        cost: dict[tuple[UUID, int | None], int] = {}
        rulings = []
        for recorded in map(from_row, rows):
            match recorded.event:
                case KnockUpheld() | KnockDismissed():
                    rulings.append(recorded)
                case PenaltyImposed(case=case, points=points):
                    cost[recorded.originator_id, case] = points
        verdicts = set()
        with engine.begin() as connection:
            fill(connection, book, referee, page)
            for recorded in rulings:
                match_id, ruling = recorded.originator_id, recorded.event
                case = book.case(connection, match_id, ruling.case, viewer="official")
                assert case is not None
                verdicts.add((case.verdict, case.reason))
                assert [getattr(case, name) for name in FIELDS] == [getattr(ruling, name) for name in FIELDS]
                assert (case.event, case.at) == (recorded.originator_version, recorded.at)
                if isinstance(ruling, KnockUpheld):
                    assert case.verdict == "upheld"
                    assert (case.payer, case.penalty, case.fine) == (ruling.payer, cost[match_id, ruling.case], 0)
                else:
                    assert case.verdict == "dismissed"
                    assert (case.reason, case.within_deal) == (ruling.reason, ruling.within_deal)
                    assert (case.penalty, case.fine) == (0, cost.get((match_id, ruling.case), 0))
            for match_id in last_versions(rows):
                cases = book.cases(connection, match_id, viewer="official")
                assert [case.case for case in cases] == list(range(1, len(cases) + 1))
        assert {("upheld", None), ("dismissed", "late"), ("dismissed", "again"), ("dismissed", "nothing")} <= verdicts

    def test_what_may_not_be_told_before_the_deal_is_over_is_told_after_it(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], page: int
    ):
        book = Audit()
        prepare(engine, [book])
        late = next(
            recorded
            for recorded in map(from_row, rows)
            if isinstance(recorded.event, KnockDismissed)
            and (recorded.event.reason, recorded.event.within_deal) == ("late", True)
        )
        match_id, number, at = late.originator_id, late.event.case, late.originator_version
        history = [row for row in rows if row.originator_id == match_id]
        stored = len(history[: at + 1])
        append(referee, history[:stored])
        with engine.begin() as connection:
            fill(connection, book, referee, page)
            for viewer in (0, 1, "spectator"):
                case = book.case(connection, match_id, number, viewer=viewer)
                assert case is not None
                assert (case.reason, case.offence, case.rests_on) == ("nothing", None, ())
                assert not case.within_deal
                assert not case.public
                assert case in book.cases(connection, match_id, viewer=viewer)
                trail = book.trail(connection, match_id, limit=100_000, viewer=viewer)
                public_to = fold(None, map(from_row, history[:stored])).public_to
                assert [step.prev is not None for step in trail] == [step.number <= public_to for step in trail]
            case = book.case(connection, match_id, number, viewer="official")
            assert case is not None
            assert (case.reason, case.within_deal) == ("late", True)
        append(referee, history[stored:])
        assert fold(None, map(from_row, history)).public_to > at, "the deal was played to its end"
        with engine.begin() as connection:
            fill(connection, book, referee, page)
            shown = [
                book.case(connection, match_id, number, viewer=viewer) for viewer in (0, "spectator", "official")
            ]
            assert shown[0] == shown[1] == shown[2]
            assert shown[0] is not None
            assert (shown[0].reason, shown[0].public) == ("late", True)


@pytest.mark.parametrize("size", [7, 500])
def test_a_trail_is_read_page_by_page(referee: Referee, engine: Engine, rows: Sequence[StoredEvent], size: int):
    append(referee, rows)
    book = Audit()
    prepare(engine, [book])
    match_id = rows[0].originator_id
    with engine.begin() as connection:
        fill(connection, book, referee, size)
        whole = book.trail(connection, match_id, limit=100_000, viewer="official")
        pages: list[object] = []
        while page := book.trail(connection, match_id, len(pages), 10, viewer="official"):
            pages += page
        assert tuple(pages) == whole
        assert msgspec.json.decode(msgspec.json.encode(whole[0]))["number"] == 1
        assert book.trail(connection, UUID(int=1), viewer="official") == ()
        assert book.cases(connection, UUID(int=1), viewer="official") == ()
        assert book.case(connection, match_id, 100_000, viewer="official") is None
