"""Checks for every settlement: it adds up, and it follows the rules of money, written here a second time."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from msgspec.structs import replace

from api.money.audit_report import settlement_basis
from projections.audit.findings import CHECKS, Findings
from projections.audit.settled import OF_MONEY
from projections.audit.settled import amounts_after_results as owed_by_lines
from referee.events import MatchAbandoned, MatchClosed, MatchOpened, MatchWon
from referee.games import RULESETS
from referee.officials.events.corrections import ProtocolCorrected, lines_as_corrected
from referee.officials.events.seating import StakesAgreed
from referee.phases import Over
from referee.settlement import Settlement, settlement
from referee.store.aggregate import fold
from referee.store.match import Match
from referee.visibility import Recorded


def settled(history: Sequence[Recorded], **more: Any) -> Settlement:
    """Return the settlement of a match for money."""
    opened = history[0].event
    assert isinstance(opened, MatchOpened)
    rules = RULESETS[opened.ruleset]
    basis = rules.basis(opened.options)
    assert basis is not None, "it is for money"
    return settlement(history, basis, balances=rules.has_pot, **more)


def owed(opened: MatchOpened, points: Sequence[int], winners: Sequence[int], out_of: int) -> list[int]:
    """Return the amount that each seat receives by B74, B-O21, A-O32, C-O37 and E-O42. ``out_of``: the parts of a
    point."""
    assert opened.stakes is not None
    unit, seats = opened.stakes.unit, len(points)
    received = [0] * seats
    for loser in (seat for seat in range(seats) if winners and seat not in winners):
        payee = winners[0]
        if opened.options.get("money") == "difference":
            if len(winners) > 1:
                payee = (loser + 1) % seats
            paid = points[payee] - points[loser]
        elif points[loser] >= 0:
            paid = points[loser]
        else:
            paid = (
                points[loser] * {"zero": 0, "absolute": -1, "signed": 1}[opened.options.get("money_negative", "zero")]
            )
        received[loser] -= paid * unit // out_of
        received[payee] += paid * unit // out_of
    return received


def check(history: Sequence[Recorded]) -> Settlement:
    """Return the settlement, after a check that it adds up line by line."""
    found = settled(history)
    opened = history[0].event
    assert isinstance(opened, MatchOpened)
    match: Match = fold(None, history)
    amounts = [seat.amount for seat in found.seats]
    assert found.sum == sum(amounts) + found.pot == 0
    for seat in found.seats:
        assert seat.amount == sum(line.amount for line in seat.lines)
    state, table = match.play, match.play.table
    over = isinstance(state, Over)
    assert (found.status == "open") is not over
    if match.rules.has_pot:
        assert amounts == list(table.points)
        assert found.pot == table.pot - opened.pot - sum(opened.points)
        assert found.payments == ()
    else:
        parts = 2 if getattr(table, "unit", 1) == 2 else 1
        assert amounts == owed(opened, table.points, state.winners if over else (), parts)
        between = [0] * len(amounts)
        for paid in found.payments:
            assert paid.amount == paid.points * found.unit > 0
            between[paid.payer] -= paid.amount
            between[paid.payee] += paid.amount
        assert between == amounts
        assert found.pot == 0
    if (told := settlement_told(history)) is not None:
        assert told == tuple(amounts), "as the match has said"
    _check_lines(history, found, match)
    _check_audit(history, amounts if over else [])
    return found


def settlement_told(history: Sequence[Recorded]) -> tuple[int, ...] | None:
    """Return the settlement of the last event that ended the match; ``None``: no event did."""
    for recorded in reversed(history):
        event = recorded.event
        if isinstance(event, ProtocolCorrected):
            return None if event.won is None else event.won.settlement
        if isinstance(event, MatchWon | MatchClosed | MatchAbandoned):
            return event.settlement
    return None


def _check_audit(history: Sequence[Recorded], amounts: Sequence[int]) -> None:
    """Check that an audit of a club gets the same result and finds nothing, once all have agreed to the stakes."""
    findings, opened = Findings(), history[0].event
    assert isinstance(opened, MatchOpened)
    how = settlement_basis(opened)
    assert how is not None, "it is for money"
    begins = replace(history[0], event=replace(opened, club=opened.club or UUID(int=7), stake_limit=None))
    agreed = replace(history[0], event=StakesAgreed(seats=tuple(range(len(opened.players))), how="seat"))
    of_money = [begins, agreed, *(one for one in history[1:] if type(one.event) in OF_MONEY)]
    last = [one.amounts for one in owed_by_lines(of_money, how, findings)]
    assert findings.counts == dict.fromkeys(CHECKS, 0), findings.shown
    assert (last[-1] if last else ()) == (tuple(amounts) if any(amounts) else ())


def _check_lines(history: Sequence[Recorded], found: Settlement, match: Match) -> None:
    """Check that each line rests on events, and on a number of the protocol as corrected.

    A random correction may name events of another match.
    """
    told_anew = any(isinstance(recorded.event, ProtocolCorrected) for recorded in history)
    counts = [(line.deal, entry) for line in lines_as_corrected(history).values() for entry in line.entries]
    for seat in found.seats:
        for line in seat.lines:
            assert line.events
            assert told_anew or all(0 < number <= match.version for number in line.events)
            if line.deal is not None:
                assert any((line.deal, seat.seat, line.rule) == (deal, one.seat, one.rule) for deal, one in counts)
