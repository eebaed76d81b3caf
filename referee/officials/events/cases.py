"""The facts of a case: what is said and ruled where the events of a match cannot decide (J1-J7).

All see at once who is concerned, the offence, the numbers of events, the verdict, its rule and the points. What was
written is for the writer and the officials until the deal is over in which it was written.
"""

from typing import Any, ClassVar

from msgspec.structs import replace

from referee import wire_types
from referee.actors import Actor
from referee.acts import Result
from referee.value import CaseKind, OffenceText, RuleId, Seat, Standard, Time, Value, Verdict
from referee.visibility import Event, Hidden, Viewer


class Precedent(Value):
    """An earlier ruling that this one follows."""

    match: wire_types.MatchId
    """In which match."""
    case: wire_types.CaseNumber
    """Its number there."""


class Remedy(Value, omit_defaults=True):
    """What follows from a ruling beside the price of the offence."""

    void: bool = False
    """The deal under way counts for nothing and is dealt again."""
    result: Result | None = None
    """What the deal came to, in place of what was written."""
    strike: wire_types.Deals = ()
    """Deals whose lines are struck, for their end hung on the number."""


def to_writer(said: Any, field: str, viewer: Viewer) -> str:
    """What a seat has written within a deal is its own until that is over."""
    writer = said.by if isinstance(said, CaseOpened) else said.seat
    text: str = getattr(said, field)
    return text if not said.within_deal or viewer == writer else ""


def without_notes(opened: Any, field: str, viewer: Viewer) -> Result | None:
    """What was written with its knocks is the writer's own until then, too."""
    result: Result | None = getattr(opened, field)
    if result is None or not result.knocks or not opened.within_deal or viewer == opened.by:
        return result
    return replace(result, knocks=tuple([replace(knock, note="") for knock in result.knocks]))


def after_deal(ruled: Any, field: str, viewer: Viewer) -> str:
    """What an official has written within a deal is told when that is over."""
    text: str = getattr(ruled, field)
    return "" if ruled.within_deal else text


class CaseOpened(Event):
    """A knock that the events cannot decide: an official rules on it, or who would pay agrees (J1, J2)."""

    TOPIC: ClassVar[str] = "case/opened"
    HIDDEN: ClassVar[Hidden] = {"text": to_writer, "result": without_notes}
    case: wire_types.CaseNumber
    by: Actor
    """Who opened it: a seat, or an official."""
    kind: CaseKind
    deal: wire_types.DealNumber
    """Which deal it is about."""
    offence: OffenceText | None = None
    """What was done; left out: the line of the deal is wrong."""
    accused: Seat | None = None
    """Who is said to have done it; left out: nobody."""
    payer: Seat | None = None
    """Who would pay for it; left out: nobody."""
    events: wire_types.Events = ()
    """What it rests on, such as a report; left out: on no event."""
    result: Result | None = None
    """What the deal should have come to, its notes kept as the text is; left out: it is about an offence."""
    text: wire_types.Text = ""
    """What was said with the knock; left out: nothing, or not the caller's to know."""
    within_deal: bool = False
    """Opened while a deal was under way: the text is told when that is over."""


class CaseStated(Event):
    """A seat said how it was."""

    TOPIC: ClassVar[str] = "case/stated"
    HIDDEN: ClassVar[Hidden] = {"text": to_writer}
    case: wire_types.CaseNumber
    seat: Seat
    agrees: bool
    """Whether it says the same as who opened the case."""
    events: wire_types.Events = ()
    """Those that it names."""
    text: wire_types.Text = ""
    """In its own words; left out: nothing, or not the caller's to know."""
    within_deal: bool = False
    """Said while a deal was under way: the text is told when that is over."""
    knocked: bool = False
    """Whether the seat knocked: its knock joined the case (J1)."""


class CaseWithdrawn(Event):
    """A case was withdrawn by its opener, or by itself because its act is no longer the last (J11)."""

    TOPIC: ClassVar[str] = "case/withdrawn"
    case: wire_types.CaseNumber
    overtaken: bool = False
    """Whether it was withdrawn by itself: the act in question can no longer be taken back."""


class CaseRuled(Event):
    """A ruling on a case: by an official, or by the referee where who pays agrees (J2)."""

    TOPIC: ClassVar[str] = "case/ruled"
    HIDDEN: ClassVar[Hidden] = {"reason": after_deal}
    case: wire_types.CaseNumber
    instance: wire_types.Instance
    """1 at first, 2 after an appeal."""
    verdict: Verdict
    """Whether who opened it is right."""
    standard: Standard
    """How sure the facts are."""
    rule: RuleId
    """What the ruling is based on."""
    offence: OffenceText | None = None
    """What was done, or was not; left out: it is about the line of a deal."""
    official: Actor | None = None
    """Who ruled; left out: the referee, for it was agreed."""
    payer: Seat | None = None
    """Who pays; left out: nobody."""
    penalty: wire_types.WholePoints = 0
    """By how many points."""
    rests_on: wire_types.Events = ()
    """The numbers of the events that show it."""
    reason: wire_types.Text = ""
    """Why, in the official's own words; left out: none given, or not told before the deal is over."""
    precedents: wire_types.Many[Precedent] = ()
    remedy: Remedy = Remedy()
    """What else follows."""
    appeal_until: Time | None = None
    """Before this a party may appeal (J7); left out: there is no appeal from it."""
    within_deal: bool = False
    """Ruled while a deal was under way: the reason is told when that is over."""


class CaseAppealed(Event):
    """A party wants another official to rule (J7); or who ruled has found an error of his own (J10)."""

    TOPIC: ClassVar[str] = "case/appealed"
    HIDDEN: ClassVar[Hidden] = {"text": to_writer}
    case: wire_types.CaseNumber
    seat: Seat | None = None
    """Who appeals; left out: the official who ruled."""
    text: wire_types.Text = ""
    """Why; left out: nothing was said, or not the caller's to know."""
    within_deal: bool = False
    """Appealed while a deal was under way: the text is told when that is over."""


FACTS: tuple[type[Event], ...] = (CaseOpened, CaseStated, CaseWithdrawn, CaseRuled, CaseAppealed)
