"""A case shows each viewer what they may know, as soon as they may know it."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from eventsourcing.persistence import StoredEvent
from msgspec.structs import replace
from sqlalchemy import Connection, Engine, select

from projections.cases import Case, Cases, fine_of
from projections.follow.follow import prepare
from referee.events import KnockDismissed, KnockUpheld, PenaltyImposed
from referee.officials.events.cases import CaseAppealed, CaseOpened, CaseRuled, CaseStated, CaseWithdrawn
from referee.requests import Appeal, Withdrawal
from referee.store.aggregate import fold
from referee.store.rows import from_row
from referee.store.store import Referee
from referee.visibility import as_seen_by
from tests.officials.hearing import Hearing
from tests.projections.filled_log import append, last_versions, pages
from tests.support.match_driver import MATCH
from tests.support.salted_rows import row_of


def fill(connection: Connection, projection: Cases, referee: Referee, size: int) -> None:
    """Apply the log in pages of this size, in one transaction."""
    for page in pages(referee, size):
        projection.apply(connection, page)


@pytest.mark.parametrize("page", [23, 500])
class TestBook:
    """The pages may be cut anywhere."""

    def test_a_case_is_its_ruling_and_what_it_cost(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], page: int
    ):
        append(referee, rows)
        projection = Cases()
        prepare(engine, [projection])
        cost: dict[tuple[UUID, int | None], int] = {}
        rulings = []
        for recorded in map(from_row, rows):
            match recorded.event:
                case KnockUpheld() | KnockDismissed():
                    rulings.append(recorded)
                case PenaltyImposed(case=case, points=points):
                    cost[recorded.originator_id, case] = points
        verdicts, fines = set(), 0
        with engine.begin() as connection:
            fill(connection, projection, referee, page)
            for recorded in rulings:
                match_id, ruling = recorded.originator_id, recorded.event
                case = projection.answer(connection, match_id, "official")[ruling.case - 1]
                verdicts.add(getattr(ruling, "reason", "upheld"))
                assert case.entries[0][::2] == (recorded.originator_version, ruling)
                fine = fine_of(entry.fact for entry in case.entries[:2])
                if isinstance(ruling, KnockUpheld):
                    assert (ruling.penalty, fine) == (cost[match_id, ruling.case], 0)
                else:
                    assert fine == cost.get((match_id, ruling.case), 0)
                    fines += fine
            for match_id, version in last_versions(rows).items():
                cases = projection.answer(connection, match_id, "official")
                assert [case.entries[0].fact.case for case in cases] == list(range(1, len(cases) + 1))
                assert projection.version(connection, match_id) == version
        assert {"upheld", "late", "again", "nothing"} <= verdicts
        assert fines

    def test_a_reason_that_is_hidden_during_the_deal_is_shown_after_it(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], page: int
    ):
        projection = Cases()
        prepare(engine, [projection])
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
            fill(connection, projection, referee, page)

            def shown(viewer: object) -> Case:
                return projection.answer(connection, match_id, viewer)[number - 1]

            for viewer in (0, 1, "spectator"):
                ruling = shown(viewer).entries[0].fact
                assert isinstance(ruling, KnockDismissed)
                assert (ruling.reason, ruling.offence, ruling.rests_on) == ("nothing", None, ())
                assert not ruling.within_deal
            assert shown("official").entries[0].fact == late.event
        append(referee, history[stored:])
        assert fold(None, map(from_row, history)).public_to > at, "the deal was played to its end"
        with engine.begin() as connection:
            fill(connection, projection, referee, page)
            for viewer in (0, "spectator", "official"):
                assert shown(viewer).entries[0].fact == late.event

    def test_a_case_is_shown_as_the_match_shows_its_event(
        self, referee: Referee, engine: Engine, rows: Sequence[StoredEvent], page: int
    ):
        """Compare at every event of the log: both agree from when on everything is public."""
        projection = Cases()
        prepare(engine, [projection])
        shown = set()
        for end in range(0, len(rows), 90):
            append(referee, rows[end : end + 90])
            with engine.begin() as connection:
                fill(connection, projection, referee, page)
                for match_id in last_versions(rows[: end + 90]):
                    history = [from_row(row) for row in rows[: end + 90] if row.originator_id == match_id]
                    public_to = fold(None, history).public_to
                    for case in projection.answer(connection, match_id, 0):
                        event = history[case.entries[0].event - 1].event
                        assert case.entries[0].fact == as_seen_by(event, 0, case.entries[0].event <= public_to)
                        shown.add(case.entries[0].fact == event)
        assert shown == {True, False}


class TestOfficials:
    """Statements and rulings of cases, page by page."""

    @pytest.fixture
    def heard(self) -> Hearing:
        hearing = Hearing().deal()
        first = hearing.history[0]
        hearing.history[0] = replace(first, event=replace(first.event, dockets=("d" * 64,)))
        hearing.knock(0, 1, "revoke", "in trick two")
        hearing.says(1, False, text="not so")
        hearing.rule("upheld", reason="seen by two")
        hearing.ask(Appeal(case=1, seat=1, text="by whom?"))
        hearing.knock(2, 1, "fold_question")
        hearing.knock(2, 1, "exposed_card")
        hearing.ask(Withdrawal(case=3, seat=2))
        return hearing

    @pytest.mark.parametrize("page", [1, 3, 500])
    def test_a_case_is_all_that_happened_in_it(
        self, referee: Referee, engine: Engine, heard: Hearing, page: int
    ) -> None:
        append(referee, [row_of(one) for one in heard.history])
        projection = Cases(secret=lambda: referee.secret)
        prepare(engine, [projection])
        with engine.begin() as connection:
            fill(connection, projection, referee, page)
            first, second, third = projection.answer(connection, MATCH, "official")
            assert [type(entry.fact) for entry in first.entries] == [
                CaseOpened,
                CaseStated,
                CaseRuled,
                PenaltyImposed,
                CaseAppealed,
            ]
            for entry in first.entries:
                recorded = heard.history[entry.event - 1]
                assert (entry.fact, entry.at) == (recorded.event, recorded.at)
            assert isinstance(second.entries[0].fact, KnockDismissed)
            assert [type(entry.fact) for entry in third.entries] == [CaseOpened, CaseWithdrawn]
            assert projection.answer(connection, MATCH, "official", after=1, limit=1) == (second,)
            opened = second.entries[0].event
            within = {"after": opened - 1, "to": opened}
            assert projection.about(connection, MATCH, "official", 99, **within) == (second,)
            assert projection.about(connection, MATCH, "official", 99, after=10_000, to=20_000) == ()
            others = projection.about(connection, MATCH, "official", 99, after=10_000, to=20_000, others={first.case})
            assert others == (first,)
            texts = {
                entry.fact.text for entry in projection.answer(connection, MATCH, 1)[0].entries if said(entry.fact)
            }
            assert texts == {"", "not so", "by whom?"}
            cases = projection.official_cases
            rows = connection.execute(select(cases).order_by(cases.c.case)).all()
        assert [(row.status, row.rule, row.ruleset) for row in rows] == [
            ("appealed", "B11", "rodskagg-kortoxen"),
            ("ruled", "B-O32", "rodskagg-kortoxen"),
            ("withdrawn", None, "rodskagg-kortoxen"),
        ]
        assert rows[1].appeal_until == heard.cases[1].appeal_until


def said(fact: object) -> bool:
    """Return whether the fact holds a text."""
    return hasattr(fact, "text")
