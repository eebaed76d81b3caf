"""A table of Kalabrias to put acts to: hands made from the few cards that a test cares about, and words in turn."""

from datetime import UTC, datetime
from random import Random
from typing import Any
from uuid import UUID

import pytest

from referee.acts import Act, Bella, Bid, Deal, Declare, Exchange, Play, Reply, Request, Respond, Score
from referee.cards import SUITS, cards_of
from referee.events import DealScored, Event, MatchOpened, MatchWon, Recorded, Viewer
from referee.games.kalabrias import RULESET
from referee.games.kalabrias.ranks import PACK, runs
from referee.refusals import Refused
from referee.ruleset import Moment, Shown
from tests.played import opening

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
MATCH = UUID(int=1)
P1, P2, P3, P4 = range(4)

Hands = tuple[tuple[str, ...], ...]


def opened(
    *,
    players: int = 2,
    dealer: int | None = None,
    dealing: str = "table",
    enforcement: str = "refuse",
    points: tuple[int, ...] | None = None,
    **options: Any,
) -> MatchOpened:
    """The opening of a match; the last seat deals, so that P1 is forehand."""
    return opening(
        ruleset="kalabrias",
        players=players,
        dealing=dealing,  # type: ignore[arg-type]
        enforcement=enforcement,  # type: ignore[arg-type]
        first_dealer=players - 1 if dealer is None else dealer,
        points=points,
        **options,
    )


def sequences(hand: tuple[str, ...]) -> list[Any]:
    """The runs in a hand, for comparison."""
    return [(suit, run) for suit in SUITS for run in runs(cards_of(hand), suit)]


def hands(text: str, turn_up: str, *, declarer: int = P1, seed: int = 1) -> Hands:
    """Full hands that begin with these cards, ``"HA HK | SJ"``, filled up so that no sequence is added.

    With four the turned-up card is the declarer's eighth, and not among the seven that are dealt.
    """
    begun = [tuple(cards.split()) for cards in text.split("|")]
    wanted = [9 if len(begun) < 4 else 8 - (seat == declarer) for seat in range(len(begun))]
    own = [(turn_up,) if len(begun) == 4 and seat == declarer else () for seat in range(len(begun))]
    chance = Random(seed)
    taken = {turn_up, *(card for hand in begun for card in hand)}
    assert len(taken) == 1 + sum(map(len, begun)), "each card once"
    left = [card for card in PACK if card not in taken]
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


