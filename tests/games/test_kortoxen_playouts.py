"""Rödskägg (Kortoxen): properties of every deal, shown on random matches of all kinds."""

from collections import Counter
from random import Random
from typing import Any

import msgspec
import pytest

from referee.acts import (
    Answer,
    Ask,
    Bid,
    Cut,
    Deal,
    KeepCards,
    Knock,
    KnockForCards,
    KnockOut,
    PickUp,
    Play,
    RequestCards,
    Score,
)
from referee.cards import PACK
from referee.events import CardPlayed, DealScored, Dealt, KnockUpheld, MatchWon, PenaltyImposed, TrickTaken
from referee.games._rodskagg.bids import BIDS
from referee.games.rodskagg_kortoxen import RULESET
from referee.refusals import Refused
from referee.rulebook import load
from referee.store.aggregate import fold
from referee.visibility import Recorded, as_seen_by
from tests.games.rodskagg import Table, table
from tests.support.match_driver import NOON
from tests.support.random_deals import MATCHES

DEALS = 4
"""Number of deals in each match, unless it is won before."""

CHOICES: dict[str, tuple[Any, ...]] = {
    "rodskagg_defenders_score": ("none", "one_per_trick"),
    "rodskagg_stop_at_first_loss": (True, False),
    "forgotten_question_others_free": (True, False),
    "uncontested_tricks": ("to_declarer", "void"),
    "honour_redeal": (False, True),
    "bid_cap_by_score": (False, True),
    "knock_window": ("deal_end", "next_trick"),
    "false_knock_penalty": (0, 5),
    "wrong_cut_penalty_to": ("cutter", "dealer"),
    "fold_question_by": ("declarer", "fourth_trick_winner"),
    "overshoot": ("bounce", "negative"),
    "exact_zero": (True, False),
    "money_negative": ("zero", "absolute", "signed"),
    "deal_ritual": (True, False),
    "question_grace_seconds": (0, 0, 5),
}
BOOK = load(RULESET.key)
OFFENCES = (None, *RULESET.offences)


def random_table(luck: Random) -> tuple[Table, str]:
    """Return a match with random properties, and how much the referee knows of its hands."""
    options = {name: luck.choice(values) for name, values in CHOICES.items()}
    players = luck.randint(3, 8)
    low = -3 if options["overshoot"] == "negative" else 1
    dealing = luck.choice(["house", "open", "closed"])
    t = table(
        players=players,
        points=tuple(luck.choice([point for point in range(low, 13) if point]) for _ in range(players)),
        dealer=luck.choice([None, *range(players)]) if dealing == "house" else luck.randrange(players),
        enforcement=luck.choice(["refuse", "penalise"]),
        dealing="house" if dealing == "house" else "table",
        **options,
    )
    return t, dealing


def candidates(t: Table) -> list[Any]:
    """Return the acts of every seat that could be listed, with every content that could be listed."""
    acts: list[Any] = []
    for seat in range(len(t.points)):
        acts += (Bid(seat=seat, bid=bid) for bid in (*BIDS, "pass", 0, 7))
        acts += (Play(seat=seat, card=card) for card in PACK)
        acts += (Answer(seat=seat, answer="play"), Answer(seat=seat, answer="fold"))
        acts += (kind(seat=seat) for kind in (Cut, KnockForCards, PickUp, Ask, KnockOut, Score, KeepCards))
    return acts


def accepted(t: Table, act: Any) -> bool:
    """Return whether the match accepts an act now. A refusal must cite an existing rule."""
    try:
        t.decide(act)
    except Refused as refusal:
        rule = refusal.rule
    else:
        return True
    assert rule is None or BOOK.rule(rule), f"a refusal cites {rule}, which does not exist"
    return False


