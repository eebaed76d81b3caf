"""The interface of a game to its users: :class:`Ruleset`, its inputs and its views."""

from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict
from uuid import UUID

import msgspec
from msgspec import Meta

from referee import wire_types
from referee.actors import Actor
from referee.acts import Act
from referee.events import MatchOpened
from referee.officials.events.corrections import ProtocolCorrected
from referee.requests import Request
from referee.settlement import Basis
from referee.value import (
    AnswerSeen,
    BidValue,
    EventNumber,
    OffenceText,
    Points,
    RuleId,
    Seat,
    SeatAndBid,
    SeatAndCard,
    Value,
    type_depends_on,
)
from referee.visibility import Event, Recorded, Viewer
from referee.vocabulary import with_installed


class Moment(msgspec.Struct, frozen=True):
    """The circumstances of a decision.

    ``version``: number of the match's last event. ``seed``: source of chance; empty for a preview or replay.
    ``history``: the events so far, which few decisions need.
    """

    version: int
    at: datetime
    seed: str
    actor: Actor = "official"
    history: Sequence[Recorded] = ()
    match: UUID = UUID(int=0)


_DUE = with_installed(
    ("announce", "answer", "ask", "bid", "deal", "declare", "discard", "knock_out", "reply", "respond"), "due"
)
if TYPE_CHECKING:
    _DueWord: TypeAlias = str
else:
    _DueWord = Literal[_DUE]
DueAct = Annotated[
    _DueWord,
    Meta(title="DueAct", description="An act that the rules demand before the play goes on."),
]


class OpenBreach(TypedDict):
    """A :class:`~referee.events.Breach` that can still be knocked for, and its event."""

    offence: OffenceText
    seat: Seat
    rule: RuleId
    payer: Seat
    """Seat that goes up if the offence is knocked for."""
    points: wire_types.WholePoints
    """Points that the payer goes up."""
    event: EventNumber
    """Number of the event in which the offence happened."""
    closes_after: NotRequired[wire_types.Count]
    """Number of complete tricks after which a knock is too late; left out: possible until the deal is scored."""
    shown_by: NotRequired[wire_types.Events]
    """Earlier events that prove the offence."""
    by: NotRequired[Seat]
    """Seat that committed the offence, if a different seat (`seat`) is responsible."""
    tricks: NotRequired[wire_types.Count]
    """Number of tricks begun, or entered, before a reported fault."""


class Shown(Value):
    """A match as one viewer may see it. ``None``: not applicable or hidden."""

    phase: Annotated[str, type_depends_on("ruleset", "phase")]
    deal: wire_types.DealNumber
    dealer: Seat | None
    to_act: wire_types.Seats
    """Seats that the match waits for; empty while play is held for a case."""
    active: wire_types.Seats
    """Seats that are still in the match."""
    points: wire_types.BySeat[Points]
    penalties: wire_types.PointsBySeat
    """Points of penalties and fines in this deal, not yet in ``points``."""
    hand: wire_types.Cards | None = None
    """Viewer's own cards."""
    hands: wire_types.Hands | None = None
    """Hands of all seats, for officials."""
    cards_left: wire_types.Counts | None = None
    picked_up: wire_types.Seats | None = None
    bids: wire_types.ListOfMany[SeatAndBid] | None = None
    """Bids, in the order of speaking."""
    contract: BidValue | None = None
    declarer: Seat | None = None
    trick: wire_types.ListBySeat[SeatAndCard] | None = None
    """Cards of the trick, in the order of play."""
    tricks: wire_types.Counts | None = None
    answers: wire_types.BySeat[AnswerSeen | None] | None = None
    due: wire_types.Many[DueAct] = ()
    breaches: wire_types.Many[OpenBreach] | None = None
    """Offences that can still be knocked for, for officials."""
    winner: Seat | None = None
    more: Annotated[Mapping[str, Any], type_depends_on("ruleset", "more")] | None = None
    """Fields that only this game has, with names from its rulebook."""


class Nothing(TypedDict):
    """The type for a game that adds no fields."""


def nothing_carried(state: Any) -> dict[str, Any]:
    """Return no values, for games whose deals take over only the protocol's numbers."""
    return {}


