"""The settlement of a match: amounts, payments, and the lines and events that show them.

It is calculated from the events of the match alone, so it can check a club's books.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

from msgspec import Meta, field

from referee import wire_types
from referee.events import DealScored, MatchAbandoned, MatchClosed, MatchOpened, MatchWon, Payment, in_points
from referee.officials.events.corrections import Ended, Line, ProtocolCorrected, lines_as_corrected
from referee.officials.events.seating import StakesAgreed, StakesDeclined
from referee.officials.events.takeback import ActTakenBack, without_taken_back
from referee.value import Points, RuleId, Seat, Value
from referee.visibility import Event, Recorded

Basis = Annotated[
    Literal["source", "house"],
    Meta(
        title="MoneyBasis",
        description="Whose rules decide the payments. `source`: the rules of the game's source. `house`: the source "
        "has no money, and the table chose the option `money`.",
    ),
]
SettlementStatus = Annotated[
    Literal["open", "provisional", "final"],
    Meta(
        title="SettlementStatus",
        description="`open`: the match goes on, and no payment is due; with a pot, each seat has its balance so far. "
        "`provisional`: the match is over, and its scores may still be corrected (J8). `final`: the "
        "match is over.",
    ),
]
Counted = Annotated[
    Literal["agreed", "waiting", "declined", "above_limit"],
    Meta(
        title="StakesCounted",
        description="Whether a club's books count a match. `agreed`: they do, as soon as an amount is owed. "
        "`waiting`: not before all seats have agreed to the stakes. `declined`: never, because a seat or an "
        "official declined the stakes. `above_limit`: not with this result, because it moves more than "
        "the club's `stake_limit` allowed when the match was opened.",
    ),
]
OPENING = "opening"
SettledBy = Annotated[
    str,
    Meta(
        title="SettledBy",
        description="The id of a rule, or `opening`: the points at the start of the match.",
        extra_json_schema={"pattern": "^([A-Z](-[A-Z])?[0-9]{1,3}|opening)$", "maxLength": 7},
    ),
]


class SettlementLine(Value):
    """A part of a seat's amount."""

    deal: wire_types.DealNumber | None
    """Number of the deal; null: the line is from the opening or from the end of the match."""
    rule: SettledBy
    """Rule of the line; `opening`: the points at the start."""
    points: Points
    """Points as in the protocol; in a payment, the points paid for; in Rams, minor units."""
    amount: wire_types.Money
    """Minor units that the seat receives (below zero: pays) because of this line."""
    events: wire_types.Events


class SeatSettled(Value):
    """The result of a match for one seat. The ``lines`` add up to the ``amount``."""

    seat: Seat
    member: wire_types.MemberNumber | None
    amount: wire_types.Money
    """Minor units that the seat receives (below zero: pays)."""
    lines: wire_types.Many[SettlementLine]
    """Payer's lines of the protocol, or a payee's payments; with a pot, the amounts won and put in."""


class PaymentDue(Value):
    """A payment between two players."""

    payer: Seat = field(name="from")
    payee: Seat = field(name="to")
    points: Points
    """Points that are paid for."""
    amount: wire_types.Money
    """Minor units."""
    rule: RuleId


class Settlement(Value):
    """The settlement of a match. The amounts of the ``seats`` and ``pot`` add up to ``sum``, which is 0."""

    status: SettlementStatus
    currency: wire_types.Currency
    unit: wire_types.Unit
    basis: Basis
    pot: wire_types.Money
    """Minor units that no seat has: the pot, and the imbalance of the opening points."""
    sum: wire_types.Money
    """Always 0."""
    counted: Counted | None
    """Null: no club keeps books of the match."""
    waiting_for: wire_types.Seats
    """Seats that must agree to the stakes before the club's books count the match."""
    seats: wire_types.BySeat[SeatSettled]
    """Result of each seat, clockwise."""
    payments: wire_types.Many[PaymentDue]
    """Payments between players; empty while the match goes on, and in games with a pot."""


End = MatchWon | MatchClosed | MatchAbandoned | Ended


