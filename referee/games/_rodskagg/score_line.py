"""A deal's line in the protocol: what the sisters write alike."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, TypedDict

from referee.events import DealScored, Entry
from referee.games._rodskagg import asking
from referee.games._rodskagg.bids import Contract
from referee.games._rodskagg.in_play import Taken
from referee.games._rodskagg.question import ASKED_AFTER, TRICKS, said
from referee.offences import Ledger
from referee.phases import Table
from referee.value import EventNumber, OffenceText, Seat
from referee.wire_types import ListBySeat, ListOfMany


def contracted(contract: Contract) -> int:
    """The tricks that the contract promises (A27-A28, B39-B40)."""
    return contract.bid if isinstance(contract.bid, int) else TRICKS


ALL = slice(None)
PLACES = {"trick": ALL, "early_trick": slice(ASKED_AFTER), "late_trick": slice(ASKED_AFTER, None)}
"""The tricks of a deal, those before the question, and those after it."""


def taken_by(deal: Taken, seat: int, place: slice = ALL) -> tuple[int, ...]:
    """The events of the tricks that a seat took."""
    return tuple([event for who, event in deal.won[place] if who == seat])


class Writes(NamedTuple):
    """A number that a kind of seat writes, by what, and by which rule."""

    points: int
    by: Literal["trick", "early_trick", "late_trick", "contract", "lost_tricks", "answer", "late_lead"]
    """For each trick that it took, or each before the question, or after it; else once: for its contract, for that
    and the tricks of the others in it, for its answer to the question, or for the lead that made the question too
    late."""
    rule: str


def entries(rows: Iterable[Writes], deal: Taken, contract: Contract, seat: int) -> list[Entry]:
    """What a seat writes, with the events that show it."""
    if not rows:
        return []
    written = []
    for points, by, rule in rows:
        if (place := PLACES.get(by)) is None:
            shown = _shown(by, deal, contract, seat) or (deal.question.forgotten,)
            written.append(Entry(seat=seat, points=points, rule=rule, events=shown))
        elif taken := taken_by(deal, seat, place):
            written.append(Entry(seat=seat, points=points * len(taken), rule=rule, events=taken))
    return written


def _shown(by: str, deal: Taken, contract: Contract, seat: int) -> tuple[int, ...]:
    match by:
        case "contract":
            return (contract.event, *taken_by(deal, seat))
        case "lost_tricks":
            return (contract.event, *(event for who, event in deal.won if who != seat))
        case "answer":
            return tuple([event for who, _, event in deal.question.answers if who == seat])
    return ()


def penalties(ledger: Ledger) -> tuple[Entry, ...]:
    """What has been knocked for."""
    return tuple(
        Entry(seat=penalty.seat, points=penalty.points, rule=penalty.rule, events=penalty.events)
        for penalty in ledger.penalties
    )


def written(
    table: Table, deal: Taken, kind: str, entries: tuple[Entry, ...], out: tuple[int, ...], detail: Mapping[str, Any]
) -> DealScored:
    """The line; ``out``: who is out of the match by this deal."""
    contract, points = deal.contract, list(table.points)
    for entry in entries:
        points[entry.seat] += entry.points
    return DealScored(
        deal=table.deal,
        dealer=table.dealer,
        kind=kind,
        declarer=contract.declarer if contract else None,
        contract=contract.bid if contract else None,
        tricks=deal.tricks,
        answers=asking.answers(table, deal),
        penalties=_knocked_up(table),
        before=table.points,
        points=tuple(points),
        entries=entries,
        eliminated=tuple([seat for seat in range(table.seats) if seat not in table.active or seat in out]),
        detail=detail,
    )


def _knocked_up(table: Table) -> tuple[int, ...]:
    if not table.ledger.penalties:
        return (0,) * table.seats
    return tuple([table.ledger.points(seat) for seat in range(table.seats)])


class Told(TypedDict):
    """What is told of a deal beside its numbers."""

    duel: ListBySeat[Seat] | None
    """Who played it, in a duel; null: it was none."""
    forgotten: bool
    """The question was put too late, or not at all."""
    joined: ListBySeat[Seat]
    """Who answered that they go along, in the order in which they spoke."""
    folded: ListBySeat[Seat]
    """Who threw in their cards, in the order in which they spoke."""


class Noted(TypedDict):
    """A breach that costs nothing and is only noted: a revoke that closed hands showed."""

    offence: OffenceText
    seat: Seat
    """Whose breach it is."""
    events: ListOfMany[EventNumber]
    """The events that show it."""


def told(table: Table, deal: Taken, duel: bool) -> Told:
    """What is told of a deal beside its numbers."""
    return {
        "duel": list(table.playing) if duel else None,
        "forgotten": bool(deal.question.forgotten),
        "joined": list(said(deal.question.answers, "play")),
        "folded": list(said(deal.question.answers, "fold")),
    }


def noted(ledger: Ledger) -> list[Noted]:
    """Breaches that cost nothing, and are only noted: revokes that closed hands showed."""
    return [
        {
            "offence": noted.breach.offence,
            "seat": noted.breach.seat,
            "events": [*noted.breach.shown_by, noted.event],
        }
        for noted in ledger.standings
        if not noted.breach.points
    ]
