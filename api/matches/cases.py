"""The file of a case: a knock on the table and what was ruled on it."""

from typing import Annotated, Literal

from msgspec import Meta

from referee import sentences
from referee.events import DismissalReason, KnockDismissed, KnockUpheld, Recorded, Viewer, seen
from referee.sentences import Language
from referee.store.match import Match
from referee.value import EventNumber, OffenceText, RuleId, Seat, Value, Version

Ruling = KnockUpheld | KnockDismissed


class Case(Value):
    """A knock and what was ruled on it.

    ``named`` is the offence that the knock named, ``offence`` the one that was found; ``rests_on`` the events that
    show it. When upheld, ``payer`` gets ``penalty`` points. When dismissed, ``reason`` says why, and ``fine`` is what
    the knocker gets for it.
    """

    case: int
    seat: Seat
    accused: Seat
    named: OffenceText | None
    note: str
    verdict: Annotated[
        Literal["upheld", "dismissed", "pending"], Meta(title="Verdict", description="What came of a knock.")
    ]
    offence: OffenceText | None
    rule: RuleId
    penalty: int
    payer: Seat | None
    fine: int
    rests_on: tuple[EventNumber, ...]
    reason: DismissalReason | None
    why: str
    event: EventNumber
    version: Version


def case_of(match: Match, event: Ruling, number: int, fine: int, version: int, language: Language) -> Case:
    """The file of a case: ``event`` is the ruling, event ``number`` of the match, as the reader may see it."""
    upheld = event if isinstance(event, KnockUpheld) else None
    return Case(
        case=event.case,
        seat=event.seat,
        accused=event.accused,
        named=event.named,
        note=event.note,
        verdict="upheld" if upheld else "dismissed",
        offence=event.offence,
        rule=event.rule,
        penalty=upheld.penalty if upheld else fine,
        payer=upheld.payer if upheld else event.seat if fine else None,
        fine=fine,
        rests_on=event.rests_on,
        reason=event.reason if isinstance(event, KnockDismissed) else None,
        why=sentences.ruling(event, match.opened.players, language, fine=fine),
        event=number,
        version=version,
    )


def ruling_seen(recorded: Recorded, viewer: Viewer, public: bool) -> Ruling:
    """A ruling as the viewer may see it. ``public``: its deal is over."""
    event = seen(recorded.event, viewer, public)
    assert isinstance(event, KnockUpheld | KnockDismissed), "a case is a ruling on a knock"
    return event
