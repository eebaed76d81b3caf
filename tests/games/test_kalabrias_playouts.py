"""Kalabrias: random matches of all kinds, with checks that must hold in every deal."""

from random import Random
from typing import Any

import msgspec
import pytest

from referee.acts import Bella, Bid, Deal, Declare, Exchange, Play, Reply, Respond, Score
from referee.cards import SUITS, cards_of, texts_of
from referee.events import CardPlayed, DealScored, Dealt
from referee.games.kalabrias import RULESET
from referee.games.kalabrias.facts import DealCounted, LaterCardsDealt, SequenceShown, SevenExchanged
from referee.games.kalabrias.ranks import ALL, PACK, RANKS
from referee.store.aggregate import fold
from referee.visibility import Event, as_seen_by
from tests.games.kalabrias_table import Table, table
from tests.support.random_deals import MATCHES

DEALS = 4
"""Deals in each match, unless it is won before."""

CHOICES: dict[str, tuple[Any, ...]] = {
    "sequence_points": ({}, {"small": 20, "large": 50, "five": 100}),
    "bella_points": (20, 40),
    "all_pass": ("redeal_next_dealer", "dealer_must_choose"),
    "redeal_dealer": ("same", "next"),
    "refused_redeal_declarer": ("proposer", "refuser"),
    "winner_scores_all_sequences": (True, False),
    "longer_sequence_wins": (False, True),
    "equal_sequences": ("none", "ten_each", "forehand"),
    "declaration_needs_trick": (False, True),
    "trump_seven_exchange": (False, True),
    "must_overtrump": (False, True),
    "target_score": (500, 501, 300),
    "tie_rule": ("opponent_only", "bete", "carry"),
    "three_player_compare": ("sum", "each"),
    "bete_split": ("half", "higher_opponent_takes_all", "full_to_both", "none"),
    "bete_odd_point": ("higher_opponent", "drop", "exact_half"),
    "three_player_side_sequences": (False, True),
    "bella_deadline": ("second_card", "first_card"),
    "trick_rank": ("ten_high", "ten_low"),
}
KINDS = (Bid, Reply, Exchange, Declare, Respond, Bella, Play, Score)


def candidates(players: int) -> list[Any]:
    """Return every act of the kinds that are listed with their content, by every seat."""
    acts: list[Any] = []
    for seat in range(players):
        acts += (Bid(seat=seat, bid=call) for call in ("take", *SUITS, "pass", "redeal", 1, "join"))
        acts += (Reply(seat=seat, agree=agree) for agree in (True, False))
        acts += (Exchange(seat=seat, card=card) for card in PACK if card[1] in "7A")
        acts += (Declare(seat=seat, sequence=name) for name in ("small", "large", "none"))
        acts += (Declare(seat=seat, top=rank) for rank in RANKS)
        acts += (Declare(seat=seat, trumps=trumps) for trumps in (True, False))
        acts += (Respond(seat=seat, answer=answer) for answer in ("better", "equal", "enough"))
        acts += (Play(seat=seat, card=card) for card in PACK)
        acts += (Bella(seat=seat), Score(seat=seat))
    return acts


