"""A table of Rams to test at: acts in the field's words, and what they make."""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from referee.acts import Act, Bid, Close, Deal, Draw, Exchange, Knock, Play, Report, Score, Void
from referee.events import DealScored, Event, MatchClosed, Recorded, Stakes
from referee.games.rams_english import RULESET
from referee.games.rams_english.states import PACK
from referee.refusals import Refused
from referee.ruleset import Moment
from referee.store.match import Match, fold
from tests.played import opening

NOW = datetime(2026, 1, 1, tzinfo=UTC)
P1, P2, P3, P4, P5, P6 = range(6)


class Table:
    """A match in memory. Unless told otherwise: four seats, hands given, faults refused, P4 deals."""

    def __init__(
        self,
        players: int = 4,
        *,
        enforcement: Any = "refuse",
        dealing: Any = "table",
        dealer: int | None = -1,
        points: tuple[int, ...] | None = None,
        pot: int = 0,
        unit: int | None = None,
        seed: str = "seed",
        **options: Any,
    ) -> None:
        opened = opening(
            ruleset="rams-english",
            players=players,
            dealing=dealing,
            enforcement=enforcement,
            first_dealer=players - 1 if dealer == -1 else dealer,
            points=points or (0,) * players,
            pot=pot,
            stakes=None if unit is None else Stakes(currency="SEK", unit=unit),
            **options,
        )
        RULESET.opening(opened)
        self.players, self.seed = players, seed
        self.history: list[Recorded] = []
        self.match: Match | None = None
        self._stand((opened,))
        self._stand(RULESET.begin(self.state, self.moment()))

    # What happens

    @property
    def state(self) -> Any:
        assert self.match is not None
        return self.match.state

    def moment(self) -> Moment:
        return Moment(len(self.history), NOW, f"{self.seed}{len(self.history)}")

    def _stand(self, events: tuple[Event, ...]) -> None:
        new = [
            Recorded(UUID(int=1), number, NOW, "official", "", "", "", event)
            for number, event in enumerate(events, len(self.history) + 1)
        ]
        self.history += new
        self.match = fold(self.match, new)

    def do(self, act: Act | Knock) -> tuple[Event, ...]:
        """The events of an act that is accepted."""
        events = RULESET.decide(self.state, act, self.moment())  # type: ignore[arg-type]
        self._stand(events)
        return events

    def refused(self, act: Act | Knock, code: str, rule: str | None, kind: type[Refused] = Refused) -> Refused:
        """The refusal of an act: its code, its rule and its kind."""
        with pytest.raises(kind) as caught:
            RULESET.decide(self.state, act, self.moment())  # type: ignore[arg-type]
        assert (caught.value.code, caught.value.rule) == (code, rule)
        return caught.value

    # In the field's words

    def deal(self, *hands: str, widow: str = "", turn_up: str = "", chance: int = 0) -> tuple[Event, ...]:
        """The dealer deals; what is not said comes from what is left of the pack."""
        return self.do(self.deal_of(*hands, widow=widow, turn_up=turn_up, chance=chance))

    def deal_of(self, *hands: str, widow: str = "", turn_up: str = "", chance: int = 0) -> Deal:
        dealer = self.state.table.dealer
        texts = [hand.split() for hand in hands]
        said = [*(card for hand in texts for card in hand), *widow.split(), turn_up]
        rest = [card for card in PACK if card not in said]
        random.Random(chance).shuffle(rest)
        while len(texts) < self.players:
            texts.append([])
        for seat, hand in enumerate(texts):
            while len(hand) < 5 and not (self.players == 6 and seat == dealer):
                hand.append(rest.pop())
        widow_cards = widow.split() or [rest.pop() for _ in range(5)]
        return Deal(
            seat=dealer,
            hands=tuple(map(tuple, texts)),
            widow=tuple(widow_cards),
            turn_up=turn_up or rest.pop(),
        )

    def closed_deal(self, turn_up: str) -> tuple[Event, ...]:
        dealer = self.state.table.dealer
        counts = tuple(0 if self.players == 6 and seat == dealer else 5 for seat in range(self.players))
        return self.do(Deal(seat=dealer, counts=counts, turn_up=turn_up))

    def say(self, words: str) -> tuple[Event, ...]:
        """Each word by the seat in turn; ``P2:generalrams`` by another."""
        events: tuple[Event, ...] = ()
        for word in words.split():
            seat, colon, said = word.partition(":")
            spoken: Any = said if colon else word
            events = self.do(Bid(seat=int(seat[1:]) - 1 if colon else self.state.to_speak[0], bid=spoken))
        return events

    def play(self, cards: str) -> tuple[Event, ...]:
        """Each card by the seat in turn."""
        events: tuple[Event, ...] = ()
        for card in cards.split():
            events = self.do(Play(seat=self.state.turn, card=card))
        return events

    def play_out(self, wanted: Callable[[tuple[int, ...]], bool], words: str, exchange: bool = False) -> DealScored:
        """Deals, declares and plays at random by the rules until the winners of the tricks are as wanted."""
        before = len(self.history)
        for chance in range(30_000):
            self.deal(chance=chance)
            self.say(words)
            rng = random.Random(chance)
            if exchange:
                dealer = self.state.table.dealer
                self.do(rng.choice([act for act in self.legal(dealer) if isinstance(act, Exchange)]))
            deal = self.state.table.deal
            while self.state.table.deal == deal and hasattr(self.state, "turn"):
                turn = self.state.turn
                self.do(rng.choice([act for act in self.legal(turn) if isinstance(act, Play)]))
            if wanted(self.winners()):
                if self.state.table.deal == deal:
                    self.score()
                return self.line
            self.history = self.history[:before]
            self.match = fold(None, self.history)
        raise AssertionError("no such play found")

    def winners(self) -> tuple[int, ...]:
        """Who won the tricks of the last deal, in order."""
        winners: list[int] = []
        for recorded in reversed(self.history):
            name = type(recorded.event).__name__
            if name == "Dealt":
                break
            if name == "TrickTaken":
                winners.insert(0, recorded.event.seat)  # type: ignore[attr-defined]
        return tuple(winners)

    def exchange(self, card: str, seat: int | None = None) -> tuple[Event, ...]:
        return self.do(Exchange(seat=self.state.table.dealer if seat is None else seat, card=card))

    def report(self, accused: int, fault: Any, seat: int = 0) -> tuple[Event, ...]:
        return self.do(Report(seat=seat, accused=accused, fault=fault))

    def score(self, seat: int = 0) -> DealScored:
        self.do(Score(seat=seat))
        return self.line

    def close(self) -> MatchClosed:
        closed = self.do(Close())[0]
        assert isinstance(closed, MatchClosed)
        return closed

    # What comes of it

    def legal(self, viewer: Any) -> tuple[Act, ...]:
        return RULESET.legal(self.state, viewer)

    def hand(self, seat: int) -> tuple[str, ...]:
        """What the seat holds."""
        return RULESET.view(self.state, seat).hand or ()

    def words(self, seat: int) -> set[Any]:
        """What the seat may declare."""
        return {act.bid for act in self.legal(seat) if isinstance(act, Bid)}

    def cards(self, seat: int) -> set[str]:
        """What the seat may play."""
        return {act.card for act in self.legal(seat) if isinstance(act, Play)}

    @property
    def line(self) -> DealScored:
        """The last line of the protocol."""
        return next(r.event for r in reversed(self.history) if isinstance(r.event, DealScored))

    def change(self) -> tuple[int, ...]:
        """What the last deal brought each seat."""
        return tuple(after - before for before, after in zip(self.line.before, self.line.points, strict=True))

    def why(self, seat: int) -> list[tuple[int, str]]:
        """The seat's entries of the last deal: amount and rule."""
        return [(entry.points, entry.rule) for entry in self.line.entries if entry.seat == seat]


__all__ = ["Close", "Draw", "Knock", "Report", "Table", "Void"]
