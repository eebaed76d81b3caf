"""Given, when, then: a table that acts are put to, and hands that make the tricks that a test wishes for.

Seats are counted from 0; ``P1`` to ``P8`` and the texts of tricks count players from 1, as worked examples do.
"""

from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pytest

from referee.acts import Answer, Ask, Bid, Deal, Knock, KnockForCards, KnockOut, PickUp, Play, Request, Score
from referee.cards import RANKS, SUITS
from referee.events import (
    DealScored,
    Event,
    KnockDismissed,
    KnockUpheld,
    MatchOpened,
    MatchWon,
    Recorded,
    Stakes,
    TrickTaken,
    Viewer,
)
from referee.games import RULESETS
from referee.refusals import Refused
from referee.ruleset import Moment, Ruleset, Shown

P1, P2, P3, P4, P5, P6, P7, P8 = range(8)
MATCH = UUID(int=1)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)

Hands = tuple[tuple[str, ...], ...]


class Tricks(NamedTuple):
    """Hands by seat, and for each of six tricks the card that a seat plays to it."""

    hands: Hands
    cards: tuple[dict[int, str], ...]


def deal(text: str) -> Hands:
    """Hands by seat: ``"SA H7 … | DK …"``."""
    return tuple(tuple(hand.split()) for hand in text.split("|"))


def bids(text: str) -> tuple[int | str, ...]:
    """Calls in the order they are spoken: ``"2 pass 3 pass"``."""
    return tuple(int(word) if word.lstrip("-").isdigit() else word for word in text.split())


def tricks(winners: str, seats: tuple[int, ...] = (0, 1, 2, 3), players: int | None = None) -> Tricks:
    """Hands for ``seats`` by which these players take the six tricks, whoever leads: ``"3 1 3 3 | 2 3"``.

    Each trick is played in one suit (spades, hearts, diamonds, clubs, spades, hearts), which all follow; its
    winner has the highest card of it. At most six players, for a suit has thirteen cards.
    """
    taken = [int(player) - 1 for player in winners.replace("|", " ").split()]
    assert len(taken) == 6, "six tricks"
    assert set(taken) <= set(seats), "taken by players in the deal"
    left = {suit: [suit + rank for rank in reversed(RANKS)] for suit in SUITS}
    cards = []
    for number, winner in enumerate(taken):
        suit = left[SUITS[number % len(SUITS)]]
        cards.append({seat: suit.pop(0) for seat in (winner, *(seat for seat in seats if seat != winner))})
    everybody = range(max(seats) + 1 if players is None else players)
    return Tricks(tuple(tuple(trick[seat] for trick in cards if seat in trick) for seat in everybody), tuple(cards))


def opened(
    ruleset: str = "rodskagg-kortoxen",
    *,
    players: int = 4,
    points: tuple[int, ...] | None = None,
    dealer: int | None = P4,
    enforcement: str = "refuse",
    dealing: str = "table",
    stakes: Stakes | None = None,
    **options: Any,
) -> MatchOpened:
    """The opening of a match, its options resolved; all else as usual."""
    rules = RULESETS[ruleset]
    return msgspec.convert(
        {
            "ruleset": ruleset,
            "edition": rules.edition,
            "options": msgspec.to_builtins(msgspec.convert(options, rules.options)),
            "players": [f"P{number}" for number in range(1, players + 1)],
            "dealing": dealing,
            "enforcement": enforcement,
            "points": points or (rules.start_points,) * players,
            "first_dealer": dealer,
            "stakes": stakes and msgspec.to_builtins(stakes),
            "tokens": [""] * players,
            "official": "",
        },
        MatchOpened,
    )


