"""The audit detects each kind of forbidden change to a store."""

from pathlib import Path

import pytest
from eventsourcing.persistence import StoredEvent

from referee.actors import actor_of
from referee.store.desk import Desk
from referee.store.store import construct
from tests.faults.audit import audit
from tests.faults.play import Acknowledged, Ledger
from tests.support.random_matches import legal_acts, opened, send

ACTS = 6


@pytest.fixture
def ledger() -> Ledger:
    return Ledger()


@pytest.fixture
def rows(tmp_path: Path, ledger: Ledger) -> list[StoredEvent]:
    """Return the rows of a match with keyed acts, which the ledger knows."""
    with construct(f"sqlite:///{tmp_path}/knacka.db") as referee:
        desk = Desk(referee)
        match = opened(desk, deal_ritual=False)
        for turn in range(ACTS):
            act = legal_acts(desk.get(match))[0]
            numbers = [one.originator_version for one in send(desk, match, act, key=f"act-{turn}").events]
            ledger.acts[str(match), actor_of(act), f"act-{turn}"] = Acknowledged(numbers[0], numbers[-1])
            ledger.told(str(match), numbers[-1])
        desk.close()
        return list(referee.rows(match))


def counted(rows: list[StoredEvent], ledger: Ledger) -> set[str]:
    audit(rows, ledger)
    return {kind for kind, times in ledger.counts.items() if times}


def test_nothing_is_wrong_with_what_was_stored(rows: list[StoredEvent], ledger: Ledger) -> None:
    assert counted(rows, ledger) == set()


def test_an_answered_act_that_is_not_there_is_lost(rows: list[StoredEvent], ledger: Ledger) -> None:
    assert counted(rows[:-1], ledger) == {"lost"}


def test_an_answered_act_that_stands_elsewhere_is_lost(rows: list[StoredEvent], ledger: Ledger) -> None:
    act, told = next(iter(ledger.acts.items()))
    ledger.acts[act] = Acknowledged(told.first, told.last + 1)
    assert counted(rows, ledger) == {"lost"}


def test_an_act_stored_again_was_applied_twice(rows: list[StoredEvent], ledger: Ledger) -> None:
    last = rows[-1]
    again = StoredEvent(last.originator_id, len(rows) + 1, last.topic, last.state)
    assert "twice" in counted([*rows, again], ledger)


@pytest.mark.parametrize("number", [1, 2, 4])
def test_a_row_that_is_missing_leaves_a_gap(rows: list[StoredEvent], ledger: Ledger, number: int) -> None:
    assert "gaps" in counted([row for row in rows if row.originator_version != number], ledger)


def test_a_row_that_was_changed_leaves_a_gap_in_the_chain(rows: list[StoredEvent], ledger: Ledger) -> None:
    rows[2] = StoredEvent(rows[2].originator_id, 3, rows[2].topic, rows[2].state.replace(b"{", b"{ ", 1))
    assert counted(rows, ledger) == {"gaps"}
