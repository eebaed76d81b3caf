"""What a match for money comes to, reckoned from its protocol again at each event that said so."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from projections.audit.findings import Findings
from referee.events import DealScored, DealVoided, MatchAbandoned, MatchClosed, MatchOpened, MatchWon
from referee.officials.events.corrections import ProtocolCorrected, lines_that_count
from referee.officials.events.seating import StakesAgreed, StakesDeclined
from referee.officials.events.takeback import ActTakenBack, without_taken_back
from referee.settlement import Basis, Settlement, amounts_owed, settlement
from referee.visibility import Recorded

OF_MONEY = (
    *(MatchOpened, DealScored, DealVoided, MatchWon, MatchClosed, MatchAbandoned),
    *(ProtocolCorrected, ActTakenBack, StakesAgreed, StakesDeclined),
)
"""What a settlement is reckoned from."""


class Reckoning(NamedTuple):
    """By whose rules is paid, and whether the game has a pot."""

    basis: Basis
    has_pot: bool


class Owed(NamedTuple):
    """What a match comes to in the books from an event on: by seat, and empty if nothing is owed yet, or if the books
    do not count it."""

    event: int
    amounts: tuple[int, ...]


def owed(history: Sequence[Recorded], how: Reckoning, findings: Findings) -> Iterator[Owed]:
    """What a match comes to after each event that says it; says where the lines do not add up to what was said."""
    ended_by = 0
    for place, recorded in enumerate(history, 1):
        event, number = recorded.event, recorded.originator_version
        if isinstance(event, StakesAgreed | StakesDeclined):
            yield Owed(number, _counted(settlement(history[:place], how.basis, balances=how.has_pot)))
            continue
        if (told := amounts_owed(event, ended_by)) is None:
            continue
        ended_by = number
        where = {"aggregate": str(recorded.originator_id), "event": number}
        past = history[:place]
        found = settlement(past, how.basis, balances=how.has_pot)
        amounts = _amounts(found)
        if amounts != (told if any(told) else ()):
            findings.say("derivations", "settlement_said", **where, stands=list(told), should=list(amounts))
        if found.payments:
            between = [0] * len(found.seats)
            for paid in found.payments:
                between[paid.payer] -= paid.amount
                between[paid.payee] += paid.amount
            if tuple(between) != amounts:
                findings.say("derivations", "payments_said", **where, stands=between, should=list(amounts))
        if how.has_pot and isinstance(event, MatchClosed):
            opened = past[0].event
            assert isinstance(opened, MatchOpened), "a history begins with its opening"
            pot = event.pot - opened.pot - sum(opened.points)
            if pot != found.pot:
                findings.say("derivations", "pot_said", **where, stands=pot, should=found.pot)
        if isinstance(event, MatchWon | MatchClosed | ProtocolCorrected):
            _lines(past, event, findings)
        yield Owed(number, _counted(found))


def _amounts(found: Settlement) -> tuple[int, ...]:
    """Return by seat what is owed; empty if nothing is."""
    amounts = () if found.status == "open" else tuple(seat.amount for seat in found.seats)
    return amounts if any(amounts) else ()


def _counted(found: Settlement) -> tuple[int, ...]:
    """Return by seat what the books of the club count; empty if nothing."""
    return _amounts(found) if found.counted == "agreed" else ()


def _lines(past: Sequence[Recorded], end: MatchWon | MatchClosed | ProtocolCorrected, findings: Findings) -> None:
    """Each line of the protocol: what stood before it and its entries give what stands after it, and the last one is
    what the match ended with."""
    stands = without_taken_back(past)
    struck = next((one.event.struck for one in reversed(stands) if isinstance(one.event, ProtocolCorrected)), ())
    opened, lines = past[0].event, lines_that_count(stands)
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
            findings.say("derivations", "line_sum", **where, stands=list(line.points), should=sums)
        elif last != line.before:
            findings.say("derivations", "line_before", **where, stands=list(line.before), should=list(last))
        last = line.points
    said = end.before if isinstance(end, MatchClosed) else end.points
    if isinstance(end, ProtocolCorrected) and end.won is not None and end.won.shares:
        said = tuple(points - share for points, share in zip(said, end.won.shares, strict=True))
    if said != last:
        where = {"aggregate": str(past[0].originator_id), "event": past[-1].originator_version}
        findings.say("derivations", "points_said", **where, stands=list(said), should=list(last))
