"""Incidents: the errors that cases, knocks and reports are about, and the cases that decide them (B-O5, J1, J3)."""

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from referee import offences, phases
from referee.events import DEAL_ENDS, CardPlayed, Dealt, KnockUpheld, TrickTaken
from referee.officials.events.cases import CaseRuled
from referee.officials.events.tally import ResultEntered
from referee.officials.state import AttendedState, Case, Docket, DocketUpdates, Span
from referee.value import Value
from referee.visibility import Event


class Incident(Value):
    """A player's error, on record or alleged."""

    deal: int
    players: frozenset[int]
    """Accused and payer, because a wrong cut may be alleged against either (B17)."""
    offence: str | None
    events: tuple[int, ...]
    """Events that show the error; empty if it is only alleged."""
    span: Span
    named: bool = False
    """True if the events are only those that an official named."""


def may_be_same(one: Incident, other: Incident) -> bool:
    """Return whether two incidents may be one error.

    Deal, offence and a player must be equal. In addition, an event shows both, or the spans overlap and one incident
    is alleged or ``named``.
    """
    if (one.deal, one.offence) != (other.deal, other.offence) or one.players.isdisjoint(other.players):
        return False
    if not set(one.events).isdisjoint(other.events):
        return True
    on_record = [bool(incident.events) and not incident.named for incident in (one, other)]
    return not all(on_record) and max(one.span[0], other.span[0]) <= min(one.span[1], other.span[1])


def incident_of_case(docket: Docket, case: Case) -> Incident:
    """Return the incident of a case, in the deal of ``case.of`` if it exists."""
    deal = case.deal if case.of is None else incident_of_case(docket, docket.case(case.of)).deal
    players = frozenset(seat for seat in (case.accused, case.payer) if seat is not None)
    return Incident(deal=deal, players=players, offence=case.offence, events=case.events, span=case.span)


def incident_of_ruling(docket: Docket, case: Case, ruled: CaseRuled) -> Incident:
    """Return the case's incident with the ruling's offence. Without events in the case, those of the ruling count."""
    incident = replace(incident_of_case(docket, case), offence=ruled.offence)
    if incident.events or not ruled.rests_on:
        return incident
    first = min(ruled.rests_on)
    return replace(incident, events=ruled.rests_on, span=(first, first), named=True)


def incident_of_breach(state: AttendedState, upheld: KnockUpheld, now: int) -> Incident:
    """Return the incident of a knock that the game upholds after event ``now``."""
    return Incident(
        deal=phases.deal_of(state.play),
        players=frozenset((upheld.accused, upheld.payer)),
        offence=upheld.offence,
        events=upheld.rests_on,
        span=span_of(state.docket, upheld.rests_on, now),
    )


def alleged_incident(state: AttendedState, offence: str | None, accused: int, payer: int, now: int) -> Incident:
    """Return an incident that no event shows: the offence at any time in the deal, up to event ``now``."""
    return Incident(
        deal=phases.deal_of(state.play),
        players=frozenset((accused, payer)),
        offence=offence,
        events=(),
        span=(state.docket.begun, now),
    )


def limited_to_trick(docket: Docket, incident: Incident) -> Incident:
    """Return an incident whose span begins with the trick under way or, between tricks, with the last trick."""
    return replace(incident, span=(docket.led, incident.span[1]))


def span_of(docket: Docket, events: tuple[int, ...], now: int) -> Span:
    """Return the span of the events that show an error; without events, the deal up to event ``now``.

    If the last event is a report, the span begins with the trick of the report.
    """
    if not events:
        return docket.begun, now
    led = next((led for event, _, led in docket.reports if event == events[-1]), None)
    return (events[0] if led is None else led), events[-1]


def punishing_case(
    docket: Docket, incident: Incident, except_case: int | None = None, counts: Callable[[Case], bool] | None = None
) -> int | None:
    """Return the number of the first case that punishes this incident and that ``counts``; ``None``: no case."""
    found = (
        case.case
        for case in docket.cases
        if case.case != except_case
        and case.verdict == "upheld"
        and case.penalty is not None
        and may_be_same(incident_of_case(docket, case), incident)
        and (counts is None or counts(case))
    )
    return next(found, None)


def is_on_record(docket: Docket, ledger: offences.Ledger, incident: Incident) -> bool:
    """Return whether the deal's ledger has this incident as a fault that costs points without a knock (D-O24)."""
    return any(
        may_be_same(replace(incident, events=events, span=span_of(docket, events, one.event)), incident)
        for one in ledger.breaches
        if one.breach.points and one.breach.offence == incident.offence and one.breach.seat in incident.players
        for events in ((*one.breach.shown_by, one.event),)
    )


def deciding_case(docket: Docket, incident: Incident) -> Case | None:
    """Return the case that decides about this incident, else ``None``.

    An open case comes first, then :func:`punishing_case`. The referee's dismissal of a knock does not count.
    """

    def decides(case: Case) -> bool:
        by_referee = case.verdict == "dismissed" and case.ruled_by == (None,)
        return case.kind == "offence" and case.status != "withdrawn" and (case.is_open or not by_referee)

    cases = [case for case in docket.cases if decides(case) and may_be_same(incident_of_case(docket, case), incident)]
    waiting = [case for case in cases if case.is_open]
    punished = [case for case in cases if case.case == punishing_case(docket, incident)]
    return next(iter((*waiting, *punished, *cases)), None)


def _await_next_deal(docket: Docket, play: Any, event: Event, number: int) -> Docket:
    return replace(docket, begun=number, led=number, awaits_lead=False)


def _begin_trick_at_second_dealing(docket: Docket, play: Any, event: Dealt, number: int) -> Docket:
    return replace(docket, led=number, awaits_lead=False) if docket.under_way else docket


def _begin_awaited_trick(docket: Docket, play: Any, event: CardPlayed, number: int) -> Docket:
    return replace(docket, led=number, awaits_lead=False) if docket.awaits_lead else docket


def _end_trick(docket: Docket, play: Any, event: TrickTaken, number: int) -> Docket:
    """Return the docket after a trick. In a tally the trick also begins with this event."""
    if docket.awaits_lead is None:
        return docket
    return replace(docket, led=number if docket.awaits_lead else docket.led, awaits_lead=True)


def _make_deal_one_trick(docket: Docket, play: Any, event: ResultEntered, number: int) -> Docket:
    return replace(docket, led=docket.begun, awaits_lead=None)


DOCKET_UPDATES: DocketUpdates = {
    **dict.fromkeys(DEAL_ENDS, _await_next_deal),
    Dealt: _begin_trick_at_second_dealing,
    CardPlayed: _begin_awaited_trick,
    TrickTaken: _end_trick,
    ResultEntered: _make_deal_one_trick,
}
