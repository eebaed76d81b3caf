"""J9: A correction at the desk is decided on the whole match, including rows of its batch."""

from typing import Any
from uuid import UUID

import pytest

from referee.acts import Deal
from referee.events import Adjudication, DealScored, PenaltyImposed
from referee.officials.events.corrections import ProtocolCorrected, Why
from referee.officials.rescoring import script
from referee.phases import Over
from referee.refusals import Refused
from referee.requests import Correct
from referee.store.aggregate import fold
from referee.store.command import Command
from referee.store.desk import Desk
from referee.store.store import Referee
from tests.support.edited_stores import differences
from tests.support.random_matches import deal_of, opened, play_out, send
from tests.support.store_faults import held

FIVE = Correct(
    why=Why(rule="B42", reason="seen by all"),
    scripts=(script(1, [PenaltyImposed(seat=1, points=5, rule="B42")]),),
)
KORTOXEN: dict[str, Any] = {
    "adjudication": Adjudication(officials=("Maja",)),
    "deal_ritual": False,
    "points": (90, 90, 90),
    "rodskagg_stop_at_first_loss": False,
}


def scored(desk: Desk, deals: int) -> UUID:
    """Return an open match with ``deals`` scored deals."""
    for seed in range(100):
        match_id = opened(desk, **KORTOXEN)  # a new match each time, since a rödskägg wins it at once
        for outcome in play_out(desk, match_id, 1000, seed):
            if (
                any(isinstance(one.event, DealScored) for one in outcome.events)
                and outcome.aggregate.play.table.deal > deals
                and not isinstance(outcome.aggregate.play, Over)
            ):
                return match_id
    raise AssertionError("never reached")


def correct(desk: Desk, match_id: UUID, request: Correct = FIVE, **more: Any) -> Any:
    """Return the outcome of a correction."""
    return desk.submit(Command(id=match_id, actor="official", request=request, **more)).result(30)


def test_it_is_stored_like_any_act_and_proved_like_it(store_url: str, desk: Desk, referee: Referee) -> None:
    match_id = scored(desk, 2)
    before = desk.get(match_id).play.table.points
    outcome = correct(desk, match_id, key="once")
    (recorded,) = outcome.events
    assert isinstance(recorded.event, ProtocolCorrected)
    assert outcome.aggregate.play.table.points == recorded.event.points != before
    again = correct(desk, match_id, key="once")
    assert (again.repeated, again.events) == (True, outcome.events)
    assert fold(None, referee.history(match_id)) == desk.get(match_id)
    assert differences(store_url, match_id) == ()


def test_play_goes_on_and_the_record_of_the_next_deal_is_right(store_url: str, desk: Desk, referee: Referee) -> None:
    match_id = scored(desk, 1)
    correct(desk, match_id)
    points = desk.get(match_id).play.table.points
    for outcome in play_out(desk, match_id, 1000, seed=5):
        if any(isinstance(one.event, DealScored) for one in outcome.events):
            break
    history = referee.history(match_id)
    told = deal_of(history[0].event, history, 2)
    assert told.header.points == points
    assert differences(store_url, match_id) == ()


def test_it_sees_what_its_batch_has_not_stored_yet(store_url: str, desk: Desk, referee: Referee) -> None:
    match_id = scored(desk, 1)
    match = desk.get(match_id)
    with held(store_url):
        futures = [desk.submit(Command(id=match_id, actor="official", request=FIVE)) for _ in range(2)]
    first, second = [future.result(30) for future in futures]
    points = match.play.table.points
    assert first.aggregate.play.table.points == (points[0], points[1] + 5, *points[2:])
    assert second.aggregate.play.table.points == (points[0], points[1] + 10, *points[2:])
    assert differences(store_url, match_id) == ()


def test_a_refused_correction_stores_nothing(desk: Desk, referee: Referee) -> None:
    match_id = scored(desk, 1)
    dealer = desk.get(match_id).play.table.dealer
    send(desk, match_id, Deal(seat=dealer))
    version = desk.get(match_id).version
    with pytest.raises(Refused) as refused:
        correct(desk, match_id)
    assert refused.value.code == "deal_under_way"
    assert referee.load(match_id).aggregate.version == version
