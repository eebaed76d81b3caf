"""Settling up: the fewest payments after which all balances are 0."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projections.plan import EXACT_MAX, TRIPLES_MAX, Payment, Plan, plan

small = st.integers(-6, 6)
"""Few different amounts, so that many sets of people are even by chance."""


def owed(members: int, least: int = 0, amount: st.SearchStrategy[int] = small) -> st.SearchStrategy[dict[int, int]]:
    return st.dictionaries(st.integers(1, 99), amount, min_size=least, max_size=members)


def even(members: int, least: int = 1) -> st.SearchStrategy[dict[int, int]]:
    """Generate balances that add up to 0 without the club: member 100 has the rest."""
    return owed(members - 1, least - 1).map(lambda some: {**some, 100: -sum(some.values())})


def after(balances: dict[int, int], payments: tuple[Payment, ...]) -> dict[int | None, int]:
    """Return the balances after these payments: a payer owes less, a payee is owed less."""
    left = Counter({**balances, None: -sum(balances.values())})
    for payment in payments:
        left[payment.payer] -= payment.amount
        left[payment.payee] += payment.amount
    return {node: amount for node, amount in left.items() if amount}


def fewest(amounts: list[int]) -> int:
    """Return the smallest number of payments by trial: the first member settles with each other one and leaves."""
    amounts = [amount for amount in amounts if amount]
    if not amounts:
        return 0
    first, rest = amounts[0], amounts[1:]
    return 1 + min(
        fewest([*rest[:place], other + first, *rest[place + 1 :]])
        for place, other in enumerate(rest)
        if (other > 0) != (first > 0)
    )


def settled(said: Plan) -> list[tuple[int | None, int | None, int]]:
    return [(one.payer, one.payee, one.amount) for one in said.payments]


@given(owed(7) | owed(7, least=6) | even(8, least=7))
def test_as_few_payments_as_any_way_of_settling_has(balances: dict[int, int]):
    said = plan(balances, "evening 1")
    assert after(balances, said.payments) == {}
    assert all(payment.amount > 0 and payment.payer != payment.payee for payment in said.payments)
    assert len(said.payments) == fewest([*balances.values(), -sum(balances.values())])
    assert said.minimal


@given(owed(60, least=17, amount=st.integers(-50, 50)))
def test_many_people_are_settled_as_well(balances: dict[int, int]):
    said = plan(balances, "all")
    nodes = sum(map(bool, balances.values())) + bool(sum(balances.values()))
    assert after(balances, said.payments) == {}
    assert len(said.payments) == nodes - said.groups
    assert len(said.payments) < max(nodes, 1)


@given(owed(12), st.randoms(use_true_random=False))
def test_the_order_in_which_balances_come_changes_nothing(balances: dict[int, int], chance):
    shuffled = list(balances.items())
    chance.shuffle(shuffled)
    assert plan(dict(shuffled), "all") == plan(balances, "all")


def test_no_one_owes_anything():
    assert plan({1: 0, 2: 0}, "all") == Plan(payments=(), minimal=True, groups=0)
    assert plan({}, "all") == Plan(payments=(), minimal=True, groups=0)


def test_the_largest_debtor_pays_the_largest_creditor():
    said = plan({1: 300, 2: 500, 3: -200, 4: -600}, "evening 1")
    assert settled(said) == [(1, 3, 200), (1, 4, 100), (2, 4, 500)]
    assert (said.minimal, said.groups) == (True, 1)


def test_the_lower_number_comes_first_among_equal_amounts():
    assert settled(plan({7: 300, 2: 300, 5: -200, 4: -200, 9: -200}, "all")) == [
        (2, 4, 200),
        (2, 9, 100),
        (7, 5, 200),
        (7, 9, 100),
    ]


def test_opposites_settle_with_one_another():
    said = plan({1: 500, 2: -300, 3: 300, 4: -500}, "all")
    assert settled(said) == [(1, 4, 500), (3, 2, 300)]
    assert said.groups == 2


def test_the_club_takes_what_members_do_not_settle_among_themselves():
    assert settled(plan({1: 500, 2: -300}, "all")) == [(1, 2, 300), (1, None, 200)]
    assert settled(plan({1: -500, 2: 300}, "all")) == [(2, 1, 300), (None, 1, 200)]


def test_more_groups_are_found_than_by_paying_the_largest_first():
    """Largest to largest would take 9 to 8 and need five payments; 9 = 5 + 4 and 8 = 6 + 2 need four."""
    said = plan({1: 9, 2: 8, 3: -6, 4: -5, 5: -4, 6: -2}, "all")
    assert (len(said.payments), said.groups, said.minimal) == (4, 2, True)


def test_up_to_sixteen_are_settled_exactly_and_more_are_not_said_to_be():
    powers = {member: 2**member for member in range(1, EXACT_MAX)}
    said = plan({**powers, 50: -sum(powers.values())}, "all")
    assert (len(said.payments), said.minimal) == (EXACT_MAX - 1, True)
    assert not plan({**powers, EXACT_MAX: 2**EXACT_MAX}, "all").minimal


def test_among_many_groups_of_three_are_found():
    """Six triples 10^i + 2 * 10^i = 3 * 10^i, of 18 people: no two are opposites."""
    triples = [(10**i * 3, -(10**i), -2 * 10**i) for i in range(6)]
    balances = {3 * i + place + 1: amount for i, three in enumerate(triples) for place, amount in enumerate(three)}
    said = plan(balances, "all")
    assert (len(said.payments), said.groups, said.minimal) == (12, 6, False)


def test_a_whole_federation_is_settled():
    balances = {member: member * 7919 % 10007 - 5000 for member in range(1, 4 * TRIPLES_MAX)}
    assert after(balances, plan(balances, "all").payments) == {}


@given(owed(6, least=2))
def test_a_payment_keeps_its_id_for_as_long_as_it_is_the_same(balances: dict[int, int]):
    before, again = plan(balances, "evening 1"), plan({**balances, 200: 0}, "evening 1")
    assert before == again
    ids = [payment.id for payment in before.payments]
    assert len(set(ids)) == len(ids)
    assert not set(ids) & {payment.id for payment in plan(balances, "evening 2").payments}


def test_an_id_stays_when_others_settle():
    """The opposites 1 and 2 are independent of the debt between 3 and 4."""
    one, other = plan({1: 500, 2: -500, 3: 70, 4: -70}, "all"), plan({1: 500, 2: -500}, "all")
    assert other.payments[0] in one.payments


@pytest.mark.parametrize("amount", [1, 10**15])
def test_amounts_are_whole(amount: int):
    assert settled(plan({1: amount, 2: -amount}, "all")) == [(1, 2, amount)]
