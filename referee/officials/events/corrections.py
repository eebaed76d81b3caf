"""The facts of a correction: a deal that is over is scored anew, and whatever hung on it (J9).

History is never written anew. What was played stays as it was played; the correction says what it comes to now.
"""

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
    """A fact as a script tells it."""

    topic: wire_types.Topic
    """What kind of event it is."""
    event: Annotated[dict[str, Any], Meta(description="What happened; its fields go by the topic.")]


class Script(Value):
    """What a deal is scored with beside what was played, or in its place."""

    deal: wire_types.DealNumber
    events: wire_types.Many[Scripted]
    """The facts, in order. They come before the score."""
    whole: bool = False
    """They stand for the deal, from where its cards were dealt to its score; else they come after what was played."""


class Why(Value):
    """What a correction rests on."""

    rule: RuleId
    """The rule that was broken, or by which the line is wrong."""
    reason: wire_types.Text = ""
    """Why, as it was given."""


class LineCorrected(Value, omit_defaults=True):
    """A line of the protocol that counts otherwise than before. All tuples go by seat."""

    event: EventNumber
    """The number of the event that wrote the line."""
    before: wire_types.PointsBySeat
    points: wire_types.PointsBySeat
    eliminated: wire_types.Seats = ()
    """Everybody who is out of the match after it."""
    pot_before: wire_types.Money | None = None
    pot: wire_types.Money | None = None
    score: DealScored | None = None
    """The whole line. Left out: only what stands beside this has changed, and the entries are what they were."""


class Ended(Value, omit_defaults=True):
    """How the match has ended."""

    by: (
        WonBy
        | Annotated[
            Literal["closed", "abandoned"],
            Meta(title="OfficialEnd", description="How an official ended the match."),
        ]
    )
    """What made somebody the winner, or ended it."""
    rule: wire_types.SharedBy
    """The rule that it rests on; empty: none, an official ended it."""
    event: EventNumber
    """The number of the event that ended it, or that wrote the line which did."""
    seat: Seat | None = None
    """Who has won, of partners the first; left out: nobody."""
    seats: wire_types.Seats = ()
    """All winners, where partners win together."""
    settlement: wire_types.MoneyBySeat | None = None
    pot_before: wire_types.Money = 0
    """What lay in the pot before it was shared."""
    shares: wire_types.MoneyBySeat = ()
    """By seat, what each drew from the pot; left out: it was not shared."""
    payments: wire_types.Many[Payment] = ()
    """Who pays whom, as in ``match/won``."""


class ProtocolCorrected(Event):
    """Deals were scored anew (J9). What stands here counts from now on. All tuples of numbers go by seat."""

    TOPIC: ClassVar[str] = "protocol/corrected"
    HIDDEN: ClassVar[Hidden] = {"scripts": "official", "strike": "official"}
    case: wire_types.CaseNumber | None
    """The case that it was ruled in; null: none, an official mended an error of his own (J10)."""
    deal: wire_types.DealNumber
    """The first deal that is corrected."""
    why: Why
    """What it rests on."""
    lines: wire_types.Many[LineCorrected]
    """The lines that count otherwise than before, in order."""
    struck: wire_types.Many[wire_types.DealNumber]
    """All deals that count for nothing from now on: struck by the official, or played after the match was won."""
    points: wire_types.PointsBySeat
    """The points as they stand."""
    eliminated: wire_types.Seats
    """Everybody who is out of the match."""
    dealer: Seat
    """Who deals next."""
    next_deal: wire_types.DealNumber
    """The number of the next deal."""
    halves: bool = False
    """``points``, and those of the lines, count halves of a point."""
    pot: wire_types.Money | None = None
    duel: wire_types.Seats = ()
    """Who plays the next deal, where it is a duel."""
    carried: dict[str, Any] = msgspec.field(default_factory=dict)
    """What the next deal takes over beyond this, by name."""
    fresh: bool = False
    """What was drawn or cut for the next deal counts no more."""
    won: Ended | None = None
    """How the match has ended; left out: it goes on."""
    replaces: EventNumber | None = None
    """The earlier correction in the case, which counts no more; left out: there is none."""
    scripts: wire_types.Many[Script] = ()
    """For the official: what the deals were scored with."""
    strike: wire_types.Many[wire_types.DealNumber] = ()
    """For the official: the deals that were struck in this correction."""