class Playout:
    """A random match, and the cards that were entered in it."""

    def __init__(self, seed: int) -> None:
        self.luck = luck = Random(seed)
        options = {name: luck.choice(values) for name, values in CHOICES.items()}
        self.players = luck.randint(2, 4)
        self.dealing = luck.choice(["house", "open", "stock", "closed"])
        side = [luck.randrange(0, 250) for _ in range(self.players)]
        points = tuple(side[seat % 2] if self.players == 4 else side[seat] for seat in range(self.players))
        self.t: Table = table(
            players=self.players,
            dealer=luck.randrange(self.players),
            dealing="house" if self.dealing == "house" else "table",
            enforcement=luck.choice(["refuse", "penalise"]),
            points=points,
            **options,
        )
        self.candidates = candidates(self.players)
        self.shy = luck.random() < 0.1
        self.pack: list[str] = []

    def step(self) -> tuple[Event, ...]:
        """Do one act of a seat that may act."""
        t = self.t
        acts = [act for seat in range(self.players) for act in t.legal(seat)]
        assert acts, "a seat can act"
        act = self.luck.choice(acts)
        if isinstance(act, Bid) and act.bid == "redeal":  # not every other deal
            act = self.luck.choice(acts)
        if isinstance(act, Bid) and self.shy:
            act = next((other for other in acts if other == Bid(seat=act.seat, bid="pass")), act)
        if isinstance(act, Deal) and self.dealing != "house":
            act = self.deal(act.seat)
        if act == Declare(seat=getattr(act, "seat", 0)):
            act = self.show(act.seat)
            if act is None:
                return ()
        return t.do(act)

    def deal(self, seat: int) -> Deal:
        """Return a deal at a real table."""
        t, players = self.t, self.players
        if t.phase == "undealt":
            self.pack = self.luck.sample(PACK, len(PACK))
            turn_up = self.pack.pop()
            if self.dealing == "closed":
                return Deal(seat=seat, counts=(6,) * players, turn_up=turn_up)
            given = tuple(tuple(self.pack.pop() for _ in range(6)) for _ in range(players))
            stock = tuple(self.pack) if self.dealing == "stock" else None
            return Deal(seat=seat, hands=given, turn_up=turn_up, stock=stock)
        counts = t.later_counts()
        if self.dealing == "closed":
            return Deal(seat=seat, counts=counts)
        return Deal(seat=seat, hands=tuple(tuple(self.pack.pop() for _ in range(count)) for count in counts))

    def show(self, seat: int) -> Declare | None:
        """Return three cards that may be a sequence in a closed hand."""
        suit, place = self.luck.choice(SUITS), self.luck.randrange(len(RANKS) - 2)
        act = Declare(seat=seat, cards=tuple(suit + rank for rank in RANKS[place : place + 3]))
        return act if self.t.accepted(act) else None

    def check_legal(self) -> None:
        """Check that the listed acts are accepted, and no other acts of their kinds."""
        t = self.t
        listed = [act for seat in range(self.players) for act in t.legal(seat)]
        for act in self.candidates:
            assert t.accepted(act) == (act in listed), act

    def check_views(self) -> None:
        """Check that a viewer is shown no card that was not entered for it."""
        t = self.t
        for seat in range(self.players):
            shown = t.seen(seat)
            assert shown.hands is None
            if shown.hand is not None:
                assert len(shown.hand) == (shown.cards_left or ())[seat]
            state = getattr(t.state, "play", None) or t.state
            if (cards := getattr(state, "cards", None)) is None or not cards.known:
                continue
            told = set(str(msgspec.json.encode(shown)).split('"')) & set(PACK)
            gone = getattr(state, "gone", 0)
            open_cards = set(texts_of(cards.hands[seat] | gone | cards_of([cards.turn_up])))
            assert told <= open_cards | {card for exchanged in self.exchanged() for card in exchanged}

    def exchanged(self) -> list[tuple[str, str]]:
        """Return the exchanges, which every seat has seen."""
        return [(event.card, event.turn_up) for event in self.t.happened(SevenExchanged)]

    def check_events(self, events: tuple[Event, ...]) -> None:
        """Check that events, as other seats see them, have no hidden cards."""
        for event in events:
            for seat in range(self.players):
                told: Any = as_seen_by(event, seat, False)
                if isinstance(event, Dealt | LaterCardsDealt) and event.hands is not None:
                    assert told.hands == tuple(
                        hand if other == seat else () for other, hand in enumerate(event.hands)
                    )
                if isinstance(event, Dealt):
                    assert (told.stock, told.seed) == ((), None)

    def check_line(self, line: DealScored, begun: int) -> None:
        """Check the line of a deal against the cards."""
        players, unit = self.players, 2 if line.halves else 1
        sums = [0] * players
        for entry in line.entries:
            sums[entry.seat] += entry.points
            assert all(begun <= number <= len(self.t.history) for number in entry.events)
        assert tuple(before + change for before, change in zip(line.before, sums, strict=True)) == line.points
        if line.kind != "scored":
            assert line.entries == ()
            return
        detail, of_deal = line.detail, [recorded.event for recorded in self.t.history[begun - 1 :]]
        cards = [event.card for event in of_deal if isinstance(event, CardPlayed)]
        assert len(set(cards)) == len(cards) == (32 if players == 4 else 9 * players)
        assert cards_of(cards) & ~ALL == 0
        if players == 4:
            assert sum(detail["card_points"]) == 162
        else:
            assert 10 <= sum(detail["card_points"]) <= 162
        own = [
            sum(of)
            for of in zip(detail["card_points"], detail["sequence_points"], detail["bella_points"], strict=True)
        ]
        assert own == detail["own"]
        assert sum(line.tricks) == (8 if players == 4 else 9)
        if players == 4:
            assert line.points[:2] == line.points[2:]
        if detail["outcome"] == "made" and self.t.opening.options["tie_rule"] != "carry":
            side = own if players < 4 else [own[seat] + own[(seat + 2) % 4] for seat in range(4)]
            assert sums == [points * unit for points in side]

    def check_history(self) -> None:
        """Check that every way of folding gives the same match, also from JSON."""
        history = self.t.history
        cut = self.luck.randrange(1, len(history))
        whole = fold(None, history)
        assert whole.play == self.t.state
        assert fold(fold(None, history[:cut]), history[cut:]) == whole
        state = self.t.state
        assert msgspec.json.decode(msgspec.json.encode(state), type=RULESET.state) == state
        assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(state)), RULESET.state) == state
        for recorded in history:
            event = recorded.event
            assert msgspec.json.decode(msgspec.json.encode(event), type=type(event)) == event


