"""A table of Kalabrias for tests: hands are filled up from a few given cards, and words are spoken in turn."""

from collections.abc import Mapping
from random import Random
from typing import Any, Self

from referee.acts import Bella, Bid, Deal, Declare, Exchange, Play, Reply, Respond, Score
from referee.cards import SUITS, cards_of, texts_of
from referee.events import DealScored, MatchOpened
from referee.games import RULESETS
from referee.games.kalabrias.play import playable_cards
from referee.games.kalabrias.ranks import runs
from tests.support import match_driver
from tests.support.match_driver import P1, Hands, deal
from tests.support.random_matches import opening


def opened(*, players: int = 2, dealer: int | None = None, **match: Any) -> MatchOpened:
    """Return the opening of a match in which the last seat deals, so that P1 is forehand."""
    match = {"dealing": "table", "enforcement": "refuse", **match}
    return opening(
        ruleset="kalabrias", players=players, first_dealer=players - 1 if dealer is None else dealer, **match
    )


def sequences(hand: tuple[str, ...]) -> list[Any]:
    """Return the runs in a hand, with their suits."""
    return [(suit, run) for suit in SUITS for run in runs(cards_of(hand), suit)]


def hands(text: str, turn_up: str, *, declarer: int = P1, seed: int = 1) -> Hands:
    """Return full hands that begin with these cards, ``"HA HK | SJ"``, filled up so that no sequence is added.

    With four players the turned-up card is the declarer's eighth, and not among the seven that are dealt.
    """
    begun = deal(text)
    wanted = [9 if len(begun) < 4 else 8 - (seat == declarer) for seat in range(len(begun))]
    own = [(turn_up,) if len(begun) == 4 and seat == declarer else () for seat in range(len(begun))]
    chance = Random(seed)
    taken = {turn_up, *(card for hand in begun for card in hand)}
    assert len(taken) == 1 + sum(map(len, begun)), "each card once"
    left = [card for card in RULESETS["kalabrias"].pack if card not in taken]
    for _ in range(50_000):
        chance.shuffle(left)
        rest, full = list(left), []
        for hand, count in zip(begun, wanted, strict=True):
            full.append((*hand, *rest[: count - len(hand)]))
            del rest[: count - len(hand)]
        added = zip(full, begun, own, strict=True)
        if all(sequences((*hand, *extra)) == sequences((*start, *extra)) for hand, start, extra in added):
            return tuple(full)
    raise AssertionError("no such hands were found")