class Table:
    """A match in memory. What only leads up to a test gives back the table; ``do`` gives back the events."""

    def __init__(self, opening: MatchOpened) -> None:
        self.rules: Ruleset = RULESETS[opening.ruleset]
        self.rules.opening(opening)
        self.opening, self.at = opening, NOON
        self.state: Any = self.rules.start(opening)
        self.history = [Recorded(MATCH, 1, NOON, "official", "opening", "", "", opening)]
        self.plan = Tricks((), ())
        self._happened(self.rules.begin(self.state, self.moment()), "official")

    # When

    def moment(self) -> Moment:
        """What a decision gets from outside, at this point."""
        return Moment(self.version, self.at, f"seed {self.version}")

    def do(self, act: Request) -> tuple[Event, ...]:
        """The events that an act makes; they have happened."""
        events = self.rules.decide(self.state, act, self.moment())
        self._happened(events, getattr(act, "seat", "official"))
        return events

    def _happened(self, events: tuple[Event, ...], actor: int | str) -> None:
        for event in events:
            self.history.append(Recorded(MATCH, self.version + 1, self.at, actor, "", "", "", event))
            self.state = self.rules.evolve(self.state, event, self.version)

    def later(self, seconds: float) -> "Table":
        """So much later."""
        self.at += timedelta(seconds=seconds)
        return self

    def dealt(self, cards: str | Hands | None = None, *, closed: bool = False, ritual: bool = True) -> "Table":
        """Dealt by the dealer so that these tricks can be played, or these hands; then, with ``ritual``, knocked for
        and picked up. ``closed``: the referee is told no cards."""
        seen, dealer = self.seen(), self.dealer
        if self.opening.dealing == "house":
            self.do(Deal(seat=dealer))
        elif cards is not None and not isinstance(cards, str):
            self.do(Deal(seat=dealer, hands=cards))
        else:
            self.plan = tricks(cards or "1 1 1 1 1 1", seen.active, len(seen.points))
            hands, counts = self.plan.hands, tuple(map(len, self.plan.hands))
            self.do(Deal(seat=dealer, counts=counts) if closed else Deal(seat=dealer, hands=hands))
        if ritual and self.opening.options["deal_ritual"]:
            self.do(KnockForCards(seat=dealer))
            self.all_pick_up()
        return self

    def all_pick_up(self) -> "Table":
        """Those whose cards lie face down take them up."""
        for seat in self.seen().to_act:
            self.do(PickUp(seat=seat))
        return self

    def bid(self, calls: str) -> "Table":
        """These calls, from whoever is to speak."""
        for call in bids(calls):
            self.do(Bid(seat=self.turn, bid=call))  # type: ignore[arg-type]
        return self

    def declares(self, seat: int, contract: int | str) -> "Table":
        """The others pass; this seat gets the contract."""
        while self.seen().phase == "auction":
            self.do(Bid(seat=self.turn, bid=contract if self.turn == seat else "pass"))  # type: ignore[arg-type]
        return self

    def tricks(self, number: int = 1) -> "Table":
        """So many tricks as they were dealt for."""
        for _ in range(number):
            while not any(isinstance(event, TrickTaken) for event in self.card()):
                pass
        return self

    def card(self) -> tuple[Event, ...]:
        """The next card as it was dealt for."""
        seat = self.turn_to_play
        return self.do(Play(seat=seat, card=self.plan.cards[len(self.playing.won)][seat]))

    def asks(self, seat: int, answers: str = "") -> "Table":
        """The question, and these answers in turn."""
        self.do(Ask(seat=seat))
        for answer in answers.split():
            self.do(Answer(seat=self.turn, answer=answer))  # type: ignore[arg-type]
        return self

    def knocks_out(self, seat: int) -> "Table":
        """ "Knack för min utgång"."""
        self.do(KnockOut(seat=seat))
        return self

    def score(self) -> DealScored:
        """The line of the deal, written now where the referee does not write it by itself."""
        if self.opening.enforcement == "penalise":
            self.do(Score(seat=self.seen().active[0]))
        return self.line

    def knock(self, seat: int, accused: int, offence: str | None = None) -> KnockUpheld | KnockDismissed:
        """The ruling on a knock."""
        ruling = self.do(Knock(seat=seat, accused=accused, offence=offence))[0]  # type: ignore[arg-type]
        assert isinstance(ruling, KnockUpheld | KnockDismissed)
        return ruling

    # Then

    def refused(
        self, act: Request, *, rule: str | None, kind: type[Refused] = Refused, code: str | None = None
    ) -> Refused:
        """The refusal of an act; nothing has happened."""
        with pytest.raises(kind) as caught:
            self.rules.decide(self.state, act, self.moment())
        refusal = caught.value
        assert refusal.rule == rule, f"refused by {refusal.rule} ({refusal.code}), not by {rule}"
        assert code in (None, refusal.code), f"{refusal.code}, not {code}"
        return refusal

    def upheld(
        self, seat: int, accused: int, offence: str | None = None, *, rule: str, payer: int | None = None
    ) -> tuple[Event, ...]:
        """The events that the ruling rests on: the knock was right, and five points are the payer's."""
        payer = accused if payer is None else payer
        before = self.penalties
        ruling = self.knock(seat, accused, offence)
        assert isinstance(ruling, KnockUpheld), f"dismissed: {ruling}"
        assert (ruling.rule, ruling.payer, ruling.penalty) == (rule, payer, 5)
        assert offence in (None, ruling.offence)
        after = tuple(points + 5 * (other == payer) for other, points in enumerate(before))
        assert self.penalties == after
        return tuple(self.event(number) for number in ruling.rests_on)

    def dismissed(self, seat: int, accused: int, offence: str | None = None, *, reason: str) -> KnockDismissed:
        """The ruling: the knock was wrong, and why."""
        ruling = self.knock(seat, accused, offence)
        assert isinstance(ruling, KnockDismissed), f"upheld: {ruling}"
        assert ruling.reason == reason
        return ruling

    def seen(self, viewer: Viewer = "official") -> Shown:
        """The match as somebody sees it."""
        return self.rules.view(self.state, viewer)

    def legal(self, viewer: Viewer) -> tuple[Any, ...]:
        """What somebody may do."""
        return self.rules.legal(self.state, viewer)

    def event(self, number: int) -> Event:
        """Event ``number`` of the match."""
        return self.history[number - 1].event

    def happened(self, kind: type[Event]) -> list[Any]:
        """All events of a kind, in order."""
        return [recorded.event for recorded in self.history if isinstance(recorded.event, kind)]

    @property
    def version(self) -> int:
        """The number of the last event."""
        return len(self.history)

    @property
    def playing(self) -> Any:
        """The play of the deal, also when it has ended."""
        return getattr(self.state, "play", None) or self.state

    @property
    def turn(self) -> int:
        """The seat that is awaited."""
        return self.seen().to_act[0]

    @property
    def turn_to_play(self) -> int:
        """The seat whose card is next, even if something else is due before it."""
        seat: int = self.playing.turn
        return seat

    @property
    def dealer(self) -> int:
        """The dealer's seat."""
        dealer = self.seen().dealer
        assert dealer is not None, "drawn"
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
    def penalties(self) -> tuple[int, ...]:
        """What was knocked up in this deal."""
        return self.seen().penalties

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


def table(**match: Any) -> Table:
    """A table of a match that has just been opened; see :func:`opened` for what can be said about it."""
    return Table(opened(**match))


SIX_EACH = tricks("1 2 3 4 | 1 2").hands
SEVEN_FOR_P3 = (*SIX_EACH[:2], (*SIX_EACH[2], "C2"), SIX_EACH[3])


def penalising(**match: Any) -> Table:
    return table(enforcement="penalise", **match)


def misdealt(**match: Any) -> Table:
    """P3 was dealt seven cards, and nothing has been said or picked up yet."""
    t = penalising(**match)
    t.do(Deal(seat=t.dealer, hands=SEVEN_FOR_P3))
    return t
