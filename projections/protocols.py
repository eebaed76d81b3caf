"""The projection of protocols: a score sheet for each match, with its lines."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec.structs import asdict, replace
from sqlalchemy import Connection, select

from projections.follow.page import topics
from projections.follow.sheets import Sheets
from projections.spreadsheets import table
from referee import wire_types
from referee.events import (
    DealScored,
    Dealt,
    DealVoided,
    Entry,
    MatchAbandoned,
    MatchClosed,
    MatchOpened,
    MatchWon,
    PenaltyImposed,
    PlayerEliminated,
    in_points,
)
from referee.officials.events.corrections import (
    CorrectedBy,
    Corrections,
    Ended,
    LineCorrected,
    ProtocolCorrected,
    reference_to,
    without_repeated_events,
)
from referee.officials.events.takeback import ActTakenBack
from referee.value import (
    AnswerSeen,
    BidValue,
    DealKind,
    EventNumber,
    Points,
    RuleId,
    Seat,
    Value,
    Version,
    WonBy,
    type_depends_on,
)
from referee.visibility import Event, Recorded

LINES_PER_READ = 8
"""Lines that :meth:`Protocols.scores` reads at once."""
BY_AN_OFFICIAL = ("closed", "abandoned")
"""Values of ``Ended.by`` if an official ended the match."""
VOIDED = "voided"
"""Kind of a line with only the penalties of a voided deal."""


class Pending(Value):
    """A penalty that is not yet on a line. It stays if the deal is voided without one (B-O38)."""

    seat: Seat
    points: wire_types.WholePoints
    rule: RuleId
    event: EventNumber


class LineEntry(Value):
    """A number on a line, with its rule and the events that show it."""

    seat: Seat
    points: Points
    rule: RuleId
    events: wire_types.Events


class LineWritten(Value):
    """A scored or voided deal: ``before`` plus ``change`` gives ``points``, for the reasons in ``entries``."""

    deal: wire_types.DealNumber
    dealer: Seat
    kind: DealKind | Literal["voided"]
    """Kind of deal. `voided`: the deal was voided and only its penalties count. If dealt again, it gets a second
    line."""
    declarer: Seat | None
    contract: BidValue | None
    tricks: wire_types.Counts
    answers: wire_types.BySeat[AnswerSeen | None]
    penalties: wire_types.PointsBySeat
    before: wire_types.BySeat[Points]
    change: wire_types.BySeat[Points]
    points: wire_types.BySeat[Points]
    eliminated: wire_types.Seats
    entries: wire_types.Many[LineEntry]
    event: EventNumber
    pot_before: wire_types.Money | None = None
    pot: wire_types.Money | None = None
    detail: Annotated[Mapping[str, Any], type_depends_on("ruleset", "detail")] | None = None
    """Fields of this game only."""


class LineWas(CorrectedBy):
    """A former version of a line, and the correction that replaced it."""

    line: LineWritten
    """Line before the correction."""


class Line(LineWritten):
    """A scored or voided deal after all corrections: ``before`` plus ``change`` gives ``points``."""

    was: wire_types.Many[LineWas] = ()
    """Former versions, the oldest first; empty: the line was never corrected."""


class Closing(Value):
    """The end of a match by an official who shared the pot: ``before`` plus ``change`` (the shares) gives
    ``points``."""

    rule: RuleId
    before: wire_types.BySeat[Points]
    change: wire_types.BySeat[Points]
    points: wire_types.BySeat[Points]
    pot_before: wire_types.Money
    pot: wire_types.Money
    event: EventNumber


class Protocol(Value):
    """A match's score sheet after event ``version``."""

    match: wire_types.MatchId
    version: Version
    ruleset: wire_types.Code
    players: wire_types.Names
    opening: wire_types.PointsBySeat
    """Points at the start, by seat."""
    taken_over: bool
    """True if the match was continued from paper, with the points of ``opening``."""
    points: wire_types.BySeat[Points]
    lines: wire_types.Many[Line] = ()
    pending: wire_types.Many[Pending] = ()
    eliminated: wire_types.Seats = ()
    over: bool = False
    abandoned: bool = False
    """True if an official abandoned the match."""
    winner: Seat | None = None
    winners: wire_types.Seats = ()
    """All winners: several if partners win."""
    won_by: WonBy | None = None
    won_rule: RuleId | None = None
    settlement: wire_types.MoneyBySeat | None = None
    closing: Closing | None = None
    """Sharing of the pot at the end; null: it was not shared."""
    dealer: Seat | None = None
    """Dealer of the last deal."""
    struck: wire_types.Many[LineWas] = ()
    """Lines that no longer count: an official struck them, or the match was won before their deals."""
    corrected: wire_types.Events = ()
    """Numbers of the events that corrected the protocol."""


