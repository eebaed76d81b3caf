"""A table of Rams for tests, with acts in the words of the game."""

import random
from collections.abc import Callable
from typing import Any

from referee.acts import Bid, Close, Deal, Exchange, Fault, Play, Report, Score
from referee.cards import texts_of
from referee.events import DealScored, MatchClosed, Stakes
from referee.visibility import Event
from tests.support import match_driver
from tests.support.random_matches import opening


class Table(match_driver.Table):
    """A match of Rams. By default: four seats, known hands, faults refused, the last seat deals."""

    def __init__(
        self,
        players: int = 4,
        *,
        dealer: int | None = -1,
        unit: int | None = None,
        seed: str = "seed",
        **match: Any,
    ) -> None:
        first_dealer = players - 1 if dealer == -1 else dealer
        stakes = None if unit is None else Stakes(currency="SEK", unit=unit)
        match = {"dealing": "table", "enforcement": "refuse", **match}
        rams = opening(ruleset="rams-english", players=players, first_dealer=first_dealer, stakes=stakes, **match)
        super().__init__(rams, seed)

    # When

    def deal(self, *hands: str, widow: str = "", turn_up: str = "", chance: int = 0) -> tuple[Event, ...]:
        """Deal these cards; the rest comes from the remaining pack."""
        return self.do(self.deal_of(*hands, widow=widow, turn_up=turn_up, chance=chance))

    def deal_of(self, *hands: str, widow: str = "", turn_up: str = "", chance: int = 0) -> Deal:
        """Return the act for such a deal."""
        texts = [hand.split() for hand in hands]
        said = [*(card for hand in texts for card in hand), *widow.split(), turn_up]
        rest = [card for card in self.rules.pack if card not in said]
        random.Random(chance).shuffle(rest)
        texts += [[] for _ in self.seats[len(texts) :]]
        for hand, count in zip(texts, self.counts, strict=True):
            hand.extend(rest.pop() for _ in range(count - len(hand)))
        widow_cards = widow.split() or [rest.pop() for _ in range(5)]
        return Deal(
            seat=self.dealer,
            hands=tuple(map(tuple, texts)),
            widow=tuple(widow_cards),
            turn_up=turn_up or rest.pop(),
        )

    def closed_deal(self, turn_up: str) -> tuple[Event, ...]:
        """Deal with counts and the turned-up card only."""
        return self.do(Deal(seat=self.dealer, counts=self.counts, turn_up=turn_up))

    def say(self, words: str) -> tuple[Event, ...]:
        """Say each word by the seat in turn; ``P2:generalrams`` names the seat."""
        events: tuple[Event, ...] = ()
        for word in words.split():
            seat, colon, said = word.partition(":")
            spoken: Any = said if colon else word
            events = self.do(Bid(seat=int(seat[1:]) - 1 if colon else self.turn, bid=spoken))
        return events

    def play_out(self, wanted: Callable[[tuple[int, ...]], bool], words: str, exchange: bool = False) -> DealScored:
        """Deal, declare and play legal cards at random until the winners of the tricks are as wanted; return the
        line."""
        before = self.version
        for chance in range(30_000):
            self.deal(chance=chance)
            self.say(words)
            rng = random.Random(chance)
            if exchange:
                self.do(rng.choice([act for act in self.legal(self.dealer) if isinstance(act, Exchange)]))
            while self.phase == "playing":
                self.do(rng.choice([act for act in self.legal(self.turn) if isinstance(act, Play)]))
            if wanted(self.winners):
                return self.score() if self.phase == "played" else self.line
            self.back_to(before)
        raise AssertionError("no such play found")

    def exchange(self, card: str, seat: int | None = None) -> tuple[Event, ...]:
        """Let the dealer, or ``seat``, exchange this card for the turned-up one."""
        return self.do(Exchange(seat=self.dealer if seat is None else seat, card=card))

    def report(self, accused: int, fault: Fault, seat: int = 0) -> tuple[Event, ...]:
        """Report a fault that only the table saw."""
        return self.do(Report(seat=seat, accused=accused, fault=fault))

    def score(self, seat: int = 0) -> DealScored:
        """Score the deal by this seat; return the line."""
        self.do(Score(seat=seat))
        return self.line

    def close(self) -> MatchClosed:
        """Close the session; return its end."""
        closed = self.do(Close())[0]
        assert isinstance(closed, MatchClosed)
        return closed

    # Then

    def may_hold(self, seat: int) -> set[str]:
        """Return the cards that a seat holds, or with closed hands may hold, during the play."""
        return set(texts_of(self.playing.hands[seat]))

    def words(self, seat: int) -> set[Any]:
        """Return the words that the seat may say."""
        return {act.bid for act in self.legal(seat) if isinstance(act, Bid)}

    def change(self) -> tuple[int, ...]:
        """Return the points of the last deal, by seat."""
        return tuple(after - before for before, after in zip(self.line.before, self.line.points, strict=True))

    def why(self, seat: int) -> list[tuple[int, str]]:
        """Return the seat's entries of the last deal: each an amount and a rule."""
        return [(entry.points, entry.rule) for entry in self.line.entries if entry.seat == seat]

    @property
    def counts(self) -> tuple[int, ...]:
        """Return the number of cards by seat; with six players the dealer gets none."""
        return tuple(0 if len(self.seats) == 6 and seat == self.dealer else 5 for seat in self.seats)

    @property
    def pot(self) -> int:
        """The pot."""
        pot: int = self.more["pot"]
        return pot
