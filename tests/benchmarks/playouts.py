"""Play-outs: whole deals of random legal acts, compared with open_spiel and pokerkit.

All are driven in the same way: list the legal acts, ``random.choice`` one, do it. Deals are played to the last trick,
in rödskägg too (``rodskagg_stop_at_first_loss: false``), or half of them would end after a trick or two. Cards are
dealt as at a real table. Those of Kortoxen are shuffled within the measured time, as open_spiel's are.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from msgspec.structs import replace

from referee.acts import Deal
from referee.events import Dealt
from referee.games import RULESETS
from referee.ruleset import Moment, Ruleset
from tests.benchmarks.measure import floor, side_by_side, table
from tests.support.random_matches import opening

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def deal_of(rules: Ruleset, state: Any, chance: random.Random) -> tuple[Any, int]:
    """Play one deal from its dealing to its score. Return the state after it and the number of acts."""
    take, legal, to_act = rules.take, rules.legal, rules.to_act
    table, choice = state.table, chance.choice
    hands: list[tuple[str, ...]] = [()] * table.seats
    cards = chance.sample(rules.pack, 6 * len(table.active))
    for place, seat in enumerate(table.active):
        hands[seat] = tuple(cards[6 * place : 6 * place + 6])
    act: Any = Deal(seat=table.dealer, hands=tuple(hands))
    deal, version, acts = table.deal, 1, 0
    while True:
        events, state = take(state, act, Moment(version, NOW, ""))
        version += len(events)
        acts += 1
        if state.table.deal != deal:
            return state, acts
        act = choice(legal(state, to_act(state)[0]))


def of_ruleset(key: str, players: int) -> tuple[Callable[[], int], Callable[[], int]]:
    """Return two functions that play the same deals: one counts acts, one counts deals."""
    rules = RULESETS[key]
    options: dict[str, Any] = {"deal_ritual": False, "rodskagg_stop_at_first_loss": False}
    start = rules.start(opening(ruleset=key, players=players, dealing="table", enforcement="refuse", **options))
    chance = random.Random(1)

    def acts() -> int:
        return sum(deal_of(rules, start, chance)[1] for _ in range(20))

    def deals() -> int:
        for _ in range(20):
            deal_of(rules, start, chance)
        return 20

    return acts, deals


PLAYERS = {"kalabrias": 4, "rams-english": 5, "rodskagg-alga": 4, "rodskagg-catsatcards": 4, "rodskagg-kortoxen": 4}
OPTIONS: dict[str, dict[str, Any]] = {
    "rodskagg-alga": {"rodskagg_stop_at_first_loss": False, "honour_redeal": False},
    "rodskagg-catsatcards": {"rodskagg_stop_at_first_loss": False, "honour_redeal": False},
    "rodskagg-kortoxen": {"rodskagg_stop_at_first_loss": False, "deal_ritual": False},
}
BOLD = ("rodskagg", "generalrams", "redeal")
"""Not bid in the long match: they end it, or a deal before it has begun."""
LONG, SHORT = 500, 10
"""Deals played before, in the long match; and deals that are measured."""


class Dealing:
    """A ruleset at a real table, with deals prepared as the house would deal them."""

    def __init__(self, key: str, many: int = 200) -> None:
        self.rules = rules = RULESETS[key]
        points = {"kalabrias": 0, "rams-english": 0}.get(key, 90_000)
        seats = PLAYERS[key]
        match = opening(
            ruleset=key,
            players=seats,
            dealing="table",
            enforcement="refuse",
            points=(points,) * seats,
            **OPTIONS.get(key, {}),
        )
        self.start = start = rules.start(match)
        if hasattr(start.table.options, "target_score"):  # farther away than may be asked for, or the match would end
            options = replace(start.table.options, target_score=10**9)
            self.start = replace(start, table=replace(start.table, options=options))
        house = replace(self.start, table=replace(self.start.table, house=True))
        self.cards = [self._cards(house, f"deal {number}") for number in range(many)]

    def _cards(self, house: Any, seed: str) -> dict[str, Any]:
        events = self.rules.decide(house, Deal(seat=house.table.dealer), Moment(1, NOW, seed))
        dealt = next(event for event in events if isinstance(event, Dealt))
        stock = dealt.stock if dealt.turn_up else None
        return {"hands": dealt.hands, "stock": stock or None, "widow": dealt.widow or None, "turn_up": dealt.turn_up}

    def one(self, state: Any, version: int, chance: random.Random, bold: bool = True) -> tuple[Any, int, int]:
        """Play one deal. Return the state after it, the version, and the number of acts."""
        rules, choose = self.rules, chance.choice
        take, legal, to_act = rules.take, rules.legal, rules.to_act
        act: Any = Deal(seat=state.table.dealer, **choose(self.cards))
        deal, acts = state.table.deal, 0
        while True:
            events, state = take(state, act, Moment(version, NOW, ""))
            version += len(events)
            acts += 1
            if state.table.deal != deal:
                return state, version, acts
            act = choose(legal(state, to_act(state)[0]))
            if type(act) is Deal:
                act = Deal(seat=act.seat, **choose(self.cards))
            while not bold and getattr(act, "bid", None) in BOLD:
                act = choose(legal(state, to_act(state)[0]))


def of_any(key: str, what: int) -> Callable[[], int]:
    """Return a function that plays first deals of matches, and counts acts (2) or each deal as one (0)."""
    dealing, chance = Dealing(key), random.Random(1)

    def work() -> int:
        played = [dealing.one(dealing.start, 1, chance) for _ in range(20)]
        return sum(one[what] for one in played) if what else len(played)

    return work


def of_long_match(key: str) -> tuple[Callable[[], int], Callable[[], int]]:
    """Return functions that count the acts of ten deals: those at the start of a match, and those after 500
    others."""
    dealing = Dealing(key)
    state, version, chance = dealing.start, 1, random.Random(2)
    for _ in range(LONG):
        state, version, _ = dealing.one(state, version, chance, bold=False)
    assert state.table.deal > LONG, "the long match has come so far"

    def of(state: Any, version: int) -> Callable[[], int]:
        def work() -> int:
            now, number, done, lot = state, version, 0, random.Random(3)
            for _ in range(SHORT):
                now, number, acts = dealing.one(now, number, lot, bold=False)
                done += acts
            return done

        return work

    return of(dealing.start, 1), of(state, version)


def of_open_spiel(name: str) -> Callable[[], int]:
    """Return a function that counts actions of open_spiel's game, including its dealing of single cards."""
    import pyspiel

    game, chance = pyspiel.load_game(name), random.Random(1)

    def actions() -> int:
        state, done = game.new_initial_state(), 0
        while not state.is_terminal():
            state.apply_action(chance.choice(state.legal_actions()))
            done += 1
        return done

    return actions