def after_event(sheet: Protocol | None, recorded: Recorded) -> Protocol:
    """Return the sheet after an event. :func:`with_corrections` corrects the lines."""
    number, event = recorded.originator_version, recorded.event
    if isinstance(event, MatchOpened):
        return Protocol(
            match=str(recorded.originator_id),
            version=number,
            ruleset=event.ruleset,
            players=event.players,
            opening=event.points,
            taken_over=event.taken_over,
            points=event.points,
        )
    assert sheet is not None, "a match begins with its opening"
    return _with_event(replace(sheet, version=number), event, number)


def _with_event(sheet: Protocol, event: Event, number: int) -> Protocol:
    match event:
        case PenaltyImposed():
            pending = Pending(seat=event.seat, points=event.points, rule=event.rule, event=number)
            return replace(sheet, pending=(*sheet.pending, pending))
        case Dealt(dealer=dealer):
            return replace(sheet, dealer=dealer)
        case DealScored(eliminated=eliminated):
            lines = (*sheet.lines, _line(event, number))
            points = in_points(event.points, event.halves)
            return replace(sheet, points=points, lines=lines, pending=(), eliminated=eliminated)
        case ActTakenBack():
            return replace(sheet, pending=tuple(one for one in sheet.pending if not event.undoes(one.event)))
        case DealVoided() if event.points:
            line = _line_of_voided(sheet, event, number)
            return replace(sheet, points=line.points, lines=(*sheet.lines, line), pending=())
        case PlayerEliminated(seat=seat) if seat not in sheet.eliminated:
            return replace(sheet, eliminated=(*sheet.eliminated, seat))
        case MatchWon():
            points = in_points(event.points, event.halves)
            return replace(_with_winner(sheet, event), points=points, over=True, settlement=event.settlement)
        case MatchClosed():
            closing = _closing(event, number)
            return replace(sheet, points=event.points, over=True, settlement=event.settlement, closing=closing)
        case MatchAbandoned():
            sheet = replace(sheet, over=True, abandoned=True, pending=())  # because penalties on no line lapse
            if not event.shares:
                return sheet
            return replace(sheet, points=event.points, settlement=event.settlement, closing=_closing(event, number))
        case ProtocolCorrected():
            return _with_correction(sheet, event, number)
    return sheet


def _with_winner(sheet: Protocol, end: MatchWon | Ended) -> Protocol:
    winners = end.seats or (() if end.seat is None else (end.seat,))
    return replace(sheet, winner=end.seat, winners=winners, won_by=end.by, won_rule=end.rule)


def _with_correction(sheet: Protocol, event: ProtocolCorrected, number: int) -> Protocol:
    points, won = in_points(event.points, event.halves), event.won
    sheet = replace(
        sheet,
        corrected=(*sheet.corrected, number),
        points=points,
        eliminated=event.eliminated,
        over=won is not None,
        abandoned=False,
        winner=None,
        winners=(),
        won_by=None,
        won_rule=None,
        settlement=None,
        closing=None,
    )
    if won is None:
        return sheet
    sheet = replace(sheet, settlement=won.settlement)
    if won.by in BY_AN_OFFICIAL:
        closing = _corrected_closing(event, won) if won.shares else None
        return replace(sheet, abandoned=won.by == "abandoned", closing=closing)
    return _with_winner(sheet, won)


def _corrected_closing(event: ProtocolCorrected, won: Ended) -> Closing:
    assert event.pot is not None, "the pot was shared"
    return Closing(
        rule=won.rule,
        before=_differences(won.shares, event.points),
        change=won.shares,
        points=event.points,
        pot_before=won.pot_before,
        pot=event.pot,
        event=won.event,
    )


def with_corrections(sheet: Protocol, corrections: Corrections) -> Protocol:
    """Return the sheet with corrected lines and their former versions, and the struck lines apart."""
    lines = {line.event: line for line in sheet.lines}
    struck: dict[int, tuple[int, ProtocolCorrected]] = {}
    for number, by in corrections:
        for one in by.lines:
            before = lines[one.event]
            now = _corrected_line(before, one, by.halves)
            lines[one.event] = replace(now, was=(*before.was, _former_line(before, number, by)))
        struck = {deal: struck.get(deal, (number, by)) for deal in by.struck}
    return replace(
        sheet,
        lines=tuple([line for line in lines.values() if line.deal not in struck]),
        struck=tuple([_former_line(line, *struck[line.deal]) for line in lines.values() if line.deal in struck]),
    )


