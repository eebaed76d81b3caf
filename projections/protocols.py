"""The protocol: each match's score sheet, line by line as the deals were written into it.

Nothing is reckoned here but sums: why a number stands on a line, the referee has said in the event.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal
from uuid import UUID

from msgspec import Meta
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
    as_counted,
    by_correction,
)
from referee.officials.events.takeback import ActTakenBack
from referee.value import (
    AnswerSeen,
    BidSeen,
    DealKind,
    EventNumber,
    Points,
    RuleId,
    Seat,
    Value,
    Version,
    WonBy,
    tied,
)
from referee.visibility import Recorded

LOOK = 8
"""Lines that are looked at together for a deal and its neighbours; more only where deals were voided."""
BY_AN_OFFICIAL = ("closed", "abandoned")
"""How a match has ended that nobody won."""
VOIDED = "voided"
"""The kind of a line that holds no more than the penalties of a deal that was voided."""


class Pending(Value):
    """A penalty knocked up in the deal under way, and the event that imposed it."""

    seat: Seat
    points: wire_types.WholePoints
    rule: RuleId
    event: EventNumber


class LineEntry(Value):
    """One number on a line: why it stands there, and the events that show it."""

    seat: Seat
    points: Points
    rule: RuleId
    events: wire_types.Events


class LineWritten(Value):
    """A scored deal. Tuples go by seat; ``before`` and ``change`` give ``points``, and ``entries`` say why.

    ``event`` is the one that wrote the line. ``pot_before`` and ``pot`` are ``null`` in games without a pot;
    ``detail`` is what only this game has to tell. ``kind`` is ``voided`` where an official voided the deal and its
    penalties were entered all the same: the deal has a line of its own later.
    """

    deal: wire_types.DealNumber
    dealer: Seat
    kind: DealKind | Annotated[Literal["voided"], Meta(title="VoidedKind", description="The deal was voided.")]
    declarer: Seat | None
    contract: BidSeen | None
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
    detail: Annotated[Mapping[str, Any], tied("ruleset", "detail")] | None = None


class LineWas(CorrectedBy):
    """A line that counts no more as it stands here, and the correction by which it does not."""

    line: LineWritten
    """The line as it was."""


class Line(LineWritten):
    """A scored deal, as it counts. Tuples go by seat; ``before`` and ``change`` give ``points``, and ``entries`` say
    why.

    ``event`` is the one that wrote the line. ``pot_before`` and ``pot`` are ``null`` in games without a pot;
    ``detail`` is what only this game has to tell. ``kind`` is ``voided`` where an official voided the deal and its
    penalties were entered all the same: the deal has a line of its own later.
    """

    was: wire_types.Many[LineWas] = ()
    """The line as it was written, and after each correction but the last; empty: it was not corrected."""


class Closing(Value):
    """The official ended the match, and the pot was shared: ``before`` and ``change``, what each drew, give
    ``points``."""

    rule: RuleId
    before: wire_types.BySeat[Points]
    change: wire_types.BySeat[Points]
    points: wire_types.BySeat[Points]
    pot_before: wire_types.Money
    pot: wire_types.Money
    event: EventNumber


class Protocol(Value):
    """A match's score sheet after its event number ``version``. Tuples of numbers go by seat."""

    match: wire_types.MatchId
    version: Version
    ruleset: wire_types.Code
    players: wire_types.Names
    opening: wire_types.PointsBySeat
    """Points at the start."""
    taken_over: bool
    """The start was taken from a match begun on paper."""
    points: wire_types.BySeat[Points]
    """Points as they stand."""
    lines: wire_types.Many[Line] = ()
    pending: wire_types.Many[Pending] = ()
    eliminated: wire_types.Seats = ()
    over: bool = False
    abandoned: bool = False
    """The official ended it unfinished."""
    winner: Seat | None = None
    """Who won; of partners the first. ``null`` in a match that is over: nobody."""
    winners: wire_types.Seats = ()
    """All who won: more than one where partners do."""
    won_by: WonBy | None = None
    won_rule: RuleId | None = None
    settlement: wire_types.MoneyBySeat | None = None
    """What each seat receives, in minor units."""
    closing: Closing | None = None
    """The last line where a pot is shared at the end."""
    dealer: Seat | None = None
    """Who dealt last."""
    struck: wire_types.Many[LineWas] = ()
    """Lines that count for nothing: struck by an official, or played after the match was won."""
    corrected: wire_types.Events = ()
    """The numbers of the events that corrected it."""


