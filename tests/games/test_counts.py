"""Numbers of ways to play a small deal to its end. A change to the legal acts changes a number.

Each deal is played some tricks far: every seat plays the first accepted card of its hand as written. Then the ways
are counted twice. One count follows the listed acts; in many states the test shows that these are all accepted acts.
If only cards can follow, the other count uses an independent form of the rules for following suit.
"""

import itertools
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from referee.acts import Act, Bid, Deal, Declare, Play
from referee.events import DealScored
from referee.refusals import Refused
from referee.ruleset import Moment
from tests.given import NOON, Table, deal
from tests.played import opening
from tests.playouts import MATCHES, every_act


class Small(NamedTuple):
    """A deal, its beginning, and the number of ways in which it can end after this many tricks."""

    name: str
    ruleset: str
    hands: str
    calls: str
    tricks: int
    ways: int
    cards_only: bool = True
    options: Mapping[str, Any] = MappingProxyType({})
    later: str = ""
    turn_up: str | None = None
    widow: str = ""


STOPS = {"rodskagg_stop_at_first_loss": False}
PLAIN = {"deal_ritual": False, **STOPS}
ALGA = {"honour_redeal": False, **STOPS}
EXACT = {"honour_redeal": False, "ask_fold_in_redbeard": False, **STOPS}
THREE = "SA S5 HK H4 D7 C2 | SK S2 HA D9 D3 CT | SQ H7 H2 DA D4 C9"
SUITS = "S2 S3 S4 S5 S6 S7 | S8 H2 H3 H4 D2 D3 | D4 D5 C2 C3 C4 C5"
RAMS = "SA S9 H8 DK D7 | SK H9 HJ DQ C7 | ST HA H7 CK C8"
ALONE = "SA S9 H8 DK D7 | SK H9 HJ DQ C7 | CK ST HA H7 C8"
WIDOW = "SQ S8 HK DA CA"
TRUMPED = "HQ H8 SA DK D7 | HT H9 SJ SQ C7 | HA HJ H7 CK C8"
KALABRIAS = "SA S9 HT H8 D7 CK | SJ SK HA H9 DQ D9"
LATER = "CA S8 DA | HK CT D8"

DEALS = (
    Small("rödskägg, four tricks left", "rodskagg-kortoxen", THREE, "rodskagg", 2, 122, True, PLAIN),
    Small("one suit each", "rodskagg-kortoxen", SUITS, "rodskagg", 3, 216, True, PLAIN),
    Small("the question", "rodskagg-kortoxen", THREE, "3 pass pass", 3, 32, False, PLAIN),
    Small("rödskägg, four tricks left", "rodskagg-alga", THREE, "rodskagg", 2, 192, True, ALGA),
    Small("one suit each", "rodskagg-alga", SUITS, "rodskagg", 3, 216, True, ALGA),
    Small("the question", "rodskagg-alga", THREE, "3 pass pass", 3, 104, False, ALGA),
    Small("redbeard, four tricks left", "rodskagg-catsatcards", THREE, "rodskagg 1 1", 2, 122, True, EXACT),
    Small("one suit each", "rodskagg-catsatcards", SUITS, "rodskagg 0 2", 3, 216, True, EXACT),
    Small("the question", "rodskagg-catsatcards", THREE, "3 1 1", 3, 72, False, EXACT),
    Small("four tricks left", "rams-english", RAMS, "join join join", 1, 344, True, {}, "", "C9", WIDOW),
    Small("many trumps", "rams-english", TRUMPED, "join join join", 1, 216, True, {}, "", "HK", "ST S9 DA DQ CA"),
    Small(
        "generalrams", "rams-english", ALONE, "join join generalrams", 1, 369, False, {}, "", "C9", "SQ S8 HK DA CA"
    ),
    Small("four tricks left", "kalabrias", KALABRIAS, "take", 5, 100, True, {}, LATER, "DJ"),
    Small("hearts", "kalabrias", KALABRIAS, "pass pass H", 4, 1362, True, {"must_overtrump": True}, LATER, "DJ"),
    Small("bella to be declared", "kalabrias", KALABRIAS, "take", 5, 962, False, {}, "CA S8 DA | DK CT D8", "DJ"),
)


