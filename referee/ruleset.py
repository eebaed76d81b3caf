"""The shape of a game: its options, what may be decided, what follows from an event, and who may see what."""

from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, NotRequired, TypedDict
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
from referee.value import AnswerSeen, BidSeen, CardText, EventNumber, OffenceText, Points, RuleId, Seat, Value, tied
from referee.visibility import Event, Recorded, Viewer


class Moment(msgspec.Struct, frozen=True):
    """What a decision needs from outside: the number of the match's last event, the time, a seed for chance (empty
    where it is only looked at what would follow), who asks, where a request rests on it what has happened so far, and
    the id of the match."""

    version: int
    at: datetime
    seed: str
    actor: Actor = "official"
    history: Sequence[Recorded] = ()
    match: UUID = UUID(int=0)


DueAct = Annotated[
    Literal["announce", "answer", "ask", "bid", "deal", "declare", "discard", "knock_out", "reply", "respond"],
    Meta(title="DueAct", description="An act that the rules demand before the play goes on."),
]


SeatAndBid = Annotated[tuple[Seat, BidSeen], Meta(title="SeatAndBid", description="Who bid, and then what.")]
SeatAndCard = Annotated[
    tuple[Seat, CardText], Meta(title="SeatAndCard", description="Who played it, and then the card.")
]


class OpenBreach(TypedDict):
    """An offence that stands open, and the event in which it happened (:class:`~referee.events.Breach`)."""

    offence: OffenceText
    seat: Seat
    """Who is accused of it."""
    rule: RuleId
    """The rule that it is against."""
    payer: Seat
    """Who goes up if it is knocked for."""
    points: wire_types.WholePoints
    """By how many points."""
    event: EventNumber
    """In which it happened."""
    closes_after: NotRequired[wire_types.Count]
    """After so many completed tricks of the deal it is too late; left out: when the deal is scored."""
    shown_by: NotRequired[wire_types.Events]
    """Earlier events that prove it, beside the one that carries it."""
    by: NotRequired[Seat]
    """Who did it, where the rules hold another to it: `seat`."""
    tricks: NotRequired[wire_types.Count]
    """Of a reported error: how many tricks of the deal had been led to, or entered."""


class Shown(Value):
    """A match as one viewer may see it. Tuples go by seat unless said otherwise; ``None`` where it does not apply."""

    phase: Annotated[str, tied("ruleset", "phase")]
    deal: wire_types.DealNumber
    dealer: Seat | None
    to_act: wire_types.Seats
    """Seats that are awaited now; while play is held for a case, none."""
    active: wire_types.Seats
    """Seats that are still in the match."""
    points: wire_types.BySeat[Points]
    penalties: wire_types.PointsBySeat
    """Points knocked up in this deal, not yet in ``points``."""
    hand: wire_types.Cards | None = None
    """The viewer's own cards."""
    hands: wire_types.Hands | None = None
    """All cards, for officials."""
    cards_left: wire_types.Counts | None = None
    picked_up: wire_types.Seats | None = None
    """Seats that have taken up their cards."""
    bids: wire_types.Many[SeatAndBid] | None = None
    """Seat and bid, as they were spoken."""
    contract: BidSeen | None = None
    declarer: Seat | None = None
    trick: wire_types.BySeat[SeatAndCard] | None = None
    """Seat and card, as they were played."""
    tricks: wire_types.Counts | None = None
    answers: wire_types.BySeat[AnswerSeen | None] | None = None
    due: wire_types.Many[DueAct] = ()
    """Acts that the rules demand before the play goes on: ``ask``, ``answer``, ``knock_out``."""
    breaches: wire_types.Many[OpenBreach] | None = None
    """Offences that stand open, for officials."""
    winner: Seat | None = None
    more: Annotated[Mapping[str, Any], tied("ruleset", "more")] | None = None
    """What only this game has: codes and numbers, named in its rulebook's words."""


class Nothing(TypedDict):
    """A game that has nothing of its own to tell."""


def nothing(state: Any) -> dict[str, Any]:
    """No deal takes over more than the protocol tells."""
    return {}


