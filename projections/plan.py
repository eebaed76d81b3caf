"""Settling up: which payments bring all balances to 0, and as few of them as can be.

Whoever is not even is a node: members, and the club, which stands for cash, bank and what else is its own. People who
are even among themselves make a group, and n people in a group need n - 1 payments: the more groups, the fewer
payments. To find the most groups is hard (it holds the problem of subset sums), so it is done exactly up to
:data:`EXACT_MAX` nodes.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from heapq import heapify, heappop, heappush
from itertools import combinations
from math import inf
from typing import Annotated, Literal

from msgspec import Meta

from referee import wire_types
from referee.value import Value

CLUB: Literal["club"] = "club"
Node = Annotated[
    wire_types.MemberNumber | Literal["club"],
    Meta(title="Payer", description="Who pays or is paid: a member by number, or the club."),
]
EXACT_MAX = 16
"""So many nodes, when equal opposites are settled, are grouped in the best way: it takes 2^n steps."""
TRIPLES_MAX = 400
"""Among so many nodes groups of three are looked for: it takes n^2 steps."""


class Payment(Value):
    """One payment, in minor units."""

    id: wire_types.Digest
    """The same for as long as the same payment is proposed for the same purpose."""
    payer: Node
    payee: Node
    amount: wire_types.Money


class Plan(Value):
    """Payments after which nobody owes anything. There are as many as nodes less ``groups``."""

    payments: tuple[Payment, ...]
    minimal: bool
    """Whether no plan has fewer; for many people it may, and nobody knows."""
    groups: wire_types.Tally


Owed = tuple[Node, int]
"""A node, and what it owes: below zero what it is to receive."""


def plan(balances: Mapping[int, int], purpose: str) -> Plan:
    """The payments that settle the balances of members, debit positive: above zero is what a member owes.

    What members do not settle among themselves goes to or from the club. ``purpose`` says what is settled (the club,
    an evening, a currency), and makes the ids of payments its own.
    """
    nodes: dict[Node, int] = {member: balances[member] for member in sorted(balances) if balances[member]}
    if rest := -sum(nodes.values()):
        nodes[CLUB] = rest
    groups, left = _opposites(list(nodes.items()))
    minimal = len(left) <= EXACT_MAX
    if not minimal:
        triples, left = _triples(left)
        groups += triples
    groups += _most_groups(left) if len(left) <= EXACT_MAX else [left]
    found = [payment for group in groups for payment in _settled(group)]
    payments = [
        Payment(id=_id(purpose, payer, payee, amount), payer=payer, payee=payee, amount=amount)
        for payer, payee, amount in sorted(found, key=lambda one: (_place(one[0]), _place(one[1])))
    ]
    return Plan(payments=tuple(payments), minimal=minimal, groups=len(nodes) - len(payments))


def _opposites(nodes: Sequence[Owed]) -> tuple[list[list[Owed]], list[Owed]]:
    """Pairs of whom one owes what the other is to receive, and who is left. No best grouping is lost by it: where it
    has the two in different groups, the others of both are one."""
    waiting: dict[int, list[Owed]] = {}
    pairs = []
    for node in nodes:
        if others := waiting.get(-node[1]):
            pairs.append([others.pop(0), node])
        else:
            waiting.setdefault(node[1], []).append(node)
    paired = {node for pair in pairs for node, _ in pair}
    return pairs, [node for node in nodes if node[0] not in paired]


def _triples(nodes: list[Owed]) -> tuple[list[list[Owed]], list[Owed]]:
    """Groups of three, the first that there are, and who is left. No two of the nodes are equal opposites."""
    triples: list[list[Owed]] = []
    left = dict(nodes)
    if len(nodes) > TRIPLES_MAX:
        return triples, nodes
    by_amount: dict[int, list[Node]] = {}
    for node, amount in nodes:
        by_amount.setdefault(amount, []).append(node)
    for (one, first), (two, second) in combinations(nodes, 2):
        if one in left and two in left:
            third = next((who for who in by_amount.get(-first - second, ()) if who in left.keys() - {one, two}), None)
            if third is not None:
                triples.append([(who, left.pop(who)) for who in (one, two, third)])
    return triples, list(left.items())


def _most_groups(nodes: list[Owed]) -> list[list[Owed]]:
    """The most groups that are even in themselves.

    Somebody is taken away from a set at a time, and ``best[S]`` is how often the rest can have been even on the way
    to S: ``max best[S - i] + [sum(S) = 0]``.
    """
    sums, best = [0], [0]
    for _, amount in nodes:
        sums += [amount + before for before in sums]
    bits = [1 << place for place in range(len(nodes))]
    for chosen in range(1, len(sums)):
        most = max([best[chosen ^ bit] for bit in bits if chosen & bit])
        best.append(most + (not sums[chosen]))
    groups: list[list[Owed]] = []
    chosen = len(sums) - 1
    while chosen:
        if not sums[chosen]:
            groups.append([])
        wanted = best[chosen] - (not sums[chosen])
        place = next(place for place, bit in enumerate(bits) if chosen & bit and best[chosen ^ bit] == wanted)
        groups[-1].append(nodes[place])
        chosen ^= bits[place]
    return groups


def _settled(group: list[Owed]) -> list[tuple[Node, Node, int]]:
    """Payer, payee and amount: who owes most pays whom most is owed, of equals the lower number, the club last."""
    debtors = [(-amount, _place(node), node) for node, amount in group if amount > 0]
    creditors = [(amount, _place(node), node) for node, amount in group if amount < 0]
    heapify(debtors)
    heapify(creditors)
    payments = []
    while debtors:
        (owes, payer_place, payer), (gets, payee_place, payee) = heappop(debtors), heappop(creditors)
        amount = min(-owes, -gets)
        payments.append((payer, payee, amount))
        if amount < -owes:
            heappush(debtors, (owes + amount, payer_place, payer))
        if amount < -gets:
            heappush(creditors, (gets + amount, payee_place, payee))
    return payments


def _place(node: Node) -> float:
    return inf if node == CLUB else float(node)


def _id(purpose: str, payer: Node, payee: Node, amount: int) -> str:
    return sha256(f"{purpose}\n{payer}\n{payee}\n{amount}".encode()).hexdigest()[:16]