class Position(Table):
    """A deal under way."""

    def __init__(self, small: Small) -> None:
        hands = deal(small.hands)
        super().__init__(
            opening(
                ruleset=small.ruleset,
                players=len(hands),
                dealing="table",
                enforcement="refuse",
                first_dealer=len(hands) - 1,
                **small.options,
            )
        )
        self.do(Deal(seat=self.dealer, hands=hands, widow=tuple(small.widow.split()) or None, turn_up=small.turn_up))
        for call in small.calls.split():
            self.do(Bid(seat=self.turn, bid=call))
        if small.later:
            self.do(Deal(seat=self.dealer, hands=deal(small.later)))
            hands = tuple(map(tuple.__add__, hands, deal(small.later)))
        while self.phase == "declaring":
            self.do(Declare(seat=self.turn, sequence="none"))
        self.left = [list(hand) for hand in hands]
        for _ in range(small.tricks * len(hands)):
            self.one_card()

    def one_card(self) -> None:
        """Play the first card of the seat in turn that is accepted."""
        for card in self.left[self.turn]:
            if self.accepted(play := Play(seat=self.turn, card=card)):
                self.left[play.seat].remove(card)
                self.do(play)
                return
        raise AssertionError(f"seat {self.turn} can play none of {self.left[self.turn]}")


# Counted by the referee's list of acts, and by trying all acts

TRIED_EVERY = -(-480 // MATCHES)
"""Steps between two states in which every act is tried; ``make soak`` tries them in all."""


def ways(position: Position) -> int:
    """Return the number of ways that lead from here to the score of the deal."""
    rules, seats, states = position.rules, range(len(position.left)), itertools.count()
    everything = [act for seat in seats for act in every_act(rules.key, seat)]

    def accepted(state: Any, act: Act, version: int) -> bool:
        try:
            rules.decide(state, act, Moment(version, NOON, ""))
        except Refused:
            return False
        return True

    def counted(state: Any, version: int) -> int:
        found, listed = 0, [act for seat in seats for act in rules.legal(state, seat)]
        if next(states) % TRIED_EVERY == 0:
            assert {act for act in everything if accepted(state, act, version)} == {*listed}
        for act in listed:
            events = rules.decide(state, act, Moment(version, NOON, ""))
            if any(isinstance(event, DealScored) for event in events):
                found += 1
                continue
            after = state
            for number, event in enumerate(events, version + 1):
                after = rules.evolve(after, event, number)
            found += counted(after, version + len(events))
        return found

    return counted(position.state, position.version)


# Counted by independent rules: cards as texts, nothing from the referee

RANKS = {"rams-english": "789TJQKA", "kalabrias": "789JQKTA"}
TRUMPS = {"rams-english": "789TJQKA", "kalabrias": "78QKTA9J"}


class Cards(NamedTuple):
    """The rules of a game for playing cards."""

    key: str
    trumps: str | None
    declarer: int | None

    def rank(self, card: str) -> int:
        order = (TRUMPS if card[0] == self.trumps else RANKS).get(self.key, "23456789TJQKA")
        return order.index(card[1]) + 100 * (card[0] == self.trumps)

    def best(self, trick: list[tuple[int, str]]) -> tuple[int, str]:
        """Return the seat and card that win the trick so far."""
        suits = (trick[0][1][0], self.trumps)
        return max((one for one in trick if one[1][0] in suits), key=lambda one: self.rank(one[1]))

    def allowed(self, hand: list[str], trick: list[tuple[int, str]]) -> list[str]:
        """Return the cards that follow suit, else trump (and beat the best card if the game demands it), else the
        hand."""
        if not trick:
            return hand
        led, (_, best) = trick[0][1][0], self.best(trick)
        for suit in (led, self.trumps):
            if cards := [card for card in hand if card[0] == suit]:
                if self.key == "rams-english" or (self.key == "kalabrias" and suit == self.trumps):
                    return [card for card in cards if best[0] == suit and self.rank(card) > self.rank(best)] or cards
                return cards
        return hand


def card_ways(game: Cards, left: list[list[str]], turn: int) -> int:
    """Return the number of ways to play the cards, from the lead to a trick on."""

    def count(hands: list[list[str]], turn: int, trick: list[tuple[int, str]]) -> int:
        if len(trick) == len(hands):
            winner, _ = game.best(trick)
            if not hands[0]:
                return 1
            return count(hands, winner if game.declarer is None else game.declarer, [])
        return sum(
            count(
                [[held for held in hand if held != card] for hand in hands],
                (turn + 1) % len(hands),
                [*trick, (turn, card)],
            )
            for card in game.allowed(hands[turn], trick)
        )

    return count(left, turn, [])


def names(small: Small) -> str:
    return f"{small.ruleset}: {small.name}"


@pytest.mark.parametrize("small", DEALS, ids=names)
def test_the_ways_to_play_a_small_deal(small: Small) -> None:
    assert ways(Position(small)) == small.ways


@pytest.mark.parametrize("small", [small for small in DEALS if small.cards_only], ids=names)
def test_independent_rules_find_the_same_ways(small: Small) -> None:
    position = Position(small)
    call = small.calls.split()[-1]
    trumps = None if small.turn_up is None else call if call in "SHDC" else small.turn_up[0]
    game = Cards(small.ruleset, trumps, 0 if small.ruleset == "rodskagg-alga" else None)
    assert card_ways(game, position.left, position.turn) == small.ways
