"""The state of an attended match: that of the game, and the docket of its officials."""

from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from msgspec.structs import replace

from referee.actors import Actor
from referee.acts import Result
from referee.events import Adjudication
from referee.officials.events.cases import Remedy
from referee.value import CaseKind, Value, Verdict

P = TypeVar("P")

CaseStatus = Literal["pending", "ruled", "appealed", "withdrawn", "final"]


Span = tuple[int, int]
"""The numbers of the first and the last event between which something happened."""


class Due(Value):
    """The price and the fine that a case puts on the line of its deal."""

    offence: str | None
    payer: int | None
    points: int | None
    """The price of the offence; ``None``: it had none."""
    fine: int
    """Points that a knock cost that was dismissed at once."""
    event: int
    """The number of the event with the ruling."""


class Case(Value):
    """A case before the officials. The texts of a case are only in its events."""

    case: int
    by: Actor
    """The opener."""
    kind: CaseKind
    deal: int
    """The deal that the case is about."""
    during: int
    """The deal that was under way, or came next, when the case was opened."""
    offence: str | None = None
    accused: int | None = None
    payer: int | None = None
    """The seat that pays if the case is upheld."""
    events: tuple[int, ...] = ()
    """The events that the case rests on."""
    span: Span = (0, 0)
    """The events between which the incident happened."""
    of: int | None = None
    """The number of the case that decides about the same incident, if the referee dismissed the knock for that."""
    joined: tuple[int, ...] = ()
    """The seats whose knocks joined the case."""
    result: Result | None = None
    """The result that the deal should have, according to the opener."""
    said: tuple[tuple[int, bool], ...] = ()
    """The statements: each a seat, and whether it agrees with the opener."""
    status: CaseStatus = "pending"
    """The status without regard to time limits (:func:`status_at`)."""
    instance: int = 0
    """1 after the first ruling, 2 after the ruling on an appeal; 0: not ruled on."""
    verdict: Verdict | None = None
    ruled_by: tuple[Actor | None, ...] = ()
    """The officials who ruled; ``None`` for the referee."""
    reopened: bool = False
    """True after the official who ruled has found their own error (J10)."""
    appeal_until: datetime | None = None
    penalty: int | None = None
    """Points of the offence in its deal; ``None``: no penalty is in force."""
    fine: int = 0
    """Points that a knock cost that was dismissed at once."""
    remedy: Remedy = Remedy()
    """The remedy of the last ruling."""
    ruling: int = 0
    """The number of the event of the last ruling."""
    entered: Due | None = None
    """The price and fine in the line of the deal, when it was scored; ``None``: the case cost nothing."""
    corrected: int | None = None
    """The number of the last correction for this case."""
    gained: tuple[int, ...] = ()
    """The seats that are better off by that correction."""

    @property
    def due(self) -> Due | None:
        """The price and fine for the deal under way; ``None``: the case costs nothing."""
        if self.penalty is None and not self.fine:
            return None
        return Due(offence=self.offence, payer=self.payer, points=self.penalty, fine=self.fine, event=self.ruling)

    def agrees(self, seat: int | None) -> bool | None:
        """Return whether a seat agreed in its last statement; ``None`` if it has made none."""
        return next((agreed for who, agreed in reversed(self.said) if who == seat), None)

    @property
    def is_open(self) -> bool:
        """True if the case waits for a ruling."""
        return self.status in ("pending", "appealed")

    @property
    def parties(self) -> tuple[int, ...]:
        """The seats concerned by a case about an offence, in order: those that knocked, the accused and the payer."""
        concerned = {seat for seat in (self.by, *self.joined, self.accused, self.payer) if isinstance(seat, int)}
        return tuple(sorted(concerned))

    def went_against(self, seat: int) -> bool:
        """J7: Return whether the last ruling went against a seat.

        A knock is upheld against the accused and the payer, and dismissed against the player who knocked. A claim
        about a line or a misclick is dismissed against the seats that made or supported it. It is upheld against
        every seat that did not gain, except the opener if the ruling gives exactly what the opener asked for.
        """
        upheld, said = self.verdict == "upheld", self.agrees(seat)
        more = self.remedy != Remedy(result=self.result)  # more than the opener asked for
        if not upheld:
            return seat in (self.by, *self.joined) or (self.kind != "offence" and said is True)
        if self.kind == "offence":
            return seat in (self.accused, self.payer) or (seat == self.by and more)
        return seat not in self.gained and (said is False or seat != self.by or more)


