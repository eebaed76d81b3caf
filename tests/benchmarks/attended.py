"""Attended matches: acts decided in a match with officials, compared with the same acts in the game alone."""

import random
from collections.abc import Callable
from time import process_time
from typing import Any

from msgspec.structs import replace

from referee.events import Adjudication
from referee.games import RULESETS
from referee.officials.attended import procedure_of
from referee.requests import Request
from referee.ruleset import Moment
from referee.visibility import Event
from tests.benchmarks.measure import side_by_side, table
from tests.benchmarks.playouts import PLAYERS, Dealing
from tests.support.random_matches import opening

DEALS = 20
"""First deals of matches at a real table that are measured, for each ruleset."""
MOST = 1.3
"""The greatest allowed ratio of the time of an attended act to its time in the game alone."""


def acts_of_deals(dealing: Dealing) -> list[list[tuple[Request, Moment]]]:
    """Return the acts of some first deals, each with its moment."""
    rules, chance, deals = dealing.rules, random.Random(4), list[list[tuple[Request, Moment]]]()

    def take(state: Any, act: Request, moment: Moment) -> tuple[tuple[Event, ...], Any]:
        deals[-1].append((act, moment))
        return rules.take(state, act, moment)

    dealing.rules = replace(rules, take=take)
    for _ in range(DEALS):
        deals.append([])
        dealing.one(dealing.start, 1, chance)
    return deals


def deciding(take: Callable[[Any, Any, Moment], tuple[Any, Any]], start: Any, deals: Any) -> Callable[[], int]:
    """Return a work that decides these acts from this state, and counts them."""

    def work() -> int:
        for acts in deals:
            state = start
            for act, moment in acts:
                state = take(state, act, moment)[1]
        return sum(map(len, deals))

    return work


def paces(key: str) -> dict[str, float]:
    """Return the acts a second of a ruleset: alone, with officials, and with acts that can be taken back."""
    dealing, rules = Dealing(key), RULESETS[key]
    deals = acts_of_deals(dealing)
    works = {"alone": deciding(rules.take, dealing.start, deals)}
    for name, take_back in (("attended", False), ("with take-back", True)):
        terms = Adjudication(officials=("",), take_back=take_back)
        match = opening(ruleset=key, players=PLAYERS[key], dealing="table", enforcement="refuse", adjudication=terms)
        procedure = procedure_of(rules)
        works[name] = deciding(procedure.take, replace(procedure.start(match), play=dealing.start), deals)
    return side_by_side(works, 0.05, 41, process_time)


def main() -> bool:
    """Print the figures. Return whether every ruleset reaches :data:`MOST`."""
    measured = {key: paces(key) for key in RULESETS}
    rows = []
    for key, pace in measured.items():
        alone, plain, with_take_back = pace.values()
        rows.append((key, alone, plain, alone / plain, with_take_back, alone / with_take_back))
    table(
        "Deciding acts in attended matches, acts/s, and the time of an act compared with the game alone",
        ("", "alone", "attended", "ratio", "with take-back", "ratio"),
        rows,
    )
    slowest = max(pace["alone"] / pace["attended"] for pace in measured.values())
    reached = slowest <= MOST
    print(f"  {'reached' if reached else 'MISSED '}  time of an attended act: {slowest:.3f} (at most {MOST})")
    return reached


if __name__ == "__main__":
    main()
