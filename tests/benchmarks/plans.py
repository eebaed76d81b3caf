"""Settling up: the plan of 16 members, by all their subsets, and of a thousand.

``python -m tests.benchmarks.plans``. The limit is a second, since a user waits for the plan.
"""

import random
import sys
from collections.abc import Callable

from projections.plan import EXACT_MAX, plan
from tests.benchmarks.measure import floor, side_by_side, table

MEMBERS = 1000
LEAST = 1.0
"""Plans a second."""


def balances(members: int, seed: int) -> dict[int, int]:
    """Return balances of ``members`` members without the club, in whole kronor up to 500."""
    chance = random.Random(seed)
    some = {member: 100 * chance.randint(1, 500) * chance.choice((-1, 1)) for member in range(1, members)}
    return {**some, members: -sum(some.values())}


def planned(members: int) -> Callable[[], int]:
    """Return a function that makes one plan for ``members`` members."""
    of = balances(members, seed=7)
    return lambda: bool(plan(of, "bench").payments)


def main() -> bool:
    """Return whether each plan is made within a second."""
    rates = side_by_side({str(members): planned(members) for members in (8, EXACT_MAX, MEMBERS)})
    table("Plans of payments", ("members", "plans/s"), list(rates.items()))
    reached = [floor(f"plans/s of {members} members", rate, LEAST) for members, rate in rates.items()]
    return all(reached)


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
