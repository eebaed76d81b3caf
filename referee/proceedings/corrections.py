"""The facts of a correction: a deal that is over is scored anew, and whatever hung on it (J9).

History is never written anew. What was played stays as it was played; the correction says what it comes to now.
"""

from collections.abc import Iterable
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from referee import told
from referee.events import DealScored, DealVoided, Payment
from referee.sight import Event, Hidden, Recorded
from referee.value import EventNumber, RuleId, Seat, Value, WonBy


class Scripted(Value):
    """A fact as a script tells it."""

    topic: told.Topic
    """What kind of event it is."""
    event: Annotated[dict[str, Any], Meta(description="What happened; its fields go by the topic.")]


class Script(Value):
    """What a deal is scored with beside what was played, or in its place."""

    deal: told.DealNumber
    events: told.Many[Scripted]
    """The facts, in order. They come before the score."""
    whole: bool = False
    """They stand for the deal, from where its cards were dealt to its score; else they come after what was played."""


class Why(Value):
    """What a correction rests on."""

    rule: RuleId
    """The rule that was broken, or by which the line is wrong."""
    reason: told.Text = ""
    """Why, as it was given."""


class LineCorrected(Value, omit_defaults=True):
    """A line of the protocol that counts otherwise than before. All tuples go by seat."""

    event: EventNumber
    """The number of the event that wrote the line."""
    before: told.PointsBySeat
    points: told.PointsBySeat
    eliminated: told.Seats = ()
    """Everybody who is out of the match after it."""
    pot_before: told.Money | None = None
    pot: told.Money | None = None
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
    rule: told.SharedBy
    """The rule that it rests on; empty: none, an official ended it."""
    event: EventNumber
    """The number of the event that ended it, or that wrote the line which did."""
    seat: Seat | None = None
    """Who has won, of partners the first; left out: nobody."""
    seats: told.Seats = ()
    """All winners, where partners win together."""
    settlement: told.MoneyBySeat | None = None
    pot_before: told.Money = 0
    """What lay in the pot before it was shared."""
    shares: told.MoneyBySeat = ()
    """By seat, what each drew from the pot; left out: it was not shared."""
    payments: told.Many[Payment] = ()
    """Who pays whom, as in ``match/won``."""


class ProtocolCorrected(Event):
    """Deals were scored anew (J9). What stands here counts from now on. All tuples of numbers go by seat."""

    TOPIC: ClassVar[str] = "protocol/corrected"
    HIDDEN: ClassVar[Hidden] = {"scripts": "official", "strike": "official"}
    case: told.CaseNumber | None
    """The case that it was ruled in; null: none, an official mended an error of his own (J10)."""
    deal: told.DealNumber
    """The first deal that is corrected."""
    why: Why
    """What it rests on."""
    lines: told.Many[LineCorrected]
    """The lines that count otherwise than before, in order."""
    struck: told.Many[told.DealNumber]
    """All deals that count for nothing from now on: struck by the official, or played after the match was won."""
    points: told.PointsBySeat
    """The points as they stand."""
    eliminated: told.Seats
    """Everybody who is out of the match."""
    dealer: Seat
    """Who deals next."""
    next_deal: told.DealNumber
    """The number of the next deal."""
    halves: bool = False
    """``points``, and those of the lines, count halves of a point."""
    pot: told.Money | None = None
    duel: told.Seats = ()
    """Who plays the next deal, where it is a duel."""
    carried: dict[str, Any] = msgspec.field(default_factory=dict)
    """What the next deal takes over beyond this, by name."""
    fresh: bool = False
    """What was drawn or cut for the next deal counts no more."""
    won: Ended | None = None
    """How the match has ended; left out: it goes on."""
    replaces: EventNumber | None = None
    """The earlier correction in the case, which counts no more; left out: there is none."""
    scripts: told.Many[Script] = ()
    """For the official: what the deals were scored with."""
    strike: told.Many[told.DealNumber] = ()
    """For the official: the deals that were struck in this correction."""


# The lines as they count

Line = DealScored | DealVoided
"""A line of the protocol; a voided deal has one where its penalties were entered."""


def as_they_count(history: Iterable[Recorded]) -> dict[int, Line]:
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


def amended(line: Line, by: LineCorrected) -> Line:
    """A line as it counts by a correction."""
    if by.score is not None:
        return by.score
    line = replace(line, before=by.before, points=by.points)
    if isinstance(line, DealVoided):
        return line
    return replace(line, eliminated=by.eliminated, pot_before=by.pot_before, pot=by.pot)
