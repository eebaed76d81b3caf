"""Schemas of a case, filled from its events."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from msgspec import Meta

from api.access.caller import Caller
from api.http.headers import number_in_letters
from api.http.problems import rule_page
from api.http.replies import PRIVATE
from projections.case_rows import opener_of
from projections.cases import FACTS, CaseEvent, fine_of
from referee import sentences, wire_types
from referee.actors import Actor, seat_of
from referee.acts import Result
from referee.events import DismissalReason, KnockDismissed, KnockUpheld
from referee.officials.events.cases import (
    CaseAppealed,
    CaseOpened,
    CaseRuled,
    CaseStated,
    CaseWithdrawn,
    Precedent,
    Remedy,
)
from referee.officials.events.takeback import ActTakenBack
from referee.officials.state import CaseStatus, status_at
from referee.sentences import CaseCode, Language
from referee.store.match import Match
from referee.value import CaseKind, EventNumber, OffenceText, RuleId, Seat, Standard, Time, Value, Verdict, Version
from referee.visibility import Recorded, as_seen_by

Ruling = KnockUpheld | KnockDismissed | CaseRuled
RULE_OF_OPEN_CASE = "J1"
TAKE_BACK_RULE = "J11"

VerdictSoFar = Annotated[
    Literal["upheld", "dismissed", "pending", "withdrawn"],
    Meta(title="Verdict", description="The verdict on a knock or a case."),
]
Status = Annotated[
    CaseStatus,
    Meta(
        title="CaseStatus",
        description="The status of a case. `pending`: it waits for a ruling. `ruled`: a party may appeal. "
        "`appealed`: it waits for a further ruling. `withdrawn`: its opener withdrew it, or an act followed the "
        "misclick. `final`: no party may appeal any more.",
    ),
]


class StatementMade(Value):
    """A statement of a seat in a case."""

    event: EventNumber
    at: Time
    seat: Seat
    agrees: bool
    """True if the seat agrees with the opener."""
    events: wire_types.Events
    """Events that the seat names."""
    text: wire_types.Text
    """Statement; empty: none, or not shown before the deal is over."""
    knocked: bool
    """True for a knock or report that joined the case (J1)."""


class RulingMade(Value):
    """A ruling on a case."""

    event: EventNumber
    at: Time
    instance: wire_types.Instance
    """Number of the ruling in the case, from 1."""
    official: Actor | None
    """Official who ruled; null: the referee."""
    verdict: Verdict
    standard: Standard | None
    offence: OffenceText | None
    """Offence that was found or denied; null: none."""
    rule: RuleId
    payer: Seat | None
    """Seat that pays; null: none."""
    penalty: wire_types.WholePoints
    rests_on: wire_types.Events
    """Events that prove the facts."""
    reason: wire_types.Text
    precedents: wire_types.Many[Precedent]
    """Earlier rulings that this ruling follows."""
    remedy: Remedy | None
    """Further consequences; null: none."""
    appeal_until: Time | None


class AppealMade(Value):
    """An appeal, or an official's notice of their own error (J10)."""

    event: EventNumber
    at: Time
    seat: Seat | None
    """Seat that appeals; null: the official who ruled."""
    text: wire_types.Text
    """Reason; empty: none, or not shown before the deal is over."""


class Case(Value):
    """A knock or a case, with its rulings."""

    case: wire_types.CaseNumber
    seat: Seat | None
    accused: Seat | None
    named: OffenceText | None
    note: wire_types.Text
    verdict: VerdictSoFar
    offence: OffenceText | None
    rule: RuleId
    penalty: wire_types.WholePoints
    payer: Seat | None
    fine: wire_types.WholePoints
    rests_on: wire_types.Events
    reason: DismissalReason | None
    of: wire_types.CaseNumber | None
    """Earlier case that decides about this error; null unless `reason` is `again`."""
    why: wire_types.Sentence
    event: EventNumber
    version: Version
    status: Status
    kind: CaseKind
    by: Actor
    """Opener of the case."""
    deal: wire_types.DealNumber | None
    """Deal that the case is about; null: it was decided at once."""
    result: Result | None
    """Claimed result of the deal; null: the case is not about a line."""
    statements: wire_types.Many[StatementMade]
    """Statements, in order."""
    rulings: wire_types.Many[RulingMade]
    """Rulings, in order; the last counts."""
    appeals: wire_types.Many[AppealMade]
    """Appeals, in order."""
    appeal_until: Time | None