def status_at(case: Case, at: datetime) -> CaseStatus:
    """Return the status of a case at a time: a ruling becomes final when the time for appeals is over (J7)."""
    if case.status == "ruled" and (case.appeal_until is None or at >= case.appeal_until):
        return "final"
    return case.status


def holding(docket: "Docket") -> tuple[int, ...]:
    """J5: Return the numbers of the cases for which play is held."""
    if docket.terms is None or docket.terms.pending != "hold":
        return ()
    return tuple(case.case for case in docket.cases if case.is_open)


class Commitment(Value):
    """The seed that the house has committed to for a deal, and its hash."""

    seed: str
    hash: str
    until: datetime | None
    """The time until which the deal waits for the seats to add digits; ``None``: it does not wait."""
    entropy: tuple[str, ...]
    """The digits that each seat has added, by seat; empty if the seat has added none."""
    dealt: bool = False
    """True once the cards are dealt: no seat may add any more."""


class Shuffle(Value):
    """The shuffle of a match in which the house commits to each seed."""

    seconds: int
    """Seconds a deal waits for the seats to add digits."""
    commitment: Commitment | None = None
    """The commitment for a deal, from before the deal to its end."""


TakesBack = Literal["agreed", "alone"]
"""The way in which acts are taken back: all other seats have to agree, or the player does it alone."""


class LastAct(Value):
    """The last act of the match, its events, and the seats that want to take it back (J11)."""

    actor: Actor
    first: int
    """The number of the act's first event."""
    last: int = 0
    """The number of the act's last event so far; 0: the act has made no event of the game."""
    seen: bool = False
    """True if the act has shown a player something, drew by chance or ended the deal."""
    done: bool = False
    """True after a later request: further events do not belong to the act."""
    asked: tuple[int, ...] = ()
    """The seats that want to take the act back, the actor first."""


class Docket(Value):
    """The officials' part of a match: cases, the commitment of the shuffle and the last act."""

    terms: Adjudication | None = None
    """The officials and their time limits; ``None``: the match has no officials."""
    cases: tuple[Case, ...] = ()
    """All cases, in the order of their numbers."""
    reports: tuple[tuple[int, int, int], ...] = ()
    """The reports in the deal under way: each the event with the breach, the seat that reported it, and the event
    with which its trick began."""
    begun: int = 0
    """The event after which the deal under way began."""
    led: int = 0
    """The event with which the trick under way began, or between two tricks the last one; up to the end of the first
    trick, when the deal began."""
    awaits_lead: bool | None = False
    """True if the next card begins a trick; ``None``: the deal is entered whole."""
    under_way: bool = False
    """True from the deal of the cards until the hands are laid open."""
    scored: int = 0
    """The number of the last deal in the protocol; 0: the protocol is empty."""
    shuffle: Shuffle | None = None
    """The shuffle by commitment; ``None``: the house does not commit."""
    takes_back: TakesBack | None = None
    """The way in which acts are taken back; ``None``: they are not."""
    of_club: bool = False
    """True if members of the club with a key for officials are officials as well."""
    last: LastAct | None = None
    """The last act, if acts can be taken back and the match has not changed since; else ``None``."""

    def case(self, number: int) -> Case:
        """Return the case with this number, which must exist."""
        return self.cases[number - 1]

    def with_case(self, case: Case) -> "Docket":
        """Return the docket with a new case, or with a changed case instead of the old one."""
        assert case.case <= len(self.cases) + 1, "cases are numbered without a gap"
        return replace(self, cases=(*self.cases[: case.case - 1], case, *self.cases[case.case :]))


class Attended(Value, Generic[P], tag="attended"):
    """The state of an attended match."""

    play: P
    """The state of the game, which is the same as without officials."""
    docket: Docket
    before: "Attended[P] | None" = None
    """The match before the last act, if acts can be taken back."""


AttendedState = Attended[Any]