class CorrectedBy(Value):
    """The correction that changed a line."""

    event: EventNumber
    """The number of the event that corrected it."""
    case: wire_types.CaseNumber | None
    """The case that it was ruled in; null: none, an official corrected an error of their own (J10)."""
    rule: RuleId
    """The rule that it rests on."""
    reason: wire_types.Text
    """Why, as it was given; empty: nothing was said."""


# The lines as they count

Line = DealScored | DealVoided
"""A line of the protocol; a voided deal has one where its penalties were entered."""


def lines_that_count(history: Iterable[Recorded]) -> dict[int, Line]:
    """The lines by the number of the event that wrote them, each as it was corrected last, struck or not."""
    lines: dict[int, Line] = {}
    for recorded in history:
        event = recorded.event
        if type(event) not in _OF_LINES:
            continue
        if isinstance(event, ProtocolCorrected):
            for one in event.lines:
                lines[one.event] = amended(lines[one.event], one)
        elif isinstance(event, DealScored | DealVoided) and event.points:
            lines[recorded.originator_version] = event
    return lines


_OF_LINES = frozenset((DealScored, DealVoided, ProtocolCorrected))


Corrections = Sequence[tuple[int, ProtocolCorrected]]
"""Corrections of a match in order, each with the number of its event."""


def by_correction(number: int, by: ProtocolCorrected) -> CorrectedBy:
    """Return what a correction says about itself."""
    return CorrectedBy(event=number, case=by.case, rule=by.why.rule, reason=by.why.reason)


def of_line(deal: int, event: int, corrections: Corrections) -> Corrections:
    """Return the corrections that change, strike or restore the line of a deal, which ``event`` wrote."""
    found, struck = [], False
    for number, by in corrections:
        if any(one.event == event for one in by.lines) or (deal in by.struck) != struck:
            found.append((number, by))
        struck = deal in by.struck
    return found


Win = MatchWon | Ended
"""How a line has won the match."""


class LineAsItWas(NamedTuple):
    """A version of a line that no longer counts, and the correction that changed it."""

    line: DealScored
    won: Win | None
    """How the line won the match; ``None``: it did not."""
    by: CorrectedBy


class LineHistory(NamedTuple):
    """A line and its corrections."""

    line: DealScored
    """The line that counts."""
    won: Win | None
    """How the line wins the match; ``None``: it does not."""
    was: tuple[LineAsItWas, ...]
    """The line as it was written, and after each correction but the last."""
    struck: CorrectedBy | None
    """The correction by which it counts for nothing; ``None``: it counts."""


def line_history(written: DealScored, event: int, won: MatchWon | None, corrections: Corrections) -> LineHistory:
    """Return what corrections have made of the line that ``event`` wrote, and that ``won`` the match then."""
    line, win, was, struck = written, cast(Win | None, won), list[LineAsItWas](), None
    for number, correction in corrections:
        by = by_correction(number, correction)
        change = next((one for one in correction.lines if one.event == event), None)
        wins = correction.won if correction.won is not None and correction.won.event == event else None
        if change is not None or _winners(win) != _winners(wins):
            was.append(LineAsItWas(line, win, by))
        if change is not None:
            changed = amended(line, change)
            assert isinstance(changed, DealScored), "a scored deal stays one"
            line = changed if change.score is None else as_counted(changed)
        win, struck = wins, (struck or by) if written.deal in correction.struck else None
    return LineHistory(line, win, tuple(was), struck)


def _winners(won: Win | None) -> object:
    return None if won is None else (won.by, won.seats or won.seat, won.settlement)


def as_counted(score: DealScored) -> DealScored:
    """Return a corrected line, each entry with its events once: a result says all of a deal in one event."""
    entries, pot_entries = (
        tuple([replace(entry, events=tuple(dict.fromkeys(entry.events))) for entry in found])
        for found in (score.entries, score.pot_entries)
    )
    return replace(score, entries=entries, pot_entries=pot_entries)


def amended(line: Line, by: LineCorrected) -> Line:
    """A line as it counts by a correction."""
    if by.score is not None:
        return by.score
    line = replace(line, before=by.before, points=by.points)
    if isinstance(line, DealVoided):
        return line
    return replace(line, eliminated=by.eliminated, pot_before=by.pot_before, pot=by.pot)