def settlement(
    history: Iterable[Recorded],
    basis: Basis,
    *,
    balances: bool,
    provisional: bool = False,
    members: Sequence[int] = (),
) -> Settlement:
    """Return the settlement of a match for money. ``history``: all its events.

    Acts taken back and lines before their correction do not count. ``balances``: the game has a pot, so points are
    minor units. ``provisional``: scores may still be corrected. ``members``: numbers by seat; empty without a club.
    """
    sheet = _Sheet(without_taken_back(history))
    lines = [tuple(sheet.balance_lines(seat) if balances else sheet.payment_lines(seat)) for seat in sheet.seats]
    amounts = [sum([line.amount for line in own]) for own in lines]
    pot = -sum(amounts)
    waiting_for = sheet.waiting_for
    return Settlement(
        status="open" if sheet.end is None else "provisional" if provisional else "final",
        currency=sheet.stakes.currency,
        unit=sheet.stakes.unit,
        basis=basis,
        pot=pot,
        sum=sum(amounts) + pot,
        counted=_counted(sheet, waiting_for, amounts),
        waiting_for=waiting_for,
        seats=tuple(
            [
                SeatSettled(seat=seat, member=members[seat] if members else None, amount=amounts[seat], lines=own)
                for seat, own in enumerate(lines)
            ]
        ),
        payments=tuple(sheet.payments_due()),
    )


def sum_of_payments(amounts: Sequence[int]) -> int:
    """Return the sum of the payments that these amounts by seat need. The pot pays or gets the difference."""
    paid = -sum([amount for amount in amounts if amount < 0])
    return max(paid, sum(amounts) + paid)


def _counted(sheet: "_Sheet", waiting_for: Sequence[int], amounts: Sequence[int]) -> Counted | None:
    """Return whether a club's books count the match; ``None`` without a club."""
    if sheet.opened.club is None:
        return None
    if sheet.declined:
        return "declined"
    if waiting_for:
        return "waiting"
    limit = sheet.opened.stake_limit
    return (
        "above_limit"
        if sheet.end is not None and limit is not None and sum_of_payments(amounts) > limit
        else "agreed"
    )


def amounts_received(payments: Iterable[Payment], seats: int, unit: int, *, halves: bool = False) -> tuple[int, ...]:
    """Return the minor units that each seat receives. ``halves``: the points of payments are half points."""
    amounts = [0] * seats
    for payment in payments:
        amount = amount_of_points(payment.points, unit, halves)
        amounts[payment.payer] -= amount
        amounts[payment.payee] += amount
    return tuple(amounts)


def amount_of_points(points: int, unit: int, halves: bool) -> int:
    """Return the minor units for these points; with ``halves``, half points, which need an even ``unit`` (E-O42)."""
    return points * unit // 2 if halves else points * unit


