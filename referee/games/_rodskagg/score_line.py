"""Parts of a deal's line in all Rödskägg games."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypedDict

from referee.events import DealScored, Entry
from referee.games._rodskagg import asking
from referee.games._rodskagg.bids import RODSKAGG, Contract
from referee.games._rodskagg.in_play import DealSoFar
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, seats_that_answered
from referee.offences import Ledger
from referee.phases import Table
from referee.value import EventNumber, OffenceText, Seat
from referee.wire_types import ListBySeat, ListOfMany


def promised_tricks(contract: Contract) -> int:
    """Return the number of tricks promised (A27-A28, B39-B40)."""
    return TRICKS if contract.bid == RODSKAGG else int(contract.bid)


WHOLE_DEAL = slice(None)
TRICK_SPANS = {"trick": WHOLE_DEAL, "early_trick": slice(ASKED_AFTER), "late_trick": slice(ASKED_AFTER, None)}


def trick_events_of(deal: DealSoFar, seat: int, span: slice = WHOLE_DEAL) -> tuple[int, ...]:
    return tuple([event for who, event in deal.won[span] if who == seat])


class ScoreRule(NamedTuple):
    points: int
    per: Literal["trick", "early_trick", "late_trick", "contract", "lost_tricks", "answer", "late_lead"]
    """Points are for each trick (any, of the first four, or of the last two); otherwise counted once."""
    rule: str


def entries_by_rules(rules: Iterable[ScoreRule], deal: DealSoFar, contract: Contract, seat: int) -> list[Entry]:
    """Return an entry for each rule, with the events that show it; none for tricks that the seat lacks."""
    written = []
    for points, per, rule in rules:
        if (span := TRICK_SPANS.get(per)) is None:
            shown = _evidence(per, deal, contract, seat) or (deal.question.forgotten,)
            written.append(Entry(seat=seat, points=points, rule=rule, events=shown))
        elif deal.tricks[seat] and (taken := trick_events_of(deal, seat, span)):
            written.append(Entry(seat=seat, points=points * len(taken), rule=rule, events=taken))
    return written


def _evidence(per: str, deal: DealSoFar, contract: Contract, seat: int) -> tuple[int, ...]:
    """Return the events that show points given once; empty for ``late_lead``, or ``answer`` if none was given."""
    match per:
        case "contract":
            return (contract.event, *trick_events_of(deal, seat))
        case "lost_tricks":
            return (contract.event, *[event for who, event in deal.won if who != seat])
        case "answer":
            return tuple([event for who, _, event in deal.question.answers if who == seat])
    return ()


def penalty_entries(ledger: Ledger) -> list[Entry]:
    return [
        Entry(seat=penalty.seat, points=penalty.points, rule=penalty.rule, events=penalty.events)
        for penalty in ledger.penalties
    ]


def points_after(table: Table, entries: Iterable[Entry]) -> list[int]:
    points = list(table.points)
    for entry in entries:
        points[entry.seat] += entry.points
    return points


def line_of_deal(
    table: Table,
    deal: DealSoFar,
    kind: str,
    entries: tuple[Entry, ...],
    newly_out: tuple[int, ...],
    detail: Mapping[str, Any],
) -> DealScored:
    """Return the line. ``newly_out``: seats that this deal eliminates."""
    contract = deal.contract
    return DealScored(
        deal=table.deal,
        dealer=table.dealer,
        kind=kind,
        declarer=contract.declarer if contract else None,
        contract=contract.bid if contract else None,
        tricks=deal.tricks,
        answers=asking.answers_by_seat(table, deal),
        penalties=_penalty_points(table),
        before=table.points,
        points=tuple(points_after(table, entries)),
        entries=entries,
        eliminated=tuple([seat for seat in range(table.seats) if seat not in table.active or seat in newly_out]),
        detail=detail,
    )


def _penalty_points(table: Table) -> tuple[int, ...]:
    if not table.ledger.penalties:
        return (0,) * table.seats
    return tuple([table.ledger.penalty_points(seat) for seat in range(table.seats)])


class SharedDetail(TypedDict):
    """Details of a scored deal apart from its numbers."""

    duel: ListBySeat[Seat] | None
    """Seats in the duel; null if the deal was not a duel."""
    forgotten: bool
    """True if the question was put too late or never."""
    joined: ListBySeat[Seat]
    """Seats that answered that they go along, in the order spoken."""
    folded: ListBySeat[Seat]
    """Seats that threw in their cards, in the order spoken."""


class Noted(TypedDict):
    """A breach that costs nothing: a revoke that closed hands have shown."""

    offence: OffenceText
    seat: Seat
    """Seat that committed the breach."""
    events: ListOfMany[EventNumber]
    """Events that show the breach."""


def shared_detail(table: Table, deal: DealSoFar, duel: bool) -> SharedDetail:
    return {
        "duel": list(table.playing) if duel else None,
        "forgotten": bool(deal.question.forgotten),
        "joined": list(seats_that_answered(deal.question.answers, "play")),
        "folded": list(seats_that_answered(deal.question.answers, "fold")),
    }


def noted_breaches(ledger: Ledger) -> list[Noted]:
    return [
        {
            "offence": note.breach.offence,
            "seat": note.breach.seat,
            "events": [*note.breach.shown_by, note.event],
        }
        for note in ledger.breaches
        if not note.breach.points
    ]
