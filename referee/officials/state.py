"""How a match stands that officials attend to: the game as it is played, and what lies before them beside it."""

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
    """What the line of a deal holds because of a case, as it was written."""

    offence: str | None
    payer: int | None
    points: int | None
    """The price of the offence; ``None``: it had none."""
    fine: int
    """What the knock cost that was dismissed at once."""
    event: int
    """The number of the event that ruled so."""


class Case(Value):
    """A case as it lies before the officials. What was written in it stands in its events."""

    case: int
    by: Actor
    """Who opened it."""
    kind: CaseKind
    deal: int
    """Which it is about."""
    during: int
    """Which was under way or to come when it was opened."""
    offence: str | None = None
    accused: int | None = None
    payer: int | None = None
    """Who would pay, or pays."""
    events: tuple[int, ...] = ()
    """What it rests on."""
    span: Span = (0, 0)
    """When what it is about happened."""
    of: int | None = None
    """The number of the case that decides about the same incident, where the referee dismissed the knock for that."""
    joined: tuple[int, ...] = ()
    """The seats whose knocks joined it."""
    result: Result | None = None
    """What the deal should have come to."""
    said: tuple[tuple[int, bool], ...] = ()
    """Seat, and whether it agreed, each time."""
    status: CaseStatus = "pending"
    """Without regard to the time (:func:`status_at`)."""
    instance: int = 0
    """The last in which it was ruled on."""
    verdict: Verdict | None = None
    ruled_by: tuple[Actor | None, ...] = ()
    """The officials who ruled; ``None`` for the referee."""
    reopened: bool = False
    """An official has found an error of his own (J10)."""
    appeal_until: datetime | None = None
    penalty: int | None = None
    """What the offence was priced at in its deal; ``None``: it has no price now."""
    fine: int = 0
    """What the knock cost that was dismissed at once."""
    remedy: Remedy = Remedy()
    """What else was ruled last."""
    ruling: int = 0
    """The number of the event in which it was ruled on last."""
    entered: Due | None = None
    """What it cost when its deal was written into the protocol; ``None``: nothing."""
    corrected: int | None = None
    """The number of the last correction that was made in it."""
    gained: tuple[int, ...] = ()
    """The seats that are better off by that correction."""

    @property
    def due(self) -> Due | None:
        """What it costs in the deal under way."""
        if self.penalty is None and not self.fine:
            return None
        return Due(offence=self.offence, payer=self.payer, points=self.penalty, fine=self.fine, event=self.ruling)

    def agrees(self, seat: int | None) -> bool | None:
        """What a seat said last; ``None``: nothing."""
        return next((agreed for who, agreed in reversed(self.said) if who == seat), None)

    @property
    def is_open(self) -> bool:
        """Whether it waits for a ruling."""
        return self.status in ("pending", "appealed")

    @property
    def parties(self) -> tuple[int, ...]:
        """The seats that it concerns, where it is about an offence: who knocked, who is accused, who pays."""
        concerned = {seat for seat in (self.by, *self.joined, self.accused, self.payer) if isinstance(seat, int)}
        return tuple(sorted(concerned))

    def went_against(self, seat: int) -> bool:
        """J7: Return whether the last ruling went against a seat.

        A knock is upheld against the accused and the payer, and dismissed against the player who knocked. A claim
        about a line or a misclick is dismissed against the seats that made or supported it. It is upheld against
        every seat that did not gain, but for the one that asked for exactly this.
        """
        upheld, said = self.verdict == "upheld", self.agrees(seat)
        more = self.remedy != Remedy(result=self.result)  # than was asked for
        if not upheld:
            return seat in (self.by, *self.joined) or (self.kind != "offence" and said is True)
        if self.kind == "offence":
            return seat in (self.accused, self.payer) or (seat == self.by and more)
        return seat not in self.gained and (said is False or seat != self.by or more)


def status_at(case: Case, at: datetime) -> CaseStatus:
    """How a case stands at a time: what is ruled becomes final when the time for an appeal is over (J7)."""
    if case.status == "ruled" and (case.appeal_until is None or at >= case.appeal_until):
        return "final"
    return case.status


def holding(docket: "Docket") -> tuple[int, ...]:
    """J5: the cases for which play is held."""
    if docket.terms is None or docket.terms.pending != "hold":
        return ()
    return tuple(case.case for case in docket.cases if case.is_open)


class Commitment(Value):
    """The seed that the house has committed to for a deal, its hash, and by seat what was added to it."""

    seed: str
    hash: str
    until: datetime | None
    """Until then the deal waits for what is added."""
    entropy: tuple[str, ...]
    dealt: bool = False
    """The cards are out: nothing more is added."""


class Shuffle(Value):
    """How a match is shuffled in which the house commits to it; ``commitment`` from before a deal to its end."""

    seconds: int
    """So long a deal waits."""
    commitment: Commitment | None = None


TakesBack = Literal["agreed", "alone"]
"""Whether all others have to agree, or nobody need."""


class LastAct(Value):
    """The last act of the match: what it made, and who wants it to be taken back (J11)."""

    actor: Actor
    first: int
    """Its first event."""
    last: int = 0
    """Its last one so far; 0: it has made none in the game."""
    seen: bool = False
    """Somebody has learnt something from it, or chance had a part in it, or it ended the deal."""
    done: bool = False
    """Something else was asked for after it: events that come now are not its own."""
    asked: tuple[int, ...] = ()
    """Seats that want it to be taken back, first who did it."""


class Docket(Value):
    """What officials keep of a match beside the game."""

    terms: Adjudication | None = None
    """Who they are, and their time limits."""
    cases: tuple[Case, ...] = ()
    """In the order of their numbers."""
    reports: tuple[tuple[int, int, int], ...] = ()
    """Of the deal under way: the event of what was reported, the seat that reported it, and the event with which its
    trick began."""
    begun: int = 0
    """The event after which the deal under way began."""
    led: int = 0
    """The event with which the trick under way began, or between two tricks the last one; up to the end of the first
    trick, when the deal began."""
    awaits_lead: bool | None = False
    """Whether the next card begins a trick; ``None``: the deal is entered whole."""
    under_way: bool = False
    """Cards have been dealt, and lie not open yet."""
    scored: int = 0
    """The last deal that has been written into the protocol."""
    shuffle: Shuffle | None = None
    """Where the house commits to it."""
    takes_back: TakesBack | None = None
    """How an act is taken back; ``None``: it is not."""
    of_club: bool = False
    """Beside those named whoever has a key of the club for it is an official."""
    last: LastAct | None = None
    """The last act, where it may be taken back; ``None``: there is none, or more than that has happened since."""

    def case(self, number: int) -> Case:
        """The case of this number, which there is."""
        return self.cases[number - 1]

    def with_case(self, case: Case) -> "Docket":
        """With this case in its place, or as the last."""
        assert case.case <= len(self.cases) + 1, "cases are numbered without a gap"
        return replace(self, cases=(*self.cases[: case.case - 1], case, *self.cases[case.case :]))


class Attended(Value, Generic[P], tag="attended"):
    """The game's own state, which knows of no officials, and their docket."""

    play: P
    docket: Docket
    before: "Attended[P] | None" = None
    """The match before the last act, where that may be taken back."""


AttendedState = Attended[Any]
"""A match that officials attend to is the game's, event for event, until something comes before them."""