class Table:
    """A match in memory. What leads up to a test gives back the table; ``do`` gives back the events."""

    def __init__(self, opening: MatchOpened) -> None:
        RULESET.opening(opening)
        self.opening = opening
        self.state: Any = RULESET.start(opening)
        self.history = [Recorded(MATCH, 1, NOON, "official", "", "", "", opening)]
        self.later_hands: Hands = ()
        self._happened(RULESET.begin(self.state, self.moment()), "official")

    def moment(self) -> Moment:
        """What a decision gets from outside."""
        return Moment(len(self.history), NOON, f"seed {len(self.history)}")

    def do(self, act: Request) -> tuple[Event, ...]:
        """The events that an act makes; they have happened."""
        events = RULESET.decide(self.state, act, self.moment())
        self._happened(events, getattr(act, "seat", "official"))
        return events

    def _happened(self, events: tuple[Event, ...], actor: int | str) -> None:
        for event in events:
            version = len(self.history) + 1
            self.history.append(Recorded(MATCH, version, NOON, actor, "", "", "", event))
            self.state = RULESET.evolve(self.state, event, version)

    def dealt(self, full: Hands, turn_up: str) -> "Table":
        """Six of each hand dealt; the rest comes when trumps are made."""
        seats = range(len(full))
        self.do(Deal(seat=self.dealer, hands=tuple(full[seat][:6] for seat in seats), turn_up=turn_up))
        self.later_hands = tuple(full[seat][6:] for seat in seats)
        return self

    def closed(self, turn_up: str = "S9") -> "Table":
        """Six to each, and only how many."""
        self.do(Deal(seat=self.dealer, counts=(6,) * len(self.points), turn_up=turn_up))
        return self

    def calls(self, words: str) -> "Table":
        """Calls and answers from whoever is to speak: ``"pass redeal yes no S take"``; then the later cards."""
        for word in words.split():
            if word in ("yes", "no"):
                self.do(Reply(seat=self.turn, agree=word == "yes"))
            else:
                self.do(Bid(seat=self.turn, bid=word))  # type: ignore[arg-type]
        if self.phase == "later_cards":
            self.later()
        return self

    def later(self) -> "Table":
        """The later cards, as they were dealt for; with four the declarer gets one."""
        dealer, seats = self.dealer, len(self.points)
        declarer = self.seen().declarer
        counts = tuple(3 if seats < 4 else 2 - (seat == declarer) for seat in range(seats))
        if not self.later_hands:
            self.do(Deal(seat=dealer, counts=counts))
        else:
            more = tuple(hand[:count] for hand, count in zip(self.later_hands, counts, strict=True))
            self.do(Deal(seat=dealer, hands=more))
        return self

    def says(self, words: str) -> "Table":
        """Of sequences, from whoever is to speak: ``"small equal K better"``, ``"trumps"``, ``"plain"``."""
        for word in words.split():
            self.do(said(self.turn, word))
        return self

    def plays(self, cards: str) -> "Table":
        """These cards, from whoever is to play."""
        for card in cards.split():
            self.do(Play(seat=self.turn, card=card))
        return self

    def played_out(self, seed: int = 1) -> "Table":
        """Legal cards, and sequences kept quiet, until the deal is over."""
        chance = Random(seed)
        while self.phase == "declaring":
            answers = [act for act in self.legal(self.turn) if isinstance(act, Declare | Respond)]
            self.do(answers[-1])
        while self.phase == "playing":
            self.do(chance.choice([act for act in self.legal(self.turn) if isinstance(act, Play)]))
        return self

    def plays_high(self) -> "Table":
        """P1 leads from the top and the others give their first card, until the deal is over."""
        while self.phase == "playing":
            self.plays(self.cards(self.turn)[0])
        return self

    def bella(self, seat: int) -> "Table":
        """King and queen of trumps."""
        self.do(Bella(seat=seat))
        return self

    def score(self) -> DealScored:
        """The line, written now if the match waits for it."""
        if self.phase == "played":
            self.do(Score(seat=0))
        return self.line

    def refused(
        self, act: Request, *, rule: str | None, kind: type[Refused] = Refused, code: str | None = None
    ) -> Refused:
        """The refusal of an act; nothing has happened."""
        with pytest.raises(kind) as caught:
            RULESET.decide(self.state, act, self.moment())
        refusal = caught.value
        assert refusal.rule == rule, f"refused by {refusal.rule} ({refusal.code}), not by {rule}"
        assert code in (None, refusal.code), f"{refusal.code}, not {code}"
        return refusal

    def seen(self, viewer: Viewer = "official") -> Shown:
        """The match as somebody sees it."""
        return RULESET.view(self.state, viewer)

    def legal(self, viewer: Viewer) -> tuple[Act, ...]:
        """What somebody may do."""
        return RULESET.legal(self.state, viewer)

    def happened(self, kind: type[Event]) -> list[Any]:
        """All events of a kind, in order."""
        return [recorded.event for recorded in self.history if isinstance(recorded.event, kind)]

    def cards(self, seat: int) -> list[str]:
        """The cards that a seat may play."""
        return [act.card for act in self.legal(seat) if isinstance(act, Play)]

    def words(self, seat: int) -> list[Any]:
        """What a seat may say of sequences."""
        words: list[Any] = []
        for act in self.legal(seat):
            if isinstance(act, Respond):
                words.append(act.answer)
            elif isinstance(act, Declare):
                words.append(act.sequence or act.top or {True: "trumps", False: "plain"}.get(act.trumps))  # type: ignore[arg-type]
        return words

    @property
    def turn(self) -> int:
        """The seat that is awaited."""
        return self.seen().to_act[0]

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        dealer = self.seen().dealer
        assert dealer is not None
        return dealer

    @property
    def phase(self) -> str:
        """The phase of the match."""
        return self.seen().phase

    @property
    def points(self) -> tuple[int | float, ...]:
        """The protocol."""
        return self.seen().points

    @property
    def line(self) -> DealScored:
        """The last line of the protocol."""
        line: DealScored = self.happened(DealScored)[-1]
        return line

    @property
    def won(self) -> MatchWon | None:
        """How the match was won."""
        won = self.happened(MatchWon)
        return won[-1] if won else None


def said(seat: int, word: str) -> Declare | Respond:
    """One thing said of a sequence."""
    if word in ("better", "equal", "enough"):
        return Respond(seat=seat, answer=word)  # type: ignore[arg-type]
    if word in ("small", "large", "none"):
        return Declare(seat=seat, sequence=word)  # type: ignore[arg-type]
    if word in ("trumps", "plain"):
        return Declare(seat=seat, trumps=word == "trumps")
    return Declare(seat=seat, top=word)


def table(**match: Any) -> Table:
    """A table of a match that has just been opened; see :func:`opened`."""
    return Table(opened(**match))


def declaring(text: str, *, turn_up: str = "S9", calls: str = "take", declarer: int = P1, **match: Any) -> Table:
    """Hands as :func:`hands` makes them, and trumps by these calls: P1 is to declare, and declarer unless told."""
    t = table(players=text.count("|") + 1, **match)
    return t.dealt(hands(text, turn_up, declarer=declarer), turn_up).calls(calls)


def exchanging(card: str, seat: int) -> Exchange:
    """Lay this card away for the turn-up."""
    return Exchange(seat=seat, card=card)
