"""Events of a case (J1-J7, J10, J11).

Until a deal is over, only the writer and the officials see a text that was written during the deal. Each function
is a :data:`~referee.visibility.Veil`, which is called only until then.
"""

from typing import Any, ClassVar

from msgspec.structs import replace

from referee import wire_types
from referee.actors import Actor, seat_of
from referee.acts import Result
from referee.value import CaseKind, OffenceText, RuleId, Seat, Standard, Time, Value, Verdict
from referee.visibility import Event, Hidden, Viewer


class Precedent(Value):
    """An earlier ruling that this one follows."""

    match: wire_types.MatchId
    case: wire_types.CaseNumber


class Remedy(Value, omit_defaults=True):
    """The effects of a ruling in addition to the penalty."""

    void: bool = False
    """True if the deal under way is dealt again."""
    result: Result | None = None
    """Right result of the deal."""
    strike: wire_types.Deals = ()
    """Deals to strike, played only because of a wrong score."""


def text_for_writer(event: Any, field: str, viewer: Viewer) -> str:
    """Return a text; empty if written during a deal by another viewer."""
    writer = seat_of(event.by) if isinstance(event, CaseOpened) else event.seat
    text: str = getattr(event, field)
    return text if not event.within_deal or viewer == writer else ""


def result_without_notes(opened: Any, field: str, viewer: Viewer) -> Result | None:
    """Return a result, with empty notes if opened during a deal by another viewer."""
    result: Result | None = getattr(opened, field)
    if result is None or not result.knocks or not opened.within_deal or viewer == seat_of(opened.by):
        return result
    return replace(result, knocks=tuple([replace(knock, note="") for knock in result.knocks]))


def text_after_deal(ruled: Any, field: str, viewer: Viewer) -> str:
    """Return an official's text; empty if written during a deal."""
    text: str = getattr(ruled, field)
    return "" if ruled.within_deal else text


class CaseOpened(Event):
    """A case was opened (J1)."""

    TOPIC: ClassVar[str] = "case/opened"
    HIDDEN: ClassVar[Hidden] = {"text": text_for_writer, "result": result_without_notes}
    case: wire_types.CaseNumber
    by: Actor
    """Opener: a seat, or an official."""
    kind: CaseKind
    deal: wire_types.DealNumber
    """Deal that the case is about."""
    offence: OffenceText | None = None
    """Alleged offence; left out: the case is not about one."""
    accused: Seat | None = None
    """Accused seat; left out: none."""
    payer: Seat | None = None
    """Seat that would pay; left out: none."""
    events: wire_types.Events = ()
    """Events that the case rests on, such as a report."""
    result: Result | None = None
    """Right result according to the opener, with its notes hidden like ``text``; left out: not about a line."""
    text: wire_types.Text = ""
    """Opener's text; left out: none, or hidden from the caller."""
    within_deal: bool = False
    """True if opened during a deal, whose end reveals the text."""


class CaseStated(Event):
    """A seat made a statement in a case."""

    TOPIC: ClassVar[str] = "case/stated"
    HIDDEN: ClassVar[Hidden] = {"text": text_for_writer}
    case: wire_types.CaseNumber
    seat: Seat
    agrees: bool
    """True if the seat agrees with the opener."""
    events: wire_types.Events = ()
    """Events that the seat names."""
    text: wire_types.Text = ""
    """Seat's text; left out: none, or hidden from the caller."""
    within_deal: bool = False
    """True if made during a deal, whose end reveals the text."""
    knocked: bool = False
    """True if the statement is a knock or report that joined the case (J1)."""


class CaseWithdrawn(Event):
    """A case was withdrawn."""

    TOPIC: ClassVar[str] = "case/withdrawn"
    case: wire_types.CaseNumber
    overtaken: bool = False
    """True if withdrawn automatically, because the act can no longer be taken back (J11); else by the opener."""


class CaseRuled(Event):
    """An official ruled on a case, or the referee ruled because the parties agree (J2)."""

    TOPIC: ClassVar[str] = "case/ruled"
    HIDDEN: ClassVar[Hidden] = {"reason": text_after_deal}
    case: wire_types.CaseNumber
    instance: wire_types.Instance
    """1 for the first ruling, one more for each ruling on an appeal (J7) or reopening (J10)."""
    verdict: Verdict
    standard: Standard
    """Standard of proof that the facts meet."""
    rule: RuleId
    offence: OffenceText | None = None
    """Offence; left out: the case is not about one."""
    official: Actor | None = None
    """Official who ruled; left out: the referee ruled by agreement."""
    payer: Seat | None = None
    """Seat that pays; left out: none."""
    penalty: wire_types.WholePoints = 0
    """Points that the payer pays; 0: none."""
    rests_on: wire_types.Events = ()
    """Events that the ruling rests on."""
    reason: wire_types.Text = ""
    precedents: wire_types.Many[Precedent] = ()
    remedy: Remedy = Remedy()
    appeal_until: Time | None = None
    """End of the time for appeals (J7); left out: the ruling is final."""
    within_deal: bool = False
    """True if made during a deal, whose end reveals the reason."""


class CaseAppealed(Event):
    """A party asked for a different official (J7), or the official who ruled found an error in the ruling (J10)."""

    TOPIC: ClassVar[str] = "case/appealed"
    HIDDEN: ClassVar[Hidden] = {"text": text_for_writer}
    case: wire_types.CaseNumber
    seat: Seat | None = None
    """Seat that appeals; left out: the official who ruled."""
    text: wire_types.Text = ""
    """Reason; left out: none, or hidden from the caller."""
    within_deal: bool = False
    """True if made during a deal, whose end reveals the text."""


FACTS: tuple[type[Event], ...] = (CaseOpened, CaseStated, CaseWithdrawn, CaseRuled, CaseAppealed)
