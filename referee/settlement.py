"""What a match comes to in money: who owes what, down to each number of the protocol and the events that show it.

Reckoned from the facts of the match and nothing else, so that any book can be held against it. Which player pays
whom, for how many points and by which rule the game has said when somebody won (:class:`~referee.events.Payment`);
where there is a pot, the balances are money already.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

from msgspec import Meta, field

from referee import wire_types
from referee.events import DealScored, MatchAbandoned, MatchClosed, MatchOpened, MatchWon, Payment, in_points
from referee.officials.events.corrections import Ended, Line, ProtocolCorrected, lines_that_count
from referee.officials.events.seating import StakesAgreed, StakesDeclined
from referee.officials.events.takeback import ActTakenBack, without_taken_back
from referee.value import Points, RuleId, Seat, Value
from referee.visibility import Event, Recorded

Basis = Annotated[
    Literal["source", "house"],
    Meta(
        title="MoneyBasis",
        description="By whose rules is paid. `source`: those of the game's source. `house`: the source knows no "
        "money, and the table has chosen the option `money`.",
    ),
]
SettlementStatus = Annotated[
    Literal["open", "provisional", "final"],
    Meta(
        title="SettlementStatus",
        description="`open`: the match goes on, and nobody owes anything yet; where there is a pot, each has what "
        "was won and put in until now. `provisional`: it is over, and its scores may still be corrected (J8). "
        "`final`: it is over.",
    ),
]
Counted = Annotated[
    Literal["agreed", "waiting", "declined", "above_limit"],
    Meta(
        title="StakesCounted",
        description="Whether a club's books count a match. `agreed`: they do, as soon as something is owed. "
        "`waiting`: not before all seats have agreed to the stakes. `declined`: never, because a seat or an official "
        "declined the stakes. `above_limit`: not with this result, because it moves more than the club's "
        "`stake_limit` allowed when the match was opened.",
    ),
]
OPENING = "opening"
SettledBy = (
    RuleId
    | Annotated[Literal["opening"], Meta(title="SettledByOpening", description="What the match was opened with.")]
)


class SettlementLine(Value):
    """A number that a seat's amount is made of, and what shows it."""

    deal: wire_types.DealNumber | None
    """The deal that it was written for; null: none, it is what the match was opened with, or comes of its end."""
    rule: SettledBy
    """The rule that it rests on; `opening`: the points at the start."""
    points: Points
    """As the protocol has them; where one is paid, for how many. In Rams minor units of money."""
    amount: wire_types.Money
    """What it brings the seat, below zero costs it, in minor units."""
    events: wire_types.Events


class SeatSettled(Value):
    """What a match comes to for a seat: the ``lines`` add up to the ``amount``."""

    seat: Seat
    member: wire_types.MemberNumber | None
    """Which member of the club; null: it is no club's match."""
    amount: wire_types.Money
    """What the seat receives, below zero pays, in minor units."""
    lines: wire_types.Many[SettlementLine]
    """Of who pays, what was written into the protocol; of who is paid, the payments; where there is a pot, what was
    won and put in."""


class PaymentDue(Value):
    """What one player pays another."""

    payer: Seat = field(name="from")
    payee: Seat = field(name="to")
    points: Points
    """For how many points."""
    amount: wire_types.Money
    """How much, in minor units."""
    rule: RuleId


class Settlement(Value):
    """What a match comes to in money. The amounts of the ``seats`` and ``pot`` add up to ``sum``, which is 0."""

    status: SettlementStatus
    """Whether anything is owed yet, and whether it may still change."""
    currency: wire_types.Currency
    unit: wire_types.Unit
    """What one point is worth, in minor units of the currency (öre, cents)."""
    basis: Basis
    """By whose rules is paid."""
    pot: wire_types.Money
    """What no seat has, in minor units: what lies in the pot, and what the points at the start did not balance."""
    sum: wire_types.Money
    """Always 0: nothing is lost."""
    counted: Counted | None
    """Whether the club's books count the match; null: no club keeps books of it."""
    waiting_for: wire_types.Seats
    """The seats that have to agree to the stakes before the club's books count the match."""
    seats: wire_types.BySeat[SeatSettled]
    """By seat, clockwise."""
    payments: wire_types.Many[PaymentDue]
    """Who pays whom; none while the match goes on, and none where there is a pot."""


End = MatchWon | MatchClosed | MatchAbandoned | Ended


def settlement(
    history: Iterable[Recorded],
    basis: Basis,
    *,
    balances: bool,
    provisional: bool = False,
    members: Sequence[int] = (),
) -> Settlement:
    """What a match for money comes to, from all its events: its lines as they count after corrections, without what
    was taken back. ``balances``: the game has a pot, and its points are money. ``members``: by seat, in a club's
    match.

    A match that was abandoned owes nothing beyond its balances.
    """
    sheet = _Sheet(without_taken_back(history))
    lines = [tuple(sheet.of_balance(seat) if balances else sheet.of_payments(seat)) for seat in sheet.seats]
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


def moved(amounts: Sequence[int]) -> int:
    """Return what a result moves, in minor units: what those who pay, pay together. The pot is one of them."""
    paid = -sum([amount for amount in amounts if amount < 0])
    return max(paid, sum(amounts) + paid)


