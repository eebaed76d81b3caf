"""Breaches that stand until somebody knocks, and what a knock makes of them (B11-B12, B-O1 to B-O5, B-O32).

A knock is judged from what the match has recorded, at once. It is upheld when a breach of the accused stands
open in its window: the offence named, else the oldest. Otherwise it is dismissed, and why is part of the ruling.
All that was done wrong in a deal stands in the ledger of its table, whatever the phase.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from referee.acts import Knock
from referee.events import Breach, KnockDismissed, KnockUpheld, PenaltyImposed, Reported
from referee.refusals import WrongPhase
from referee.value import Value
from referee.visibility import Event

DISMISSED_MAX = 20
"""So many knocks of a seat may be dismissed in a deal; then it may not knock in it any more. Where they cost nothing
they could go on for ever, and each is an event of the match."""


class Standing(Value):
    """A breach, the event in which it happened and what became of it."""

    breach: Breach
    event: int
    case: int | None = None
    """The number of the case that took it up; ``None``: it stands open."""
    voided: bool = False
    """It was taken up in a deal that was then voided."""


class Penalty(Value):
    """Points knocked up in a deal, for its line in the protocol."""

    seat: int
    points: int
    rule: str
    events: tuple[int, ...]
    case: int | None = None
    """The case that it was imposed in, or lifted."""


class Ledger(Value):
    """What has been done wrong in the deal, and what it cost so far."""

    standings: tuple[Standing, ...] = ()
    penalties: tuple[Penalty, ...] = ()
    past: tuple[Standing, ...] = ()
    """Of the deal before: nothing there can be punished any more, but a knock for it is answered rightly."""
    cases: int = 0
    dismissed: tuple[int, ...] = ()
    """Who knocked and was dismissed in the deal, each time; voiding the deal does not wipe that out."""

    @property
    def next_case(self) -> int:
        """The number of the next case, of the game's or of the officials'."""
        return self.cases + 1

    def points(self, seat: int) -> int:
        """Penalty points of a seat in this deal."""
        if not self.penalties:
            return 0
        return sum(penalty.points for penalty in self.penalties if penalty.seat == seat)

    def lasting(self, seat: int) -> tuple[Penalty, ...]:
        """Return the penalties of a seat in this deal, without those that were lifted in the same case."""
        lasting: list[Penalty] = []
        for penalty in self.penalties:
            if penalty.seat != seat:
                continue
            imposed = (
                one for one in lasting if (one.case, one.points) == (penalty.case, -penalty.points) and one.points > 0
            )
            lifted = None if penalty.case is None else next(imposed, None)
            if lifted is None:
                lasting.append(penalty)
            else:
                lasting.remove(lifted)
        return tuple(lasting)

    def noted(self, breaches: tuple[Breach, ...], event: int) -> "Ledger":
        """With these breaches standing open since ``event``."""
        standings = (*self.standings, *(Standing(breach=breach, event=event) for breach in breaches))
        return msgspec.structs.replace(self, standings=standings)

    def has(self, offence: str, seat: int, since: int) -> bool:
        """Return whether a seat has such a breach, noted after event ``since`` of the deal as it is dealt now."""
        return bool(self.of(offence, seat, since))

    def of(self, offence: str, seat: int, since: int) -> tuple[Breach, ...]:
        """Return the breaches of a kind by a seat, noted after event ``since`` of the deal as it is dealt now."""
        return tuple(
            standing.breach
            for standing in self.standings
            if standing.breach.offence == offence
            and seat == (standing.breach.seat if standing.breach.by is None else standing.breach.by)
            and standing.event > since
            and not standing.voided
        )

    def without(self, offence: str, accused: int) -> "Ledger":
        """Return the ledger without the last breach of the kind by this seat that no earlier event shows, if any."""
        found = [
            place
            for place, standing in enumerate(self.standings)
            if (standing.breach.offence, standing.breach.seat) == (offence, accused) and not standing.breach.shown_by
        ]
        left = tuple(standing for place, standing in enumerate(self.standings) if place not in found[-1:])
        return msgspec.structs.replace(self, standings=left)

    def ruled(self, event: KnockUpheld | KnockDismissed, number: int) -> "Ledger":
        """After a ruling: an upheld breach cannot be knocked for again (B-O5)."""
        if isinstance(event, KnockUpheld):
            return self.taken_up(event.case, event.accused, event.offence, event.rests_on)
        return msgspec.structs.replace(self, cases=event.case, dismissed=(*self.dismissed, event.seat))

    def taken_up(self, case: int, accused: int | None, offence: str | None, rests_on: tuple[int, ...]) -> "Ledger":
        """Return the ledger with this case as the last: the open breach in the last of these events is taken up."""

        def is_meant(standing: Standing) -> bool:
            breach, events = standing.breach, rests_on[-1:]
            return (breach.seat, breach.offence, (standing.event,)) == (accused, offence, events)

        place = next((place for place, one in enumerate(self.standings) if one.case is None and is_meant(one)), None)
        standings = tuple([replace(one, case=case) if at == place else one for at, one in enumerate(self.standings)])
        return replace(self, standings=standings, cases=case)

    def let_go(self, case: int) -> "Ledger":
        """Return the ledger after this case was withdrawn: a breach that it took up stands open."""
        standings = tuple([replace(one, case=None) if one.case == case else one for one in self.standings])
        return replace(self, standings=standings)

    def imposed(self, event: PenaltyImposed, number: int) -> "Ledger":
        """After a penalty, which stands on the ruling before it."""
        events = (number - 1, number)
        penalty = Penalty(seat=event.seat, points=event.points, rule=event.rule, events=events, case=event.case)
        return msgspec.structs.replace(self, penalties=(*self.penalties, penalty))

    def dealt(self, breaches: tuple[Breach, ...], event: int) -> "Ledger":
        """When cards are dealt, with what was done wrong by it: a knock that names what was punished in the deal
        before does not mean that any more, and is for nothing (B-O32)."""
        past = tuple(standing for standing in self.past if standing.case is None)
        return msgspec.structs.replace(self.noted(breaches, event), past=past)

    def misdealt(self, tricks_done: int) -> "Ledger":
        """Return the ledger for the new cards after a misdeal (B-O41, C-O38).

        A breach with a window that is still open stays punishable until the first trick is complete.
        """
        standings = []
        for standing in self.standings:
            breach = standing.breach
            if breach.closes_after is not None:
                breach = replace(breach, closes_after=int(tricks_done < breach.closes_after))
            standings.append(replace(standing, breach=breach))
        return replace(self, standings=tuple(standings))

    def closed(self) -> "Ledger":
        """The deal is scored: what nobody knocked for has lapsed, and a new line begins (B-O2)."""
        return Ledger(past=self.standings, cases=self.cases)

    def voided(self) -> "Ledger":
        """The deal counts for nothing; penalties already knocked stay, and what they were for (B-O38, B-O5)."""
        punished = tuple(
            msgspec.structs.replace(standing, voided=True) for standing in self.standings if standing.case is not None
        )
        past = tuple(standing for standing in self.standings if standing.case is None)
        return msgspec.structs.replace(self, past=past, standings=punished)

    def known(self, matches: Callable[[Standing], bool], named: bool) -> tuple[Standing, ...]:
        """What everybody knows of the breaches that a knock may mean, the latest last: those that a case took up in
        this deal, else those of the deal before, whose cards lie open: taken up if the knock ``named`` them, else all
        others."""
        taken = tuple(standing for standing in self.standings if standing.case is not None and matches(standing))
        if taken:
            return taken
        past = tuple(filter(matches, self.past))
        settled = tuple(standing for standing in past if standing.case is not None)
        return settled if settled and named else tuple(standing for standing in past if standing.case is None)

    def open(self, tricks_done: int) -> tuple[Standing, ...]:
        """The breaches that can still be knocked for when so many tricks of the deal are complete."""
        return tuple(
            standing
            for standing in self.standings
            if standing.case is None
            and (standing.breach.closes_after is None or tricks_done < standing.breach.closes_after)
        )


def may_knock(ledger: Ledger, seat: int) -> None:
    """Refuses a knock by who was dismissed too often in the deal, right or wrong: it must not tell which."""
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
    """The ruling on a knock, and the penalty it brings.

    ``rules`` are cited by a dismissal for ``nothing``, ``late`` or ``again``, and by a ``fine``, which goes to a
    knock for nothing or too late, not to one for the same offence again (B-O3, B-O5, B-O32).
    """
    case = ledger.next_case

    def matches(standing: Standing) -> bool:
        return standing.breach.seat == knock.accused and knock.offence in (None, standing.breach.offence)

    still_open = [] if knock.late else [standing for standing in ledger.open(tricks_done) if matches(standing)]
    if still_open:
        standing = still_open[0]
        breach = standing.breach
        upheld = KnockUpheld(
            case=case,
            seat=knock.seat,
            accused=knock.accused,
            offence=breach.offence,
            rule=breach.rule,
            payer=breach.payer,
            penalty=breach.points,
            rests_on=(*breach.shown_by, standing.event),
            named=knock.offence,
            note=knock.note,
        )
        return upheld, PenaltyImposed(seat=breach.payer, points=breach.points, rule=breach.rule, case=case)
    here = tuple(filter(matches, ledger.standings))
    known = ledger.known(matches, named=knock.offence is not None) or here  # what lapsed in this deal is hidden
    again = any(standing.case is not None for standing in known)
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
    """Where the referee refuses what the rules forbid, no offence ever stands (B-O32)."""
    return KnockDismissed(
        case=ledger.next_case,
        seat=knock.seat,
        accused=knock.accused,
        reason="enforced",
        rule=rule,
        named=knock.offence,
        note=knock.note,
    )


# The record that a match keeps, whatever its phase


def with_ledger(state: Any, ledger: Ledger) -> Any:
    """The same phase with this on the record of what was done wrong."""
    return replace(state, table=replace(state.table, ledger=ledger))


def noted(state: Any, breaches: tuple[Breach, ...], number: int) -> Any:
    """The same phase with these breaches standing open since event ``number``."""
    return with_ledger(state, state.table.ledger.noted(breaches, number)) if breaches else state


def reported(state: Any, event: Reported, number: int) -> Any:
    """A report stands as it was made."""
    return noted(state, event.breaches, number)


def taken_up(state: Any, case: int, accused: int | None, offence: str | None, rests_on: tuple[int, ...]) -> Any:
    """A case has this number; a breach that it rests on is the officials' to rule on, and no other knock's."""
    return with_ledger(state, state.table.ledger.taken_up(case, accused, offence, rests_on))


def let_go(state: Any, case: int) -> Any:
    """The case is withdrawn: a breach that it took up stands open."""
    return with_ledger(state, state.table.ledger.let_go(case))


def ruled(state: Any, event: KnockUpheld | KnockDismissed, number: int) -> Any:
    """After a ruling on a knock."""
    return with_ledger(state, state.table.ledger.ruled(event, number))


def imposed(state: Any, event: PenaltyImposed, number: int) -> Any:
    """After a penalty, which is written into the protocol with the deal."""
    return with_ledger(state, state.table.ledger.imposed(event, number))