def entries_of(recorded: Iterable[Recorded], case: int, caller: Caller, public_to: int = 0) -> tuple[CaseEvent, ...]:
    """Return the events of a case as the caller may see them. The deals of events up to ``public_to`` are over."""
    return tuple(
        CaseEvent(one.originator_version, one.at, as_seen_by(one.event, caller.deal_viewer(public), public))
        for one in recorded
        for public in (one.originator_version <= public_to,)
        if isinstance(one.event, FACTS) and getattr(one.event, "case", None) == case
    )


def entries_of_kind(entries: Sequence[CaseEvent], kind: type[Any]) -> list[CaseEvent]:
    return [entry for entry in entries if isinstance(entry.fact, kind)]


def case_of(match: Match, entries: Sequence[CaseEvent], version: int, language: Language, at: datetime) -> Case:
    """Return a case with its status at a time.

    ``entries``: its events as the caller may see them. ``version``: the version that the answer names.
    """
    first = entries[0].fact
    if isinstance(first, ActTakenBack):
        return _case_of_take_back(match, entries[0], version, language)
    opened = first if isinstance(first, CaseOpened) else None
    rulings = [_ruling_made(entry) for entry in entries if isinstance(entry.fact, Ruling)]
    last = rulings[-1] if rulings else None
    status = status_of(entries, at)
    fine = 0 if last and last.verdict == "upheld" else fine_of(entry.fact for entry in entries[:2])
    by = opener_of(first)
    seat = seat_of(by)
    verdict = last.verdict if last else "withdrawn" if status == "withdrawn" else "pending"
    payer = last.payer if last else first.payer
    return Case(
        case=first.case,
        seat=seat,
        accused=first.accused,
        named=opened.offence if opened else first.named,
        note=opened.text if opened else first.note,
        verdict=verdict,
        offence=last.offence if last else None,
        rule=last.rule if last else _rule_before_ruling(entries),
        penalty=fine or (last.penalty if last else 0),
        payer=seat if fine and seat is not None else payer,
        fine=fine,
        rests_on=last.rests_on if last else first.events,
        reason=first.reason if isinstance(first, KnockDismissed) and len(rulings) == 1 else None,
        of=first.of if isinstance(first, KnockDismissed) and len(rulings) == 1 else None,
        why=_why_sentence(match, entries, verdict, language, fine),
        event=entries[0].event,
        version=version,
        status=status,
        kind=opened.kind if opened else "offence",
        by=by,
        deal=opened.deal if opened else None,
        result=opened.result if opened else None,
        statements=tuple(_statement_made(entry) for entry in entries_of_kind(entries, CaseStated)),
        rulings=tuple(rulings),
        appeals=tuple(
            AppealMade(event=one.event, at=one.at, seat=one.fact.seat, text=one.fact.text)
            for one in entries_of_kind(entries, CaseAppealed)
        ),
        appeal_until=last.appeal_until if last and status == "ruled" else None,
    )


def _case_of_take_back(match: Match, entry: CaseEvent, version: int, language: Language) -> Case:
    """Return the case of an act that a seat took back without a ruling (J11)."""
    fact: ActTakenBack = entry.fact
    assert fact.seat is not None, "a take-back by a ruling begins no case"
    by = opener_of(fact)
    return Case(
        case=fact.case,
        seat=fact.seat,
        accused=None,
        named=None,
        note="",
        verdict="upheld",
        offence=None,
        rule=TAKE_BACK_RULE,
        penalty=0,
        payer=None,
        fine=0,
        rests_on=fact.undone,
        reason=None,
        of=None,
        why=sentences.case("taken_back", match.opened.players, (), language, by=by, rule=TAKE_BACK_RULE),
        event=entry.event,
        version=version,
        status="final",
        kind="misclick",
        by=by,
        deal=None,
        result=None,
        statements=(),
        rulings=(),
        appeals=(),
        appeal_until=None,
    )