def not_for_money(options: Mapping[str, Any]) -> Basis | None:
    """By the rules of the game nobody pays anybody."""
    return None


Script = Generator[tuple[str, Request], Any, None]
"""The acts of a deal one after the other, each with where it stands in the result (a JSON pointer); after each it is
sent the state."""


class Ruleset(Value):
    """One game. ``decide`` may refuse, ``evolve`` may not; both are pure."""

    key: str
    edition: int
    players_min: int
    players_max: int
    pack: tuple[str, ...]
    start_points: int
    options: type[msgspec.Struct]
    """Each field's description begins with the rule or open point that it answers."""
    acts: tuple[type[Act], ...]
    offences: tuple[str, ...]
    events: tuple[type[Event], ...]
    """The facts that only this game has."""
    state: Any
    """The union of its phases, for snapshots."""
    opening: Callable[[MatchOpened], None]
    """Refuses a match that this game cannot be played as."""
    start: Callable[[MatchOpened], Any]
    decide: Callable[[Any, Request, Moment], tuple[Event, ...]]
    take: Callable[[Any, Request, Moment], tuple[tuple[Event, ...], Any]]
    """What ``decide`` gives, and the state after it."""
    begin: Callable[[Any, Moment], tuple[Event, ...]]
    """What the referee does by itself when a match is opened."""
    evolve: Callable[[Any, Event, int], Any]
    """The state after event number ``n``."""
    to_act: Callable[[Any], tuple[int, ...]]
    """The seats that are awaited."""
    legal: Callable[[Any, Viewer], tuple[Act, ...]]
    view: Callable[[Any, Viewer], Shown]
    follows: Callable[[Any, Moment], tuple[Event, ...]]
    """What comes next by itself; none: it waits for somebody."""
    between_deals: Callable[[Any], bool]
    """Whether nothing has been dealt."""
    more: Any = Nothing
    """The type of what only this game shows of a match (:class:`Shown`)."""
    detail: Any = Nothing
    """The type of what only this game tells of a deal (:class:`~referee.events.DealScored`)."""
    basis: Callable[[Mapping[str, Any]], Basis | None] = not_for_money
    """By whose rules is paid in a match with such options; ``None``: by none, so that it is opened without stakes."""
    has_pot: bool = False
    """Something is staked into a pot, which can be taken over from paper and has a book."""
    knocks: bool = True
    """There is knocking: what stands open costs nothing until then."""
    unseen: Callable[[Any], frozenset[str]] | None = None
    """The offences that the events of such a match cannot show, though they may have happened (J1). ``None``: the
    game has no offences."""
    priced: Callable[[Any, str, int, int], tuple[Event, ...]] | None = None
    """What puts an offence on the deal under way, by its code and the seat that is accused of it, or with -1 lifts
    it again. May refuse. ``None``: the game has no price for any."""
    carried: Callable[[Any], dict[str, Any]] = nothing
    """Before a deal: what it takes over from those before it beyond the protocol, as JSON values by name."""
    result: type[msgspec.Struct] | None = None
    """What a result must tell and may tell (:class:`~referee.acts.Result`); none: no deal is entered whole."""
    script: Callable[[Any, Any], Script] | None = None
    """Before a deal: the acts that such a result stands for. May refuse what does not add up."""
    scored: Callable[[Any, str], tuple[Event, ...]] | None = None
    """The line of a deal that waits to be scored, and what comes of it, chance by this seed; none of them: its play
    cannot have ended so with these numbers. ``None``: no deal of the game is ever scored anew."""
    resumed: Callable[[Any, ProtocolCorrected], Any] | None = None
    """The state between two deals, or after the last, with other numbers."""
    carries: tuple[str, ...] = ()
    """What a table takes over from deal to deal beyond what all have, by the name of the field."""

    def improved(self, before: int, after: int) -> bool:
        """Return whether a seat is better off with its points after a change: nearer to zero in a game that counts
        down, else with more."""
        return abs(after) < abs(before) if self.start_points else after > before
