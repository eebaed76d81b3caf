"""The state of an attended match: the game and the docket."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar

from msgspec.structs import replace

from referee.actors import Actor, seat_of
from referee.acts import Result
from referee.events import Adjudication
from referee.officials.events.cases import Remedy
from referee.value import CaseKind, Value, Verdict
from referee.visibility import Event

P = TypeVar("P")

CaseStatus = Literal["pending", "ruled", "appealed", "withdrawn", "final"]

Span = tuple[int, int]
"""First and last event of the time in which an incident happened."""


class Due(Value):
    """The price (``points``) and fine that a case adds to the line of its deal."""

    offence: str | None
    payer: int | None
    points: int | None
    fine: int
    """Points against the opener for a dismissed knock."""
    event: int
    """Number of the ruling's event."""


class Case(Value):
    """A case before the officials. Its texts are only in its events."""

    case: int
    by: Actor
    kind: CaseKind
    deal: int
    during: int
    """Deal that was under way, or came next, when the case was opened."""
    offence: str | None = None
    accused: int | None = None
    payer: int | None = None
    """Seat that pays if the case is upheld."""
    events: tuple[int, ...] = ()
    span: Span = (0, 0)
    of: int | None = None
    """Earlier case for which the referee dismissed this knock as a repetition; ``None``: none."""
    joined: tuple[int, ...] = ()
    """Seats whose knocks joined the case."""
    result: Result | None = None
    """Right result of the deal, according to the opener."""
    said: tuple[tuple[int, bool], ...] = ()
    """Statements since the last appeal: a seat, and whether the seat agrees with the opener."""
    status: CaseStatus = "pending"
    """Status without time limits: never ``final`` (see :func:`status_at`)."""
    instance: int = 0
    """Number of rulings so far."""
    verdict: Verdict | None = None
    ruled_by: tuple[Actor | None, ...] = ()
    """Officials who ruled; ``None`` for the referee: the service itself."""
    reopened: bool = False
    """True after the official who ruled found their own error (J10), until the next ruling."""
    appeal_until: datetime | None = None
    penalty: int | None = None
    """Points of the penalty in force."""
    fine: int = 0
    remedy: Remedy = Remedy()
    ruling: int = 0
    """Number of the last ruling's event."""
    entered: Due | None = None
    """Price and fine in force when the deal was scored."""
    corrected: int | None = None
    """Number of the last correction for this case."""
    gained: tuple[int, ...] = ()
    """Seats whose points the last correction for this case improved."""

    @property
    def due(self) -> Due | None:
        if self.penalty is None and not self.fine:
            return None
        return Due(offence=self.offence, payer=self.payer, points=self.penalty, fine=self.fine, event=self.ruling)

    def agrees(self, seat: int | None) -> bool | None:
        """Return whether a seat agreed in its last statement; ``None``: none since the last appeal."""
        return next((agreed for who, agreed in reversed(self.said) if who == seat), None)

    @property
    def is_open(self) -> bool:
        return self.status in ("pending", "appealed")

    @property
    def opener(self) -> int | None:
        """The seat that opened the case; ``None``: an official did."""
        return seat_of(self.by)

    @property
    def parties(self) -> tuple[int, ...]:
        """The opener, the seats whose knocks joined, the accused and the payer, in order of number."""
        concerned = {self.opener, *self.joined, self.accused, self.payer}
        return tuple(sorted(seat for seat in concerned if seat is not None))

    def went_against(self, seat: int) -> bool:
        """Return whether the last ruling went against a seat (J7).

        A dismissal goes against the opener, the seats that knocked and, unless about an offence, those that agreed.
        An upheld offence goes against the accused and the payer; also the opener, if the remedy is not the requested
        one. Any other upheld claim goes against seats that did not gain: the opener only for such a remedy or after
        a statement against their own claim.
        """
        upheld, said = self.verdict == "upheld", self.agrees(seat)
        different = self.remedy != Remedy(result=self.result)
        if not upheld:
            return seat in (self.opener, *self.joined) or (self.kind != "offence" and said is True)
        if self.kind == "offence":
            return seat in (self.accused, self.payer) or (seat == self.opener and different)
        return seat not in self.gained and (said is False or seat != self.opener or different)


