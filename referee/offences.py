"""The ledger of a deal's breaches and penalties, and the rulings on knocks (B11-B12, B-O1 to B-O5, B-O32)."""

from collections.abc import Callable, Mapping
from typing import Any, Literal

from msgspec import field
from msgspec.structs import replace

from referee.acts import Knock
from referee.events import Breach, KnockDismissed, KnockUpheld, PenaltyImposed, Reported
from referee.refusals import WrongPhase
from referee.value import Value
from referee.visibility import Event

DISMISSED_MAX = 20
"""Maximum dismissed knocks of a seat in a deal, because knocks could fill the match."""


class NotedBreach(Value):
    breach: Breach
    event: int
    case: int | None = None
    """Case that took up the breach; ``None``: it is open."""
    voided: bool = False


class Penalty(Value):
    """Points that a seat goes up when the deal is scored."""

    seat: int
    points: int
    rule: str
    events: tuple[int, ...]
    case: int | None = None
    """Case of the penalty. In a case, points below zero cancel an earlier penalty."""


class Ledger(Value):
    """The breaches and penalties of a deal. A method that returns a ledger returns a changed copy."""

    breaches: tuple[NotedBreach, ...] = field(default=(), name="standings")
    penalties: tuple[Penalty, ...] = ()
    past: tuple[NotedBreach, ...] = ()
    """Breaches of the previous deal or, after a void, the open ones of the voided deal.

    They decide only how a knock is dismissed.
    """
    cases: int = 0
    """Number of the last case or ruling on a knock."""
    dismissed: tuple[int, ...] = ()
    """Knocker of each dismissed knock, even of knocks before the deal was voided."""

    @property
    def next_case(self) -> int:
        return self.cases + 1

    def penalty_points(self, seat: int) -> int:
        if not self.penalties:
            return 0
        return sum(penalty.points for penalty in self.penalties if penalty.seat == seat)

    def lasting_penalties(self, seat: int) -> tuple[Penalty, ...]:
        """Return a seat's penalties, without pairs that cancel each other in a case."""
        lasting: list[Penalty] = []
        for penalty in self.penalties:
            if penalty.seat != seat:
                continue
            imposed = (
                one for one in lasting if (one.case, one.points) == (penalty.case, -penalty.points) and one.points > 0
            )
            cancelled = None if penalty.case is None else next(imposed, None)
            if cancelled is None:
                lasting.append(penalty)
            else:
                lasting.remove(cancelled)
        return tuple(lasting)

    def noted(self, breaches: tuple[Breach, ...], event: int) -> "Ledger":
        """Add open breaches of event ``event``."""
        new = [NotedBreach(breach=breach, event=event) for breach in breaches]
        return replace(self, breaches=(*self.breaches, *new))

    def has_breach(self, offence: str, seat: int, since: int) -> bool:
        return bool(self.breaches_by(offence, seat, since))

    def breaches_by(self, offence: str, seat: int, since: int) -> tuple[Breach, ...]:
        """Return a seat's own breaches of this offence after event ``since``, except those of a voided deal."""
        return tuple(
            record.breach
            for record in self.breaches
            if record.breach.offence == offence
            and seat == (record.breach.seat if record.breach.by is None else record.breach.by)
            and record.event > since
            and not record.voided
        )

    def without_breach(self, offence: str, accused: int) -> "Ledger":
        """Remove the accused's last breach of this offence that no earlier event proves, if any."""
        found = [
            place
            for place, record in enumerate(self.breaches)
            if (record.breach.offence, record.breach.seat) == (offence, accused) and not record.breach.shown_by
        ]
        left = tuple(record for place, record in enumerate(self.breaches) if place not in found[-1:])
        return replace(self, breaches=left)

    def ruled(self, event: KnockUpheld | KnockDismissed) -> "Ledger":
        """Note a ruling: its case takes up the breach (B-O5), or the dismissal counts against the knocker."""
        if isinstance(event, KnockUpheld):
            return self.taken_up(event.case, event.accused, event.offence, event.rests_on)
        return replace(self, cases=event.case, dismissed=(*self.dismissed, event.seat))

    def taken_up(self, case: int, accused: int | None, offence: str | None, rests_on: tuple[int, ...]) -> "Ledger":
        """Note that ``case`` takes up the open breach of the accused in the last event of ``rests_on``, if any."""

        def is_meant(record: NotedBreach) -> bool:
            breach, events = record.breach, rests_on[-1:]
            return (breach.seat, breach.offence, (record.event,)) == (accused, offence, events)

        place = next((place for place, one in enumerate(self.breaches) if one.case is None and is_meant(one)), None)
        breaches = tuple([replace(one, case=case) if at == place else one for at, one in enumerate(self.breaches)])
        return replace(self, breaches=breaches, cases=case)

    def reopened(self, case: int) -> "Ledger":
        """Open the breach of a withdrawn case again."""
        breaches = [replace(one, case=None) if one.case == case else one for one in self.breaches]
        return replace(self, breaches=tuple(breaches))

    def imposed(self, event: PenaltyImposed, number: int) -> "Ledger":
        """Add the penalty of event ``number``. The event before it, often the ruling, also shows it."""
        events = (number - 1, number)
        penalty = Penalty(seat=event.seat, points=event.points, rule=event.rule, events=events, case=event.case)
        return replace(self, penalties=(*self.penalties, penalty))

    def dealt(self, breaches: tuple[Breach, ...], event: int) -> "Ledger":
        """Add the breaches of the dealing. Drop past breaches that a case took up (B-O32)."""
        if not (breaches or self.past):
            return self
        past = tuple([record for record in self.past if record.case is None])
        return replace(self.noted(breaches, event), past=past)

    def misdealt(self, tricks_done: int) -> "Ledger":
        """Begin the deal again after a misdeal (B-O41, C-O38).

        An open breach with ``closes_after`` stays open until the first new trick is complete.
        """
        breaches = []
        for record in self.breaches:
            breach = record.breach
            if breach.closes_after is not None:
                breach = replace(breach, closes_after=int(tricks_done < breach.closes_after))
            breaches.append(replace(record, breach=breach))
        return replace(self, breaches=tuple(breaches))

    def closed(self) -> "Ledger":
        """Return the ledger of the next deal, in which all breaches are past (B-O2)."""
        return Ledger(past=self.breaches, cases=self.cases)

    def voided(self) -> "Ledger":
        """Begin the voided deal again. Open breaches become past, others and penalties stay (B-O38, B-O5)."""
        punished = tuple(replace(record, voided=True) for record in self.breaches if record.case is not None)
        past = tuple(record for record in self.breaches if record.case is None)
        return replace(self, past=past, breaches=punished)

    def known_breaches(self, matches: Callable[[NotedBreach], bool], named: bool) -> tuple[NotedBreach, ...]:
        """Return the breaches that match and that all seats know, the latest last.

        Returns the first of these that is not empty: breaches of this deal that a case took up; with ``named``, past
        ones that a case took up; past ones without a case.
        """
        taken = tuple(record for record in self.breaches if record.case is not None and matches(record))
        if taken:
            return taken
        past = tuple(filter(matches, self.past))
        settled = tuple(record for record in past if record.case is not None)
        return settled if settled and named else tuple(record for record in past if record.case is None)

    def open_breaches(self, tricks_done: int) -> tuple[NotedBreach, ...]:
        """Return the breaches that can be knocked for after this number of complete tricks."""
        return tuple(
            record
            for record in self.breaches
            if record.case is None
            and (record.breach.closes_after is None or tricks_done < record.breach.closes_after)
        )