def of_pokerkit() -> Callable[[], int]:
    """Return a function that counts actions of a no-limit hold'em hand for four in pokerkit: fold, check or call,
    least and greatest raise."""
    from pokerkit import Automation, NoLimitTexasHoldem

    chance = random.Random(1)

    def legal(state: Any) -> list[Callable[[], object]]:
        acts: list[Callable[[], object]] = []
        if state.can_fold():
            acts.append(state.fold)
        if state.can_check_or_call():
            acts.append(state.check_or_call)
        least = state.min_completion_betting_or_raising_to_amount
        greatest = state.max_completion_betting_or_raising_to_amount
        for amount in {least, greatest} - {None}:
            if state.can_complete_bet_or_raise_to(amount):
                acts.append(partial(state.complete_bet_or_raise_to, amount))
        return acts

    def actions() -> int:
        state = NoLimitTexasHoldem.create_state(tuple(Automation), True, 0, (1, 2), 2, 200, 4)
        done = 0
        while state.status:
            chance.choice(legal(state))()
            done += 1
        return done

    return actions


def main() -> bool:
    """Print the figures. Return whether all floors are reached."""
    key = "rodskagg-kortoxen"
    works = {f"{key}, {players} players": of_ruleset(key, players)[0] for players in (3, 4, 5)}
    works |= {f"{other}, {PLAYERS[other]} players": of_any(other, 2) for other in RULESETS if other != key}
    works |= {f"open_spiel {name}": of_open_spiel(name) for name in ("hearts", "euchre")}
    works["pokerkit"] = of_pokerkit()
    rates = side_by_side(works)
    hearts, euchre, poker = rates["open_spiel hearts"], rates["open_spiel euchre"], rates["pokerkit"]
    table(
        "Play-outs, acts/s",
        ("", "acts/s", "of hearts", "of euchre", "of pokerkit"),
        [(name, rate, rate / hearts, rate / euchre, rate / poker) for name, rate in rates.items()],
    )
    hand = of_pokerkit()
    whole = {f"{key}, {players} players": of_ruleset(key, players)[1] for players in (3, 4, 5)}
    deals = side_by_side({**whole, "pokerkit": lambda: sum(1 for _ in range(5) if hand())})
    hands = deals.pop("pokerkit")
    others = side_by_side(
        {f"{other}, {PLAYERS[other]} players": of_any(other, 0) for other in RULESETS if other != key}
    )
    table(
        "Play-outs, whole deals/s on one core",
        ("", "deals/s", "of pokerkit's hands"),
        [(name, rate, rate / hands) for name, rate in [*deals.items(), *others.items(), ("pokerkit", hands)]],
    )
    lasting = {}
    for other in RULESETS:
        begun, later = of_long_match(other)
        paces = side_by_side({"begun": begun, "later": later}, seconds=0.3)
        lasting[other] = (paces["begun"], paces["later"])
    table(
        f"Acts/s in the first {SHORT} deals of a match, and after {LONG}",
        ("", "first", "after", "ratio"),
        [(other, begun, later, later / begun) for other, (begun, later) in lasting.items()],
    )
    ours = min(rate for name, rate in rates.items() if name.startswith(key))
    slowest = min(rate for name, rate in rates.items() if name.partition(",")[0] in RULESETS)
    return all(
        [
            floor("play-outs beside open_spiel's faster game", ours / max(hearts, euchre), 0.12),
            floor("play-outs beside pokerkit", ours / poker, 54),
            floor("whole deals beside pokerkit's hands", min(deals.values()) / hands, 11),
            floor("every ruleset beside open_spiel's hearts", slowest / hearts, 0.114),
            floor(
                f"pace after {LONG} deals of a match",
                min(later / begun for begun, later in lasting.values()),
                0.9,
            ),
        ]
    )