@pytest.mark.rule("E32", "E33", "E41", "E42", "E-O3", "E-O33", "E-O34")
@pytest.mark.parametrize("seed", range(MATCHES))
def test_a_random_match(seed: int) -> None:
    p = Playout(seed)
    t, lines, begun = p.t, 0, 2
    while t.phase != "over" and lines < DEALS:
        assert len(t.history) < 1500, "a match goes on"
        if p.luck.random() < 0.1:
            p.check_legal()
            p.check_views()
            state = t.state
            assert msgspec.convert(msgspec.json.decode(msgspec.json.encode(state)), RULESET.state) == state
        p.check_events(p.step())
        if len(done := t.happened(DealScored)) > lines:
            lines = len(done)
            p.check_line(done[-1], begun)
            begun = len(t.history) + 1
    p.check_history()


def test_every_option_is_drawn() -> None:
    fixed = {"target_tie", "money"}
    """Options with one value, or without an effect before the match is over."""
    assert {*CHOICES} == {*RULESET.options.__struct_fields__} - fixed, "add the option and its values to CHOICES"


def test_the_random_matches_meet_what_is_rare() -> None:
    """The checks above would pass in matches in which nothing rare happens."""
    rare = {"scored", "redeal", "passed_out", "made", "bete", "both"}
    rare |= {kind.__name__ for kind in RULESET.events} - {SequenceShown.__name__, DealCounted.__name__}
    for seed in range(10 * MATCHES):
        p = Playout(seed)
        while p.t.phase != "over" and len(p.t.happened(DealScored)) < DEALS:
            p.step()
        lines = p.t.happened(DealScored)
        rare -= {line.kind for line in lines} | {line.detail.get("outcome", "") for line in lines}
        rare -= {type(recorded.event).__name__ for recorded in p.t.history}
        rare -= {"both" for line in lines if sum(map(bool, line.detail.get("sequence_points", ()))) > 1}
        if not rare:
            return
    raise AssertionError(f"met in no match: {sorted(rare)}. Draw the options in CHOICES that prevent it less often")