def check_may_knock(ledger: Ledger, seat: int) -> None:
    """Raise ``WrongPhase`` if the seat has :data:`DISMISSED_MAX` dismissed knocks in the deal.

    Right knocks are refused too, because otherwise a refusal would show that a knock is wrong.
    """
    if ledger.dismissed.count(seat) >= DISMISSED_MAX:
        raise WrongPhase("too_many_knocks", None, limit=DISMISSED_MAX)


def adjudicate(
    ledger: Ledger,
    knock: Knock,
    *,
    tricks_done: int,
    rules: Mapping[str, str],
    fine: int,
) -> tuple[Event, ...]:
    """Return the ruling on a knock, and its penalty, if any.

    ``rules``: the rules to cite, by reason and for ``fine``. A knock for nothing or a late knock costs ``fine``
    points (B-O3, B-O5, B-O32).
    """
    case = ledger.next_case

    def matches(record: NotedBreach) -> bool:
        return record.breach.seat == knock.accused and knock.offence in (None, record.breach.offence)

    still_open = [] if knock.late else [record for record in ledger.open_breaches(tricks_done) if matches(record)]
    if still_open:
        record = still_open[0]
        breach = record.breach
        upheld = KnockUpheld(
            case=case,
            seat=knock.seat,
            accused=knock.accused,
            offence=breach.offence,
            rule=breach.rule,
            payer=breach.payer,
            penalty=breach.points,
            rests_on=(*breach.shown_by, record.event),
            named=knock.offence,
            note=knock.note,
        )
        return upheld, PenaltyImposed(seat=breach.payer, points=breach.points, rule=breach.rule, case=case)
    here = tuple(filter(matches, ledger.breaches))
    # Players do not know a breach of this deal that no case took up, so it counts last.
    known = ledger.known_breaches(matches, named=knock.offence is not None) or here
    again = any(record.case is not None for record in known)
    reason: Literal["nothing", "late", "again"] = "again" if again else "late" if known else "nothing"
    dismissed = KnockDismissed(
        case=case,
        seat=knock.seat,
        accused=knock.accused,
        reason=reason,
        rule=rules[reason],
        named=knock.offence,
        offence=known[-1].breach.offence if known else None,
        rests_on=(known[-1].event,) if known else (),
        of=known[-1].case if again else None,
        note=knock.note,
        within_deal=bool(known) and known[-1] in here,
    )
    if fine and not again:
        return dismissed, PenaltyImposed(seat=knock.seat, points=fine, rule=rules["fine"], case=case)
    return (dismissed,)