class Table(match_driver.Table):
    """A match of Kalabrias."""

    later_hands: Hands = ()

    def dealt(self, full: Hands, turn_up: str) -> Self:
        """Deal six cards of each hand; the rest is dealt when trumps are made."""
        self.do(Deal(seat=self.dealer, hands=tuple(hand[:6] for hand in full), turn_up=turn_up))
        self.later_hands = tuple(hand[6:] for hand in full)
        return self

    def closed(self, turn_up: str = "S9") -> Self:
        """Deal six closed cards to each seat."""
        self.do(Deal(seat=self.dealer, counts=(6,) * len(self.seats), turn_up=turn_up))
        return self

    def calls(self, words: str) -> Self:
        """Make calls and answers by the seats in turn: ``"pass redeal yes no S take"``; then deal the later cards."""
        word: Any
        for word in words.split():
            if word in ("yes", "no"):
                self.do(Reply(seat=self.turn, agree=word == "yes"))
            else:
                self.do(Bid(seat=self.turn, bid=word))
        if self.phase == "later_cards":
            self.later()
        return self

    def later_counts(self) -> tuple[int, ...]:
        """Return the number of later cards by seat; with four players the declarer gets one."""
        declarer = self.seen().declarer
        return tuple(3 if len(self.seats) < 4 else 2 - (seat == declarer) for seat in self.seats)

    def later(self) -> Self:
        """Deal the later cards: open hands or only counts, as the first deal was."""
        dealer, counts = self.dealer, self.later_counts()
        if not self.later_hands:
            self.do(Deal(seat=dealer, counts=counts))
        else:
            more = tuple(hand[:count] for hand, count in zip(self.later_hands, counts, strict=True))
            self.do(Deal(seat=dealer, hands=more))
        return self

    def says(self, words: str) -> Self:
        """Make statements about sequences by the seats in turn: ``"small equal K better"``, ``"trumps"``,
        ``"plain"``."""
        for word in words.split():
            self.do(said(self.turn, word))
        return self

    def played_out(self, seed: int = 1) -> Self:
        """Play legal cards, and declare no sequences, until the deal is over."""
        chance = Random(seed)
        while self.phase == "declaring":
            answers = [act for act in self.legal(self.turn) if isinstance(act, Declare | Respond)]
            self.do(answers[-1])
        while self.phase == "playing":
            self.do(chance.choice([act for act in self.legal(self.turn) if isinstance(act, Play)]))
        return self

    def plays_high(self) -> Self:
        """Let P1 lead the highest cards and the others play their first, until the deal is over."""
        while self.phase == "playing":
            self.plays(self.cards(self.turn)[0])
        return self

    def bella(self, seat: int) -> Self:
        """Declare king and queen of trumps."""
        self.do(Bella(seat=seat))
        return self

    def score(self) -> DealScored:
        """Return the line of the deal; score the deal if the match waits for it."""
        if self.phase == "played":
            self.do(Score(seat=0))
        return self.line

    def may_hold(self, seat: int) -> set[str]:
        """Return the cards that a seat holds, or with closed hands may hold, during the play."""
        return set(texts_of(self.playing.hand(seat)))

    def words(self, seat: int) -> list[Any]:
        """Return the statements that a seat may make about sequences."""
        words: list[Any] = []
        for act in self.legal(seat):
            if isinstance(act, Respond):
                words.append(act.answer)
            elif isinstance(act, Declare):
                words.append(act.sequence or act.top or {True: "trumps", False: "plain", None: None}[act.trumps])
        return words


def said(seat: int, word: Any) -> Declare | Respond:
    """Return the act for a word about a sequence."""
    if word in ("better", "equal", "enough"):
        return Respond(seat=seat, answer=word)
    if word in ("small", "large", "none"):
        return Declare(seat=seat, sequence=word)
    if word in ("trumps", "plain"):
        return Declare(seat=seat, trumps=word == "trumps")
    return Declare(seat=seat, top=word)


def table(**match: Any) -> Table:
    """Return a table with a new match; for the arguments see :func:`opened`."""
    return Table(opened(**match))


def declaring(text: str, *, turn_up: str = "S9", calls: str = "take", declarer: int = P1, **match: Any) -> Table:
    """Return a table with hands by :func:`hands` and trumps by these calls: P1 declares next, and is the declarer by
    default."""
    t = table(players=text.count("|") + 1, **match)
    return t.dealt(hands(text, turn_up, declarer=declarer), turn_up).calls(calls)


def exchanging(card: str, seat: int) -> Exchange:
    """Return the exchange of this card for the turn-up."""
    return Exchange(seat=seat, card=card)


class Closed:
    """A match with closed hands: the test knows the cards, and the referee does not."""

    def __init__(self, text: str, turn_up: str = "S9", calls: str = "take", **match: Any) -> None:
        self.hands: Hands = hands(text, turn_up)
        self.t: Table = table(players=len(self.hands), **match).closed(turn_up).calls(calls)
        if len(self.hands) == 4:
            self.hands = ((*self.hands[0], turn_up), *self.hands[1:])

    def says(self, words: str) -> "Closed":
        """Make statements about sequences, true or false."""
        self.t.says(words)
        return self

    def play(self, cards: int | None = None) -> "Closed":
        """Play this many cards by the rules, or all."""
        left = [cards_of(hand) for hand in self.hands]
        gone = self.t.playing.gone
        while self.t.phase == "playing" and cards != 0:
            seat = self.t.turn
            duty = playable_cards(self.t.playing, left[seat] & ~gone)
            card = texts_of(duty)[0]
            self.t.do(Play(seat=seat, card=card))
            gone |= cards_of([card])
            cards = None if cards is None else cards - 1
        return self

    @property
    def detail(self) -> Mapping[str, Any]:
        """Return the detail of the line after the last card."""
        return self.play().t.line.detail
