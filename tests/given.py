"""Given, when, then: one driver for a match of any game, in memory. The games' own words are in ``tests/games``.

Tests see what a game shows (``rules.view``, ``rules.legal``, its events), not how it keeps it: the few things that
no look shows go through one property each here, so that a game's states can be rebuilt behind its tests.

Seats are counted from 0; ``P1`` to ``P8`` and the texts of tricks count players from 1, as worked examples do.
"""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID

import msgspec
import pytest

from referee.actors import Actor
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
    """Hands by seat: ``"SA H7 … | DK …"``."""
    return tuple(tuple(hand.split()) for hand in text.split("|"))


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
        """What the last act made."""
        self.record(opening, "official")
        self.stand(self.rules.begin(self.state, self.moment()), "official")

    # When

    def moment(self) -> Moment:
        """What a decision gets from outside, at this point."""
        return Moment(self.version, self.at, f"{self.seed}{self.version}")

    def decide(self, act: Request) -> tuple[Event, ...]:
        """The events that an act would make; nothing has happened."""
        return self.rules.decide(self.state, act, self.moment())

    def do(self, *acts: Request) -> tuple[Event, ...]:
        """The events that these acts make, one after the other; they have happened."""
        done: tuple[Event, ...] = ()
        for act in acts:
            self.made = self.decide(act)
            self.stand(self.made, getattr(act, "seat", "official"), act)
            done += self.made
        return done

    def after(self, *acts: Request) -> Self:
        """These acts done."""
        self.do(*acts)
        return self

    def stand(self, events: tuple[Event, ...], actor: Actor, request: Request | None = None) -> None:
        """These events have happened, by this actor, who asked for them."""
        for event in events:
            self.record(event, actor, request)
            self.evolved(event)
            request = None

    def evolved(self, event: Event) -> None:
        """The match is as this event, the last of its history, has made it."""
        self.state = self.rules.evolve(self.state, event, self.version)

    def record(self, event: Event, actor: Actor, request: Request | None = None) -> None:
        """The event has its place in the history, with what was asked if it is the first that came of it."""
        asked = None if request is None else msgspec.Raw(msgspec.json.encode(request))
        self.history.append(Recorded(MATCH, self.version + 1, self.at, actor, "", "", "", event, asked))

    def back_to(self, version: int) -> Self:
        """As it stood after this event."""
        del self.history[version:]
        self.state = self.match.state
        return self

    def wait(self, seconds: float) -> Self:
        """So much later."""
        self.at += timedelta(seconds=seconds)
        return self

    def plays(self, cards: str) -> Self:
        """These cards, each by whoever is to play."""
        for card in cards.split():
            self.do(Play(seat=self.turn, card=card))
        return self

    # Then

    def refused(
        self, act: Request, *, rule: str | None, kind: type[Refused] = Refused, code: str | None = None
    ) -> Refused:
        """The refusal of an act; nothing has happened."""
        with pytest.raises(kind) as caught:
            self.decide(act)
        refusal = caught.value
        assert refusal.rule == rule, f"refused by {refusal.rule} ({refusal.code}), not by {rule}"
        assert code in (None, refusal.code), f"{refusal.code}, not {code}"
        return refusal

    def accepted(self, act: Request) -> bool:
        """Whether an act would be taken now."""
        try:
            self.decide(act)
        except Refused:
            return False
        return True

    def seen(self, viewer: Viewer = "official") -> Shown:
        """The match as somebody sees it."""
        return self.rules.view(self.state, viewer)

    def legal(self, viewer: Viewer) -> tuple[Any, ...]:
        """What somebody may do."""
        return self.rules.legal(self.state, viewer)

    def cards(self, seat: int) -> list[str]:
        """The cards that a seat may play."""
        return [act.card for act in self.legal(seat) if isinstance(act, Play)]

    def hand(self, seat: int) -> tuple[str, ...]:
        """What a seat holds, if the referee knows it."""
        return self.seen(seat).hand or ()

    def event(self, number: int) -> Event:
        """Event ``number`` of the match."""
        return self.history[number - 1].event

    def happened(self, kind: type[Event]) -> list[Any]:
        """All events of a kind, in order."""
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
        """What only this game has to show to everybody."""
        return self.seen("spectator").more or {}

    @property
    def points(self) -> tuple[Points, ...]:
        """The protocol."""
        return self.seen("spectator").points

    @property
    def winners(self) -> tuple[int, ...]:
        """Who took the tricks of the last deal, in order."""
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
        """How the match was won."""
        won: list[MatchWon] = self.happened(MatchWon)
        return won[-1] if won else None

    @property
    def won_by(self) -> tuple[int | None, str] | None:
        """Who has won the match, and by what."""
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
