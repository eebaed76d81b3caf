"""The view of a caller: an auditor sees hidden cards only after they are open."""

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest

from api.access.caller import SPECTATOR, Caller
from api.matches.schemas import event_seen
from projections.cases import FACTS
from referee.actors import Actor
from referee.events import Breach, CardPlayed
from referee.visibility import Event, Recorded

AUDITOR = Caller(viewer="spectator", audits=True)
OFFICIAL = Caller(viewer="official", actor="official")
SEAT = Caller(viewer=1, actor="seat:1")
SCRIBE = Caller(viewer="spectator", actor="scribe")
REVOKE = Breach(offence="revoke", seat=1, rule="B42", payer=1, points=5)


def seen(caller: Caller, public: bool, actor: Actor = "seat:1") -> dict[str, Any]:
    event = CardPlayed(seat=1, card="SA", breaches=(REVOKE,))
    return event_seen(
        Recorded(uuid4(), 7, datetime.now(UTC), actor, "key", "d", "p", event), caller, public, act_number=7
    )


def test_an_auditor_sees_as_the_official_what_is_over_and_the_rest_as_a_spectator() -> None:
    for public, whose in ((True, OFFICIAL), (False, SPECTATOR)):
        shown, alike = seen(AUDITOR, public), seen(whose, public)
        assert shown | {"at": None} == alike | {"at": None}
    assert b'"breaches"' in bytes(seen(AUDITOR, public=True)["event"])
    assert b'"breaches"' not in bytes(seen(AUDITOR, public=False)["event"])


@pytest.mark.parametrize(("caller", "actor"), [(SEAT, "seat:1"), (SCRIBE, "scribe"), (OFFICIAL, "seat:0")])
def test_the_sender_and_the_official_see_the_key_of_an_act(caller: Caller, actor: Actor) -> None:
    assert seen(caller, public=False, actor=actor)["act"] == "key"


@pytest.mark.parametrize(
    ("caller", "actor"), [(SEAT, "seat:0"), (SPECTATOR, "seat:1"), (SCRIBE, "seat:1"), (SEAT, "scribe")]
)
def test_the_key_of_an_act_is_shown_to_no_other_caller(caller: Caller, actor: Actor) -> None:
    assert seen(caller, public=True, actor=actor)["act"] is None


@pytest.mark.parametrize("kind", FACTS, ids=lambda kind: str(kind.TOPIC))
def test_no_event_hides_a_field_of_a_case_until_the_deal_is_over(kind: type[Event]) -> None:
    """The book of cases therefore need not distinguish an auditor from a spectator."""
    assert "official" not in kind.HIDDEN.values()