def status_of(entries: Sequence[CaseEvent], at: datetime) -> CaseStatus:
    """Return the status at a time of a case that began with no take-back."""
    status: CaseStatus = "pending"
    for entry in entries:
        match entry.fact:
            case CaseWithdrawn():
                status = "withdrawn"
            case CaseAppealed():
                status = "appealed"
            case KnockUpheld() | KnockDismissed() | CaseRuled():
                until = entry.fact.appeal_until
                status = "final" if until is None or at >= until else "ruled"
    return status


def _ruling_made(entry: CaseEvent) -> RulingMade:
    fact = entry.fact
    fields: dict[str, Any]
    if isinstance(fact, CaseRuled):
        names = ("instance", "official", "verdict", "standard", "payer", "penalty", "reason", "precedents")
        fields = {name: getattr(fact, name) for name in names}
        fields["remedy"] = None if fact.remedy == Remedy() else fact.remedy
    else:
        upheld = isinstance(fact, KnockUpheld)
        fields = {
            "instance": 1,
            "official": None,
            "verdict": "upheld" if upheld else "dismissed",
            "standard": None,
            "payer": fact.payer if upheld else None,
            "penalty": fact.penalty if upheld else 0,
            "reason": "",
            "precedents": (),
            "remedy": None,
        }
    return RulingMade(
        event=entry.event,
        at=entry.at,
        offence=fact.offence,
        rule=fact.rule,
        rests_on=fact.rests_on,
        appeal_until=fact.appeal_until,
        **fields,
    )


def _statement_made(entry: CaseEvent) -> StatementMade:
    fact = entry.fact
    return StatementMade(
        event=entry.event,
        at=entry.at,
        seat=fact.seat,
        agrees=fact.agrees,
        events=fact.events,
        text=fact.text,
        knocked=fact.knocked,
    )


def _was_overtaken(entries: Sequence[CaseEvent]) -> bool:
    """Return whether the case was withdrawn because an act followed the misclick."""
    return any(entry.fact.overtaken for entry in entries_of_kind(entries, CaseWithdrawn))


def _rule_before_ruling(entries: Sequence[CaseEvent]) -> str:
    return TAKE_BACK_RULE if _was_overtaken(entries) else RULE_OF_OPEN_CASE


def _why_sentence(match: Match, entries: Sequence[CaseEvent], verdict: str, language: Language, fine: int) -> str:
    """Return the sentence that explains the last ruling or, before a ruling, the status."""
    players, first = match.opened.players, entries[0].fact
    ruled = [entry.fact for entry in entries if isinstance(entry.fact, Ruling)]
    last = ruled[-1] if ruled else None
    if isinstance(last, KnockUpheld | KnockDismissed):
        return sentences.ruling(last, players, language, fine=fine)
    terms = match.opened.adjudication
    assert terms is not None, "only officials' matches have open cases"
    code: CaseCode
    misclick = isinstance(first, CaseOpened) and first.kind == "misclick"
    if last is None:
        if _was_overtaken(entries):
            code = "misclick_overtaken"
        elif verdict == "withdrawn":
            code = "misclick_withdrawn" if misclick else "withdrawn"
        else:
            code = "misclick_pending" if misclick else "pending"
    elif verdict == "upheld":
        code = "misclick_upheld" if misclick else "case_upheld"
    else:
        code = "misclick_dismissed" if misclick else "case_dismissed"
    return sentences.case(
        code,
        players,
        terms.officials,
        language,
        by=opener_of(first),
        accused=first.accused,
        offence=(last.offence if last else None) or first.offence,
        rule=last.rule if last else _rule_before_ruling(entries),
        official=last.official if last else None,
        payer=last.payer if last else None,
        penalty=last.penalty if last else 0,
        into_pot=match.rules.has_pot,
    )


def language_headers(language: Language) -> dict[str, str]:
    return PRIVATE | {"Content-Language": language, "Vary": "Authorization, Accept-Language"}


def rule_link(case: Case) -> dict[str, str]:
    """Return a Link header to the page of a case's rule; empty if the rule has no page."""
    page = rule_page(case.rule)
    return {"Link": f'<{page}>; rel="describedby"'} if page else {}


def appealable_tag(match: Match, at: datetime) -> tuple[str, ...]:
    """Return words for the ETag: the number of cases with status ``ruled``, which changes without an event."""
    docket = match.docket
    count = 0 if docket is None else sum(status_at(case, at) == "ruled" for case in docket.cases)
    return ("ruled", number_in_letters(count)) if count else ()
