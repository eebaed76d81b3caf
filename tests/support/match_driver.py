"""Given, when, then: one driver for a match of any game, in memory. The games' own words are in ``tests/games``.

Tests use what a game shows (``rules.view``, ``rules.legal``, its events), not how it keeps it: the few things that
no look shows go through one property each here, so that a game's states can be rebuilt behind its tests.

Seats are counted from 0; ``P1`` to ``P8`` and the texts of tricks count players from 1, as worked examples do.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID

import msgspec
import pytest

from referee.actors import Actor, actor_of
from referee.acts import Play
from referee.events import DealScored, Dealt, MatchOpened, MatchWon, TrickTaken
from referee.games import RULESETS
from referee.refusals import Refused
from referee.requests import Request
from referee.ruleset import Moment, Ruleset, Shown
from referee.store.aggregate import fold
from referee.store.match import Match
from referee.value import Points
from referee.visibility import Event, Recorded, Viewer

P1, P2, P3, P4, P5, P6, P7, P8 = range(8)
MATCH = UUID(int=1)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

Hands = tuple[tuple[str, ...], ...]


def deal(text: str) -> Hands:
    """Return hands by seat from ``"SA H7 … | DK …"``."""
    return tuple(tuple(hand.split()) for hand in text.split("|"))


def seats_and(field: str, *pairs: Sequence[Any]) -> list[dict[str, Any]]:
    """Return pairs of a seat and a value as the objects of a result, for example its ``bids``."""
    return [{"seat": seat, field: value} for seat, value in pairs]


def pairs(rows: Iterable[Mapping[str, Any]] | None) -> tuple[tuple[Any, ...], ...]:
    """Return the values of each row of an answer, for example of ``bids``."""
    return tuple(tuple(row.values()) for row in rows or ())


class Table:
    """A match in memory. What only leads up to a test gives back the table; ``do`` gives back the events.

    ``seed`` is what a decision gets for chance, followed by the number of the event before it.
    """

    def __init__(self, opening: MatchOpened, seed: str = "seed ") -> None:
        self.rules: Ruleset = RULESETS[opening.ruleset]
        self.rules.opening(opening)
        self.opening, self.seed, self.at = opening, seed, NOON
        self.seats = range(len(opening.players))
        self.state: Any = self.rules.start(opening)
        self.history: list[Recorded] = []
        self.made: tuple[Event, ...] = ()
        """Events of the last act."""
        self.record(opening, "official")
        self.stand(self.rules.begin(self.state, self.moment()), "official")

    # When

    def moment(self) -> Moment:
        """The circumstances of a decision now."""
        return Moment(self.version, self.at, f"{self.seed}{self.version}")

    def decide(self, act: Request) -> tuple[Event, ...]:
        """Return the events of an act, without applying them."""
        return self.rules.decide(self.state, act, self.moment())

    def do(self, *acts: Request) -> tuple[Event, ...]:
        """Apply these acts one after the other. Return their events."""
        done: tuple[Event, ...] = ()
        for act in acts:
            self.made = self.decide(act)
            self.stand(self.made, actor_of(act), act)
            done += self.made
        return done

    def after(self, *acts: Request) -> Self:
        """Return the match after these acts."""
        self.do(*acts)
        return self

    def stand(self, events: tuple[Event, ...], actor: Actor, request: Request | None = None) -> None:
        """Apply these events, made by this actor with this request."""
        for event in events:
            self.record(event, actor, request)
            self.evolved(event)
            request = None

    def evolved(self, event: Event) -> None:
        """Apply this event, the last of the history, to the state."""
        self.state = self.rules.evolve(self.state, event, self.version)

    def record(self, event: Event, actor: Actor, request: Request | None = None) -> None:
        """Append the event to the history, with the request if it is the request's first event."""
        asked = None if request is None else msgspec.Raw(msgspec.json.encode(request))
        self.history.append(Recorded(MATCH, self.version + 1, self.at, actor, "", "", "", event, asked))

    def back_to(self, version: int) -> Self:
        """Return the match in its state after this event."""
        del self.history[version:]
        self.state = self.match.play
        return self

    def wait(self, seconds: float) -> Self:
        """Return the match after this time."""
        self.at += timedelta(seconds=seconds)
        return self

    def plays(self, cards: str) -> Self:
        """Play these cards, each by the seat whose turn it is."""
        for card in cards.split():
            self.do(Play(seat=self.turn, card=card))
        return self

    # Then

    def refused(
        self, act: Request, *, rule: str | None, kind: type[Refused] = Refused, code: str | None = None
    ) -> Refused:
        """Return the refusal of an act."""
        with pytest.raises(kind) as caught:
            self.decide(act)
        refusal = caught.value
        assert refusal.rule == rule, f"refused by {refusal.rule} ({refusal.code}), not by {rule}"
        assert code in (None, refusal.code), f"{refusal.code}, not {code}"
        return refusal

    def accepted(self, act: Request) -> bool:
        """Return whether an act would be accepted now."""
        try:
            self.decide(act)
        except Refused:
            return False
        return True

    def seen(self, viewer: Viewer = "official") -> Shown:
        """Return the match as the viewer sees it."""
        return self.rules.view(self.state, viewer)

    def legal(self, viewer: Viewer) -> tuple[Any, ...]:
        """Return the acts that the viewer may make."""
        return self.rules.legal(self.state, viewer)

    def cards(self, seat: int) -> list[str]:
        """Return the cards that a seat may play."""
        return [act.card for act in self.legal(seat) if isinstance(act, Play)]

    def hand(self, seat: int) -> tuple[str, ...]:
        """Return the cards that a seat holds, if the referee knows them."""
        return self.seen(seat).hand or ()

    def event(self, number: int) -> Event:
        """Return event ``number`` of the match."""
        return self.history[number - 1].event

    def happened(self, kind: type[Event]) -> list[Any]:
        """Return all events of a kind, in order."""
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def events(self) -> list[Event]:
        """All that has happened."""
        return [recorded.event for recorded in self.history]

    @property
    def match(self) -> Match:
        """The match as its history makes it."""
        match: Match = fold(None, self.history)
        return match

    @property
    def version(self) -> int:
        """The number of the last event."""
        return len(self.history)

    @property
    def to_act(self) -> tuple[int, ...]:
        """The seats that are awaited."""
        return self.rules.to_act(self.state)

    @property
    def turn(self) -> int:
        """The seat that is awaited first."""
        return self.to_act[0]

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        dealer = self.seen().dealer
        assert dealer is not None, "drawn"
        return dealer

    @property
    def phase(self) -> str:
        """The phase of the match."""
        return self.seen("spectator").phase

    @property
    def more(self) -> Mapping[str, Any]:
        """The fields that only this game shows to all viewers."""
        return self.seen("spectator").more or {}

    @property
    def points(self) -> tuple[Points, ...]:
        """The protocol."""
        return self.seen("spectator").points

    @property
    def winners(self) -> tuple[int, ...]:
        """The seats that took the tricks of the last deal, in order."""
        winners: list[int] = []
        for event in reversed(self.events):
            if isinstance(event, Dealt):
                break
            if isinstance(event, TrickTaken):
                winners.insert(0, event.seat)
        return tuple(winners)

    @property
    def line(self) -> DealScored:
        """The last line of the protocol."""
        line: DealScored = self.happened(DealScored)[-1]
        return line

    @property
    def won(self) -> MatchWon | None:
        """The event by which the match was won."""
        won: list[MatchWon] = self.happened(MatchWon)
        return won[-1] if won else None

    @property
    def won_by(self) -> tuple[int | None, str] | None:
        """The winner of the match and the way it was won."""
        won = self.won
        return None if won is None else (won.seat, won.by)

    # What no look shows

    @property
    def playing(self) -> Any:
        """The play of the deal, also when it has ended."""
        return getattr(self.state, "play", None) or self.state

    @property
    def turn_to_play(self) -> int:
        """The seat whose card is next, even if something else is due before it."""
        seat: int = self.playing.turn
        return seat
