"""The event of a correction, which scores finished deals again, and the history of lines (J9)."""

from collections.abc import Iterable, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, cast

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from referee import wire_types
from referee.events import DealScored, DealVoided, MatchWon, Payment
from referee.value import EventNumber, RuleId, Seat, Value, WonBy
from referee.visibility import Event, Hidden, Recorded


class Scripted(Value):
    """An event in a script."""

    topic: wire_types.Topic
    event: Annotated[dict[str, Any], Meta(description="The event; its fields depend on the topic.")]


class Script(Value):
    """Events with which a deal is scored again."""

    deal: wire_types.DealNumber
    events: wire_types.Many[Scripted]
    whole: bool = False
    """True: the events replace the whole deal up to its score. False: they are inserted just before its score."""


class Why(Value):
    """The rule and reason of a correction."""

    rule: RuleId
    """Rule that was broken, or that shows that the line is wrong."""
    reason: wire_types.Text = ""


class LineCorrected(Value, omit_defaults=True):
    """The change of a line of the protocol. Points are by seat."""

    event: EventNumber
    """Number of the event that wrote the line."""
    before: wire_types.PointsBySeat
    points: wire_types.PointsBySeat
    eliminated: wire_types.Seats = ()
    """Seats out of the match after the line."""
    pot_before: wire_types.Money | None = None
    pot: wire_types.Money | None = None
    score: DealScored | None = None
    """Whole new line, if more than the other fields changed."""


class Ended(Value, omit_defaults=True):
    """The end of the match after a correction."""

    by: WonBy | Literal["closed", "abandoned"]
    """Way in which the match was won, or the act by which an official ended it."""
    rule: wire_types.SharedBy
    """Rule by which the match was won or the pot shared; empty: neither."""
    event: EventNumber
    """Event that ended the match, or wrote the line that won it."""
    seat: Seat | None = None
    """Winner, or the first of two partners; left out: none."""
    seats: wire_types.Seats = ()
    """All winners, if partners win together."""
    settlement: wire_types.MoneyBySeat | None = None
    pot_before: wire_types.Money = 0
    """Pot before it was shared."""
    shares: wire_types.MoneyBySeat = ()
    """Amounts drawn from the pot, by seat; left out: the pot was not shared."""
    payments: wire_types.Many[Payment] = ()


class ProtocolCorrected(Event):
    """Deals were scored again (J9). The numbers here count from now on. Lists of points are by seat."""

    TOPIC: ClassVar[str] = "protocol/corrected"
    HIDDEN: ClassVar[Hidden] = {"scripts": "official", "strike": "official"}
    case: wire_types.CaseNumber | None
    """Case with the ruling; null: an official corrected an error of their own (J10)."""
    deal: wire_types.DealNumber
    """First deal that is corrected."""
    why: Why
    """Rule and reason of the correction."""
    lines: wire_types.Many[LineCorrected]
    """Changed lines, in order."""
    struck: wire_types.Many[wire_types.DealNumber]
    """All deals that do not count now: struck by the official, or played after the match was won."""
    points: wire_types.PointsBySeat
    eliminated: wire_types.Seats
    dealer: Seat
    """Next dealer."""
    next_deal: wire_types.DealNumber
    """Number of the next deal."""
    halves: bool = False
    """True if ``points``, of this event and of its lines, count half points."""
    pot: wire_types.Money | None = None
    duel: wire_types.Seats = ()
    """Seats that play the next deal, if it is a duel."""
    carried: dict[str, Any] = msgspec.field(default_factory=dict)
    """Further values that the next deal takes over, by name."""
    fresh: bool = False
    """True if draws and cuts for the next deal no longer count."""
    won: Ended | None = None
    """End of the match; left out: the match goes on."""
    replaces: EventNumber | None = None
    """Number of the case's earlier correction, which no longer counts; left out: none."""
    scripts: wire_types.Many[Script] = ()
    """Events by which the deals were scored again, for officials."""
    strike: wire_types.Many[wire_types.DealNumber] = ()
    """Deals that this correction struck, for officials."""


