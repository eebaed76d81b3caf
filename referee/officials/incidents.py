"""Incidents: which allegations are of the same error, and in which case it was punished (B-O5, J1, J3).

A breach or a report is an incident of its own. An allegation that rests on no event covers each error of its kind by
the accused from the beginning of the deal up to the knock.
"""

from collections.abc import Callable, Mapping

from msgspec.structs import replace

from referee import offences, phases
from referee.events import LAYS_OPEN, CardPlayed, Dealt, KnockUpheld, TrickTaken
from referee.officials.events.cases import CaseRuled
from referee.officials.events.tally import ResultEntered
from referee.officials.state import AttendedState, Case, Docket, Span
from referee.value import Value
from referee.visibility import Event


class Incident(Value):
    """An error of a player, as it is on record or alleged."""

    deal: int
    players: frozenset[int]
    """Who is accused, and who pays: of a wrong cut either the player who cut or the dealer may be accused (B17)."""
    offence: str | None
    events: tuple[int, ...]
    """The events that show it; empty: it is only alleged."""
    span: Span
    named: bool = False
    """Whether an official names the events: other events may show the same error."""


def may_be_same(one: Incident, other: Incident) -> bool:
    """Return whether two incidents are, or may be, one error: an event shows both, or their spans overlap.

    Two errors that different events on record show are two incidents.
    """
    if (one.deal, one.offence) != (other.deal, other.offence) or one.players.isdisjoint(other.players):
        return False
    if not set(one.events).isdisjoint(other.events):
        return True
    on_record = [bool(incident.events) and not incident.named for incident in (one, other)]
    return not all(on_record) and max(one.span[0], other.span[0]) <= min(one.span[1], other.span[1])


def of_case(docket: Docket, case: Case) -> Incident:
    """Return the incident that a case is about."""
    deal = case.deal if case.of is None else of_case(docket, docket.case(case.of)).deal
    players = frozenset(seat for seat in (case.accused, case.payer) if seat is not None)
    return Incident(deal=deal, players=players, offence=case.offence, events=case.events, span=case.span)


def of_ruling(docket: Docket, case: Case, ruled: CaseRuled) -> Incident:
    """Return the incident that a ruling finds.

    Where the case rests on no event, the events that the ruling names tell when the error happened.
    """
    incident = replace(of_case(docket, case), offence=ruled.offence)
    if incident.events or not ruled.rests_on:
        return incident
    first = min(ruled.rests_on)
    return replace(incident, events=ruled.rests_on, span=(first, first), named=True)


def of_breach(state: AttendedState, upheld: KnockUpheld, now: int) -> Incident:
    """Return the incident for which the game upholds a knock at event ``now``."""
    return Incident(
        deal=phases.deal_of(state.play),
        players=frozenset((upheld.accused, upheld.payer)),
        offence=upheld.offence,
        events=upheld.rests_on,
        span=span_of(state.docket, upheld.rests_on, now),
    )


def alleged(state: AttendedState, offence: str | None, accused: int, payer: int, now: int) -> Incident:
    """Return what a knock at event ``now`` alleges that rests on no event: any such error of the deal so far."""
    return Incident(
        deal=phases.deal_of(state.play),
        players=frozenset((accused, payer)),
        offence=offence,
        events=(),
        span=(state.docket.begun, now),
    )


def in_trick(docket: Docket, incident: Incident) -> Incident:
    """Return the same alleged of the trick under way alone, or between two tricks of the last one."""
    return replace(incident, span=(docket.led, incident.span[1]))


def span_of(docket: Docket, events: tuple[int, ...], now: int) -> Span:
    """Return the first and the last event between which an error happened that these events show.

    What is reported happened in the trick of the report, and what no event shows at any time of the deal up to
    ``now``.
    """
    if not events:
        return docket.begun, now
    led = next((led for event, _, led in docket.reports if event == events[-1]), None)
    return (events[0] if led is None else led), events[-1]


def punished_in(
    docket: Docket, incident: Incident, but: int | None = None, stands: Callable[[Case], bool] | None = None
) -> int | None:
    """Return the number of the case whose penalty for this incident is in force; ``None``: there is none.

    ``but``: a case that is left out. ``stands``: whether the penalty of a case still counts in the line of its deal;
    ``None``: each does.
    """
    found = (
        case.case
        for case in docket.cases
        if case.case != but
        and case.verdict == "upheld"
        and case.penalty is not None
        and may_be_same(of_case(docket, case), incident)
        and (stands is None or stands(case))
    )
    return next(found, None)


def is_on_record(docket: Docket, ledger: offences.Ledger, incident: Incident) -> bool:
    """Return whether a fault on record, which is paid for without a knock, is this incident (D-O24)."""
    return any(
        may_be_same(replace(incident, events=events, span=span_of(docket, events, one.event)), incident)
        for one in ledger.standings
        if one.breach.points and one.breach.offence == incident.offence and one.breach.seat in incident.players
        for events in ((*one.breach.shown_by, one.event),)
    )


def decided_in(docket: Docket, incident: Incident) -> Case | None:
    """Return the case that decides about this incident, one that waits for a ruling first; ``None``: there is none.

    A knock that the referee dismissed decides about no incident.
    """

    def decides(case: Case) -> bool:
        by_referee = case.verdict == "dismissed" and case.ruled_by == (None,)
        return case.kind == "offence" and case.status != "withdrawn" and (case.is_open or not by_referee)

    cases = [case for case in docket.cases if decides(case) and may_be_same(of_case(docket, case), incident)]
    waiting = [case for case in cases if case.is_open]
    punished = [case for case in cases if case.case == punished_in(docket, incident)]
    return next(iter((*waiting, *punished, *cases)), None)


# When a trick began


def note(state: AttendedState, event: Event, number: int) -> Docket:
    """The docket after an event of the game: since when its deal and its trick are under way."""
    docket = state.docket
    if type(event) in LAYS_OPEN:
        return replace(docket, begun=number, led=number, awaits_lead=False)
    note = NOTED.get(type(event))
    return docket if note is None else note(docket, number)


def _note_dealt(docket: Docket, number: int) -> Docket:
    """Cards that are dealt again begin a new trick; all before the first trick of the deal is one with it."""
    return replace(docket, led=number, awaits_lead=False) if docket.under_way else docket


def _note_card(docket: Docket, number: int) -> Docket:
    return replace(docket, led=number, awaits_lead=False) if docket.awaits_lead else docket


def _note_trick(docket: Docket, number: int) -> Docket:
    """The end of a trick; where no card was told it is all that is known of it."""
    return docket if docket.awaits_lead is None else replace(_note_card(docket, number), awaits_lead=True)


def _note_result(docket: Docket, number: int) -> Docket:
    """Of a deal that is entered whole no event tells when an error happened."""
    return replace(docket, led=docket.begun, awaits_lead=None)


NOTED: Mapping[type[Event], Callable[[Docket, int], Docket]] = {
    Dealt: _note_dealt,
    CardPlayed: _note_card,
    TrickTaken: _note_trick,
    ResultEntered: _note_result,
}
