"""Play-outs: whole deals of random legal acts, beside open_spiel and pokerkit.

All are driven alike: ask for the legal acts, ``random.choice`` one, do it. The deals are played to the last trick,
rödskägg too (``rodskagg_stop_at_first_loss: false``), or half of them would end after a trick or two.
"""

import random
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

from referee.acts import Act, Deal
from referee.games import RULESETS
from referee.ruleset import Moment, Ruleset
from tests.benchmarks.measure import floor, side_by_side, table
from tests.played import opening

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def deal_of(rules: Ruleset, state: Any, chance: random.Random) -> tuple[Any, int]:
    """Plays one deal from its dealing to its score; the state after it and how many acts it took."""
    decide, evolve, legal, to_act = rules.decide, rules.evolve, rules.legal, rules.to_act
    table, choice = state.table, chance.choice
    hands = [()] * table.seats
    cards = chance.sample(rules.pack, 6 * len(table.active))
    for place, seat in enumerate(table.active):
        hands[seat] = tuple(cards[6 * place : 6 * place + 6])
    act: Act = Deal(seat=table.dealer, hands=tuple(hands))
    deal, version, acts = table.deal, 1, 0
    while True:
        for event in decide(state, act, Moment(version, NOW, "")):
            version += 1
            state = evolve(state, event, version)
        acts += 1
        if state.table.deal != deal:
            return state, acts
        act = choice(legal(state, to_act(state)[0]))


def of_ruleset(key: str, players: int) -> tuple[Callable[[], int], Callable[[], int]]:
    """Two works that play the same deals: one counts acts, one counts deals."""
    rules = RULESETS[key]
    options = {"deal_ritual": False, "rodskagg_stop_at_first_loss": False}
    start = rules.start(opening(ruleset=key, players=players, dealing="table", enforcement="refuse", **options))
    chance = random.Random(1)

    def acts() -> int:
        return sum(deal_of(rules, start, chance)[1] for _ in range(20))

    def deals() -> int:
        for _ in range(20):
            deal_of(rules, start, chance)
        return 20

    return acts, deals


def of_open_spiel(name: str) -> Callable[[], int]:
    """Actions of open_spiel's game, its dealing of single cards included."""
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
    """Actions of a no-limit hold'em hand for four in pokerkit: fold, check or call, least and greatest raise."""
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
    """Prints the figures; whether all floors are reached."""
    key = "rodskagg-kortoxen"
    works = {f"{key}, {players} players": of_ruleset(key, players)[0] for players in (3, 4, 5)}
    works |= {f"open_spiel {name}": of_open_spiel(name) for name in ("hearts", "euchre")}
    works["pokerkit"] = of_pokerkit()
    rates = side_by_side(works)
    hearts, euchre, poker = rates["open_spiel hearts"], rates["open_spiel euchre"], rates["pokerkit"]
    table(
        "Play-outs, acts/s",
        ("", "acts/s", "of hearts", "of euchre", "of pokerkit"),
        [(name, rate, rate / hearts, rate / euchre, rate / poker) for name, rate in rates.items()],
    )
    deals = side_by_side({f"{players} players": of_ruleset(key, players)[1] for players in (3, 4, 5)})
    table("Play-outs, whole deals/s on one core", ("", "deals/s"), list(deals.items()))
    ours = min(rate for name, rate in rates.items() if name.startswith(key))
    return all(
        [
            floor("play-outs beside open_spiel's faster game", ours / max(hearts, euchre), 0.13),
            floor("play-outs beside pokerkit", ours / poker, 30),
            floor("whole deals/s", min(deals.values()), 6801),
        ]
    )