class CorrectedBy(Value):
    """The correction that changed a line."""

    event: EventNumber
    case: wire_types.CaseNumber | None
    """Case with the ruling; null: an official corrected an error of their own (J10)."""
    rule: RuleId
    reason: wire_types.Text


Line = DealScored | DealVoided
"""Line of the protocol. A voided deal has a line if its penalties were entered."""


def lines_as_corrected(history: Iterable[Recorded]) -> dict[int, Line]:
    """Return, by the number of the event that wrote it, each line in its corrected form, even if struck."""
    lines: dict[int, Line] = {}
    for recorded in history:
        event = recorded.event
        if type(event) not in _OF_LINES:
            continue
        if isinstance(event, ProtocolCorrected):
            for one in event.lines:
                lines[one.event] = corrected_line(lines[one.event], one)
        elif isinstance(event, DealScored | DealVoided) and event.points:
            lines[recorded.originator_version] = event
    return lines


_OF_LINES = frozenset((DealScored, DealVoided, ProtocolCorrected))


Corrections = Sequence[tuple[int, ProtocolCorrected]]
"""Corrections of a match in order, each with the number of its event."""


def reference_to(number: int, by: ProtocolCorrected) -> CorrectedBy:
    return CorrectedBy(event=number, case=by.case, rule=by.why.rule, reason=by.why.reason)


def corrections_of_line(deal: int, event: int, corrections: Corrections) -> Corrections:
    """Return the corrections that change, strike or restore the line of ``deal`` that ``event`` wrote."""
    found, struck = [], False
    for number, by in corrections:
        if any(one.event == event for one in by.lines) or (deal in by.struck) != struck:
            found.append((number, by))
        struck = deal in by.struck
    return found


Win = MatchWon | Ended
"""Win of a match by a line: as first recorded, or after a correction."""


class FormerLine(NamedTuple):
    """An earlier version of a line, and the correction that replaced it."""

    line: DealScored
    won: Win | None
    """Win of the match by this version, if any."""
    by: CorrectedBy


class LineHistory(NamedTuple):
    line: DealScored
    won: Win | None
    was: tuple[FormerLine, ...]
    """Earlier versions, in order."""
    struck: CorrectedBy | None
    """Correction that struck the line, if any."""


def line_history(written: DealScored, event: int, won: MatchWon | None, corrections: Corrections) -> LineHistory:
    """Return the history of the line ``written`` by event number ``event``.

    ``won``: the recorded win by this line, if any.
    """
    line, win, was, struck = written, cast(Win | None, won), list[FormerLine](), None
    for number, correction in corrections:
        by = reference_to(number, correction)
        change = next((one for one in correction.lines if one.event == event), None)
        wins = correction.won if correction.won is not None and correction.won.event == event else None
        if change is not None or _win_to_compare(win) != _win_to_compare(wins):
            was.append(FormerLine(line, win, by))
        if change is not None:
            changed = corrected_line(line, change)
            assert isinstance(changed, DealScored), "a scored deal stays one"
            line = changed if change.score is None else without_repeated_events(changed)
        win, struck = wins, (struck or by) if written.deal in correction.struck else None
    return LineHistory(line, win, tuple(was), struck)


def _win_to_compare(won: Win | None) -> object:
    return None if won is None else (won.by, won.seats or won.seat, won.settlement)


def without_repeated_events(score: DealScored) -> DealScored:
    entries, pot_entries = (
        tuple([replace(entry, events=tuple(dict.fromkeys(entry.events))) for entry in found])
        for found in (score.entries, score.pot_entries)
    )
    return replace(score, entries=entries, pot_entries=pot_entries)


def corrected_line(line: Line, by: LineCorrected) -> Line:
    if by.score is not None:
        return by.score
    line = replace(line, before=by.before, points=by.points)
    if isinstance(line, DealVoided):
        return line
    return replace(line, eliminated=by.eliminated, pot_before=by.pot_before, pot=by.pot)