def _former_line(line: Line, number: int, by: ProtocolCorrected) -> LineWas:
    written = LineWritten(**{name: getattr(line, name) for name in LineWritten.__struct_fields__})
    return LineWas(line=written, **asdict(reference_to(number, by)))


def _corrected_line(line: Line, by: LineCorrected, halves: bool) -> Line:
    if by.score is not None:
        return _line(without_repeated_events(by.score), line.event)
    before, points = in_points(by.before, halves), in_points(by.points, halves)
    if line.kind == VOIDED:
        return replace(line, before=before, points=points)
    return replace(line, before=before, points=points, eliminated=by.eliminated, pot_before=by.pot_before, pot=by.pot)


def _entries(entries: tuple[Entry, ...], halves: bool) -> tuple[LineEntry, ...]:
    return tuple(
        [
            LineEntry(
                seat=entry.seat,
                points=in_points((entry.points,), halves)[0],
                rule=entry.rule,
                events=entry.events,
            )
            for entry in entries
        ]
    )


def _differences(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([points - had for had, points in zip(before, after, strict=True)])


def _line_of_voided(sheet: Protocol, event: DealVoided, number: int) -> Line:
    change = _differences(event.before, event.points)
    seats = len(sheet.players)
    assert sheet.dealer is not None, "a voided deal was dealt"
    return Line(
        deal=event.deal,
        dealer=sheet.dealer,
        kind=VOIDED,
        declarer=None,
        contract=None,
        tricks=(0,) * seats,
        answers=(None,) * seats,
        penalties=change,
        before=event.before,
        change=change,
        points=event.points,
        eliminated=sheet.eliminated,
        entries=_entries(event.entries, False),
        event=number,
    )


def _closing(event: MatchClosed | MatchAbandoned, number: int) -> Closing:
    return Closing(
        rule=event.rule,
        before=event.before,
        change=event.shares,
        points=event.points,
        pot_before=event.pot_before,
        pot=event.pot,
        event=number,
    )


def _line(event: DealScored, number: int) -> Line:
    halves = event.halves
    return Line(
        deal=event.deal,
        dealer=event.dealer,
        kind=event.kind,
        declarer=event.declarer,
        contract=event.contract,
        tricks=event.tricks,
        answers=event.answers,
        penalties=event.penalties,
        before=in_points(event.before, halves),
        change=in_points(_differences(event.before, event.points), halves),
        points=in_points(event.points, halves),
        eliminated=event.eliminated,
        entries=_entries(event.entries, halves),
        event=number,
        pot_before=event.pot_before,
        pot=event.pot,
        detail=event.detail,
    )


class Protocols(Sheets[Protocol]):
    name, key, kind, line = "protocols", "protocols_4", Protocol, Line
    takes = topics(
        *(MatchOpened, PenaltyImposed, Dealt, DealScored, ActTakenBack, DealVoided, PlayerEliminated),
        *(MatchWon, MatchClosed, MatchAbandoned, ProtocolCorrected),
    )
    after_event = staticmethod(after_event)
    with_corrections = staticmethod(with_corrections)

    def scores(self, connection: Connection, match_id: UUID, deals: range) -> dict[int, int]:
        """Return, by deal, the number of the event that scored it, if any."""
        found: dict[int, int] = {}
        this, place, more = self.lines.c, max(0, deals.start - 1), True  # because each earlier deal has lines
        query = select(this.line).where(this.match == match_id).order_by(this.event).limit(LINES_PER_READ)
        while more:
            lines = connection.scalars(query.offset(place)).all()
            found |= {line.deal: line.event for line in lines if line.deal in deals and line.kind != VOIDED}
            place, more = place + LINES_PER_READ, len(lines) == LINES_PER_READ and lines[-1].deal < deals.stop
        return found


COLUMNS = ("deal", "dealer", "kind", "declarer", "contract")
EACH_PLAYER = ("tricks", "change", "points")


def csv(protocol: Protocol) -> str:
    """Return the protocol as CSV (RFC 4180): a row for each line, with three columns for each player."""
    names = distinct_names(protocol.players)
    columns = [*COLUMNS, *(f"{name} {column}" for name in names for column in EACH_PLAYER)]
    rows: list[list[Points | str | None]] = []
    for line in protocol.lines:
        declarer = None if line.declarer is None else names[line.declarer]
        row: list[Points | str | None] = [line.deal, names[line.dealer], line.kind, declarer, line.contract]
        for numbers in zip(line.tricks, line.change, line.points, strict=True):
            row += numbers
        rows.append(row)
    return table(columns, rows)


def distinct_names(players: tuple[str, ...]) -> list[str]:
    """Return the players' names, with the seat if several players have the name."""
    return [name if players.count(name) == 1 else f"{name} ({seat})" for seat, name in enumerate(players)]