def _counted(sheet: "_Sheet", waiting_for: Sequence[int], amounts: Sequence[int]) -> Counted | None:
    """Return whether a club's books count a match; ``None``: it is no club's."""
    if sheet.opened.club is None:
        return None
    if sheet.declined:
        return "declined"
    if waiting_for:
        return "waiting"
    limit = sheet.opened.stake_limit
    return "above_limit" if sheet.end is not None and limit is not None and moved(amounts) > limit else "agreed"


def received(payments: Iterable[Payment], seats: int, unit: int, *, halves: bool = False) -> tuple[int, ...]:
    """By seat, what payments come to in minor units; with ``halves`` they count halves of a point."""
    amounts = [0] * seats
    for payment in payments:
        amount = worth(payment.points, unit, halves)
        amounts[payment.payer] -= amount
        amounts[payment.payee] += amount
    return tuple(amounts)


def worth(points: int, unit: int, halves: bool) -> int:
    """So many points in minor units, or so many halves: then the unit is even (E-O42)."""
    return points * unit // 2 if halves else points * unit


class _Sheet:
    """What a settlement is read from."""

    def __init__(self, history: list[Recorded]) -> None:
        opened = history[0].event
        assert isinstance(opened, MatchOpened), "a history begins with its opening"
        assert opened.stakes is not None, "it is for money"
        self.opened, self.stakes, self.seats = opened, opened.stakes, range(len(opened.players))
        self.end: End | None = None
        self.ended_by = 0
        """The number of the event that says how the match has ended."""
        self.agreed: set[int] = set()
        """The seats that have agreed to the stakes."""
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
        self.lines: list[Line] = [line for line in lines_that_count(history).values() if line.deal not in struck]
        self.halves = any(isinstance(line, DealScored) and line.halves for line in self.lines)
        self.payments = payments_at(self.end, self.stakes.unit)

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """The seats that have to agree to the stakes still."""
        if self.opened.club is None or self.declined:
            return ()
        return tuple([seat for seat in self.seats if seat not in self.agreed])

    def written(self, seat: int, unit: int) -> Iterator[SettlementLine]:
        """What stands in the protocol of a seat, at so much a point."""
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
                        amount=worth(entry.points, unit, self.halves),
                        events=tuple(dict.fromkeys(entry.events)),
                    )

    def of_end(self, rule: SettledBy, points: Points, amount: int) -> SettlementLine:
        """A line that comes of the end of the match."""
        return SettlementLine(deal=None, rule=rule, points=points, amount=amount, events=(self.ended_by,))

    def of_balance(self, seat: int) -> Iterator[SettlementLine]:
        """D10, D-O17: what a seat has won and put in, and what it drew at the end (D-O18)."""
        yield from self.written(seat, 1)
        end = self.end
        if end is not None and not isinstance(end, MatchWon) and end.shares and (share := end.shares[seat]):
            yield self.of_end(end.rule, share, share)

    def of_payments(self, seat: int) -> Iterator[SettlementLine]:
        """B74, E-O42: of who pays what was written down, and where another number is paid for, what that differs by
        (B-O21); of who is paid the payments."""
        unit = self.stakes.unit
        for payment in self.payments:
            owed = worth(payment.points, unit, self.halves)
            if seat == payment.payer:
                own = list(self.written(seat, unit if payment.between else -unit))
                yield from own
                if rest := -owed - sum([line.amount for line in own]):
                    yield self.of_end(payment.rule, self.points_in(-rest), rest)
            elif seat == payment.payee and owed:
                yield self.of_end(payment.rule, self.points_in(owed), owed)

    def points_in(self, amount: int) -> Points:
        """For how many points an amount stands."""
        return in_points((2 * amount // self.stakes.unit,), True)[0]

    def payments_due(self) -> Iterator[PaymentDue]:
        """Who pays whom; who owes nothing is left out."""
        for payment in self.payments:
            payer, payee, amount = payment.payer, payment.payee, worth(payment.points, self.stakes.unit, self.halves)
            if amount < 0:  # B-O21: the winner pays
                payer, payee, amount = payee, payer, -amount
            if amount:
                points = self.points_in(amount)
                yield PaymentDue(payer=payer, payee=payee, points=points, amount=amount, rule=payment.rule)


def payments_at(end: End | None, unit: int) -> tuple[Payment, ...]:
    """Who pays whom by how a match has ended. A row from before payments were told has only what each receives: there
    each of the others pays the winner."""
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


def comes_to(event: Event, ended_by: int) -> tuple[int, ...] | None:
    """By seat, what a match for money comes to from an event on, as the event itself says, in minor units: empty
    where nothing is owed, or nothing yet; ``None``: it says nothing of that. ``ended_by``: the event that said so
    last, which may be taken back; 0: there was none."""
    match event:
        case MatchWon() | MatchClosed() | MatchAbandoned():
            return event.settlement or ()
        case ProtocolCorrected(won=won):
            return () if won is None else won.settlement or ()
        case ActTakenBack() if event.undoes(ended_by):
            return ()
    return None
