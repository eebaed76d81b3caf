"""Calculates the rows of cases and of their events for :mod:`projections.cases`."""

from typing import Any

import msgspec

from referee.actors import Actor, actor_at
from referee.events import KnockDismissed, KnockUpheld
from referee.officials.events.cases import CaseAppealed, CaseOpened, CaseRuled, CaseWithdrawn
from referee.officials.events.takeback import ActTakenBack
from referee.visibility import Event, Recorded


def begins_case(event: Event) -> bool:
    if isinstance(event, ActTakenBack):
        return event.seat is not None  # because, without a seat, an earlier case's ruling took the act back
    return isinstance(event, CaseOpened | KnockUpheld | KnockDismissed)


def entry_of(recorded: Recorded, case: int) -> dict[str, Any]:
    return {
        "match": recorded.originator_id,
        "event": recorded.originator_version,
        "case": case,
        "at": recorded.at,
        "topic": recorded.event.TOPIC,
        "fact": msgspec.json.encode(recorded.event).decode(),
    }


def new_case_row(recorded: Recorded, ruleset: str) -> dict[str, Any]:
    """Return the row of a new case without its status, which :func:`changes_of` adds."""
    event: Any = recorded.event
    return {
        "match": recorded.originator_id,
        "case": event.case,
        "event": recorded.originator_version,
        "opened_at": recorded.at,
        "ruleset": ruleset,
        "rule": None,
        "appeal_until": None,
        "verdict": None,
        "official": None,
        **_opening_columns(event),
    }


def opener_of(event: Any) -> Actor:
    return event.by if isinstance(event, CaseOpened) else actor_at(event.seat)


def _opening_columns(event: Any) -> dict[str, Any]:
    opener = opener_of(event)
    if isinstance(event, CaseOpened):
        opening, about = (opener, event.text), {"deal": event.deal, "offence": event.offence}
        return {"kind": event.kind, "accused": event.accused, **about, "opening": opening}
    if isinstance(event, ActTakenBack):
        return {"kind": "misclick", "accused": None, "deal": None, "offence": None, "opening": (opener, "")}
    opening, about = (opener, event.note), {"deal": None, "offence": event.offence or event.named}
    return {"kind": "offence", "accused": event.accused, **about, "opening": opening}


def changes_of(event: Any) -> dict[str, Any]:
    """Return the columns that an event changes in its case's row; empty if it changes none (J11)."""
    match event:
        case CaseOpened():
            return {"status": "pending"}
        case CaseRuled() | KnockUpheld() | KnockDismissed():
            until = event.appeal_until
            status = "ruled" if until else "final"
            return {"status": status, "rule": event.rule, "appeal_until": until, **_ruling_columns(event)}
        case CaseAppealed():
            return {"status": "appealed"}
        case CaseWithdrawn():
            return {"status": "withdrawn"}
        case ActTakenBack(seat=seat) if seat is not None:
            return {"status": "final", "rule": "J11", "verdict": "upheld"}
    return {}


def _ruling_columns(event: CaseRuled | KnockUpheld | KnockDismissed) -> dict[str, Any]:
    if not isinstance(event, CaseRuled):
        return {"verdict": "upheld" if isinstance(event, KnockUpheld) else "dismissed", "official": None}
    found = {"verdict": event.verdict, "official": event.official}
    return found if event.offence is None else found | {"offence": event.offence}
