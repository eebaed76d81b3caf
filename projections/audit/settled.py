"""Calculates the settlement of a match for money again, from its events."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from projections.audit.findings import Findings
from referee.events import DealScored, DealVoided, MatchAbandoned, MatchClosed, MatchOpened, MatchWon
from referee.officials.events.corrections import ProtocolCorrected, lines_as_corrected
from referee.officials.events.seating import StakesAgreed, StakesDeclined
from referee.officials.events.takeback import ActTakenBack, without_taken_back
from referee.settlement import Basis, Settlement, amounts_owed, settlement
from referee.visibility import Recorded

OF_MONEY = (
    *(MatchOpened, DealScored, DealVoided, MatchWon, MatchClosed, MatchAbandoned),
    *(ProtocolCorrected, ActTakenBack, StakesAgreed, StakesDeclined),
)
"""Event types that a settlement depends on."""


class SettlingRules(NamedTuple):
    """Rules by which a match is settled."""

    basis: Basis
    has_pot: bool


class Owed(NamedTuple):
    """Minor units by seat that the books must have after event number ``event``; empty: none."""

    event: int
    amounts: tuple[int, ...]


def amounts_after_results(history: Sequence[Recorded], how: SettlingRules, findings: Findings) -> Iterator[Owed]:
    """Yield the amounts after each result, taken-back result and answer to the stakes. Report wrong results."""
    ended_by = 0
    for place, recorded in enumerate(history, 1):
        event, number = recorded.event, recorded.originator_version
        if isinstance(event, StakesAgreed | StakesDeclined):
            yield Owed(number, _counted_amounts(settlement(history[:place], how.basis, balances=how.has_pot)))
            continue
        if (amounts_said := amounts_owed(event, ended_by)) is None:
            continue
        ended_by = number
        where = {"aggregate": str(recorded.originator_id), "event": number}
        past = history[:place]
        found = settlement(past, how.basis, balances=how.has_pot)
        amounts = _amounts_by_seat(found)
        if amounts != (amounts_said if any(amounts_said) else ()):
            findings.add("derivations", "settlement_said", **where, stands=list(amounts_said), should=list(amounts))
        if found.payments:
            between = [0] * len(found.seats)
            for paid in found.payments:
                between[paid.payer] -= paid.amount
                between[paid.payee] += paid.amount
            if tuple(between) != amounts:
                findings.add("derivations", "payments_said", **where, stands=between, should=list(amounts))
        if how.has_pot and isinstance(event, MatchClosed):
            opened = past[0].event
            assert isinstance(opened, MatchOpened), "a history begins with its opening"
            pot = event.pot - opened.pot - sum(opened.points)
            if pot != found.pot:
                findings.add("derivations", "pot_said", **where, stands=pot, should=found.pot)
        if isinstance(event, MatchWon | MatchClosed | ProtocolCorrected):
            _check_lines(past, event, findings)
        yield Owed(number, _counted_amounts(found))


def _amounts_by_seat(found: Settlement) -> tuple[int, ...]:
    amounts = () if found.status == "open" else tuple(seat.amount for seat in found.seats)
    return amounts if any(amounts) else ()


def _counted_amounts(found: Settlement) -> tuple[int, ...]:
    """Return :func:`_amounts_by_seat`; empty if the books do not count the match."""
    return _amounts_by_seat(found) if found.counted == "agreed" else ()


def _check_lines(
    past: Sequence[Recorded], end: MatchWon | MatchClosed | ProtocolCorrected, findings: Findings
) -> None:
    """Report lines that are not the previous line plus their entries, and wrong final points."""
    counting = without_taken_back(past)
    struck = next((one.event.struck for one in reversed(counting) if isinstance(one.event, ProtocolCorrected)), ())
    opened, lines = past[0].event, lines_as_corrected(counting)
    assert isinstance(opened, MatchOpened), "a history begins with its opening"
    parts = 2 if any(isinstance(line, DealScored) and line.halves for line in lines.values()) else 1
    last = tuple(points * parts for points in opened.points)
    for number, line in lines.items():
        if line.deal in struck:
            continue
        sums = list(line.before)
        for entry in line.entries:
            sums[entry.seat] += entry.points
        where = {"aggregate": str(past[0].originator_id), "event": number}
        if tuple(sums) != line.points:
            findings.add("derivations", "line_sum", **where, stands=list(line.points), should=sums)
        elif last != line.before:
            findings.add("derivations", "line_before", **where, stands=list(line.before), should=list(last))
        last = line.points
    said = end.before if isinstance(end, MatchClosed) else end.points
    if isinstance(end, ProtocolCorrected) and end.won is not None and end.won.shares:
        said = tuple(points - share for points, share in zip(said, end.won.shares, strict=True))
    if said != last:
        where = {"aggregate": str(past[0].originator_id), "event": past[-1].originator_version}
        findings.add("derivations", "points_said", **where, stands=list(said), should=list(last))