def not_for_money(options: Mapping[str, Any]) -> Basis | None:
    """Return ``None``: no match can be for money."""
    return None


Script = Generator[tuple[str, Request], Any, None]
"""Yields the acts of a deal, each with a JSON pointer to its place in the result. Receives the state after each."""


class Ruleset(Value):
    """A game as pure functions. ``decide``, ``take``, ``script`` and ``priced`` raise ``Refused``."""

    key: str
    edition: int
    players_min: int
    players_max: int
    pack: tuple[str, ...]
    start_points: int
    options: type[msgspec.Struct]
    """Type of the options. Each description begins with a rule or reading."""
    acts: tuple[type[Act], ...]
    offences: tuple[str, ...]
    events: tuple[type[Event], ...]
    """Event types that only this game has."""
    state: Any
    """Union of the phases, for snapshots."""
    opening: Callable[[MatchOpened], None]
    """Raises ``Refused`` if the game does not allow this opening."""
    start: Callable[[MatchOpened], Any]
    """Returns the first state."""
    decide: Callable[[Any, Request, Moment], tuple[Event, ...]]
    """Returns a request's events and all automatic events that follow."""
    take: Callable[[Any, Request, Moment], tuple[tuple[Event, ...], Any]]
    """Returns the events of ``decide`` and the state after them."""
    begin: Callable[[Any, Moment], tuple[Event, ...]]
    """Returns all automatic events that follow from a state."""
    evolve: Callable[[Any, Event, int], Any]
    """Takes a state, an event and its number. Returns the state after the event."""
    to_act: Callable[[Any], tuple[int, ...]]
    """Returns the seats that the match waits for."""
    legal: Callable[[Any, Viewer], tuple[Act, ...]]
    view: Callable[[Any, Viewer], Shown]
    follows: Callable[[Any, Moment], tuple[Event, ...]]
    """Returns the next automatic events; none if the phase waits for an act."""
    between_deals: Callable[[Any], bool]
    """Returns whether the next deal has no cards yet; false after the match."""
    more: Any = Nothing
    """Type of :attr:`Shown.more`."""
    detail: Any = Nothing
    """Type of :attr:`~referee.events.DealScored.detail`."""
    basis: Callable[[Mapping[str, Any]], Basis | None] = not_for_money
    """Takes the options. Returns whose rules decide the payments; ``None``: the match cannot be for money."""
    has_pot: bool = False
    """True if points are paid into a pot and from it. With stakes, points are minor units of money."""
    knocks: bool = True
    """True if breaches cost nothing until a knock."""
    unseen: Callable[[Any], frozenset[str]] | None = None
    """Returns the offences that are possible now and that events cannot show (J1). ``None``: no offence exists."""
    priced: Callable[[Any, str, int, int], tuple[Event, ...]] | None = None
    """Takes the state, an offence, the accused seat, and 1 or -1. Returns the events that add the offence's price to
    the deal or, with -1, remove it. ``None``: no offence has a price."""
    carried: Callable[[Any], dict[str, Any]] = nothing_carried
    """Returns, by name, the values outside the protocol that the next deal takes over."""
    result: type[msgspec.Struct] | None = None
    """Type of a whole deal's result: a part of :class:`~referee.acts.Result`. ``None``: no deal is entered whole."""
    script: Callable[[Any, Any], Script] | None = None
    """Takes the state before a deal and its result. Returns the acts that the result represents."""
    scored: Callable[[Any, str], tuple[Event, ...]] | None = None
    """Takes the state of a deal that waits to be scored, and a seed. Returns the line and the events that follow;
    none if the play cannot have ended with these numbers. ``None``: deals are never scored again."""
    points_end_play: Callable[[Any], bool] | None = None
    """Returns whether the points can end the play of a deal in this match. ``None``: they never can."""
    resumed: Callable[[Any, ProtocolCorrected], Any] | None = None
    """Returns the state after a correction: between two deals, or after the match."""
    carries: tuple[str, ...] = ()
    """Fields of the game's own table that each deal passes to the next."""

    def is_better(self, before: int, after: int) -> bool:
        """Return whether ``after`` is better: nearer to 0 in a game that counts down, else higher."""
        return abs(after) < abs(before) if self.start_points else after > before
