"""Deals of any ruleset played at random, under random options, and the checks that hold in each of them.

This module does not know the games: options are drawn from their types, acts from the lists of legal acts, and the
cards of a real table are those that the house would have dealt. Cheap checks run in every deal. On a sample, two more
run: the listed acts are exact, and the match is the fold of its rows, however it is split.
"""

import os
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from random import Random
from typing import Any, get_args
from uuid import UUID

import msgspec
from msgspec.structs import replace

from referee.acts import (
    Abandon,
    Act,
    Announce,
    Answer,
    Ask,
    Bella,
    Bid,
    Close,
    Cut,
    Deal,
    Declare,
    Draw,
    Exchange,
    Fault,
    KeepCards,
    Knock,
    KnockForCards,
    KnockOut,
    PickUp,
    Play,
    Remind,
    Reply,
    Report,
    RequestCards,
    Respond,
    Score,
    Void,
)
from referee.events import CardPlayed, DealScored, Dealt, DealVoided, MatchClosed, MatchOpened, MatchWon, TrickTaken
from referee.games import RULESETS
from referee.games.kalabrias.deal import later_counts
from referee.refusals import Refused
from referee.ruleset import Moment, Ruleset
from referee.store.aggregate import fold
from referee.store.rows import from_row, to_row
from referee.value import BidValue
from referee.visibility import Event, Recorded
from tests.drawn import some_match
from tests.salted import salted

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PAUSE = timedelta(seconds=61)
"""Time between two acts: longer than any time that a seat must wait."""
MATCH = UUID(int=1)
ACTS_MAX = 3000
"""Acts in a deal, its redeals included; more mean a game that does not end."""
LEGAL_EVERY = 50
"""Interval of the deals in which the listed acts are shown to be exact."""
FOLDED_EVERY = 10
"""Interval of the matches that are folded again."""
RETOLD = int(os.environ.get("RETOLD", "500"))
"""Deals of each ruleset that are played and then used again: settled, folded, or entered as a tally. ``make soak``
has 20,000 of each."""
PART = 2000
RETOLD_PARTS = -(-RETOLD // PART)
"""Parts of these deals, shared by the test processes."""
MATCHES = int(os.environ.get("MATCHES", "120"))
"""Matches of a ruleset that are checked after each act, or a part of them if they are long. ``make soak`` has
5,000."""

BID_WORDS = tuple(bid for bid in get_args(get_args(BidValue)[0]) if not bid.isdigit())
BOLD = ("rodskagg", "generalrams", "redeal")
"""Bids that end a deal early, made less often than others."""

# Everything that a seat may try


@cache
def every_act(key: str, seat: int) -> tuple[Act, ...]:
    """Return all acts of a seat whose content it may choose, right or wrong."""
    rules = RULESETS[key]
    acts: list[Any] = [Play(seat=seat, card=card) for card in rules.pack]
    acts += (Exchange(seat=seat, card=card) for card in rules.pack if Exchange in rules.acts)
    acts += (Bid(seat=seat, bid=bid) for bid in ("9", *"01234567", *BID_WORDS))
    acts += (Answer(seat=seat, answer=answer) for answer in ("play", "fold"))
    acts += (Announce(seat=seat, what=what) for what in ("near_zero", "thanks"))
    acts += (Reply(seat=seat, agree=agree) for agree in (True, False))
    acts += (Respond(seat=seat, answer=answer) for answer in ("better", "equal", "enough"))
    acts += (Declare(seat=seat, sequence=name) for name in ("small", "large", "none"))
    acts += (Declare(seat=seat, top=rank) for rank in sorted({card[1] for card in rules.pack}))
    acts += (Declare(seat=seat, trumps=trumps) for trumps in (True, False))
    acts += (kind(seat=seat) for kind in (Ask, Bella, Cut, KeepCards, KnockForCards, KnockOut, PickUp, Remind, Score))
    return tuple(act for act in acts if type(act) in rules.acts)


def card_points(cards: set[str], trumps: Any) -> int:
    """Return the points of cards in games that count cards, with ten for the last trick."""
    plain, in_trumps = {"A": 11, "T": 10, "K": 4, "Q": 3, "J": 2}, {"J": 20, "9": 14}
    worth = ((card[0] == trumps and in_trumps.get(card[1])) or plain.get(card[1], 0) for card in cards)
    return sum(worth) + 10 if cards else 0


class Playout:
    """A match under way, with the facts that an observer knows."""

    def __init__(
        self,
        rules: Ruleset,
        chance: Random,
        met: Counter[str],
        keep: bool,
        opened: MatchOpened | None = None,
        closed: bool | None = None,
    ) -> None:
        self.rules, self.chance, self.met = rules, chance, met
        self.opened = opened = opened or some_match(chance, rules)
        self.seats = range(len(opened.players))
        self.table = opened.dealing == "table"
        self.closed = self.table and chance.random() < 0.4 if closed is None else closed
        self.state: Any = rules.start(opened)
        self.version, self.at, self.deals = 1, NOON, 0
        self.kept: list[Recorded] | None = [self.recorded(opened)] if keep else None
        self.worth = sum(opened.points) + opened.pot
        self.points: tuple[int, ...] | None = None
        self.rest: list[str] = []
        self.suspect = 0
        """Seat that last made an act outside the list."""
        self.new_deal()
        self.stand(rules.begin(self.state, self.moment()))

    def moment(self) -> Moment:
        return Moment(self.version, self.at, f"{self.version} {self.chance.random()}")

    def recorded(self, event: Event) -> Recorded:
        return Recorded(MATCH, self.version, self.at, "official", "", "", "", event)

    @property
    def over(self) -> bool:
        return self.state.__struct_config__.tag == "over"

    # What happens

    def new_deal(self) -> None:
        self.seen: set[str] = set()
        self.tricks = 0

    def stand(self, events: tuple[Event, ...], state: Any = None) -> None:
        """Apply these events. ``state``: the state after them, if known (see :meth:`check_fold`)."""
        evolve, met = self.rules.evolve, self.met
        for event in events:
            self.version += 1
            if state is None:
                self.state = evolve(self.state, event, self.version)
            met[event.TOPIC] += 1
            if self.kept is not None:
                self.kept.append(self.recorded(event))
            if (check := CHECKS.get(type(event))) is not None:
                check(self, event)
        if state is not None:
            self.state = state

    def step(self) -> bool:
        """Make one act. Return whether it was accepted."""
        self.at += PAUSE
        act = self.some_act()
        if act is None:
            return False
        try:
            events, state = self.rules.take(self.state, act, self.moment())
        except Refused:
            assert not self.listed, act
            return False
        self.stand(events, state)
        if not self.listed:
            self.suspect = getattr(act, "seat", 0)
        return True

    def some_act(self) -> Act | Knock | None:
        """Return a random act: mostly a listed one of a seat that must act, sometimes of any seat, now and then any
        act at all."""
        rules, state, chance = self.rules, self.state, self.chance
        dice = chance.random()
        self.listed = dice > (0.03 if self.opened.enforcement == "refuse" else 0.08)
        if not self.listed:
            return self.anything()
        awaited = rules.to_act(state)
        choice: Any = rules.legal(state, chance.choice(awaited)) if awaited and dice < 0.9 else ()
        if not choice:
            choice = [act for seat in self.seats for act in rules.legal(state, seat)]
        act: Act = chance.choice(choice)
        if isinstance(act, Bid) and act.bid in BOLD and chance.random() < 0.8:
            act = chance.choice(choice)
        return self.said(act) if self.table else act

    def anything(self) -> Act | Knock:
        """Return an act that may be right, wrong, or for an official."""
        chance, rules = self.chance, self.rules
        seat, other, dice = chance.choice(self.seats), chance.choice(self.seats), chance.random()
        if dice < 0.3:
            other = chance.choice((other, self.suspect))
            offence: Any = chance.choice((None, *rules.offences))
            return Knock(seat=seat, accused=other, offence=chance.choice((None, offence)))
        if dice < 0.35:
            return Report(seat=seat, accused=other, fault=chance.choice(get_args(Fault)))
        if dice < 0.37:
            return Void()
        if dice < 0.9:
            seat = chance.choice(rules.to_act(self.state) or (seat,))
        return chance.choice(every_act(self.rules.key, seat))

    def said(self, act: Act) -> Act | None:
        """Return the act with the fields that only a real table can fill; ``None`` if they would name closed
        cards."""
        match act:
            case Draw():
                drawn = {card for _, card in self.state.drawn}
                return Draw(seat=act.seat, card=self.chance.choice([c for c in self.rules.pack if c not in drawn]))
            case Deal():
                return self.dealt_by_hand(act.seat)
            case RequestCards() if not self.closed and not self.state.cards.stock:
                wanted = 1 if self.rules.key == "rodskagg-catsatcards" else 6
                if len(self.rest) < wanted:
                    return KeepCards(seat=act.seat)
                return RequestCards(seat=act.seat, cards=tuple(self.rest.pop() for _ in range(wanted)))
            case Declare(sequence=None, top=None, trumps=None):
                return None
        return act

    def dealt_by_hand(self, seat: int) -> Deal:
        """Return the deal that the house would have made, as a real table enters it."""
        state, closed = self.state, self.closed
        if state.__struct_config__.tag == "later_cards":
            counts = later_counts(state.table, state.contract.declarer)
            if closed:
                return Deal(seat=seat, counts=counts)
            return Deal(seat=seat, hands=tuple(tuple(self.rest.pop() for _ in range(each)) for each in counts))
        house = replace(state, table=replace(state.table, house=True))
        events = self.rules.decide(house, Deal(seat=seat), self.moment())
        dealt = next(event for event in events if isinstance(event, Dealt))
        assert dealt.hands is not None
        if closed:
            return Deal(seat=seat, counts=dealt.counts, turn_up=dealt.turn_up)
        on_table = {card for hand in (*dealt.hands, dealt.widow, (dealt.turn_up,)) for card in hand}
        self.rest = [card for card in self.rules.pack if card not in on_table]
        self.chance.shuffle(self.rest)
        stock = dealt.stock if dealt.stock and self.chance.random() < 0.5 else None
        return Deal(seat=seat, hands=dealt.hands, stock=stock, widow=dealt.widow or None, turn_up=dealt.turn_up)

    # What must hold

    def check_dealt(self, event: Dealt) -> None:
        """Check that the cards of a deal are different cards of the pack."""
        self.new_deal()
        texts = [card for hand in event.hands or () for card in hand] + [*event.widow, *event.stock]
        texts += [event.turn_up] if event.turn_up else []
        assert len(set(texts)) == len(texts)
        assert set(texts) <= set(self.rules.pack)
        assert event.hands is None or tuple(map(len, event.hands)) == event.counts

    def check_card(self, event: CardPlayed) -> None:
        """Check that no card is played twice."""
        assert event.card not in self.seen
        self.seen.add(event.card)

    def check_trick(self, event: TrickTaken) -> None:
        """Check that tricks are counted from one."""
        self.tricks += 1
        assert event.trick == self.tricks

    def check_line(self, line: DealScored) -> None:
        """Check that the line continues from the one before, and that its numbers, tricks and pot add up."""
        self.deals += 1
        self.met[f"kind:{line.kind}"] += 1
        unit = 2 if line.halves else 1
        assert line.before == (self.points or tuple(points * unit for points in self.opened.points))
        sums = list(line.before)
        for entry in line.entries:
            sums[entry.seat] += entry.points
            assert entry.rule
            assert all(0 < number <= self.version for number in entry.events)
        assert tuple(sums) == line.points
        assert sum(line.tricks) == self.tricks
        assert self.seen <= set(self.rules.pack)
        assert (line.pot is not None) == self.rules.has_pot
        if line.pot is not None and line.pot_before is not None:
            assert line.pot - line.pot_before == sum(entry.units for entry in line.pot_entries)
            assert sum(line.points) + line.pot == self.worth
        if "card_points" in line.detail:
            assert sum(line.detail["card_points"]) == card_points(self.seen, line.contract)
        self.points = line.points
        self.new_deal()

    def check_voided(self, event: DealVoided) -> None:
        """Check the penalties of a voided deal, which may be entered at once."""
        self.deals += 1
        self.points = event.points or self.points
        self.new_deal()

    def check_won(self, event: MatchWon) -> None:
        """Check that the winner's event has the present points."""
        self.met[f"won:{event.by}"] += 1
        assert event.points == self.points
        assert event.settlement is None or not any(event.settlement) or sum(event.settlement) == 0

    def check_closed(self, event: MatchClosed) -> None:
        """Check that nothing is lost between the points and the pot."""
        assert tuple(map(sum, zip(event.before, event.shares, strict=True))) == event.points
        assert sum(event.points) + event.pot == self.worth
        assert event.pot_before - sum(event.shares) == event.pot

    def accepted(self, act: Act) -> bool:
        try:
            self.rules.decide(self.state, act, self.moment())
        except Refused:
            return False
        return True

    def check_legal(self) -> None:
        """Check that every listed act is accepted, and, if the referee refuses errors, that all other acts are
        refused."""
        rules, state = self.rules, self.state
        refuses = self.opened.enforcement == "refuse"
        awaited = rules.to_act(state)
        for seat in self.seats:
            listed = rules.legal(state, seat)
            assert len(set(map(repr, listed))) == len(listed)
            known = set(every_act(rules.key, seat))
            for act in listed:
                if act in known or not self.table or type(act) not in (Deal, RequestCards, Draw, Declare):
                    assert self.accepted(act), act
            if refuses:
                others = every_act(rules.key, seat)
                for act in others if seat in awaited else self.chance.sample(others, 12):
                    assert self.accepted(act) == (act in listed), (act, listed, state)
        official = rules.legal(state, "official")
        for act in (Void(), Close(), Abandon()):
            assert self.accepted(act) == (act in official), (act, official)

    def check_state(self) -> None:
        """Check that a state survives JSON unchanged."""
        state = self.state
        assert msgspec.json.decode(msgspec.json.encode(state), type=self.rules.state) == state

    def check_fold(self) -> None:
        """Check that the match is the fold of its rows, wherever they are split."""
        assert self.kept is not None
        kept = [salted(recorded) for recorded in self.kept]
        history = [from_row(to_row(recorded)) for recorded in kept]
        assert history == kept
        whole, cut = fold(None, history), self.chance.randrange(1, len(history) + 1)
        assert whole.play == self.state
        assert fold(fold(None, history[:cut]), history[cut:]) == whole

    def close(self) -> None:
        """Close the match as the official, if the game allows it."""
        act = Close()
        if act in self.rules.legal(self.state, "official"):
            self.stand(self.rules.decide(self.state, act, self.moment()))


CHECKS: dict[type[Event], Callable[[Any, Any], None]] = {
    Dealt: Playout.check_dealt,
    CardPlayed: Playout.check_card,
    TrickTaken: Playout.check_trick,
    DealScored: Playout.check_line,
    DealVoided: Playout.check_voided,
    MatchWon: Playout.check_won,
    MatchClosed: Playout.check_closed,
}


def play_out(key: str, deals: int, seed: int, told: Callable[[int], None] = lambda done: None) -> Counter[str]:
    """Play this many deals. Return how often each kind of event happened. ``told`` is called after every match."""
    rules, met, done = RULESETS[key], Counter[str](), 0
    for number in count():
        chance = Random(f"{key} {seed} {number}")
        try:
            match = Playout(rules, chance, met, number % FOLDED_EVERY == 0)
            many = min(chance.choice((1, 5, 20)), deals - done)
            while match.deals < many and not match.over:
                play_deal(match, (done + match.deals) % LEGAL_EVERY == 0)
            if not match.over and chance.random() < 0.3:
                match.close()
            if match.kept is not None:
                match.check_fold()
        except Exception as error:
            error.add_note(f"in match {number} of play_out({key!r}, seed={seed})")
            raise
        done += match.deals
        met["deals"], met["acts"] = done, met["acts"]
        told(done)
        if done >= deals:
            return met
    raise AssertionError("never reached")


def play_deal(match: Playout, thorough: bool) -> None:
    """Play until a line has been written, or the match is over."""
    before, steps = match.deals, 0
    while match.deals == before and not match.over:
        if thorough:
            match.check_legal()
            match.check_state()
        match.met["acts"] += match.step()
        steps += 1
        assert steps < ACTS_MAX, "a deal goes on"
