"""Tables of the three Rödskägg games: deals made for wanted tricks, calls in turn, the question, and knocks."""

from typing import Any, NamedTuple, Self

from referee.acts import (
    Announce,
    Answer,
    Ask,
    Bid,
    Deal,
    KeepCards,
    Knock,
    KnockForCards,
    KnockOut,
    Offence,
    PickUp,
    Play,
    Score,
)
from referee.cards import RANKS, SUITS
from referee.events import DealScored, KnockDismissed, KnockUpheld, MatchOpened, TrickTaken
from referee.visibility import Event
from tests import given
from tests.given import P4, Hands
from tests.played import KORTOXEN, opening


class Tricks(NamedTuple):
    """Hands by seat, and for each of six tricks the card that each seat plays to it."""

    hands: Hands
    cards: tuple[dict[int, str], ...]


def bids(text: str) -> tuple[Any, ...]:
    """Return calls in the order in which they are spoken: ``"2 pass 3 pass"``."""
    return tuple(text.split())


def tricks(winners: str, seats: tuple[int, ...] = (0, 1, 2, 3), players: int | None = None) -> Tricks:
    """Return hands for ``seats`` with which these players take the six tricks, from any lead: ``"3 1 3 3 | 2 3"``.

    The last player named takes the tricks that the text leaves out. Each trick is played in one suit (spades, hearts,
    diamonds, clubs, spades, hearts), which all follow; its winner has the highest card. A suit has thirteen cards, so
    at most six players take part.
    """
    taken = [int(player) - 1 for player in winners.replace("|", " ").split()]
    taken += taken[-1:] * (6 - len(taken))
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
    ruleset: str = KORTOXEN,
    *,
    players: int | None = None,
    points: tuple[int, ...] | None = None,
    dealer: int | None = P4,
    **match: Any,
) -> MatchOpened:
    """Return the opening of a match with its options resolved and defaults for everything else."""
    match = {"dealing": "table", "enforcement": "refuse", **match}
    players = players or len(points or "1234")
    return opening(ruleset=ruleset, players=players, points=points, first_dealer=dealer, **match)