def status_at(case: Case, at: datetime) -> CaseStatus:
    """Return the status of a case; ``final`` for a ruling without time left for appeals (J7)."""
    if case.status == "ruled" and (case.appeal_until is None or at >= case.appeal_until):
        return "final"
    return case.status


def cases_holding_play(docket: "Docket") -> tuple[int, ...]:
    """Return the numbers of the open cases if the match holds play until they are decided, else none (J5)."""
    if docket.terms is None or docket.terms.pending != "hold":
        return ()
    return tuple(case.case for case in docket.cases if case.is_open)


class Commitment(Value):
    """The seed of a deal, to which the house has committed, and the seed's hash."""

    seed: str
    hash: str
    until: datetime | None
    """Time until which the deal waits for digits; ``None``: it does not wait."""
    entropy: tuple[str, ...]
    """Digits added by each seat; empty: none."""
    dealt: bool = False


class Shuffle(Value):
    """The shuffle by commitment of a match."""

    seconds: int
    """Seconds a deal waits for digits; 0: it does not wait."""
    commitment: Commitment | None = None
    """Commitment for the present or next deal; ``None``: not made yet."""


TakesBack = Literal["agreed", "alone"]
"""``agreed``: all other seats must agree before an act is taken back. ``alone``: they need not."""


class LastAct(Value):
    """The last act of the match (J11)."""

    actor: Actor
    first: int
    last: int = 0
    """Number of the act's last event so far; 0: none."""
    seen: bool = False
    """True if the act showed data to only some seats, drew by chance or ended the deal."""
    done: bool = False
    """True after a request that is not of the play, because later events then do not belong to this act."""
    asked: tuple[int, ...] = ()
    """Seats that asked to take the act back, the actor first."""


class Docket(Value):
    """The part of the state that is not the game's: cases, shuffle and take-backs."""

    terms: Adjudication | None = None
    """Officials and their terms; ``None``: the match has no officials."""
    cases: tuple[Case, ...] = ()
    reports: tuple[tuple[int, int, int], ...] = ()
    """Reports of the deal, each with the event of the breach, the reporting seat and the first event of the trick."""
    begun: int = 0
    """Last event before the deal under way."""
    led: int = 0
    """First event of the trick under way, else of the last trick; in a first trick ``begun`` or a second dealing."""
    awaits_lead: bool | None = False
    """True after each trick, until the next begins; ``None``: the deal is entered whole."""
    under_way: bool = False
    """True from the dealing until the end of the deal."""
    scored: int = 0
    """Number of the last deal in the protocol."""
    shuffle: Shuffle | None = None
    takes_back: TakesBack | None = None
    of_club: bool = False
    """True in a club's match, in which members with the scope `officiate` are officials too."""
    last: LastAct | None = None
    """Last act; ``None``: none, acts cannot be taken back, or the match has changed since."""

    def case(self, number: int) -> Case:
        return self.cases[number - 1]

    def with_case(self, case: Case) -> "Docket":
        assert case.case <= len(self.cases) + 1, "cases are numbered without a gap"
        return replace(self, cases=(*self.cases[: case.case - 1], case, *self.cases[case.case :]))


class Attended(Value, Generic[P], tag="attended"):
    play: P
    docket: Docket
    before: "Attended[P] | None" = None
    """Match before the last act, if the act can be taken back."""


AttendedState = Attended[Any]

DocketUpdate = Callable[[Docket, Any, Any, int], Docket]
"""Returns the docket after an event, given the docket before, the game after, the event and its number."""
DocketUpdates = Mapping[type[Event], DocketUpdate]