def entered(sheet: Protocol | None, recorded: Recorded) -> Protocol:
    """The sheet after one more event, with the line that it may have written."""
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
    match event:
        case PenaltyImposed():
            pending = Pending(seat=event.seat, points=event.points, rule=event.rule, event=number)
            return replace(sheet, version=number, pending=(*sheet.pending, pending))
        case Dealt(dealer=dealer):
            return replace(sheet, version=number, dealer=dealer)
        case DealScored():
            return replace(
                sheet,
                version=number,
                points=in_points(event.points, event.halves),
                lines=(*sheet.lines, _line(event, number)),
                pending=(),
                eliminated=event.eliminated,
            )
        case ActTakenBack():
            stands = tuple(one for one in sheet.pending if not event.undoes(one.event))
            return replace(sheet, version=number, pending=stands)
        case DealVoided() if event.points:
            line = _line_of_voided(sheet, event, number)
            return replace(sheet, version=number, points=line.points, lines=(*sheet.lines, line), pending=())
        case PlayerEliminated(seat=seat) if seat not in sheet.eliminated:
            return replace(sheet, version=number, eliminated=(*sheet.eliminated, seat))
        case MatchWon():
            return replace(
                sheet,
                version=number,
                points=in_points(event.points, event.halves),
                over=True,
                winner=event.seat,
                winners=event.seats or (() if event.seat is None else (event.seat,)),
                won_by=event.by,
                won_rule=event.rule,
                settlement=event.settlement,
            )
        case MatchClosed():
            return replace(
                sheet,
                version=number,
                points=event.points,
                over=True,
                settlement=event.settlement,
                closing=_closing(event, number),
            )
        case ProtocolCorrected():
            return _corrected(replace(sheet, version=number, corrected=(*sheet.corrected, number)), event)
        case MatchAbandoned():
            sheet = replace(sheet, version=number, over=True, abandoned=True, pending=())  # no deal will enter it
            if not event.shares:
                return sheet
            closing = _closing(event, number)
            return replace(sheet, points=event.points, settlement=event.settlement, closing=closing)
    return replace(sheet, version=number)