class Table(given.Table):
    """A match of Rödskägg."""

    plan = Tricks((), ())

    # When

    def dealt(
        self, cards: str | Hands | None = None, *, closed: bool = False, ritual: bool = True, stock: bool = False
    ) -> Self:
        """Deal so that these tricks can be played, or these hands. With ``ritual`` the formula is said and cards are
        picked up.

        ``closed``: the referee receives no cards. ``stock``: it also receives the rest of the pack.
        """
        dealer = self.dealer
        if self.opening.dealing == "house":
            self.do(Deal(seat=dealer))
        elif cards is not None and not isinstance(cards, str):
            self.do(Deal(seat=dealer, hands=cards))
        else:
            self.plan = tricks(cards or "1", self.in_deal, len(self.seats))
            hands, counts = self.plan.hands, tuple(map(len, self.plan.hands))
            held = {card for hand in hands for card in hand}
            left = tuple(card for card in self.rules.pack if card not in held) if stock else None
            self.do(Deal(seat=dealer, counts=counts) if closed else Deal(seat=dealer, hands=hands, stock=left))
        if ritual and (formula := KnockForCards(seat=dealer)) in self.legal(dealer):
            self.do(formula)
            self.all_pick_up()
        return self

    def all_pick_up(self) -> Self:
        """Let every seat whose cards are face down pick them up."""
        for seat in self.to_act:
            self.do(PickUp(seat=seat))
        return self

    def keep(self) -> Self:
        """Let every seat keep its hand."""
        while self.phase == "exchanging":
            self.do(KeepCards(seat=self.turn))
        return self

    def bid(self, calls: str) -> Self:
        """Make these calls for the seats in turn. All keep their cards."""
        self.keep()
        for call in bids(calls):
            self.do(Bid(seat=self.turn, bid=call))
        return self

    def declares(self, seat: int, contract: int | str) -> Self:
        """Let this seat win the contract; the others pass."""
        while self.phase == "auction":
            self.bid(str(contract) if self.turn == seat else "pass")
        return self

    def announce(self) -> Self:
        """Make the announcements near zero that are due."""
        for seat in self.more.get("near_zero", ()):
            self.do(near(seat))
        return self

    def card(self) -> tuple[Event, ...]:
        """Play the next card of the plan."""
        seat = self.turn_to_play
        return self.do(Play(seat=seat, card=self.plan.cards[len(self.winners)][seat]))

    def trick(self, *, announce: bool = True) -> Self:
        """Play one trick of the plan, after the announcements that are due."""
        if announce:
            self.announce()
        while not any(isinstance(event, TrickTaken) for event in self.card()):
            pass
        return self

    def tricks(self, number: int = 1, *, announce: bool = True) -> Self:
        """Play this many tricks of the plan."""
        for _ in range(number):
            self.trick(announce=announce)
        return self

    def asks(self, seat: int, answers: str = "") -> Self:
        """Put the question and give these answers in turn."""
        self.do(Ask(seat=seat))
        answer: Any
        for answer in answers.split():
            self.do(Answer(seat=self.turn, answer=answer))
        return self

    def ask(self, along: str = "") -> Self:
        """Let the declarer ask. These seats go along (``"P2 P3"``), and the others fold."""
        declarer = self.seen().declarer
        assert declarer is not None
        self.asks(declarer)
        while self.phase == "playing" and self.due("answer"):
            self.do(Answer(seat=self.turn, answer="play" if f"P{self.turn + 1}" in along else "fold"))
        return self

    def knocks_out(self, seat: int) -> Self:
        """Make an exit knock, "knack för min utgång"."""
        self.do(KnockOut(seat=seat))
        return self

    def score(self) -> DealScored:
        """Return the line of the deal, scored now unless the referee scores it automatically."""
        if self.opening.enforcement == "penalise":
            self.do(Score(seat=self.in_deal[0]))
        return self.line

    def play_deal(self, calls: str, wanted: str, *, join: str = "", ask: bool = True, announce: bool = True) -> Self:
        """Play a whole deal. ``join`` lists the seats that go along. Under ``penalise`` the deal is scored at the
        end."""
        self.dealt(wanted).bid(calls)
        while self.phase == "playing":
            if ask and len(self.winners) == 4 and not self.seen().trick and self.due("ask"):
                self.ask(join)
            else:
                self.trick(announce=announce)
        if self.phase == "played" and announce:
            self.announce()
        if self.phase == "played":
            self.score()
        return self

    def knock(self, seat: int, accused: int, offence: Offence | None = None) -> KnockUpheld | KnockDismissed:
        """Return the ruling on a knock."""
        ruling = self.do(Knock(seat=seat, accused=accused, offence=offence))[0]
        assert isinstance(ruling, KnockUpheld | KnockDismissed)
        return ruling

    # Then

    def upheld(
        self, seat: int, accused: int, offence: Offence | None = None, *, rule: str, payer: int | None = None
    ) -> tuple[Event, ...]:
        """Check that the ruling upholds the knock and that five points go to the payer. Return the events it rests
        on."""
        payer = accused if payer is None else payer
        before = self.penalties
        ruling = self.knock(seat, accused, offence)
        assert isinstance(ruling, KnockUpheld), f"dismissed: {ruling}"
        assert (ruling.rule, ruling.payer, ruling.penalty) == (rule, payer, 5)
        assert offence in (None, ruling.offence)
        after = tuple(points + 5 * (other == payer) for other, points in enumerate(before))
        assert self.penalties == after
        return tuple(self.event(number) for number in ruling.rests_on)

    def dismissed(self, seat: int, accused: int, offence: Offence | None = None, *, reason: str) -> KnockDismissed:
        """Check that the ruling dismisses the knock, and its reason. Return the ruling."""
        ruling = self.knock(seat, accused, offence)
        assert isinstance(ruling, KnockDismissed), f"upheld: {ruling}"
        assert ruling.reason == reason
        return ruling

    def due(self, act: str) -> bool:
        """Return whether the rules demand this act before the play continues."""
        return act in self.seen("spectator").due

    @property
    def in_deal(self) -> tuple[int, ...]:
        """Seats that take part in the deal."""
        return tuple(self.more.get("duel") or self.seen().active)

    @property
    def penalties(self) -> tuple[int, ...]:
        """Penalties imposed in this deal, by seat."""
        return self.seen().penalties


def table(ruleset: str = KORTOXEN, *, seed: str = "seed ", **match: Any) -> Table:
    """Return a table of a match just opened; :func:`opened` explains the arguments."""
    return Table(opened(ruleset, **match), seed)


SIX_EACH = tricks("1 2 3 4 | 1 2").hands
NO_ACE_NOR_COURT = tuple(tuple(suit + rank for rank in "T98765") for suit in SUITS)
MIXED = (
    ("S2", "SA", "H5", "H6", "D7", "D8"),
    ("S9", "H2", "H3", "H4", "D2", "DJ"),
    ("S3", "S4", "C2", "C3", "C4", "CJ"),
    ("SK", "DA", "DK", "DQ", "D3", "HA"),
)
SEVEN_FOR_P3 = (*SIX_EACH[:2], (*SIX_EACH[2], "C2"), SIX_EACH[3])


def penalising(**match: Any) -> Table:
    """Return a table where errors stand until a player knocks."""
    return table(enforcement="penalise", **match)


def misdealt(**match: Any) -> Table:
    """Return a table where P3 was dealt seven cards and nothing was said or picked up yet."""
    t = penalising(**match)
    t.do(Deal(seat=t.dealer, hands=SEVEN_FOR_P3))
    return t


def cats(points: tuple[int, ...] = (12, 12, 12, 12), **match: Any) -> Table:
    """Return a table of CatsAtCards."""
    return table("rodskagg-catsatcards", points=points, **match)


def fem(points: tuple[int, ...] = (12, 12, 12, 12), *, ritual: bool = False, **match: Any) -> Table:
    """Return a table of CatsAtCards where a knock costs five."""
    return cats(points, **{"enforcement": "penalise", "fem_opp": True, "deal_ritual": ritual, **match})


def near(seat: int) -> Announce:
    """Return the announcement near zero."""
    return Announce(seat=seat, what="near_zero")