class Playout:
    """A random match, played act by act."""

    def __init__(self, seed: int) -> None:
        self.luck = Random(seed)
        self.t, self.dealing = random_table(self.luck)
        self.penalises = self.t.opening.enforcement == "penalise"
        self.hands: list[set[str]] = []
        self.left: list[str] = []

    def deal(self) -> Deal:
        """Return the next deal. At a real table it sometimes has a card too many."""
        t = self.t
        if self.dealing == "house":
            return Deal(seat=t.dealer)
        cards, seats = self.luck.sample(PACK, len(PACK)), range(len(t.points))
        counts = [6 if seat in t.seen().active else 0 for seat in seats]
        wrong = self.penalises and self.luck.random() < 0.1 and len(t.seen().active) < 8
        if wrong and self.dealing == "open":
            counts[t.dealer] += 1
        hands = tuple(tuple(cards.pop() for _ in range(count)) for count in counts)
        self.hands, self.left = [set(hand) for hand in hands], cards
        if self.dealing == "closed":
            return Deal(seat=t.dealer, counts=tuple(counts))
        return Deal(seat=t.dealer, hands=hands, stock=tuple(cards) if t.opening.options["honour_redeal"] else None)

    def step(self) -> None:
        """Make one act: mostly a listed one, sometimes an error that stands, sometimes a knock."""
        t, luck = self.t, self.luck
        t.wait(luck.choice([0, 1, 10]))
        if luck.random() < (0.3 if t.seen().breaches else 0.05):
            self.knock()
            return
        if self.penalises and luck.random() < 0.1 and self.err():
            return
        waiting = [(seat, t.legal(seat)) for seat in range(len(t.points)) if t.legal(seat)]
        if not waiting:  # without the formula the only act is to pick up too early (B-O7)
            assert t.phase == "picking_up"
            assert self.err()
            return
        _, acts = luck.choice(waiting)
        act = luck.choice(acts)
        if isinstance(act, Bid) and act.bid == "rodskagg" and luck.random() < 0.9:
            act = next(act for act in acts if act.bid == "pass")
        elif isinstance(act, Deal):
            act = self.deal()
        elif isinstance(act, RequestCards):
            if self.dealing == "closed":
                act = KeepCards(seat=act.seat)
        elif isinstance(act, Play) and self.dealing == "closed":
            act = self.real_card(acts)
        t.do(act)

    def real_card(self, acts: tuple[Any, ...]) -> Play:
        """Return a card that the table knows the seat holds, which mostly follows suit."""
        seat = acts[0].seat
        held = sorted(self.hands[seat])
        led = self.t.seen().trick
        if led and self.luck.random() < 0.9:
            held = [card for card in held if card[0] == led[0]["card"][0]] or held
        card = self.luck.choice(held)
        self.hands[seat].discard(card)
        return Play(seat=seat, card=card)

    def err(self) -> bool:
        """Make a punishable error if one is possible now. Return whether it was made."""
        t = self.t
        acts = [*(Cut(seat=seat) for seat in t.seen().active), *(PickUp(seat=seat) for seat in t.seen().active)]
        if self.dealing != "closed":
            hands = t.seen().hands or ()
            acts += (Play(seat=seat, card=card) for seat, hand in enumerate(hands) for card in hand)
        self.luck.shuffle(acts)
        act = next((act for act in acts if accepted(t, act)), None)
        if act is not None:
            t.do(act)
        return act is not None

    def knock(self) -> None:
        """Knock for an open error, or at random."""
        t = self.t
        seat, accused = self.luck.sample(range(len(t.points)), 2)
        standing = t.seen().breaches
        if standing and self.luck.random() < 0.7:
            guilty = self.luck.choice(standing)["seat"]
            seat, accused = (accused if seat == guilty else seat), guilty
        act = Knock(seat=seat, accused=accused, offence=self.luck.choice(OFFENCES))
        if seat not in t.seen().active:
            t.refused(act, rule="B12")
            return
        t.do(act)

    def check(self, *, all_acts: bool) -> None:
        """Check the properties that hold after every act."""
        t = self.t
        seats = range(len(t.points))
        listed = {act for seat in seats for act in t.legal(seat) if not isinstance(act, Deal | RequestCards)}
        for act in listed:
            assert accepted(t, act), f"{act} is listed and refused"
        if not all_acts:
            return
        for act in candidates(t):
            if not self.penalises:
                assert accepted(t, act) == (act in listed), f"{act}: listed or accepted, not both"
            elif accepted(t, act) and act not in listed:
                assert isinstance(act, Cut | PickUp | KnockOut | Play), f"{act} cannot be an error"
        self.check_sight()

    def check_sight(self) -> None:
        """Check that no seat sees an unplayed card of a different hand, and that the official sees every card."""
        t = self.t
        official = t.seen()
        dealt = [number for number, recorded in enumerate(t.history) if isinstance(recorded.event, Dealt)]
        events = [recorded.event for recorded in t.history[dealt[-1] if dealt else 0 :]]
        assert all(as_seen_by(event, "official", False) is event for event in events[1:])
        if official.hands is None or any(getattr(event, "seed", None) for event in events[1:]):
            return  # closed, or other seats have seen cards that were shuffled in
        for viewer in (*range(len(t.points)), "spectator"):
            visible = [as_seen_by(event, viewer, False) for event in events]
            text = msgspec.json.encode([t.seen(viewer), visible]).decode()
            own = set(official.hands[viewer]) if isinstance(viewer, int) else set()
            own |= {one["card"] for one in official.trick or ()}
            hidden = {card for hand in official.hands for card in hand} - own
            assert not {card for card in hidden if f'"{card}"' in text}

    def check_deal(self, line: DealScored, first: int) -> None:
        """Check the properties of a scored deal. Its events begin with number ``first``."""
        t = self.t
        events = [recorded.event for recorded in t.history[first:]]
        for seat, before in enumerate(line.before):
            entries = sum(entry.points for entry in line.entries if entry.seat == seat)
            assert before + entries == line.points[seat]
            knocked = sum(e.points for e in events if isinstance(e, PenaltyImposed) and e.seat == seat)
            assert line.penalties[seat] == knocked
        for entry in line.entries:
            assert all(1 <= number <= t.version for number in entry.events)
        dealt = max(number for number, event in enumerate(events) if isinstance(event, Dealt))
        tricks = [event for event in events[dealt:] if isinstance(event, TrickTaken)]
        played = [event.card for event in events[dealt:] if isinstance(event, CardPlayed)]
        assert len(played) == len(set(played)), "a card is played once"
        taken = Counter(trick.seat for trick in tricks)
        assert line.tricks == tuple(taken[seat] for seat in range(len(t.points)))
        if line.kind == "number" and t.opening.options["uncontested_tricks"] == "to_declarer":
            assert sum(line.tricks) == 6
        if t.opening.options["overshoot"] == "bounce":
            assert min(line.points) >= 0
        for event in events:
            if isinstance(event, KnockUpheld):
                assert all(first < number <= t.version for number in event.rests_on)

    def check_history(self) -> None:
        """Check that the match is the same when folded whole, in two parts, or over a stored state."""
        t = self.t
        whole = fold(None, t.history)
        assert whole.play == t.state
        cut = self.luck.randint(1, t.version)
        half = fold(None, t.history[:cut])
        assert fold(half, t.history[cut:]) == whole
        stored = msgspec.json.decode(msgspec.json.encode(half.play), type=t.rules.state)
        assert stored == half.play
        rest = [Recorded(*msgspec.structs.astuple(recorded)) for recorded in t.history[cut:]]
        assert fold(msgspec.structs.replace(half, state=stored), rest) == whole


@pytest.mark.rule("B4", "B18", "B42", "B58", "B-O28", "B-O32")
@pytest.mark.parametrize("seed", range(MATCHES))
def test_a_random_match(seed: int):
    """Deals are played at random, with errors if they can stand, and with random knocks."""
    p = Playout(seed)
    t, begun, lines, steps = p.t, p.t.version, 0, 0
    while t.phase != "over" and lines < DEALS:
        p.step()
        steps += 1
        p.check(all_acts=p.luck.random() < 0.05)
        done = t.happened(DealScored)
        if len(done) > lines:
            lines = len(done)
            p.check_deal(done[-1], begun)
            begun = t.version
        assert steps < 2000, "the match does not end"
    p.check_history()
    assert t.at >= NOON
    if t.won is not None:
        assert isinstance(t.happened(MatchWon)[0], MatchWon)