def _corrected(sheet: Protocol, event: ProtocolCorrected) -> Protocol:
    points, won = in_points(event.points, event.halves), event.won
    sheet = replace(
        sheet,
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
        closing = _closing_again(event, won) if won.shares else None
        return replace(sheet, abandoned=won.by == "abandoned", closing=closing)
    winners = won.seats or (() if won.seat is None else (won.seat,))
    return replace(sheet, winner=won.seat, winners=winners, won_by=won.by, won_rule=won.rule)


def _closing_again(event: ProtocolCorrected, won: Ended) -> Closing:
    assert event.pot is not None, "it was shared"
    return Closing(
        rule=won.rule,
        before=_change(won.shares, event.points),
        change=won.shares,
        points=event.points,
        pot_before=won.pot_before,
        pot=event.pot,
        event=won.event,
    )


def amended(sheet: Protocol, corrections: Corrections) -> Protocol:
    """The sheet with its lines as they count, what they were before, and those that were struck."""
    lines = {line.event: line for line in sheet.lines}
    struck: dict[int, tuple[int, ProtocolCorrected]] = {}
    for number, by in corrections:
        for one in by.lines:
            before = lines[one.event]
            now = _line_now(before, one, by.halves)
            lines[one.event] = replace(now, was=(*before.was, _was(before, number, by)))
        struck = {deal: struck.get(deal, (number, by)) for deal in by.struck}
    return replace(
        sheet,
        lines=tuple([line for line in lines.values() if line.deal not in struck]),
        struck=tuple([_was(line, *struck[line.deal]) for line in lines.values() if line.deal in struck]),
    )


def _was(line: Line, number: int, by: ProtocolCorrected) -> LineWas:
    written = LineWritten(**{name: getattr(line, name) for name in LineWritten.__struct_fields__})
    return LineWas(line=written, **asdict(by_correction(number, by)))


def _line_now(line: Line, by: LineCorrected, halves: bool) -> Line:
    if by.score is not None:
        return _line(as_counted(by.score), line.event)
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


def _change(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...]:
    return tuple([points - had for had, points in zip(before, after, strict=True)])


def _line_of_voided(sheet: Protocol, event: DealVoided, number: int) -> Line:
    change = _change(event.before, event.points)
    seats = len(sheet.players)
    assert sheet.dealer is not None, "what was voided had been dealt"
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
        change=in_points(_change(event.before, event.points), halves),
        points=in_points(event.points, halves),
        eliminated=event.eliminated,
        entries=_entries(event.entries, halves),
        event=number,
        pot_before=event.pot_before,
        pot=event.pot,
        detail=event.detail,
    )


class Protocols(Sheets[Protocol]):
    """The book of all protocols."""

    name, key, kind, line = "protocols", "protocols_4", Protocol, Line
    takes = topics(
        MatchOpened,
        Dealt,
        PenaltyImposed,
        DealScored,
        DealVoided,
        ActTakenBack,
        PlayerEliminated,
        MatchWon,
        MatchClosed,
        MatchAbandoned,
        ProtocolCorrected,
    )
    entered = staticmethod(entered)
    amended = staticmethod(amended)

    def scores(self, connection: Connection, match_id: UUID, deals: range) -> dict[int, int]:
        """The number of the event that scored a deal, for each of these that has been scored."""
        found: dict[int, int] = {}
        this, place, more = self.lines.c, max(0, deals.start - 1), True  # a line each, and those of voided deals
        query = select(this.line).where(this.match == match_id).order_by(this.event).limit(LOOK)
        while more:
            lines = connection.scalars(query.offset(place)).all()
            found |= {line.deal: line.event for line in lines if line.deal in deals and line.kind != VOIDED}
            place, more = place + LOOK, len(lines) == LOOK and lines[-1].deal < deals.stop
        return found


# As a table for a spreadsheet

COLUMNS = ("deal", "dealer", "kind", "declarer", "contract")
EACH = ("tricks", "change", "points")


def csv(protocol: Protocol) -> str:
    """The protocol as CSV after RFC 4180, a row for each scored deal that counts, as it counts.

    ``deal`` its number, ``dealer`` and ``declarer`` by name, ``kind`` how it ended, ``contract`` what was bid;
    then for each player ``<name> tricks``, ``<name> change`` (what the deal added) and ``<name> points`` (what
    stands after it). Of two players with one name the seat is named as well.
    """
    names = columns_of(protocol.players)
    columns = [*COLUMNS, *(f"{name} {column}" for name in names for column in EACH)]
    rows: list[list[Points | str | None]] = []
    for line in protocol.lines:
        declarer = None if line.declarer is None else names[line.declarer]
        row: list[Points | str | None] = [line.deal, names[line.dealer], line.kind, declarer, line.contract]
        for numbers in zip(line.tricks, line.change, line.points, strict=True):
            row += numbers
        rows.append(row)
    return table(columns, rows)


def columns_of(players: tuple[str, ...]) -> list[str]:
    """Return the name of each player, with the number of the seat where two have one name."""
    return [name if players.count(name) == 1 else f"{name} ({seat})" for seat, name in enumerate(players)]
