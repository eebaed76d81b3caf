"""The shape of a game: its options, what may be decided, what follows from an event, and who may see what."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from referee.acts import Act, Request
from referee.events import Event, MatchOpened, Points, Viewer
from referee.value import Value


class Moment(msgspec.Struct, frozen=True):
    """What a decision needs from outside: the number of the match's last event, the time, and a seed for chance."""

    version: int
    at: datetime
    seed: str


class Shown(Value):
    """A match as one viewer may see it. Tuples go by seat unless said otherwise; ``None`` where it does not apply."""

    phase: str
    deal: int
    dealer: int | None
    to_act: tuple[int, ...]
    """Seats that are awaited now."""
    active: tuple[int, ...]
    """Seats that are still in the match."""
    points: tuple[Points, ...]
    penalties: tuple[int, ...]
    """Points knocked up in this deal, not yet in ``points``."""
    hand: tuple[str, ...] | None = None
    """The viewer's own cards."""
    hands: tuple[tuple[str, ...], ...] | None = None
    """All cards, for officials."""
    cards_left: tuple[int, ...] | None = None
    picked_up: tuple[int, ...] | None = None
    """Seats that have taken up their cards."""
    bids: tuple[tuple[int, int | str], ...] | None = None
    """Seat and bid, as they were spoken."""
    contract: int | str | None = None
    declarer: int | None = None
    trick: tuple[tuple[int, str], ...] | None = None
    """Seat and card, as they were played."""
    tricks: tuple[int, ...] | None = None
    answers: tuple[str | None, ...] | None = None
    due: tuple[str, ...] = ()
    """Acts that the rules demand before the play goes on: ``ask``, ``answer``, ``knock_out``."""
    breaches: tuple[dict[str, Any], ...] | None = None
    """Offences that stand open, for officials."""
    winner: int | None = None
    more: dict[str, Any] | None = None
    """What only this game has: codes and numbers, named in its rulebook's words."""


def nothing(state: Any) -> dict[str, Any]:
    """No deal takes over more than the protocol tells."""
    return {}


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
    has_pot: bool = False
    """Something is staked into a pot, which can be taken over from paper and has a book."""
    carried: Callable[[Any], dict[str, Any]] = nothing
    """Before a deal: what it takes over from those before it beyond the protocol, as JSON values by name."""