def nothing_to_punish(ledger: Ledger, knock: Knock, rule: str) -> KnockDismissed:
    """Return the dismissal in a match that refuses all breaches (B-O32)."""
    return KnockDismissed(
        case=ledger.next_case,
        seat=knock.seat,
        accused=knock.accused,
        reason="enforced",
        rule=rule,
        named=knock.offence,
        note=knock.note,
    )


# The functions below return the state with a changed ledger.


def with_ledger(state: Any, ledger: Ledger) -> Any:
    return replace(state, table=replace(state.table, ledger=ledger))


def noted(state: Any, breaches: tuple[Breach, ...], number: int) -> Any:
    return with_ledger(state, state.table.ledger.noted(breaches, number)) if breaches else state


def reported(state: Any, event: Reported, number: int) -> Any:
    return noted(state, event.breaches, number)


def taken_up(state: Any, case: int, accused: int | None, offence: str | None, rests_on: tuple[int, ...]) -> Any:
    return with_ledger(state, state.table.ledger.taken_up(case, accused, offence, rests_on))


def reopened(state: Any, case: int) -> Any:
    return with_ledger(state, state.table.ledger.reopened(case))


def ruled(state: Any, event: KnockUpheld | KnockDismissed, number: int) -> Any:
    return with_ledger(state, state.table.ledger.ruled(event))


def imposed(state: Any, event: PenaltyImposed, number: int) -> Any:
    return with_ledger(state, state.table.ledger.imposed(event, number))