class _Sheet:
    """The facts of a match that decide its settlement."""

    def __init__(self, history: list[Recorded]) -> None:
        opened = history[0].event
        assert isinstance(opened, MatchOpened), "a history begins with its opening"
        assert opened.stakes is not None, "the match is for money"
        self.opened, self.stakes, self.seats = opened, opened.stakes, range(len(opened.players))
        self.end: End | None = None
        self.ended_by = 0
        """Number of the event that ended the match."""
        self.agreed: set[int] = set()
        self.declined = False
        struck: tuple[int, ...] = ()
        for recorded in history:
            match recorded.event:
                case MatchWon() | MatchClosed() | MatchAbandoned() as end:
                    self.end, self.ended_by = end, recorded.originator_version
                case ProtocolCorrected() as corrected:
                    self.end, self.ended_by, struck = corrected.won, recorded.originator_version, corrected.struck
                case StakesAgreed(seats=seats):
                    self.agreed.update(seats)
                case StakesDeclined():
                    self.declined = True
        self.lines: list[Line] = [line for line in lines_as_corrected(history).values() if line.deal not in struck]
        self.halves = any(isinstance(line, DealScored) and line.halves for line in self.lines)
        self.payments = payments_at(self.end, self.stakes.unit)

    @property
    def waiting_for(self) -> tuple[int, ...]:
        if self.opened.club is None or self.declined:
            return ()
        return tuple([seat for seat in self.seats if seat not in self.agreed])

    def protocol_lines(self, seat: int, unit: int) -> Iterator[SettlementLine]:
        """Yield a seat's points at the start and its line entries, at ``unit`` minor units a point."""
        start = self.opened.points[seat]
        if start:
            yield SettlementLine(deal=None, rule=OPENING, points=start, amount=start * unit, events=(1,))
        for line in self.lines:
            for entry in line.entries:
                if entry.seat == seat:
                    yield SettlementLine(
                        deal=line.deal,
                        rule=entry.rule,
                        points=in_points((entry.points,), self.halves)[0],
                        amount=amount_of_points(entry.points, unit, self.halves),
                        events=tuple(dict.fromkeys(entry.events)),
                    )

    def end_line(self, rule: SettledBy, points: Points, amount: int) -> SettlementLine:
        return SettlementLine(deal=None, rule=rule, points=points, amount=amount, events=(self.ended_by,))

    def balance_lines(self, seat: int) -> Iterator[SettlementLine]:
        """Yield the amounts that a seat started with, won, put in and got of a shared pot (D10, D-O17, D-O18)."""
        yield from self.protocol_lines(seat, 1)
        end = self.end
        if end is not None and not isinstance(end, MatchWon) and end.shares and (share := end.shares[seat]):
            yield self.end_line(end.rule, share, share)

    def payment_lines(self, seat: int) -> Iterator[SettlementLine]:
        """Yield the lines of a seat in a game with payments (B74, E-O42).

        A payee has the payments. A payer has the lines of the protocol and, if their sum is not the payment, a line
        for the difference (B-O21).
        """
        unit = self.stakes.unit
        for payment in self.payments:
            owed = amount_of_points(payment.points, unit, self.halves)
            if seat == payment.payer:
                own = list(self.protocol_lines(seat, unit if payment.between else -unit))
                yield from own
                if rest := -owed - sum([line.amount for line in own]):
                    yield self.end_line(payment.rule, self.points_for(-rest), rest)
            elif seat == payment.payee and owed:
                yield self.end_line(payment.rule, self.points_for(owed), owed)

    def points_for(self, amount: int) -> Points:
        return in_points((2 * amount // self.stakes.unit,), True)[0]

    def payments_due(self) -> Iterator[PaymentDue]:
        """Yield the payments, except those of 0. If the amount is below 0, the payee pays (B-O21)."""
        for payment in self.payments:
            payer, payee, amount = (
                payment.payer,
                payment.payee,
                amount_of_points(payment.points, self.stakes.unit, self.halves),
            )
            if amount < 0:
                payer, payee, amount = payee, payer, -amount
            if amount:
                points = self.points_for(amount)
                yield PaymentDue(payer=payer, payee=payee, points=points, amount=amount, rule=payment.rule)


def payments_at(end: End | None, unit: int) -> tuple[Payment, ...]:
    """Return the payments of a won match, else none. In an old row without payments, all others pay the winner."""
    if not isinstance(end, MatchWon | Ended):
        return ()
    if end.payments or end.seat is None or end.settlement is None:
        return end.payments
    return tuple(
        [
            Payment(payer=seat, payee=end.seat, points=-amount // unit, rule=end.rule)
            for seat, amount in enumerate(end.settlement)
            if seat != end.seat
        ]
    )


def amounts_owed(event: Event, ended_by: int) -> tuple[int, ...] | None:
    """Return the minor units owed after an event, by seat: empty if nothing is owed, ``None`` if nothing changes.

    ``ended_by``: number of the event that last set these amounts, or 0. That event may be taken back.
    """
    match event:
        case MatchWon() | MatchClosed() | MatchAbandoned():
            return event.settlement or ()
        case ProtocolCorrected(won=won):
            return () if won is None else won.settlement or ()
        case ActTakenBack() if event.undoes(ended_by):
            return ()
    return None
